//! A member's sessions.

use crate::app::{self, Change, credentials};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply::{self, Done};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::sessions::{self, Listed};
use serde_json::json;

crate::answer! {
    struct Session {
        /// Names the session without being its token.
        session_id: String = "9f86d081884c7d65",
        /// The app's or browser's name, from its `user-agent`.
        device: String = "Firefox",
        /// Signed in.
        created_at: Moment = 1780000000,
        /// Last used, to within an hour or so.
        seen_at: Moment = 1780000000,
        /// When it ends unless it is used.
        ends_at: Moment = 1782592000,
        /// Whether this call came by it.
        this: bool = true,
    }
}

crate::answer! {
    /// Sessions in force, newest first.
    struct SessionList = Vec<Session>;
}

crate::operation! {
    /// Where the member is signed in
    ///
    /// The session that asks is marked by `this`.
    LIST = "listSessions"
        .answers::<SessionList>("The sessions.")
}

pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let now = site.now();
    site.store.read(|tx| {
        let listed = sessions::list_of_member(tx, member.id(), now)?.into_iter();
        Ok(reply::part(call, page, listed.map(|one| show(one, member)).collect()))
    })
}

crate::operation! {
    /// End one session
    ///
    /// Its token is refused from then on. The session that asks may end itself.
    END = "endSession"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "That device is signed out." }))
}

pub(crate) fn end(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change(site, member, call.language(), |cx| credentials::end_session(cx, call.param(0)))?;
    Ok(reply::done(call.say("done.session_ended")))
}

crate::operation! {
    /// Sign out everywhere else
    ///
    /// Ends every session of the member but this one, and the tokens of bookings.
    END_OTHERS = "endOtherSessions"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Every other device is signed out." }))
}

pub(crate) fn end_others(site: &Site, call: &Call, member: &Member) -> Answer {
    let end = |cx: &Change| credentials::end_sessions(cx, &cx.own()?, Some(member.session()));
    app::change(site, member, call.language(), end)?;
    Ok(reply::done(call.say("done.sessions_ended")))
}

fn show(one: Listed, member: &Member) -> Session {
    Session {
        session_id: one.session_id(),
        this: one.token_hash == *member.session(),
        device: one.user_agent,
        created_at: one.created_at,
        seen_at: one.seen_at,
        ends_at: one.ends_at,
    }
}
