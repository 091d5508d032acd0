//! Bookings: made by a partner or at the desk, with their traces in the history, the logbook and the member's notices; and
//! who has come for them.

use super::{Change, Outcome, family, flights};
use crate::domain::audit::{Detail, Subject};
use crate::domain::booking::{self, Booking, Denial};
use crate::domain::role::Rank;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::Write;
use crate::store::queries::standing;
use crate::store::tables::bookings::{self, BookingRow, Ending};
use crate::store::tables::entries;
use crate::store::tables::history::{self, Event, EventSubject};
use crate::store::tables::{members, notices, partners, tunnels};

/// The client in whose name the desk books.
pub(crate) const DESK_CLIENT_ID: &str = "front-desk";
const DESK_CLIENT_NAME: &str = "Front desk";

/// Books for a member in the name of a partner; `Err` is why the member cannot book. The same booking sent again is the
/// same, with the later values. Audited where the actor is somebody of this site: what partners do is in the history. The
/// member is told what is new. Returns the number of the booking.
pub(crate) fn book(
    cx: &Change,
    partner_id: i64,
    member_id: i64,
    sent: &Booking,
) -> Result<Result<i64, Denial>, Failure> {
    Ok(match admit(cx, member_id, sent.flight_date, Address::Of(member_id))? {
        Ok(()) => Ok(put(cx, partner_id, member_id, sent)?),
        Err(denial) => Err(denial),
    })
}

/// Books in the name of the desk, for a member who is there; else as [`book`]. `number` tells the bookings of the desk
/// apart.
pub(crate) fn book_at_desk(
    cx: &Change,
    member_id: i64,
    flight_date: i64,
    minutes_booked: i64,
    number: i64,
) -> Result<Result<i64, Denial>, Failure> {
    cx.check_staff()?;
    if let Err(denial) = admit(cx, member_id, flight_date, Address::NotAsked)? {
        return Ok(Err(denial));
    }
    let partner_id = desk_client(cx)?;
    let mut sent = Booking {
        registration_id: Some(number),
        purchase_id: None,
        purchase_date: Some(cx.now()),
        flight_date,
        minutes_booked,
        product_id: None,
        tunnel_id: cx.site.tunnel_id,
        checkin_time: None,
    };
    // Bought when the form came first.
    if let Some(known) = bookings::find_same(cx.tx, partner_id, member_id, &sent)? {
        sent.purchase_date = known.booking.purchase_date;
    }
    Ok(Ok(put(cx, partner_id, member_id, &sent)?))
}

/// Books in the name of the desk for a flight at this moment, and checks the member in where the waiver allows it; else as
/// [`book_at_desk`].
pub(crate) fn book_here_now(
    cx: &Change,
    member_id: i64,
    minutes_booked: i64,
    number: i64,
) -> Result<Result<i64, Denial>, Failure> {
    cx.check_staff()?;
    // The same form sent again is the flight of the first time.
    let known = bookings::find_by_registration(cx.tx, desk_client(cx)?, number)?;
    let flight_date = known.map_or(cx.now(), |known| known.as_sent().flight_date);
    let booked = book_at_desk(cx, member_id, flight_date, minutes_booked, number)?;
    if let Ok(booking_id) = booked {
        match check_in(cx, booking_id) {
            // The booking is taken, and its check-in waits for the waiver.
            Err(failure) if failure.code() == Failure::waiver_missing().code() => {}
            checked_in => _ = checked_in?,
        }
    }
    Ok(booked)
}

/// The client in whose name the desk books; made where the desk never booked.
pub(super) fn desk_client(cx: &Change) -> Result<i64, Failure> {
    Ok(match partners::find(cx.tx, DESK_CLIENT_ID)? {
        Some(desk) => desk.partner_id,
        None => partners::insert(cx.tx, DESK_CLIENT_ID, DESK_CLIENT_NAME, false, None)?,
    })
}

/// Whose confirmed e-mail address is asked for. A missing one hides no other denial: ban, membership and birth are judged in any
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// The flyer's, or this member's in its place: a guardian's for a child's.
    Of(i64),
    /// Nobody's: somebody sees who books.
    NotAsked,
}

