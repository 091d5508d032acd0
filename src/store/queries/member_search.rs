//! Finding members by what somebody remembers of them: an index of every three letters in a row, which triggers keep.

use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// What a list of members shows.
#[derive(Debug)]
pub struct Found {
    pub member_id: i64,
    pub username: String,
    pub screen_name: String,
    pub real_name: String,
    pub email: String,
    pub phone: String,
    pub has_photo: bool,
    pub banned: bool,
}

const FOUND: &str = "m.member_id, m.username, m.screen_name, m.real_name, m.email, m.phone,
                     EXISTS (SELECT 1 FROM media WHERE member_id = m.member_id), m.banned_at IS NOT NULL";

fn found(row: &Row) -> Result<Found> {
    Ok(Found {
        member_id: row.get(0)?,
        username: row.get(1)?,
        screen_name: row.get(2)?,
        real_name: row.get(3)?,
        email: row.get(4)?,
        phone: row.get(5)?,
        has_photo: row.get(6)?,
        banned: row.get(7)?,
    })
}

pub fn find(tx: &Read, member_id: i64) -> Result<Option<Found>> {
    tx.find(&format!("SELECT {FOUND} FROM members m WHERE m.member_id = ?1"), [member_id], found)
}

/// Whose words have these letters, the newest members first. The pattern is in the index's own language, see
/// [`crate::domain::wanted`].
pub fn list(tx: &Read, pattern: &str, limit: i64) -> Result<Vec<Found>> {
    let sql = format!(
        "SELECT {FOUND} FROM members_search CROSS JOIN members m ON m.member_id = members_search.rowid
         WHERE members_search MATCH :pattern ORDER BY members_search.rowid DESC LIMIT :limit"
    );
    tx.list(&sql, named_params! {":pattern": pattern, ":limit": limit}, found)
}

/// What `look` makes of the words of those who have these letters, the newest members first: the names in the order of
/// [`Found`], and the number. For thousands, of whom few are wanted.
pub fn list_judged<T>(
    tx: &Read,
    pattern: &str,
    limit: i64,
    look: impl Fn(i64, [&str; 5]) -> Option<T>,
) -> Result<Vec<T>> {
    let sql = "SELECT m.member_id, m.real_name, m.screen_name, m.username, m.email, m.phone
               FROM members_search CROSS JOIN members m ON m.member_id = members_search.rowid
               WHERE members_search MATCH :pattern ORDER BY members_search.rowid DESC LIMIT :limit";
    let judged = tx.list(sql, named_params! {":pattern": pattern, ":limit": limit}, |row| {
        let mut words = [""; 5];
        for (place, word) in words.iter_mut().enumerate() {
            *word = row.get_ref(place + 1)?.as_str()?;
        }
        Ok(look(row.get(0)?, words))
    })?;
    Ok(judged.into_iter().flatten().collect())
}

/// How many have these letters, counted no further than `most`.
pub fn count(tx: &Read, pattern: &str, most: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM members_search WHERE members_search MATCH ?1 LIMIT ?2)";
    tx.get(sql, (pattern, most), |row| row.get(0))
}

/// Whose e-mail address begins like this.
pub fn list_by_email(tx: &Read, start: &str, limit: i64) -> Result<Vec<Found>> {
    let sql = format!(
        "SELECT {FOUND} FROM members m WHERE m.email >= :start AND m.email < :start || char(1114111) ORDER BY m.email LIMIT :limit"
    );
    tx.list(&sql, named_params! {":start": start, ":limit": limit}, found)
}

/// The newest members.
pub fn list_newest(tx: &Read, limit: i64) -> Result<Vec<Found>> {
    tx.list(&format!("SELECT {FOUND} FROM members m ORDER BY m.member_id DESC LIMIT ?1"), [limit], found)
}

/// Makes the index anew: its triggers were put aside.
pub fn rebuild(tx: &Write) -> Result<usize> {
    tx.run("INSERT INTO members_search (members_search) VALUES ('rebuild')", [])
}
