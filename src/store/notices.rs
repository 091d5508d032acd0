//! What the site tells a member.

use super::Write;
use rusqlite::{Result, named_params};

/// `subject` is the key of a text, `detail` the JSON of its values.
pub fn insert(tx: &Write, member_id: i64, subject: &str, detail: &str) -> Result<i64> {
    let sql = "INSERT INTO notices (member_id, subject, detail, created_at) VALUES (:id, :subject, :detail, :now)";
    tx.insert(sql, named_params! {":id": member_id, ":subject": subject, ":detail": detail, ":now": tx.now()})
}
