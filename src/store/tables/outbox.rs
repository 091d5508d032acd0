//! Messages on their way out. Their values are sealed: a passcode is a secret.

use crate::domain::role::Role;
use crate::keys::{Keys, Purpose};
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// How a message travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    Email,
    Sms,
}

impl Channel {
    pub fn name(self) -> &'static str {
        match self {
            Channel::Email => "email",
            Channel::Sms => "sms",
        }
    }

    fn from_name(name: &str) -> Channel {
        if name == Channel::Sms.name() { Channel::Sms } else { Channel::Email }
    }
}

/// A message in line.
#[derive(Debug)]
pub struct Message {
    pub message_id: i64,
    pub channel: Channel,
    pub recipient: String,
    pub language: String,
    pub template: String,
    /// `None` once it is sent, or its secret is out of date.
    pub sealed: Option<Vec<u8>>,
    pub state: String,
    /// How often it was offered to a server that answered.
    pub tries: i64,
    pub next_try_at: i64,
    pub first_tried_at: Option<i64>,
    pub last_error: String,
    pub provider_id: String,
    pub created_at: i64,
    pub sent_at: Option<i64>,
    /// What the mail provider said became of it; empty while it said nothing.
    pub delivery: String,
    pub deferrals: i64,
    pub soft_bounces: i64,
    /// The member whom it is for; `None`: nobody's in particular.
    pub member_id: Option<i64>,
}

/// Templates beside the passcodes whose words open an account, or change what opens it.
const OPENING_TEMPLATES: [&str; 2] = ["confirm_email", "security_event_undo"];

impl Message {
    /// Whether whoever reads the message can open the account of its member by it, or change what opens it.
    pub fn opens_account(&self) -> bool {
        self.template.starts_with("passcode_") || OPENING_TEMPLATES.contains(&&*self.template)
    }
}

/// A message to be.
#[derive(Debug)]
pub struct New<'a> {
    pub channel: Channel,
    pub member_id: Option<i64>,
    /// An e-mail address, or a telephone number in E.164.
    pub recipient: &'a str,
    /// ISO 639-1.
    pub language: &'a str,
    /// Its name in `assets/mail`.
    pub template: &'a str,
    /// What the template speaks of.
    pub values: &'a serde_json::Value,
}

/// Puts a message in line; it is sent after the transaction, by a job that the commit wakes.
pub fn insert(tx: &Write, keys: &Keys, new: &New) -> Result<i64> {
    let sealed = keys.seal(Purpose::Message, new.values.to_string().as_bytes());
    let sql = "INSERT INTO outbox (channel, member_id, recipient, language, template, sealed, next_try_at, created_at)
               VALUES (:channel, :member_id, :recipient, :language, :template, :sealed, :now, :now)";
    tx.ring();
    tx.insert(
        sql,
        named_params! {":channel": new.channel.name(), ":member_id": new.member_id, ":recipient": new.recipient,
        ":language": new.language, ":template": new.template, ":sealed": sealed, ":now": tx.now()},
    )
}

const COLUMNS: &str = "message_id, channel, recipient, language, template, sealed, state, tries, next_try_at,
                       first_tried_at, last_error, provider_id, created_at, sent_at, delivery, deferrals, soft_bounces,
                       member_id";

fn message(row: &Row) -> Result<Message> {
    Ok(Message {
        message_id: row.get(0)?,
        channel: Channel::from_name(&row.get::<_, String>(1)?),
        recipient: row.get(2)?,
        language: row.get(3)?,
        template: row.get(4)?,
        sealed: row.get(5)?,
        state: row.get(6)?,
        tries: row.get(7)?,
        next_try_at: row.get(8)?,
        first_tried_at: row.get(9)?,
        last_error: row.get(10)?,
        provider_id: row.get(11)?,
        created_at: row.get(12)?,
        sent_at: row.get(13)?,
        delivery: row.get(14)?,
        deferrals: row.get(15)?,
        soft_bounces: row.get(16)?,
        member_id: row.get(17)?,
    })
}

pub fn find(tx: &Read, message_id: i64) -> Result<Option<Message>> {
    tx.find(&format!("SELECT {COLUMNS} FROM outbox WHERE message_id = ?1"), [message_id], message)
}

