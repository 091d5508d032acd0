//! The contact form.

use crate::auth::RateLimiter;
use crate::auth::{RateLimit, RateLimitKey, member_if_any, message_quota};
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

/// From everywhere: each waits a year for the desk.
const CONTACTS_PER_DAY: i64 = 1_000;
/// Stands in the mail for what was not said.
const NOTHING: &str = "–";

// Not shown in the contract: which fields are required. Those without which nobody could answer.
crate::body! {
    pub(crate) struct ContactMessage {
        name: Line<100>,
        email: Email,
        message: Lines<5_000>,
        country: Option<Line<60>>,
        enquiry: Option<Line<100>>,
        /// Who writes; 0 is nobody.
        member_id: Option<Whole>,
    }
}

/// A message, judged.
struct Form {
    name: String,
    email: String,
    message: String,
    country: String,
    enquiry: String,
    member_id: Option<i64>,
    signed_in: bool,
}

/// `POST /public/contact`: a message for the people of the site. It is kept for the desk and passed on by mail to
/// whoever is configured; the answer is the same whosever number `member_id` is.
pub(crate) fn send(site: &Site, call: &Call) -> Answer {
    let form = Form::read(site, call)?;
    let limit = RateLimit::per_hour(site.config.limits.contacts_per_hour_per_address);
    site.state::<RateLimiter>().take(RateLimitKey::ContactFrom(call.network()), limit)?;
    site.state::<RateLimiter>()
        .take(RateLimitKey::Contacts, RateLimit::per_day(CONTACTS_PER_DAY.max(limit.requests)))?;
    site.once(call, |tx| {
        contact::insert(tx, &form.as_new(call.language()))?;
        pass_on(site, tx, &form, call.language())?;
        Ok(reply::done(call.say("done.contact")))
    })
}

impl Form {
    fn read(site: &Site, call: &Call) -> Result<Form, Failure> {
        let ContactMessage { name, email, message, country, enquiry, member_id } = call.body()?;
        // Clients without a member say 0.
        let given = member_id.filter(|id| *id > 0);
        let caller = member_if_any(site, call)?.map(|member| member.id());
        Ok(Form {
            name,
            email,
            message,
            country: country.unwrap_or_default(),
            enquiry: enquiry.unwrap_or_default(),
            member_id: given.or(caller),
            signed_in: caller.is_some() && given.or(caller) == caller,
        })
    }

    fn as_new(&self, language: Language) -> contact::NewContactMessage<'_> {
        contact::NewContactMessage {
            name: &self.name,
            email: &self.email,
            country: &self.country,
            enquiry: &self.enquiry,
            message: &self.message,
            language: language.tag(),
            member_id: self.member_id,
            signed_in: self.signed_in,
        }
    }

    /// Who the sender says to be, and whether that is proven.
    fn member(&self, language: Language) -> String {
        let key = if self.signed_in { "contact.member_signed_in" } else { "contact.member_claimed" };
        let said = |member_id| language.say(&Text::new(key).with("member_id", member_id));
        self.member_id.map_or_else(|| NOTHING.to_owned(), said)
    }
}

/// Queues the mail to whoever is configured, in the language of the message. Nothing goes to the sender: the form would
/// be a way to write to anybody in the site's name. Beyond a share of mails a day nothing goes; the desk has every message.
fn pass_on(site: &Site, tx: &Write, form: &Form, language: Language) -> Result<(), Failure> {
    let Some(recipient) = &site.config.contact_to else { return Ok(()) };
    if !message_quota::take_for_site_address(site, tx, recipient)? {
        return Ok(());
    }
    let or_nothing = |text: &str| if text.is_empty() { NOTHING.to_owned() } else { text.to_owned() };
    let country = country::find(language, &form.country).map_or(&*form.country, |country| country.name);
    let values = json!({
        "name": form.name, "email": form.email, "message": form.message, "enquiry": or_nothing(&form.enquiry),
        "country": or_nothing(country), "member": form.member(language),
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
