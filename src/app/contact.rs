//! The contact form: a message for the desk, which is also forwarded by mail.

use super::Change;
use crate::auth::limits::messages;
use crate::domain::country;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::store::tables::contact::{self, NewContactMessage};
use crate::store::tables::outbox::{self, Channel};
use serde_json::json;

/// The mail's placeholder for an empty field.
const NOTHING: &str = "–";

/// Stores a message for the desk, and forwards it to the configured address in its language.
pub(crate) fn receive(cx: &Change, sent: &NewContactMessage, language: Language) -> Result<(), Failure> {
    contact::insert(cx.tx, sent)?;
    forward(cx, sent, language)
}

/// The sender's member number, and whether it is proven.
fn describe_sender(sent: &NewContactMessage, language: Language) -> String {
    let key = if sent.signed_in { "contact.member_signed_in" } else { "contact.member_claimed" };
    let shown = |member_id| language.say(&Text::new(key).with("member_id", member_id));
    sent.member_id.map_or_else(|| NOTHING.to_owned(), shown)
}

/// Queues the mail to the configured address, in the language of the message. The sender gets no mail, or the form could be
/// used to write to any address in the site's name. Above the daily limit no mail is sent; the desk has every message.
fn forward(cx: &Change, sent: &NewContactMessage, language: Language) -> Result<(), Failure> {
    let Some(recipient) = &cx.site.config.contact_to else { return Ok(()) };
    if !messages::take_for_site_address(cx.site, cx.tx, recipient)? {
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
    outbox::insert(cx.tx, &cx.site.keys, &new)?;
    Ok(())
}
