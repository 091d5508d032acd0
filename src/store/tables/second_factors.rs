//! Second factors, those that are being set up, and recovery codes.

use crate::domain::ids::MemberId;
use crate::keys::columns;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{OUR_WORD, Rows, Table, not_personal, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "second_factors",
        "",
        &[
            not_personal("kind", OUR_WORD),
            secret("sealed").sealed(&columns::SECOND_FACTOR),
            secret("sealed_pending").sealed(&columns::PENDING_FACTOR),
        ],
        &[Rows::deleted("second_factor", "member_id = :id")],
    )
    .joins(&[stays("member_id", OPENS)]),
    Table::new("recovery_codes", "", &[secret("code_hash")], &[Rows::deleted("recovery_codes", "member_id = :id")])
        .joins(&[stays("member_id", OPENS)]),
];

named! {
    /// The kind of a second factor.
    pub(crate) enum Kind {
        /// Codes from an authenticator app.
        Totp = "totp",
        /// Passcodes that are sent to a confirmed address.
        Passcode = "passcode",
    }
}

impl Kind {
    /// Whether its codes are sent.
    pub(crate) fn is_sent(self) -> bool {
        self == Kind::Passcode
    }
}

row! {
    /// A member's second factor, and the secret that is being set up.
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
    /// The confirmed addresses to which a passcode can be sent.
    #[derive(Debug, Default)]
    pub(crate) struct Reachable {
        pub email: Option<String> = "iif(email_confirmed_at IS NULL OR email = '', NULL, email)",
        pub phone: Option<String> = "iif(phone_confirmed_at IS NULL OR phone = '', NULL, phone)",
    }
}

/// A member's second factor; the default for a member without a row, who has none.
pub(crate) fn find(tx: &Read, member_id: MemberId, now: Moment) -> Result<Factor> {
    let sql = sql!("SELECT ", Factor::COLUMNS, " FROM second_factors WHERE member_id = ?1");
    let found = tx.find(sql, (member_id, now))?;
    Ok(found.unwrap_or_default())
}

/// Stores a secret that the member must prove until `until` (Unix seconds), in place of an earlier unproven one. The
/// factor in force stays.
pub(crate) fn set_pending(tx: &Write, member_id: MemberId, sealed: &[u8], until: Moment) -> Result<usize> {
    insert!(tx.run, "INSERT INTO second_factors" { member_id, sealed_pending: sealed, pending_until: until } "ON CONFLICT (member_id) DO UPDATE SET sealed_pending = excluded.sealed_pending, pending_until = excluded.pending_until")
}

/// Turns on the pending secret, which the member has proven, in place of any other factor. `sealed`: the same secret, sealed
/// for its new column. `step`: the time step of the code.
pub(crate) fn confirm_pending(tx: &Write, member_id: MemberId, sealed: &[u8], step: i64) -> Result<usize> {
    let sql = sql!(
        "UPDATE second_factors SET kind = 'totp', sealed = :sealed, last_step = :step, since = :now,
                                         sealed_pending = NULL, pending_until = 0
               WHERE member_id = :id AND sealed_pending IS NOT NULL"
    );
    tx.run(sql, named_params! {":id": member_id, ":sealed": sealed, ":step": step, ":now": tx.now()})
}

/// Turns on sent passcodes as the second factor, in place of any other, and deletes a pending secret.
pub(crate) fn set_passcodes(tx: &Write, member_id: MemberId) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO second_factors" { member_id, kind: "passcode", since: tx.now() })
}

/// Records the time step of the last accepted code: no code of this step or an earlier one is accepted again.
pub(crate) fn set_last_step(tx: &Write, member_id: MemberId, step: i64) -> Result<usize> {
    tx.run(sql!("UPDATE second_factors SET last_step = ?2 WHERE member_id = ?1"), (member_id, step))
}

/// Turns off the second factor: deletes the factor, a pending secret and all recovery codes.
pub(crate) fn delete(tx: &Write, member_id: MemberId) -> Result<usize> {
    delete_recovery_codes(tx, member_id)?;
    tx.run(sql!("DELETE FROM second_factors WHERE member_id = ?1"), [member_id])
}

/// Deletes the second factor where it was turned on at this moment or later, or is not turned on yet. Recovery codes
/// stay.
pub(crate) fn delete_since(tx: &Write, member_id: MemberId, since: Moment) -> Result<usize> {
    tx.run(
        sql!("DELETE FROM second_factors WHERE member_id = ?1 AND (kind IS NULL OR since >= ?2)"),
        (member_id, since),
    )
}

pub(crate) fn insert_recovery_code(tx: &Write, member_id: MemberId, code_hash: &[u8; 32]) -> Result<usize> {
    insert!(tx.run, "INSERT INTO recovery_codes" { member_id, code_hash: &code_hash[..] })
}

/// Uses up a recovery code. Returns whether the code was valid.
pub(crate) fn take_recovery_code(tx: &Write, member_id: MemberId, code_hash: &[u8; 32]) -> Result<bool> {
    let sql = sql!("DELETE FROM recovery_codes WHERE member_id = ?1 AND code_hash = ?2");
    Ok(tx.run(sql, (member_id, &code_hash[..]))? == 1)
}

pub(crate) fn delete_recovery_codes(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM recovery_codes WHERE member_id = ?1"), [member_id])
}

pub(crate) fn count_recovery_codes(tx: &Read, member_id: MemberId) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM recovery_codes WHERE member_id = ?1"), [member_id])
}

pub(crate) fn find_reachable(tx: &Read, member_id: MemberId) -> Result<Reachable> {
    let sql = sql!("SELECT ", Reachable::COLUMNS, " FROM members WHERE member_id = ?1");
    let found = tx.find(sql, [member_id])?;
    Ok(found.unwrap_or_default())
}
