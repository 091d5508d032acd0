//! The tabs of a card that are lists: logbook, bookings, payments and messages, the latest lines first, after `skip` others.
//! Each returns one line more than is shown where there are older ones.

use crate::app::notice;
use crate::domain::catalogue::names;
use crate::domain::entry::{Kind, NOT_CURRENT, displayed_status};
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::date::in_full;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{logbook as entries, standing};
use crate::store::tables::bookings::{self, BookingRow, Ending, Filter};
use crate::store::tables::outbox::Channel;
use crate::store::tables::{notices, outbox, payments as money};
use crate::web::badge::Badge;
use serde_json::{Value, json};

/// Lines on one page of a card.
pub(crate) const LINES_MAX: i64 = 100;
/// Characters of a comment that a line shows.
const NOTE_CHARS_SHOWN: usize = 240;
/// Lines that are read: one more than is shown.
pub(super) const LINES_READ: i64 = LINES_MAX + 1;

/// One line of a list.
#[derive(Default)]
pub(crate) struct Line {
    pub when: String,
    pub what: String,
    /// Details, such as tunnel, partner or signer.
    pub about: String,
    /// Comments of members and signers.
    pub note: String,
    pub badge: Option<Badge>,
    /// Path of the page with details; empty for none.
    pub path: String,
    /// Path of the page that corrects it; empty for none.
    pub(crate) correct: String,
    /// Year of a line of the logbook or timeline.
    pub(crate) year: Option<i16>,
    /// Year and its flight time, above the first line of the year.
    pub(crate) heading: Option<(String, String)>,
}

/// Site, time zone, language and time for rendering a page.
pub(crate) struct ViewContext<'a> {
    pub site: &'a Site,
    pub zone: &'a TimeZone,
    pub language: Language,
    pub now: Moment,
}

impl ViewContext<'_> {
    pub(crate) fn say(&self, key: &'static str) -> String {
        self.language.say(&Text::new(key))
    }

    /// The names of an entry's level and skill.
    pub(crate) fn names(&self, cat_group: &str, cat_id: &str, skill: &str) -> (String, String) {
        names::of_entry(self.language, self.site.catalogue, (cat_group, cat_id, skill))
    }

    pub(crate) fn day(&self, moment: Moment) -> String {
        when::day(self.language, self.zone, moment)
    }

    pub(crate) fn moment(&self, moment: Moment) -> String {
        when::moment(self.language, self.zone, moment)
    }
}

/// The badge for the status of an entry.
pub(crate) fn entry_badge(view: &ViewContext, status: &str) -> Badge {
    let (tone, key) = match status {
        "open" => ("good", "desk.entry_open"),
        NOT_CURRENT => ("soon", "desk.entry_not_current"),
        "pending" => ("soon", "desk.entry_pending"),
        "denied" => ("bad", "desk.entry_denied"),
        "suspended" => ("bad", "desk.entry_suspended"),
        "deleted" => ("plain", "desk.entry_deleted"),
        _ => ("plain", "desk.entry_cancelled"),
    };
    Badge::new(tone, view.say(key))
}

pub(crate) fn logbook(tx: &Read, view: &ViewContext, member_id: MemberId, skip: i64) -> Result<Vec<Line>, Failure> {
    let lapsed = standing::lapsed(tx, member_id, view.now)?;
    let entries = entries::list(tx, member_id, LINES_READ, skip)?;
    Ok(entries.into_iter().map(|entry| of_entry(view, member_id, entry, &lapsed)).collect())
}

/// The line of a logbook entry.
pub(super) fn of_entry(view: &ViewContext, member_id: MemberId, entry: entries::Listed, lapsed: &[&str]) -> Line {
    let (entry_id, flown) = (entry.entry_id, entry.kind == Kind::Time);
    // Flight time of an opening balance is signed and cannot be corrected.
    let can_be_corrected = flown && !entry.opening;
    let signed = entry.signed.as_ref();
    let (what, about) = match signed {
        Some(signed) if !flown => {
            let (level, skill) = view.names(&signed.cat_group, &signed.cat_id, &signed.skill);
            (skill, level)
        }
        _ => (format!("{} min", entry.minutes), entry.tunnel_name),
    };
    let status = displayed_status(entry.kind, signed.map_or("", |signed| &signed.cat_group), entry.status, lapsed);
    let [signer, signer_comment, denial] = entry.signed.map_or_else(Default::default, |signed| {
        [signed.instructor_name, signed.comments_instructor, signed.comment_denial]
    });
    let at = view.zone.calendar(entry.entry_date);
    Line {
        when: in_full(view.language, at.date()),
        what,
        about: joined(&[about, signer]),
        note: clipped(joined(&[entry.comment, signer_comment, denial])),
        // Flight time in the future is booked, not flown.
        badge: match flown && status == "open" {
            true => (entry.entry_date > view.now).then(|| Badge::new("plain", view.say("desk.mark_booked"))),
            false => Some(entry_badge(view, status)),
        },
        path: if can_be_corrected { String::new() } else { format!("/desk/sign-offs/{entry_id}") },
        correct: if can_be_corrected { format!("/desk/members/{member_id}/time/{entry_id}") } else { String::new() },
        year: Some(at.year()),
        ..Line::default()
    }
}

