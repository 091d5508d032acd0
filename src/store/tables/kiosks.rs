//! Kiosks, who stands before them, and the codes that open them. Only hashes of keys and codes are kept.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// A kiosk as the desk sees it.
#[derive(Debug)]
pub struct Kiosk {
    pub kiosk_id: i64,
    pub name: String,
    pub paired_at: i64,
    /// The latest sign-in there.
    pub used_at: i64,
    pub revoked_at: Option<i64>,
}

/// Who stands before a kiosk.
#[derive(Debug)]
pub struct Guest {
    pub member_id: i64,
    pub banned: bool,
    pub seen_at: i64,
}

/// A code that somebody made to pair a kiosk.
#[derive(Debug)]
pub struct Pairing {
    pub name: String,
    pub made_by: Option<i64>,
}

pub fn insert_pairing(
    tx: &Write,
    code_hash: &[u8; 32],
    name: &str,
    made_by: Option<i64>,
    ends_at: i64,
) -> Result<usize> {
    let sql =
        "INSERT INTO kiosk_pairings (code_hash, name, made_by, ends_at) VALUES (:hash, :name, :made_by, :ends_at)";
    tx.run(sql, named_params! {":hash": &code_hash[..], ":name": name, ":made_by": made_by, ":ends_at": ends_at})
}

/// Uses the code up, if it is in force.
pub fn take_pairing(tx: &Write, code_hash: &[u8; 32]) -> Result<Option<Pairing>> {
    let sql = "DELETE FROM kiosk_pairings WHERE code_hash = ?1 AND ?2 < ends_at RETURNING name, made_by";
    tx.find(sql, (&code_hash[..], tx.now()), |row| Ok(Pairing { name: row.get(0)?, made_by: row.get(1)? }))
}

pub fn insert(tx: &Write, key_hash: &[u8; 32], pairing: &Pairing) -> Result<i64> {
    let sql =
        "INSERT INTO kiosks (name, key_hash, paired_by, paired_at, used_at) VALUES (:name, :hash, :by, :now, :now)";
    tx.insert(
        sql,
        named_params! {":name": pairing.name, ":hash": &key_hash[..], ":by": pairing.made_by, ":now": tx.now()},
    )
}

/// The kiosk that holds the key.
pub fn find(tx: &Read, key_hash: &[u8; 32]) -> Result<Option<i64>> {
    tx.find("SELECT kiosk_id FROM kiosks WHERE key_hash = ?1", [&key_hash[..]], |row| row.get(0))
}

/// The latest first.
pub fn list(tx: &Read, limit: i64, offset: i64) -> Result<Vec<Kiosk>> {
    let sql = "SELECT kiosk_id, name, paired_at, used_at, revoked_at
               FROM kiosks ORDER BY kiosk_id DESC LIMIT ?1 OFFSET ?2";
    tx.list(sql, (limit, offset), |row| {
        Ok(Kiosk {
            kiosk_id: row.get(0)?,
            name: row.get(1)?,
            paired_at: row.get(2)?,
            used_at: row.get(3)?,
            revoked_at: row.get(4)?,
        })
    })
}

/// Of all times, the revoked ones too.
pub fn count(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM kiosks", [], |row| row.get(0))
}

/// Takes the key and whoever stands there; the row stays to tell of it. 0 where there is none in force.
pub fn revoke(tx: &Write, kiosk_id: i64) -> Result<usize> {
    end_guest(tx, kiosk_id)?;
    let sql = "UPDATE kiosks SET key_hash = NULL, revoked_at = ?2 WHERE kiosk_id = ?1 AND revoked_at IS NULL";
    tx.run(sql, (kiosk_id, tx.now()))
}

/// In place of whoever stood there before. `token_hash`: of the token in the guest's own cookie.
pub fn set_guest(tx: &Write, kiosk_id: i64, member_id: i64, token_hash: &[u8; 32]) -> Result<usize> {
    tx.run("UPDATE kiosks SET used_at = ?2 WHERE kiosk_id = ?1", (kiosk_id, tx.now()))?;
    let sql = "INSERT OR REPLACE INTO kiosk_guests (kiosk_id, member_id, seen_at, token_hash) VALUES (?1, ?2, ?3, ?4)";
    tx.run(sql, (kiosk_id, member_id, tx.now(), &token_hash[..]))
}

/// Whoever was seen there after `since` and holds this token.
pub fn find_guest(tx: &Read, kiosk_id: i64, token_hash: &[u8; 32], since: i64) -> Result<Option<Guest>> {
    let sql = "SELECT g.member_id, m.banned_at IS NOT NULL, g.seen_at
               FROM kiosk_guests g JOIN members m ON m.member_id = g.member_id WHERE g.kiosk_id = ?1
                    AND g.token_hash = ?2 AND g.seen_at > ?3";
    tx.find(sql, (kiosk_id, &token_hash[..], since), |row| {
        Ok(Guest { member_id: row.get(0)?, banned: row.get(1)?, seen_at: row.get(2)? })
    })
}

pub fn touch_guest(tx: &Write, kiosk_id: i64) -> Result<usize> {
    tx.run("UPDATE kiosk_guests SET seen_at = max(seen_at, ?2) WHERE kiosk_id = ?1", (kiosk_id, tx.now()))
}

pub fn end_guest(tx: &Write, kiosk_id: i64) -> Result<usize> {
    tx.run("DELETE FROM kiosk_guests WHERE kiosk_id = ?1", [kiosk_id])
}

/// Nobody is signed in as this member at any kiosk, and no code of the member's opens one.
pub fn end_of_member(tx: &Write, member_id: i64) -> Result<()> {
    tx.run("DELETE FROM kiosk_guests WHERE member_id = ?1", [member_id])?;
    tx.run("DELETE FROM kiosk_codes WHERE member_id = ?1", [member_id])?;
    Ok(())
}

/// In place of the member's older code.
pub fn set_code(tx: &Write, member_id: i64, code_hash: &[u8; 32], ends_at: i64) -> Result<usize> {
    let sql = "INSERT OR REPLACE INTO kiosk_codes (member_id, code_hash, ends_at) VALUES (?1, ?2, ?3)";
    tx.run(sql, (member_id, &code_hash[..], ends_at))
}

/// Uses the code up, if it is in force; whose it is.
pub fn take_code(tx: &Write, code_hash: &[u8; 32]) -> Result<Option<i64>> {
    let sql = "DELETE FROM kiosk_codes WHERE code_hash = ?1 AND ?2 < ends_at RETURNING member_id";
    tx.find(sql, (&code_hash[..], tx.now()), |row| row.get(0))
}

/// Removes codes of either kind that nobody took, and guests who went away.
pub fn sweep(tx: &Write, guests_before: i64) -> Result<usize> {
    let removed = tx.run("DELETE FROM kiosk_pairings WHERE ends_at <= ?1", [tx.now()])?;
    let removed = removed + tx.run("DELETE FROM kiosk_codes WHERE ends_at <= ?1", [tx.now()])?;
    Ok(removed + tx.run("DELETE FROM kiosk_guests WHERE seen_at <= ?1", [guests_before])?)
}
