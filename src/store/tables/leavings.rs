//! Members who asked for the erasure of their account: a column of the member says when it is due.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::{Read, Write};
use rusqlite::Result;

/// How long a member may change their mind.
pub(crate) const WEEK_SECONDS: i64 = 7 * 86_400;

/// Sets the erasure of an account to a week from now.
pub(crate) fn set(tx: &Write, member_id: MemberId) -> Result<usize> {
    let sql = sql!("UPDATE members SET leaves_at = ?2, updated_at = ?3 WHERE member_id = ?1");
    tx.run(sql, (member_id, tx.now() + WEEK_SECONDS, tx.now()))
}

/// When the account is due to be erased; `None`: it stays.
pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Moment>> {
    Ok(tx.find::<Option<Moment>>(sql!("SELECT leaves_at FROM members WHERE member_id = ?1"), [member_id])?.flatten())
}

/// Takes back what was asked at this moment or later. Returns how many accounts stay: one or none.
pub(crate) fn stop_since(tx: &Write, member_id: MemberId, asked_at: Moment) -> Result<usize> {
    let sql = sql!("UPDATE members SET leaves_at = NULL, updated_at = ?3 WHERE member_id = ?1 AND leaves_at >= ?2");
    tx.run(sql, (member_id, asked_at + WEEK_SECONDS, tx.now()))
}

/// Takes back whatever was asked.
pub(crate) fn stop(tx: &Write, member_id: MemberId) -> Result<usize> {
    let sql =
        sql!("UPDATE members SET leaves_at = NULL, updated_at = ?2 WHERE member_id = ?1 AND leaves_at IS NOT NULL");
    tx.run(sql, (member_id, tx.now()))
}

/// The accounts that are due by `now`.
pub(crate) fn list_due(tx: &Read, now: Moment) -> Result<Vec<MemberId>> {
    tx.list(sql!("SELECT member_id FROM members WHERE leaves_at <= ?1 ORDER BY leaves_at"), [now])
}

/// Whether the member is an admin and no other one stays.
pub(crate) fn is_last_admin(tx: &Read, member_id: MemberId) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM members WHERE member_id = ?1 AND role = 'admin')
            AND NOT EXISTS (SELECT 1 FROM members WHERE role <> 'member' AND role = 'admin' AND member_id <> ?1
                            AND banned_at IS NULL AND leaves_at IS NULL)"
    );
    tx.get(sql, [member_id])
}
