//! The logbook group.

pub(crate) mod category;
pub(crate) mod eligible;
pub(crate) mod entries;
pub(crate) mod entry_events;
pub(crate) mod export;
pub(crate) mod opening;
pub(crate) mod print;
pub(crate) mod progression;
pub(crate) mod safety;
pub(crate) mod signers;
pub(crate) mod skills;
pub(crate) mod time;

use crate::app::RankedActor;
use crate::app::logbook::reads_every_logbook;
use crate::auth::Bearer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::members;

/// The member of a path, if the caller may read that logbook: the caller's own; every one for the desk, admins, and current
/// instructors and above. The refusal does not tell whether the member exists.
pub(super) fn read_member(site: &Site, call: &Call, bearer: &Bearer, index: usize) -> Result<i64, Failure> {
    let asked = call.param_id(index);
    if asked == Some(bearer.member_id()) {
        return Ok(bearer.member_id());
    }
    match bearer {
        Bearer::Member(member)
            if site.store.read(|tx| reads_every_logbook(tx, RankedActor::from(member).rank, site.now()))? => {}
        _ => return Err(Failure::not_allowed()),
    }
    let member_id = asked.ok_or_else(Failure::not_found)?;
    let exists = site.store.read(|tx| Ok(members::exists(tx, member_id)?))?;
    if exists { Ok(member_id) } else { Err(Failure::not_found()) }
}
