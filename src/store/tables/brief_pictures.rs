//! The pictures of the operator's safety brief. A removed picture stays in the table, as a record of what was shown.

use crate::domain::ids::{MemberId, PictureId};
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::nobodys("brief_pictures", &[not_personal("jpeg", "the operator's pictures of the site")])
        .joins(&[stays("added_by", WHO_DID)])];

/// Adds a picture; returns its number. `by`: the admin.
pub(crate) fn insert(tx: &Write, jpeg: &[u8], by: Option<MemberId>) -> Result<PictureId> {
    insert!(tx.insert, "INSERT INTO brief_pictures" { jpeg, added_at: tx.now(), added_by: by }).map(PictureId)
}

/// The numbers of the pictures in use, in their order.
pub(crate) fn list(tx: &Read) -> Result<Vec<PictureId>> {
    tx.list(sql!("SELECT picture_id FROM brief_pictures WHERE removed_at IS NULL ORDER BY picture_id"), [])
}

/// A picture in use.
pub(crate) fn find(tx: &Read, picture_id: PictureId) -> Result<Option<Vec<u8>>> {
    tx.find(sql!("SELECT jpeg FROM brief_pictures WHERE picture_id = ?1 AND removed_at IS NULL"), [picture_id])
}

pub(crate) fn remove(tx: &Write, picture_id: PictureId) -> Result<usize> {
    let sql = sql!("UPDATE brief_pictures SET removed_at = ?2 WHERE picture_id = ?1 AND removed_at IS NULL");
    tx.run(sql, (picture_id, tx.now()))
}
