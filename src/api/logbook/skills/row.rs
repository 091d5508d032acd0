//! A row of the lists of skills.

use crate::domain::catalogue::Catalogue;
use crate::domain::entry;
use crate::domain::ids::{EntryId, MemberId};
use crate::http::field_types::Id;
use crate::moment::Moment;
use crate::store::tables::skills;

crate::answer! {
    /// A skill, or a safety brief or training, of a member.
    pub(crate) struct SkillEntry {
        /// The same as `entry_id`.
        id: EntryId = 6001,
        entry_id: EntryId = 6001,
        /// Whose entry.
        member_id: MemberId = 1204,
        member_name: String = "Jane",
        /// `time`: the flight time of an opening balance.
        kind: &'static str ["skill", "safety", "time"] = "skill",
        /// `pending` waits for the signer; `open` is signed and counts; `not_current` is open while the programme's
        /// currency has lapsed; `denied` was refused with `comment_denial`; `suspended` was paused by an admin;
        /// `cancelled` was withdrawn.
        status: &'static str ["pending", "open", "denied", "not_current", "suspended", "cancelled"] = "open",
        /// The programme.
        cat_group: String = "Flyer",
        /// The level, as text; empty for safety.
        cat_id: String = "3",
        cat_name: String = "Static Level 3",
        /// The skill's number, as text.
        skill: String = "11301",
        skill_name: String = "Neutral sit position",
        /// The signer's number, as text.
        instructor: String = "17",
        instructor_name: String = "Mark Vogt",
        /// The tunnel's number, as text.
        tunnel: String = "1",
        tunnel_name: String = "Windwerk",
        /// When it was flown.
        entry_date: Moment = 1779913600,
        /// When it was signed; null until then.
        approval_date: Option<Moment> = 1780000000,
        /// The member who entered it.
        author_id: MemberId = 1204,
        comment: String = "",
        comments_instructor: String = "Clean.",
        comment_denial: String = "",
        /// Minutes, as text.
        time: String { "pattern": "^[0-9]+$" } = "10",
        /// Whether it is part of an opening balance.
        opening: bool = false,
        /// Grows with every change; a signature or a refusal carries the one that the signer saw.
        version: Id = 1,
        /// When it was entered.
        created_at: Moment = 1779913700,
    }
}

/// `lapsed`: the programmes whose open skills show as `not_current`.
pub(crate) fn row(catalogue: &Catalogue, entry: skills::SkillEntry, lapsed: &[&str]) -> SkillEntry {
    let (cat_name, skill_name) = catalogue.names(&entry.cat_group, &entry.cat_id, &entry.skill);
    let status = entry::displayed_status(entry.kind, &entry.cat_group, entry.status, lapsed);
    SkillEntry {
        id: entry.entry_id,
        entry_id: entry.entry_id,
        member_id: entry.member_id,
        member_name: entry.member_name,
        kind: entry.kind.name(),
        status,
        cat_group: entry.cat_group,
        cat_id: entry.cat_id,
        cat_name,
        skill: entry.skill,
        skill_name,
        instructor: entry.instructor_id.map(|id| id.to_string()).unwrap_or_default(),
        instructor_name: entry.instructor_name,
        tunnel: entry.tunnel_id.to_string(),
        tunnel_name: entry.tunnel_name,
        entry_date: entry.entry_date,
        approval_date: entry.approval_date,
        author_id: entry.author_id,
        comment: entry.comment,
        comments_instructor: entry.comments_instructor,
        comment_denial: entry.comment_denial,
        time: entry.minutes.to_string(),
        opening: entry.opening.is_some(),
        version: entry.version,
        created_at: entry.created_at,
    }
}

crate::answer! {
    /// Entries, newest first.
    pub(crate) struct SkillList = Vec<SkillEntry>;
}
