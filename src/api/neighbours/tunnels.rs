//! The tunnels that an entry can name.

use crate::call::Call;
use crate::gate::Member;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::tunnels;
use serde::Serialize;

#[derive(Serialize)]
struct TunnelReply {
    id: i64,
    tunnel_id: i64,
    name: String,
    city: String,
    country: String,
    /// Whether it is this site's own.
    this: bool,
}

/// `GET /account/logbook/tunnels`: this site's tunnel first, then those it knows, by name.
pub fn list(site: &Site, call: &Call, _: &Member) -> Answer {
    let page = call.whole_page()?;
    let mut rows = site.store.read(|tx| Ok(tunnels::list(tx)?))?;
    rows.sort_by_key(|tunnel| tunnel.tunnel_id != site.tunnel_id);
    let rows = rows.into_iter().map(|tunnel| TunnelReply {
        id: tunnel.tunnel_id,
        tunnel_id: tunnel.tunnel_id,
        name: tunnel.name,
        city: tunnel.city,
        country: tunnel.country,
        this: tunnel.tunnel_id == site.tunnel_id,
    });
    Ok(reply::part(rows.collect(), page))
}
