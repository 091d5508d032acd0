//! Events about mails, sent by the mail provider.

use super::mail_event;
use crate::app::mail_events::{self, Event};
use crate::app::{self, RankedActor};
use crate::auth::MailEvents;
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::json;
use crate::http::reply::{self, Done};
use crate::i18n::language::Text;
use crate::site::Site;
use serde_json::json;
use serde_json::value::RawValue;

/// Events in a batch.
const EVENTS_MAX: usize = 1_000;

crate::answer! {
    struct MailTaken {
        status: True,
        message: String = "",
        /// How many there were.
        events: usize { "minimum": 0 } = 1,
        /// How many of them had been here before.
        repeated: usize { "minimum": 0 } = 0,
    }
}

crate::operation! {
    /// Test the mail webhook
    ///
    /// For the `HEAD` by which a mail provider looks before it registers.
    PROBE = "mailWebhookIsThere"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Mail events are taken here, by POST." }))
}

pub(crate) fn probe(_: &Site, call: &Call) -> Answer {
    Ok(reply::done(call.say("done.webhook")))
}

crate::operation! {
    /// Events about mails
    ///
    /// Mandrill's scheme: one field `mail_events` (or `mandrill_events`) with up to 1,000 events. Each updates the
    /// mail it names; a hard bounce, spam, reject, unsubscription or blacklisting suppresses the address. Each event,
    /// identified by `_id`, `event` and `ts`, is applied once. For a JSON body the signed text is the URL,
    /// `mail_events`, and the field as it stands in the body. The empty batch, signed with the key `test-webhook`, is
    /// accepted before a key is configured.
    RECEIVE = "mailWebhook"
        .answers::<MailTaken>("They are taken.")
        .also(|| json!({
            "requestBody": {
                "json": {
                    "schema": {
                        "type": "object",
                        "properties": {
                            "mail_events": {
                                "description": "A JSON array as text; in a JSON body also the array itself.",
                                "type": ["string", "array"], "items": { "type": "object" },
                            },
                            "mandrill_events": {
                                "description": "The same by the provider's name.", "type": ["string", "array"],
                                "items": { "type": "object" },
                            },
                        },
                    },
                    "example": {
                        "mail_events": "[{\"event\":\"hard_bounce\",\"ts\":1780000000,\"_id\":\"a1b2\",\"msg\":{\"_id\":\"a1b2\",\"email\":\"jane@example.com\"}}]",
                    },
                },
            },
            "security": [{ "mailSignature": [] }],
        }))
}

pub(crate) fn receive(site: &Site, call: &Call, events: &MailEvents) -> Answer {
    // Parsed before the transaction, because a batch may be a megabyte and the writer must not wait for it.
    let events: Vec<(Event, &RawValue)> =
        parse(events.text())?.into_iter().map(|event| (mail_event::parse(&json::read(event)), event)).collect();
    let provider = RankedActor::outside(ActorId::Sender("mail"), call);
    let (events, repeated) = app::change_once(site, call, provider, |cx| {
        let (count, mut repeated) = (events.len(), 0);
        for (event, raw) in events {
            repeated += usize::from(!mail_events::process(cx, event, raw.get())?);
        }
        Ok((count, repeated))
    })?;
    Ok(reply::ok(&MailTaken { status: true, message: String::new(), events, repeated }))
}

/// The events of a batch. 400 where the text is not JSON; 422 where it is no list, or one of more than [`EVENTS_MAX`] events.
fn parse(text: &str) -> Result<Vec<&RawValue>, Failure> {
    let refuse = |text: Text| Failure::field("mail_events", text);
    match json::items(json::raw(text.as_bytes()).map_err(|e| json::refusal_of("mail_events", &e))?) {
        Some(events) if events.len() <= EVENTS_MAX => Ok(events),
        Some(_) => Err(refuse(Text::new("field.too_many").with("max", EVENTS_MAX))),
        None => Err(refuse(Text::new("field.not_list"))),
    }
}
