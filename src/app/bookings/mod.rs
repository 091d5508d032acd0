//! Bookings by a partner or at the desk; check-ins, moves, cancellations and no-shows. The functions here check whether
//! somebody may do it; [`steps`] does it.

mod of_desk;
mod of_family;
pub(crate) mod of_partner;
mod record;
mod room;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use of_desk::{
    DESK_CLIENT_ID, DeskBooking, NotBooked, book_at_desk, book_here_now, desk_client, find_on_day,
};
pub(super) use of_desk::{find_of_desk, of_desk, sent_before};
pub(crate) use of_family::{check_in_family, family_waits};
pub(crate) use record::find_known;
pub(super) use record::record;
pub(crate) use room::{Full, Quarter, begin_of};
pub(super) use room::{Placed, place};
pub(super) use steps::{import, note_owner};

use super::seen::{self, Seen};
use super::{Change, Outcome, family};
use crate::domain::audit::{Detail, Subject};
use crate::domain::booking::{self, Booking, Denial};
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::when;
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::bookings::{self, BookingRow, Ending};
use crate::store::tables::{members, refused_check_ins, tunnels};
use steps::Step;

/// Checks in where the waiver allows it. Otherwise the check-in waits for the waiver: `false`.
pub(super) fn check_in_where_allowed(cx: &Change, booking_id: BookingId) -> Result<bool, Failure> {
    match check_in(cx, booking_id) {
        Err(failure) if failure.is(Failure::waiver_missing) => Ok(false),
        checked_in => checked_in.map(|_| true),
    }
}

/// Whether a booking requires that the flyer's e-mail address is confirmed. An address that is not required hides no other
/// denial: ban, membership fee and birth date are checked in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    Confirmed,
    /// At the desk and at a kiosk, where the flyer stands.
    NotAsked,
}

/// Why the member may not book a flight on that date; `None`: the member may. 422 at `flight_date` for a date before the member's birth.
pub(super) fn find_denial(
    cx: &Change,
    member_id: MemberId,
    flight_date: Moment,
    address: Address,
) -> Result<Option<Denial>, Failure> {
    let mut standing = members::find_standing(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    standing.email_confirmed |= address == Address::NotAsked;
    if cx.site.config.first_flight_unconfirmed && !standing.email_confirmed && !bookings::has_flown(cx.tx, member_id)? {
        standing.email_confirmed = true;
    }
    if let Err(denial) = booking::admit(&standing, cx.site.config.yearly_fee_cents, cx.now()) {
        return Ok(Some(denial));
    }
    if members::find_holder(cx.tx, member_id)?.dob.is_some_and(|born| flight_date < born) {
        return Err(Failure::field("flight_date", Text::new("field.before_birth")));
    }
    Ok(None)
}

/// Checks in the member of a booking. The desk may check in every member; a member may check in the own booking of
/// today, and today's booking of a child for whom the member acts. A second check-in changes nothing. 409 where the
/// member has signed no waiver that is in force, the day of the flight has not come, or the booking was cancelled or
/// marked as a no-show. Audited, unless the booking is the actor's own.
pub(crate) fn check_in(cx: &Change, booking_id: BookingId) -> Result<Outcome, Failure> {
    check_in_at(cx, booking_id, cx.now())
}

/// Checks in as [`check_in`] at a past moment: a kiosk stored the check-in while the site did not answer.
pub(crate) fn check_in_at(cx: &Change, booking_id: BookingId, at: Moment) -> Result<Outcome, Failure> {
    let known = find(cx, booking_id)?;
    if !cx.rank.is_staff() {
        let today = cx.site.arrivals_day(&tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?, at);
        let is_today = (today.from..today.to).contains(&known.booking.flight_date);
        let member_id = cx.member_id().ok_or_else(Failure::not_found)?;
        let acts = member_id == known.member_id || family::acts_for(cx.site, cx.tx, member_id, known.member_id)?;
        if !acts || !is_today {
            return Err(Failure::not_found());
        }
    }
    check_day_has_come(cx, &known, at)?;
    check_not_banned(cx, &known, "desk.banned_no_check_in")?;
    check_in_force(cx, &known)?;
    steps::take(cx, &known, Step::CheckIn(at))
}

/// 403 for a booking of a banned member. The desk can resolve other obstacles (a brief, a waiver, a fee) on the spot, but not a ban.
fn check_not_banned(cx: &Change, known: &BookingRow, text: &'static str) -> Result<(), Failure> {
    let standing = members::find_standing(cx.tx, known.member_id)?.ok_or_else(Failure::not_found)?;
    if standing.banned { Err(Failure::not_allowed().saying(Text::new(text))) } else { Ok(()) }
}

/// Notes that a check-in was refused that a kiosk had promised to a guest, for the desk to settle. Of a booking of the
/// actor or a ward. Audited.
pub(crate) fn note_refused_check_in(
    cx: &Change,
    booking_id: BookingId,
    at: Moment,
    failure: &Failure,
) -> Result<(), Failure> {
    if refused_check_ins::insert(cx.tx, booking_id, at, failure.code())? > 0 {
        let known = find(cx, booking_id)?;
        let detail = Detail::none().number("booking_id", booking_id).word("reason", failure.code());
        cx.record("booking.check_in_refused", &Subject::Member(known.member_id), &detail)?;
    }
    Ok(())
}

/// Settles a check-in that was refused after a kiosk had promised it. Staff only. Audited. Returns the member.
pub(crate) fn settle_refused_check_in(cx: &Change, booking_id: BookingId) -> Result<MemberId, Failure> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    if refused_check_ins::settle(cx.tx, booking_id)? {
        let detail = Detail::none().number("booking_id", booking_id);
        cx.record("booking.refusal_settled", &Subject::Member(known.member_id), &detail)?;
    }
    Ok(known.member_id)
}

