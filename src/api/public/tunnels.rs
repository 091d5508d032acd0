//! The tunnels that the site knows, its own among them.

use super::in_language;
use crate::domain::country;
use crate::domain::tunnel::Tunnel;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::tunnels;
use serde::Serialize;

/// The path's word for a list. Not shown in the contract: how a client without a number finds one.
const ALL: &str = "all";

#[derive(Serialize)]
struct FoundReply {
    status: bool,
    data: TunnelReply,
}

/// Unknown fields are empty.
#[derive(Serialize)]
struct TunnelReply {
    tunnel_id: i64,
    name: String,
    city: String,
    country: String,
    /// In the caller's language.
    country_name: String,
    time_zone: String,
    website: String,
    phone: String,
    /// Whether the tunnel is this site's own.
    this_site: bool,
}

/// `GET /public/tunnels/{tunnel_id}`: one tunnel by its number, or a list of `all`.
pub(crate) fn get(site: &Site, call: &Call) -> Answer {
    let language = call.language();
    let page = call.page()?;
    let reply = if call.param(0) == ALL {
        site.store.read(|tx| {
            let rows = tunnels::list_whole(tx, page.limit, page.offset)?.into_iter();
            Ok(reply::list(call, page, tunnels::count(tx)?, rows.map(|tunnel| show(site, tunnel, language))))
        })?
    } else {
        let tunnel_id = call.param_id(0).ok_or_else(Failure::not_found)?;
        let found = site.store.read(|tx| Ok(tunnels::find_whole(tx, tunnel_id)?))?;
        let data = show(site, found.ok_or_else(Failure::not_found)?, language);
        reply::ok(&FoundReply { status: true, data })
    };
    Ok(in_language(reply, language))
}

fn show(site: &Site, tunnel: Tunnel, language: Language) -> TunnelReply {
    TunnelReply {
        this_site: tunnel.tunnel_id == site.tunnel_id,
        tunnel_id: tunnel.tunnel_id,
        name: tunnel.name,
        city: tunnel.city,
        country_name: country::find(language, &tunnel.country).map_or_else(String::new, |one| one.name.to_owned()),
        country: tunnel.country,
        time_zone: tunnel.time_zone,
        website: tunnel.website,
        phone: tunnel.phone,
    }
}
