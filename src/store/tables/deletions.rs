//! Deletions that people asked a social network for, and what came of them.

use crate::store::engine::columns::row;
use crate::store::{Read, Write};
use rusqlite::Result;

named! {
    /// The outcome of a deletion request.
    pub(crate) enum Outcome {
        /// There was nothing of that person here.
        Nothing = "nothing",
        /// The link and what came with it went; the account has other ways in and stays.
        Unlinked = "unlinked",
        /// The account went with the link, because nothing else opened it.
        Erased = "erased",
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct Deletion {
        pub code: String,
        pub outcome: Outcome,
        pub asked_at: i64,
        pub done_at: i64,
    }
}

/// A deletion that was asked for and done now.
pub(crate) fn insert(tx: &Write, code: &str, subject_hash: &[u8; 32], outcome: Outcome) -> Result<usize> {
    insert!(tx.run, "INSERT INTO deletions" {
        code, subject_hash: &subject_hash[..], outcome, asked_at: tx.now(),
        done_at: tx.now(),
    })
}

pub(crate) fn find(tx: &Read, code: &str) -> Result<Option<Deletion>> {
    tx.find(sql!("SELECT ", Deletion::COLUMNS, " FROM deletions WHERE code = ?1"), [code], row)
}

/// The code of the latest deletion about this person.
pub(crate) fn find_code(tx: &Read, subject_hash: &[u8; 32]) -> Result<Option<String>> {
    let sql = sql!("SELECT code FROM deletions WHERE subject_hash = ?1 ORDER BY asked_at DESC, code LIMIT 1");
    tx.find(sql, [&subject_hash[..]], row)
}
