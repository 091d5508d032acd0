//! What the mail provider says of mails and addresses.

use super::Change;
use crate::domain::mail_event::{Delivery, KEPT_SECONDS, Kind};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Write;
use crate::store::tables::callbacks::{self, NewCallback, Sender};
use crate::store::tables::outbox::{self, Message};
use crate::store::tables::suppressed;

/// An event of the mail provider.
pub(crate) struct Event {
    /// Identifies repeats of the event.
    pub key: String,
    /// The key prefix of opposite events, after which this event is no repeat; for events without a moment.
    pub undone_by: Option<String>,
    /// The provider's name of the event.
    pub event: String,
    pub content: Content,
}

/// What an event says.
pub(crate) enum Content {
    Mail(Kind, About),
    /// An address was added to the provider's list of suppressed addresses.
    Listed(Suppression),
    /// An address was removed from that list.
    Unlisted(Suppression),
    /// An event of a kind that is ignored.
    Unknown,
    /// Not a valid event.
    Malformed,
}

/// The subject of an event about a mail.
pub(crate) struct About {
    /// The mail's ids, the likelier ones first.
    pub names: Vec<String>,
    pub address: Option<String>,
    pub detail: String,
    /// Unix seconds.
    pub at: Moment,
}

/// An address to which no mail is sent.
pub(crate) struct Suppression {
    pub address: String,
    pub detail: String,
    /// Unix seconds; `None` where the provider gives no moment.
    pub at: Option<Moment>,
}

/// Applies one event and stores it with its verdict. `raw`: the event as it was sent. `false`: the event is stored
/// already, so nothing but its number of repeats changes. An event without a moment is no repeat if an opposite event came in between: its key therefore has the
/// number of opposite events.
pub(crate) fn process(cx: &Change, mut event: Event, raw: &str) -> Result<bool, Failure> {
    let tx = cx.tx;
    if let Some(opposite) = &event.undone_by {
        event.key = format!("{} after {}", event.key, callbacks::count_from(tx, Sender::Mail, opposite)?);
    }
    if callbacks::repeat(tx, Sender::Mail, &event.key)? {
        return Ok(false);
    }
    let (verdict, message) = match &event.content {
        Content::Malformed => ("odd", None),
        Content::Unknown => ("ignored", None),
        Content::Mail(_, about) if is_old(tx, about.at) => ("too_old", find_message(tx, about)?),
        Content::Mail(kind, about) => update_delivery(tx, *kind, about)?,
        Content::Listed(suppression) | Content::Unlisted(suppression)
            if suppression.at.is_some_and(|at| is_old(tx, at)) =>
        {
            ("too_old", None)
        }
        Content::Listed(suppression) => (suppress(tx, "blacklist", suppression)?, None),
        Content::Unlisted(suppression) => {
            suppressed::lift(tx, &suppression.address, suppression_moment(tx, suppression)?)?;
            ("applied", None)
        }
    };
    let about = message.map_or_else(String::new, |message| format!("message {}", message.message_id));
    let (key, event) = (&event.key, &event.event);
    let new = NewCallback { sender: Sender::Mail, key, event, about: &about, verdict, raw: raw.as_bytes() };
    callbacks::insert(tx, &cx.site.keys, &new)?;
    Ok(true)
}

/// Whether an event is so old that its first delivery may have been purged: the provider's signature has no time, so an old
/// event could be replayed.
fn is_old(tx: &Write, at: Moment) -> bool {
    at <= tx.now() - KEPT_SECONDS
}

/// The mail of an event, by the first of the event's mail ids that the outbox has.
fn find_message(tx: &Write, about: &About) -> Result<Option<Message>, Failure> {
    for name in &about.names {
        if let Some(message) = outbox::find_by_provider(tx, name)? {
            return Ok(Some(message));
        }
    }
    Ok(None)
}

/// Updates the delivery state of the mail that the event is about, and suppresses the address if the kind of the event
/// demands that. Returns the verdict (`applied`, or `unmatched` where nothing changed) and the mail, if it is known.
fn update_delivery(tx: &Write, kind: Kind, about: &About) -> Result<(&'static str, Option<Message>), Failure> {
    let message = find_message(tx, about)?;
    if let Some(message) = &message {
        let delivery = Delivery::parse(&message.delivery).map_or(kind.delivery, |known| known.max(kind.delivery));
        let deferrals = message.deferrals + i64::from(kind.delivery == Delivery::Deferred);
        let soft_bounces = message.soft_bounces + i64::from(kind.delivery == Delivery::SoftBounced);
        outbox::set_delivery(tx, message.message_id, delivery.name(), deferrals, soft_bounces)?;
    }
    // The provider's address and ours may differ: mail may have been forwarded.
    let recipient = message.as_ref().map(|message| message.recipient.clone());
    let mut addresses: Vec<&String> = about.address.iter().chain(&recipient).collect();
    addresses.dedup();
    let mut verdict = if message.is_some() { "applied" } else { "unmatched" };
    for address in addresses.into_iter().filter(|_| kind.marks) {
        let suppression = Suppression { address: address.clone(), detail: about.detail.clone(), at: Some(about.at) };
        verdict = suppress(tx, kind.name, &suppression)?;
    }
    Ok((verdict, message))
}

/// Suppresses an address, so that no mail is sent to it. `reason`: the kind of event. Returns the verdict `applied`.
fn suppress(tx: &Write, reason: &str, suppression: &Suppression) -> Result<&'static str, Failure> {
    let (address, detail) = (suppression.address.clone(), suppression.detail.clone());
    let since = suppression_moment(tx, suppression)?;
    suppressed::mark(tx, &suppressed::Suppression { address, reason: reason.to_owned(), detail, since })?;
    Ok("applied")
}

/// The moment of a suppression or of its lifting, in Unix seconds. An event without a moment, or with one in the future, counts
/// from now, and after every earlier event about the address: a moment in the future would outweigh later events.
fn suppression_moment(tx: &Write, suppression: &Suppression) -> Result<Moment, Failure> {
    Ok(match suppression.at.filter(|at| *at <= tx.now()) {
        Some(at) => at,
        None => suppressed::next_moment(tx, &suppression.address)?,
    })
}
