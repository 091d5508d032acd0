//! A member's progression as a picture.

use super::read_member;
use crate::auth::Bearer;
use crate::documents::progression::{Progression, draw};
use crate::domain::progression::{self, Step};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{logbook, standing};
use crate::store::tables::{certificates, members, tunnels};
use http::{HeaderValue, header};

/// `GET /account/logbook/progression/{member_id}`: what is held, open and next on every track of the catalogue, as SVG in
/// the caller's language.
pub fn svg(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = read_member(site, call, bearer, 0)?;
    picture(site, call, member_id)
}

/// The picture of a member whose logbook the caller may see.
pub fn picture(site: &Site, call: &Call, member_id: i64) -> Answer {
    site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        let svg = draw(&Progression {
            site_name: home.name,
            holder: profile.screen_name,
            day: tunnels::find_hall(tx, site.tunnel_id)?.noon_utc(site.now()),
            steps: steps(site, tx, member_id)?,
            language: call.language(),
        });
        // Opened by itself it is a document of its own; it may then do nothing at all.
        let alone = HeaderValue::from_static("default-src 'none'; sandbox");
        Ok(reply::bytes("image/svg+xml", svg).with_header(header::CONTENT_SECURITY_POLICY, alone))
    })
}

/// Where a member stands on every level.
pub fn steps(site: &Site, tx: &Read, member_id: i64) -> Result<Vec<Step<'static>>, Failure> {
    let held = certificates::list_held(tx, member_id)?;
    let held: Vec<_> = held.iter().map(|one| (one.key(), one.since)).collect();
    let states = logbook::list_skill_states(tx, member_id)?;
    let signed: Vec<&str> =
        states.iter().filter(|(_, status)| status == "open").map(|(skill, _)| skill.as_str()).collect();
    let currency = standing::read(tx, member_id, site.now())?.currency;
    Ok(progression::of(site.catalogue, &held, &signed, &currency))
}
