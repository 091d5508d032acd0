//! Recognises a booking that was sent, and records it or the values that are new in it.

use super::room::Placed;
use super::steps::{self, Step};
use crate::app::{Change, Outcome};
use crate::domain::booking::Booking;
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::http::failure::Failure;
use crate::store::Read;
use crate::store::tables::bookings::{self, BookingRow};

/// The booking that was sent before under the same numbers; also one of another member.
pub(crate) fn find_known(
    tx: &Read,
    partner_id: PartnerId,
    member_id: MemberId,
    sent: &Booking,
) -> Result<Option<BookingRow>, Failure> {
    Ok(match bookings::find_same(tx, partner_id, member_id, sent)? {
        None => bookings::find_of_purchase(tx, partner_id, member_id, sent)?,
        known => known,
    })
}

/// Adds a booking, or updates the known one. Returns its number. 409 where it is another member's.
pub(in crate::app) fn record(
    cx: &Change,
    partner_id: PartnerId,
    member_id: MemberId,
    sent: &Booking,
    placed: Placed,
) -> Result<BookingId, Failure> {
    match find_known(cx.tx, partner_id, member_id, sent)? {
        None => steps::record(cx, partner_id, member_id, sent, placed),
        Some(known) => {
            let _: Outcome = Repeat::of(&known, member_id, sent)?.store(cx, &known)?;
            Ok(known.booking_id)
        }
    }
}

/// A booking that was sent again.
pub(super) struct Repeat {
    /// As it was sent before.
    said: Booking,
    /// As it is sent now; fields that were left out are those of before.
    pub(super) sent: Booking,
    /// As it stands once this is stored: a value that is sent anew is applied, and one that only the desk changed stays. What the desk
    /// made of a booking that has ended is over: one that is booked anew is as it is sent.
    pub(super) stands: Booking,
}

impl Repeat {
    /// 409 where the known booking is another member's.
    pub(super) fn of(known: &BookingRow, member_id: MemberId, sent: &Booking) -> Result<Repeat, Failure> {
        if known.member_id != member_id {
            return Err(Failure::booking_of_another_member());
        }
        let said = known.as_sent();
        let sent = said.renewed(sent);
        fn keep<T: PartialEq>(said: T, sent: T, stands: T) -> T {
            if said == sent { stands } else { sent }
        }
        let mut stands = sent.clone();
        let is_anew = known.ending.is_some() && steps::concerns_member(&said, &sent);
        if !is_anew {
            stands.flight_date = keep(said.flight_date, sent.flight_date, known.booking.flight_date);
            stands.minutes_booked = keep(said.minutes_booked, sent.minutes_booked, known.booking.minutes_booked);
        }
        Ok(Repeat { said, sent, stands })
    }

    /// Whether day, minutes or tunnel are others than were sent before.
    pub(super) fn concerns_member(&self) -> bool {
        steps::concerns_member(&self.said, &self.sent)
    }

    pub(super) fn has_other_day(&self) -> bool {
        self.said.flight_date != self.sent.flight_date
    }

    pub(super) fn store(&self, cx: &Change, known: &BookingRow) -> Result<Outcome, Failure> {
        if self.said == self.sent {
            return Ok(Outcome::Unchanged);
        }
        steps::take(cx, known, Step::Change { sent: &self.sent, stands: &self.stands })
    }
}
