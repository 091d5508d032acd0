//! Suppressed addresses: no mail is sent to them, because the mail provider reported a bounce or a complaint. An
//! address is suppressed while its latest report is younger than the latest lifting, so both may come in any order. An
//! address has one row, under its canonical spelling ([`crate::domain::email::canonical`]); a row of an earlier version may
//! have another spelling, by which the row is found too.

use crate::domain::email;
use crate::moment::Moment;
use crate::store::personal::{Rows, Table, deleted, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "suppressed",
    "address",
    &[deleted("address"), not_personal("reason", "a word of the mail provider's"), searched("detail")],
    &[Rows::deleted("address_marks", concat!("address IN ", spellings!()))],
)];

row! {
    /// A suppressed address.
    #[derive(Debug, Clone)]
    pub struct Suppression {
        /// The address in its canonical spelling, in lower case.
        pub address: String,
        /// The kind of the report.
        pub reason: String,
        /// The reason in the provider's words.
        pub detail: String,
        /// When the report was made; Unix seconds.
        pub since: Moment,
    } saved
}

const IN_FORCE: &str = "(lifted_at IS NULL OR since > lifted_at)";
const SUPPRESSION: &str = joined!("SELECT ", Suppression::COLUMNS, " FROM suppressed WHERE ", IN_FORCE);

/// Adds the provider's report about an address.
pub fn mark(tx: &Write, mark: &Suppression) -> Result<usize> {
    end_future(tx, &mark.address, mark.since)?;
    let mark = Suppression { address: email::canonical(&mark.address), ..mark.clone() };
    insert!(tx.run, "INSERT INTO suppressed" Suppression: &mark, {}
            "ON CONFLICT (address) DO UPDATE SET ", Suppression::EXCLUDED,
            " WHERE (excluded.since, excluded.reason, excluded.detail) > (since, reason, detail)")
}

/// Lifts the suppression of an address in all its spellings: reports up to `at` do not count any more.
pub fn lift(tx: &Write, address: &str, at: Moment) -> Result<usize> {
    end_future(tx, address, at)?;
    let sql = sql!(
        "INSERT INTO suppressed (address, reason, since, lifted_at) VALUES (:address, '', 0, :at)
               ON CONFLICT (address) DO UPDATE SET lifted_at = max(coalesce(lifted_at, :at), :at)"
    );
    tx.run(sql, named_params! {":address": email::canonical(address), ":at": at})?;
    let sql = sql!("UPDATE suppressed SET lifted_at = max(coalesce(lifted_at, :at), :at) WHERE address = :address");
    tx.run(sql, named_params! {":address": address, ":at": at})
}

/// A moment after every report about the address, and not before now; not long after now either, where an earlier version
/// stored a moment of the future.
pub(crate) fn next_moment(tx: &Write, address: &str) -> Result<Moment> {
    let sql = sql!(
        "SELECT min(max(?2, since + 1, coalesce(lifted_at, 0) + 1), ?2 + 1000) FROM suppressed WHERE address = ?1"
    );
    Ok(tx.find(sql, (email::canonical(address), tx.now()))?.unwrap_or(tx.now()))
}

/// Sets moments of the address that are still in the future to before `at`: earlier versions stored them as the provider sent
/// them, and they would outweigh every later event. What is in force stays in force.
fn end_future(tx: &Write, address: &str, at: Moment) -> Result<usize> {
    let sql = sql!(
        "UPDATE suppressed SET since = min(since, :at - 1), lifted_at = min(lifted_at, :at - 1 - (since > lifted_at))
         WHERE address IN (:address, canonical_address(:address)) AND max(since, coalesce(lifted_at, 0)) > :now"
    );
    tx.run(sql, named_params! {":address": address, ":at": at, ":now": tx.now()})
}

/// The suppression of an address, where it is in force.
pub fn find(tx: &Read, address: &str) -> Result<Option<Suppression>> {
    let sql = sql!(SUPPRESSION, " AND address IN (?1, canonical_address(?1)) LIMIT 1");
    tx.find(sql, [address])
}

/// The suppressions in force, latest first.
pub(crate) fn list(tx: &Read, limit: i64, offset: i64) -> Result<Vec<Suppression>> {
    let sql = sql!(SUPPRESSION, " ORDER BY since DESC, address LIMIT ?1 OFFSET ?2");
    tx.list(sql, (limit, offset))
}

/// The number of suppressions in force.
pub(crate) fn count(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM suppressed WHERE ", IN_FORCE), [])
}

/// Marks queued mails to suppressed addresses as dead, with the reason. The desk can still read them.
pub(crate) fn end_mails(tx: &Write) -> Result<usize> {
    let sql = sql!(
        "UPDATE outbox SET state = 'dead',
                last_error = 'no mail goes to this address since its ' || (SELECT reason FROM suppressed WHERE address IN (outbox.recipient, canonical_address(outbox.recipient)) AND ",
        IN_FORCE,
        ")
                             || '; lift that with: tunneldesk outbox lift'
         WHERE state = 'waiting' AND channel = 'email'
           AND EXISTS (SELECT 1 FROM suppressed WHERE address IN (outbox.recipient, canonical_address(outbox.recipient)) AND ",
        IN_FORCE,
        ")"
    );
    tx.run(sql, [])
}
