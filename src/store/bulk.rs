//! The bulk load of a new database: without flushes, journal, indexes and triggers until the end. Only for a file that
//! is not in use before the load is complete, and that the caller deletes where the load fails.

use crate::domain::audit::ChainKey;
use crate::domain::entry::Status;
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::queries::{hours, member_search, standing};
use crate::store::tables::partners;
use crate::store::{Write, Writer};
use rusqlite::{Connection, Result, config::DbConfig, params};

const CACHE_KIB: i64 = 64 * 1024;

/// The columns of the temporary table `drafts`, in the order of [`Draft`].
const DRAFT: &str =
    "member_id, entry_date, minutes, author_id, comment, cat_group, cat_id, skill, ended_as, instructor_id, answered_at,
     created_at, booked_at, refusal";

/// The tables with many rows. Their indexes and triggers are dropped during a bulk load and made again after it.
const TABLES: &str = "('members', 'entries', 'entry_events', 'bookings', 'events', 'notices', 'partner_users')";

/// A bulk load under way.
pub(crate) struct Bulk<'c> {
    conn: &'c Connection,
    chain_key: Option<&'c ChainKey>,
}

/// An entry of a demo site, the booking from which it came, or both. Moments are Unix seconds.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub member_id: MemberId,
    /// When the flight was or will be, or when the skill was shown.
    pub entry_date: Moment,
    pub minutes: i64,
    pub author_id: MemberId,
    /// The member's for flight time, else the signer's.
    pub comment: &'static str,
    pub cat_group: &'static str,
    /// Empty for a safety record.
    pub cat_id: &'static str,
    /// Empty for flight time.
    pub skill: &'static str,
    /// The state of the entry; `None`: in force.
    pub end: Option<Status>,
    pub instructor_id: Option<MemberId>,
    /// When the signer signed or refused, or the member withdrew the request.
    pub answered_at: Option<Moment>,
    /// When the entry was made; `None`: only a booking.
    pub created_at: Option<Moment>,
    pub booked_at: Option<Moment>,
    /// Why the site refused the booking: the key of the reason.
    pub refusal: Option<&'static str>,
}

impl Bulk<'_> {
    /// The load's open transaction, with the moment `now` (Unix seconds). The transaction may carry several moments.
    pub(crate) fn at(&self, now: Moment) -> Write<'_> {
        Write::keyed(self.conn, now, self.chain_key)
    }

    /// Adds a draft, in any order.
    pub(crate) fn add(&self, draft: &Draft) -> Result<usize> {
        let Draft { member_id, entry_date, minutes, author_id, comment, cat_group, cat_id, .. } = draft;
        let Draft { skill, end, instructor_id, answered_at, created_at, booked_at, refusal, .. } = draft;
        let mut insert =
            self.conn.prepare_cached("INSERT INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        insert.execute(params![
            member_id,
            entry_date,
            minutes,
            author_id,
            comment,
            cat_group,
            cat_id,
            skill,
            end,
            instructor_id,
            answered_at,
            created_at,
            booked_at,
            refusal
        ])
    }

    /// Makes entries, bookings and all that belongs to them from the drafts of the tunnel's members, as of `now` (Unix
    /// seconds), and returns the numbers of entries and bookings. To be called once.
    pub(crate) fn write_drafts(&self, now: Moment) -> Result<(i64, i64)> {
        let role = "(SELECT min(member_id) FROM members WHERE role = ";
        self.conn.execute_batch(&format!(
            "CREATE TEMP TABLE demo AS SELECT {now} AS now, partner_id, tunnel_id, {role}'admin') AS admin_id,
                                              {role}'desk') AS desk_id FROM partners, tunnels"
        ))?;
        self.conn.execute_batch(include_str!("../../sql/demo.sql"))?;
        let counts = "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM bookings)";
        self.conn.query_row(counts, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// Runs `fill` without indexes, triggers and flushes, then `finish` with indexes and triggers in place again. The
/// connection stays without flushes: the caller must flush the file, close it and open it again.
pub(crate) fn load<T, E: From<rusqlite::Error>>(
    writer: &Writer,
    fill: impl FnOnce(&Bulk) -> std::result::Result<T, E>,
    finish: impl FnOnce(&Bulk) -> std::result::Result<(), E>,
) -> std::result::Result<T, E> {
    writer.exclusive(|conn| {
        disable_safeguards(conn)?;
        let dropped = drop_indexes_and_triggers(conn)?;
        let bulk = Bulk { conn, chain_key: writer.chain_key.get() };
        conn.execute_batch(&format!("CREATE TEMP TABLE drafts ({DRAFT}); BEGIN"))?;
        let filled = fill(&bulk)?;
        conn.execute_batch("COMMIT")?;
        for sql in dropped {
            conn.execute_batch(&sql)?;
        }
        conn.execute_batch("BEGIN")?;
        standing::recount(&bulk.at(Moment(0)))?;
        partners::count_anew(&bulk.at(Moment(0)))?;
        hours::count_anew(&bulk.at(Moment(0)))?;
        member_search::rebuild(&bulk.at(Moment(0)))?;
        finish(&bulk)?;
        conn.execute_batch("COMMIT")?;
        Ok(filled)
    })
}

fn disable_safeguards(conn: &Connection) -> Result<()> {
    // A defensive connection cannot turn off its journal.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    conn.execute_batch(&format!(
        "PRAGMA foreign_keys = off; PRAGMA journal_mode = off; PRAGMA synchronous = off; PRAGMA temp_store = file;
         PRAGMA threads = 2; PRAGMA cache_size = -{CACHE_KIB}"
    ))
}

/// Drops the indexes and triggers of [`TABLES`], and returns the SQL that creates them.
fn drop_indexes_and_triggers(conn: &Connection) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name IN {TABLES}"
    );
    let found: Vec<(String, String, String)> =
        conn.prepare(&sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect::<Result<_>>()?;
    for (kind, name, _) in &found {
        conn.execute_batch(&format!("DROP {kind} {name}"))?;
    }
    Ok(found.into_iter().map(|(_, _, sql)| sql).collect())
}
