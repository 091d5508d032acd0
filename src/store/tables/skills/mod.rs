//! The logbook entries that somebody signs: skills, safety briefs and trainings, and the flight time of an opening
//! balance. Every change of a state leaves a move.

use super::moves;
use crate::domain::entry::Status;
use crate::domain::signoff::Authority;
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};
use std::ops::ControlFlow;

/// An entry to be. Moments in Unix seconds.
#[derive(Debug)]
pub struct New<'a> {
    pub member_id: i64,
    /// `skill`, `safety`, or `time` in an opening balance.
    pub kind: &'a str,
    pub author_id: i64,
    pub cat_group: &'a str,
    pub cat_id: &'a str,
    pub skill: &'a str,
    pub entry_date: i64,
    pub minutes: i64,
    pub tunnel_id: i64,
    pub comment: &'a str,
    /// The signer who is asked.
    pub instructor_id: i64,
    pub opening: Option<i64>,
}

/// What whoever asks may change until it is signed.
#[derive(Debug)]
pub struct Wish<'a> {
    pub kind: &'a str,
    pub cat_group: &'a str,
    pub cat_id: &'a str,
    pub skill: &'a str,
    pub entry_date: i64,
    pub minutes: i64,
    pub tunnel_id: i64,
    pub comment: &'a str,
    pub instructor_id: i64,
}

#[derive(Debug)]
pub struct SkillEntry {
    pub entry_id: i64,
    pub member_id: i64,
    pub member_name: String,
    pub kind: String,
    pub status: Status,
    pub entry_date: i64,
    pub minutes: i64,
    pub tunnel_id: i64,
    pub tunnel_name: String,
    pub comment: String,
    pub author_id: i64,
    pub cat_group: String,
    pub cat_id: String,
    pub skill: String,
    /// The signer, asked or done.
    pub instructor_id: Option<i64>,
    pub instructor_name: String,
    pub comments_instructor: String,
    pub comment_denial: String,
    pub approval_date: Option<i64>,
    pub opening: Option<i64>,
    /// From 1 on; grows with every change that can be seen.
    pub version: i64,
    /// The version of which the named signer was told.
    pub asked_version: i64,
    pub created_at: i64,
}

/// Which of a member's entries: the stored states and `not_current`; and the programmes whose currency has lapsed, whose
/// open skills are that.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub statuses: &'a [&'static str],
    pub lapsed: &'a [&'static str],
}

/// Asks for a signature, on behalf of the member.
pub fn insert(tx: &Write, new: &New) -> Result<i64> {
    let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, comment, author_id, cat_group, cat_id,
                      skill, instructor_id, opening, created_at, updated_at)
               VALUES (:member_id, :kind, 'pending', :entry_date, :minutes, :tunnel_id, :comment, :author_id, :cat_group, :cat_id,
                       :skill, :instructor_id, :opening, :now, :now)";
    let entry_id = tx.insert(
        sql,
        named_params! {
            ":member_id": new.member_id, ":kind": new.kind, ":entry_date": new.entry_date, ":minutes": new.minutes,
            ":tunnel_id": new.tunnel_id, ":comment": new.comment, ":author_id": new.author_id,
            ":cat_group": new.cat_group, ":cat_id": new.cat_id, ":skill": new.skill,
            ":instructor_id": new.instructor_id, ":opening": new.opening, ":now": tx.now(),
        },
    )?;
    moves::insert(tx, entry_id, new.author_id, None, moves::To::Status(Status::Pending))?;
    Ok(entry_id)
}

/// Records what the signer saw: signed at once.
pub fn insert_signed(tx: &Write, new: &New, authority: &Authority, comments_instructor: &str) -> Result<i64> {
    let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, comment, author_id, cat_group, cat_id,
                      skill, instructor_id, comments_instructor, approval_date, created_at, updated_at)
               VALUES (:member_id, :kind, 'open', :entry_date, :minutes, :tunnel_id, :comment, :author_id, :cat_group, :cat_id,
                       :skill, :signer_id, :comments_instructor, :now, :now, :now)";
    let entry_id = tx.insert(
        sql,
        named_params! {
            ":member_id": authority.holder_id(), ":kind": new.kind, ":entry_date": new.entry_date,
            ":minutes": new.minutes, ":tunnel_id": new.tunnel_id, ":comment": new.comment,
            ":author_id": new.author_id, ":cat_group": new.cat_group, ":cat_id": new.cat_id, ":skill": new.skill,
            ":signer_id": authority.signer_id(), ":comments_instructor": comments_instructor, ":now": tx.now(),
        },
    )?;
    moves::insert(tx, entry_id, authority.signer_id(), None, moves::To::Status(Status::Open))?;
    Ok(entry_id)
}

/// The first entry of an opening balance gives it its number.
pub fn set_opening(tx: &Write, entry_id: i64) -> Result<usize> {
    tx.run("UPDATE entries SET opening = entry_id WHERE entry_id = ?1", [entry_id])
}

