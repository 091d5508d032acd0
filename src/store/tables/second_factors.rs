//! Second factors, the ones that are being set up, and recovery codes.

use crate::store::engine::columns::row;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

named! {
    /// The kind of a second factor.
    pub(crate) enum Kind {
        /// Codes from an authenticator app.
        Totp = "totp",
        /// Passcodes that are sent to a confirmed address.
        Passcode = "passcode",
    }
}

row! {
    /// A member's row.
    #[derive(Debug, Default)]
    pub(crate) struct Factor {
        /// The factor that is turned on.
        pub kind: Option<Kind>,
        /// The authenticator's secret, sealed.
        pub sealed: Option<Vec<u8>>,
        pub last_step: i64,
        /// A secret that was handed out and can still be proven, sealed.
        pub sealed_pending: Option<Vec<u8>> = "iif(?2 < pending_until, sealed_pending, NULL)",
    }
}

row! {
    /// Where a passcode can go: only confirmed addresses.
    #[derive(Debug, Default)]
    pub(crate) struct Reachable {
        pub email: Option<String> = "iif(email_confirmed_at IS NULL OR email = '', NULL, email)",
        pub phone: Option<String> = "iif(phone_confirmed_at IS NULL OR phone = '', NULL, phone)",
    }
}

/// A member without a row has no factor.
pub(crate) fn find(tx: &Read, member_id: i64, now: i64) -> Result<Factor> {
    let sql = sql!("SELECT ", Factor::COLUMNS, " FROM second_factors WHERE member_id = ?1");
    let found = tx.find(sql, (member_id, now), row)?;
    Ok(found.unwrap_or_default())
}

/// A secret to be proven, in place of an older one that was not; what is on stays on.
pub(crate) fn set_pending(tx: &Write, member_id: i64, sealed: &[u8], until: i64) -> Result<usize> {
    insert!(tx.run, "INSERT INTO second_factors" { member_id, sealed_pending: sealed, pending_until: until } "ON CONFLICT (member_id) DO UPDATE SET sealed_pending = excluded.sealed_pending, pending_until = excluded.pending_until")
}

/// The secret that was proven is the one in force, whatever was on before.
pub(crate) fn confirm_pending(tx: &Write, member_id: i64, step: i64) -> Result<usize> {
    let sql = sql!(
        "UPDATE second_factors SET kind = 'totp', sealed = sealed_pending, last_step = :step, since = :now,
                                         sealed_pending = NULL, pending_until = 0
               WHERE member_id = :id AND sealed_pending IS NOT NULL"
    );
    tx.run(sql, named_params! {":id": member_id, ":step": step, ":now": tx.now()})
}

/// Sent passcodes are the second factor from now on; what was being set up is dead.
pub(crate) fn set_passcodes(tx: &Write, member_id: i64) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO second_factors" { member_id, kind: "passcode", since: tx.now() })
}

/// No code of this step or an earlier one works again.
pub(crate) fn set_last_step(tx: &Write, member_id: i64, step: i64) -> Result<usize> {
    tx.run(sql!("UPDATE second_factors SET last_step = ?2 WHERE member_id = ?1"), (member_id, step))
}

/// Nothing is on, nothing is being set up, and no recovery code works.
pub(crate) fn delete(tx: &Write, member_id: i64) -> Result<usize> {
    delete_recovery_codes(tx, member_id)?;
    tx.run(sql!("DELETE FROM second_factors WHERE member_id = ?1"), [member_id])
}

/// The same, where the factor was turned on at this moment or later, or none is on yet.
pub(crate) fn delete_since(tx: &Write, member_id: i64, since: i64) -> Result<usize> {
    tx.run(
        sql!("DELETE FROM second_factors WHERE member_id = ?1 AND (kind IS NULL OR since >= ?2)"),
        (member_id, since),
    )
}

pub(crate) fn insert_recovery_code(tx: &Write, member_id: i64, code_hash: &[u8; 32]) -> Result<usize> {
    insert!(tx.run, "INSERT INTO recovery_codes" { member_id, code_hash: &code_hash[..] })
}

/// Whether the code was there; it is not any more.
pub(crate) fn take_recovery_code(tx: &Write, member_id: i64, code_hash: &[u8; 32]) -> Result<bool> {
    let sql = sql!("DELETE FROM recovery_codes WHERE member_id = ?1 AND code_hash = ?2");
    Ok(tx.run(sql, (member_id, &code_hash[..]))? == 1)
}

pub(crate) fn delete_recovery_codes(tx: &Write, member_id: i64) -> Result<usize> {
    tx.run(sql!("DELETE FROM recovery_codes WHERE member_id = ?1"), [member_id])
}

pub(crate) fn count_recovery_codes(tx: &Read, member_id: i64) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM recovery_codes WHERE member_id = ?1"), [member_id], row)
}

pub(crate) fn find_reachable(tx: &Read, member_id: i64) -> Result<Reachable> {
    let sql = sql!("SELECT ", Reachable::COLUMNS, " FROM members WHERE member_id = ?1");
    let found = tx.find(sql, [member_id], row)?;
    Ok(found.unwrap_or_default())
}
