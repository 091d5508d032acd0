//! Undo offers: the contact data of an account before a change of its credentials, to which the change can be undone.
//! Only hashes of the tokens are stored.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, OUR_WORD, Rows, Table, deleted, not_personal, secret};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "undos",
    "",
    &[secret("token_hash"), not_personal("event", OUR_WORD), deleted("email"), deleted("phone")],
    &[Rows::deleted("undos", "member_id = :id")],
)
.expires(&[Expiry::at("token_hash", "ends_at")])
.ahead(Ahead::BeginNow("made_at"))
.joins(&[stays("member_id", OPENS)])];

row! {
    /// An offer to undo a change: the member's address and number before it.
    #[derive(Debug, Clone)]
    pub(crate) struct Undo {
        pub member_id: MemberId,
        pub email: String,
        pub email_confirmed: bool,
        pub phone: String,
        pub phone_confirmed: bool,
        /// When the change was made; Unix seconds.
        pub made_at: Moment,
    } saved
}

/// Adds an offer. `event`: the name of the change. `ends_at`: when the offer expires; Unix seconds.
pub(crate) fn insert(tx: &Write, token_hash: &[u8; 32], event: &str, undo: &Undo, ends_at: Moment) -> Result<usize> {
    insert!(tx.run, "INSERT INTO undos" Undo: undo, { token_hash: token_hash, event: event, ends_at: ends_at })
}

pub(crate) fn find(tx: &Read, token_hash: &[u8; 32], now: Moment) -> Result<Option<Undo>> {
    let sql = sql!("SELECT ", Undo::COLUMNS, " FROM undos WHERE token_hash = ?1 AND ?2 < ends_at");
    tx.find(sql, (token_hash, now))
}

/// The offers in force of a member, the latest first.
pub(crate) fn list(tx: &Read, member_id: MemberId, now: Moment) -> Result<Vec<Undo>> {
    let sql = sql!("SELECT ", Undo::COLUMNS, " FROM undos WHERE member_id = ?1 AND ?2 < ends_at ORDER BY made_at DESC");
    tx.list(sql, (member_id, now))
}

/// Deletes the offers of changes made at this moment or later, whose tokens the intruder who made them may have.
pub(crate) fn delete_since(tx: &Write, member_id: MemberId, made_at: Moment) -> Result<usize> {
    tx.run(sql!("DELETE FROM undos WHERE member_id = ?1 AND made_at >= ?2"), (member_id, made_at))
}

/// Deletes every offer of the member.
pub(crate) fn delete_of_member(tx: &Write, member_id: MemberId) -> Result<usize> {
    delete_since(tx, member_id, Moment::FIRST)
}
