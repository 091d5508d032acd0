//! Bans, which are columns of their members.

use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// Sets the moment of a ban, in Unix seconds; `None` lifts the ban. Clears the end and the reason of an earlier one.
pub fn set(tx: &Write, member_id: i64, banned_at: Option<i64>) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET banned_at = :banned_at, banned_until = NULL, ban_reason = '', updated_at = :now WHERE member_id = :id"
    );
    tx.run(sql, named_params! {":banned_at": banned_at, ":now": tx.now(), ":id": member_id})
}

row! {
    /// The terms of a ban. Moments in Unix seconds.
    #[derive(Debug)]
    pub(crate) struct Ban {
        /// The last second of the ban, that of a day; `None`: it has none, and a clerk must lift it.
        pub banned_until: Option<i64>,
        pub ban_reason: String,
    }
}

pub(crate) fn find(tx: &Read, member_id: i64) -> Result<Option<Ban>> {
    let sql = sql!("SELECT ", Ban::COLUMNS, " FROM members WHERE member_id = ?1 AND banned_at IS NOT NULL");
    tx.find(sql, [member_id])
}

/// Sets the end (`None`: none) and the reason of a ban, where the account is banned.
pub(crate) fn set_terms(tx: &Write, member_id: i64, until: Option<i64>, reason: &str) -> Result<usize> {
    let sql =
        sql!("UPDATE members SET banned_until = ?2, ban_reason = ?3 WHERE member_id = ?1 AND banned_at IS NOT NULL");
    tx.run(sql, (member_id, until, reason))
}

/// The members whose ban has ended by `now` and is not lifted yet.
pub(crate) fn list_ended(tx: &Read, now: i64) -> Result<Vec<i64>> {
    tx.list(sql!("SELECT member_id FROM members WHERE banned_until < ?1 AND banned_at IS NOT NULL"), [now])
}
