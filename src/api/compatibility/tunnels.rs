//! The tunnels that an entry can name.

use crate::auth::Member;
use crate::domain::ids::TunnelId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::tunnels;

crate::answer! {
    struct LogbookTunnel {
        /// The same as `tunnel_id`.
        id: TunnelId = 1,
        tunnel_id: TunnelId = 1,
        /// The same as `tunnel_id`; existing clients read it.
        entry_id: TunnelId = 1,
        name: String = "Windwerk",
        /// The same as `name`; existing clients read it.
        title: String = "Windwerk",
        city: String = "Winterthur",
        /// The same as `city`; existing clients read it.
        address_city: String = "Winterthur",
        /// Not known to this site.
        address: &'static str { "const": "" } = "",
        /// ISO 3166-1 alpha-2.
        country: String = "CH",
        /// Not known to this site.
        size: &'static str { "const": "" } = "",
        /// Not known to this site.
        manufacturer: &'static str { "const": "" } = "",
        status: &'static str { "const": "open" } = "open",
        /// Whether it is this site's own.
        this: bool = true,
    }
}

crate::answer! {
    /// This site's tunnel first, then the others by name.
    struct LogbookTunnelList = Vec<LogbookTunnel>;
}

crate::operation! {
    /// The tunnels that an entry can name
    ///
    /// The site's own among them, marked by `this`.
    LIST = "listLogbookTunnels"
        .answers::<LogbookTunnelList>("The tunnels.")
}

pub(crate) fn list(site: &Site, call: &Call, _: &Member) -> Answer {
    let page = call.page()?;
    let mut rows = site.store.read(|tx| Ok(tunnels::list(tx)?))?;
    rows.sort_by_key(|tunnel| tunnel.tunnel_id != site.tunnel_id);
    let rows = rows.into_iter().map(|tunnel| LogbookTunnel {
        id: tunnel.tunnel_id,
        tunnel_id: tunnel.tunnel_id,
        entry_id: tunnel.tunnel_id,
        title: tunnel.name.clone(),
        name: tunnel.name,
        address_city: tunnel.city.clone(),
        city: tunnel.city,
        address: "",
        country: tunnel.country,
        size: "",
        manufacturer: "",
        status: "open",
        this: tunnel.tunnel_id == site.tunnel_id,
    });
    Ok(reply::part(call, page, rows.collect()))
}
