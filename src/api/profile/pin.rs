//! The PIN that books tunnel time.

use crate::app::{self, credentials};
use crate::auth::Member;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;

crate::answer! {
    struct Pin {
        status: True,
        message: String = "Your new booking PIN. The old one no longer works.",
        /// Six digits.
        pin: String { "pattern": "^[0-9]{6}$" } = "481516",
    }
}

crate::operation! {
    /// Make a booking PIN
    ///
    /// A new PIN for `generate-token`, which replaces the old one and is shown once. No body.
    CREATE = "bookingPin"
        .creates::<Pin>("The new PIN.")
}

pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let pin = app::change_once(site, call, member, |cx| {
        // A change of the password ends the PIN.
        call.shows_credentials_of(member.id());
        credentials::renew_pin(cx, &cx.own()?)
    })?;
    Ok(reply::created(&Pin { status: true, message: call.say("done.pin"), pin }))
}
