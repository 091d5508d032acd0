//! The tabs of a card that are lists: what is in the logbook, booked, paid and said. Each has the latest lines, from the one after
//! `skip` newer ones on; one line more than is shown says that there are older ones.

use crate::app::notice;
use crate::domain::entry::{Kind, NOT_CURRENT, shown};
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::date::in_full;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{logbook as entries, standing};
use crate::store::tables::bookings::{self, BookingRow, Ending, Filter};
use crate::store::tables::outbox::Channel;
use crate::store::tables::{notices, outbox, payments as money};
use crate::web::mark::Mark;
use serde_json::{Value, json};

/// Lines on one page of a card.
pub(crate) const LINES_MAX: i64 = 100;
/// Of what people wrote, in a line.
const NOTE_CHARS_SHOWN: usize = 240;
/// One more is read than is shown: then there are older ones.
pub(super) const LINES_READ: i64 = LINES_MAX + 1;

/// One thing that happened.
#[derive(Default)]
pub(crate) struct Line {
    pub when: String,
    pub what: String,
    /// The site's own remark beside the line.
    pub about: String,
    /// The comment that people wrote.
    pub note: String,
    pub mark: Option<Mark>,
    /// Where more is to be seen; empty where there is nothing.
    pub path: String,
    /// Where it is corrected; empty where it is not.
    pub(crate) correct: String,
    /// Of a line of the logbook.
    pub(crate) year: Option<i16>,
    /// Year and time flown in it, above the first line of each.
    pub(crate) heading: Option<(String, String)>,
}

/// Where and when it is read, and in which language.
pub(crate) struct Place<'a> {
    pub site: &'a Site,
    pub zone: &'a TimeZone,
    pub language: Language,
    pub now: i64,
}

impl Place<'_> {
    pub(crate) fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    pub(crate) fn day(&self, moment: i64) -> String {
        when::day(self.language, self.zone, moment)
    }

    pub(crate) fn moment(&self, moment: i64) -> String {
        when::moment(self.language, self.zone, moment)
    }
}

/// A state of an entry as a word with its colour.
pub(crate) fn entry_mark(place: &Place, status: &str) -> Mark {
    let (tone, key) = match status {
        "open" => ("good", "desk.entry_open"),
        NOT_CURRENT => ("soon", "desk.entry_not_current"),
        "pending" => ("soon", "desk.entry_pending"),
        "denied" => ("bad", "desk.entry_denied"),
        "suspended" => ("bad", "desk.entry_suspended"),
        "deleted" => ("plain", "desk.entry_deleted"),
        _ => ("plain", "desk.entry_cancelled"),
    };
    Mark::new(tone, place.say(key))
}

pub(crate) fn logbook(tx: &Read, place: &Place, member_id: i64, skip: i64) -> Result<Vec<Line>, Failure> {
    let lapsed = standing::lapsed(tx, member_id, place.now)?;
    let entries = entries::list(tx, member_id, LINES_READ, skip)?;
    Ok(entries.into_iter().map(|entry| of_entry(place, member_id, entry, &lapsed)).collect())
}

/// An entry of the logbook.
pub(super) fn of_entry(place: &Place, member_id: i64, entry: entries::Listed, lapsed: &[&str]) -> Line {
    let (entry_id, flown) = (entry.entry_id, entry.kind == Kind::Time);
    // Flight time of an opening balance is part of a signed paper.
    let is_free = flown && !entry.opening;
    let signed = entry.signed.as_ref();
    let (what, about) = match signed {
        Some(signed) if !flown => {
            let (level, skill) = place.site.catalogue.names(&signed.cat_group, &signed.cat_id, &signed.skill);
            (skill, level)
        }
        _ => (format!("{} min", entry.minutes), entry.tunnel_name),
    };
    let status = shown(entry.kind, signed.map_or("", |signed| &signed.cat_group), entry.status, lapsed);
    let [by, said, denied] = entry.signed.map_or_else(Default::default, |signed| {
        [signed.instructor_name, signed.comments_instructor, signed.comment_denial]
    });
    let at = place.zone.calendar(entry.entry_date);
    Line {
        when: in_full(place.language, at.date()),
        what,
        about: joined(&[about, by]),
        note: clipped(joined(&[entry.comment, said, denied])),
        // What lies ahead is booked, never flown.
        mark: match flown && status == "open" {
            true => (entry.entry_date > place.now).then(|| Mark::new("plain", place.say("desk.mark_booked"))),
            false => Some(entry_mark(place, status)),
        },
        path: if is_free { String::new() } else { format!("/desk/sign-offs/{entry_id}") },
        correct: if is_free { format!("/desk/members/{member_id}/time/{entry_id}") } else { String::new() },
        year: Some(at.year()),
        heading: None,
    }
}

