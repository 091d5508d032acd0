//! The contact form.

use crate::app::{self, RankedActor, contact};
use crate::auth::limits::Whose;
use crate::auth::{limits, member_if_any};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Email, Line, Lines, Whole};
use crate::http::reply::{self, Done};
use crate::site::Site;
use crate::store::tables::contact::NewContactMessage;
use serde_json::json;

// Not shown in the contract: the required fields. Here, those that an answer needs.
crate::body! {
    pub(crate) struct ContactMessage {
        name: Line<100>,
        email: Email,
        message: Lines<5_000>,
        country: Option<Line<60>>,
        enquiry: Option<Line<100>>,
        /// The sender; 0 counts as absent.
        member_id: Option<Whole>,
    }
}

crate::operation! {
    /// Write to the people of the site
    ///
    /// Stored for the desk, and forwarded by mail to the configured address. The rate is limited by address.
    SEND = "contact"
        .body(|| json!({
            "name": "Jane Doe", "email": "jane@example.com", "message": "Do you open on Sundays?",
            "country": "Switzerland", "enquiry": "opening hours", "member_id": 1204,
        }))
        .takes(&["TildeAcceptLanguage"])
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Thank you. We have your message." }))
}

pub(crate) fn send(site: &Site, call: &Call) -> Answer {
    app::once(site, call, || receive(site, call))?;
    Ok(reply::done(call.say("done.contact")))
}

fn receive(site: &Site, call: &Call) -> Result<(), Failure> {
    let ContactMessage { name, email, message, country, enquiry, member_id } = call.body()?;
    // Clients without a member send 0.
    let claimed = member_id.filter(|id| *id > 0).map(MemberId);
    let caller = member_if_any(site, call)?.map(|member| member.id());
    let sent = NewContactMessage {
        name: &name,
        email: &email,
        country: country.as_deref().unwrap_or_default(),
        enquiry: enquiry.as_deref().unwrap_or_default(),
        message: &message,
        language: call.language().tag(),
        member_id: claimed.or(caller),
        signed_in: caller.is_some() && claimed.or(caller) == caller,
    };
    limits::CONTACTS.take(site, call.network())?;
    limits::ALL_CONTACTS.take(site, Whose::All)?;
    app::change_once(site, call, RankedActor::stranger(call), |cx| contact::receive(cx, &sent, call.language()))
}
