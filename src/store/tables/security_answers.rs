//! The answers to security questions, as hashes, each bound to its member and question.

use crate::domain::ids::MemberId;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Rows, Table, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "security_answers",
    "",
    &[secret("answer_hash")],
    &[Rows::deleted("security_questions", "member_id = :id")],
)
.joins(&[stays("member_id", OPENS)])];

/// What an answer's hash is bound to: this column, the member's number and the question's.
const ANSWER: &str = "security_answers.answer_hash";

/// Sets the answer to a security question.
pub fn set(tx: &Write, member_id: MemberId, question: i64, answer_hash: &str) -> Result<usize> {
    let answer_hash = tx.bound(ANSWER, &[member_id.into(), question.into()], answer_hash);
    insert!(tx.run, "INSERT INTO security_answers" { member_id, question, answer_hash } "ON CONFLICT (member_id, question) DO UPDATE SET answer_hash = excluded.answer_hash")
}

/// Deletes the answer to a security question.
pub(crate) fn delete(tx: &Write, member_id: MemberId, question: i64) -> Result<usize> {
    let sql = sql!("DELETE FROM security_answers WHERE member_id = ?1 AND question = ?2");
    tx.run(sql, (member_id, question))
}

/// Replaces the hash of an answer by one with new parameters.
pub(crate) fn renew(tx: &Write, member_id: MemberId, question: i64, answer_hash: &str) -> Result<usize> {
    let bound = tx.bound(ANSWER, &[member_id.into(), question.into()], answer_hash);
    let sql = sql!("UPDATE security_answers SET answer_hash = :hash WHERE member_id = :id AND question = :question");
    tx.run(sql, named_params! {":id": member_id, ":question": question, ":hash": bound})
}

/// The member with the lowest number who has answers.
pub(crate) fn find_first_member(tx: &Read) -> Result<Option<MemberId>> {
    tx.get(sql!("SELECT min(member_id) FROM security_answers"), [])
}

/// The questions that a member answered.
pub(crate) fn list_questions(tx: &Read, member_id: MemberId) -> Result<Vec<i64>> {
    tx.list(sql!("SELECT question FROM security_answers WHERE member_id = ?1"), [member_id])
}

/// The questions that a member answered, with the answers' hashes. The hash that somebody without the key wrote is empty,
/// and no answer fits it.
pub(crate) fn list(tx: &Read, member_id: MemberId) -> Result<Vec<(i64, String)>> {
    let sql = sql!("SELECT question, answer_hash FROM security_answers WHERE member_id = ?1 ORDER BY question");
    let stored: Vec<(i64, String)> = tx.list(sql, [member_id])?;
    let unbound = |(question, stored): (i64, String)| {
        let phc = tx.unbound(ANSWER, &[member_id.into(), question.into()], &stored);
        (question, phc.unwrap_or_default())
    };
    Ok(stored.into_iter().map(unbound).collect())
}
