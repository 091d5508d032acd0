//! Confirmations of the operator's safety brief at a kiosk, by version.

use super::site_texts::SiteText;
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::moves;
use crate::store::personal::{OUR_WORD, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "brief_confirmations",
    "",
    &[not_personal("language", OUR_WORD), not_personal("text_hash", "of the operator's text")],
    &[Rows::deleted("safety_briefs_read", "member_id = :id")],
)
.joins(&[moves("member_id", "confirmation_id")])];

pub(crate) fn insert(tx: &Write, member_id: MemberId, text: &SiteText) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO brief_confirmations" {
        member_id, version: text.version, language: &text.language, text_hash: &text.text_hash[..], confirmed_at: tx.now(),
    })
}

/// The version that a member confirmed last, and when (Unix seconds).
pub(crate) fn find_last(tx: &Read, member_id: MemberId) -> Result<Option<(i64, Moment)>> {
    let sql = sql!(
        "SELECT version, confirmed_at FROM brief_confirmations WHERE member_id = ?1 ORDER BY confirmation_id DESC LIMIT 1"
    );
    tx.find(sql, [member_id])
}
