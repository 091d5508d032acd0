//! The search of members by parts of their names, addresses and numbers: a trigram index (FTS5) that triggers maintain.

use crate::domain::certificate::name_on_paper;
use crate::domain::ids::MemberId;
use crate::store::engine::columns::Columns;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};
use std::ops::ControlFlow;

row! {
    /// A member in a list of results.
    #[derive(Debug)]
    pub(crate) struct Found in "m." {
        pub member_id: MemberId,
        pub username: String,
        pub screen_name: String,
        pub real_name: String,
        pub email: String,
        pub phone: String,
        pub has_photo: bool = "EXISTS (SELECT 1 FROM media WHERE member_id = m.member_id)",
        pub banned: bool = "m.banned_at IS NOT NULL",
    }
}

impl Found {
    /// The name that pages show: the real name, else the screen name, else the username.
    pub(crate) fn display_name(&self) -> &str {
        name_on_paper(&self.real_name, &self.screen_name, &self.username)
    }
}

pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Found>> {
    tx.find(sql!("SELECT ", Found::COLUMNS, " FROM members m WHERE m.member_id = ?1"), [member_id])
}

/// The members who match the pattern, newest first. The pattern is in the query language of the index: see
/// [`crate::domain::member_query`].
pub(crate) fn list(tx: &Read, pattern: &str, limit: i64) -> Result<Vec<Found>> {
    let sql = sql!(
        "SELECT ",
        Found::COLUMNS,
        " FROM members_search CROSS JOIN members m ON m.member_id = members_search.rowid
         WHERE members_search MATCH :pattern ORDER BY members_search.rowid DESC LIMIT :limit"
    );
    tx.list(sql, named_params! {":pattern": pattern, ":limit": limit})
}

/// Whether any member matches the pattern.
pub(crate) fn exists(tx: &Read, pattern: &str) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM members_search WHERE members_search MATCH ?1)"), [pattern])
}

/// Calls `look` with the number and the names (in the order of the statement) of members that match the pattern, newest
/// first, until it breaks, and returns its results. Copies nothing, for hundreds of matches of which few are kept.
pub(crate) fn sift<T>(
    tx: &Read,
    pattern: &str,
    limit: i64,
    mut look: impl FnMut(MemberId, [&str; 5]) -> (T, ControlFlow<()>),
) -> Result<Vec<T>> {
    let sql = sql!(
        "SELECT m.member_id, m.real_name, m.screen_name, m.username, m.email, m.phone
         FROM members_search CROSS JOIN members m ON m.member_id = members_search.rowid
         WHERE members_search MATCH ?1 ORDER BY members_search.rowid DESC LIMIT ?2"
    );
    let mut looked_at = Vec::new();
    tx.each_with(sql, (pattern, limit), |row| {
        let mut columns = Columns::of(row);
        let (member_id, mut words) = (columns.value()?, [""; 5]);
        for word in &mut words {
            *word = columns.text()?;
        }
        let (found, flow) = look(member_id, words);
        looked_at.push(found);
        Ok(flow)
    })?;
    Ok(looked_at)
}

/// The members whose e-mail address has this prefix.
pub(crate) fn list_by_email(tx: &Read, start: &str, limit: i64) -> Result<Vec<Found>> {
    let sql = sql!(
        "SELECT ",
        Found::COLUMNS,
        " FROM members m WHERE m.email >= :start AND m.email < :start || char(1114111) ORDER BY m.email LIMIT :limit"
    );
    tx.list(sql, named_params! {":start": start, ":limit": limit})
}

/// The newest members.
pub(crate) fn list_newest(tx: &Read, limit: i64) -> Result<Vec<Found>> {
    let sql = sql!(
        "SELECT ",
        Found::COLUMNS,
        " FROM members m WHERE m.member_id NOT IN (SELECT member_id FROM erasures) ORDER BY m.member_id DESC LIMIT ?1"
    );
    tx.list(sql, [limit])
}

/// Rebuilds the index, after rows were written without its triggers.
pub(crate) fn rebuild(tx: &Write) -> Result<usize> {
    insert!(tx.run, "INSERT INTO members_search" { members_search: "rebuild" })?;
    gather(tx)
}

/// Merges the segments of the index, which grow in number with every change, into one.
pub(crate) fn gather(tx: &Write) -> Result<usize> {
    insert!(tx.run, "INSERT INTO members_search" { members_search: "optimize" })
}
