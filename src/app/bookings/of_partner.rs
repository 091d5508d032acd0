//! Bookings that a partner sends, reads and cancels.

use super::record::Repeat;
use super::room;
use super::steps::{self, Step};
use super::{Address, find_denial, stays_on_day_of_arrival};
use crate::app::{Change, Outcome};
use crate::domain::booking::{Booking, Denial, may_be_booked_for};
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::tables::bookings::{self, BookingRow, Ending};

/// What became of a booking that a partner sent, with the booking as it stands.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The booking is in force.
    InForce(BookingRow),
    /// The member may not book; with the booking that stands, where it was sent before.
    Denied(Denial, Option<BookingRow>),
    /// The booking was sent before and has ended since: nothing in the request books it anew.
    Ended(BookingRow),
    /// The member is checked in and flies on that day: the request gives the booking another day or tunnel. The booking stands.
    Arrived(BookingRow),
    /// The request books the booking anew or lengthens it, which takes the member's present PIN. The booking stands.
    NeedsPin(BookingRow),
}

/// Books for a member on behalf of a partner. `known`: the booking that [`super::find_known`] found. `pin_is_outdated`: the
/// PIN is that of the known booking, and the member has renewed it since. A booking is never refused because the tunnel is
/// full: the partner sold it. 422 at `flight_date` for a day that is too far away; 409 where the known booking is another
/// member's.
pub(crate) fn book(
    cx: &Change,
    (partner_id, member_id): (PartnerId, MemberId),
    sent: &Booking,
    known: Option<BookingRow>,
    pin_is_outdated: bool,
) -> Result<Answer, Failure> {
    if let Some(denial) = find_denial(cx, member_id, sent.flight_date, Address::Confirmed)? {
        return Ok(deny(denial, member_id, sent, known));
    }
    let Some(known) = known else {
        check_day(cx, sent.flight_date)?;
        return Ok(Answer::InForce(read(cx.tx, steps::record(cx, partner_id, member_id, sent, room::sold())?)?));
    };
    let repeat = Repeat::of(&known, member_id, sent)?;
    let is_anew = known.ending.is_some() && repeat.concerns_member();
    if repeat.has_other_day() || is_anew {
        check_day(cx, repeat.stands.flight_date)?;
    }
    if !stays_on_day_of_arrival(cx, &known, &repeat.stands)? {
        return Ok(Answer::Arrived(known));
    }
    if pin_is_outdated && repeat.concerns_member() && !is_within(&known, &repeat.stands) {
        return Ok(Answer::NeedsPin(known));
    }
    let _: Outcome = repeat.store(cx, &known)?;
    let row = read(cx.tx, known.booking_id)?;
    Ok(if row.ending.is_some() { Answer::Ended(row) } else { Answer::InForce(row) })
}

/// The answer for a member who may not book. That the fee is due or the address is not confirmed hides from nobody that the
/// booking has ended.
fn deny(denial: Denial, member_id: MemberId, sent: &Booking, known: Option<BookingRow>) -> Answer {
    let own = known.filter(|known| known.member_id == member_id);
    let is_repeat = |known: &BookingRow| Repeat::of(known, member_id, sent).is_ok_and(|one| !one.concerns_member());
    match own {
        Some(known) if denial != Denial::Banned && known.ending.is_some() && is_repeat(&known) => Answer::Ended(known),
        own => Answer::Denied(denial, own),
    }
}

/// Whether a booking that is in force is changed to other values, without more minutes and at the same tunnel.
fn is_within(known: &BookingRow, stands: &Booking) -> bool {
    known.ending.is_none()
        && stands.minutes_booked <= known.booking.minutes_booked
        && stands.tunnel_id == known.booking.tunnel_id
}

fn check_day(cx: &Change, flight_date: Moment) -> Result<(), Failure> {
    if may_be_booked_for(flight_date, cx.now()) {
        return Ok(());
    }
    Err(Failure::field("flight_date", Text::new("field.flight_date_far")))
}

/// The booking that a partner names: by its own number of the registration, or as `b-NUMBER` by ours. 404 where the partner
/// has none.
pub(crate) fn find(tx: &Read, partner_id: PartnerId, name: &str) -> Result<BookingRow, Failure> {
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
    let found = match name.strip_prefix("b-") {
        Some(ours) => number(ours).map(|ours| bookings::find_of_partner(tx, partner_id, BookingId(ours))),
        None => number(name).map(|theirs| bookings::find_by_registration(tx, partner_id, theirs)),
    };
    found.transpose()?.flatten().ok_or_else(Failure::not_found)
}

/// Cancels a booking of the partner. A second time changes nothing. Returns the booking as it stands. 404 where the partner
/// has no such booking; 409 where the member has come, or was marked as missing. The member is notified.
pub(crate) fn cancel(cx: &Change, partner_id: PartnerId, name: &str) -> Result<BookingRow, Failure> {
    let known = find(cx.tx, partner_id, name)?;
    let obstacle = match known.ending {
        Some(Ending::Cancelled) => return Ok(known),
        Some(Ending::NoShow) => Some("booking.no_show_stays"),
        None => known.arrived_at.map(|_| "booking.arrived_stays"),
    };
    if let Some(key) = obstacle {
        return Err(Failure::booking_state().saying(Text::new(key)));
    }
    let _: Outcome = steps::take(cx, &known, Step::End(Ending::Cancelled))?;
    read(cx.tx, known.booking_id)
}

fn read(tx: &Read, booking_id: BookingId) -> Result<BookingRow, Failure> {
    bookings::find_by_id(tx, booking_id)?.ok_or_else(Failure::broken)
}
