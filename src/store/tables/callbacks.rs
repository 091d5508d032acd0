//! Callbacks of the payment processor, the mail provider and others: each event once, as received, with the site's
//! verdict.

use crate::domain::ids::CallbackId;
use crate::domain::mail_event;
use crate::keys::{Keys, columns};
use crate::moment::Moment;
use crate::store::personal::{Expiry, Mention, OUR_WORD, Rows, Table, mentioned, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

const EVENTS: &str = "that an event came, and what it did to the books: numbers of the sender's";
/// Payment events are kept until the annual accounts are closed; the payments themselves stay.
const PAYMENT_EVENTS_KEPT_SECONDS: i64 = 400 * 86_400;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "callbacks",
    "callback_id",
    &[
        not_personal("sender", OUR_WORD),
        not_personal("event_key", "a sender's number, or a hash"),
        not_personal("event", "a word of the sender's"),
        not_personal("about", "the number of a payment, message or deletion"),
        not_personal("verdict", OUR_WORD),
        mentioned("sealed", Mention::Emptied).sealed(&columns::CALLBACK),
    ],
    &[
        Rows::emptied(
            "events_about_payments",
            "about <> '' AND about IN (SELECT intent_id FROM payments WHERE member_id = :id)",
            "",
            EVENTS,
        ),
        Rows::emptied(
            "events_about_messages",
            "about <> '' AND about IN (SELECT 'message ' || message_id FROM outbox WHERE member_id = :id)",
            "",
            EVENTS,
        ),
    ],
)
.expires(&[
    Expiry::after("callback_id", "received_at", PAYMENT_EVENTS_KEPT_SECONDS).only("sender IN ('processor', 'app')"),
    Expiry::after("callback_id", "received_at", mail_event::KEPT_SECONDS).only("sender IN ('mail', 'social')"),
])];

/// The sender of a callback.
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

/// A new callback.
#[derive(Debug)]
pub(crate) struct NewCallback<'a> {
    pub sender: Sender,
    /// The key by which a repeated event is recognized.
    pub key: &'a str,
    /// The sender's identifier of the event.
    pub event: &'a str,
    /// The payment, message or deletion that the event names.
    pub about: &'a str,
    pub verdict: &'a str,
    /// The body as received.
    pub raw: &'a [u8],
}

row! {
    /// A stored callback.
    #[derive(Debug)]
    pub(crate) struct StoredCallback {
        pub callback_id: CallbackId,
        pub sender: String,
        pub key: String = "event_key",
        pub event: String,
        pub about: String,
        pub verdict: String,
        pub sealed: Vec<u8>,
        pub times: i64,
        pub received_at: Moment,
        pub repeated_at: Option<Moment>,
    }
}

/// Counts a repeated event. False: the event is new.
pub(crate) fn repeat(tx: &Write, sender: Sender, key: &str) -> Result<bool> {
    let sql =
        sql!("UPDATE callbacks SET times = times + 1, repeated_at = :now WHERE sender = :sender AND event_key = :key");
    Ok(tx.run(sql, named_params! {":now": tx.now(), ":sender": sender.name(), ":key": key})? > 0)
}

/// How many stored events of a sender have a key with this prefix.
pub(crate) fn count_from(tx: &Read, sender: Sender, start: &str) -> Result<i64> {
    let sql = sql!(
        "SELECT count(*) FROM callbacks WHERE sender = ?1 AND event_key >= ?2 AND event_key < ?2 || char(0x10ffff)"
    );
    tx.get(sql, (sender.name(), start))
}

pub(crate) fn insert(tx: &Write, keys: &Keys, new: &NewCallback) -> Result<i64> {
    let callback_id = tx.next_number("callbacks")?;
    let sealed = keys.seal(&columns::CALLBACK.at([callback_id.into()]), new.raw);
    insert!(tx.insert, "INSERT INTO callbacks" {
        callback_id, sender: new.sender.name(), event_key: new.key, event: new.event, about: new.about,
        verdict: new.verdict, sealed, received_at: tx.now(),
    })
}

const CALLBACK: &str = joined!("SELECT ", StoredCallback::COLUMNS, " FROM callbacks");

pub(crate) fn find(tx: &Read, callback_id: CallbackId) -> Result<Option<StoredCallback>> {
    tx.find(sql!(CALLBACK, " WHERE callback_id = ?1"), [callback_id])
}

/// The callbacks of one sender or all, with one verdict or any, newest first.
pub(crate) fn list(
    tx: &Read,
    sender: Option<&str>,
    verdict: Option<&str>,
    limit: i64,
    offset: i64,
) -> Result<Vec<StoredCallback>> {
    let sql = sql!(CALLBACK, " WHERE ", LISTED, " ORDER BY callback_id DESC LIMIT :limit OFFSET :offset");
    let params = named_params! {":sender": sender, ":verdict": verdict, ":limit": limit, ":offset": offset};
    tx.list(sql, params)
}

/// The number of callbacks that [`list`] returns on all its pages.
pub(crate) fn count(tx: &Read, sender: Option<&str>, verdict: Option<&str>) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM callbacks WHERE ", LISTED);
    tx.get(sql, named_params! {":sender": sender, ":verdict": verdict})
}

const LISTED: &str = "(:sender IS NULL OR sender = :sender) AND (:verdict IS NULL OR verdict = :verdict)";
