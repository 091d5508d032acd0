//! Messages of the contact form.

use crate::domain::ids::{ContactId, MemberId};
use crate::moment::Moment;
use crate::store::joining::{ITS_OWN, stays};
use crate::store::personal::{Expiry, OUR_WORD, Rows, Table, deleted, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::Result;

/// How long a message of the contact form is kept after the desk has closed it.
const KEPT_SECONDS: i64 = 365 * 86_400;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "contact_messages",
    "contact_id",
    &[
        searched("name"),
        deleted("email"),
        not_personal("country", "a country, in the message of whoever wrote it"),
        searched("enquiry"),
        searched("message"),
        not_personal("language", OUR_WORD),
    ],
    &[
        Rows::deleted("contact_messages", "member_id = :id"),
        Rows::deleted("contact_messages_by_address", concat!("email COLLATE NOCASE IN ", spellings!())),
    ],
)
.expires(&[Expiry::after("contact_id", "done_at", KEPT_SECONDS)])
.joins(&[stays("member_id", ITS_OWN)])];

/// A new message.
#[derive(Debug)]
pub struct NewContactMessage<'a> {
    /// The sender's name, as typed.
    pub name: &'a str,
    /// The address for an answer.
    pub email: &'a str,
    /// The sender's country, as typed; empty: not given.
    pub country: &'a str,
    /// The subject, in the sender's words or the form's.
    pub enquiry: &'a str,
    /// The text, with line breaks.
    pub message: &'a str,
    /// The language of the form; ISO 639-1.
    pub language: &'a str,
    /// The member number that the request gave; there may be no such member.
    pub member_id: Option<MemberId>,
    /// Whether the request came with that member's session.
    pub signed_in: bool,
}

row! {
    /// A message of the contact form.
    #[derive(Debug)]
    pub struct Message {
        /// The message's number.
        pub contact_id: ContactId,
        /// The sender's name, as typed.
        pub name: String,
        /// The address for an answer.
        pub email: String,
        /// The sender's country, as typed; empty: not given.
        pub country: String,
        /// The subject, in the sender's words or the form's.
        pub enquiry: String,
        /// The text, with line breaks.
        pub message: String,
        /// The language of the form; ISO 639-1.
        pub language: String,
        /// The member number that the request gave; there may be no such member.
        pub member_id: Option<MemberId>,
        /// Whether the request came with that member's session.
        pub signed_in: bool,
        /// When the message was sent, in Unix seconds.
        pub created_at: Moment,
        /// When the desk marked the message as done, in Unix seconds.
        pub done_at: Option<Moment>,
    }
}

/// Stores a message for the desk; returns its number.
pub fn insert(tx: &Write, new: &NewContactMessage) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO contact_messages" {
        name: new.name, email: new.email, country: new.country, enquiry: new.enquiry, message: new.message,
        language: new.language, member_id: new.member_id, signed_in: new.signed_in, created_at: tx.now(),
    })
}

const MESSAGE: &str = joined!("SELECT ", Message::COLUMNS, " FROM contact_messages");

pub(crate) fn find(tx: &Read, contact_id: ContactId) -> Result<Option<Message>> {
    tx.find(sql!(MESSAGE, " WHERE contact_id = ?1"), [contact_id])
}

/// The open messages, or all, newest first.
pub fn list(tx: &Read, all: bool, limit: i64, offset: i64) -> Result<Vec<Message>> {
    const NEWEST: &str = " ORDER BY contact_id DESC LIMIT ?1 OFFSET ?2";
    let sql = if all { sql!(MESSAGE, " WHERE true", NEWEST) } else { sql!(MESSAGE, " WHERE done_at IS NULL", NEWEST) };
    tx.list(sql, (limit, offset))
}

/// The number of open messages.
pub(crate) fn count_open(tx: &Read) -> Result<i64> {
    count(tx, false)
}

/// The number of messages that [`list`] returns on all its pages.
pub(crate) fn count(tx: &Read, all: bool) -> Result<i64> {
    let open = sql!("SELECT count(*) FROM contact_messages WHERE done_at IS NULL");
    tx.get(if all { sql!("SELECT count(*) FROM contact_messages WHERE true") } else { open }, [])
}

/// Marks a message as done; a second time changes nothing.
pub fn set_done(tx: &Write, contact_id: ContactId) -> Result<usize> {
    tx.run(
        sql!("UPDATE contact_messages SET done_at = ?2 WHERE contact_id = ?1 AND done_at IS NULL"),
        (contact_id, tx.now()),
    )
}
