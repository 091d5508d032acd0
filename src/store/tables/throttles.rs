//! The counts of limits: failed attempts with the delays that they cause, and the moments of messages and requests. Keys are
//! hashed, so that the tables have no personal data.

use crate::moment::Moment;
use crate::store::personal::{Ahead, Expiry, HASH, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::nobodys("throttles", &[not_personal("throttle_key", HASH), not_personal("account_key", HASH)])
        .expires(&[Expiry::after("throttle_key", "missed_at", KEPT_SECONDS)])
        .ahead(Ahead::Deleted("missed_at")),
    Table::nobodys("counted", &[not_personal("count_key", HASH)])
        .expires(&[Expiry::after("rowid", "counted_at", KEPT_SECONDS)])
        .ahead(Ahead::Deleted("counted_at")),
];

/// How long counts are kept; older ones count as none.
const KEPT_SECONDS: i64 = 24 * 3600;

row! {
    /// Failed attempts under one key.
    pub(crate) struct Throttle {
        pub misses: i64,
        /// The moment from which misses are forgotten.
        pub missed_at: Moment,
        /// Until when the key is closed.
        pub closed_until: Moment,
    }
}

pub(crate) fn find(tx: &Read, key: &[u8]) -> Result<Option<Throttle>> {
    tx.find(sql!("SELECT ", Throttle::COLUMNS, " FROM throttles WHERE throttle_key = ?1"), [key])
}

/// `account_key`: the key of the account, the same in all its rows.
pub(crate) fn set(
    tx: &Write,
    key: &[u8],
    account_key: Option<&[u8; 32]>,
    misses: i64,
    missed_at: Moment,
    closed_until: Moment,
) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO throttles" {
        throttle_key: key, account_key: account_key.map(|key| &key[..]), misses, missed_at, closed_until,
    })
}

/// Deletes every row of an account; returns how many of them were closed.
pub(crate) fn forget_account(tx: &Write, account_key: &[u8; 32]) -> Result<usize> {
    let sql = sql!("DELETE FROM throttles WHERE account_key = :key RETURNING closed_until > :now");
    let closed: Vec<bool> = tx.list(sql, named_params! {":key": &account_key[..], ":now": tx.now()})?;
    Ok(closed.into_iter().filter(|closed| *closed).count())
}

/// The moment at which one more is allowed under a key, where at most `most` are within these seconds; `None`: it is now.
pub(crate) fn full_until(tx: &Read, key: &[u8], most: i64, seconds: i64, now: Moment) -> Result<Option<Moment>> {
    if most == 0 {
        return Ok(Some(now + seconds));
    }
    let sql = sql!(
        "SELECT counted_at FROM counted WHERE count_key = ?1 AND counted_at > ?2
               ORDER BY counted_at DESC LIMIT 1 OFFSET ?3"
    );
    Ok(tx.find::<Moment>(sql, (key, now - seconds, most - 1))?.map(|counted_at| counted_at + seconds))
}

/// Whether one of the keys that begin with this one, and are longer, has `most` within these seconds.
pub(crate) fn is_part_full(tx: &Write, key: &[u8], most: i64, seconds: i64) -> Result<bool> {
    let sql = sql!(
        "SELECT count(*) FROM counted WHERE ?1 < count_key AND count_key < ?2 AND counted_at > ?3
               GROUP BY count_key HAVING count(*) >= ?4 LIMIT 1"
    );
    Ok(tx.find::<i64>(sql, (key, end_of_parts(key), tx.now() - seconds, most))?.is_some())
}

pub(crate) fn insert_counted(tx: &Write, key: &[u8]) -> Result<usize> {
    insert!(tx.run, "INSERT INTO counted" { count_key: key, counted_at: tx.now() })
}

/// Deletes the counts of a key, and of those that begin with it.
pub(crate) fn forget(tx: &Write, key: &[u8]) -> Result<usize> {
    tx.run(sql!("DELETE FROM throttles WHERE throttle_key = ?1"), [key])?;
    tx.run(sql!("DELETE FROM counted WHERE ?1 <= count_key AND count_key < ?2"), (key, end_of_parts(key)))
}

/// A key beyond all those that begin with a key.
fn end_of_parts(key: &[u8]) -> Vec<u8> {
    [key, &[0xff; 33]].concat()
}
