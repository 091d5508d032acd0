//! The logbook group.

pub mod entries;
pub mod time;

use crate::call::Call;
use crate::failure::Failure;
use crate::gate::{Bearer, Member};
use crate::site::Site;
use crate::store::{members, standing};

/// The member of a path, whose logbook the caller may read: oneself; everybody for the desk, the admins and current
/// instructors and above. Anybody else is refused without learning who exists.
fn read_member(site: &Site, call: &Call, bearer: &Bearer, index: usize) -> Result<i64, Failure> {
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
    if member.role().is_staff() {
        return Ok(true);
    }
    let currency = site.store.read(|tx| Ok(standing::read(tx, member.id(), site.now())?))?.currency;
    Ok(currency.instructor.current || currency.trainer.current || currency.examiner.current)
}
