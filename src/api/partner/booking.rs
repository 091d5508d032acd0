//! A booking that somebody made for a member, a partner or the desk: kept once, with its traces in the history, the
//! logbook and the member's notices.

use crate::domain::booking::Booking;
use crate::http::failure::Failure;
use crate::store::Write;
use crate::store::queries::standing;
use crate::store::tables::entries::{self, NewTime};
use crate::store::tables::history::{self, About, Event};
use crate::store::tables::{bookings, notices};

/// The booking that was sent: new, changed, or as it was.
pub fn record(tx: &Write, partner_id: i64, member_id: i64, sent: &Booking) -> Result<i64, Failure> {
    let known = match bookings::find_same(tx, partner_id, member_id, sent)? {
        None => bookings::find_of_purchase(tx, partner_id, member_id, sent)?,
        known => known,
    };
    let Some(known) = known else {
        let booking_id = bookings::insert(tx, partner_id, member_id, sent)?;
        write_history(tx, partner_id, Event::BookingRecorded, member_id, booking_id, sent)?;
        enter_flight_time(tx, member_id, booking_id, sent)?;
        return Ok(booking_id);
    };
    if known.member_id != member_id {
        return Err(Failure::booking_of_another_member());
    }
    let sent = &known.booking.renewed(sent);
    if known.booking != *sent {
        bookings::update(tx, known.booking_id, sent)?;
        change_flight_time(tx, known.booking_id, &known.booking, sent)?;
        write_history(tx, partner_id, Event::BookingChanged, member_id, known.booking_id, sent)?;
        if shows_otherwise(&known.booking, sent) {
            notices::insert(tx, member_id, "notice.booking_changed", &notice_detail(known.booking_id, sent))?;
        }
    }
    Ok(known.booking_id)
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
    let about =
        About { member_id: Some(member_id), booking_id: Some(booking_id), detail: Some(&detail), ..About::default() };
    history::insert(tx, partner_id, event, &about)?;
    Ok(())
}

/// A current flyer gets the minutes in the logbook. One whose currency has lapsed does not, because the entry would
/// quietly restore it, and is told what to do instead.
fn enter_flight_time(tx: &Write, member_id: i64, booking_id: i64, sent: &Booking) -> Result<(), Failure> {
    let flyer = standing::read(tx, member_id, tx.now())?;
    if flyer.currency.flyer.current {
        let time = NewTime {
            entry_date: sent.flight_date,
            minutes: sent.minutes_booked,
            tunnel_id: sent.tunnel_id,
            comment: String::new(),
        };
        entries::insert_time(tx, member_id, member_id, Some(booking_id), &time)?;
    }
    let lapsed = flyer.holds_flyer_1 && !flyer.currency.flyer.current;
    let subject = if lapsed { "notice.booking_not_current" } else { "notice.booking_recorded" };
    notices::insert(tx, member_id, subject, &notice_detail(booking_id, sent))?;
    Ok(())
}

/// The flight time that the booking entered follows what became another: a member may have edited it, and the partner who
/// sends the booking again knows nothing of that.
fn change_flight_time(tx: &Write, booking_id: i64, known: &Booking, sent: &Booking) -> Result<(), Failure> {
    let other = |known: i64, sent: i64| (known != sent).then_some(sent);
    let (date, minutes) =
        (other(known.flight_date, sent.flight_date), other(known.minutes_booked, sent.minutes_booked));
    if date.is_some() || minutes.is_some() {
        entries::update_booked_time(tx, booking_id, date, minutes, other(known.tunnel_id, sent.tunnel_id))?;
    }
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
