//! Third parties that send callbacks, with the tests' own keys and signatures.

use super::Site;
use super::caller::{Caller, Credential, hmac_sha256, sign};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use tunneldesk::config::{Config, Mail, Secret, Security};

const STANDBY_TOKEN: &str = "6d1c0f5be2f7438f9b7c4d1c9e5a7b30";
pub const PAYMENT_SECRET: &str = "whsec_test_secret";
pub const MAIL_KEY: &str = "mail-key";
pub const MAIL_URL: &str = "https://tunnel.example.com/api/mail-webhook";
pub const APP_SECRET: &str = "appsecret";

/// Sets the keys of all three senders.
pub fn configure(config: &mut Config) {
    config.callbacks.payment_secret = Some(Secret::new(PAYMENT_SECRET));
    config.callbacks.mail_key = Some(Secret::new(MAIL_KEY));
    config.callbacks.mail_url = Some(MAIL_URL.to_owned());
    config.social.facebook = Some(Secret::new(APP_SECRET));
    config.replica.token = Some(Secret::new(STANDBY_TOKEN));
    config.public_url = Some("https://tunnel.example.com".to_owned());
}

/// A mail server that cannot be reached: tests look at the mails that wait for it.
pub fn mail_to_nowhere() -> Mail {
    Mail {
        host: "localhost".to_owned(),
        port: 1,
        security: Security::None,
        account: None,
        from: "desk@windwerk.example".parse().unwrap(),
        reply_to: None,
        authority: None,
    }
}

impl Site {
    /// A site that accepts callbacks.
    pub fn with_senders() -> Site {
        Site::open_with(configure)
    }

    /// A standby with the right token.
    pub fn standby(&self) -> Caller {
        let token = STANDBY_TOKEN.to_owned();
        self.stranger().with(Credential::Token { header: "authorization", prefix: "Bearer ", token })
    }

    /// The payment processor.
    pub fn processor(&self) -> Caller {
        self.stranger().with(Credential::Processor { secret: PAYMENT_SECRET.to_owned() })
    }

    pub fn mail_provider(&self) -> Caller {
        self.stranger().with(Credential::MailProvider { key: MAIL_KEY.to_owned(), url: MAIL_URL.to_owned() })
    }
}

/// The processor's signature header: `t=…,v1=…`.
pub fn payment_signature(secret: &str, at: i64, body: &[u8]) -> String {
    format!("t={at},v1={}", sign(secret, &[format!("{at}.").as_bytes(), body].concat()))
}

/// The mail provider's signature over the address and the signed part of the body: a form's sorted fields, or the
/// events of a JSON body byte for byte.
pub fn mail_signature(key: &str, url: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    STANDARD.encode(hmac::sign(&key, format!("{url}{}", signed_part(body)).as_bytes()))
}

fn signed_part(body: &[u8]) -> String {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if let Ok(fields) = serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(body) {
        let events = ["mail_events", "mandrill_events"].into_iter().find_map(|name| Some((name, fields.get(name)?)));
        return events.map_or_else(String::new, |(name, events)| format!("{name}{}", events.get()));
    }
    let mut pairs: Vec<_> = form_urlencoded::parse(body).into_owned().map(|(name, value)| [name, value]).collect();
    pairs.sort();
    pairs.concat().concat()
}

/// Facebook's signed request about a user.
pub fn signed_request(secret: &str, payload: &Value) -> String {
    let payload = URL_SAFE_NO_PAD.encode(payload.to_string());
    format!("{}.{payload}", URL_SAFE_NO_PAD.encode(hmac_sha256(secret, payload.as_bytes())))
}

/// The body of a form.
pub fn form(pairs: &[(&str, &str)]) -> Vec<u8> {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.join("&").into_bytes()
}
