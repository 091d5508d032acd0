//! First answers by `Idempotency-Key`, written in the transaction of the effect.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

const KEPT_SECONDS: i64 = 24 * 3600;

/// A first answer as it is kept.
pub struct Kept {
    pub body_digest: [u8; 32],
    /// Sealed.
    pub answer: Vec<u8>,
    /// SHA-256 of the token that the answer hands out, if any.
    pub token_hash: Option<[u8; 32]>,
}

pub fn find(tx: &Read, replay_key: &[u8; 32], now: i64) -> Result<Option<Kept>> {
    let sql = "SELECT body_digest, answer, token_hash FROM replays WHERE replay_key = ?1 AND answered_at > ?2";
    tx.find(sql, (&replay_key[..], now - KEPT_SECONDS), |row| {
        Ok(Kept { body_digest: row.get(0)?, answer: row.get(1)?, token_hash: row.get(2)? })
    })
}

pub fn insert(tx: &Write, replay_key: &[u8; 32], kept: &Kept) -> Result<usize> {
    let sql = "INSERT OR REPLACE INTO replays (replay_key, body_digest, answer, answered_at, token_hash)
               VALUES (:key, :digest, :answer, :now, :token)";
    tx.run(
        sql,
        named_params! {":key": &replay_key[..], ":digest": &kept.body_digest[..], ":answer": kept.answer, ":now": tx.now(),
        ":token": kept.token_hash.as_ref().map(|hash| &hash[..])},
    )
}

pub fn sweep(tx: &Write, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM replays WHERE replay_key IN (SELECT replay_key FROM replays WHERE answered_at <= :old LIMIT :rows)";
    tx.run(sql, named_params! {":old": tx.now() - KEPT_SECONDS, ":rows": rows})
}
