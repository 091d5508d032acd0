//! Sign-offs of entries (ours): the requests that wait for a signer, and one operation for each event.

use super::skills::{SkillList, SkillWritten, row};
use crate::app::logbook::sign_offs::{self, SeenEntry};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::app::{self, Change};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Count, Id, Lines};
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::skills::{self, SkillEntry};
use serde_json::json;

crate::body! {
    pub(crate) struct Signature {
        comments_instructor: Option<Lines<COMMENT_CHARS_MAX>>,
        /// The entry's `version` that the signer saw; 409 if it has changed. Without it the entry must be the same as when the
        /// signature was requested.
        version: Option<Id>,
    }
}

crate::body! {
    pub(crate) struct Denial {
        comment_denial: Lines<COMMENT_CHARS_MAX>,
        /// The entry's `version` that the signer saw; 409 if it has changed. Without it the entry is refused as it is now.
        version: Option<Id>,
    }
}

crate::answer! {
    inline struct CountReply {
        count: Count = 2,
    }
}

crate::operation! {
    /// Entries that wait for the caller's signature
    ///
    /// Newest first.
    REQUESTS = "listRequests"
        .answers::<SkillList>("The entries.")
        .example(|| json!([{ "status": "pending", "approval_date": null }]))
}

pub(crate) fn requests(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let waiting = skills::list_waiting(tx, member.id(), page.limit, page.offset)?;
        let rows = waiting.into_iter().map(|entry| row(site.catalogue, entry, &[]));
        Ok(reply::list(call, page, skills::count_waiting(tx, member.id())?, rows))
    })
}

crate::operation! {
    /// How many entries wait for the caller's signature
    ///
    /// 0 for whoever signs nothing.
    COUNT_REQUESTS = "countRequests"
        .answers::<CountReply>("The number.")
}

pub(crate) fn count_requests(site: &Site, _: &Call, member: &Member) -> Answer {
    let count = site.store.read(|tx| Ok(skills::count_waiting(tx, member.id())?))?;
    Ok(reply::ok(&CountReply { count }))
}

crate::operation! {
    /// Sign an entry
    ///
    /// By any member who may sign it, not only the named signer. An opening balance is signed as a whole.
    SIGN = "signEntry"
        .body(|| json!({ "comments_instructor": "Clean.", "version": 1 }))
        .refuses(&["EntryConflict"])
        .answers::<SkillWritten>("It is signed.")
        .example(|| json!({ "entry_status": "open" }))
}

pub(crate) fn sign(site: &Site, call: &Call, member: &Member) -> Answer {
    let Signature { comments_instructor: comment, version } = call.body()?;
    let shown = SeenEntry::version(version);
    carry_out(site, call, member, |cx, entry| sign_offs::sign(cx, entry, &shown, comment.as_deref()))
}

crate::operation! {
    /// Refuse an entry
    ///
    /// By the named signer, with the reason.
    DENY = "denyEntry"
        .body(|| json!({ "comment_denial": "Knees first, then once more." }))
        .refuses(&["EntryConflict"])
        .answers::<SkillWritten>("It is refused.")
        .example(|| json!({ "entry_status": "denied" }))
}

pub(crate) fn deny(site: &Site, call: &Call, member: &Member) -> Answer {
    let Denial { comment_denial: reason, version } = call.body()?;
    let shown = SeenEntry::version(version);
    carry_out(site, call, member, |cx, entry| sign_offs::deny(cx, entry, &shown, &reason))
}

crate::operation! {
    /// Suspend a signed entry
    ///
    /// By an admin.
    SUSPEND = "suspendEntry"
        .refuses(&["EntryConflict"])
        .answers::<SkillWritten>("It is suspended.")
        .example(|| json!({ "entry_status": "suspended" }))
        .also(|| json!({
            "requestBody": { "json": { "schema": { "type": "object", "properties": {} }, "example": {} } },
        }))
}

pub(crate) fn suspend(site: &Site, call: &Call, member: &Member) -> Answer {
    carry_out(site, call, member, sign_offs::suspend)
}

crate::operation! {
    /// Put a suspended entry in force again
    ///
    /// By an admin.
    REINSTATE = "reinstateEntry"
        .refuses(&["EntryConflict"])
        .answers::<SkillWritten>("It is in force.")
        .example(|| json!({ "entry_status": "open" }))
        .also(|| json!({
            "requestBody": { "json": { "schema": { "type": "object", "properties": {} }, "example": {} } },
        }))
}

pub(crate) fn reinstate(site: &Site, call: &Call, member: &Member) -> Answer {
    carry_out(site, call, member, sign_offs::reinstate)
}

fn carry_out(
    site: &Site,
    call: &Call,
    member: &Member,
    effect: impl FnOnce(&Change, &SkillEntry) -> Result<Status, Failure>,
) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let status = app::change_once(site, call, member, |cx| {
        let entry = logbook::find_entry(cx.tx, cx.rank, entry_id, cx.now())?;
        effect(cx, &entry)
    })?;
    Ok(reply::ok(&SkillWritten::new(call.say("done.saved"), entry_id, status)))
}
