//! The mail provider's signature scheme (Mandrill's): `X-Mandrill-Signature` is base64 of HMAC-SHA1 over the webhook's URL
//! and each field's name and value, in the order of the names.

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::json;
use crate::i18n::language::Text;
use crate::site::Site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

const HEADER: &str = "x-mandrill-signature";
/// The field of the events, by either name.
const FIELDS: [&str; 2] = ["mail_events", "mandrill_events"];
/// The key that signs the empty batch by which a provider that cannot send HEAD tests the webhook.
const TRIAL_KEY: &str = "test-webhook";

/// Events with a right signature.
#[derive(Debug)]
pub struct MailEvents(String);

impl MailEvents {
    /// The events as received: a JSON array, unless the provider errs.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A body's events, and the texts of which one is signed after the URL.
#[derive(Debug, PartialEq)]
struct SignedEvents {
    events: String,
    signed: Vec<String>,
}

pub(crate) fn admit(site: &Site, call: &Call) -> Result<MailEvents, Failure> {
    let Some(key) = &site.config.callbacks.mail_key else { return trial(site, call) };
    let signature = presented(call).ok_or_else(|| Failure::bad_callback().because("no signature"))?;
    let post = SignedEvents::read(call)?;
    if post.is_signed(&url(site), key.reveal(), &signature) {
        return Ok(MailEvents(post.events));
    }
    Err(Failure::bad_callback().because("the signature is wrong; is callbacks.mail_url what the provider calls?"))
}

/// Before a key is configured, only the provider's test with an empty batch passes: the provider makes the key when the
/// webhook is registered, and tests the webhook before that.
fn trial(site: &Site, call: &Call) -> Result<MailEvents, Failure> {
    let post = presented(call).and_then(|signature| Some((SignedEvents::read(call).ok()?, signature)));
    let right = |(post, signature): &(SignedEvents, Vec<u8>)| {
        post.events.trim() == "[]" && post.is_signed(&url(site), TRIAL_KEY, signature)
    };
    post.filter(right).map(|(post, _)| MailEvents(post.events)).ok_or_else(Failure::not_configured)
}

fn url(site: &Site) -> String {
    site.config.mail_webhook_url(site.ports().public())
}

fn presented(call: &Call) -> Option<Vec<u8>> {
    STANDARD.decode(call.header(HEADER)?).ok()
}

impl SignedEvents {
    fn read(call: &Call) -> Result<SignedEvents, Failure> {
        match call.form()? {
            Some(pairs) => SignedEvents::of_form(pairs),
            None => {
                // The refusals of every body that is not a JSON object.
                call.fields()?;
                SignedEvents::of_json(&call.body)
            }
        }
    }

    fn of_form(mut pairs: Vec<(String, String)>) -> Result<SignedEvents, Failure> {
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        let signed = pairs.iter().map(|(name, value)| format!("{name}{value}")).collect();
        let events = FIELDS.iter().find_map(|field| pairs.iter().find(|(name, _)| name == field));
        match events.map(|(_, value)| value.clone()).filter(|value| !value.trim().is_empty()) {
            Some(events) => Ok(SignedEvents { events, signed: vec![signed] }),
            None => Err(missing()),
        }
    }

    /// A string may be signed by its value or by its JSON text, any other value by its JSON text. A repeated field is
    /// refused, because only one of the two would be the signed one.
    fn of_json(body: &[u8]) -> Result<SignedEvents, Failure> {
        if json::without_mark(body).iter().all(u8::is_ascii_whitespace) {
            return Err(missing());
        }
        let members = json::members(json::raw(body).map_err(|e| json::refusal(body, &e))?).unwrap_or_default();
        let named = |field: &&str| members.iter().filter(|(name, _)| name == field).count();
        if let Some(field) = FIELDS.iter().find(|field| named(field) > 1) {
            return Err(Failure::bad_json().saying(Text::new("bad_json.twice").with("field", field)));
        }
        let find = |field| members.iter().find(|(name, _)| name == field);
        let (field, raw) = FIELDS.iter().find_map(find).ok_or_else(missing)?;
        let text = json::text(raw);
        let events = text.clone().unwrap_or_else(|| raw.get().to_owned());
        if events.trim().is_empty() || events == "null" {
            return Err(missing());
        }
        let signed = text.as_deref().into_iter().chain([raw.get()]).map(|text| format!("{field}{text}")).collect();
        Ok(SignedEvents { events, signed })
    }

    /// Compares in constant time.
    fn is_signed(&self, url: &str, key: &str, signature: &[u8]) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
        let right = |text: &String| hmac::verify(&key, format!("{url}{text}").as_bytes(), signature).is_ok();
        self.signed.iter().any(right)
    }
}

fn missing() -> Failure {
    Failure::field(FIELDS[0], Text::new("field.missing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://tunnel.example.com/api/mail-webhook";

    fn form(pairs: &[(&str, &str)]) -> SignedEvents {
        SignedEvents::of_form(pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
            .unwrap()
    }

    fn passes(post: &SignedEvents, signature: &str) -> bool {
        post.is_signed(URL, TRIAL_KEY, &STANDARD.decode(signature).unwrap())
    }

    #[test]
    fn the_published_vectors_pass_as_a_form_and_as_json() {
        for (field, signature) in
            [("mandrill_events", "wIr6EOO9dispcyy7qAKa/4zkYuA="), ("mail_events", "z+91p8y/BOM/93DcI4WA28OmbH0=")]
        {
            assert!(passes(&form(&[(field, "[]")]), signature), "{field}");
            for value in ["[]", "\"[]\""] {
                let post = SignedEvents::of_json(format!("{{\"{field}\": {value}}}").as_bytes()).unwrap();
                assert!(passes(&post, signature) && post.events == "[]", "{post:?}");
            }
            assert!(!passes(&form(&[(field, "[ ]")]), signature));
            assert!(!passes(&form(&[(field, "[]"), ("more", "")]), signature), "every field is signed");
            assert!(!form(&[(field, "[]")]).is_signed("https://other.example/", TRIAL_KEY, &[0; 20]));
        }
    }

    #[test]
    fn fields_are_signed_in_the_order_of_their_names() {
        let post = form(&[("mail_events", "[1]"), ("B", "x"), ("a", "é")]);
        assert_eq!(post.signed, ["Bxaémail_events[1]"]);
    }

    #[test]
    fn a_body_without_events_is_refused() {
        for body in ["{}", "{\"mail_events\": null}", "{\"mail_events\": \" \"}", "", "{\"other\": []}"] {
            assert_eq!(SignedEvents::of_json(body.as_bytes()).unwrap_err().status(), 422, "{body}");
        }
        let twice = b"{\"mail_events\": [1], \"mail_events\": [2]}";
        assert_eq!(SignedEvents::of_json(twice).unwrap_err().status(), 400);
        assert!(SignedEvents::of_form(vec![]).is_err());
    }
}
