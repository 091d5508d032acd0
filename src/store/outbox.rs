//! Messages on their way out. Their values are sealed: a passcode is a secret.

use super::Write;
use crate::keys::{Keys, Purpose};
use rusqlite::{Result, named_params};

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

/// Puts a message in line; it is sent after the transaction, by a job.
pub fn insert(tx: &Write, keys: &Keys, new: &New) -> Result<i64> {
    let sealed = keys.seal(Purpose::Message, new.values.to_string().as_bytes());
    let sql = "INSERT INTO outbox (channel, member_id, recipient, language, template, sealed, next_try_at, created_at)
               VALUES (:channel, :member_id, :recipient, :language, :template, :sealed, :now, :now)";
    tx.insert(
        sql,
        named_params! {":channel": new.channel.name(), ":member_id": new.member_id, ":recipient": new.recipient,
        ":language": new.language, ":template": new.template, ":sealed": sealed, ":now": tx.now()},
    )
}
