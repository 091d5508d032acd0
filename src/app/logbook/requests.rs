//! A new skill entry: requested by its holder, or recorded by a signer.

use super::rules::{self, Item, Request};
use super::{actor_id, record, sign_offs};
use crate::app::{Change, events};
use crate::domain::ids::{EntryId, MemberId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::events::Event;
use crate::store::tables::skills::{self, NewEntry};
use crate::store::tables::{joins, members, signers};

/// Requests a signature in the actor's logbook from the named signer, who is notified. Returns the number of the entry.
pub(crate) fn ask(cx: &Change, request: &Request, instructor_id: Option<MemberId>) -> Result<EntryId, Failure> {
    let member_id = actor_id(cx)?;
    let item = rules::check(cx.site, cx.tx, member_id, request, None, instructor_id, cx.now())?;
    let instructor_id = instructor_id.ok_or_else(Failure::invalid_fields)?;
    rules::check_room(&members::find_holder(cx.tx, member_id)?)?;
    let entry_id = skills::insert(cx.tx, &new(member_id, member_id, instructor_id, request, &item))?;
    let entry = skills::find(cx.tx, entry_id)?.ok_or_else(Failure::broken)?;
    sign_offs::notify_requested_signer(cx, &entry)?;
    events::tell_of_entry(cx.tx, Event::EntryRequested, &entry)?;
    Ok(entry_id)
}

/// Records a skill that the actor saw another member perform; the entry is signed. Audited; the member is notified. An actor
/// who may not sign the skill learns nothing about the member. Returns the number of the entry.
pub(crate) fn record_seen(
    cx: &Change,
    holder_id: MemberId,
    request: &Request,
    instructor_id: Option<MemberId>,
    comments_instructor: &str,
) -> Result<EntryId, Failure> {
    let signer_id = actor_id(cx)?;
    let holder_id = joins::survivor_of(cx.tx, holder_id)?;
    let unknown = || Failure::field("skill", Text::new("field.unknown_skill"));
    let level = rules::find_item(cx.site, &request.skill).ok_or_else(unknown)?.level;
    let tunnel_id = request.tunnel_id;
    let authority = signers::find_authority(cx.tx, cx.site.catalogue, signer_id, holder_id, level, tunnel_id, cx.now());
    let authority = authority.map_err(|stop| stop.into_failure(sign_offs::refusal))?;
    if instructor_id.is_some_and(|id| id != signer_id) {
        return Err(Failure::field("instructor", Text::new("field.recorded_by_oneself")));
    }
    if !members::exists(cx.tx, holder_id)? {
        return Err(Failure::field("member_id", Text::new("field.unknown_member")));
    }
    let item = rules::check(cx.site, cx.tx, holder_id, request, None, None, cx.now())?;
    sign_offs::check_holder(cx.tx, holder_id)?;
    rules::check_room(&members::find_holder(cx.tx, holder_id)?)?;
    let new = new(holder_id, signer_id, signer_id, request, &item);
    let entry_id = skills::insert_signed(cx.tx, &new, &authority, comments_instructor)?;
    let entry = skills::find(cx.tx, entry_id)?.ok_or_else(Failure::broken)?;
    sign_offs::apply(cx, &entry, "notice.signed")?;
    events::tell_of_entry(cx.tx, Event::EntrySigned, &entry)?;
    record(cx, "entry.signed", holder_id, entry_id)?;
    Ok(entry_id)
}

/// The row of a new entry, from a request and its checked item.
pub(super) fn new<'a>(
    member_id: MemberId,
    author_id: MemberId,
    instructor_id: MemberId,
    request: &'a Request,
    item: &Item,
) -> NewEntry<'a> {
    NewEntry {
        member_id,
        kind: item.kind,
        author_id,
        cat_group: item.cat_group,
        cat_id: item.cat_id,
        skill: &request.skill,
        entry_date: request.entry_date,
        minutes: request.minutes,
        tunnel_id: request.tunnel_id,
        comment: &request.comment,
        instructor_id,
        opening: None,
    }
}
