//! The tokens in the mails that confirm an address. Only their hashes are kept.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, Rows, Table, deleted, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "email_tokens",
    "",
    &[secret("token_hash"), deleted("email")],
    &[Rows::deleted("email_confirmations", "member_id = :id")],
)
.expires(&[Expiry::after("token_hash", "created_at", KEPT_SECONDS)])
.ahead(Ahead::Deleted("created_at"))
.joins(&[stays("member_id", OPENS)])];

/// How long an expired token can still request a new one.
const KEPT_SECONDS: i64 = 30 * 86_400;

row! {
    #[derive(Debug)]
    pub(crate) struct EmailToken {
        pub member_id: MemberId,
        pub email: String,
        pub ends_at: Moment,
        pub used_at: Option<Moment>,
        /// Whether the address replaces the confirmed one.
        pub takes_over: bool,
    }
}

pub(crate) fn insert(
    tx: &Write,
    token_hash: &[u8; 32],
    member_id: MemberId,
    email: &str,
    takes_over: bool,
    ends_at: Moment,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO email_tokens" {
        token_hash: &token_hash[..], member_id, email, takes_over, created_at: tx.now(), ends_at,
    })
}

pub(crate) fn find(tx: &Read, token_hash: &[u8; 32]) -> Result<Option<EmailToken>> {
    let sql = sql!("SELECT ", EmailToken::COLUMNS, " FROM email_tokens WHERE token_hash = ?1");
    tx.find(sql, [&token_hash[..]])
}

pub(crate) fn set_used(tx: &Write, token_hash: &[u8; 32]) -> Result<usize> {
    tx.run(sql!("UPDATE email_tokens SET used_at = ?2 WHERE token_hash = ?1"), (&token_hash[..], tx.now()))
}

/// Ends the member's earlier tokens: only the newest is valid.
pub(crate) fn end_of_member(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("UPDATE email_tokens SET ends_at = min(ends_at, ?2) WHERE member_id = ?1"), (member_id, tx.now()))
}

/// Ends the tokens whose address would replace the member's confirmed one. Returns how many were still valid.
pub(crate) fn end_address_changes(tx: &Write, member_id: MemberId) -> Result<usize> {
    let sql = sql!(
        "UPDATE email_tokens SET ends_at = ?2
         WHERE member_id = ?1 AND takes_over AND used_at IS NULL AND ends_at > ?2"
    );
    tx.run(sql, (member_id, tx.now()))
}

/// The address that replaces the member's confirmed one as soon as its owner opens the mailed link.
pub(crate) fn find_address_change(tx: &Read, member_id: MemberId, now: Moment) -> Result<Option<String>> {
    let sql = sql!(
        "SELECT email FROM email_tokens
         WHERE member_id = ?1 AND takes_over AND used_at IS NULL AND ends_at > ?2 ORDER BY created_at DESC LIMIT 1"
    );
    tx.find(sql, (member_id, now))
}

/// Deletes the member's tokens: none confirms an address or requests a new token any more.
pub(crate) fn delete_of_member(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM email_tokens WHERE member_id = ?1"), [member_id])
}
