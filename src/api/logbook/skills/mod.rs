//! Skill entries, safety briefs and trainings: requested, signed, refused or suspended.

mod ask;
mod create;
mod edit;
mod list;
mod row;

pub(crate) use create::{CREATE, SkillNew, create};
pub(crate) use edit::{EDIT, SkillEdit, edit};
pub(crate) use list::{EVENTS, LIST, LIST_ALL, events, list, list_all};
pub(crate) use row::{SkillList, row};

use crate::domain::entry::Status;
use crate::domain::ids::EntryId;
use crate::http::answer::True;

crate::answer! {
    pub(crate) struct SkillWritten {
        status: True,
        message: String = "Saved.",
        /// The entry.
        entry_id: EntryId = 6001,
        /// Its state afterwards.
        entry_status: &'static str ["pending", "open", "denied", "suspended", "cancelled"] = "pending",
    }
}

impl SkillWritten {
    pub(crate) fn new(message: String, entry_id: EntryId, entry_status: Status) -> SkillWritten {
        SkillWritten { status: true, message, entry_id, entry_status: entry_status.name() }
    }
}
