//! A member's sessions.

use crate::app::{self, Change, credentials};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::sessions::{self, Listed};
use serde::Serialize;

#[derive(Serialize)]
struct SessionReply {
    /// Identifies the session; not its token.
    session_id: String,
    /// The `user-agent` of the app or browser.
    device: String,
    created_at: i64,
    /// The last use, to within about an hour.
    seen_at: i64,
    /// The end, unless the session is used before.
    ends_at: i64,
    /// Whether this call has the session.
    this: bool,
}

/// `GET /account/profile/sessions`: the caller's sessions in force, newest first.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let now = site.now();
    site.store.read(|tx| {
        let listed = sessions::list_of_member(tx, member.id(), now)?.into_iter();
        Ok(reply::part(call, page, listed.map(|one| show(one, member)).collect()))
    })
}

/// `DELETE /account/profile/sessions/{session_id}`: ends one of the caller's sessions.
pub(crate) fn end(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change(site, member, call.mail_language(), |cx| credentials::end_session(cx, call.param(0)))?;
    Ok(reply::done(call.say("done.session_ended")))
}

/// `DELETE /account/profile/sessions`: ends every other session of the caller, and the tokens of bookings.
pub(crate) fn end_others(site: &Site, call: &Call, member: &Member) -> Answer {
    let end = |cx: &Change| credentials::end_sessions(cx, &cx.own()?, Some(member.session()));
    app::change(site, member, call.mail_language(), end)?;
    Ok(reply::done(call.say("done.sessions_ended")))
}

fn show(one: Listed, member: &Member) -> SessionReply {
    SessionReply {
        session_id: one.session_id(),
        this: one.token_hash == *member.session(),
        device: one.user_agent,
        created_at: one.created_at,
        seen_at: one.seen_at,
        ends_at: one.ends_at,
    }
}
