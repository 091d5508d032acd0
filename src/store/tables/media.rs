//! Profile pictures.

use crate::domain::ids::MemberId;
use crate::store::joining::{ITS_OWN, stays};
use crate::store::personal::{Rows, Table, deleted};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::new("media", "", &[deleted("jpeg")], &[Rows::deleted("picture", "member_id = :id")])
        .joins(&[stays("member_id", ITS_OWN)])];

/// Sets the picture, in place of the earlier one.
pub(crate) fn set(tx: &Write, member_id: MemberId, jpeg: &[u8]) -> Result<usize> {
    insert!(tx.run, "INSERT INTO media" { member_id, jpeg, updated_at: tx.now() } "ON CONFLICT (member_id) DO UPDATE SET jpeg = excluded.jpeg, updated_at = excluded.updated_at")
}

pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Vec<u8>>> {
    tx.find(sql!("SELECT jpeg FROM media WHERE member_id = ?1"), [member_id])
}

pub(crate) fn exists(tx: &Read, member_id: MemberId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM media WHERE member_id = ?1)"), [member_id])
}

pub(crate) fn delete(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM media WHERE member_id = ?1"), [member_id])
}