/// The member's latest message of a template.
pub fn find_last_of(tx: &Read, member_id: i64, template: &str) -> Result<Option<Message>> {
    let sql =
        format!("SELECT {COLUMNS} FROM outbox WHERE member_id = ?1 AND template = ?2 ORDER BY message_id DESC LIMIT 1");
    tx.find(&sql, (member_id, template), message)
}

/// The mail that its provider knows by this name.
pub fn find_by_provider(tx: &Read, provider_id: &str) -> Result<Option<Message>> {
    let sql =
        format!("SELECT {COLUMNS} FROM outbox WHERE provider_id = ?1 AND provider_id <> '' AND channel = 'email'");
    tx.find(&sql, [provider_id], message)
}

/// What the provider said of a mail.
pub fn set_delivery(tx: &Write, message_id: i64, delivery: &str, deferrals: i64, soft_bounces: i64) -> Result<usize> {
    let sql = "UPDATE outbox SET delivery = :delivery, deferrals = :deferrals, soft_bounces = :soft_bounces
               WHERE message_id = :id";
    let counts = named_params! {":id": message_id, ":delivery": delivery, ":deferrals": deferrals, ":soft_bounces": soft_bounces};
    tx.run(sql, counts)
}

/// Newest first; without a state what is not sent.
pub fn list(tx: &Read, state: Option<&str>, limit: i64, offset: i64) -> Result<Vec<Message>> {
    // A state by itself, so that each question meets its own index.
    let condition = match state {
        Some("waiting") => "INDEXED BY outbox_due WHERE state = 'waiting'",
        Some("dead") => "INDEXED BY outbox_dead WHERE state = 'dead'",
        Some(_) => "WHERE state = 'sent'",
        None => "WHERE state IN ('waiting', 'dead')",
    };
    let sql = format!("SELECT {COLUMNS} FROM outbox {condition} ORDER BY message_id DESC LIMIT ?1 OFFSET ?2");
    tx.list(&sql, (limit, offset), message)
}

/// What is to be sent on a channel now, oldest first.
pub fn list_due(tx: &Read, channel: Channel, now: i64, limit: i64) -> Result<Vec<Message>> {
    let sql = format!(
        // Left to itself SQLite would rather read through all that was ever sent than sort what waits.
        "SELECT {COLUMNS} FROM outbox INDEXED BY outbox_due WHERE state = 'waiting' AND channel = ?1 AND next_try_at <= ?2
         ORDER BY message_id LIMIT ?3"
    );
    tx.list(&sql, (channel.name(), now, limit), message)
}

/// When the next message of a channel is to be sent.
pub fn next_due(tx: &Read, channel: Channel) -> Result<Option<i64>> {
    let sql = "SELECT min(next_try_at) FROM outbox WHERE state = 'waiting' AND channel = ?1";
    tx.get(sql, [channel.name()], |row| row.get(0))
}

