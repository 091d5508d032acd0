//! The logbook: flight time, skills, safety records and opening balances; who may read and who may change an entry.

pub(crate) mod edit;
pub(crate) mod groups;
pub(crate) mod opening;
pub(crate) mod print;
pub(crate) mod progression;
pub(crate) mod requests;
pub(crate) mod rules;
pub(crate) mod sign_offs;
pub(crate) mod time;

use super::{Change, events};
use crate::domain::audit::{Detail, Subject};
use crate::domain::entry::{Relation, Status};
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::role::Rank;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::queries::standing;
use crate::store::tables::entries;
use crate::store::tables::events::Event;
use crate::store::tables::skills::{self, SkillEntry};

/// Greatest length of a comment in an entry, in characters.
pub(crate) const COMMENT_CHARS_MAX: usize = 1000;

/// Whether an actor of this rank reads every logbook: the desk, the admins, and members current as instructors or
/// above.
pub(crate) fn reads_every_logbook(tx: &Read, rank: Rank, now: Moment) -> Result<bool, Failure> {
    if rank.is_staff() {
        return Ok(true);
    }
    let Some(member_id) = rank.member_id() else { return Ok(false) };
    let currency = standing::read(tx, member_id, now)?.currency;
    Ok(currency.instructor.current || currency.trainer.current || currency.examiner.current)
}

/// The relation of an actor of this rank to the entry.
pub(crate) fn relation(rank: Rank, entry: &SkillEntry) -> Relation {
    let member_id = rank.member_id();
    Relation {
        holder: member_id == Some(entry.member_id),
        named: entry.instructor_id.is_some() && entry.instructor_id == member_id,
        staff: rank.is_staff(),
        admin: rank.is_admin(),
    }
}

/// Finds an entry that can be signed, for an actor who may read it: its holder, the named signer, and every actor who
/// reads every logbook. 404 for others.
pub(crate) fn find_entry(tx: &Read, rank: Rank, entry_id: EntryId, now: Moment) -> Result<SkillEntry, Failure> {
    let entry = skills::find(tx, entry_id)?.ok_or_else(Failure::not_found)?;
    if may_read(tx, rank, &entry, now)? { Ok(entry) } else { Err(Failure::not_found()) }
}

fn may_read(tx: &Read, rank: Rank, entry: &SkillEntry, now: Moment) -> Result<bool, Failure> {
    let relation = relation(rank, entry);
    Ok(relation.holder || relation.named || reads_every_logbook(tx, rank, now)?)
}

/// The refusal of a change: 403 for an actor who may read the entry, 404 for others, who do not learn that it exists.
fn no_change(may_read: bool) -> Failure {
    if may_read { Failure::not_allowed() } else { Failure::not_found() }
}

/// Deletes an entry: flight time, an unsigned skill, or all of an opening balance. The holder may delete own
/// entries; the desk and the admins those of every member. A signed entry is part of the record and stays. The signer of a
/// pending entry is notified. Audited, unless the logbook is the actor's own.
pub(crate) fn delete(cx: &Change, entry_id: EntryId) -> Result<(), Failure> {
    let holder = entries::find_owner(cx.tx, entry_id)?.ok_or_else(Failure::not_found)?;
    let signable = skills::find(cx.tx, entry_id)?;
    let rank = cx.rank;
    if cx.member_id() != Some(holder) && !rank.is_staff() {
        return Err(no_change(match &signable {
            Some(entry) => may_read(cx.tx, rank, entry, cx.now())?,
            None => reads_every_logbook(cx.tx, rank, cx.now())?,
        }));
    }
    match signable {
        Some(entry) => delete_unsigned(cx, &entry)?,
        None => {
            events::tell_of_time_now(cx.tx, Event::TimeDeleted, entry_id)?;
            entries::delete(cx.tx, entry_id)?;
        }
    }
    record_for_other(cx, "entry.deleted", holder, entry_id)
}

fn delete_unsigned(cx: &Change, entry: &SkillEntry) -> Result<(), Failure> {
    let whole = sign_offs::signed_together(cx.tx, entry)?;
    if whole.iter().any(|one| one.status.is_signed()) {
        return Err(Failure::entry_signed());
    }
    if entry.opening.is_some() && !cx.rank.is_staff() {
        return Err(sign_offs::opening_is_indivisible(cx, entry));
    }
    if entry.status == Status::Pending {
        sign_offs::notify_withdrawn(cx, entry)?;
    }
    let actor = actor_id(cx)?;
    whole.iter().try_for_each(|one| {
        events::tell_of_entry(cx.tx, Event::EntryWithdrawn, one)?;
        Ok(skills::delete(cx.tx, one, actor)?)
    })
}

/// The member who acts. An event of an entry names a member, so an actor without an account cannot change a logbook.
fn actor_id(cx: &Change) -> Result<MemberId, Failure> {
    cx.member_id().ok_or_else(Failure::not_allowed)
}

/// Writes an audit row for an action on an entry.
fn record(cx: &Change, action: &'static str, holder_id: MemberId, entry_id: EntryId) -> Result<(), Failure> {
    cx.record(action, &Subject::Member(holder_id), &Detail::none().number("entry_id", entry_id))
}

/// Writes an audit row only where the actor changes the logbook of another member.
fn record_for_other(cx: &Change, action: &'static str, holder_id: MemberId, entry_id: EntryId) -> Result<(), Failure> {
    if cx.member_id() == Some(holder_id) { Ok(()) } else { record(cx, action, holder_id, entry_id) }
}
