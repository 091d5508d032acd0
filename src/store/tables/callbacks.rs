//! Events that the payment processor and the mail provider sent: each once, as received, with what the site did about
//! it.

use crate::keys::{Keys, Purpose};
use crate::store::engine::columns::row;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// Who calls back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The payment processor.
    Processor,
    /// A member's app, which claims a payment.
    App,
    /// The mail provider.
    Mail,
    /// The social network.
    Social,
}

impl Sender {
    pub(crate) const NAMES: [&str; 4] = ["processor", "app", "mail", "social"];

    pub(crate) fn name(self) -> &'static str {
        Sender::NAMES[self as usize]
    }
}

/// An event to be kept.
#[derive(Debug)]
pub(crate) struct NewCallback<'a> {
    pub sender: Sender,
    /// By which a repeat is known.
    pub key: &'a str,
    /// The sender's identifier of the event.
    pub event: &'a str,
    /// The payment, message or deletion that it names.
    pub about: &'a str,
    pub verdict: &'a str,
    /// As it came.
    pub raw: &'a [u8],
}

row! {
    /// A kept event.
    #[derive(Debug)]
    pub(crate) struct StoredCallback {
        pub callback_id: i64,
        pub sender: String,
        pub key: String = "event_key",
        pub event: String,
        pub about: String,
        pub verdict: String,
        pub sealed: Vec<u8>,
        pub times: i64,
        pub received_at: i64,
        pub repeated_at: Option<i64>,
    }
}

/// Whether the event came before; then this time is counted, and nothing else is to be done about it.
pub(crate) fn repeat(tx: &Write, sender: Sender, key: &str) -> Result<bool> {
    let sql =
        sql!("UPDATE callbacks SET times = times + 1, repeated_at = :now WHERE sender = :sender AND event_key = :key");
    Ok(tx.run(sql, named_params! {":now": tx.now(), ":sender": sender.name(), ":key": key})? > 0)
}

/// How many kept events of a sender have keys that begin so.
pub(crate) fn count_from(tx: &Read, sender: Sender, start: &str) -> Result<i64> {
    let sql = sql!(
        "SELECT count(*) FROM callbacks WHERE sender = ?1 AND event_key >= ?2 AND event_key < ?2 || char(0x10ffff)"
    );
    tx.get(sql, (sender.name(), start), row)
}

pub(crate) fn insert(tx: &Write, keys: &Keys, new: &NewCallback) -> Result<i64> {
    let sealed = keys.seal(Purpose::Callback, new.raw);
    insert!(tx.insert, "INSERT INTO callbacks" {
        sender: new.sender.name(), event_key: new.key, event: new.event, about: new.about,
        verdict: new.verdict, sealed, received_at: tx.now(),
    })
}

const CALLBACK: &str = joined!("SELECT ", StoredCallback::COLUMNS, " FROM callbacks");

pub(crate) fn find(tx: &Read, callback_id: i64) -> Result<Option<StoredCallback>> {
    tx.find(sql!(CALLBACK, " WHERE callback_id = ?1"), [callback_id], row)
}

/// Newest first, of one sender, with one verdict, or all.
pub(crate) fn list(
    tx: &Read,
    sender: Option<&str>,
    verdict: Option<&str>,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredCallback>> {
    let sql = sql!(CALLBACK, " WHERE ", LISTED, " ORDER BY callback_id DESC LIMIT :limit OFFSET :offset");
    let params = named_params! {":sender": sender, ":verdict": verdict, ":limit": limit, ":offset": offset};
    tx.list(sql, params, row)
}

/// How many [`list`] has.
pub(crate) fn count(tx: &Read, sender: Option<&str>, verdict: Option<&str>) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM callbacks WHERE ", LISTED);
    tx.get(sql, named_params! {":sender": sender, ":verdict": verdict}, row)
}

const LISTED: &str = "(:sender IS NULL OR sender = :sender) AND (:verdict IS NULL OR verdict = :verdict)";

/// Removes events of a sender that came at `old` or before.
pub(crate) fn purge_expired(tx: &Write, sender: Sender, old: i64, rows: i64) -> Result<usize> {
    let sql = sql!(
        "DELETE FROM callbacks WHERE callback_id IN
               (SELECT callback_id FROM callbacks WHERE sender = ?1 AND received_at <= ?2 LIMIT ?3)"
    );
    tx.run(sql, (sender.name(), old, rows))
}
