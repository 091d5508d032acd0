//! The logbook group.

pub mod category;
pub mod eligible;
pub mod entries;
pub mod export;
pub mod moves;
pub mod opening;
pub mod print;
pub mod progression;
pub mod safety;
pub mod signers;
pub mod signing;
pub mod skills;
pub mod time;

use crate::auth::{Bearer, Member};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::members;
use crate::store::tables::skills::SkillEntry;

/// The member of a path, whose logbook the caller may read: oneself; everybody for the desk, the admins and current
/// instructors and above. Anybody else is refused without learning who exists.
pub(super) fn read_member(site: &Site, call: &Call, bearer: &Bearer, index: usize) -> Result<i64, Failure> {
    let asked = call.param_id(index);
    if asked == Some(bearer.member_id()) {
        return Ok(bearer.member_id());
    }
    match bearer {
        Bearer::Member(member) if reads_all(site, member)? => {}
        _ => return Err(Failure::not_allowed()),
    }
    let member_id = asked.ok_or_else(Failure::not_found)?;
    let exists = site.store.read(|tx| Ok(members::exists(tx, member_id)?))?;
    if exists { Ok(member_id) } else { Err(Failure::not_found()) }
}

fn reads_all(site: &Site, member: &Member) -> Result<bool, Failure> {
    site.store.read(|tx| reads_everybody(tx, member, site.now()))
}

fn reads_everybody(tx: &Read, member: &Member, now: i64) -> Result<bool, Failure> {
    if member.role().is_staff() {
        return Ok(true);
    }
    let currency = standing::read(tx, member.id(), now)?.currency;
    Ok(currency.instructor.current || currency.trainer.current || currency.examiner.current)
}

/// The refusal of a change: 403 to whoever may read the entry, 404 to everybody else, who does not learn that it is there.
fn no_change(may_read: bool) -> Failure {
    if may_read { Failure::not_allowed() } else { Failure::not_found() }
}

/// Whether the caller may see this entry: its holder, the signer it names, and whoever reads every logbook.
fn may_see(tx: &Read, member: &Member, entry: &SkillEntry, now: i64) -> Result<bool, Failure> {
    let own = entry.member_id == member.id() || entry.instructor_id == Some(member.id());
    Ok(own || reads_everybody(tx, member, now)?)
}
