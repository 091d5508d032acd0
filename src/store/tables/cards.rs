//! The cards and wristbands of members.

use crate::domain::ids::MemberId;
use crate::store::joining::moves;
use crate::store::personal::{Rows, Table, deleted};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::new("cards", "", &[deleted("card")], &[Rows::deleted("cards", "member_id = :id")])
        .joins(&[moves("member_id", "card")])];

pub(crate) fn insert(tx: &Write, card: &str, member_id: MemberId) -> Result<usize> {
    insert!(tx.run, "INSERT INTO cards" { card, member_id, tied_at: tx.now() })
}

/// The owner of a card.
pub(crate) fn find(tx: &Read, card: &str) -> Result<Option<MemberId>> {
    tx.find(sql!("SELECT member_id FROM cards WHERE card = ?1"), [card])
}

/// A member's cards, latest first.
pub(crate) fn list(tx: &Read, member_id: MemberId) -> Result<Vec<String>> {
    tx.list(sql!("SELECT card FROM cards WHERE member_id = ?1 ORDER BY tied_at DESC, card"), [member_id])
}

pub(crate) fn delete(tx: &Write, card: &str, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM cards WHERE card = ?1 AND member_id = ?2"), (card, member_id))
}
