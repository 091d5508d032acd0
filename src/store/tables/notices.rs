//! What the site tells a member.

use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// The latest, as many as one list shows; older ones go.
const NOTICES_PER_MEMBER_MAX: i64 = 5_000;

#[derive(Debug)]
pub struct Notice {
    pub notification_id: i64,
    pub subject: String,
    pub detail: String,
    pub created_at: i64,
    pub read_at: Option<i64>,
}

/// `subject` is the key of a text, `detail` the JSON of its values, by the names of the text's places: see
/// [`crate::app::notice`].
pub fn insert(tx: &Write, member_id: i64, subject: &str, detail: &str) -> Result<i64> {
    let sql = "INSERT INTO notices (member_id, subject, detail, created_at) VALUES (:id, :subject, :detail, :now)";
    let notification_id =
        tx.insert(sql, named_params! {":id": member_id, ":subject": subject, ":detail": detail, ":now": tx.now()})?;
    let surplus = "DELETE FROM notices WHERE member_id = :id AND notification_id <=
                   (SELECT notification_id FROM notices WHERE member_id = :id
                    ORDER BY notification_id DESC LIMIT 1 OFFSET :kept)";
    tx.run(surplus, named_params! {":id": member_id, ":kept": NOTICES_PER_MEMBER_MAX})?;
    Ok(notification_id)
}

fn notice(row: &Row) -> Result<Notice> {
    Ok(Notice {
        notification_id: row.get(0)?,
        subject: row.get(1)?,
        detail: row.get(2)?,
        created_at: row.get(3)?,
        read_at: row.get(4)?,
    })
}

/// A member's, newest first.
pub fn list(tx: &Read, member_id: i64, limit: i64, offset: i64) -> Result<Vec<Notice>> {
    let sql = "SELECT notification_id, subject, detail, created_at, read_at FROM notices
               WHERE member_id = ?1 ORDER BY notification_id DESC LIMIT ?2 OFFSET ?3";
    tx.list(sql, (member_id, limit, offset), notice)
}

/// How many a member has, and how many of them are not read.
pub fn counts(tx: &Read, member_id: i64) -> Result<(i64, i64)> {
    let sql = "SELECT (SELECT count(*) FROM notices WHERE member_id = ?1),
                      (SELECT count(*) FROM notices WHERE member_id = ?1 AND read_at IS NULL)";
    tx.get(sql, [member_id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Marks one of the member's as read, as of the first time; whether there is such a one.
pub fn set_read(tx: &Write, member_id: i64, notification_id: i64) -> Result<bool> {
    let sql =
        "UPDATE notices SET read_at = coalesce(read_at, :now) WHERE notification_id = :id AND member_id = :member_id";
    Ok(tx.run(sql, named_params! {":now": tx.now(), ":id": notification_id, ":member_id": member_id})? > 0)
}