pub(crate) fn bookings(tx: &Read, view: &ViewContext, member_id: MemberId, skip: i64) -> Result<Vec<Line>, Failure> {
    let filter = Filter { member_id: Some(member_id), ..Filter::default() };
    let found = bookings::list(tx, &filter, LINES_READ, skip)?;
    Ok(found.into_iter().map(|row| of_booking(view, row)).collect())
}

/// The line of a booking, on the day of its flight.
pub(super) fn of_booking(view: &ViewContext, row: BookingRow) -> Line {
    Line {
        when: view.moment(row.booking.flight_date),
        what: format!("{} min", row.booking.minutes_booked),
        about: joined(&[row.tunnel_name, row.partner_name]),
        badge: match row.ending {
            Some(Ending::Cancelled) => Some(Badge::new("plain", view.say("desk.mark_cancelled"))),
            Some(Ending::NoShow) => Some(Badge::new("bad", view.say("desk.mark_no_show"))),
            None => (row.booking.flight_date > view.now).then(|| Badge::new("plain", view.say("desk.to_come"))),
        },
        path: format!("/desk/bookings/{}", row.booking_id),
        ..Line::default()
    }
}

pub(crate) fn payments(tx: &Read, view: &ViewContext, member_id: MemberId, skip: i64) -> Result<Vec<Line>, Failure> {
    let found = money::list(tx, member_id, LINES_READ, skip)?;
    Ok(found.into_iter().map(|row| of_payment(view, row)).collect())
}

/// The line of a payment, on the day on which it was received.
pub(super) fn of_payment(view: &ViewContext, row: money::Payment) -> Line {
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
        when: view.day(row.created_at),
        what: notice::amount(view.language, &amount).unwrap_or_default(),
        about: match row.receipt {
            Some(entry_id) => format!("{} {} {entry_id}", view.say("till.receipt_number"), view.say("desk.number")),
            None => row.intent_id,
        },
        badge: Some(Badge::new(tone, view.say(key))),
        path: row.receipt.map(|entry_id| format!("/desk/till/entries/{entry_id}")).unwrap_or_default(),
        ..Line::default()
    }
}

/// The member's notices and messages, the latest first. The text of a message is not shown, because it may be secret.
pub(crate) fn messages(tx: &Read, view: &ViewContext, member_id: MemberId, skip: i64) -> Result<Vec<Line>, Failure> {
    let mut dated = Vec::new();
    for row in notices::list(tx, member_id, skip.saturating_add(LINES_READ), 0)? {
        let detail: Value = serde_json::from_str(&row.detail).unwrap_or(Value::Null);
        let (tone, key) =
            if row.read_at.is_some() { ("good", "desk.message_read") } else { ("plain", "desk.message_unread") };
        let line = Line {
            when: view.moment(row.created_at),
            what: notice::text(view.language, view.zone, &row.subject, &detail),
            about: view.say("desk.message_notice"),
            badge: Some(Badge::new(tone, view.say(key))),
            ..Line::default()
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
            when: view.moment(row.created_at),
            what: view.say(key),
            about: joined(&[row.recipient, if code { view.say("desk.message_passcode") } else { String::new() }]),
            badge: Some(Badge::new(tone, view.say(state))),
            ..Line::default()
        };
        dated.push((row.created_at, line));
    }
    dated.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let shown = dated.into_iter().skip(skip as usize).take(LINES_READ as usize);
    Ok(shown.map(|(_, line)| line).collect())
}

/// Flight time in words: `Flight time 1:30`.
pub(crate) fn length(view: &ViewContext, of: i64) -> String {
    format!("{} {}", view.say("desk.flight_time"), minutes::show(of))
}

pub(super) fn joined(parts: &[String]) -> String {
    parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// A comment cut to [`NOTE_CHARS_SHOWN`]; the page of the entry shows all of it.
fn clipped(text: String) -> String {
    match text.char_indices().nth(NOTE_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
