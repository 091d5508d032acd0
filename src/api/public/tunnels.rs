//! The tunnels that the site knows, its own among them.

use super::in_language;
use crate::domain::ids::TunnelId;
use crate::domain::{country, tunnel};
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::tunnels;

/// The path's word for a list. Not shown in the contract: how a client without a number finds one.
const ALL: &str = "all";

crate::answer! {
    struct OneTunnel {
        status: True,
        data: Tunnel,
    }
}

crate::answer! {
    /// A tunnel; unknown values are empty.
    struct Tunnel {
        tunnel_id: TunnelId = 1,
        name: String = "Windwerk",
        city: String = "Winterthur",
        /// ISO 3166-1 alpha-2.
        country: String = "CH",
        /// In the caller's language.
        country_name: String = "Switzerland",
        time_zone: String = "Europe/Zurich",
        website: String = "",
        phone: String = "",
        /// Whether it is the tunnel that answers.
        this_site: bool = true,
    }
}

crate::answer! {
    /// This site's tunnel and those it knows.
    struct TunnelList = Vec<Tunnel>;
}

crate::operation! {
    /// A tunnel
    ///
    /// This site's own, or another that it knows; `all` (ours) lists them, and then `limit` and `offset` count.
    GET = "getTunnel"
        .takes(&["AcceptLanguage", "Limit", "Offset"])
        .answers::<(OneTunnel, TunnelList)>("The tunnel, or the list, which then says `X-Total-Count` too.")
        .headers(&[("ETag", "ETag"), ("Link", "NextPage")])
}

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
        reply::ok(&OneTunnel { status: true, data })
    };
    Ok(in_language(reply, language))
}

fn show(site: &Site, tunnel: tunnel::Tunnel, language: Language) -> Tunnel {
    Tunnel {
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
