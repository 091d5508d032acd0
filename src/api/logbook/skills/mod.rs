//! Skill entries, safety briefs and trainings: requested, signed, refused or suspended.

mod ask;
mod create;
mod edit;
mod list;
mod row;

pub(crate) use create::{SkillNew, create};
pub(crate) use edit::{SkillEdit, edit};
pub(crate) use list::{events, list, list_all};
pub(crate) use row::row;

use crate::domain::entry::Status;
use serde::Serialize;

/// The answer to a change of an entry.
#[derive(Serialize)]
pub(crate) struct WrittenReply {
    status: bool,
    message: String,
    entry_id: i64,
    /// `pending`, `open` and so on.
    entry_status: &'static str,
}

impl WrittenReply {
    pub(crate) fn new(message: String, entry_id: i64, entry_status: Status) -> WrittenReply {
        WrittenReply { status: true, message, entry_id, entry_status: entry_status.name() }
    }
}
