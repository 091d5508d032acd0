//! The answers to security questions, as hashes.

use crate::store::personal::{Rows, Table, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "security_answers",
    "",
    &[secret("answer_hash")],
    &[Rows::deleted("security_questions", "member_id = :id")],
)];

/// Sets the answer to a security question.
pub fn set(tx: &Write, member_id: i64, question: i64, answer_hash: &str) -> Result<usize> {
    insert!(tx.run, "INSERT INTO security_answers" { member_id, question, answer_hash } "ON CONFLICT (member_id, question) DO UPDATE SET answer_hash = excluded.answer_hash")
}

/// Replaces the hash of an answer by one with new parameters.
pub(crate) fn renew(tx: &Write, member_id: i64, question: i64, answer_hash: &str) -> Result<usize> {
    let sql = sql!("UPDATE security_answers SET answer_hash = :hash WHERE member_id = :id AND question = :question");
    tx.run(sql, named_params! {":id": member_id, ":question": question, ":hash": answer_hash})
}

/// The member with the lowest number who has answers.
pub(crate) fn find_first_member(tx: &Read) -> Result<Option<i64>> {
    tx.get(sql!("SELECT min(member_id) FROM security_answers"), [])
}

/// The questions that a member answered.
pub(crate) fn list_questions(tx: &Read, member_id: i64) -> Result<Vec<i64>> {
    tx.list(sql!("SELECT question FROM security_answers WHERE member_id = ?1"), [member_id])
}

/// The questions that a member answered, with the answers' hashes.
pub(crate) fn list(tx: &Read, member_id: i64) -> Result<Vec<(i64, String)>> {
    let sql = sql!("SELECT question, answer_hash FROM security_answers WHERE member_id = ?1 ORDER BY question");
    tx.list(sql, [member_id])
}
