//! The PIN that books tunnel time.

use crate::app::{self, credentials};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde::Serialize;

#[derive(Serialize)]
struct PinReply {
    status: bool,
    message: String,
    /// Six digits.
    pin: String,
}

/// `POST /account/profile/booking-pin`: a new PIN, which replaces the old one.
pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let pin = app::change_once(site, call, member, |cx| credentials::renew_pin(cx, &cx.own()?))?;
    Ok(reply::created(&PinReply { status: true, message: call.say("done.pin"), pin }))
}
