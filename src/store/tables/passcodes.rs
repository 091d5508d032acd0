//! Passcodes that were sent: one valid for each member and purpose, hashed, with few tries.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, OUR_WORD, Rows, Table, deleted, not_personal, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "passcodes",
    "",
    &[not_personal("purpose", OUR_WORD), secret("code_hash"), deleted("target")],
    &[Rows::deleted("passcodes", "member_id = :id")],
)
.expires(&[Expiry::at("member_id, purpose", "ends_at")])
.ahead(Ahead::Deleted("created_at"))
.joins(&[stays("member_id", OPENS)])];

row! {
    /// The valid passcode of a purpose.
    #[derive(Debug)]
    pub(crate) struct Passcode {
        pub code_hash: [u8; 32],
        /// The address or number to which the passcode was sent.
        pub target: String,
        pub tries: i64,
    }
}

/// Adds a passcode, in place of the earlier one of the same purpose.
pub(crate) fn insert(
    tx: &Write,
    member_id: MemberId,
    purpose: &str,
    code_hash: &[u8; 32],
    target: &str,
    ends_at: Moment,
) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO passcodes" {
        member_id, purpose, code_hash: &code_hash[..], target, created_at: tx.now(), ends_at,
    })
}

pub(crate) fn find(tx: &Read, member_id: MemberId, purpose: &str, now: Moment) -> Result<Option<Passcode>> {
    let sql =
        sql!("SELECT ", Passcode::COLUMNS, " FROM passcodes WHERE member_id = ?1 AND purpose = ?2 AND ?3 < ends_at");
    tx.find(sql, (member_id, purpose, now))
}

pub(crate) fn count_try(tx: &Write, member_id: MemberId, purpose: &str) -> Result<usize> {
    tx.run(sql!("UPDATE passcodes SET tries = tries + 1 WHERE member_id = ?1 AND purpose = ?2"), (member_id, purpose))
}

pub(crate) fn delete(tx: &Write, member_id: MemberId, purpose: &str) -> Result<usize> {
    tx.run(sql!("DELETE FROM passcodes WHERE member_id = ?1 AND purpose = ?2"), (member_id, purpose))
}

pub(crate) fn delete_of_member(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM passcodes WHERE member_id = ?1"), [member_id])
}
