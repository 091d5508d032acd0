//! An edit of a skill entry. The effect of the edit depends on the actor's relation to the entry.

use super::requests;
use super::rules::{self, Request};
use super::sign_offs::{self, SeenEntry};
use super::{actor_id, find_entry, no_change, record_for_other, relation};
use crate::app::{Change, events};
use crate::domain::entry::{self, Action, Status};
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::domain::signoff::Denial;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::tables::events::Event;
use crate::store::tables::skills::{self, SkillEntry};

/// The fields of an edit; `None` leaves a value as it is.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    /// Unix seconds.
    pub entry_date: Option<Moment>,
    pub minutes: Option<i64>,
    pub tunnel_id: Option<TunnelId>,
    pub comment: Option<String>,
    pub instructor_id: Option<MemberId>,
    pub skill: Option<String>,
    pub comments_instructor: Option<String>,
    pub comment_denial: Option<String>,
    pub status: Option<Status>,
    /// The version of the entry that the actor saw.
    pub version: Option<i64>,
}

/// Edits an entry. While the entry is unsigned, its holder may change values, ask again after a denial, or cancel. The
/// named signer may sign or deny. The desk and the admins may do what the holder may do, and sign by the rules for
/// every signer. Returns the new status.
pub(crate) fn edit(cx: &Change, entry_id: EntryId, patch: &Patch) -> Result<Status, Failure> {
    let entry = find_entry(cx.tx, cx.rank, entry_id, cx.now())?;
    let relation = relation(cx.rank, &entry);
    if relation.holder {
        by_holder(cx, &entry, patch)
    } else if relation.named {
        by_signer(cx, &entry, patch)
    } else if relation.staff {
        by_desk(cx, &entry, patch)
    } else {
        Err(no_change(true))
    }
}

impl Patch {
    /// The entry as the actor saw it.
    fn seen_entry(&self) -> SeenEntry {
        SeenEntry {
            version: self.version,
            skill: self.skill.clone(),
            entry_date: self.entry_date,
            minutes: self.minutes,
            tunnel_id: self.tunnel_id,
            comment: self.comment.clone(),
        }
    }
}

fn by_holder(cx: &Change, entry: &SkillEntry, patch: &Patch) -> Result<Status, Failure> {
    if patch.status == Some(Status::Cancelled) {
        return sign_offs::cancel(cx, entry);
    }
    if entry.status.is_signed() {
        return Err(Failure::entry_signed());
    }
    match patch.status {
        // The desk owns an opening balance, and no member signs for oneself.
        _ if entry.opening.is_some() => Err(sign_offs::opening_is_indivisible(cx, entry)),
        Some(Status::Open | Status::Suspended) => Err(sign_offs::refusal(Denial::Oneself)),
        _ => ask_again(cx, entry, patch),
    }
}

fn by_signer(cx: &Change, entry: &SkillEntry, patch: &Patch) -> Result<Status, Failure> {
    let seen = patch.seen_entry();
    if let Some(reason) = &patch.comment_denial {
        return sign_offs::deny(cx, entry, &seen, reason);
    }
    match (patch.status, &patch.comments_instructor) {
        (Some(Status::Denied), _) => Err(Failure::field("comment_denial", Text::new("field.missing"))),
        (Some(Status::Open), comment) => sign_offs::sign(cx, entry, &seen, comment.as_deref()),
        // A signer may neither suspend nor cancel, with or without a comment.
        (Some(Status::Suspended | Status::Cancelled), _) => {
            Err(Failure::field("status", Text::new("field.sign_or_deny")))
        }
        (_, Some(comment)) => sign_offs::sign(cx, entry, &seen, Some(comment)),
        _ => Err(Failure::field("status", Text::new("field.sign_or_deny"))),
    }
}

/// Edits on the member's behalf; a clerk who may sign does so by the rules for every signer.
fn by_desk(cx: &Change, entry: &SkillEntry, patch: &Patch) -> Result<Status, Failure> {
    match patch.status {
        // Only the named signer may deny.
        _ if patch.comment_denial.is_some() => Err(Failure::not_allowed()),
        Some(Status::Cancelled) => sign_offs::cancel(cx, entry),
        Some(Status::Open) if entry.status == Status::Pending => {
            sign_offs::sign(cx, entry, &patch.seen_entry(), patch.comments_instructor.as_deref())
        }
        _ if entry.status.is_signed() => Err(Failure::entry_signed()),
        _ if entry.opening.is_some() => Err(sign_offs::opening_is_indivisible(cx, entry)),
        _ => ask_again(cx, entry, patch),
    }
}

/// Changes the values, validated like a new entry; a denied entry waits for its signer again. 409 where the patch names a
/// state other than `pending` and the present one, which clients send back: no other state follows from an edit.
fn ask_again(cx: &Change, entry: &SkillEntry, patch: &Patch) -> Result<Status, Failure> {
    if patch.status.is_some_and(|wanted| wanted != Status::Pending && wanted != entry.status) {
        return Err(Failure::entry_state());
    }
    let to = match entry.status {
        Status::Pending => Status::Pending,
        from => entry::transition(Some(from), Action::Ask).ok_or_else(Failure::entry_state)?,
    };
    let request = Request {
        skill: patch.skill.clone().unwrap_or_else(|| entry.skill.clone()),
        entry_date: patch.entry_date.unwrap_or(entry.entry_date),
        minutes: patch.minutes.unwrap_or(entry.minutes),
        tunnel_id: patch.tunnel_id.unwrap_or(entry.tunnel_id),
        comment: patch.comment.clone().unwrap_or_else(|| entry.comment.clone()),
    };
    let instructor_id = patch.instructor_id.or(entry.instructor_id);
    let instructor_id = instructor_id.ok_or_else(|| Failure::field("instructor", Text::new("field.missing")))?;
    let edited = Some((entry.entry_id, entry.entry_date));
    let item = rules::check(cx.site, cx.tx, entry.member_id, &request, edited, Some(instructor_id), cx.now())?;
    let changed = requests::new(entry.member_id, entry.author_id, instructor_id, &request, &item);
    skills::update_request(cx.tx, entry.entry_id, &changed)?;
    record_for_other(cx, "entry.edited", entry.member_id, entry.entry_id)?;
    if to != entry.status {
        skills::set_status(cx.tx, entry, actor_id(cx)?, to)?;
    }
    let other_signer = Some(instructor_id) != entry.instructor_id;
    if other_signer && entry.status == Status::Pending {
        sign_offs::notify_former_signer(cx, entry)?;
        events::tell_of_entry(cx.tx, Event::EntryWithdrawn, entry)?;
    }
    events::tell_of_entry_now(cx.tx, Event::EntryRequested, entry.entry_id)?;
    if other_signer || to != entry.status {
        let asked = skills::find(cx.tx, entry.entry_id)?.ok_or_else(Failure::broken)?;
        sign_offs::notify_requested_signer(cx, &asked)?;
    }
    Ok(to)
}
