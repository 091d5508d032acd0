//! The operations of the contract's logbook group, and which logbooks a caller may read.

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
use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::{joins, members};

/// The member whose number is the path's parameter `index`, if the caller may read that member's logbook. Everyone reads
/// their own; the desk, admins and members who are a current instructor, trainer or examiner read all.
///
/// # Errors
/// 403 where the caller may not, whether or not the member exists; 404 where the caller may and the member does not exist.
pub(super) fn readable_member(site: &Site, call: &Call, bearer: &Bearer, index: usize) -> Result<MemberId, Failure> {
    let requested = call.param_id(index);
    if requested == Some(bearer.member_id()) {
        return Ok(bearer.member_id());
    }
    match bearer {
        Bearer::Member(member)
            if site.store.read(|tx| reads_every_logbook(tx, RankedActor::from(member).rank, site.now()))? => {}
        _ => return Err(Failure::not_allowed()),
    }
    let requested = requested.ok_or_else(Failure::not_found)?;
    site.store.read(|tx| {
        let member_id = joins::survivor_of(tx, requested)?;
        if members::exists(tx, member_id)? { Ok(member_id) } else { Err(Failure::not_found()) }
    })
}
