//! Emergency contacts of members.

use crate::domain::ids::MemberId;
use crate::store::joining::{ITS_OWN, stays};
use crate::store::personal::{Mention, Rows, Table, mentioned};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "emergency_contacts",
    "member_id",
    &[mentioned("name", Mention::RowRemoved), mentioned("phone", Mention::RowRemoved)],
    &[Rows::deleted("emergency_contact", "member_id = :id")],
)
.joins(&[stays("member_id", ITS_OWN)])];

row! {
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub(crate) struct Emergency {
        pub(crate) name: String,
        /// The telephone number as typed, not confirmed.
        pub(crate) phone: String,
    }
}

pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Emergency>> {
    tx.find(sql!("SELECT ", Emergency::COLUMNS, " FROM emergency_contacts WHERE member_id = ?1"), [member_id])
}

/// Sets the contact, in place of the earlier one.
pub(crate) fn set(tx: &Write, member_id: MemberId, contact: &Emergency) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO emergency_contacts" {
        member_id, name: &contact.name, phone: &contact.phone, updated_at: tx.now(),
    })
}

pub(crate) fn delete(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM emergency_contacts WHERE member_id = ?1"), [member_id])
}