/// How many wait, and how many are dead.
pub fn counts(tx: &Read) -> Result<(i64, i64)> {
    let sql = "SELECT (SELECT count(*) FROM outbox WHERE state = 'waiting'),
                      (SELECT count(*) FROM outbox WHERE state = 'dead')";
    tx.get(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Since when the message waits that should have gone first.
pub fn find_oldest_due(tx: &Read, now: i64) -> Result<Option<i64>> {
    let sql = "SELECT min(created_at) FROM outbox WHERE state = 'waiting' AND next_try_at <= ?1";
    tx.get(sql, [now], |row| row.get(0))
}

/// A server took it: what it said is wiped, and the name is kept under which events about it will come.
pub fn set_sent(tx: &Write, message_id: i64, provider_id: &str) -> Result<usize> {
    let sql = "UPDATE outbox SET state = 'sent', sealed = NULL, last_error = '', provider_id = :provider_id,
                                 tries = tries + 1, sent_at = :now WHERE message_id = :id";
    tx.run(sql, named_params! {":id": message_id, ":provider_id": provider_id, ":now": tx.now()})
}

/// It was offered in vain and will be again.
pub fn set_later(tx: &Write, message_id: i64, error: &str, next_try_at: i64) -> Result<usize> {
    let sql = "UPDATE outbox SET tries = tries + 1, first_tried_at = coalesce(first_tried_at, :now),
                                 last_error = :error, next_try_at = :next_try_at WHERE message_id = :id";
    tx.run(sql, named_params! {":id": message_id, ":error": error, ":next_try_at": next_try_at, ":now": tx.now()})
}

/// Nobody will take it. What it says is kept for the desk, until it is swept or its passcode ends.
pub fn set_dead(tx: &Write, message_id: i64, error: &str) -> Result<usize> {
    let sql = "UPDATE outbox SET state = 'dead', tries = tries + 1, last_error = ?2 WHERE message_id = ?1";
    tx.run(sql, (message_id, error))
}

/// The server of a channel does not answer, so nothing due on it could be offered. Those that were first tried at
/// `too_old` or before are dead.
pub fn set_unreachable(tx: &Write, channel: Channel, error: &str, too_old: i64) -> Result<usize> {
    let sql = "UPDATE outbox SET first_tried_at = coalesce(first_tried_at, :now), last_error = :error,
                                 state = iif(first_tried_at <= :too_old, 'dead', 'waiting')
               WHERE state = 'waiting' AND channel = :channel AND next_try_at <= :now";
    tx.run(sql, named_params! {":channel": channel.name(), ":error": error, ":too_old": too_old, ":now": tx.now()})
}

/// Puts a message that still says something in line anew.
pub fn retry(tx: &Write, message_id: i64) -> Result<usize> {
    tx.ring();
    let sql = "UPDATE outbox SET state = 'waiting', tries = 0, first_tried_at = NULL, next_try_at = :now
               WHERE message_id = :id AND state <> 'sent' AND sealed IS NOT NULL";
    tx.run(sql, named_params! {":id": message_id, ":now": tx.now()})
}

/// The same for every dead one that is nobody's, or for a member of one of these roles.
pub fn retry_dead(tx: &Write, roles: &[Role]) -> Result<usize> {
    tx.ring();
    let sql = "UPDATE outbox SET state = 'waiting', tries = 0, first_tried_at = NULL, next_try_at = :now
               WHERE state = 'dead' AND sealed IS NOT NULL
                     AND coalesce((SELECT role FROM members m WHERE m.member_id = outbox.member_id), 'member')
                         IN (:first, :second, :third, :fourth)";
    let name = |place: usize| roles.get(place).map(|role| role.name());
    tx.run(
        sql,
        named_params! {":now": tx.now(), ":first": name(0), ":second": name(1), ":third": name(2), ":fourth": name(3)},
    )
}

/// Wipes the passcodes that were made at `ended` or before: those still in line are dead at once.
pub fn end_passcodes(tx: &Write, ended: i64) -> Result<usize> {
    let waiting = "UPDATE outbox SET state = 'dead', sealed = NULL,
                                     last_error = 'its passcode ended before it could be sent'
                   WHERE state = 'waiting' AND template GLOB 'passcode_*' AND created_at <= ?1";
    let dead = "UPDATE outbox SET sealed = NULL
                WHERE state = 'dead' AND sealed IS NOT NULL AND template GLOB 'passcode_*' AND created_at <= ?1";
    Ok(tx.run(waiting, [ended])? + tx.run(dead, [ended])?)
}

/// What was made at `old` or before and still waits is dead, and says no more.
pub fn end_waiting(tx: &Write, old: i64) -> Result<usize> {
    let sql = "UPDATE outbox SET state = 'dead', sealed = NULL,
                                 last_error = iif(last_error = '', 'nothing is configured to take it', last_error)
               WHERE state = 'waiting' AND created_at <= ?1";
    tx.run(sql, [old])
}

/// Removes what was made at `old` or before and is done with.
pub fn sweep(tx: &Write, old: i64, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM outbox WHERE message_id IN
               (SELECT message_id FROM outbox WHERE state <> 'waiting' AND created_at <= ?1 LIMIT ?2)";
    tx.run(sql, (old, rows))
}

/// The latest to a member, newest first.
pub fn list_of_member(tx: &Read, member_id: i64, limit: i64) -> Result<Vec<Message>> {
    let sql = format!("SELECT {COLUMNS} FROM outbox WHERE member_id = ?1 ORDER BY message_id DESC LIMIT ?2");
    tx.list(&sql, (member_id, limit), message)
}
