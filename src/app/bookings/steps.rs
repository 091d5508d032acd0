//! The steps of a booking: the one place that changes a booking, whoever does it. Each step writes the booking, its flight
//! time, the notice to the member, the audit row, and the history row with the values as they stand after it.

use super::room::Placed;
use super::{audit, notice_detail};
use crate::app::{Change, Outcome, events, flights};
use crate::domain::booking::{Booking, changed};
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::domain::role::Rank;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Write;
use crate::store::queries::standing;
use crate::store::tables::bookings::{self, BookingRow, Ending};
use crate::store::tables::events::Event;
use crate::store::tables::{endings, notices, replays};

/// A step of a booking that is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    /// The partner sent the booking again with other values: what was sent, and the booking as it stands after that. An
    /// ended booking is booked anew where the values concern the member.
    Change {
        sent: &'a Booking,
        stands: &'a Booking,
    },
    /// The desk gives it another time or length.
    Move(&'a Booking, Placed),
    End(Ending),
    /// An ending is undone.
    Restore(Placed),
    /// The member has come, at a moment.
    CheckIn(Moment),
    UndoCheckIn,
}

impl Step<'_> {
    fn event(self) -> Event {
        match self {
            Step::Change { .. } => Event::BookingChanged,
            Step::Move(..) => Event::BookingMoved,
            Step::End(Ending::Cancelled) => Event::BookingCancelled,
            Step::End(Ending::NoShow) => Event::BookingMissed,
            Step::Restore(_) => Event::BookingRestored,
            Step::CheckIn(_) => Event::BookingCheckedIn,
            Step::UndoCheckIn => Event::CheckInUndone,
        }
    }

    /// The action in the audit log.
    fn action(self) -> &'static str {
        match self {
            Step::Change { .. } => "booking.made",
            Step::Move(..) => "booking.moved",
            Step::End(Ending::Cancelled) => "booking.cancelled",
            Step::End(Ending::NoShow) => "booking.no_show",
            Step::Restore(_) => "booking.reinstated",
            Step::CheckIn(_) => "booking.checked_in",
            Step::UndoCheckIn => "booking.check_in_undone",
        }
    }

    /// The subject of the notice to the member; of a change, [`change`] gives notice.
    fn notice(self) -> Option<&'static str> {
        match self {
            Step::Move(..) => Some("notice.booking_changed"),
            Step::End(Ending::Cancelled) => Some("notice.booking_cancelled"),
            Step::End(Ending::NoShow) => Some("notice.booking_no_show"),
            Step::Restore(_) => Some("notice.booking_reinstated"),
            Step::Change { .. } | Step::CheckIn(_) | Step::UndoCheckIn => None,
        }
    }

    /// Whether the kept outcomes about a known booking are void: it ends or moves, or one that had ended is booked anew.
    fn voids_outcomes(self, known: &BookingRow) -> bool {
        match self {
            Step::Move(..) | Step::End(_) | Step::Restore(_) => true,
            Step::Change { sent, .. } => known.ending.is_some() && concerns_member(&known.as_sent(), sent),
            Step::CheckIn(_) | Step::UndoCheckIn => false,
        }
    }

    fn is_arrival(self) -> bool {
        matches!(self, Step::CheckIn(_) | Step::UndoCheckIn)
    }
}

/// Takes a step of a known booking; the caller has checked that the booking's state and the actor allow it. A second
/// check-in, or a second undoing of one, changes nothing. 409 for a check-in where the member may not fly.
pub(super) fn take(cx: &Change, known: &BookingRow, step: Step) -> Result<Outcome, Failure> {
    let booking_id = known.booking_id;
    let stands = match step {
        Step::Change { sent, stands } => {
            change(cx, known, sent, stands)?;
            stands
        }
        Step::Move(to, _) => {
            bookings::update_booking(cx.tx, booking_id, to)?;
            note_sent(cx.tx, booking_id, &known.as_sent(), to)?;
            flights::change_booked(cx, known, to)?;
            to
        }
        Step::End(ending) => {
            let time = flights::take_booked(cx, known)?;
            endings::set_ended(cx.tx, booking_id, ending, cx.member_id(), time.as_ref())?;
            &known.booking
        }
        Step::Restore(_) => {
            if let Some(time) = endings::unset_ended(cx.tx, booking_id)? {
                flights::enter_again(cx, known, &time)?;
            }
            &known.booking
        }
        Step::CheckIn(_) if known.arrived_at.is_some() => return Ok(Outcome::Unchanged),
        Step::CheckIn(at) => {
            flights::enter_on_arrival(cx, known)?;
            bookings::set_arrived(cx.tx, booking_id, at, cx.member_id())?;
            &known.booking
        }
        Step::UndoCheckIn if known.arrived_at.is_none() => return Ok(Outcome::Unchanged),
        Step::UndoCheckIn => {
            flights::remove_on_departure(cx, known)?;
            bookings::unset_arrived(cx.tx, booking_id)?;
            &known.booking
        }
    };
    if let Some(subject) = step.notice() {
        notices::insert(cx.tx, known.member_id, subject, &notice_detail(booking_id, stands))?;
    }
    if step.voids_outcomes(known) {
        replays::void_about_booking(cx.tx, booking_id)?;
    }
    write_history(cx, booking_id, step.event())?;
    // A member who checks in for the own booking, and a partner, leave no audit row.
    let is_own = step.is_arrival() && cx.member_id() == Some(known.member_id);
    if cx.rank != Rank::Outside && !is_own {
        audit(cx, step.action(), known.member_id, booking_id)?;
    }
    Ok(Outcome::Done)
}

