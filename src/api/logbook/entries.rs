//! What time entries and skills have in common.

use super::{may_see, no_change, reads_everybody, signing};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::entries;
use crate::store::tables::skills::{self, SkillEntry};

/// `DELETE /account/logbook/{entry_id}`: one's own flight time, or a skill that nobody signed; for the desk and the
/// admins anybody's, and an opening balance as a whole. A signed row is part of the record and stays.
pub fn delete(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    site.once(call, |tx| {
        let owner = entries::find_owner(tx, entry_id)?.ok_or_else(Failure::not_found)?;
        let signable = skills::find(tx, entry_id)?;
        if owner.member_id != member.id() && !member.role().is_staff() {
            let may_read = match &signable {
                Some(entry) => may_see(tx, member, entry, tx.now())?,
                None => reads_everybody(tx, member, tx.now())?,
            };
            return Err(no_change(may_read));
        }
        match signable {
            Some(entry) => delete_unsigned(tx, &entry, member)?,
            None => _ = entries::delete(tx, entry_id)?,
        }
        if owner.member_id != member.id() {
            signing::record_entry(tx, member, "entry.deleted", owner.member_id, entry_id)?;
        }
        Ok(reply::done(call.say("done.deleted")))
    })
}

fn delete_unsigned(tx: &Write, entry: &SkillEntry, member: &Member) -> Result<(), Failure> {
    let whole = signing::whole(tx, entry)?;
    if whole.iter().any(|one| one.status.is_signed()) {
        return Err(Failure::entry_signed());
    }
    if entry.opening.is_some() && !member.role().is_staff() {
        return Err(Failure::not_allowed());
    }
    whole.iter().try_for_each(|one| Ok(skills::delete(tx, one, member.id())?))
}
