//! The note of one shift for the next. A site has one.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{Rows, Seen, Table, searched};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "shift_note",
    "only",
    &[searched("text")],
    &[Rows::deleted("notes_for_the_next_shift", "only = 1 AND member_id = :id")],
)
.seen(Seen::OnPages)
.joins(&[stays("member_id", WHO_DID)])];

row! {
    #[derive(Debug)]
    pub(crate) struct ShiftNote in "n." {
        pub text: String,
        pub author: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username)",
        /// When the note was written; Unix seconds.
        pub written_at: Moment,
    }
}

pub(crate) fn find(tx: &Read) -> Result<Option<ShiftNote>> {
    let sql = sql!(
        "SELECT ",
        ShiftNote::COLUMNS,
        " FROM shift_note n JOIN members m ON m.member_id = n.member_id WHERE n.only = 1"
    );
    tx.find(sql, [])
}

/// Sets the note, in place of the earlier one.
pub(crate) fn set(tx: &Write, text: &str, member_id: MemberId) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO shift_note" { only: 1, text, member_id, written_at: tx.now() })
}

pub(crate) fn delete(tx: &Write) -> Result<usize> {
    tx.run(sql!("DELETE FROM shift_note WHERE only = 1"), [])
}
