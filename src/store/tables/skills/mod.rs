//! The logbook entries that need a signature: skills, safety briefs and trainings, and the flight time of an opening
//! balance. Every change of a state adds an event.

use super::entry_events;
use crate::domain::entry::{Kind, Status};
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::domain::signoff::Authority;
use crate::moment::Moment;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};
use std::ops::ControlFlow;

/// A new entry. Moments in Unix seconds.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// The holder of the logbook.
    pub member_id: MemberId,
    /// `skill`, `safety`, or `time` in an opening balance.
    pub kind: Kind,
    /// The author.
    pub author_id: MemberId,
    /// The programme.
    pub cat_group: &'a str,
    /// The level's number as text.
    pub cat_id: &'a str,
    /// The skill's id in the catalogue.
    pub skill: &'a str,
    /// When the skill was shown, in Unix seconds.
    pub entry_date: Moment,
    /// Flight time of an opening balance; 0 for other entries.
    pub minutes: i64,
    /// The tunnel where the skill was shown.
    pub tunnel_id: TunnelId,
    /// The member's comment; empty: none.
    pub comment: &'a str,
    /// The signer of whom the signature is requested.
    pub instructor_id: MemberId,
    /// The opening balance that the entry is part of.
    pub opening: Option<EntryId>,
}

row! {
    #[derive(Debug)]
    pub(crate) struct SkillEntry in "e." {
        pub entry_id: EntryId,
        pub member_id: MemberId,
        pub member_name: String = "h.screen_name",
        pub kind: Kind,
        pub status: Status,
        pub entry_date: Moment,
        pub minutes: i64,
        pub tunnel_id: TunnelId,
        pub tunnel_name: String = "t.name",
        pub comment: String,
        pub author_id: MemberId,
        pub cat_group: String,
        pub cat_id: String,
        pub skill: String,
        /// The signer who is requested, or who signed.
        pub instructor_id: Option<MemberId>,
        pub instructor_name: String = "coalesce(s.screen_name, '')",
        pub comments_instructor: String,
        pub comment_denial: String,
        pub approval_date: Option<Moment>,
        pub opening: Option<EntryId>,
        /// The version of the entry, from 1 on, which increases with every visible change.
        pub version: i64,
        /// The version of which the named signer was notified.
        pub asked_version: i64,
        pub created_at: Moment,
    }
}

/// A filter of a member's entries: stored states and `not_current`; and the programmes whose currency has lapsed, whose
/// open skills count as `not_current`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub statuses: &'a [&'static str],
    pub lapsed: &'a [&'static str],
}

/// Adds an entry that requests a signature, on behalf of the member; returns its number.
pub fn insert(tx: &Write, new: &NewEntry) -> Result<EntryId> {
    let entry_id = insert!(tx.insert, "INSERT INTO entries" {
        member_id: new.member_id, kind: new.kind, status: Status::Pending, entry_date: new.entry_date,
        minutes: new.minutes, tunnel_id: new.tunnel_id, comment: new.comment, author_id: new.author_id,
        cat_group: new.cat_group, cat_id: new.cat_id, skill: new.skill, instructor_id: new.instructor_id,
        opening: new.opening, created_at: tx.now(), updated_at: tx.now(),
    })
    .map(EntryId)?;
    entry_events::insert(tx, entry_id, new.author_id, None, entry_events::EntryState::Status(Status::Pending))?;
    Ok(entry_id)
}

/// Inserts an entry that the signer made, already signed.
pub(crate) fn insert_signed(
    tx: &Write,
    new: &NewEntry,
    authority: &Authority,
    comments_instructor: &str,
) -> Result<EntryId> {
    let entry_id = insert!(tx.insert, "INSERT INTO entries" {
        member_id: authority.holder_id(), kind: new.kind, status: Status::Open, entry_date: new.entry_date,
        minutes: new.minutes, tunnel_id: new.tunnel_id, comment: new.comment, author_id: new.author_id,
        cat_group: new.cat_group, cat_id: new.cat_id, skill: new.skill, instructor_id: authority.signer_id(),
        comments_instructor, approval_date: tx.now(), created_at: tx.now(), updated_at: tx.now(),
    })
    .map(EntryId)?;
    entry_events::insert(tx, entry_id, authority.signer_id(), None, entry_events::EntryState::Status(Status::Open))?;
    Ok(entry_id)
}

/// Makes an entry the first of an opening balance, whose number is the entry's.
pub(crate) fn set_opening(tx: &Write, entry_id: EntryId) -> Result<usize> {
    tx.run(sql!("UPDATE entries SET opening = entry_id WHERE entry_id = ?1"), [entry_id])
}

