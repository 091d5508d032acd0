//! The outbox, with real mail and message servers.

mod mail;
#[path = "../../post/office.rs"]
pub mod office;
mod sending;
mod sms;

use crate::harness::Site;
use office::{ACCOUNT, GATEWAY_TOKEN, Office};
use serde_json::{Value, json};
use tunneldesk::config::{Mail, Secret, Security, Sms};
use tunneldesk::domain::ids::MessageId;
use tunneldesk::jobs::outbox::OutboxSender;
use tunneldesk::store::tables::outbox::{self, Channel, Message, NewMessage};

fn mail_settings(office: &Office, security: Security) -> Mail {
    let account = (security != Security::None).then(|| (ACCOUNT.0.to_owned(), Secret::new(ACCOUNT.1)));
    Mail {
        host: "localhost".to_owned(),
        port: office.port,
        security,
        account,
        from: "desk@windwerk.example".parse().unwrap(),
        reply_to: None,
        authority: Some(std::fs::read(office::authority()).unwrap()),
    }
}

fn sms_settings(office: &Office) -> Sms {
    Sms {
        url: format!("http://127.0.0.1:{}/send", office.port),
        body: r#"{"to": "{to}", "text": "{text}"}"#.to_owned(),
        token: Some(Secret::new(GATEWAY_TOKEN)),
        authority: None,
    }
}

/// A site that sends mail through the test's mail server.
fn site_with_mail(office: &Office) -> Site {
    site_with(mail_settings(office, Security::StartTls))
}

fn site_with(mail: Mail) -> Site {
    Site::open_with(|config| {
        config.mail = Some(mail);
        config.public_url = Some("https://tunnel.example.org".to_owned());
    })
}

/// The site's sender of messages, which runs only when the test calls it.
fn sender(site: &Site) -> OutboxSender {
    OutboxSender::new(site.for_a_job()).unwrap()
}

fn round(sender: &mut OutboxSender) {
    sender.round(&|| false).unwrap();
}

/// Queues a message and returns its number.
fn queue(site: &Site, channel: Channel, recipient: &str, language: &str, template: &str, values: &Value) -> i64 {
    let keys = site.for_a_job().keys.clone();
    site.change(|tx| {
        let new = NewMessage { channel, member_id: None, recipient, language, template, values };
        Ok(outbox::insert(tx, &keys, &new)?)
    })
}

/// Queues a sign-in passcode, by mail, in English.
fn queue_passcode(site: &Site, recipient: &str) -> i64 {
    queue(site, Channel::Email, recipient, "en", "passcode_sign_in", &json!({"passcode": "012345"}))
}

/// Queues a mail that stays valid for days.
fn queue_welcome(site: &Site, recipient: &str) -> i64 {
    queue(site, Channel::Email, recipient, "en", "confirm_email", &json!({"token": "the-token"}))
}

fn message(site: &Site, message_id: i64) -> Message {
    site.change(|tx| Ok(outbox::find(tx, MessageId(message_id))?)).expect("the message is there")
}

fn state(site: &Site, message_id: i64) -> String {
    message(site, message_id).state
}
