//! The outbox: messages that wait for their server, and those that were sent. Their parameters are sealed, because a
//! passcode is a secret.

use crate::domain::ids::{MemberId, MessageId};
use crate::domain::role::Role;
use crate::keys::{Keys, Place, columns};
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Expiry, Mention, OUR_WORD, Rows, Table, deleted, mentioned, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// How long a message is kept after it was sent; the provider's events about a mail arrive within days.
const KEPT_SECONDS: i64 = 90 * 86_400;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "outbox",
    "message_id",
    &[
        not_personal("channel", OUR_WORD),
        deleted("recipient"),
        not_personal("language", OUR_WORD),
        not_personal("template", OUR_WORD),
        mentioned("sealed", Mention::WordInJson).sealed(&columns::MESSAGE),
        not_personal("state", OUR_WORD),
        searched("last_error"),
        not_personal("provider_id", "a number of the mail provider's"),
        not_personal("delivery", "a word of the mail provider's"),
    ],
    &[
        Rows::deleted("messages", "member_id = :id"),
        Rows::deleted(
            "messages_to_the_address",
            concat!("recipient COLLATE NOCASE IN ", spellings!(), " OR recipient IN ", phones!()),
        ),
    ],
)
.expires(&[Expiry::after("message_id", "created_at", KEPT_SECONDS).only("state <> 'waiting'")])
.joins(&[stays("member_id", OPENS)])];

named! {
    /// The channel by which a message is sent.
    pub enum Channel {
        /// By mail.
        Email = "email",
        /// By short message.
        Sms = "sms",
    }
}

row! {
    /// A message of the outbox.
    #[derive(Debug)]
    pub struct Message {
        /// The message's number.
        pub message_id: MessageId,
        /// The channel by which the message is sent.
        pub channel: Channel,
        /// The recipient: an e-mail address, or a telephone number in E.164.
        pub recipient: String,
        /// The language of the message; ISO 639-1.
        pub language: String,
        /// The template's name in `assets/mail`.
        pub template: String,
        /// The parameters, sealed; `None` once the message is sent, or its secret has expired.
        pub sealed: Option<Vec<u8>>,
        /// The state: `waiting`, `sent` or `dead`.
        pub state: String,
        /// Tries at a server that answered.
        pub tries: i64,
        /// When the next try is due, in Unix seconds.
        pub next_try_at: Moment,
        /// When the message was first tried, in Unix seconds.
        pub first_tried_at: Option<Moment>,
        /// The error of the last try, in one line; empty: none.
        pub last_error: String,
        /// The server's id of the message; empty: none was given.
        pub provider_id: String,
        /// When the message was queued, in Unix seconds.
        pub created_at: Moment,
        /// When a server accepted the message, in Unix seconds; `None`: not sent.
        pub sent_at: Option<Moment>,
        /// The delivery state that the mail provider reported; empty while it reported nothing.
        pub delivery: String,
        /// Deliveries that the provider deferred.
        pub deferrals: i64,
        /// Deliveries that failed and may succeed later.
        pub soft_bounces: i64,
        /// The member that the message is for, if any.
        pub member_id: Option<MemberId>,
    }
}

/// Templates, besides the passcodes, whose text gives access to an account or changes its credentials.
const OPENING_TEMPLATES: [&str; 4] = ["confirm_email", "security_event_undo", "welcome", INVITATION];
/// The template whose code makes a staff account.
pub(crate) const INVITATION: &str = "invitation";

impl Message {
    /// The place of the sealed parameters.
    pub fn place(&self) -> Place {
        columns::MESSAGE.at([self.message_id.into(), self.recipient.as_str().into()])
    }

    /// Whether the text of the message gives access to the member's account.
    pub(crate) fn opens_account(&self) -> bool {
        self.template.starts_with("passcode_") || OPENING_TEMPLATES.contains(&&*self.template)
    }
}

/// A new message.
#[derive(Debug)]
pub struct NewMessage<'a> {
    /// The channel by which the message is sent.
    pub channel: Channel,
    /// The member that the message is for, if any.
    pub member_id: Option<MemberId>,
    /// The recipient: an e-mail address, or a telephone number in E.164.
    pub recipient: &'a str,
    /// The language of the message; ISO 639-1.
    pub language: &'a str,
    /// The template's name in `assets/mail`.
    pub template: &'a str,
    /// The values of the template.
    pub values: &'a serde_json::Value,
}

const MESSAGE: &str = joined!("SELECT ", Message::COLUMNS, " FROM outbox");

