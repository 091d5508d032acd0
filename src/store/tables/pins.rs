//! The booking PINs of members, in columns of their rows. Only keyed hashes are stored.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

row! {
    /// The state of a member's booking PIN.
    #[derive(Debug)]
    pub struct Pin {
        /// The keyed hash of the PIN; `None`: there is no PIN.
        pub hash: Option<[u8; 32]> = "pin_hash",
        /// Wrong PINs in a row.
        pub wrong_pins: i64 = "pin_misses",
        /// Until when the PIN is paused, in Unix seconds; 0: not paused.
        pub paused_until: i64 = "pin_paused_until",
    }
}

/// The state of a member's PIN; `None`: no such member.
pub fn find(tx: &Read, member_id: i64) -> Result<Option<Pin>> {
    let sql = sql!("SELECT ", Pin::COLUMNS, " FROM members WHERE member_id = :id");
    tx.find(sql, named_params! {":id": member_id})
}

/// Sets a new PIN, and clears the failed attempts.
pub fn set(tx: &Write, member_id: i64, hash: &[u8; 32]) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET pin_hash = :hash, pin_misses = 0, pin_paused_until = 0, updated_at = :now WHERE member_id = :id"
    );
    tx.run(sql, named_params! {":hash": &hash[..], ":now": tx.now(), ":id": member_id})
}

/// Forgets the PINs that came with the member's bookings, so that none of them changes a booking any more.
pub(crate) fn forget_outdated(tx: &Write, member_id: i64) -> Result<usize> {
    let sql = sql!("UPDATE bookings SET pin_hash = NULL WHERE member_id = ?1 AND pin_hash IS NOT NULL");
    tx.run(sql, [member_id])
}

/// Removes the PIN, and forgets the earlier ones.
pub(crate) fn clear(tx: &Write, member_id: i64) -> Result<usize> {
    forget_outdated(tx, member_id)?;
    let sql =
        sql!("UPDATE members SET pin_hash = NULL, updated_at = :now WHERE member_id = :id AND pin_hash IS NOT NULL");
    tx.run(sql, named_params! {":now": tx.now(), ":id": member_id})
}

/// Sets the count of wrong PINs in a row, and until when the PIN is paused (Unix seconds).
pub fn set_wrong_pins(tx: &Write, member_id: i64, wrong_pins: i64, paused_until: i64) -> Result<usize> {
    let sql =
        sql!("UPDATE members SET pin_misses = :wrong_pins, pin_paused_until = :paused_until WHERE member_id = :id");
    tx.run(sql, named_params! {":wrong_pins": wrong_pins, ":paused_until": paused_until, ":id": member_id})
}