/// Whether the member may book a flight of that date. 422 at `flight_date` for one before the member's birth.
pub(super) fn admit(
    cx: &Change,
    member_id: i64,
    flight_date: i64,
    address: Address,
) -> Result<Result<(), Denial>, Failure> {
    let find_standing = |id: i64| members::find_standing(cx.tx, id)?.ok_or_else(Failure::not_found);
    let mut standing = find_standing(member_id)?;
    if !standing.email_confirmed {
        standing.email_confirmed = match address {
            Address::NotAsked => true,
            Address::Of(other) => other != member_id && find_standing(other)?.email_confirmed,
        };
    }
    if cx.site.config.first_flight_unconfirmed && !standing.email_confirmed && !bookings::has_flown(cx.tx, member_id)? {
        standing.email_confirmed = true;
    }
    if let Err(denial) = booking::admit(&standing, cx.site.config.yearly_fee_cents, cx.now()) {
        return Ok(Err(denial));
    }
    if members::find_holder(cx.tx, member_id)?.dob.is_some_and(|born| flight_date < born) {
        return Err(Failure::field("flight_date", Text::new("field.before_birth")));
    }
    Ok(Ok(()))
}

pub(super) fn put(cx: &Change, partner_id: i64, member_id: i64, sent: &Booking) -> Result<i64, Failure> {
    let (booking_id, outcome) = record(cx, partner_id, member_id, sent)?;
    if outcome == Outcome::Done && cx.rank != Rank::Outside {
        audit(cx, "booking.made", member_id, booking_id)?;
    }
    Ok(booking_id)
}

/// Notes that the member of a booking is here: by the desk; by a member for the own booking of today, and for one of a child
/// for whom the member acts. A second time changes nothing. 409 where the member has signed no waiver that is in force, or the
/// booking was cancelled, or stands as one to which nobody came. Audited, unless the booking is the actor's own.
pub(crate) fn check_in(cx: &Change, booking_id: i64) -> Result<Outcome, Failure> {
    check_in_at(cx, booking_id, cx.now())
}

/// The same for somebody who came at a moment that is over: a kiosk took the check-in while the site did not answer.
pub(crate) fn check_in_at(cx: &Change, booking_id: i64, at: i64) -> Result<Outcome, Failure> {
    let known = find(cx, booking_id)?;
    if !cx.rank.is_staff() {
        let today = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?.day(at, 0);
        let is_today = (today.from..today.to).contains(&known.booking.flight_date);
        let member_id = cx.member_id().ok_or_else(Failure::not_found)?;
        let acts = member_id == known.member_id || family::acts_for(cx.site, cx.tx, member_id, known.member_id)?;
        if !acts || !is_today {
            return Err(Failure::not_found());
        }
    }
    let standing = members::find_standing(cx.tx, known.member_id)?.ok_or_else(Failure::not_found)?;
    // The desk can settle other obstacles (a brief, a waiver, a fee) on the spot, but not a ban.
    if standing.banned {
        return Err(Failure::not_allowed().saying(Text::new("desk.banned_no_check_in")));
    }
    check_in_force(&known)?;
    let changed = flights::check_in(cx, &known, at)?;
    finish(cx, "booking.checked_in", known.member_id, booking_id, changed)
}

/// Takes a check-in back: by the desk. Audited, unless the booking is the actor's own.
pub(crate) fn undo_check_in(cx: &Change, booking_id: i64) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    let changed = flights::undo_check_in(cx, &known)?;
    finish(cx, "booking.check_in_undone", known.member_id, booking_id, changed)
}

/// Moves a booking of any partner to another time, or gives it other minutes: by the desk. The flight time that the
/// booking entered follows. 422 at `flight_date` for a day that is over or before the member's birth; 409 where the
/// booking has ended, and for another day while the member is checked in. The fields that the partner sent are kept: the
/// same booking sent again does not move it back. Audited; the member is told.
pub(crate) fn move_to(cx: &Change, booking_id: i64, flight_date: i64, minutes: i64) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    check_in_force(&known)?;
    let moved = Booking { flight_date, minutes_booked: minutes, ..known.booking.clone() };
    if moved == known.booking {
        return Ok(Outcome::Unchanged);
    }
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    if flight_date != known.booking.flight_date && flight_date < zone.day(cx.now(), 0).from {
        return Err(Failure::field("flight_date", Text::new("desk.move_past")));
    }
    // A member who is checked in flies on the day of the check-in.
    if known.arrived_at.is_some() && zone.date(flight_date) != zone.date(known.booking.flight_date) {
        return Err(Failure::booking_state().saying(Text::new("desk.end_arrived")));
    }
    let born = members::find_holder(cx.tx, known.member_id)?.dob;
    if born.is_some_and(|born| flight_date < born) {
        return Err(Failure::field("flight_date", Text::new("field.before_birth")));
    }
    bookings::update(cx.tx, booking_id, &moved)?;
    note_sent(cx.tx, booking_id, &known.as_sent(), &moved)?;
    flights::change_booked(cx, &known, &moved)?;
    notices::insert(cx.tx, known.member_id, "notice.booking_changed", &notice_detail(booking_id, &moved))?;
    audit(cx, "booking.moved", known.member_id, booking_id)?;
    Ok(Outcome::Done)
}

