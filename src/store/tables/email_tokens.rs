//! The tokens in the mails that confirm an address. Only their hashes are kept.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// How long a token that ran out can still ask for a new one.
const KEPT_SECONDS: i64 = 30 * 86_400;

#[derive(Debug)]
pub struct EmailToken {
    pub member_id: i64,
    pub email: String,
    pub ends_at: i64,
    pub used_at: Option<i64>,
}

pub fn insert(tx: &Write, token_hash: &[u8; 32], member_id: i64, email: &str, ends_at: i64) -> Result<usize> {
    let sql = "INSERT INTO email_tokens (token_hash, member_id, email, created_at, ends_at)
               VALUES (:hash, :member_id, :email, :now, :ends_at)";
    tx.run(
        sql,
        named_params! {":hash": &token_hash[..], ":member_id": member_id, ":email": email, ":now": tx.now(),
        ":ends_at": ends_at},
    )
}

pub fn find(tx: &Read, token_hash: &[u8; 32]) -> Result<Option<EmailToken>> {
    let sql = "SELECT member_id, email, ends_at, used_at FROM email_tokens WHERE token_hash = ?1";
    tx.find(sql, [&token_hash[..]], |row| {
        Ok(EmailToken { member_id: row.get(0)?, email: row.get(1)?, ends_at: row.get(2)?, used_at: row.get(3)? })
    })
}

pub fn set_used(tx: &Write, token_hash: &[u8; 32]) -> Result<usize> {
    tx.run("UPDATE email_tokens SET used_at = ?2 WHERE token_hash = ?1", (&token_hash[..], tx.now()))
}

/// Only the newest token of a member is good.
pub fn end_of_member(tx: &Write, member_id: i64) -> Result<usize> {
    tx.run("UPDATE email_tokens SET ends_at = min(ends_at, ?2) WHERE member_id = ?1", (member_id, tx.now()))
}

pub fn sweep(tx: &Write, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM email_tokens WHERE token_hash IN
               (SELECT token_hash FROM email_tokens WHERE created_at < :old LIMIT :rows)";
    tx.run(sql, named_params! {":old": tx.now() - KEPT_SECONDS, ":rows": rows})
}
