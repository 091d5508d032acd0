//! A row of the lists of skills.

use crate::domain::catalogue::Catalogue;
use crate::domain::entry;
use crate::store::tables::skills::SkillEntry;
use serde::Serialize;

/// A row in the contract's types for a new entry: ids are text, and so is `time` (minutes).
#[derive(Serialize)]
pub(crate) struct Row {
    id: i64,
    entry_id: i64,
    member_id: i64,
    member_name: String,
    /// `skill`, `safety`, or `time` for the flight time of an opening balance.
    kind: &'static str,
    status: &'static str,
    /// The programme.
    cat_group: String,
    /// The level's number; empty for safety.
    cat_id: String,
    cat_name: String,
    skill: String,
    skill_name: String,
    instructor: String,
    instructor_name: String,
    tunnel: String,
    tunnel_name: String,
    entry_date: i64,
    /// The moment of the signature; null without one.
    approval_date: Option<i64>,
    author_id: i64,
    comment: String,
    comments_instructor: String,
    comment_denial: String,
    time: String,
    /// Whether the entry is part of an opening balance.
    opening: bool,
    /// The version that a signature of this state must name.
    version: i64,
    created_at: i64,
}

/// `lapsed`: the programmes whose open skills show as `not_current`.
pub(crate) fn row(catalogue: &Catalogue, entry: SkillEntry, lapsed: &[&str]) -> Row {
    let (cat_name, skill_name) = catalogue.names(&entry.cat_group, &entry.cat_id, &entry.skill);
    let status = entry::displayed_status(entry.kind, &entry.cat_group, entry.status, lapsed);
    Row {
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
