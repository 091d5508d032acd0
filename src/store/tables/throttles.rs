//! Counters of failed attempts and the delays that they cause. Keys are hashed, so that the table has no personal data.

use crate::domain::throttle::{self, LeakyBucket, Rule};
use crate::store::personal::{HASH, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::nobodys("throttles", &[not_personal("throttle_key", HASH), not_personal("account_key", HASH)])];

pub(crate) type ThrottleKey = [u8; 32];

/// A counter of failed attempts of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counter {
    pub key: ThrottleKey,
    /// The key of the account, the same in all its counters; `None`: the counter is not of an account.
    pub account_key: Option<ThrottleKey>,
    pub rule: Rule,
}

/// How many seconds the key is still closed; 0: it is open.
pub(crate) fn closed_for(tx: &Read, key: &ThrottleKey, now: i64) -> Result<i64> {
    let closed = tx.find::<i64>(sql!("SELECT closed_until FROM throttles WHERE throttle_key = ?1"), [&key[..]])?;
    Ok(closed.map_or(0, |until| (until - now).max(0)))
}

/// Counts a failed attempt, and closes the key for as long as the rule says.
pub(crate) fn count_failure(tx: &Write, counter: &Counter) -> Result<()> {
    let sql = sql!("SELECT misses, missed_at FROM throttles WHERE throttle_key = ?1");
    let before = tx.find::<(i64, i64)>(sql, [&counter.key[..]])?;
    let misses = 1 + before.map_or(0, |(misses, at)| throttle::remaining(misses, tx.now() - at));
    let until = tx.now() + counter.rule.delay_seconds(misses);
    let account_key = counter.account_key.as_ref().map(|key| &key[..]);
    insert!(tx.run, "INSERT INTO throttles" {
        throttle_key: &counter.key[..], account_key, misses, missed_at: tx.now(), closed_until: until,
    } "ON CONFLICT (throttle_key) DO UPDATE SET account_key = excluded.account_key, misses = excluded.misses, missed_at = excluded.missed_at, closed_until = excluded.closed_until")?;
    Ok(())
}

/// Adds a failed attempt to the leaky bucket of a key. Returns the seconds of the pause that begins; 0: none does.
pub(crate) fn add_to_bucket(tx: &Write, key: &ThrottleKey, bucket: LeakyBucket) -> Result<i64> {
    let sql = sql!("SELECT misses, missed_at FROM throttles WHERE throttle_key = ?1");
    let before = tx.find(sql, [&key[..]])?;
    let (misses, counted_at) = bucket.add(before.unwrap_or((0, tx.now())), tx.now());
    let pause = bucket.pause_after(misses);
    let until = tx.now() + pause;
    insert!(tx.run, "INSERT INTO throttles" {
        throttle_key: &key[..], misses, missed_at: counted_at, closed_until: until,
    } "ON CONFLICT (throttle_key) DO UPDATE SET misses = excluded.misses, missed_at = excluded.missed_at, closed_until = excluded.closed_until")?;
    Ok(pause)
}

pub(crate) fn forget(tx: &Write, key: &ThrottleKey) -> Result<usize> {
    tx.run(sql!("DELETE FROM throttles WHERE throttle_key = ?1"), [&key[..]])
}

/// Deletes every counter of an account; returns how many of them were closed.
pub(crate) fn forget_account(tx: &Write, account_key: &ThrottleKey) -> Result<usize> {
    let sql = sql!("DELETE FROM throttles WHERE account_key = :key RETURNING closed_until > :now");
    let closed: Vec<bool> = tx.list(sql, named_params! {":key": &account_key[..], ":now": tx.now()})?;
    Ok(closed.into_iter().filter(|closed| *closed).count())
}

/// Deletes counters without a failed attempt for a day, which count as empty.
pub(crate) fn purge_expired(tx: &Write, rows: i64) -> Result<usize> {
    purge!(tx, rows, "throttles" by "throttle_key" where "missed_at < ?2 - 86400", tx.now())
}
