//! A member's whole logbook: flight time, skills and safety entries together.

use crate::domain::entry::{Kind, Status};
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::moment::Moment;
use crate::store::Read;
use crate::store::engine::columns::{Columns, FromRow};
use rusqlite::{Result, named_params};
use std::ops::ControlFlow;

row! {
    /// An entry of any kind. Moments in Unix seconds.
    #[derive(Debug)]
    pub(crate) struct Line in "e." {
        pub entry_id: EntryId,
        pub kind: Kind,
        pub status: Status,
        pub entry_date: Moment,
        pub minutes: i64,
        pub tunnel_id: TunnelId,
        pub tunnel_name: String = "t.name",
        pub comment: String,
        pub author_id: MemberId,
        pub booking_id: Option<BookingId>,
        pub cat_group: String,
        pub cat_id: String,
        pub skill: String,
        pub instructor_id: Option<MemberId>,
        /// The signer's name; empty where there is none.
        pub instructor_name: String = "coalesce(s.screen_name, '')",
        pub comments_instructor: String,
        pub comment_denial: String,
        pub approval_date: Option<Moment>,
        pub created_at: Moment,
    }
}

const LINE: &str = joined!("SELECT ", Line::COLUMNS, BESIDE);
/// An entry with its tunnel and its signer.
const BESIDE: &str = " FROM entries e CROSS JOIN tunnels t ON t.tunnel_id = e.tunnel_id LEFT JOIN members s ON s.member_id = e.instructor_id";

/// An entry of any kind as lists show it. Moments in Unix seconds.
#[derive(Debug)]
pub(crate) struct Listed {
    pub entry_id: EntryId,
    pub kind: Kind,
    pub status: Status,
    pub entry_date: Moment,
    pub minutes: i64,
    /// Whether the entry is part of an opening balance.
    pub opening: bool,
    pub comment: String,
    pub tunnel_name: String,
    /// The columns of an entry that needs a signature; `None`: flight time, which needs none.
    pub signed: Option<Signable>,
}

row! {
    /// The columns of an entry that needs a signature.
    #[derive(Debug)]
    pub(crate) struct Signable in "e." {
        pub cat_group: String,
        pub cat_id: String,
        pub skill: String,
        /// The signer's name; empty where there is none.
        pub instructor_name: String = "coalesce(s.screen_name, '')",
        pub comments_instructor: String,
        pub comment_denial: String,
    }
}

const LISTED: &str = joined!(
    "SELECT e.entry_id, e.kind, e.status, e.entry_date, e.minutes, e.opening IS NOT NULL, e.comment, t.name, ",
    Signable::COLUMNS,
    BESIDE
);

/// A statement that reads the entries of every kind of a member (`?1`), newest first, at most `?2` of them after `?3` newer
/// ones. The index has each kind in this order, so that SQLite merges the three and reads no more than that.
macro_rules! sql_of_every_kind {
    ($select:ident) => {
        sql!(
            $select,
            " WHERE e.member_id = ?1 AND e.kind = 'time' UNION ALL ",
            $select,
            " WHERE e.member_id = ?1 AND e.kind = 'skill' UNION ALL ",
            $select,
            " WHERE e.member_id = ?1 AND e.kind = 'safety' ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT ?2 OFFSET ?3"
        )
    };
}

impl FromRow for Listed {
    fn read(columns: &mut Columns) -> Result<Listed> {
        let mut listed = Listed {
            entry_id: columns.read()?,
            kind: columns.read()?,
            status: columns.read()?,
            entry_date: columns.read()?,
            minutes: columns.read()?,
            opening: columns.read()?,
            comment: columns.read()?,
            tunnel_name: columns.read()?,
            signed: None,
        };
        // Most of a logbook is flight time, whose other columns are empty.
        if listed.kind == Kind::Time && !listed.opening {
            columns.end();
        } else {
            listed.signed = Some(columns.read()?);
        }
        Ok(listed)
    }
}

/// The entries of every kind, newest first, after `offset` newer ones.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64, offset: i64) -> Result<Vec<Listed>> {
    tx.list(sql_of_every_kind!(LISTED), (member_id, limit, offset))
}

pub(crate) fn find_listed(tx: &Read, entry_id: EntryId) -> Result<Option<Listed>> {
    tx.find(sql!(LISTED, " WHERE e.entry_id = ?1"), [entry_id])
}

/// Calls `take` with the entries of every kind, newest first, after `offset` newer ones, until it breaks. One entry at a
/// time is in memory.
pub(crate) fn each(
    tx: &Read,
    member_id: MemberId,
    offset: i64,
    take: impl FnMut(Line) -> ControlFlow<()>,
) -> Result<()> {
    tx.each(sql_of_every_kind!(LINE), (member_id, i64::MAX, offset), take)
}

pub(crate) fn find(tx: &Read, entry_id: EntryId) -> Result<Option<Line>> {
    let sql = sql!(LINE, " WHERE e.entry_id = ?1");
    tx.find(sql, [entry_id])
}

