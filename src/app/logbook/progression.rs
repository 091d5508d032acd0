//! A member's progression: the step on every level, and the map as a picture.

use crate::documents::progression::{Progression, draw, draw_map};
use crate::domain::entry::Status;
use crate::domain::ids::MemberId;
use crate::domain::progression::{self, Step};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{holdings, logbook, standing};
use crate::store::tables::{members, tunnels};

/// The step of a member on every level.
pub(crate) fn steps(site: &Site, tx: &Read, member_id: MemberId) -> Result<Vec<Step<'static>>, Failure> {
    let held = holdings::list_latest_first(tx, member_id)?;
    let held: Vec<_> = held.iter().map(|one| (one.key(), one.since)).collect();
    let states = logbook::list_skill_states(tx, member_id)?;
    let signed: Vec<&str> =
        states.iter().filter(|(_, status)| *status == Status::Open).map(|(skill, _)| skill.as_str()).collect();
    let currency = standing::read(tx, member_id, site.now())?.currency;
    Ok(progression::of(site.catalogue, &held, &signed, &currency))
}

/// The levels held, open and next on every track of the catalogue, as SVG. 404 where there is no such member.
pub(crate) fn svg(site: &Site, member_id: MemberId, language: Language) -> Result<String, Failure> {
    Ok(draw(&find(site, member_id, language)?))
}

/// Only the map, large enough to be read at arm's length: landscape, or `turned` for a portrait screen.
pub(crate) fn map_svg(site: &Site, member_id: MemberId, language: Language, turned: bool) -> Result<String, Failure> {
    Ok(draw_map(&find(site, member_id, language)?, turned))
}

fn find(site: &Site, member_id: MemberId, language: Language) -> Result<Progression<'static>, Failure> {
    site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok(Progression {
            site_name: home.name,
            holder: profile.screen_name,
            at: site.now(),
            zone: tunnels::find_time_zone(tx, site.tunnel_id)?,
            steps: steps(site, tx, member_id)?,
            language,
        })
    })
}
