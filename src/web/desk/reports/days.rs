//! Adds up a range day by day, from the hourly sums of the store.

use super::range::Range;
use crate::domain::ids::{PartnerId, TunnelId};
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::hours;
use crate::store::tables::partners;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const HOUR_SECONDS: i64 = 3600;
const DAY_SECONDS: i64 = 86_400;

/// The sums of a day.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct DayCounts {
    /// First moment of the day.
    pub from: Moment,
    pub date: String,
    pub bookings: i64,
    pub booked: i64,
    /// Bookings that were checked in.
    pub arrived: i64,
    /// Flights up to now.
    pub flights: i64,
    pub flown: i64,
}

/// The sums of a partner over the range.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PartnerCounts {
    pub partner_id: PartnerId,
    pub name: String,
    pub client_id: String,
    pub bookings: i64,
    pub booked: i64,
    pub arrived: i64,
    pub tokens: i64,
    pub refused: i64,
    pub users: i64,
}

/// The sums of a range: its days, and the partners with activity, those with the most bookings first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    pub days: Vec<DayCounts>,
    pub partners: Vec<PartnerCounts>,
}

/// Entries of the cache: a report reads its range and the one before, then the same ranges as CSV.
const RANGES_MAX: usize = 8;

/// Range and version of cached sums.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    from: Moment,
    to: Moment,
    /// First moment of today. Minutes flown today are not cached, because they grow with time.
    today: Moment,
    /// Commits that may have changed the sums: of bookings and flights, and of requests of partners.
    commits: (u64, u64),
}

/// Cached sums, without names of partners.
#[derive(Default)]
struct CountsCache(Mutex<Vec<(Key, Arc<Counts>)>>);

