//! The bulk load of a new database: without flushes, journal, indexes and triggers until the end. Only for a file that
//! is not in use before the load is complete, and that the caller deletes where the load fails.

use crate::domain::entry::{Kind, Status};
use crate::store::queries::{hours, member_search};
use crate::store::tables::{members, partners};
use crate::store::{Write, Writer};
use rusqlite::{Connection, Result, config::DbConfig};

const CACHE_KIB: i64 = 64 * 1024;

/// The tables with many rows. Their indexes and triggers are dropped during a bulk load and made again after it.
const TABLES: &str = "('members', 'entries', 'entry_moves', 'bookings', 'history', 'notices', 'partner_users')";

/// A bulk load under way.
pub(crate) struct Bulk<'c> {
    conn: &'c Connection,
}

/// A demo member, in any state. Moments are Unix seconds.
#[derive(Debug, Default)]
pub(crate) struct Member<'a> {
    pub member_id: i64,
    pub username: String,
    pub screen_name: String,
    pub real_name: String,
    pub email: String,
    pub email_confirmed_at: Option<i64>,
    pub phone: String,
    pub phone_confirmed_at: Option<i64>,
    pub country: &'a str,
    pub country_code: &'a str,
    pub dob: i64,
    pub tunnel_id: i64,
    pub role: &'a str,
    pub password_hash: &'a str,
    pub paid_until: Option<i64>,
    pub banned_at: Option<i64>,
    pub join_date: i64,
}

/// A skill or safety entry.
#[derive(Debug)]
pub(crate) struct Signed<'a> {
    pub member_id: i64,
    pub kind: Kind,
    pub status: Status,
    pub entry_date: i64,
    pub tunnel_id: i64,
    pub author_id: i64,
    pub cat_group: &'a str,
    pub cat_id: &'a str,
    pub skill: &'a str,
    pub instructor_id: Option<i64>,
    pub comments_instructor: &'a str,
    pub comment_denial: &'a str,
    pub approval_date: Option<i64>,
}

impl Bulk<'_> {
    /// The load's open transaction, with the moment `now` (Unix seconds). The transaction ends with [`Bulk::commit`],
    /// and may carry several moments.
    pub(crate) fn at(&self, now: i64) -> Write<'_> {
        Write::on(self.conn, now)
    }

    /// Commits the rows written so far, so that the load's memory stays bounded.
    pub(crate) fn commit(&self) -> Result<()> {
        self.conn.execute_batch("COMMIT; BEGIN")
    }

    pub(crate) fn insert_member(&self, new: &Member) -> Result<usize> {
        let tx = self.at(0);
        insert!(tx.run, "INSERT INTO members" {
            member_id: new.member_id, username: &new.username, screen_name: &new.screen_name, real_name: &new.real_name,
            email: &new.email, email_confirmed_at: new.email_confirmed_at, phone: &new.phone,
            phone_confirmed_at: new.phone_confirmed_at, country: new.country, country_code: new.country_code,
            dob: new.dob, tunnel_id: new.tunnel_id, role: new.role, password_hash: new.password_hash,
            terms_accepted_at: new.join_date, paid_until: new.paid_until, banned_at: new.banned_at,
            join_date: new.join_date,
            updated_at: new.banned_at.unwrap_or(new.join_date),
        })
    }

    /// Inserts an entry without its events; returns its number.
    pub(crate) fn insert_signed(&self, new: &Signed) -> Result<i64> {
        let tx = self.at(0);
        insert!(tx.insert, "INSERT INTO entries" {
            member_id: new.member_id, kind: new.kind, status: new.status, entry_date: new.entry_date,
            tunnel_id: new.tunnel_id, author_id: new.author_id, cat_group: new.cat_group, cat_id: new.cat_id,
            skill: new.skill, instructor_id: new.instructor_id, comments_instructor: new.comments_instructor,
            comment_denial: new.comment_denial, approval_date: new.approval_date, created_at: new.entry_date,
            updated_at: new.approval_date.unwrap_or(new.entry_date),
        })
    }

    /// Marks the notices that were created before `before` (Unix seconds) as read, an hour after their creation.
    pub(crate) fn read_notices(&self, before: i64) -> Result<usize> {
        self.at(before).run(sql!("UPDATE notices SET read_at = created_at + 3600 WHERE created_at < ?1"), [before])
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
        let bulk = Bulk { conn };
        conn.execute_batch("BEGIN")?;
        let filled = fill(&bulk)?;
        conn.execute_batch("COMMIT")?;
        for sql in dropped {
            conn.execute_batch(&sql)?;
        }
        conn.execute_batch("BEGIN")?;
        members::recount_entries(&bulk.at(0))?;
        partners::count_anew(&bulk.at(0))?;
        hours::count_anew(&bulk.at(0))?;
        member_search::rebuild(&bulk.at(0))?;
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