/// Queues a message; returns its number. A job that the commit wakes sends it.
pub fn insert(tx: &Write, keys: &Keys, new: &NewMessage) -> Result<i64> {
    let message_id = tx.next_number("outbox")?;
    let place = columns::MESSAGE.at([message_id.into(), new.recipient.into()]);
    let sealed = keys.seal(&place, new.values.to_string().as_bytes());
    tx.wake_sender();
    insert!(tx.insert, "INSERT INTO outbox" {
        message_id, channel: new.channel.name(), member_id: new.member_id, recipient: new.recipient,
        language: new.language, template: new.template, sealed, next_try_at: tx.now(), created_at: tx.now(),
    })
}

/// A message by its number.
pub fn find(tx: &Read, message_id: MessageId) -> Result<Option<Message>> {
    tx.find(sql!(MESSAGE, " WHERE message_id = ?1"), [message_id])
}

/// The member's latest message of a template.
pub(crate) fn find_last_of(tx: &Read, member_id: MemberId, template: &str) -> Result<Option<Message>> {
    let sql = sql!(MESSAGE, " WHERE member_id = ?1 AND template = ?2 ORDER BY message_id DESC LIMIT 1");
    tx.find(sql, (member_id, template))
}

/// The mail with this id of the mail provider.
pub(crate) fn find_by_provider(tx: &Read, provider_id: &str) -> Result<Option<Message>> {
    let sql = sql!(MESSAGE, " WHERE provider_id = ?1 AND provider_id <> '' AND channel = 'email'");
    tx.find(sql, [provider_id])
}

/// Records the mail provider's report about a mail.
pub(crate) fn set_delivery(
    tx: &Write,
    message_id: MessageId,
    delivery: &str,
    deferrals: i64,
    soft_bounces: i64,
) -> Result<usize> {
    let sql = sql!(
        "UPDATE outbox SET delivery = :delivery, deferrals = :deferrals, soft_bounces = :soft_bounces
               WHERE message_id = :id"
    );
    let counts = named_params! {":id": message_id, ":delivery": delivery, ":deferrals": deferrals, ":soft_bounces": soft_bounces};
    tx.run(sql, counts)
}

/// A statement for each state, so that each uses its own index.
macro_rules! listed {
    ($state:expr, $select:expr, $end:literal) => {
        match $state {
            Some("waiting") => sql!($select, " INDEXED BY outbox_due WHERE state = 'waiting'", $end),
            Some("dead") => sql!($select, " INDEXED BY outbox_dead WHERE state = 'dead'", $end),
            Some(_) => sql!($select, " WHERE state = 'sent'", $end),
            None => sql!($select, " WHERE state IN ('waiting', 'dead')", $end),
        }
    };
}

/// The messages in a state, newest first; without a state those that are not sent.
pub(crate) fn list(tx: &Read, state: Option<&str>, limit: i64, offset: i64) -> Result<Vec<Message>> {
    let sql = listed!(state, MESSAGE, " ORDER BY message_id DESC LIMIT ?1 OFFSET ?2");
    tx.list(sql, (limit, offset))
}

/// The number of messages that [`list`] returns on all its pages.
pub(crate) fn count(tx: &Read, state: Option<&str>) -> Result<i64> {
    tx.get(listed!(state, joined!("SELECT count(*) FROM outbox"), ""), [])
}

/// The messages due on a channel now, oldest first.
pub(crate) fn list_due(tx: &Read, channel: Channel, now: Moment, limit: i64) -> Result<Vec<Message>> {
    let sql = sql!(
        MESSAGE,
        " INDEXED BY outbox_due WHERE state = 'waiting' AND channel = ?1 AND next_try_at <= ?2
         ORDER BY message_id LIMIT ?3"
    );
    tx.list(sql, (channel.name(), now, limit))
}

/// When the next message of a channel is to be sent.
pub(crate) fn next_due(tx: &Read, channel: Channel) -> Result<Option<Moment>> {
    let sql = sql!("SELECT min(next_try_at) FROM outbox WHERE state = 'waiting' AND channel = ?1");
    tx.get(sql, [channel.name()])
}

/// The number of waiting messages, and of dead ones.
pub(crate) fn counts(tx: &Read) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting'),
                      (SELECT count(*) FROM outbox WHERE state = 'dead')"
    );
    tx.get(sql, [])
}

/// When the oldest message that is due was queued.
pub(crate) fn find_oldest_due(tx: &Read, now: Moment) -> Result<Option<Moment>> {
    let sql = sql!("SELECT min(created_at) FROM outbox WHERE state = 'waiting' AND next_try_at <= ?1");
    tx.get(sql, [now])
}

/// Marks a message as accepted by a server: clears its parameters, and stores the provider's id for later reports.
pub fn set_sent(tx: &Write, message_id: MessageId, provider_id: &str) -> Result<usize> {
    let sql = sql!(
        "UPDATE outbox SET state = 'sent', sealed = NULL, last_error = '', provider_id = :provider_id,
                                 tries = tries + 1, sent_at = :now WHERE message_id = :id"
    );
    tx.run(sql, named_params! {":id": message_id, ":provider_id": provider_id, ":now": tx.now()})
}

