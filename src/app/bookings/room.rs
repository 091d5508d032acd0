//! The room of a quarter of an hour. Whoever puts a flight into one asks here: the steps of a booking take a [`Placed`], which only
//! this file makes.

use crate::app::Change;
use crate::domain::booking::Booking;
use crate::http::failure::{Failure, Stop};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::bookings::{self, BookingRow};

const QUARTER_SECONDS: i64 = 900;

/// What is booked in a quarter of an hour.
pub(crate) struct Quarter {
    begins: Moment,
    booked: i64,
    /// The minutes that can be flown in it; 0: the site does not count them.
    has: i64,
}

/// The quarter of an hour that begins then has no room for a flight, and the clerk was not asked about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full(pub(crate) Moment);

/// A flight has room in its quarter of an hour, or somebody has decided that it takes place all the same.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Placed(());

impl Quarter {
    /// The quarter of a moment.
    pub(crate) fn of(site: &Site, tx: &Read, moment: Moment) -> Result<Quarter, Failure> {
        let begins = begin_of(moment);
        let has = site.config.minutes_per_quarter_hour;
        let load = bookings::list_load(tx, site.tunnel_id, (begins, begins + QUARTER_SECONDS), QUARTER_SECONDS)?;
        Ok(Quarter { begins, booked: load.first().map_or(0, |(_, minutes)| *minutes), has })
    }

    /// Whether these minutes can be flown too. A flight that is longer than a quarter has room where nobody else flies.
    pub(crate) fn has_room(&self, minutes: i64) -> bool {
        self.has == 0 || self.booked == 0 || self.booked + minutes <= self.has
    }

    fn place(&self, minutes: i64, known: Option<Moment>) -> Result<Placed, Stop<Full>> {
        let is_placed = known == Some(self.begins) || self.has_room(minutes);
        if is_placed { Ok(Placed(())) } else { Err(Stop::Denied(Full(self.begins))) }
    }
}

/// The begin of the quarter of a moment.
pub(crate) fn begin_of(moment: Moment) -> Moment {
    moment.rounded_down(QUARTER_SECONDS)
}

/// Asks for the room of minutes at a moment. `known`: the begin of a quarter of which the clerk knows that it is full.
pub(in crate::app) fn place(
    cx: &Change,
    at: Moment,
    minutes: i64,
    known: Option<Moment>,
) -> Result<Placed, Stop<Full>> {
    Quarter::of(cx.site, cx.tx, at)?.place(minutes, known)
}

/// As [`place`], for a booking that gets another time or length: what it takes up already is free for it, and a quarter that it
/// does not fill further is not asked about.
pub(super) fn place_moved(
    cx: &Change,
    row: &BookingRow,
    to: &Booking,
    known: Option<Moment>,
) -> Result<Placed, Stop<Full>> {
    let mut quarter = Quarter::of(cx.site, cx.tx, to.flight_date)?;
    if begin_of(row.booking.flight_date) == quarter.begins {
        if to.minutes_booked <= row.booking.minutes_booked {
            return Ok(Placed(()));
        }
        quarter.booked -= row.booking.minutes_booked;
    }
    quarter.place(to.minutes_booked, known)
}

/// As [`place`], for a booking whose ending is undone. A quarter that is over is not asked about.
pub(super) fn place_again(cx: &Change, row: &BookingRow, known: Option<Moment>) -> Result<Placed, Stop<Full>> {
    let Booking { flight_date, minutes_booked, .. } = row.booking;
    if begin_of(flight_date) + QUARTER_SECONDS <= cx.now() {
        return Ok(Placed(()));
    }
    place(cx, flight_date, minutes_booked, known)
}

/// For a booking that a partner sold: it is never refused because the tunnel is full. *Today* marks the quarter at the desk.
pub(super) fn sold() -> Placed {
    Placed(())
}
