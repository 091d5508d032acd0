//! What a logbook has of today, so that nobody is asked for minutes that are in it already.

use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::{bookings, entries};

/// Nobody flies more often in a day.
const FLIGHTS_MAX: i64 = 24;

/// Today's flights of a member.
#[derive(Default)]
pub(crate) struct Logged {
    /// A line for each that is in the logbook.
    pub(crate) lines: Vec<String>,
    /// The minutes of a booking for which the member has come and that is not in the logbook: what is asked for, if
    /// anything is.
    pub(crate) proposed: Option<i64>,
}

impl Logged {
    /// Whether all is in the logbook that can be known of today.
    pub(crate) fn is_complete(&self) -> bool {
        !self.lines.is_empty() && self.proposed.is_none()
    }
}

/// By the site's day.
pub(crate) fn today(
    site: &Site,
    tx: &Read,
    zone: &TimeZone,
    language: Language,
    member_id: i64,
) -> Result<Logged, Failure> {
    let (now, day) = (site.now(), zone.day(site.now(), 0));
    let logged = entries::list_day(tx, member_id, (day.from, day.to), FLIGHTS_MAX)?;
    let booked = bookings::list_own(tx, site.tunnel_id, member_id, day.from, day.to, FLIGHTS_MAX)?;
    let is_logged = |booking_id: i64| logged.iter().any(|one| one.booking_id == Some(booking_id));
    // What was typed by hand is of the flights that no booking logged, in their order.
    let by_hand = logged.iter().filter(|one| one.booking_id.is_none()).count();
    let come = booked.iter().filter(|one| one.arrived_at.is_some() && !is_logged(one.booking_id));
    let proposed = come.map(|one| one.minutes_booked).nth(by_hand);
    let line = |one: &entries::Logged| {
        let key = match one.booking_id {
            None => "card.logged",
            Some(_) if one.entry_date > now => "card.logged_ahead",
            Some(_) => "card.logged_booking",
        };
        language.say(&Text::new(key).with("minutes", one.minutes).with("clock", zone.clock(one.entry_date)))
    };
    Ok(Logged { lines: logged.iter().map(line).collect(), proposed })
}
