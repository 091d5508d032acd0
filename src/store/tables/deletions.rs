//! Requests for deletion that came by a social network, and their outcome.

use crate::moment::Moment;
use crate::store::personal::{HASH, OUR_WORD, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::nobodys(
    "deletions",
    &[
        not_personal("code", "random, and the person's own"),
        not_personal("subject_hash", HASH),
        not_personal("outcome", OUR_WORD),
    ],
)];

named! {
    /// The outcome of a deletion request.
    pub(crate) enum Outcome {
        /// The person had no link here.
        Nothing = "nothing",
        /// The link and its data were deleted; the account stays, because it has other credentials.
        Unlinked = "unlinked",
        /// The account was erased with the link, because it had no other credentials.
        Erased = "erased",
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct Deletion {
        pub code: String,
        pub outcome: Outcome,
        pub asked_at: Moment,
        pub done_at: Moment,
    }
}

/// Adds a request that was carried out now.
pub(crate) fn insert(tx: &Write, code: &str, subject_hash: &[u8; 32], outcome: Outcome) -> Result<usize> {
    insert!(tx.run, "INSERT INTO deletions" {
        code, subject_hash: &subject_hash[..], outcome, asked_at: tx.now(),
        done_at: tx.now(),
    })
}

pub(crate) fn find(tx: &Read, code: &str) -> Result<Option<Deletion>> {
    tx.find(sql!("SELECT ", Deletion::COLUMNS, " FROM deletions WHERE code = ?1"), [code])
}

/// The code of the latest deletion about this person.
pub(crate) fn find_code(tx: &Read, subject_hash: &[u8; 32]) -> Result<Option<String>> {
    let sql = sql!("SELECT code FROM deletions WHERE subject_hash = ?1 ORDER BY asked_at DESC, code LIMIT 1");
    tx.find(sql, [&subject_hash[..]])
}
