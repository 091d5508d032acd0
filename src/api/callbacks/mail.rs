//! Events about mails, sent by the mail provider.

use super::mail_event;
use crate::app::mail_events::{self, Event};
use crate::app::{self, RankedActor};
use crate::auth::MailEvents;
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::json;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use serde::Serialize;
use serde_json::value::RawValue;

/// Events in a batch.
const EVENTS_MAX: usize = 1_000;

/// The answer to a batch.
#[derive(Serialize)]
struct BatchReply {
    status: bool,
    message: String,
    /// The number of events in the batch.
    events: usize,
    /// The number of those that an earlier batch had already.
    repeated: usize,
}

/// `GET /mail-webhook`: answers 200. A mail provider tests the webhook by a `HEAD` request before it sends events.
pub(crate) fn probe(_: &Site, call: &Call) -> Answer {
    Ok(reply::done(call.say("done.webhook")))
}

/// `POST /mail-webhook`: a batch of events, each of which updates the mail it names, in one transaction.
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
    Ok(reply::ok(&BatchReply { status: true, message: String::new(), events, repeated }))
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
