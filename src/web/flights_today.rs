//! Today's flights of a member, so that the desk does not ask for minutes that the logbook has already.

use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::{bookings, entries};

/// Flights of one member that are read for a day; nobody flies more often.
const FLIGHTS_MAX: i64 = 24;

/// Today's flights of a member.
#[derive(Default)]
pub(crate) struct FlightsToday {
    /// One line for each flight in the logbook.
    pub(crate) lines: Vec<String>,
    /// Minutes of the first booking that the member was checked in for and that is not in the logbook: the value to propose
    /// in the form.
    pub(crate) proposed: Option<i64>,
}

impl FlightsToday {
    /// Whether every known flight of today is in the logbook.
    pub(crate) fn is_complete(&self) -> bool {
        !self.lines.is_empty() && self.proposed.is_none()
    }
}

/// The minutes of flights between two moments for which the member was checked in and that are not in the logbook, for example
/// because it takes none yet.
pub(crate) fn sum_unlogged(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    (from, to): (Moment, Moment),
) -> Result<i64, Failure> {
    let logged = entries::list_day(tx, member_id, (from, to), FLIGHTS_MAX)?;
    let booked = bookings::list_own(tx, site.tunnel_id, member_id, from, to, FLIGHTS_MAX)?;
    Ok(unlogged(&logged, &booked).map(|one| one.minutes_booked).sum())
}

/// The bookings that the member was checked in for and that are not in the logbook. Entries typed by hand are taken as the first
/// flights that no booking logged.
fn unlogged<'a>(
    logged: &'a [entries::Logged],
    booked: &'a [bookings::OwnBooking],
) -> impl Iterator<Item = &'a bookings::OwnBooking> {
    let by_hand = logged.iter().filter(|one| one.booking_id.is_none()).count();
    let is_logged = |booking_id: BookingId| logged.iter().any(|one| one.booking_id == Some(booking_id));
    booked.iter().filter(move |one| one.arrived_at.is_some() && !is_logged(one.booking_id)).skip(by_hand)
}

/// Reads the flights of today, by the site's time zone.
pub(crate) fn read(
    site: &Site,
    tx: &Read,
    zone: &TimeZone,
    language: Language,
    member_id: MemberId,
) -> Result<FlightsToday, Failure> {
    let (now, day) = (site.now(), zone.day(site.now(), 0));
    let logged = entries::list_day(tx, member_id, (day.from, day.to), FLIGHTS_MAX)?;
    let booked = bookings::list_own(tx, site.tunnel_id, member_id, day.from, day.to, FLIGHTS_MAX)?;
    let proposed = unlogged(&logged, &booked).map(|one| one.minutes_booked).next();
    let line = |one: &entries::Logged| {
        let key = match one.booking_id {
            None => "card.logged",
            Some(_) if one.entry_date > now => "card.logged_ahead",
            Some(_) => "card.logged_booking",
        };
        language.say(&Text::new(key).with("minutes", one.minutes).with("clock", zone.clock(one.entry_date)))
    };
    Ok(FlightsToday { lines: logged.iter().map(line).collect(), proposed })
}
