//! Signing out.

use crate::app::{self, credentials};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;

/// `POST /auth/logout`: ends the session that the call came by.
pub(crate) fn end(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change_once(site, call, member, |cx| credentials::sign_out(cx, member.session()))?;
    Ok(reply::done(call.say("done.signed_out")))
}
