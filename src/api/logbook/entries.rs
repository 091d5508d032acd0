//! What time entries and skills have in common.

use crate::call::Call;
use crate::failure::Failure;
use crate::gate::Member;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::entries::{self, Owner};

/// `DELETE /account/logbook/{entry_id}`: one's own flight time, or a skill that nobody signed; for the desk and the
/// admins anybody's. A signed row is part of the record and stays.
pub fn delete(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    site.once(call, |tx| {
        let entry = entries::find_owner(tx, entry_id)?
            .filter(|entry| entry.member_id == member.id() || member.role().is_staff());
        let entry = entry.ok_or_else(Failure::not_found)?;
        if is_signed(&entry) {
            return Err(Failure::entry_signed());
        }
        entries::delete(tx, entry_id)?;
        Ok(reply::done(call.say("done.deleted")))
    })
}

fn is_signed(entry: &Owner) -> bool {
    entry.kind != "time" && !["pending", "denied", "cancelled"].contains(&entry.status.as_str())
}
