//! Deletions that people asked a social network for, and what came of them.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What a deletion did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing of that person here.
    Nothing,
    /// The link and what came with it went; the account has other ways in and stays.
    Unlinked,
    /// The account went with the link, because nothing else opened it.
    Erased,
}

impl Outcome {
    const ALL: [Outcome; 3] = [Outcome::Nothing, Outcome::Unlinked, Outcome::Erased];

    pub fn name(self) -> &'static str {
        ["nothing", "unlinked", "erased"][self as usize]
    }
}

#[derive(Debug)]
pub struct Deletion {
    pub code: String,
    pub outcome: Outcome,
    pub asked_at: i64,
    pub done_at: i64,
}

/// A deletion that was asked for and done now.
pub fn insert(tx: &Write, code: &str, subject_hash: &[u8; 32], outcome: Outcome) -> Result<usize> {
    let sql = "INSERT INTO deletions (code, subject_hash, outcome, asked_at, done_at)
               VALUES (:code, :hash, :outcome, :now, :now)";
    tx.run(sql, named_params! {":code": code, ":hash": &subject_hash[..], ":outcome": outcome.name(), ":now": tx.now()})
}

pub fn find(tx: &Read, code: &str) -> Result<Option<Deletion>> {
    let sql = "SELECT code, outcome, asked_at, done_at FROM deletions WHERE code = ?1";
    tx.find(sql, [code], |row| {
        let name = row.get_ref(1)?.as_str()?;
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name).unwrap_or(Outcome::Nothing);
        Ok(Deletion { code: row.get(0)?, outcome, asked_at: row.get(2)?, done_at: row.get(3)? })
    })
}

/// The code of the latest deletion about this person.
pub fn find_code(tx: &Read, subject_hash: &[u8; 32]) -> Result<Option<String>> {
    let sql = "SELECT code FROM deletions WHERE subject_hash = ?1 ORDER BY asked_at DESC, code LIMIT 1";
    tx.find(sql, [&subject_hash[..]], |row| row.get(0))
}
