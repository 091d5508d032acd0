//! Reminders that were sent, and members who may be due for one.

use crate::domain::ids::{EntryId, MemberId};
use crate::domain::reminder::Reminder;
use crate::moment::Moment;
use crate::store::engine::statements::Sql;
use crate::store::joining::{ITS_OWN, stays};
use crate::store::personal::{CATALOGUE, Expiry, OUR_WORD, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// How long a reminder is kept, so that it is not repeated: longer than a clock may be set back.
const KEPT_SECONDS: i64 = 90 * 86_400;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "reminders",
    "",
    &[not_personal("programme", CATALOGUE), not_personal("kind", OUR_WORD)],
    &[Rows::deleted("reminders", "member_id = :id")],
)
.expires(&[Expiry::after("member_id, programme, kind, renewal", "renewal", KEPT_SECONDS).only("kind <> 'lapsed'")])
.joins(&[stays("member_id", ITS_OWN)])];

/// The position in a walk over the entries: the moment and the number of the last one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub entry_date: Moment,
    pub entry_id: EntryId,
}

/// A batch of the walk: members who may be due, and the next position; `None` at the end.
#[derive(Debug)]
pub(crate) struct Batch {
    pub members: Vec<MemberId>,
    pub next: Option<Cursor>,
}

/// The activity that keeps a member current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    Flying,
    Training,
}

/// Members whose latest flight (or safety training of a logbook) by `now` is one of the next `rows` entries after
/// `from` and not after `until`.
pub(crate) fn next_batch(
    tx: &Read,
    by: Activity,
    from: Cursor,
    until: Moment,
    now: Moment,
    rows: i64,
) -> Result<Batch> {
    let params =
        named_params! {":date": from.entry_date, ":id": from.entry_id, ":until": until, ":now": now, ":rows": rows};
    let found: Vec<(Moment, EntryId, MemberId, bool)> = tx.list(sql(by), params)?;
    let full = found.len() as i64 == rows;
    let next = found
        .last()
        .filter(|_| full)
        .map(|(entry_date, entry_id, ..)| Cursor { entry_date: *entry_date, entry_id: *entry_id });
    let mut members: Vec<MemberId> =
        found.iter().filter(|(.., latest)| *latest).map(|(_, _, member_id, _)| *member_id).collect();
    members.sort_unstable();
    members.dedup();
    Ok(Batch { members, next })
}

fn sql(by: Activity) -> &'static Sql {
    macro_rules! next_batch {
        ($kind:literal, $same:literal) => {
            sql!(
                "SELECT e.entry_date, e.entry_id, e.member_id, NOT EXISTS (
                     SELECT 1 FROM entries l WHERE l.member_id = e.member_id AND ",
                $same,
                " AND l.entry_date > e.entry_date AND l.entry_date <= :now)
                 FROM entries e WHERE ",
                $kind,
                " AND (e.entry_date, e.entry_id) > (:date, :id) AND e.entry_date <= :until
                 ORDER BY e.entry_date, e.entry_id LIMIT :rows"
            )
        };
    }
    match by {
        Activity::Flying => next_batch!("e.kind = 'time'", "l.kind = 'time'"),
        Activity::Training => next_batch!(
            "e.kind = 'safety' AND e.status = 'open'",
            "l.kind = 'safety' AND l.status = 'open' AND l.cat_group = e.cat_group"
        ),
    }
}

row! {
    /// How a member wants to be reminded, with what the member confirmed.
    #[derive(Debug)]
    pub(crate) struct Choice {
        /// `email`, `sms` or `none`.
        pub(crate) reminded_by: String,
        pub(crate) email: Option<String> = "iif(email_confirmed_at IS NULL, NULL, email)",
        pub(crate) phone: Option<String> = "iif(phone_confirmed_at IS NULL, NULL, phone)",
        pub(crate) language: String,
    }
}

pub(crate) fn find_choice(tx: &Read, member_id: MemberId) -> Result<Option<Choice>> {
    tx.find(sql!("SELECT ", Choice::COLUMNS, " FROM members WHERE member_id = ?1"), [member_id])
}

/// Sets how a member is reminded: `email`, `sms` or `none`.
pub(crate) fn choose(tx: &Write, member_id: MemberId, by: &str) -> Result<usize> {
    tx.run(sql!("UPDATE members SET reminded_by = ?2 WHERE member_id = ?1"), (member_id, by))
}

pub(crate) fn exists(tx: &Read, member_id: MemberId, reminder: &Reminder) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM reminders WHERE member_id = ?1 AND programme = ?2 AND kind = ?3 AND renewal = ?4)"
    );
    tx.get(sql, (member_id, reminder.programme, reminder.kind.name(), reminder.renewal))
}

/// The programmes of a member whose lapse was told, and not their return.
pub(crate) fn list_lapsed(tx: &Read, member_id: MemberId) -> Result<Vec<String>> {
    tx.list(sql!("SELECT DISTINCT programme FROM reminders WHERE member_id = ?1 AND kind = 'lapsed'"), [member_id])
}

/// Forgets that a currency has lapsed, because it is back.
pub(crate) fn delete_lapsed(tx: &Write, member_id: MemberId, programme: &str) -> Result<usize> {
    let sql = sql!("DELETE FROM reminders WHERE member_id = ?1 AND programme = ?2 AND kind = 'lapsed'");
    tx.run(sql, (member_id, programme))
}

/// Adds a reminder; returns whether it is new. The notice of a new reminder belongs in the same transaction.
pub(crate) fn insert(tx: &Write, member_id: MemberId, reminder: &Reminder) -> Result<bool> {
    Ok(insert!(tx.run, "INSERT INTO reminders" {
        member_id, programme: reminder.programme, kind: reminder.kind.name(), renewal: reminder.renewal,
        created_at: tx.now(),
    } "ON CONFLICT DO NOTHING")?
        > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn a_batch_reads_an_index_range_and_no_whole_table() {
        let mut conn = Connection::open_in_memory().unwrap();
        crate::store::engine::migrate::migrate(&mut conn).unwrap();
        for (by, index) in [(Activity::Flying, "entries_flown"), (Activity::Training, "entries_trained")] {
            let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", sql(by).text())).unwrap();
            let zeros = named_params! {":now": 0, ":date": 0, ":id": 0, ":until": 0, ":rows": 0};
            let steps: Vec<String> = plan.query_map(zeros, |row| row.get(3)).unwrap().map(Result::unwrap).collect();
            assert!(
                steps.iter().any(|next_batch| next_batch.contains(&format!("INDEX {index} (entry_date>"))),
                "{steps:?}"
            );
            assert!(
                steps.iter().all(|next_batch| !next_batch.starts_with("SCAN") && !next_batch.contains("TEMP B-TREE")),
                "{steps:?}"
            );
            assert!(
                steps.iter().any(|next_batch| next_batch.contains("INDEX entries_by_member (member_id=? AND kind=?")),
                "{steps:?}"
            );
        }
    }
}