/// What the member asks for now; a refusal that was is answered by it.
pub fn update_wish(tx: &Write, entry_id: i64, wish: &Wish) -> Result<usize> {
    let sql =
        "UPDATE entries SET kind = :kind, cat_group = :cat_group, cat_id = :cat_id, skill = :skill, entry_date = :entry_date,
                      minutes = :minutes, tunnel_id = :tunnel_id, comment = :comment, instructor_id = :instructor_id,
                      comment_denial = '', updated_at = :now
               WHERE entry_id = :entry_id AND status IN ('pending', 'denied') AND opening IS NULL";
    tx.run(
        sql,
        named_params! {
            ":kind": wish.kind, ":cat_group": wish.cat_group, ":cat_id": wish.cat_id, ":skill": wish.skill,
            ":entry_date": wish.entry_date, ":minutes": wish.minutes, ":tunnel_id": wish.tunnel_id,
            ":comment": wish.comment, ":instructor_id": wish.instructor_id, ":now": tx.now(), ":entry_id": entry_id,
        },
    )
}

/// Keeps that the named signer was told of the entry as it is now.
pub fn set_asked(tx: &Write, entry_id: i64) -> Result<usize> {
    tx.run("UPDATE entries SET asked_version = version WHERE entry_id = ?1", [entry_id])
}

/// Moves an entry without a signature: a state that counts is reached by [`sign`] alone, or given back after a pause.
pub fn step(tx: &Write, entry: &SkillEntry, by: i64, to: Status) -> Result<()> {
    let sql = "UPDATE entries SET status = ?1, updated_at = ?2 WHERE entry_id = ?3";
    tx.run(sql, (to.name(), tx.now(), entry.entry_id))?;
    moves::insert(tx, entry.entry_id, by, Some(entry.status), moves::To::Status(to)).map(|_| ())
}

pub fn sign(tx: &Write, entry: &SkillEntry, authority: &Authority, comments_instructor: Option<&str>) -> Result<()> {
    let sql =
        "UPDATE entries SET instructor_id = :signer_id, comments_instructor = coalesce(:comments, comments_instructor),
                      comment_denial = '', approval_date = :now WHERE entry_id = :entry_id";
    tx.run(
        sql,
        named_params! {":signer_id": authority.signer_id(), ":comments": comments_instructor, ":now": tx.now(),
        ":entry_id": entry.entry_id},
    )?;
    step(tx, entry, authority.signer_id(), Status::Open)
}

pub fn deny(tx: &Write, entry: &SkillEntry, by: i64, comment_denial: &str) -> Result<()> {
    tx.run("UPDATE entries SET comment_denial = ?1 WHERE entry_id = ?2", (comment_denial, entry.entry_id))?;
    step(tx, entry, by, Status::Denied)
}

/// Takes an entry that nobody signed out of the logbook; its moves stay.
pub fn delete(tx: &Write, entry: &SkillEntry, by: i64) -> Result<()> {
    moves::insert(tx, entry.entry_id, by, Some(entry.status), moves::To::Deleted)?;
    super::entries::delete(tx, entry.entry_id).map(|_| ())
}

const COLUMNS: &str =
    "e.entry_id, e.member_id, h.screen_name, e.kind, e.status, e.entry_date, e.minutes, e.tunnel_id, t.name, e.comment,
    e.author_id, e.cat_group, e.cat_id, e.skill, e.instructor_id, coalesce(s.screen_name, ''), e.comments_instructor,
    e.comment_denial, e.approval_date, e.opening, e.version, e.asked_version,
    e.created_at";
const JOINED: &str = "entries e JOIN tunnels t ON t.tunnel_id = e.tunnel_id JOIN members h ON h.member_id = e.member_id
    LEFT JOIN members s ON s.member_id = e.instructor_id";

fn entry(row: &Row) -> Result<SkillEntry> {
    let status = row.get_ref(4)?.as_str()?;
    let unknown = || rusqlite::Error::InvalidColumnType(4, status.to_owned(), rusqlite::types::Type::Text);
    Ok(SkillEntry {
        entry_id: row.get(0)?,
        member_id: row.get(1)?,
        member_name: row.get(2)?,
        kind: row.get(3)?,
        status: Status::parse(status).ok_or_else(unknown)?,
        entry_date: row.get(5)?,
        minutes: row.get(6)?,
        tunnel_id: row.get(7)?,
        tunnel_name: row.get(8)?,
        comment: row.get(9)?,
        author_id: row.get(10)?,
        cat_group: row.get(11)?,
        cat_id: row.get(12)?,
        skill: row.get(13)?,
        instructor_id: row.get(14)?,
        instructor_name: row.get(15)?,
        comments_instructor: row.get(16)?,
        comment_denial: row.get(17)?,
        approval_date: row.get(18)?,
        opening: row.get(19)?,
        version: row.get(20)?,
        asked_version: row.get(21)?,
        created_at: row.get(22)?,
    })
}

