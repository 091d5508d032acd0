//! Signing out.

use crate::app::{self, credentials};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply::{self, Done};
use crate::site::Site;
use serde_json::json;

crate::operation! {
    /// Sign out
    ///
    /// Ends the session of this call.
    END = "logout"
        .paced(false)
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Signed out." }))
}

pub(crate) fn end(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change_once(site, call, member, |cx| credentials::sign_out(cx, member.session()))?;
    Ok(reply::done(call.say("done.signed_out")))
}
