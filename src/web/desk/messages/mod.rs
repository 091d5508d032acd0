//! *Messages*: the contact form, the outbox and bounced addresses.

pub(crate) mod contact;
pub(crate) mod outgoing;

use crate::app::messages::{denial_to_read, denial_to_send};
use crate::auth::Clerk;
use crate::domain::ids::{ContactId, MessageId};
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::outbox::Message;
use crate::store::tables::{contact as received, outbox, suppressed};
use crate::web::badge::Badge;
use crate::web::{Frame, query_text, show as shown};
use askama::Template;
use http::StatusCode;

pub(crate) const PART: &str = "/desk/messages";
const ROWS_SHOWN: i64 = 50;
const BEGINNING_CHARS_MAX: usize = 140;
const DONE: [(&str, &str); 6] = [
    ("done", "messages.done_done"),
    ("again", "messages.done_again"),
    ("none", "messages.done_none"),
    ("lifted", "messages.done_lifted"),
    ("sent", "messages.done_sent"),
    ("wiped", "messages.done_wiped"),
];

/// The boxes: the value of `box` in the query, and the key of the label.
const BOXES: [(&str, &str); 5] = [
    ("contact", "messages.contact"),
    ("waiting", "messages.waiting"),
    ("dead", "messages.dead"),
    ("sent", "messages.sent"),
    ("marked", "messages.marked"),
];

#[derive(Template)]
#[template(path = "desk/messages.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    tabs: Vec<Tab>,
    open: &'static str,
    contacts: Vec<Contact>,
    messages: Vec<Row>,
    bounces: Vec<Bounce>,
    /// Text about missing mail or SMS settings.
    missing: Option<String>,
    /// Offsets of the pages with newer and with older rows.
    newer: Option<i64>,
    older: Option<i64>,
}

struct Tab {
    word: &'static str,
    text: String,
    /// `None` for boxes without a count.
    count: Option<i64>,
}

struct Contact {
    contact_id: ContactId,
    name: String,
    email: String,
    about: String,
    beginning: String,
    at: String,
    done: bool,
}

struct Row {
    message_id: MessageId,
    recipient: String,
    what: String,
    channel: String,
    at: String,
    badge: Badge,
    /// Last error of the server.
    why: String,
    tries: i64,
    can_read: bool,
    can_retry: bool,
}

struct Bounce {
    address: String,
    reason: String,
    detail: String,
    since: String,
}

/// `GET /desk/messages`: the box that `box` names; by default the contact form, or dead messages where only these wait.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone) = (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?);
    let offset = query_text(call, "offset").parse().unwrap_or(0_i64).clamp(0, 1_000_000);
    let word = query_text(call, "box");
    let page = site.store.read(|tx| {
        let (unread, (waiting, dead)) = (received::count_open(tx)?, outbox::counts(tx)?);
        let fallback = if unread == 0 && dead > 0 { "dead" } else { "contact" };
        let open = BOXES.iter().map(|(known, _)| *known).find(|known| *known == word).unwrap_or(fallback);
        let count = |word| match word {
            "contact" => Some(unread),
            "waiting" => Some(waiting),
            "dead" => Some(dead),
            _ => None,
        };
        let tab = |(word, key): (&'static str, _)| Tab { word, text: call.say(key), count: count(word) };
        let mut page = Page {
            frame,
            tabs: BOXES.into_iter().map(tab).collect(),
            open,
            contacts: Vec::new(),
            messages: Vec::new(),
            bounces: Vec::new(),
            missing: missing(site, call),
            newer: (offset > 0).then_some((offset - ROWS_SHOWN).max(0)),
            older: None,
        };
        // One row more than is shown is read, to know whether there is another page.
        match open {
            "contact" => {
                let all = received::list(tx, true, ROWS_SHOWN + 1, offset)?;
                page.contacts = all.into_iter().map(|one| contact_row(call, &zone, one)).collect();
            }
            "marked" => {
                let all = suppressed::list(tx, ROWS_SHOWN + 1, offset)?;
                page.bounces = all.into_iter().map(|one| bounce_row(call, &zone, one)).collect();
            }
            state => {
                let all = outbox::list(tx, Some(state), ROWS_SHOWN + 1, offset)?;
                let row = |one| row(site, call, clerk, tx, &zone, one);
                page.messages = all.into_iter().map(row).collect::<Result<_, Failure>>()?;
            }
        }
        let shown = ROWS_SHOWN as usize;
        let more = [page.contacts.len(), page.messages.len(), page.bounces.len()].iter().any(|rows| *rows > shown);
        page.older = more.then_some(offset + ROWS_SHOWN);
        page.contacts.truncate(shown);
        page.messages.truncate(shown);
        page.bounces.truncate(shown);
        Ok(page)
    })?;
    Ok(shown(StatusCode::OK, call.language(), &page))
}

