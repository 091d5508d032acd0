//! Codes by which a member signs a waiver on a telephone, one a member. Only keyed hashes are stored.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, Rows, Table, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::new("signing_links", "", &[secret("code_hash")], &[Rows::deleted("signing_links", "member_id = :id")])
        .expires(&[Expiry::at("code_hash", "ends_at")])
        .ahead(Ahead::BeginNow("created_at"))
        .joins(&[stays("member_id", OPENS)])];

/// Sets the member's code. `ends_at`: Unix seconds.
pub(crate) fn set(tx: &Write, code_hash: &[u8; 32], member_id: MemberId, ends_at: Moment) -> Result<usize> {
    delete_of_member(tx, member_id)?;
    insert!(tx.run, "INSERT INTO signing_links" { code_hash: &code_hash[..], member_id, created_at: tx.now(), ends_at })
}

pub(crate) fn find(tx: &Read, code_hash: &[u8; 32], now: Moment) -> Result<Option<MemberId>> {
    let sql = sql!(
        "SELECT l.member_id FROM signing_links l JOIN members m ON m.member_id = l.member_id
               WHERE l.code_hash = ?1 AND ?2 < l.ends_at AND m.banned_at IS NULL"
    );
    tx.find(sql, (&code_hash[..], now))
}

pub(crate) fn delete_of_member(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM signing_links WHERE member_id = ?1"), [member_id])
}
