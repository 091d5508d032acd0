//! Bookings: the fields that a partner sends, and whether a member may book.

use crate::domain::ids::TunnelId;
use crate::moment::Moment;
use serde::Serialize;

/// The fields of a booking in `generate-token`, without the member. Moments in Unix seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Booking {
    /// The partner's number of the booking; it identifies the booking.
    pub registration_id: Option<i64>,
    /// The partner's number of the purchase.
    pub purchase_id: Option<i64>,
    /// The moment of the purchase.
    pub purchase_date: Option<Moment>,
    /// The moment at which the flight begins.
    pub flight_date: Moment,
    /// Minutes in the air, 1 to 600.
    pub minutes_booked: i64,
    /// The partner's number of the product.
    pub product_id: Option<i64>,
    /// The number of the tunnel.
    pub tunnel_id: TunnelId,
    /// The moment at which the member should arrive.
    pub checkin_time: Option<Moment>,
}

impl Booking {
    /// Merges a repeated request into the booking: fields that were sent replace the old ones, absent fields stay.
    pub fn renewed(&self, sent: &Booking) -> Booking {
        Booking {
            registration_id: sent.registration_id.or(self.registration_id),
            purchase_id: sent.purchase_id.or(self.purchase_id),
            purchase_date: sent.purchase_date.or(self.purchase_date),
            product_id: sent.product_id.or(self.product_id),
            checkin_time: sent.checkin_time.or(self.checkin_time),
            ..sent.clone()
        }
    }
}

/// What was sent, where it is another value than the known one.
pub(crate) fn changed<T: PartialEq>(known: T, sent: T) -> Option<T> {
    (known != sent).then_some(sent)
}

const DAY_SECONDS: i64 = 86_400;
/// How long after a flight a partner may still send it: systems that were down over a weekend do.
const DAYS_LATE_MAX: i64 = 2;
/// Two years, one of them a leap year.
const DAYS_AHEAD_MAX: i64 = 731;

/// Whether a flight of that date may be booked, or a booking moved to it.
pub(crate) fn may_be_booked_for(flight_date: Moment, now: Moment) -> bool {
    (now - DAYS_LATE_MAX * DAY_SECONDS..=now + DAYS_AHEAD_MAX * DAY_SECONDS).contains(&flight_date)
}

/// The properties of a member that decide about booking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    pub banned: bool,
    pub email_confirmed: bool,
    pub paid_until: Option<Moment>,
    pub holds_flyer_1: bool,
}

impl Standing {
    /// Whether the membership is paid for at a moment: to the last second that is paid, which is that of a day.
    pub(crate) fn is_paid(&self, now: Moment) -> bool {
        self.paid_until.is_some_and(|until| now <= until)
    }
}

/// Why a member cannot book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    Banned,
    EmailNotConfirmed,
    Unpaid,
}

impl Denial {
    /// The key of the denial's text, which is also stored in the history.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Denial::Banned => "booking.banned",
            Denial::EmailNotConfirmed => "booking.email_not_confirmed",
            Denial::Unpaid => "booking.unpaid",
        }
    }
}

/// Whether membership is in force: it is paid, or the member does not hold Flyer Level 1 yet, or the site charges no
/// fee.
pub(crate) fn membership_in_force(standing: &Standing, yearly_fee_cents: i64, now: Moment) -> bool {
    yearly_fee_cents == 0 || !standing.holds_flyer_1 || standing.is_paid(now)
}

/// Checks whether the member may book; the error is the first reason against it.
pub(crate) fn admit(standing: &Standing, yearly_fee_cents: i64, now: Moment) -> Result<(), Denial> {
    if standing.banned {
        Err(Denial::Banned)
    } else if !standing.email_confirmed {
        Err(Denial::EmailNotConfirmed)
    } else if !membership_in_force(standing, yearly_fee_cents, now) {
        Err(Denial::Unpaid)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_are_booked_from_two_days_ago_to_two_years_ahead() {
        let (now, day) = (Moment(1_780_000_000), 86_400);
        assert!([-2 * day, 0, 731 * day].iter().all(|away| may_be_booked_for(now + *away, now)));
        assert!([-2 * day - 1, 731 * day + 1].iter().all(|away| !may_be_booked_for(now + *away, now)));
    }

    const PAID: Standing =
        Standing { banned: false, email_confirmed: true, paid_until: Some(Moment(100)), holds_flyer_1: true };

    #[test]
    fn a_member_in_good_standing_books_and_each_bar_is_named() {
        assert_eq!(admit(&PAID, 3000, Moment(100)), Ok(()));
        assert_eq!(admit(&PAID, 3000, Moment(101)), Err(Denial::Unpaid));
        assert_eq!(admit(&Standing { banned: true, ..PAID }, 3000, Moment(99)), Err(Denial::Banned));
        assert_eq!(
            admit(&Standing { email_confirmed: false, ..PAID }, 3000, Moment(99)),
            Err(Denial::EmailNotConfirmed)
        );
    }

    #[test]
    fn beginners_and_free_sites_need_no_payment() {
        let never_paid = Standing { paid_until: None, ..PAID };
        assert_eq!(admit(&never_paid, 3000, Moment(0)), Err(Denial::Unpaid));
        assert_eq!(admit(&never_paid, 0, Moment(0)), Ok(()));
        assert_eq!(admit(&Standing { holds_flyer_1: false, ..never_paid }, 3000, Moment(0)), Ok(()));
    }
}
