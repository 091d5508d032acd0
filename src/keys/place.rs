//! The columns of sealed values, and the place of one value. A value is sealed for its place, so that it opens in its own
//! row alone: whoever can write the database but cannot read the key gains nothing by copying a value to another row.

use super::Purpose;
use crate::moment::Moment;
use std::borrow::Cow;

/// A column whose values are sealed.
#[derive(Debug, PartialEq, Eq)]
pub struct SealedColumn {
    pub(crate) purpose: Purpose,
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    /// The columns that say which row it is, and whose. The first is the key. Empty: the table has one row, and the purpose
    /// alone binds its values.
    pub row: &'static [&'static str],
}

/// A value that says which row it is.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// A row's or a member's number.
    Number(i64),
    /// A hash or a name.
    Bytes(&'a [u8]),
}

/// The place of one sealed value: a column of one row.
#[derive(Debug)]
pub struct Place {
    pub(super) purpose: Purpose,
    bytes: Vec<u8>,
}

impl Part<'_> {
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Part::Number(number) => Cow::Owned(number.to_be_bytes().to_vec()),
            Part::Bytes(bytes) => Cow::Borrowed(bytes),
        }
    }
}

impl From<i64> for Part<'_> {
    fn from(number: i64) -> Self {
        Part::Number(number)
    }
}

impl From<Moment> for Part<'_> {
    fn from(moment: Moment) -> Self {
        Part::Number(moment.0)
    }
}

impl<'a> From<&'a [u8]> for Part<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Part::Bytes(bytes)
    }
}

impl<'a> From<&'a [u8; 32]> for Part<'a> {
    fn from(bytes: &'a [u8; 32]) -> Self {
        Part::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for Part<'a> {
    fn from(text: &'a str) -> Self {
        Part::Bytes(text.as_bytes())
    }
}

impl SealedColumn {
    /// The place in one row, by the values of the columns in `row`.
    pub fn at<'a>(&self, row: impl IntoIterator<Item = Part<'a>>) -> Place {
        let mut bytes = Vec::new();
        let mut add = |part: &[u8]| {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        };
        if !self.row.is_empty() {
            add(self.table.as_bytes());
            add(self.name.as_bytes());
        }
        let parts = row.into_iter().map(|part| add(&part.bytes())).count();
        debug_assert_eq!(parts, self.row.len(), "a place in {} names its row", self.table);
        Place { purpose: self.purpose, bytes }
    }
}

impl Place {
    /// The associated data of the cipher: the key's number, and the place.
    pub(super) fn associated_data(&self, before: &[u8]) -> Vec<u8> {
        [before, &self.bytes].concat()
    }
}

/// Every column of sealed values.
pub mod columns {
    use super::{Purpose, SealedColumn};

    const fn column(
        purpose: Purpose,
        table: &'static str,
        name: &'static str,
        row: &'static [&'static str],
    ) -> SealedColumn {
        SealedColumn { purpose, table, name, row }
    }

    /// The text that shows whether a key belongs to a database.
    pub const KEY_CHECK: SealedColumn = column(Purpose::KeyCheck, "site", "key_check", &[]);
    /// The key of all keyed hashes.
    pub const HASH_KEY: SealedColumn = column(Purpose::HashKey, "site", "sealed_hash_key", &[]);
    /// A partner's signing secret.
    pub const PARTNER_SECRET: SealedColumn =
        column(Purpose::PartnerSecret, "partner_secrets", "sealed", &["secret_id", "partner_id"]);
    /// The secret of a webhook.
    pub const HOOK_SECRET: SealedColumn =
        column(Purpose::HookSecret, "hook_secrets", "sealed", &["secret_id", "hook_id"]);
    /// The outcome of a request with an `Idempotency-Key`.
    pub const OUTCOME: SealedColumn = column(Purpose::Outcome, "replays", "outcome", &["replay_key"]);
    /// The values of a message, for its recipient alone.
    pub const MESSAGE: SealedColumn = column(Purpose::Message, "outbox", "sealed", &["message_id", "recipient"]);
    /// The secret of an authenticator app.
    pub const SECOND_FACTOR: SealedColumn = column(Purpose::SecondFactor, "second_factors", "sealed", &["member_id"]);
    /// The secret of an authenticator app that is being set up.
    pub const PENDING_FACTOR: SealedColumn =
        column(Purpose::SecondFactor, "second_factors", "sealed_pending", &["member_id"]);
    /// What a passkey challenge asked for.
    pub const PASSKEY_CHALLENGE: SealedColumn =
        column(Purpose::PasskeyChallenge, "passkey_challenges", "sealed", &["challenge_hash", "member_id"]);
    /// The body of a stored callback.
    pub const CALLBACK: SealedColumn = column(Purpose::Callback, "callbacks", "sealed", &["callback_id"]);
    /// What an admin set in pages.
    pub const SETTING: SealedColumn = column(Purpose::Setting, "settings", "sealed", &["change_id", "key"]);
    /// The private key of a certificate.
    pub const TLS_KEY: SealedColumn = column(Purpose::TlsKey, "tls", "sealed_key", &["kind"]);

    /// All of them, for the rotation of the site key.
    #[rustfmt::skip]
    pub(crate) const ALL: &[SealedColumn] = &[
        KEY_CHECK, HASH_KEY, PARTNER_SECRET, HOOK_SECRET, OUTCOME, MESSAGE, SECOND_FACTOR, PENDING_FACTOR, PASSKEY_CHALLENGE, CALLBACK,
        SETTING, TLS_KEY,
    ];
}
