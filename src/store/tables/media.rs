//! The pictures of profiles.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// The new picture in place of the old one.
pub fn set(tx: &Write, member_id: i64, jpeg: &[u8]) -> Result<usize> {
    let sql = "INSERT INTO media (member_id, jpeg, updated_at) VALUES (:id, :jpeg, :now)
               ON CONFLICT (member_id) DO UPDATE SET jpeg = excluded.jpeg, updated_at = excluded.updated_at";
    tx.run(sql, named_params! {":id": member_id, ":jpeg": jpeg, ":now": tx.now()})
}

pub fn find(tx: &Read, member_id: i64) -> Result<Option<Vec<u8>>> {
    tx.find("SELECT jpeg FROM media WHERE member_id = ?1", [member_id], |row| row.get(0))
}

pub fn exists(tx: &Read, member_id: i64) -> Result<bool> {
    tx.get("SELECT EXISTS (SELECT 1 FROM media WHERE member_id = ?1)", [member_id], |row| row.get(0))
}

pub fn delete(tx: &Write, member_id: i64) -> Result<usize> {
    tx.run("DELETE FROM media WHERE member_id = ?1", [member_id])
}