/// Cancels a booking of any partner: by the desk. The flight time that the booking entered goes. 409 while the member is
/// checked in. Audited; the member is told.
pub(crate) fn cancel(cx: &Change, booking_id: i64) -> Result<Outcome, Failure> {
    end(cx, booking_id, Ending::Cancelled)
}

/// Notes that nobody came for a booking whose time has begun: by the desk. The flight time that the booking entered goes. 409
/// while the member is checked in, or where the flight is still to come. Audited; the member is told.
pub(crate) fn set_no_show(cx: &Change, booking_id: i64) -> Result<Outcome, Failure> {
    if find(cx, booking_id)?.booking.flight_date > cx.now() {
        return Err(Failure::booking_state().saying(Text::new("desk.no_show_early")));
    }
    end(cx, booking_id, Ending::NoShow)
}

/// Takes a cancellation or a no-show back: by the desk. The flight time that went with it is in the logbook again. Audited;
/// the member is told.
pub(crate) fn reinstate(cx: &Change, booking_id: i64) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    if known.ending.is_none() {
        return Ok(Outcome::Unchanged);
    }
    if let Some(time) = bookings::unset_ended(cx.tx, booking_id)? {
        flights::enter_again(cx, &known, &time)?;
    }
    notices::insert(cx.tx, known.member_id, "notice.booking_reinstated", &notice_detail(booking_id, &known.booking))?;
    audit(cx, "booking.reinstated", known.member_id, booking_id)?;
    Ok(Outcome::Done)
}

fn end(cx: &Change, booking_id: i64, ending: Ending) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    if known.ending == Some(ending) {
        return Ok(Outcome::Unchanged);
    }
    check_in_force(&known)?;
    if known.arrived_at.is_some() {
        return Err(Failure::booking_state().saying(Text::new("desk.end_arrived")));
    }
    let time = entries::take_booked_time(cx.tx, booking_id)?;
    bookings::set_ended(cx.tx, booking_id, ending, cx.member_id(), time.as_ref())?;
    let (action, subject) = match ending {
        Ending::Cancelled => ("booking.cancelled", "notice.booking_cancelled"),
        Ending::NoShow => ("booking.no_show", "notice.booking_no_show"),
    };
    notices::insert(cx.tx, known.member_id, subject, &notice_detail(booking_id, &known.booking))?;
    audit(cx, action, known.member_id, booking_id)?;
    Ok(Outcome::Done)
}

/// A booking at this tunnel; 404 where there is none.
fn find(cx: &Change, booking_id: i64) -> Result<BookingRow, Failure> {
    bookings::find(cx.tx, booking_id, cx.site.tunnel_id)?.ok_or_else(Failure::not_found)
}

fn check_in_force(known: &BookingRow) -> Result<(), Failure> {
    match known.ending {
        None => Ok(()),
        Some(Ending::Cancelled) => Err(Failure::booking_state().saying(Text::new("desk.booking_cancelled"))),
        Some(Ending::NoShow) => Err(Failure::booking_state().saying(Text::new("desk.booking_no_show"))),
    }
}

fn finish(
    cx: &Change,
    action: &'static str,
    member_id: i64,
    booking_id: i64,
    changed: usize,
) -> Result<Outcome, Failure> {
    if changed == 0 {
        return Ok(Outcome::Unchanged);
    }
    if cx.member_id() != Some(member_id) {
        audit(cx, action, member_id, booking_id)?;
    }
    Ok(Outcome::Done)
}

fn audit(cx: &Change, action: &'static str, member_id: i64, booking_id: i64) -> Result<(), Failure> {
    cx.record(action, &Subject::Member(member_id), &Detail::none().number("booking_id", booking_id))
}