fn missing(site: &Site, call: &Call) -> Option<String> {
    let key = match (&site.config.mail, &site.config.sms) {
        (Some(_), Some(_)) => return None,
        (None, None) => "messages.no_server",
        (None, Some(_)) => "messages.no_mail",
        (Some(_), None) => "messages.no_sms",
    };
    Some(call.say(key))
}

fn contact_row(call: &Call, zone: &TimeZone, message: received::Message) -> Contact {
    let line = message.message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut beginning: String = line.chars().take(BEGINNING_CHARS_MAX).collect();
    if beginning.len() < line.len() {
        beginning.push('…');
    }
    Contact {
        contact_id: message.contact_id,
        name: message.name,
        email: message.email,
        about: message.enquiry,
        beginning,
        at: when::moment(call.language(), zone, message.created_at),
        done: message.done_at.is_some(),
    }
}

fn bounce_row(call: &Call, zone: &TimeZone, bounce: suppressed::Suppression) -> Bounce {
    Bounce {
        since: when::moment(call.language(), zone, bounce.since),
        address: bounce.address,
        reason: word(call, "mark", &bounce.reason),
        detail: bounce.detail,
    }
}

fn row(site: &Site, call: &Call, clerk: &Clerk, tx: &Read, zone: &TimeZone, message: Message) -> Result<Row, Failure> {
    let (tone, key) = match message.state.as_str() {
        "dead" => ("bad", "messages.state_dead"),
        "sent" => ("good", "messages.state_sent"),
        _ if site.delivers(message.channel) => ("soon", "messages.state_on_its_way"),
        _ => ("plain", "messages.state_to_read"),
    };
    let text = match message.delivery.as_str() {
        "" => call.say(key),
        delivery => format!("{}, {}", call.say(key), word(call, "delivery", delivery)),
    };
    Ok(Row {
        message_id: message.message_id,
        what: what(call, &message.template),
        channel: word(call, "channel", message.channel.name()),
        at: when::moment(call.language(), zone, message.sent_at.unwrap_or(message.created_at)),
        badge: Badge { tone, text },
        tries: message.tries,
        can_read: is_legible(site, &message) && denial_to_read(tx, clerk.rank(), &message)?.is_none(),
        can_retry: message.state == "dead"
            && message.sealed.is_some()
            && denial_to_send(tx, clerk.rank(), &message)?.is_none(),
        recipient: message.recipient,
        why: message.last_error,
    })
}

/// The subject of a message in words, else the name of its template.
fn what(call: &Call, template: &str) -> String {
    word(call, "what", template)
}

/// The text for a name, of this program or of the mail provider, else the name itself.
fn word(call: &Call, of: &str, name: &str) -> String {
    let text = Text::find(&format!("messages.{of}_{name}"), |_| None);
    text.map_or_else(|| name.to_owned(), |text| call.language().say(&text))
}

/// Whether the desk may read a message out: it is undeliverable, or waits without a server, and its text is still stored.
fn is_legible(site: &Site, message: &Message) -> bool {
    let stays = message.state == "dead" || (message.state == "waiting" && !site.delivers(message.channel));
    stays && message.sealed.is_some()
}