/// Undoes a check-in. Staff only. Audited, unless the booking is the actor's own.
pub(crate) fn undo_check_in(cx: &Change, booking_id: BookingId) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    steps::take(cx, &find(cx, booking_id)?, Step::UndoCheckIn)
}

/// Moves a booking of any partner to another time, or changes its minutes. Staff only. The flight time that the booking
/// entered changes too. 422 at `flight_date` for a past day or a date before the member's birth; 409 where the booking
/// has ended, and for another day while the member is checked in. The fields that the partner sent are kept: the same
/// booking sent again does not move it back. 409 where the booking has changed since `seen`. [`Full`] where the quarter of the
/// new time has no room, unless `full_quarter` names it. Audited; the member is notified.
pub(crate) fn move_to(
    cx: &Change,
    booking_id: BookingId,
    flight_date: Moment,
    minutes: i64,
    (seen, full_quarter): (&Seen, Option<Moment>),
) -> Result<Outcome, Stop<Full>> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    check_in_force(cx, &known)?;
    let moved = Booking { flight_date, minutes_booked: minutes, ..known.booking.clone() };
    if moved == known.booking {
        return Ok(Outcome::Unchanged);
    }
    check_seen(cx, &known, seen)?;
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    if flight_date != known.booking.flight_date && flight_date < zone.day(cx.now(), 0).from {
        return Err(Failure::field("flight_date", Text::new("desk.move_past")).into());
    }
    if flight_date != known.booking.flight_date && !booking::may_be_booked_for(flight_date, cx.now()) {
        return Err(Failure::field("flight_date", Text::new("desk.move_far")).into());
    }
    if !stays_on_day_of_arrival(cx, &known, &moved)? {
        return Err(Failure::booking_state().saying(Text::new("desk.end_arrived")).into());
    }
    let born = members::find_holder(cx.tx, known.member_id)?.dob;
    if born.is_some_and(|born| flight_date < born) {
        return Err(Failure::field("flight_date", Text::new("field.before_birth")).into());
    }
    let placed = room::place_moved(cx, &known, &moved, full_quarter)?;
    Ok(steps::take(cx, &known, Step::Move(&moved, placed))?)
}

/// Cancels a booking of any partner. Staff only. The flight time that the booking entered is removed. 409 while the
/// member is checked in, or where the booking has changed since `seen`. Audited; the member is notified.
pub(crate) fn cancel(cx: &Change, booking_id: BookingId, seen: &Seen) -> Result<Outcome, Failure> {
    end(cx, booking_id, Ending::Cancelled, seen)
}

/// Until when the member of a booking may cancel it; `None`: it is no booking that the member may cancel.
pub(crate) fn cancelled_until(site: &Site, known: &BookingRow) -> Option<Moment> {
    let is_open = known.ending.is_none() && known.arrived_at.is_none() && known.booking.tunnel_id == site.tunnel_id;
    is_open.then(|| known.booking.flight_date - site.config.cancel_hours * 3_600)
}

/// Cancels the actor's own booking, or that of a child for whom the actor acts, as [`cancel`]. 404 for every other booking; 409
/// later than [`cancelled_until`].
pub(crate) fn cancel_own(cx: &Change, booking_id: BookingId, seen: &Seen) -> Result<Outcome, Failure> {
    let known = find(cx, booking_id)?;
    let member_id = cx.member_id().ok_or_else(Failure::not_found)?;
    if member_id != known.member_id && !family::acts_for(cx.site, cx.tx, member_id, known.member_id)? {
        return Err(Failure::not_found());
    }
    if known.ending == Some(Ending::Cancelled) {
        return Ok(Outcome::Unchanged);
    }
    check_in_force(cx, &known)?;
    if known.arrived_at.is_some() {
        return Err(Failure::booking_state().saying(Text::new("me.cancel_arrived")));
    }
    if cancelled_until(cx.site, &known).is_none_or(|until| cx.now() > until) {
        let text = Text::new("me.cancel_late").with_count("hours", cx.site.config.cancel_hours);
        return Err(Failure::booking_state().saying(text));
    }
    check_seen(cx, &known, seen)?;
    steps::take(cx, &known, Step::End(Ending::Cancelled))
}