/// Replaces the request of an unsigned entry, except for its holder and author. Clears an earlier refusal.
pub(crate) fn update_request(tx: &Write, entry_id: EntryId, request: &NewEntry) -> Result<usize> {
    update!(tx, "UPDATE entries" {
        kind: request.kind, cat_group: request.cat_group, cat_id: request.cat_id, skill: request.skill,
        entry_date: request.entry_date, minutes: request.minutes, tunnel_id: request.tunnel_id,
        comment: request.comment, instructor_id: request.instructor_id, comment_denial: "", updated_at: tx.now(),
    } "WHERE entry_id = ? AND status IN ('pending', 'denied') AND opening IS NULL", entry_id)
}

/// Records that the named signer was notified of the present version.
pub(crate) fn set_notified(tx: &Write, entry_id: EntryId) -> Result<usize> {
    tx.run(sql!("UPDATE entries SET asked_version = version WHERE entry_id = ?1"), [entry_id])
}

/// Changes the state of an entry without a signature. The state `open` is set by [`sign`], or again after a pause.
pub(crate) fn set_status(tx: &Write, entry: &SkillEntry, by: MemberId, to: Status) -> Result<()> {
    let sql = sql!("UPDATE entries SET status = ?1, updated_at = ?2 WHERE entry_id = ?3");
    tx.run(sql, (to.name(), tx.now(), entry.entry_id))?;
    entry_events::insert(tx, entry.entry_id, by, Some(entry.status), entry_events::EntryState::Status(to)).map(|_| ())
}

pub(crate) fn sign(
    tx: &Write,
    entry: &SkillEntry,
    authority: &Authority,
    comments_instructor: Option<&str>,
) -> Result<()> {
    let sql = sql!(
        "UPDATE entries SET instructor_id = :signer_id, comments_instructor = coalesce(:comments, comments_instructor),
                      comment_denial = '', approval_date = :now WHERE entry_id = :entry_id"
    );
    tx.run(
        sql,
        named_params! {":signer_id": authority.signer_id(), ":comments": comments_instructor, ":now": tx.now(),
        ":entry_id": entry.entry_id},
    )?;
    set_status(tx, entry, authority.signer_id(), Status::Open)
}

pub(crate) fn deny(tx: &Write, entry: &SkillEntry, by: MemberId, comment_denial: &str) -> Result<()> {
    tx.run(sql!("UPDATE entries SET comment_denial = ?1 WHERE entry_id = ?2"), (comment_denial, entry.entry_id))?;
    set_status(tx, entry, by, Status::Denied)
}

/// Deletes an unsigned entry; its events stay.
pub(crate) fn delete(tx: &Write, entry: &SkillEntry, by: MemberId) -> Result<()> {
    entry_events::insert(tx, entry.entry_id, by, Some(entry.status), entry_events::EntryState::Deleted)?;
    super::entries::delete(tx, entry.entry_id).map(|_| ())
}

const ENTRY: &str = joined!("SELECT ", SkillEntry::COLUMNS, JOINED);
const JOINED: &str =
    " FROM entries e JOIN tunnels t ON t.tunnel_id = e.tunnel_id JOIN members h ON h.member_id = e.member_id
    LEFT JOIN members s ON s.member_id = e.instructor_id";

/// An entry that needs a signature; `None` for ordinary flight time.
pub(crate) fn find(tx: &Read, entry_id: EntryId) -> Result<Option<SkillEntry>> {
    let sql = sql!(ENTRY, " WHERE e.entry_id = ?1 AND (e.kind <> 'time' OR e.opening IS NOT NULL)");
    tx.find(sql, [entry_id])
}

/// The entries of an opening balance, in the order in which they were entered.
pub(crate) fn list_opening(tx: &Read, opening: EntryId) -> Result<Vec<SkillEntry>> {
    tx.list(sql!(ENTRY, " WHERE e.opening = ?1 ORDER BY e.entry_id"), [opening])
}

/// The states of a member's entries of one skill, except for one entry.
pub(crate) fn list_statuses(
    tx: &Read,
    member_id: MemberId,
    kind: Kind,
    skill: &str,
    except: EntryId,
) -> Result<Vec<Status>> {
    let sql = sql!(
        "SELECT status FROM entries WHERE member_id = ?1 AND kind = ?2 AND skill = ?3 AND entry_id <> ?4 ORDER BY entry_id"
    );
    tx.list(sql, (member_id, kind, skill, except))
}

/// A member's skills in the states of the filter.
const SHOWN_SKILLS: &str = "e.member_id = :id AND e.kind = 'skill'
    AND iif(e.status = 'open' AND e.cat_group IN (SELECT value FROM json_each(:lapsed)), 'not_current', e.status)
        IN (SELECT value FROM json_each(:statuses))";
/// A member's safety briefs and trainings in the states of the filter. An entry of these kinds is never `not_current`:
/// its programme is, until a newer training.
const SHOWN_SAFETY: &str =
    "e.member_id = :id AND e.kind = 'safety' AND e.status IN (SELECT value FROM json_each(:statuses))";

