//! Confirming an e-mail address.

use crate::app::{self, RankedActor};
use crate::auth::confirmation::{self, Confirmed};
use crate::auth::limits;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::field_types::Line;
use crate::http::reply::{self, Done};
use crate::site::Site;
use serde_json::json;

crate::body! {
    pub(crate) struct EmailToken {
        /// The token out of the message.
        token: Line<128>,
    }
}

crate::operation! {
    /// Confirm an e-mail address
    ///
    /// By the token that was mailed to it. An invalid or expired token is **200** with `status: false`.
    VERIFY = "verifyEmail"
        .body(|| json!({ "token": "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U" }))
        .takes(&["MonitorUser"])
        .refuses(&["EmailTaken"])
        .answers::<Done>("Confirmed, or why not.")
        .example(|| json!({ "message": "Your e-mail address is confirmed." }))
}

pub(crate) fn verify(site: &Site, call: &Call) -> Answer {
    let confirmed = app::once(site, call, || {
        confirmation::check_rate(site, call)?;
        let EmailToken { token } = call.body()?;
        let stranger = RankedActor::stranger(call);
        app::change_once(site, call, stranger, |cx| confirmation::confirm(site, call, cx.tx, &token))
    })?;
    let (status, key) = match confirmed {
        Confirmed::Now => (true, "done.email_confirmed"),
        // A token works once; a second click reads that the address is confirmed.
        Confirmed::Before => (false, "confirmation.before"),
        Confirmed::Invalid => (false, "confirmation.not"),
    };
    Ok(reply::ok(&Done { status, message: call.say(key) }))
}

crate::operation! {
    /// Have a new confirmation token sent
    ///
    /// A new token for an old one. The answer is the same whether or not there was one.
    RESEND = "resendVerifyEmail"
        .body(|| json!({ "token": "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U" }))
        .takes(&["MonitorUser"])
        .answers::<Done>("Taken.")
        .example(|| json!({ "message": "If there is something to confirm, a new link is on its way." }))
}

pub(crate) fn resend(site: &Site, call: &Call) -> Answer {
    app::once(site, call, || {
        confirmation::check_rate(site, call)?;
        let EmailToken { token } = call.body()?;
        limits::MESSAGE_REQUESTS.take(site, call.network())?;
        let stranger = RankedActor::stranger(call);
        app::change_once(site, call, stranger, |cx| confirmation::resend(site, cx.tx, &token, cx.language))
    })?;
    Ok(reply::done(call.say("confirmation.sent")))
}
