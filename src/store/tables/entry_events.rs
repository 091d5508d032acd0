//! The history of skill and safety entries: who changed the state, when, from what, to what. Rows are only added.

use crate::domain::entry::Status;
use crate::domain::ids::{EntryId, MemberId};
use crate::moment::Moment;
use crate::store::joining::{AS_IT_WAS, stays};
use crate::store::personal::{NUMBERS, OUR_WORD, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "entry_events",
    "",
    &[not_personal("from_status", OUR_WORD), not_personal("to_status", OUR_WORD)],
    &[Rows::kept("entry_events", "member_id = :id", NUMBERS)],
)
.joins(&[stays("member_id", AS_IT_WAS)])];

row! {
    #[derive(Debug)]
    pub(crate) struct EntryEvent in "v." {
        pub step: i64,
        pub at: Moment,
        /// The actor.
        pub member_id: MemberId,
        /// The actor's name; empty where the account is gone.
        pub name: String = "coalesce(m.screen_name, '')",
        /// The state before; `None`: the entry was created.
        pub from: Option<String> = "v.from_status",
        pub to: String = "v.to_status",
    }
}

/// The state after an event. The events of a deleted entry stay.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EntryState {
    Status(Status),
    Deleted,
}

pub(crate) fn insert(
    tx: &Write,
    entry_id: EntryId,
    member_id: MemberId,
    from: Option<Status>,
    to: EntryState,
) -> Result<usize> {
    let to = match to {
        EntryState::Status(status) => status.name(),
        EntryState::Deleted => "deleted",
    };
    let sql = sql!("INSERT INTO entry_events (entry_id, step, at, member_id, from_status, to_status)
               VALUES (:entry_id, 1 + coalesce((SELECT max(step) FROM entry_events WHERE entry_id = :entry_id), 0), :now, :member_id, :from, :to)");
    tx.run(
        sql,
        named_params! {":entry_id": entry_id, ":now": tx.now(), ":member_id": member_id, ":from": from.map(Status::name),
        ":to": to},
    )
}

/// The events of an entry, oldest first.
pub(crate) fn list(tx: &Read, entry_id: EntryId) -> Result<Vec<EntryEvent>> {
    let sql = sql!(
        "SELECT ",
        EntryEvent::COLUMNS,
        " FROM entry_events v LEFT JOIN members m ON m.member_id = v.member_id WHERE v.entry_id = ?1 ORDER BY v.step"
    );
    tx.list(sql, [entry_id])
}
