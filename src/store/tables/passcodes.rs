//! Passcodes that were sent: one valid for each member and purpose, hashed, with few tries.

use crate::store::joining::{OPENS, stays};
use crate::store::personal::{HASH, OUR_WORD, Rows, Table, deleted, not_personal, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "passcodes",
        "",
        &[not_personal("purpose", OUR_WORD), secret("code_hash"), deleted("target")],
        &[Rows::deleted("passcodes", "member_id = :id")],
    )
    .joins(&[stays("member_id", OPENS)]),
    Table::nobodys("passcode_sends", &[not_personal("address_hash", HASH)]),
];

/// How long messages are counted.
const KEPT_SECONDS: i64 = 24 * 3600;

row! {
    /// The valid passcode of a purpose.
    #[derive(Debug)]
    pub(crate) struct Passcode {
        pub code_hash: [u8; 32],
        /// The address or number to which the passcode was sent.
        pub target: String,
        pub tries: i64,
    }
}

/// Adds a passcode, in place of the earlier one of the same purpose.
pub(crate) fn insert(
    tx: &Write,
    member_id: i64,
    purpose: &str,
    code_hash: &[u8; 32],
    target: &str,
    ends_at: i64,
) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO passcodes" {
        member_id, purpose, code_hash: &code_hash[..], target, created_at: tx.now(), ends_at,
    })
}

pub(crate) fn find(tx: &Read, member_id: i64, purpose: &str, now: i64) -> Result<Option<Passcode>> {
    let sql =
        sql!("SELECT ", Passcode::COLUMNS, " FROM passcodes WHERE member_id = ?1 AND purpose = ?2 AND ?3 < ends_at");
    tx.find(sql, (member_id, purpose, now))
}

pub(crate) fn count_try(tx: &Write, member_id: i64, purpose: &str) -> Result<usize> {
    tx.run(sql!("UPDATE passcodes SET tries = tries + 1 WHERE member_id = ?1 AND purpose = ?2"), (member_id, purpose))
}

pub(crate) fn delete(tx: &Write, member_id: i64, purpose: &str) -> Result<usize> {
    tx.run(sql!("DELETE FROM passcodes WHERE member_id = ?1 AND purpose = ?2"), (member_id, purpose))
}

pub(crate) fn delete_of_member(tx: &Write, member_id: i64) -> Result<usize> {
    tx.run(sql!("DELETE FROM passcodes WHERE member_id = ?1"), [member_id])
}

/// The key of a part of the messages that another key counts: [`is_part_full`] and [`forget_sends`] find the parts of a key.
pub(crate) fn part_key(key: &[u8], part: &[u8; 32]) -> Vec<u8> {
    [key, part].concat()
}

/// A key beyond those of all parts of a key.
fn end_of_parts(key: &[u8]) -> Vec<u8> {
    [key, &[0xff; 33]].concat()
}

/// When the next message to a key may be sent, where at most `sends_max` are allowed within so many seconds; `None`:
/// now.
pub(crate) fn full_until(tx: &Read, key: &[u8], sends_max: i64, seconds: i64, now: i64) -> Result<Option<i64>> {
    if sends_max == 0 {
        return Ok(Some(now + seconds));
    }
    let sql = sql!(
        "SELECT sent_at FROM passcode_sends WHERE address_hash = ?1 AND sent_at > ?2
               ORDER BY sent_at DESC LIMIT 1 OFFSET ?3"
    );
    let within = (key, now - seconds, sends_max - 1);
    Ok(tx.find::<i64>(sql, within)?.map(|sent_at| sent_at + seconds))
}

/// Whether one of the [parts](part_key) of a key has so many messages within so many seconds.
pub(crate) fn is_part_full(tx: &Write, key: &[u8], sends_max: i64, seconds: i64) -> Result<bool> {
    let sql = sql!(
        "SELECT count(*) FROM passcode_sends WHERE ?1 < address_hash AND address_hash < ?2 AND sent_at > ?3
               GROUP BY address_hash HAVING count(*) >= ?4 LIMIT 1"
    );
    Ok(tx.find::<i64>(sql, (key, end_of_parts(key), tx.now() - seconds, sends_max))?.is_some())
}

pub(crate) fn insert_send(tx: &Write, key: &[u8]) -> Result<usize> {
    insert!(tx.run, "INSERT INTO passcode_sends" { address_hash: key, sent_at: tx.now() })
}

/// Resets the counts of a key and of its [parts](part_key).
pub(crate) fn forget_sends(tx: &Write, key: &[u8]) -> Result<usize> {
    tx.run(sql!("DELETE FROM passcode_sends WHERE ?1 <= address_hash AND address_hash < ?2"), (key, end_of_parts(key)))
}

/// Deletes expired passcodes and old sends.
pub(crate) fn purge_expired(tx: &Write, rows: i64) -> Result<usize> {
    tx.run(sql!("DELETE FROM passcodes WHERE ends_at <= ?1"), [tx.now()])?;
    purge!(tx, rows, "passcode_sends" by "rowid" where "sent_at <= ?2", tx.now() - KEPT_SECONDS)
}