/// An entry that is there to be signed; none for ordinary flight time.
pub fn find(tx: &Read, entry_id: i64) -> Result<Option<SkillEntry>> {
    let sql =
        format!("SELECT {COLUMNS} FROM {JOINED} WHERE e.entry_id = ?1 AND (e.kind <> 'time' OR e.opening IS NOT NULL)");
    tx.find(&sql, [entry_id], entry)
}

/// The entries of an opening balance, in the order in which they were entered.
pub fn list_opening(tx: &Read, opening: i64) -> Result<Vec<SkillEntry>> {
    tx.list(&format!("SELECT {COLUMNS} FROM {JOINED} WHERE e.opening = ?1 ORDER BY e.entry_id"), [opening], entry)
}

/// The states in which a member's entries of one skill are, without one of them.
pub fn list_statuses(tx: &Read, member_id: i64, kind: &str, skill: &str, except: i64) -> Result<Vec<String>> {
    let sql = "SELECT status FROM entries WHERE member_id = ?1 AND kind = ?2 AND skill = ?3 AND entry_id <> ?4 ORDER BY entry_id";
    tx.list(sql, (member_id, kind, skill, except), |row| row.get(0))
}

/// A member's skills in the states that are asked for.
const SHOWN_SKILLS: &str = "e.member_id = :id AND e.kind = 'skill'
    AND iif(e.status = 'open' AND e.cat_group IN (SELECT value FROM json_each(:lapsed)), 'not_current', e.status)
        IN (SELECT value FROM json_each(:statuses))";
/// A member's safety briefs and trainings in the states that are asked for. An old one is not `not_current`: the programme
/// is, and a newer training makes it current again.
const SHOWN_SAFETY: &str =
    "e.member_id = :id AND e.kind = 'safety' AND e.status IN (SELECT value FROM json_each(:statuses))";

/// Names as JSON; they are our own words, so nothing in them needs escaping.
fn names(names: &[&'static str]) -> String {
    format!("[\"{}\"]", names.join("\",\""))
}

/// A member's skills, safety briefs and trainings in these states, newest first. Each kind comes in the order of its index,
/// and the two are merged: nothing is sorted.
pub fn each(
    tx: &Read,
    member_id: i64,
    shown: Shown,
    (limit, offset): (i64, i64),
    take: impl FnMut(SkillEntry) -> ControlFlow<()>,
) -> Result<()> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {JOINED} WHERE {SHOWN_SKILLS}
         UNION ALL SELECT {COLUMNS} FROM {JOINED} WHERE {SHOWN_SAFETY}
         ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT :limit OFFSET :offset"
    );
    tx.each(
        &sql,
        named_params! {":id": member_id, ":lapsed": names(shown.lapsed), ":statuses": names(shown.statuses),
        ":limit": limit, ":offset": offset},
        entry,
        take,
    )
}

pub fn count(tx: &Read, member_id: i64, shown: Shown) -> Result<i64> {
    let sql = format!(
        "SELECT (SELECT count(*) FROM entries e WHERE {SHOWN_SKILLS}) + (SELECT count(*) FROM entries e WHERE {SHOWN_SAFETY})"
    );
    let params = named_params! {":id": member_id, ":lapsed": names(shown.lapsed), ":statuses": names(shown.statuses)};
    tx.get(&sql, params, |row| row.get(0))
}

/// What waits for this signer, newest first.
pub fn list_waiting(tx: &Read, signer_id: i64, limit: i64, offset: i64) -> Result<Vec<SkillEntry>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {JOINED} WHERE e.instructor_id = ?1 AND e.status = 'pending'
         ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT ?2 OFFSET ?3"
    );
    tx.list(&sql, (signer_id, limit, offset), entry)
}

pub fn count_waiting(tx: &Read, signer_id: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM entries WHERE instructor_id = ?1 AND status = 'pending'";
    tx.get(sql, [signer_id], |row| row.get(0))
}

/// What waits for anybody's signature: each signer's together, the oldest first.
pub fn list_pending(tx: &Read, limit: i64, offset: i64) -> Result<Vec<SkillEntry>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM entries e INDEXED BY entries_waiting CROSS JOIN tunnels t ON t.tunnel_id = e.tunnel_id
         CROSS JOIN members h ON h.member_id = e.member_id LEFT JOIN members s ON s.member_id = e.instructor_id
         WHERE e.status = 'pending' ORDER BY e.instructor_id, e.entry_date, e.entry_id LIMIT ?1 OFFSET ?2"
    );
    tx.list(&sql, (limit, offset), entry)
}

#[cfg(test)]
mod tests;

/// How many wait, for whichever signer.
pub fn count_pending(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM entries INDEXED BY entries_waiting WHERE status = 'pending'", [], |row| row.get(0))
}