/// Marks a booking whose time has begun as a no-show. Staff only. The flight time that the booking entered is removed.
/// 409 while the member is checked in, where the flight is in the future, or where the booking has changed since `seen`.
/// Audited; the member is notified.
pub(crate) fn set_no_show(cx: &Change, booking_id: BookingId, seen: &Seen) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    if find(cx, booking_id)?.booking.flight_date > cx.now() {
        return Err(Failure::booking_state().saying(Text::new("desk.no_show_early")));
    }
    end(cx, booking_id, Ending::NoShow, seen)
}

/// Undoes a cancellation or a no-show. Staff only. The flight time that was removed returns to the logbook. [`Full`] where the
/// quarter has no room any more, unless `full_quarter` names it. Audited; the member is notified.
pub(crate) fn reinstate(
    cx: &Change,
    booking_id: BookingId,
    full_quarter: Option<Moment>,
) -> Result<Outcome, Stop<Full>> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    if known.ending.is_none() {
        return Ok(Outcome::Unchanged);
    }
    check_not_banned(cx, &known, "desk.walk_in_banned")?;
    let placed = room::place_again(cx, &known, full_quarter)?;
    Ok(steps::take(cx, &known, Step::Restore(placed))?)
}

/// Whether a booking keeps its day and its tunnel where the member is checked in, who flies on the day of the check-in.
fn stays_on_day_of_arrival(cx: &Change, known: &BookingRow, to: &Booking) -> Result<bool, Failure> {
    if known.arrived_at.is_none() {
        return Ok(true);
    }
    let zone = tunnels::find_time_zone(cx.tx, known.booking.tunnel_id)?;
    let keeps_day = zone.date(to.flight_date) == zone.date(known.booking.flight_date);
    Ok(keeps_day && to.tunnel_id == known.booking.tunnel_id)
}

fn end(cx: &Change, booking_id: BookingId, ending: Ending, seen: &Seen) -> Result<Outcome, Failure> {
    cx.check_staff()?;
    let known = find(cx, booking_id)?;
    if known.ending == Some(ending) {
        return Ok(Outcome::Unchanged);
    }
    check_in_force(cx, &known)?;
    if known.arrived_at.is_some() {
        return Err(Failure::booking_state().saying(Text::new("desk.end_arrived")));
    }
    check_seen(cx, &known, seen)?;
    steps::take(cx, &known, Step::End(ending))
}

/// The mark of a booking, for the forms that change or end it.
pub(crate) fn mark(booking: &Booking) -> String {
    seen::mark(&[&booking.flight_date.to_string(), &booking.minutes_booked.to_string()])
}

/// 409 where the booking is at another time or has other minutes than the page of the form showed.
fn check_seen(cx: &Change, known: &BookingRow, seen: &Seen) -> Result<(), Failure> {
    let Booking { flight_date, minutes_booked, .. } = known.booking;
    if seen.is(&[&flight_date.to_string(), &minutes_booked.to_string()]) {
        return Ok(());
    }
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    let text = Text::new("desk.booking_changed")
        .with("when", when::moment(cx.language, &zone, flight_date))
        .with("minutes", minutes_booked);
    Err(Failure::booking_state().saying(text))
}

/// Finds a booking at this tunnel; 404 where there is none.
fn find(cx: &Change, booking_id: BookingId) -> Result<BookingRow, Failure> {
    bookings::find(cx.tx, booking_id, cx.site.tunnel_id)?.ok_or_else(Failure::not_found)
}

/// 409 where the booking has ended. The desk can reinstate it; a member is sent to the desk.
fn check_in_force(cx: &Change, known: &BookingRow) -> Result<(), Failure> {
    let key = match (known.ending, cx.rank.is_staff()) {
        (None, _) => return Ok(()),
        (Some(Ending::Cancelled), true) => "desk.booking_cancelled",
        (Some(Ending::Cancelled), false) => "kiosk.booking_cancelled",
        (Some(Ending::NoShow), true) => "desk.booking_no_show",
        (Some(Ending::NoShow), false) => "kiosk.booking_no_show",
    };
    Err(Failure::booking_state().saying(Text::new(key)))
}

/// 409 before the day of the flight, by the tunnel's clock: the booking is moved to the day on which the member flies.
fn check_day_has_come(cx: &Change, known: &BookingRow, at: Moment) -> Result<(), Failure> {
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    if known.booking.flight_date < zone.day(at, 0).to || known.arrived_at.is_some() {
        return Ok(());
    }
    let day = when::day(cx.language, &zone, known.booking.flight_date);
    Err(Failure::booking_state().saying(Text::new("desk.check_in_early").with("day", day)))
}

fn audit(cx: &Change, action: &'static str, member_id: MemberId, booking_id: BookingId) -> Result<(), Failure> {
    cx.record(action, &Subject::Member(member_id), &Detail::none().number("booking_id", booking_id))
}

fn notice_detail(booking_id: BookingId, sent: &Booking) -> String {
    let values = serde_json::json!({ "booking_id": booking_id, "flight_date": sent.flight_date, "minutes": sent.minutes_booked });
    values.to_string()
}