pub(crate) fn bookings(tx: &Read, place: &Place, member_id: i64, skip: i64) -> Result<Vec<Line>, Failure> {
    let filter = Filter { member_id: Some(member_id), ..Filter::default() };
    let found = bookings::list(tx, &filter, LINES_READ, skip)?;
    Ok(found.into_iter().map(|row| of_booking(place, row)).collect())
}

/// A booking, on the day of its flight.
pub(super) fn of_booking(place: &Place, row: BookingRow) -> Line {
    Line {
        when: place.moment(row.booking.flight_date),
        what: format!("{} min", row.booking.minutes_booked),
        about: joined(&[row.tunnel_name, row.partner_name]),
        note: String::new(),
        mark: match row.ending {
            Some(Ending::Cancelled) => Some(Mark::new("plain", place.say("desk.mark_cancelled"))),
            Some(Ending::NoShow) => Some(Mark::new("bad", place.say("desk.mark_no_show"))),
            None => (row.booking.flight_date > place.now).then(|| Mark::new("plain", place.say("desk.to_come"))),
        },
        path: format!("/desk/bookings/{}", row.booking_id),
        correct: String::new(),
        year: None,
        heading: None,
    }
}

pub(crate) fn payments(tx: &Read, place: &Place, member_id: i64, skip: i64) -> Result<Vec<Line>, Failure> {
    let found = money::list(tx, member_id, LINES_READ, skip)?;
    Ok(found.into_iter().map(|row| of_payment(place, row)).collect())
}

/// A payment, on the day on which it came.
pub(super) fn of_payment(place: &Place, row: money::Payment) -> Line {
    let (tone, key) = match row.status.as_str() {
        "succeeded" => ("good", "desk.payment_succeeded"),
        "failed" => ("bad", "desk.payment_failed"),
        "canceled" => ("bad", "desk.payment_canceled"),
        "refunded" => ("soon", "desk.payment_refunded"),
        "claimed" => ("soon", "desk.payment_claimed"),
        _ => ("plain", "desk.payment_processing"),
    };
    let amount = json!({ "amount_cents": row.amount_cents, "currency": row.currency });
    Line {
        when: place.day(row.created_at),
        what: notice::amount(place.language, &amount).unwrap_or_default(),
        about: match row.receipt {
            Some(entry_id) => format!("{} {} {entry_id}", place.say("till.receipt_number"), place.say("desk.number")),
            None => row.intent_id,
        },
        note: String::new(),
        mark: Some(Mark::new(tone, place.say(key))),
        path: row.receipt.map(|entry_id| format!("/desk/till/entries/{entry_id}")).unwrap_or_default(),
        correct: String::new(),
        year: None,
        heading: None,
    }
}

/// The member's notices and messages, the latest first. The text of a message is not shown: it may be a secret.
pub(crate) fn messages(tx: &Read, place: &Place, member_id: i64, skip: i64) -> Result<Vec<Line>, Failure> {
    let mut dated = Vec::new();
    for row in notices::list(tx, member_id, skip.saturating_add(LINES_READ), 0)? {
        let detail: Value = serde_json::from_str(&row.detail).unwrap_or(Value::Null);
        let (tone, key) =
            if row.read_at.is_some() { ("good", "desk.message_read") } else { ("plain", "desk.message_unread") };
        let line = Line {
            when: place.moment(row.created_at),
            what: notice::text(place.language, place.zone, &row.subject, &detail),
            about: place.say("desk.message_notice"),
            note: String::new(),
            mark: Some(Mark::new(tone, place.say(key))),
            path: String::new(),
            correct: String::new(),
            year: None,
            heading: None,
        };
        dated.push((row.created_at, line));
    }
    for row in outbox::list_of_member(tx, member_id, skip.saturating_add(LINES_READ))? {
        let key = if row.channel == Channel::Email { "desk.message_email" } else { "desk.message_sms" };
        let code = row.template.starts_with("passcode");
        let (tone, state) = match row.state.as_str() {
            "sent" => ("good", "desk.message_sent"),
            "dead" => ("bad", "desk.message_dead"),
            _ => ("soon", "desk.message_waiting"),
        };
        let line = Line {
            when: place.moment(row.created_at),
            what: place.say(key),
            about: joined(&[row.recipient, if code { place.say("desk.message_passcode") } else { String::new() }]),
            note: String::new(),
            mark: Some(Mark::new(tone, place.say(state))),
            path: String::new(),
            correct: String::new(),
            year: None,
            heading: None,
        };
        dated.push((row.created_at, line));
    }
    dated.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let shown = dated.into_iter().skip(skip as usize).take(LINES_READ as usize);
    Ok(shown.map(|(_, line)| line).collect())
}

/// Minutes as people say them in a logbook of hours.
pub(crate) fn length(place: &Place, of: i64) -> String {
    format!("{} {}", place.say("desk.flight_time"), minutes::show(of))
}

pub(super) fn joined(parts: &[String]) -> String {
    parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// A comment cut to the room of a line; the page of the entry has all of it.
fn clipped(text: String) -> String {
    match text.char_indices().nth(NOTE_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
