//! What was written in the contact form.

use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// A message to be.
#[derive(Debug)]
pub struct New<'a> {
    pub name: &'a str,
    pub email: &'a str,
    pub country: &'a str,
    pub enquiry: &'a str,
    pub message: &'a str,
    /// ISO 639-1.
    pub language: &'a str,
    /// As it was given: perhaps nobody's.
    pub member_id: Option<i64>,
    /// Whether the member's session came with it.
    pub signed_in: bool,
}

#[derive(Debug)]
pub struct Message {
    pub contact_id: i64,
    pub name: String,
    pub email: String,
    pub country: String,
    pub enquiry: String,
    pub message: String,
    pub language: String,
    pub member_id: Option<i64>,
    pub signed_in: bool,
    pub created_at: i64,
    pub done_at: Option<i64>,
}

pub fn insert(tx: &Write, new: &New) -> Result<i64> {
    let sql =
        "INSERT INTO contact_messages (name, email, country, enquiry, message, language, member_id, signed_in, created_at)
               VALUES (:name, :email, :country, :enquiry, :message, :language, :member_id, :signed_in, :now)";
    tx.insert(
        sql,
        named_params! {":name": new.name, ":email": new.email, ":country": new.country, ":enquiry": new.enquiry,
        ":message": new.message, ":language": new.language, ":member_id": new.member_id, ":signed_in": new.signed_in,
        ":now": tx.now()},
    )
}

const MESSAGE: &str =
    "SELECT contact_id, name, email, country, enquiry, message, language, member_id, signed_in, created_at, done_at
                       FROM contact_messages";

fn message(row: &Row) -> Result<Message> {
    Ok(Message {
        contact_id: row.get(0)?,
        name: row.get(1)?,
        email: row.get(2)?,
        country: row.get(3)?,
        enquiry: row.get(4)?,
        message: row.get(5)?,
        language: row.get(6)?,
        member_id: row.get(7)?,
        signed_in: row.get(8)?,
        created_at: row.get(9)?,
        done_at: row.get(10)?,
    })
}

pub fn find(tx: &Read, contact_id: i64) -> Result<Option<Message>> {
    tx.find(&format!("{MESSAGE} WHERE contact_id = ?1"), [contact_id], message)
}

/// Newest first: those that the desk is not through with, or all.
pub fn list(tx: &Read, all: bool, limit: i64, offset: i64) -> Result<Vec<Message>> {
    let condition = if all { "true" } else { "done_at IS NULL" };
    let sql = format!("{MESSAGE} WHERE {condition} ORDER BY contact_id DESC LIMIT ?1 OFFSET ?2");
    tx.list(&sql, (limit, offset), message)
}

/// How many the desk is not through with.
pub fn count_open(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM contact_messages WHERE done_at IS NULL", [], |row| row.get(0))
}

/// The desk is through with it; a second time changes nothing.
pub fn set_done(tx: &Write, contact_id: i64) -> Result<usize> {
    tx.run("UPDATE contact_messages SET done_at = ?2 WHERE contact_id = ?1 AND done_at IS NULL", (contact_id, tx.now()))
}

/// Removes what was done at `old` or before.
pub fn sweep(tx: &Write, old: i64, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM contact_messages WHERE contact_id IN
               (SELECT contact_id FROM contact_messages WHERE done_at <= ?1 LIMIT ?2)";
    tx.run(sql, (old, rows))
}
