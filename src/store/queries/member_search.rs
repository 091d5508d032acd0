//! Finding members by what somebody remembers of them: an index of every three letters in a row, which triggers keep.

use crate::store::engine::columns::{Columns, row};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

row! {
    /// A row of a list of members.
    #[derive(Debug)]
    pub(crate) struct Found in "m." {
        pub member_id: i64,
        pub username: String,
        pub screen_name: String,
        pub real_name: String,
        pub email: String,
        pub phone: String,
        pub has_photo: bool = "EXISTS (SELECT 1 FROM media WHERE member_id = m.member_id)",
        pub banned: bool = "m.banned_at IS NOT NULL",
    }
}

pub(crate) fn find(tx: &Read, member_id: i64) -> Result<Option<Found>> {
    tx.find(sql!("SELECT ", Found::COLUMNS, " FROM members m WHERE m.member_id = ?1"), [member_id], row)
}

/// Whose words have these letters, the newest members first. The pattern is in the index's own language, see
/// [`crate::domain::wanted`].
pub(crate) fn list(tx: &Read, pattern: &str, limit: i64) -> Result<Vec<Found>> {
    let sql = sql!(
        "SELECT ",
        Found::COLUMNS,
        " FROM members_search CROSS JOIN members m ON m.member_id = members_search.rowid
         WHERE members_search MATCH :pattern ORDER BY members_search.rowid DESC LIMIT :limit"
    );
    tx.list(sql, named_params! {":pattern": pattern, ":limit": limit}, row)
}

/// The numbers of the members who have these letters, the newest first.
pub(crate) fn list_ids(tx: &Read, pattern: &str, limit: i64) -> Result<Vec<i64>> {
    let sql = sql!("SELECT rowid FROM members_search WHERE members_search MATCH ?1 ORDER BY rowid DESC LIMIT ?2");
    tx.list(sql, (pattern, limit), row)
}

/// What `look` makes of a member's words: the names in the order of [`Found`]. For hundreds, of whom few are wanted.
pub(crate) fn judge<T>(tx: &Read, member_id: i64, look: impl FnOnce([&str; 5]) -> Option<T>) -> Result<Option<T>> {
    let sql = sql!("SELECT real_name, screen_name, username, email, phone FROM members WHERE member_id = ?1");
    let mut look = Some(look);
    let judged = tx.find(sql, [member_id], |row| {
        let (mut columns, mut words) = (Columns::of(row), [""; 5]);
        for word in &mut words {
            *word = columns.text()?;
        }
        Ok(look.take().and_then(|look| look(words)))
    })?;
    Ok(judged.flatten())
}

/// Whose e-mail address begins like this.
pub(crate) fn list_by_email(tx: &Read, start: &str, limit: i64) -> Result<Vec<Found>> {
    let sql = sql!(
        "SELECT ",
        Found::COLUMNS,
        " FROM members m WHERE m.email >= :start AND m.email < :start || char(1114111) ORDER BY m.email LIMIT :limit"
    );
    tx.list(sql, named_params! {":start": start, ":limit": limit}, row)
}

/// The newest members.
pub(crate) fn list_newest(tx: &Read, limit: i64) -> Result<Vec<Found>> {
    tx.list(sql!("SELECT ", Found::COLUMNS, " FROM members m ORDER BY m.member_id DESC LIMIT ?1"), [limit], row)
}

/// Makes the index anew: its triggers were put aside.
pub(crate) fn rebuild(tx: &Write) -> Result<usize> {
    insert!(tx.run, "INSERT INTO members_search" { members_search: "rebuild" })
}
