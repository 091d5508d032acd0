//! Members who have a flight tomorrow, or whose membership or waiver is about to end.

use crate::app::flights;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::reminder::{self, FLOWN_FOR_WAIVER_DAYS, Reminder};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::ends;
use crate::store::tables::{members, reminders};

const DAY_SECONDS: i64 = 24 * 60 * 60;
/// A flight that is nearer needs no reminder any more.
const NEAREST_SECONDS: i64 = 2 * 60 * 60;

/// The reminders that are due and were not sent before, of members who are not banned.
pub(super) fn list_missing(
    site: &Site,
    tx: &Read,
    zone: &TimeZone,
    now: Moment,
) -> Result<Vec<(MemberId, Reminder)>, Failure> {
    let mut due = flights_tomorrow(site, tx, zone, now)?;
    due.extend(memberships(site, tx, zone, now)?);
    due.extend(waivers(site, tx, zone, now)?);
    let mut missing = Vec::new();
    for (member_id, one) in due {
        let is_banned =
            || members::find_account_by_id(tx, member_id).map(|account| account.is_none_or(|one| one.banned));
        if !reminders::exists(tx, member_id, &one)? && !is_banned()? {
            missing.push((member_id, one));
        }
    }
    Ok(missing)
}

/// Flights until the end of tomorrow.
fn flights_tomorrow(
    site: &Site,
    tx: &Read,
    zone: &TimeZone,
    now: Moment,
) -> Result<Vec<(MemberId, Reminder)>, Failure> {
    let to = zone.day(now, -1).to;
    let flights = ends::list_flights(tx, site.tunnel_id, now + NEAREST_SECONDS, to)?;
    Ok(flights.into_iter().map(|(member_id, at)| (member_id, Reminder::of_flight(at))).collect())
}

/// Memberships that are about to end, where the site charges a fee.
fn memberships(site: &Site, tx: &Read, zone: &TimeZone, now: Moment) -> Result<Vec<(MemberId, Reminder)>, Failure> {
    if site.config.yearly_fee_cents == 0 {
        return Ok(Vec::new());
    }
    let ending = ends::list_memberships(tx, now, now + (reminder::END_DAYS[0] + 2) * DAY_SECONDS)?;
    let due = ending
        .into_iter()
        .filter_map(|(member_id, until)| Some((member_id, reminder::of_end(zone, reminder::MEMBERSHIP, until, now)?)));
    Ok(due.collect())
}

/// Waivers that are about to end, of members who fly here.
fn waivers(site: &Site, tx: &Read, zone: &TimeZone, now: Moment) -> Result<Vec<(MemberId, Reminder)>, Failure> {
    let settings = &site.config.waiver;
    if !settings.required || settings.valid_days == 0 {
        return Ok(Vec::new());
    }
    // Two days more on either side, because days of the calendar begin before a signature and end after it.
    let from = now - (settings.valid_days + 2) * DAY_SECONDS;
    let to = from + (reminder::END_DAYS[0] + 4) * DAY_SECONDS;
    let mut due = Vec::new();
    for member_id in ends::list_signers(tx, from, to, now - FLOWN_FOR_WAIVER_DAYS * DAY_SECONDS)? {
        let end = flights::find_waiver_end(site, tx, member_id)?;
        let one = end.and_then(|end| reminder::of_end(zone, reminder::WAIVER, end, now));
        due.extend(one.map(|one| (member_id, one)));
    }
    Ok(due)
}