/// Records a new booking. Returns its number.
pub(super) fn record(
    cx: &Change,
    partner_id: PartnerId,
    member_id: MemberId,
    sent: &Booking,
    _placed: Placed,
) -> Result<BookingId, Failure> {
    let booking_id = bookings::insert_booking(cx.tx, partner_id, member_id, sent)?;
    enter_flight_time(cx, member_id, booking_id, sent)?;
    write_history(cx, booking_id, Event::BookingRecorded)?;
    if cx.rank != Rank::Outside {
        audit(cx, "booking.made", member_id, booking_id)?;
    }
    Ok(booking_id)
}

/// Adds a booking of an imported list. Another site recorded it, and its history went upstream from there.
pub(in crate::app) fn import(
    tx: &Write,
    partner_id: PartnerId,
    member_id: MemberId,
    booking: &Booking,
) -> Result<(), Failure> {
    bookings::insert_booking(tx, partner_id, member_id, booking)?;
    Ok(())
}

/// Notes in the history that a booking has another member: two accounts of one person were joined, or that was undone.
pub(in crate::app) fn note_owner(cx: &Change, booking_id: BookingId) -> Result<(), Failure> {
    write_history(cx, booking_id, Event::BookingChanged)
}

fn change(cx: &Change, known: &BookingRow, sent: &Booking, stands: &Booking) -> Result<(), Failure> {
    bookings::update_booking(cx.tx, known.booking_id, stands)?;
    note_sent(cx.tx, known.booking_id, sent, stands)?;
    if known.ending.is_some() && concerns_member(&known.as_sent(), sent) {
        endings::unset_ended(cx.tx, known.booking_id)?;
        flights::stop_waiting(cx, known)?;
        return enter_flight_time(cx, known.member_id, known.booking_id, stands);
    }
    flights::change_booked(cx, known, stands)?;
    if concerns_member(&known.booking, stands) {
        let detail = notice_detail(known.booking_id, stands);
        notices::insert(cx.tx, known.member_id, "notice.booking_changed", &detail)?;
    }
    Ok(())
}

/// Whether a change concerns the member: the flight date, the minutes or the tunnel, but not a purchase number.
pub(super) fn concerns_member(known: &Booking, sent: &Booking) -> bool {
    (known.flight_date, known.minutes_booked, known.tunnel_id)
        != (sent.flight_date, sent.minutes_booked, sent.tunnel_id)
}

/// Stores the date and the minutes that the partner sent where they differ from those in force.
fn note_sent(tx: &Write, booking_id: BookingId, sent: &Booking, stands: &Booking) -> Result<(), Failure> {
    let flight_date = changed(stands.flight_date, sent.flight_date);
    let minutes = changed(stands.minutes_booked, sent.minutes_booked);
    bookings::set_sent(tx, booking_id, flight_date, minutes)?;
    Ok(())
}

/// Adds the event with the booking as it stands now.
fn write_history(cx: &Change, booking_id: BookingId, event: Event) -> Result<(), Failure> {
    let row = bookings::find_by_id(cx.tx, booking_id)?.ok_or_else(Failure::broken)?;
    events::tell_of_booking(cx.tx, event, &row)
}

/// Enters the minutes in the logbook of a current flyer. An entry for a flyer whose currency has lapsed would silently
/// restore the currency, so the flyer is notified what to do instead. The minutes of a flyer without a signed waiver
/// wait for the check-in.
fn enter_flight_time(cx: &Change, member_id: MemberId, booking_id: BookingId, sent: &Booking) -> Result<(), Failure> {
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
