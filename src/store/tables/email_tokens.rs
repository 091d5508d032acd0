//! The tokens in the mails that confirm an address. Only their hashes are kept.

use crate::store::engine::columns::row;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// How long a token that ran out can still ask for a new one.
const KEPT_SECONDS: i64 = 30 * 86_400;

row! {
    #[derive(Debug)]
    pub(crate) struct EmailToken {
        pub member_id: i64,
        pub email: String,
        pub ends_at: i64,
        pub used_at: Option<i64>,
        /// Whether the address then replaces the one that is confirmed.
        pub takes_over: bool,
    }
}

pub(crate) fn insert(
    tx: &Write,
    token_hash: &[u8; 32],
    member_id: i64,
    email: &str,
    takes_over: bool,
    ends_at: i64,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO email_tokens" {
        token_hash: &token_hash[..], member_id, email, takes_over, created_at: tx.now(), ends_at,
    })
}

pub(crate) fn find(tx: &Read, token_hash: &[u8; 32]) -> Result<Option<EmailToken>> {
    let sql = sql!("SELECT ", EmailToken::COLUMNS, " FROM email_tokens WHERE token_hash = ?1");
    tx.find(sql, [&token_hash[..]], row)
}

pub(crate) fn set_used(tx: &Write, token_hash: &[u8; 32]) -> Result<usize> {
    tx.run(sql!("UPDATE email_tokens SET used_at = ?2 WHERE token_hash = ?1"), (&token_hash[..], tx.now()))
}

/// Only the newest token of a member is good.
pub(crate) fn end_of_member(tx: &Write, member_id: i64) -> Result<usize> {
    tx.run(sql!("UPDATE email_tokens SET ends_at = min(ends_at, ?2) WHERE member_id = ?1"), (member_id, tx.now()))
}

pub(crate) fn purge_expired(tx: &Write, rows: i64) -> Result<usize> {
    let sql = sql!(
        "DELETE FROM email_tokens WHERE token_hash IN
               (SELECT token_hash FROM email_tokens WHERE created_at < :old LIMIT :rows)"
    );
    tx.run(sql, named_params! {":old": tx.now() - KEPT_SECONDS, ":rows": rows})
}
