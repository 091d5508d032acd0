//! The tunnels that an entry can name.

use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::tunnels;
use serde::Serialize;

/// A tunnel, with the field names of existing clients beside our own. Unknown values are empty.
#[derive(Serialize)]
struct TunnelReply {
    id: i64,
    tunnel_id: i64,
    /// The tunnel's number, by the name that existing clients read.
    entry_id: i64,
    name: String,
    title: String,
    city: String,
    address_city: String,
    address: &'static str,
    /// ISO 3166-1 alpha-2.
    country: String,
    size: &'static str,
    manufacturer: &'static str,
    status: &'static str,
    /// Whether the tunnel is this site's own.
    this: bool,
}

/// `GET /account/logbook/tunnels`: this site's tunnel first, then those it knows, by name.
pub(crate) fn list(site: &Site, call: &Call, _: &Member) -> Answer {
    let page = call.page()?;
    let mut rows = site.store.read(|tx| Ok(tunnels::list(tx)?))?;
    rows.sort_by_key(|tunnel| tunnel.tunnel_id != site.tunnel_id);
    let rows = rows.into_iter().map(|tunnel| TunnelReply {
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