/// Records a failed try of a message, and when the next one is due.
pub(crate) fn set_later(tx: &Write, message_id: MessageId, error: &str, next_try_at: Moment) -> Result<usize> {
    let sql = sql!(
        "UPDATE outbox SET tries = tries + 1, first_tried_at = coalesce(first_tried_at, :now),
                                 last_error = :error, next_try_at = :next_try_at WHERE message_id = :id"
    );
    tx.run(sql, named_params! {":id": message_id, ":error": error, ":next_try_at": next_try_at, ":now": tx.now()})
}

/// Marks a message as undeliverable. Its text stays for the desk until the message is purged or its passcode expires.
pub fn set_dead(tx: &Write, message_id: MessageId, error: &str) -> Result<usize> {
    let sql = sql!("UPDATE outbox SET state = 'dead', tries = tries + 1, last_error = ?2 WHERE message_id = ?1");
    tx.run(sql, (message_id, error))
}

/// Records that the server of a channel did not answer. Due messages that were first tried at `too_old` or before are
/// dead.
pub(crate) fn set_unreachable(tx: &Write, channel: Channel, error: &str, too_old: Moment) -> Result<usize> {
    let sql = sql!(
        "UPDATE outbox SET first_tried_at = coalesce(first_tried_at, :now), last_error = :error,
                                 state = iif(first_tried_at <= :too_old, 'dead', 'waiting')
               WHERE state = 'waiting' AND channel = :channel AND next_try_at <= :now"
    );
    tx.run(sql, named_params! {":channel": channel.name(), ":error": error, ":too_old": too_old, ":now": tx.now()})
}

/// Queues an unsent message again, where its text is still there.
pub fn retry(tx: &Write, message_id: MessageId) -> Result<usize> {
    tx.wake_sender();
    let sql = sql!(
        "UPDATE outbox SET state = 'waiting', tries = 0, first_tried_at = NULL, next_try_at = :now
               WHERE message_id = :id AND state <> 'sent' AND sealed IS NOT NULL"
    );
    tx.run(sql, named_params! {":id": message_id, ":now": tx.now()})
}

/// Queues every dead message again that is for no member, or for a member of one of these roles.
pub(crate) fn retry_dead(tx: &Write, roles: &[Role]) -> Result<usize> {
    tx.wake_sender();
    let sql = sql!(
        "UPDATE outbox SET state = 'waiting', tries = 0, first_tried_at = NULL, next_try_at = :now
               WHERE state = 'dead' AND sealed IS NOT NULL
                     AND coalesce((SELECT role FROM members m WHERE m.member_id = outbox.member_id), 'member')
                         IN (:first, :second, :third, :fourth)"
    );
    let name = |index: usize| roles.get(index).map(|role| role.name());
    tx.run(
        sql,
        named_params! {":now": tx.now(), ":first": name(0), ":second": name(1), ":third": name(2), ":fourth": name(3)},
    )
}

/// Clears the passcodes of messages that were queued at `ended` or before; those that still wait are dead.
pub(crate) fn end_passcodes(tx: &Write, ended: Moment) -> Result<usize> {
    let waiting = sql!(
        "UPDATE outbox SET state = 'dead', sealed = NULL,
                                     last_error = 'its passcode ended before it could be sent'
                   WHERE state = 'waiting' AND template GLOB 'passcode_*' AND created_at <= ?1"
    );
    let dead = sql!(
        "UPDATE outbox SET sealed = NULL
                WHERE state = 'dead' AND sealed IS NOT NULL AND template GLOB 'passcode_*' AND created_at <= ?1"
    );
    Ok(tx.run(waiting, [ended])? + tx.run(dead, [ended])?)
}

/// Marks messages that were queued at `old` or before and still wait as dead, and clears their text.
pub(crate) fn end_waiting(tx: &Write, old: Moment) -> Result<usize> {
    let sql = sql!(
        "UPDATE outbox SET state = 'dead', sealed = NULL,
                                 last_error = iif(last_error = '', 'nothing is configured to take it', last_error)
               WHERE state = 'waiting' AND created_at <= ?1"
    );
    tx.run(sql, [old])
}

/// A member's messages, newest first.
pub(crate) fn list_of_member(tx: &Read, member_id: MemberId, limit: i64) -> Result<Vec<Message>> {
    let sql = sql!(MESSAGE, " WHERE member_id = ?1 ORDER BY message_id DESC LIMIT ?2");
    tx.list(sql, (member_id, limit))
}
