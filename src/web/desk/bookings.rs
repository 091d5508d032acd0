//! One booking: move, cancel, mark as a no-show, reinstate.

use super::members::lookup::name_of;
use crate::app::bookings::Full;
use crate::app::seen::Seen;
use crate::app::{self, Change, Outcome, bookings};
use crate::auth::Clerk;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::minutes;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::{fields, reply};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::bookings::{BookingRow, Ending, find};
use crate::store::tables::{members, partners};
use crate::web::badge::Badge;
use crate::web::{Form, Frame, field_error_text, path_id, query_text, read_form, show as shown};
use askama::Template;
use http::StatusCode;

/// Values of `done` in the query of *Today*, with the keys of their messages about the booking.
const DONE: [(&str, &str); 8] = [
    ("arrived", "desk.said_arrived"),
    ("undone", "desk.said_undone"),
    ("booked", "desk.said_booked"),
    ("here", "desk.said_booked_here"),
    ("moved", "desk.said_moved"),
    ("cancelled", "desk.said_cancelled"),
    ("no-show", "desk.said_no_show"),
    ("reinstated", "desk.said_reinstated"),
];

/// The message about the action that was just done, and the booking whose cancellation or no-show can be undone.
pub(super) struct ActionResult {
    pub(super) message: String,
    pub(super) undo: Option<BookingId>,
}

/// The result of the action that the query names: `done` is the action, `booking` the booking.
pub(super) fn done(site: &Site, call: &Call, zone: &TimeZone) -> Result<Option<ActionResult>, Failure> {
    let word = query_text(call, "done");
    let known = DONE.iter().find(|(known, _)| word == *known);
    let (Some((word, key)), Ok(booking_id)) = (known, query_text(call, "booking").parse()) else { return Ok(None) };
    let found = site.store.read(|tx| {
        let Some(row) = find(tx, booking_id, site.tunnel_id)? else { return Ok(None) };
        Ok(Some((name_of(tx, row.member_id)?.unwrap_or_default(), row)))
    })?;
    let Some((name, row)) = found else { return Ok(None) };
    let at = row.booking.flight_date;
    let message = Text::new(key)
        .with("name", name)
        .with("clock", zone.clock(at))
        .with("day", when::short(call.language(), zone, at))
        .with("minutes", row.booking.minutes_booked);
    let undo = (["cancelled", "no-show"].contains(word) && row.ending.is_some()).then_some(booking_id);
    Ok(Some(ActionResult { message: call.language().say(&message), undo }))
}

/// The URL of a booking on the page of its day; `word` is the value of `done`.
pub(super) fn to_day(site: &Site, zone: &TimeZone, booking_id: BookingId, word: &str) -> Result<String, Failure> {
    let row = site.store.read(|tx| Ok(find(tx, booking_id, site.tunnel_id)?))?.ok_or_else(Failure::not_found)?;
    let day = zone.date(row.booking.flight_date);
    let day = if day == zone.date(site.now()) { String::new() } else { format!("day={day}&") };
    Ok(format!("/desk?{day}done={word}&booking={booking_id}#b{booking_id}"))
}

#[derive(Template)]
#[template(path = "desk/booking.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    booking_id: BookingId,
    member_id: MemberId,
    name: String,
    when: String,
    minutes: i64,
    partner: String,
    badge: Badge,
    is_ended: bool,
    is_here: bool,
    is_today: bool,
    /// Whether the member can be checked in: the flight is today, and the member is not banned.
    may_check_in: bool,
    /// Whether the time of the flight has come.
    is_due: bool,
    /// The mark of the booking as the page shows it.
    seen: String,
    /// Why an action was refused.
    problem: Option<String>,
    /// The begin of the quarter of an hour that has no room; the same form sent again books it all the same.
    full_quarter: Option<Moment>,
    back: String,
    back_text: String,
    form: MoveForm,
}

