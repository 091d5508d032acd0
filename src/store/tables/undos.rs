//! What a change of the ways into an account can be undone to. Only the hashes of the tokens are kept.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// An offer to undo a change: the member's address and number before it.
#[derive(Debug)]
pub struct Undo {
    pub member_id: i64,
    pub email: String,
    pub email_confirmed: bool,
    pub phone: String,
    pub phone_confirmed: bool,
    /// When the change was made; Unix seconds.
    pub made_at: i64,
}

/// `event`: the name of what was changed. `ends_at`: until when it can be undone; Unix seconds.
pub fn insert(tx: &Write, token_hash: &[u8; 32], event: &str, undo: &Undo, ends_at: i64) -> Result<usize> {
    let sql = "INSERT INTO undos (token_hash, member_id, event, email, email_confirmed, phone, phone_confirmed, made_at, ends_at)
               VALUES (:hash, :member_id, :event, :email, :email_confirmed, :phone, :phone_confirmed, :made_at, :ends_at)";
    tx.run(
        sql,
        named_params! {":hash": &token_hash[..], ":member_id": undo.member_id, ":event": event, ":email": undo.email,
        ":email_confirmed": undo.email_confirmed, ":phone": undo.phone, ":phone_confirmed": undo.phone_confirmed,
        ":made_at": undo.made_at, ":ends_at": ends_at},
    )
}

pub fn find(tx: &Read, token_hash: &[u8; 32], now: i64) -> Result<Option<Undo>> {
    let sql = "SELECT member_id, email, email_confirmed, phone, phone_confirmed, made_at FROM undos
               WHERE token_hash = ?1 AND ?2 < ends_at";
    tx.find(sql, (&token_hash[..], now), |row| {
        Ok(Undo {
            member_id: row.get("member_id")?,
            email: row.get("email")?,
            email_confirmed: row.get("email_confirmed")?,
            phone: row.get("phone")?,
            phone_confirmed: row.get("phone_confirmed")?,
            made_at: row.get("made_at")?,
        })
    })
}

/// Ends the offers of the changes that were made at this moment or later: whoever made them may hold their tokens.
pub fn delete_since(tx: &Write, member_id: i64, made_at: i64) -> Result<usize> {
    tx.run("DELETE FROM undos WHERE member_id = ?1 AND made_at >= ?2", (member_id, made_at))
}

pub fn sweep(tx: &Write, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM undos WHERE token_hash IN (SELECT token_hash FROM undos WHERE ends_at <= :now LIMIT :rows)";
    tx.run(sql, named_params! {":now": tx.now(), ":rows": rows})
}
