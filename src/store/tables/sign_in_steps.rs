//! Sign-ins by a social network that wait for the second factor, one a member. Only hashes of their tokens are stored.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, Rows, Table, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::new("sign_in_steps", "", &[secret("step_hash")], &[Rows::deleted("sign_in_steps", "member_id = :id")])
        .expires(&[Expiry::at("member_id", "ends_at")])
        .ahead(Ahead::Deleted("ends_at"))
        .joins(&[stays("member_id", OPENS)])];

row! {
    /// A step that has not expired.
    #[derive(Debug)]
    pub(crate) struct Step {
        pub member_id: MemberId,
        pub tries: i64,
    }
}

/// Adds a step, in place of the member's earlier one.
pub(crate) fn insert(tx: &Write, member_id: MemberId, step_hash: &[u8; 32], ends_at: Moment) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO sign_in_steps" { member_id, step_hash: &step_hash[..], ends_at })
}

pub(crate) fn find(tx: &Read, step_hash: &[u8; 32], now: Moment) -> Result<Option<Step>> {
    let sql = sql!("SELECT ", Step::COLUMNS, " FROM sign_in_steps WHERE step_hash = ?1 AND ?2 < ends_at");
    tx.find(sql, (&step_hash[..], now))
}

pub(crate) fn count_try(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("UPDATE sign_in_steps SET tries = tries + 1 WHERE member_id = ?1"), [member_id])
}

pub(crate) fn delete(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM sign_in_steps WHERE member_id = ?1"), [member_id])
}