/// The booking that was sent: new, changed, or as it was.
fn record(cx: &Change, partner_id: i64, member_id: i64, sent: &Booking) -> Result<(i64, Outcome), Failure> {
    let tx = cx.tx;
    let known = match bookings::find_same(tx, partner_id, member_id, sent)? {
        None => bookings::find_of_purchase(tx, partner_id, member_id, sent)?,
        known => known,
    };
    let Some(known) = known else {
        let booking_id = bookings::insert(tx, partner_id, member_id, sent)?;
        write_history(tx, partner_id, Event::BookingRecorded, member_id, booking_id, sent)?;
        enter_flight_time(cx, member_id, booking_id, sent)?;
        return Ok((booking_id, Outcome::Done));
    };
    if known.member_id != member_id {
        return Err(Failure::booking_of_another_member());
    }
    let said = known.as_sent();
    let sent = &said.renewed(sent);
    if said == *sent {
        return Ok((known.booking_id, Outcome::Unchanged));
    }
    // A value that the partner changed counts; one that the desk changed since and the partner did not stays.
    let keep = |said: i64, sent: i64, stands: i64| if said == sent { stands } else { sent };
    let stands = &Booking {
        flight_date: keep(said.flight_date, sent.flight_date, known.booking.flight_date),
        minutes_booked: keep(said.minutes_booked, sent.minutes_booked, known.booking.minutes_booked),
        ..sent.clone()
    };
    bookings::update(tx, known.booking_id, stands)?;
    note_sent(tx, known.booking_id, sent, stands)?;
    write_history(tx, partner_id, Event::BookingChanged, member_id, known.booking_id, sent)?;
    // Other minutes of a flight to which nobody came are no new booking, and enter no flight time.
    let is_missed = known.ending == Some(Ending::NoShow) && said.flight_date == sent.flight_date;
    if known.ending.is_some() && shows_otherwise(&said, sent) && !is_missed {
        // Booked anew.
        bookings::unset_ended(tx, known.booking_id)?;
        enter_flight_time(cx, member_id, known.booking_id, stands)?;
        return Ok((known.booking_id, Outcome::Done));
    }
    flights::change_booked(cx, &known, stands)?;
    if shows_otherwise(&known.booking, stands) {
        notices::insert(tx, member_id, "notice.booking_changed", &notice_detail(known.booking_id, stands))?;
    }
    Ok((known.booking_id, Outcome::Done))
}

/// Keeps what the partner said beside what stands, where the two differ.
fn note_sent(tx: &Write, booking_id: i64, sent: &Booking, stands: &Booking) -> Result<(), Failure> {
    let other = |sent: i64, stands: i64| (sent != stands).then_some(sent);
    let flight_date = other(sent.flight_date, stands.flight_date);
    bookings::set_sent(tx, booking_id, flight_date, other(sent.minutes_booked, stands.minutes_booked))?;
    Ok(())
}

fn write_history(
    tx: &Write,
    partner_id: i64,
    event: Event,
    member_id: i64,
    booking_id: i64,
    sent: &Booking,
) -> Result<(), Failure> {
    let detail = history::booking_detail(sent);
    let about = EventSubject {
        member_id: Some(member_id),
        booking_id: Some(booking_id),
        detail: Some(&detail),
        ..EventSubject::default()
    };
    history::insert(tx, partner_id, event, &about)?;
    Ok(())
}

/// A current flyer gets the minutes in the logbook. One whose currency has lapsed does not, because the entry would
/// quietly restore it, and is told what to do instead; likewise one who has signed no waiver yet.
fn enter_flight_time(cx: &Change, member_id: i64, booking_id: i64, sent: &Booking) -> Result<(), Failure> {
    let flyer = standing::read(cx.tx, member_id, cx.now())?;
    let is_current = flyer.currency.flyer.current;
    let waits = flights::enter_booked(cx, member_id, booking_id, sent, is_current)?;
    let subject = match flyer.holds_flyer_1 && !is_current {
        true => "notice.booking_not_current",
        false if waits => "notice.booking_waits",
        false => "notice.booking_recorded",
    };
    notices::insert(cx.tx, member_id, subject, &notice_detail(booking_id, sent))?;
    Ok(())
}

/// Whether what changed is of the member's concern: a purchase number is not.
fn shows_otherwise(known: &Booking, sent: &Booking) -> bool {
    (known.flight_date, known.minutes_booked, known.tunnel_id)
        != (sent.flight_date, sent.minutes_booked, sent.tunnel_id)
}

fn notice_detail(booking_id: i64, sent: &Booking) -> String {
    let values = serde_json::json!({ "booking_id": booking_id, "flight_date": sent.flight_date, "minutes": sent.minutes_booked });
    values.to_string()
}
