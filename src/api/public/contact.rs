//! The contact form.

use crate::auth::limits::Whose;
use crate::auth::{limits, member_if_any, message_quota};
use crate::domain::country;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Email, Line, Lines, Whole};
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::contact;
use crate::store::tables::outbox::{self, Channel};
use serde_json::json;

/// The mail's placeholder for an empty field.
const NOTHING: &str = "–";

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

/// `POST /public/contact`: stores a message for the desk, and forwards it by mail to the configured address. The answer does
/// not depend on `member_id`.
pub(crate) fn send(site: &Site, call: &Call) -> Answer {
    let ContactMessage { name, email, message, country, enquiry, member_id } = call.body()?;
    // Clients without a member send 0.
    let claimed = member_id.filter(|id| *id > 0);
    let caller = member_if_any(site, call)?.map(|member| member.id());
    let sent = contact::NewContactMessage {
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
    site.once(call, |tx| {
        contact::insert(tx, &sent)?;
        forward(site, tx, &sent, call.language())?;
        Ok(reply::done(call.say("done.contact")))
    })
}

/// The sender's member number, and whether it is proven.
fn describe_sender(sent: &contact::NewContactMessage, language: Language) -> String {
    let key = if sent.signed_in { "contact.member_signed_in" } else { "contact.member_claimed" };
    let shown = |member_id| language.say(&Text::new(key).with("member_id", member_id));
    sent.member_id.map_or_else(|| NOTHING.to_owned(), shown)
}

/// Queues the mail to the configured address, in the language of the message. The sender gets no mail, or the form could be
/// used to write to any address in the site's name. Above the daily limit no mail is sent; the desk has every message.
fn forward(site: &Site, tx: &Write, sent: &contact::NewContactMessage, language: Language) -> Result<(), Failure> {
    let Some(recipient) = &site.config.contact_to else { return Ok(()) };
    if !message_quota::take_for_site_address(site, tx, recipient)? {
        return Ok(());
    }
    let or_nothing = |text: &str| if text.is_empty() { NOTHING.to_owned() } else { text.to_owned() };
    let country = country::find(language, sent.country).map_or(sent.country, |country| country.name);
    let values = json!({
        "name": sent.name, "email": sent.email, "message": sent.message, "enquiry": or_nothing(sent.enquiry),
        "country": or_nothing(country), "member": describe_sender(sent, language),
    });
    let new = outbox::NewMessage {
        channel: Channel::Email,
        member_id: None,
        recipient,
        language: language.tag(),
        template: "contact",
        values: &values,
    };
    outbox::insert(tx, &site.keys, &new)?;
    Ok(())
}
