//! Sign-offs of entries (ours): the requests that wait for a signer, and one operation for each event.

use super::skills::{WrittenReply, row};
use crate::app::logbook::sign_offs::{self, SeenEntry};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::app::{self, Change};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Id, Lines};
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::skills::{self, SkillEntry};
use serde::Serialize;

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

/// The form that existing clients read.
#[derive(Serialize)]
struct CountReply {
    count: i64,
}

/// `GET /account/logbook/requests`: the entries that wait for the caller's signature, newest first.
pub(crate) fn requests(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let waiting = skills::list_waiting(tx, member.id(), page.limit, page.offset)?;
        let rows = waiting.into_iter().map(|entry| row(site.catalogue, entry, &[]));
        Ok(reply::list(call, page, skills::count_waiting(tx, member.id())?, rows))
    })
}

/// `GET /account/notifications/requests`: how many entries wait for the caller's signature.
pub(crate) fn count_requests(site: &Site, _: &Call, member: &Member) -> Answer {
    let count = site.store.read(|tx| Ok(skills::count_waiting(tx, member.id())?))?;
    Ok(reply::ok(&CountReply { count }))
}

/// `POST /account/logbook/entries/{entry_id}/sign`: by any member who may sign it, not only the named signer.
pub(crate) fn sign(site: &Site, call: &Call, member: &Member) -> Answer {
    let Signature { comments_instructor: comment, version } = call.body()?;
    let shown = SeenEntry::version(version);
    carry_out(site, call, member, |cx, entry| sign_offs::sign(cx, entry, &shown, comment.as_deref()))
}

/// `POST /account/logbook/entries/{entry_id}/deny`: by the named signer, with the reason.
pub(crate) fn deny(site: &Site, call: &Call, member: &Member) -> Answer {
    let Denial { comment_denial: reason, version } = call.body()?;
    let shown = SeenEntry::version(version);
    carry_out(site, call, member, |cx, entry| sign_offs::deny(cx, entry, &shown, &reason))
}

/// `POST /account/logbook/entries/{entry_id}/suspend`: by an admin.
pub(crate) fn suspend(site: &Site, call: &Call, member: &Member) -> Answer {
    carry_out(site, call, member, sign_offs::suspend)
}

/// `POST /account/logbook/entries/{entry_id}/reinstate`: by an admin.
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
    Ok(reply::ok(&WrittenReply::new(call.say("done.saved"), entry_id, status)))
}
