//! The mail provider's scheme (Mandrill's): `X-Mandrill-Signature`, base64 of HMAC-SHA1 over the address that it calls
//! and each field's name and value, in the names' order.

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::site::Site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde::Deserialize;
use serde_json::value::RawValue;

const HEADER: &str = "x-mandrill-signature";
/// By either name.
const FIELDS: [&str; 2] = ["mail_events", "mandrill_events"];
/// The key of the empty batch by which a provider that cannot send HEAD tests the address.
const TRIAL_KEY: &str = "test-webhook";

/// Events whose signature was right.
#[derive(Debug)]
pub struct MailEvents(String);

impl MailEvents {
    /// The events; should be a JSON array.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A body's events, and what may be signed of it after the address.
#[derive(Debug, PartialEq)]
struct Post {
    events: String,
    signed: Vec<String>,
}

pub(crate) fn admit(site: &Site, call: &Call) -> Result<MailEvents, Failure> {
    let Some(key) = &site.config.callbacks.mail_key else { return trial(site, call) };
    let signature = presented(call).ok_or_else(|| Failure::bad_callback().because("no signature"))?;
    let post = Post::read(call)?;
    if post.is_signed(&url(site), key.reveal(), &signature) {
        return Ok(MailEvents(post.events));
    }
    Err(Failure::bad_callback().because("the signature is wrong; is callbacks.mail_url what the provider calls?"))
}

/// Before a key is configured: the provider makes it when the webhook is registered, and tries the webhook before that.
fn trial(site: &Site, call: &Call) -> Result<MailEvents, Failure> {
    let post = presented(call).and_then(|signature| Some((Post::read(call).ok()?, signature)));
    let right = |(post, signature): &(Post, Vec<u8>)| {
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

/// The JSON variant; an unknown field is ignored, and one that comes twice is not JSON that we read.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    mail_events: Option<&'a RawValue>,
    #[serde(borrow)]
    mandrill_events: Option<&'a RawValue>,
}

impl Post {
    fn read(call: &Call) -> Result<Post, Failure> {
        match call.form()? {
            Some(pairs) => Post::of_form(pairs),
            None => {
                // The refusals of every body that is not a JSON object.
                call.fields()?;
                Post::of_json(&call.body)
            }
        }
    }

    fn of_form(mut pairs: Vec<(String, String)>) -> Result<Post, Failure> {
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        let signed = pairs.iter().map(|(name, value)| format!("{name}{value}")).collect();
        let events = FIELDS.iter().find_map(|field| pairs.iter().find(|(name, _)| name == field));
        match events.map(|(_, value)| value.clone()).filter(|value| !value.trim().is_empty()) {
            Some(events) => Ok(Post { events, signed: vec![signed] }),
            None => Err(missing()),
        }
    }

    /// A text is signed as it reads or as it stands in the body, anything else as it stands.
    fn of_json(body: &[u8]) -> Result<Post, Failure> {
        let body = fields::without_mark(body);
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(missing());
        }
        let body: Body = serde_json::from_slice(body).map_err(|e| Failure::bad_json().because(e))?;
        let given = FIELDS.into_iter().zip([body.mail_events, body.mandrill_events]);
        let (field, raw) = given.filter_map(|(field, raw)| Some((field, raw?.get()))).next().ok_or_else(missing)?;
        let text: Option<String> = serde_json::from_str(raw).ok();
        let events = text.clone().unwrap_or_else(|| raw.to_owned());
        if events.trim().is_empty() || events == "null" {
            return Err(missing());
        }
        let signed = text.as_deref().into_iter().chain([raw]).map(|text| format!("{field}{text}")).collect();
        Ok(Post { events, signed })
    }

    /// In constant time.
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

    fn form(pairs: &[(&str, &str)]) -> Post {
        Post::of_form(pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()).unwrap()
    }

    fn passes(post: &Post, signature: &str) -> bool {
        post.is_signed(URL, TRIAL_KEY, &STANDARD.decode(signature).unwrap())
    }

    #[test]
    fn the_published_vectors_pass_as_a_form_and_as_json() {
        for (field, signature) in
            [("mandrill_events", "wIr6EOO9dispcyy7qAKa/4zkYuA="), ("mail_events", "z+91p8y/BOM/93DcI4WA28OmbH0=")]
        {
            assert!(passes(&form(&[(field, "[]")]), signature), "{field}");
            for value in ["[]", "\"[]\""] {
                let post = Post::of_json(format!("{{\"{field}\": {value}}}").as_bytes()).unwrap();
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
            assert_eq!(Post::of_json(body.as_bytes()).unwrap_err().status(), 422, "{body}");
        }
        let twice = b"{\"mail_events\": [1], \"mail_events\": [2]}";
        assert_eq!(Post::of_json(twice).unwrap_err().status(), 400);
        assert!(Post::of_form(vec![]).is_err());
    }
}