/// What the page tells of an action that was refused.
#[derive(Default)]
struct Refused {
    problem: Option<String>,
    full_quarter: Option<Moment>,
    form: Option<MoveForm>,
}

/// The values of the form, as typed.
struct MoveForm {
    day: String,
    clock: String,
    minutes: String,
    problem: Option<String>,
    /// Whether the problem is about the minutes, and not about day and time.
    is_about_minutes: bool,
}

/// `GET /desk/bookings/{booking_id}`: the booking, and what can be done with it.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, StatusCode::OK, Refused::default())
}

/// The page with the reason why an action on the booking was refused: the actions that remain are on it. A failure other
/// than 409 is returned.
pub(super) fn refuse(site: &Site, call: &Call, clerk: &Clerk, failure: Failure) -> Answer {
    if failure.status() != StatusCode::CONFLICT {
        return Err(failure);
    }
    let problem = Some(call.language().say(failure.text()));
    page(site, call, clerk, StatusCode::CONFLICT, Refused { problem, ..Refused::default() })
}

fn page(site: &Site, call: &Call, clerk: &Clerk, status: StatusCode, refused: Refused) -> Answer {
    let booking_id = path_id(call, 0)?;
    let frame = Frame::of(site, call, clerk, "/desk")?;
    let (zone, now, language) = (site.time_zone()?, site.now(), call.language());
    let (row, name, partner, banned) = site.store.read(|tx| {
        let row = find(tx, booking_id, site.tunnel_id)?.ok_or_else(Failure::not_found)?;
        let partner = partners::find(tx, &row.client_id)?.map_or_else(String::new, |partner| partner.name);
        let name = name_of(tx, row.member_id)?.unwrap_or_default();
        let banned = members::find_standing(tx, row.member_id)?.is_some_and(|standing| standing.banned);
        Ok((row, name, partner, banned))
    })?;
    let at = row.booking.flight_date;
    let (day, today) = (zone.date(at), zone.date(now));
    let Refused { problem, full_quarter, form } = refused;
    let form = form.unwrap_or_else(|| MoveForm {
        day: day.clone(),
        clock: zone.clock(at),
        minutes: row.booking.minutes_booked.to_string(),
        problem: None,
        is_about_minutes: false,
    });
    let page = Page {
        booking_id,
        member_id: row.member_id,
        name,
        when: when::moment(language, &zone, at),
        minutes: row.booking.minutes_booked,
        partner: frame.tell(&Text::new("desk.booking_of").with("partner", partner)),
        badge: state_badge(&frame, &row),
        is_ended: row.ending.is_some(),
        is_here: row.arrived_at.is_some(),
        is_today: day == today,
        may_check_in: day == today && row.arrived_at.is_none() && !banned,
        is_due: at <= now,
        seen: bookings::mark(&row.booking),
        problem,
        full_quarter,
        back: if day == today { "/desk".to_owned() } else { format!("/desk?day={day}") },
        back_text: match day == today {
            true => frame.say("desk.back"),
            false => frame.tell(&Text::new("desk.booking_back").with("day", when::short(language, &zone, at))),
        },
        form,
        frame,
    };
    Ok(shown(status, language, &page))
}

/// The badge for the state of a booking.
fn state_badge(frame: &Frame, row: &BookingRow) -> Badge {
    let (tone, key) = match (row.ending, row.arrived_at) {
        (Some(Ending::Cancelled), _) => ("plain", "desk.mark_cancelled"),
        (Some(Ending::NoShow), _) => ("bad", "desk.mark_no_show"),
        (None, Some(_)) => ("good", "desk.mark_here"),
        (None, None) => ("plain", "desk.mark_booked"),
    };
    Badge::new(tone, frame.say(key))
}

