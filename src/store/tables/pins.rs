//! The booking PINs of members, in columns of their rows. Only keyed hashes are stored.

use crate::domain::ids::MemberId;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// The keyed hash of a member's PIN; `None`: there is no PIN, or no such member.
pub fn find(tx: &Read, member_id: MemberId) -> Result<Option<[u8; 32]>> {
    Ok(tx.find::<Option<[u8; 32]>>(sql!("SELECT pin_hash FROM members WHERE member_id = ?1"), [member_id])?.flatten())
}

/// Sets a new PIN.
pub fn set(tx: &Write, member_id: MemberId, hash: &[u8; 32]) -> Result<usize> {
    let sql = sql!("UPDATE members SET pin_hash = :hash, updated_at = :now WHERE member_id = :id");
    tx.run(sql, named_params! {":hash": &hash[..], ":now": tx.now(), ":id": member_id})
}

/// Forgets the PINs that came with the member's bookings, so that none of them changes a booking any more.
pub(crate) fn forget_outdated(tx: &Write, member_id: MemberId) -> Result<usize> {
    let sql = sql!("UPDATE bookings SET pin_hash = NULL WHERE member_id = ?1 AND pin_hash IS NOT NULL");
    tx.run(sql, [member_id])
}

/// Removes the PIN, and forgets the earlier ones.
pub(crate) fn clear(tx: &Write, member_id: MemberId) -> Result<usize> {
    forget_outdated(tx, member_id)?;
    let sql =
        sql!("UPDATE members SET pin_hash = NULL, updated_at = :now WHERE member_id = :id AND pin_hash IS NOT NULL");
    tx.run(sql, named_params! {":now": tx.now(), ":id": member_id})
}
