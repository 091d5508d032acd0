//! Records a booking that a partner or the desk sent, with its history event, logbook entry and notice.

use super::{audit, note_sent, notice_detail};
use crate::app::{Change, Outcome, flights};
use crate::domain::booking::Booking;
use crate::domain::role::Rank;
use crate::http::failure::Failure;
use crate::store::Write;
use crate::store::queries::standing;
use crate::store::tables::bookings::{self, Ending};
use crate::store::tables::history::{self, Event, EventSubject};
use crate::store::tables::{endings, notices};

/// Adds or updates a booking as [`record`] does, with an audit row unless a partner books. Returns its number.
pub(in crate::app) fn record_and_audit(
    cx: &Change,
    partner_id: i64,
    member_id: i64,
    sent: &Booking,
) -> Result<i64, Failure> {
    let (booking_id, outcome) = record(cx, partner_id, member_id, sent)?;
    if outcome == Outcome::Done && cx.rank != Rank::Outside {
        audit(cx, "booking.made", member_id, booking_id)?;
    }
    Ok(booking_id)
}

/// Stores a booking that a partner sent: inserts it, updates the known booking, or leaves it unchanged.
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
    // A value that the partner changed is applied. A value that only the desk changed stays.
    let keep = |said: i64, sent: i64, stands: i64| if said == sent { stands } else { sent };
    let stands = &Booking {
        flight_date: keep(said.flight_date, sent.flight_date, known.booking.flight_date),
        minutes_booked: keep(said.minutes_booked, sent.minutes_booked, known.booking.minutes_booked),
        ..sent.clone()
    };
    bookings::update(tx, known.booking_id, stands)?;
    note_sent(tx, known.booking_id, sent, stands)?;
    write_history(tx, partner_id, Event::BookingChanged, member_id, known.booking_id, sent)?;
    // A changed number of minutes does not rebook a no-show, and enters no flight time.
    let is_missed = known.ending == Some(Ending::NoShow) && said.flight_date == sent.flight_date;
    if known.ending.is_some() && shows_otherwise(&said, sent) && !is_missed {
        endings::unset_ended(tx, known.booking_id)?;
        enter_flight_time(cx, member_id, known.booking_id, stands)?;
        return Ok((known.booking_id, Outcome::Done));
    }
    flights::change_booked(cx, &known, stands)?;
    if shows_otherwise(&known.booking, stands) {
        notices::insert(tx, member_id, "notice.booking_changed", &notice_detail(known.booking_id, stands))?;
    }
    Ok((known.booking_id, Outcome::Done))
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

/// Enters the minutes in the logbook of a current flyer. An entry for a flyer whose currency has lapsed would silently
/// restore the currency, so the flyer is notified what to do instead. The minutes of a flyer without a signed waiver
/// wait for the check-in.
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

/// Whether a change concerns the member: the flight date, the minutes or the tunnel, but not a purchase number.
fn shows_otherwise(known: &Booking, sent: &Booking) -> bool {
    (known.flight_date, known.minutes_booked, known.tunnel_id)
        != (sent.flight_date, sent.minutes_booked, sent.tunnel_id)
}