/// The entries of one kind by `now` that belong to the record, newest first: flight time that counts, or skills and safety
/// records that were signed.
pub(crate) fn list_record(tx: &Read, member_id: MemberId, kind: Kind, now: Moment, limit: i64) -> Result<Vec<Line>> {
    let sql = sql!(
        LINE,
        " WHERE e.member_id = :id AND e.kind = :kind AND e.entry_date <= :now
           AND (e.status = 'open' OR e.status = 'suspended' AND e.kind <> 'time')
         ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT :limit"
    );
    tx.list(sql, named_params! {":id": member_id, ":kind": kind, ":now": now, ":limit": limit})
}

/// The records of one safety logbook, newest first.
pub(crate) fn each_safety(
    tx: &Read,
    member_id: MemberId,
    logbook: &str,
    (limit, offset): (i64, i64),
    take: impl FnMut(Line) -> ControlFlow<()>,
) -> Result<()> {
    let sql = sql!(
        LINE,
        " WHERE e.member_id = :id AND e.kind = 'safety' AND e.cat_group = :logbook
         ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT :limit OFFSET :offset"
    );
    let params = named_params! {":id": member_id, ":logbook": logbook, ":limit": limit, ":offset": offset};
    tx.each(sql, params, take)
}

pub(crate) fn count_safety(tx: &Read, member_id: MemberId, logbook: &str) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM entries WHERE member_id = ?1 AND kind = 'safety' AND cat_group = ?2");
    tx.get(sql, (member_id, logbook))
}

/// The catalogue numbers of the member's suspended safety briefs and trainings.
pub(crate) fn list_suspended_records(tx: &Read, member_id: MemberId) -> Result<Vec<String>> {
    let sql = sql!("SELECT skill FROM entries WHERE member_id = ?1 AND kind = 'safety' AND status = 'suspended'");
    tx.list(sql, [member_id])
}

/// The skill and the state of each skill entry of the member.
pub(crate) fn list_skill_states(tx: &Read, member_id: MemberId) -> Result<Vec<(String, Status)>> {
    let sql = sql!("SELECT skill, status FROM entries WHERE member_id = ?1 AND kind = 'skill' ORDER BY entry_id");
    tx.list(sql, [member_id])
}

/// The skills that the member cannot request again, because an entry takes them ([`Status::blocks_same_skill`]); sorted.
pub(crate) fn list_taken_skills(tx: &Read, member_id: MemberId) -> Result<Vec<String>> {
    let sql = sql!("SELECT status, skill FROM entries WHERE member_id = ?1 AND kind = 'skill'");
    let taken = tx.list_with(sql, [member_id], |row| {
        let mut columns = Columns::of(row);
        let takes = columns.read::<Status>()?.blocks_same_skill();
        Ok(if takes { Some(columns.text()?.to_owned()) } else { None })
    })?;
    let mut taken: Vec<String> = taken.into_iter().flatten().collect();
    taken.sort_unstable();
    Ok(taken)
}

/// Flights flown by `now` and their minutes.
pub(crate) fn sum_flown(tx: &Read, member_id: MemberId, now: Moment) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT count(*), coalesce(sum(minutes), 0) FROM entries
               WHERE member_id = ?1 AND kind = 'time' AND status = 'open' AND entry_date <= ?2"
    );
    tx.get(sql, (member_id, now))
}

/// The moment of the last entry before a moment; `None`: there is none.
pub(crate) fn find_last_before(tx: &Read, member_id: MemberId, before: Moment) -> Result<Option<Moment>> {
    // One lookup in the index for each kind.
    let sql = sql!(
        "SELECT max(last) FROM (
             SELECT max(entry_date) AS last FROM entries WHERE member_id = :id AND kind = 'time' AND entry_date < :before
             UNION ALL SELECT max(entry_date) FROM entries
             WHERE member_id = :id AND kind = 'skill' AND entry_date < :before
             UNION ALL SELECT max(entry_date) FROM entries
             WHERE member_id = :id AND kind = 'safety' AND entry_date < :before)"
    );
    tx.get(sql, named_params! {":id": member_id, ":before": before})
}

/// The number of entries between two moments; `to` is not included.
pub(crate) fn count_between(tx: &Read, member_id: MemberId, (from, to): (Moment, Moment)) -> Result<i64> {
    let sql = sql!(
        "SELECT (SELECT count(*) FROM entries
                 WHERE member_id = :id AND kind = 'time' AND entry_date >= :from AND entry_date < :to)
              + (SELECT count(*) FROM entries
                 WHERE member_id = :id AND kind = 'skill' AND entry_date >= :from AND entry_date < :to)
              + (SELECT count(*) FROM entries
                 WHERE member_id = :id AND kind = 'safety' AND entry_date >= :from AND entry_date < :to)"
    );
    tx.get(sql, named_params! {":id": member_id, ":from": from, ":to": to})
}

/// Minutes flown between two moments; `to` is not included.
pub(crate) fn sum_flown_between(tx: &Read, member_id: MemberId, (from, to): (Moment, Moment)) -> Result<i64> {
    let sql = sql!(
        "SELECT coalesce(sum(minutes), 0) FROM entries
               WHERE member_id = ?1 AND kind = 'time' AND status = 'open' AND entry_date >= ?2 AND entry_date < ?3"
    );
    tx.get(sql, (member_id, from, to))
}