/// `POST /desk/bookings/{booking_id}/move`: another day, time or length.
pub(crate) fn move_to(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = path_id(call, 0)?;
    let (sent, seen, full_quarter) = read_form(call, |form| {
        let sent = MoveForm {
            day: form.line("day", 254),
            clock: form.line("clock", 254),
            minutes: form.line("minutes", 254),
            problem: None,
            is_about_minutes: false,
        };
        (sent, form.seen(), full_quarter_of(form))
    })?;
    let zone = site.time_zone()?;
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let at = zone.start_of_date(&sent.day).and_then(|day| zone.at_clock(day, &sent.clock));
    let (Some(at), Some(length)) = (at, length) else {
        let is_about_minutes = at.is_some();
        let problem = call.say(if is_about_minutes { "desk.walk_in_minutes" } else { "desk.move_when" });
        return again(site, call, clerk, MoveForm { is_about_minutes, ..sent }, problem);
    };
    let moved = app::try_change(site, clerk, call.language(), |cx| {
        bookings::move_to(cx, booking_id, at, length, (&seen, full_quarter))
    });
    match moved {
        Ok(_) => Ok(reply::see_other(&to_day(site, &zone, booking_id, "moved")?)),
        Err(Stop::Denied(Full(begins))) => {
            let problem = Some(call.say("desk.place_full"));
            let refused = Refused { problem, full_quarter: Some(begins), form: Some(sent) };
            page(site, call, clerk, StatusCode::CONFLICT, refused)
        }
        // What was typed stays, also beside a booking that changed meanwhile.
        Err(Stop::Failed(failure)) if failure.status() == StatusCode::CONFLICT => {
            let problem = Some(call.language().say(failure.text()));
            page(site, call, clerk, StatusCode::CONFLICT, Refused { problem, full_quarter, form: Some(sent) })
        }
        Err(Stop::Failed(failure)) => again(site, call, clerk, sent, field_error_text(failure, call.language())?),
    }
}

/// The page with the form that was refused.
fn again(site: &Site, call: &Call, clerk: &Clerk, sent: MoveForm, problem: String) -> Answer {
    let form = MoveForm { problem: Some(problem), ..sent };
    page(site, call, clerk, StatusCode::UNPROCESSABLE_ENTITY, Refused { form: Some(form), ..Refused::default() })
}

/// `POST /desk/bookings/{booking_id}/cancel`.
pub(crate) fn cancel(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, bookings::cancel, "cancelled")
}

/// `POST /desk/bookings/{booking_id}/no-show`.
pub(crate) fn set_no_show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, bookings::set_no_show, "no-show")
}

/// `POST /desk/bookings/{booking_id}/reinstate`: undoes a cancellation or a no-show.
pub(crate) fn reinstate(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = path_id(call, 0)?;
    let full_quarter = read_form(call, full_quarter_of)?;
    let effect = |cx: &Change| bookings::reinstate(cx, booking_id, full_quarter);
    match app::try_change(site, clerk, call.language(), effect) {
        Ok(_) => Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, "reinstated")?)),
        Err(Stop::Denied(Full(begins))) => {
            let problem = Some(call.say("desk.reinstate_full"));
            let refused = Refused { problem, full_quarter: Some(begins), form: None };
            page(site, call, clerk, StatusCode::CONFLICT, refused)
        }
        Err(Stop::Failed(failure)) => refuse(site, call, clerk, failure),
    }
}

/// The begin of a quarter of an hour of which the clerk knows that it is full.
pub(super) fn full_quarter_of(form: &mut Form) -> Option<Moment> {
    form.optional("full_quarter", |value| fields::whole_in(0..=i64::MAX)(value).map(Moment))
}

fn change(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    effect: fn(&Change, BookingId, &Seen) -> Result<Outcome, Failure>,
    word: &str,
) -> Answer {
    let booking_id = path_id(call, 0)?;
    let seen = read_form(call, Form::seen)?;
    if let Err(failure) = app::change(site, clerk, call.language(), |cx| effect(cx, booking_id, &seen)) {
        return refuse(site, call, clerk, failure);
    }
    Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, word)?))
}