/// Names as a JSON array. They are constants of the program that need no escaping.
fn names(names: &[&'static str]) -> String {
    format!("[\"{}\"]", names.join("\",\""))
}

/// A member's skills, safety briefs and trainings in these states, newest first. SQLite merges the two kinds in the
/// order of their index, without a sort.
pub(crate) fn each(
    tx: &Read,
    member_id: MemberId,
    shown: Shown,
    (limit, offset): (i64, i64),
    take: impl FnMut(SkillEntry) -> ControlFlow<()>,
) -> Result<()> {
    let sql = sql!(
        ENTRY,
        " WHERE ",
        SHOWN_SKILLS,
        " UNION ALL ",
        ENTRY,
        " WHERE ",
        SHOWN_SAFETY,
        " ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT :limit OFFSET :offset"
    );
    tx.each(
        sql,
        named_params! {":id": member_id, ":lapsed": names(shown.lapsed), ":statuses": names(shown.statuses),
        ":limit": limit, ":offset": offset},
        take,
    )
}

pub(crate) fn count(tx: &Read, member_id: MemberId, shown: Shown) -> Result<i64> {
    let sql = sql!(
        "SELECT (SELECT count(*) FROM entries e WHERE ",
        SHOWN_SKILLS,
        ") + (SELECT count(*) FROM entries e WHERE ",
        SHOWN_SAFETY,
        ")"
    );
    let params = named_params! {":id": member_id, ":lapsed": names(shown.lapsed), ":statuses": names(shown.statuses)};
    tx.get(sql, params)
}

/// The member's entry of a skill that waits for this signer.
pub(crate) fn find_waiting(
    tx: &Read,
    member_id: MemberId,
    skill: &str,
    signer_id: Option<MemberId>,
) -> Result<Option<SkillEntry>> {
    let sql = sql!(
        ENTRY,
        " WHERE e.member_id = ?1 AND e.skill = ?2 AND e.instructor_id = ?3 AND e.status = 'pending' ORDER BY e.entry_id LIMIT 1"
    );
    tx.find(sql, (member_id, skill, signer_id))
}

/// The entries that wait for this signer, newest first.
pub(crate) fn list_waiting(tx: &Read, signer_id: MemberId, limit: i64, offset: i64) -> Result<Vec<SkillEntry>> {
    let sql = sql!(
        ENTRY,
        " WHERE e.instructor_id = ?1 AND e.status = 'pending' ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT ?2 OFFSET ?3"
    );
    tx.list(sql, (signer_id, limit, offset))
}

pub(crate) fn count_waiting(tx: &Read, signer_id: MemberId) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM entries WHERE instructor_id = ?1 AND status = 'pending'");
    tx.get(sql, [signer_id])
}

/// The entries that wait for a signature, grouped by signer, the oldest first.
pub(crate) fn list_pending(tx: &Read, limit: i64, offset: i64) -> Result<Vec<SkillEntry>> {
    let sql = sql!(
        "SELECT ",
        SkillEntry::COLUMNS,
        " FROM entries e INDEXED BY entries_waiting CROSS JOIN tunnels t ON t.tunnel_id = e.tunnel_id
         CROSS JOIN members h ON h.member_id = e.member_id LEFT JOIN members s ON s.member_id = e.instructor_id
         WHERE e.status = 'pending' ORDER BY e.instructor_id, e.entry_date, e.entry_id LIMIT ?1 OFFSET ?2"
    );
    tx.list(sql, (limit, offset))
}

/// The requests that have waited for their signer since before that moment, and of which the signer was not reminded since they
/// were asked. An opening balance is the desk's request.
pub(crate) fn list_unanswered(tx: &Read, asked_before: Moment, limit: i64) -> Result<Vec<SkillEntry>> {
    let sql = sql!(
        "SELECT ",
        SkillEntry::COLUMNS,
        " FROM entries e INDEXED BY entries_waiting CROSS JOIN tunnels t ON t.tunnel_id = e.tunnel_id
         CROSS JOIN members h ON h.member_id = e.member_id LEFT JOIN members s ON s.member_id = e.instructor_id
         WHERE e.status = 'pending' AND e.opening IS NULL AND e.instructor_id IS NOT NULL AND e.updated_at < ?1
           AND NOT EXISTS (SELECT 1 FROM notices n WHERE n.member_id = e.instructor_id AND n.subject = 'notice.signoff_waits'
                             AND n.created_at >= e.updated_at AND json_extract(n.detail, '$.entry_id') = e.entry_id)
         LIMIT ?2"
    );
    tx.list(sql, (asked_before, limit))
}

#[cfg(test)]
mod tests;

/// How many entries wait for a signature.
pub(crate) fn count_pending(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM entries INDEXED BY entries_waiting WHERE status = 'pending'"), [])
}