impl CountsCache {
    fn entries(&self) -> MutexGuard<'_, Vec<(Key, Arc<Counts>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sums of a range: bookings and requests in it, and flights in it up to now.
pub(super) fn count(site: &Site, zone: &TimeZone, range: &Range) -> Result<Counts, Failure> {
    let now = site.now();
    let today = zone.day(now, 0).from;
    let cached = cached(site, zone, range, today)?;
    let (partners, (flights, flown)) = site.store.read(|tx| {
        let is_in = (range.from..range.to).contains(&today);
        let flown = if is_in { hours::sum_flown(tx, site.tunnel_id, today, now + 1)? } else { (0, 0) };
        Ok((partners::list(tx)?, flown))
    })?;
    let mut counts = (*cached).clone();
    if let Some(day) = counts.days.iter_mut().find(|day| day.from == today) {
        (day.flights, day.flown) = (flights, flown);
    }
    counts.partners.retain_mut(|one| {
        let partner = partners.iter().find(|partner| partner.partner_id == one.partner_id);
        partner.map(|partner| (one.name, one.client_id) = (partner.name.clone(), partner.client_id.clone())).is_some()
    });
    Ok(counts)
}

/// The sums of a range without today's flights, from the cache or added up now.
fn cached(site: &Site, zone: &TimeZone, range: &Range, today: Moment) -> Result<Arc<Counts>, Failure> {
    let changes = site.store.change_feed();
    let key = || Key { from: range.from, to: range.to, today, commits: (changes.count(), changes.count_requests()) };
    let cache = site.state::<CountsCache>();
    let wanted = key();
    if let Some((_, counts)) = cache.entries().iter().find(|(key, _)| *key == wanted) {
        return Ok(counts.clone());
    }
    // The snapshot of this request may be older than those commits.
    site.store.release();
    let made = key();
    let counts = Arc::new(add_up(site, zone, range, range.to.min(today))?);
    let mut all = cache.entries();
    all.retain(|(key, _)| key.commits == made.commits && key.today == today && *key != made);
    if all.len() >= RANGES_MAX {
        all.remove(0);
    }
    all.push((made, counts.clone()));
    Ok(counts)
}

/// Adds up bookings and requests of a range, and flights before `to_flown`.
fn add_up(site: &Site, zone: &TimeZone, range: &Range, to_flown: Moment) -> Result<Counts, Failure> {
    let (mut sums, mut starts) = (Counts::default(), Vec::new());
    let mut at = range.from;
    while at < range.to {
        let day = zone.day(at, 0);
        sums.days.push(DayCounts { from: day.from, date: zone.date(day.from), ..DayCounts::default() });
        starts.push(day.from);
        at = day.to;
    }
    site.store.read(|tx| {
        for span in spans(&starts, range.to) {
            add(tx, (site.tunnel_id, to_flown), span, &starts, &mut sums)?;
        }
        add_events(tx, range, &mut sums)
    })?;
    let Counts { partners, .. } = &mut sums;
    partners.retain(|one| one.bookings + one.tokens + one.refused + one.users > 0);
    partners.sort_by(|a, b| (b.bookings, b.tokens, a.partner_id).cmp(&(a.bookings, a.tokens, b.partner_id)));
    Ok(sums)
}

/// Splits days into spans that the store can add up by day. Consecutive days of 24 hours that begin on a UTC hour make one
/// span; any other day is a span of its own, so that no hourly sum is counted for two days.
fn spans(starts: &[Moment], to: Moment) -> Vec<(Moment, Moment)> {
    let ends = starts.iter().skip(1).copied().chain([to]);
    let mut spans: Vec<(Moment, Moment)> = Vec::new();
    for (from, to) in starts.iter().copied().zip(ends) {
        match spans.last_mut() {
            Some(run) if (run.1 - run.0) % DAY_SECONDS == 0 && is_even(from, to) && is_even(run.0, run.0) => run.1 = to,
            _ => spans.push((from, to)),
        }
    }
    spans
}

/// Whether a span begins on a UTC hour and has a multiple of 24 hours.
fn is_even(from: Moment, to: Moment) -> bool {
    from.0.rem_euclid(HOUR_SECONDS) == 0 && (to - from) % DAY_SECONDS == 0
}

/// Adds a span to its days and partners: its bookings, and its flights before `to_flown`.
fn add(
    tx: &Read,
    (tunnel_id, to_flown): (TunnelId, Moment),
    (from, to): (Moment, Moment),
    starts: &[Moment],
    sums: &mut Counts,
) -> Result<(), Failure> {
    // No time is before the first day.
    let day = |at: Moment| starts.partition_point(|start| *start <= at).saturating_sub(1);
    // A booked flight is in the logbook before it is flown.
    let flown = hours::list_flown_days(tx, tunnel_id, from, to.min(to_flown).max(from))?;
    for one in flown {
        let day = &mut sums.days[day(one.at)];
        day.flights += one.flights;
        day.flown += one.minutes;
    }
    for (at, one) in hours::list_booked_days(tx, tunnel_id, from, to)? {
        let day = &mut sums.days[day(at)];
        day.bookings += one.bookings;
        day.booked += one.minutes;
        day.arrived += one.arrived;
        let sum = sums.partner(one.partner_id);
        sum.bookings += one.bookings;
        sum.booked += one.minutes;
        sum.arrived += one.arrived;
    }
    Ok(())
}

fn add_events(tx: &Read, range: &Range, sums: &mut Counts) -> Result<(), Failure> {
    for (partner_id, event, times) in hours::list_events(tx, range.from, range.to)? {
        let sum = sums.partner(partner_id);
        match event.as_str() {
            "token.issued" => sum.tokens += times,
            "token.refused" => sum.refused += times,
            "user.created" => sum.users += times,
            _ => {}
        }
    }
    Ok(())
}

impl Counts {
    /// The sums of a partner, added where missing.
    fn partner(&mut self, partner_id: PartnerId) -> &mut PartnerCounts {
        let known = self.partners.iter().position(|one| one.partner_id == partner_id);
        let place = known.unwrap_or_else(|| {
            self.partners.push(PartnerCounts { partner_id, ..PartnerCounts::default() });
            self.partners.len() - 1
        });
        &mut self.partners[place]
    }
}

/// The sum over all days.
pub(super) fn total(days: &[DayCounts]) -> DayCounts {
    days.iter().fold(DayCounts::default(), |sum, day| DayCounts {
        from: sum.from,
        date: String::new(),
        bookings: sum.bookings + day.bookings,
        booked: sum.booked + day.booked,
        arrived: sum.arrived + day.arrived,
        flights: sum.flights + day.flights,
        flown: sum.flown + day.flown,
    })
}
