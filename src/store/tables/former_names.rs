//! The names, addresses and telephone numbers that members had before. A trigger adds them; an erasure looks for them.

use crate::domain::ids::MemberId;
use crate::store::joining::{ITS_OWN, stays};
use crate::store::personal::{OUR_WORD, Rows, Table, deleted, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "former_names",
    "",
    &[not_personal("kind", OUR_WORD), deleted("word")],
    &[Rows::deleted("former_names", "member_id = :id")],
)
.joins(&[stays("member_id", ITS_OWN)])];

/// The former names of a kind (`name`, `email` or `phone`).
pub(crate) fn list(tx: &Read, member_id: MemberId, kind: &str) -> Result<Vec<String>> {
    tx.list(sql!("SELECT word FROM former_names WHERE member_id = ?1 AND kind = ?2"), (member_id, kind))
}

/// Forgets a name that the member had.
pub(crate) fn delete(tx: &Write, member_id: MemberId, word: &str) -> Result<usize> {
    tx.run(sql!("DELETE FROM former_names WHERE member_id = ?1 AND word = ?2"), (member_id, word))
}
