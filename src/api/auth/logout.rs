//! Signing out.

use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::sessions;

/// `POST /auth/logout`: ends the session that the call came by.
pub(crate) fn end(site: &Site, call: &Call, member: &Member) -> Answer {
    site.once(call, |tx| {
        sessions::delete(tx, member.session())?;
        Ok(reply::done(call.say("done.signed_out")))
    })
}
