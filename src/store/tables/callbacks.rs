//! What third parties called back with: each event once, as it came, with its verdict.

use crate::keys::{Keys, Purpose};
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// Who calls back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
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
    pub const NAMES: [&str; 4] = ["processor", "app", "mail", "social"];

    pub fn name(self) -> &'static str {
        Sender::NAMES[self as usize]
    }
}

/// An event to be kept.
#[derive(Debug)]
pub struct New<'a> {
    pub sender: Sender,
    /// By which a repeat is known.
    pub key: &'a str,
    /// What the sender calls it.
    pub event: &'a str,
    /// The payment, message or deletion that it names.
    pub about: &'a str,
    pub verdict: &'a str,
    /// As it came.
    pub raw: &'a [u8],
}

/// A kept event.
#[derive(Debug)]
pub struct Kept {
    pub callback_id: i64,
    pub sender: String,
    pub key: String,
    pub event: String,
    pub about: String,
    pub verdict: String,
    pub sealed: Vec<u8>,
    pub times: i64,
    pub received_at: i64,
    pub repeated_at: Option<i64>,
}

/// Whether the event came before; then this time is counted, and nothing else is to be done about it.
pub fn repeat(tx: &Write, sender: Sender, key: &str) -> Result<bool> {
    let sql = "UPDATE callbacks SET times = times + 1, repeated_at = :now WHERE sender = :sender AND event_key = :key";
    Ok(tx.run(sql, named_params! {":now": tx.now(), ":sender": sender.name(), ":key": key})? > 0)
}

/// How many kept events of a sender have keys that begin so.
pub fn count_from(tx: &Read, sender: Sender, start: &str) -> Result<i64> {
    let sql =
        "SELECT count(*) FROM callbacks WHERE sender = ?1 AND event_key >= ?2 AND event_key < ?2 || char(0x10ffff)";
    tx.get(sql, (sender.name(), start), |row| row.get(0))
}

pub fn insert(tx: &Write, keys: &Keys, new: &New) -> Result<i64> {
    let sql = "INSERT INTO callbacks (sender, event_key, event, about, verdict, sealed, received_at)
               VALUES (:sender, :key, :event, :about, :verdict, :sealed, :now)";
    let sealed = keys.seal(Purpose::Callback, new.raw);
    tx.insert(
        sql,
        named_params! {":sender": new.sender.name(), ":key": new.key, ":event": new.event, ":about": new.about,
        ":verdict": new.verdict, ":sealed": sealed, ":now": tx.now()},
    )
}

const COLUMNS: &str =
    "callback_id, sender, event_key, event, about, verdict, sealed, times, received_at, repeated_at FROM callbacks";

fn kept(row: &Row) -> Result<Kept> {
    Ok(Kept {
        callback_id: row.get(0)?,
        sender: row.get(1)?,
        key: row.get(2)?,
        event: row.get(3)?,
        about: row.get(4)?,
        verdict: row.get(5)?,
        sealed: row.get(6)?,
        times: row.get(7)?,
        received_at: row.get(8)?,
        repeated_at: row.get(9)?,
    })
}

pub fn find(tx: &Read, callback_id: i64) -> Result<Option<Kept>> {
    tx.find(&format!("SELECT {COLUMNS} WHERE callback_id = ?1"), [callback_id], kept)
}

/// Newest first, of one sender, with one verdict, or all.
pub fn list(tx: &Read, sender: Option<&str>, verdict: Option<&str>, limit: i64, offset: i64) -> Result<Vec<Kept>> {
    let sql = format!(
        "SELECT {COLUMNS} WHERE (:sender IS NULL OR sender = :sender) AND (:verdict IS NULL OR verdict = :verdict)
         ORDER BY callback_id DESC LIMIT :limit OFFSET :offset"
    );
    let params = named_params! {":sender": sender, ":verdict": verdict, ":limit": limit, ":offset": offset};
    tx.list(&sql, params, kept)
}

pub fn count(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM callbacks", [], |row| row.get(0))
}

/// Removes events of a sender that came at `old` or before.
pub fn sweep(tx: &Write, sender: Sender, old: i64, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM callbacks WHERE callback_id IN
               (SELECT callback_id FROM callbacks WHERE sender = ?1 AND received_at <= ?2 LIMIT ?3)";
    tx.run(sql, (sender.name(), old, rows))
}
