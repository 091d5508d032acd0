//! Adds up a range day by day, from the sums that are kept by the hour.

use super::range::Range;
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::hours;
use crate::store::tables::partners;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const HOUR_SECONDS: i64 = 3600;
const DAY_SECONDS: i64 = 86_400;

/// The counts of a day.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Counted {
    /// The first moment of it.
    pub from: i64,
    pub date: String,
    pub bookings: i64,
    pub booked: i64,
    /// For how many bookings somebody came.
    pub arrived: i64,
    /// Flown by now.
    pub flights: i64,
    pub flown: i64,
}

/// The counts of a partner over the whole range.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Brought {
    pub partner_id: i64,
    pub name: String,
    pub client_id: String,
    pub bookings: i64,
    pub booked: i64,
    pub arrived: i64,
    pub tokens: i64,
    pub refused: i64,
    pub users: i64,
}

/// The counts of a range: its days, and the partners who brought something in it, those with the most bookings first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    pub days: Vec<Counted>,
    pub brought: Vec<Brought>,
}

/// Ranges of which the counts are kept: a report is asked for with the range before it, then as tables.
const RANGES_MAX: usize = 8;

/// Whose counts, and until when they are good.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    from: i64,
    to: i64,
    /// When today began: what is flown from then on is in no kept count, because it grows with the clock.
    today: i64,
    /// The commits that may have changed them: of bookings and flights, and of the partners' requests.
    commits: (u64, u64),
}

/// As they were added up last; partners have no names there.
#[derive(Default)]
struct Kept(Mutex<Vec<(Key, Arc<Counts>)>>);

impl Kept {
    fn all(&self) -> MutexGuard<'_, Vec<(Key, Arc<Counts>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counts of a range: what is booked and asked for in it, and what was flown in it by now.
pub(super) fn count(site: &Site, zone: &TimeZone, range: &Range) -> Result<Counts, Failure> {
    let now = site.now();
    let today = zone.day(now, 0).from;
    let kept = kept(site, zone, range, today)?;
    let (partners, (flights, flown)) = site.store.read(|tx| {
        let is_in = (range.from..range.to).contains(&today);
        let flown = if is_in { hours::sum_flown(tx, site.tunnel_id, today, now + 1)? } else { (0, 0) };
        Ok((partners::list(tx)?, flown))
    })?;
    let mut counts = (*kept).clone();
    if let Some(day) = counts.days.iter_mut().find(|day| day.from == today) {
        (day.flights, day.flown) = (flights, flown);
    }
    counts.brought.retain_mut(|one| {
        let partner = partners.iter().find(|partner| partner.partner_id == one.partner_id);
        partner.map(|partner| (one.name, one.client_id) = (partner.name.clone(), partner.client_id.clone())).is_some()
    });
    Ok(counts)
}

/// What is kept of a range, added up anew where it may be old.
fn kept(site: &Site, zone: &TimeZone, range: &Range, today: i64) -> Result<Arc<Counts>, Failure> {
    let changes = site.store.change_feed();
    let key = || Key { from: range.from, to: range.to, today, commits: (changes.count(), changes.count_requests()) };
    let kept = site.state::<Kept>();
    let wanted = key();
    if let Some((_, counts)) = kept.all().iter().find(|(key, _)| *key == wanted) {
        return Ok(counts.clone());
    }
    // The snapshot of this request may be older than the commits.
    site.store.release();
    let made = key();
    let counts = Arc::new(add_up(site, zone, range, range.to.min(today))?);
    let mut all = kept.all();
    all.retain(|(key, _)| key.commits == made.commits && key.today == today && *key != made);
    if all.len() >= RANGES_MAX {
        all.remove(0);
    }
    all.push((made, counts.clone()));
    Ok(counts)
}

/// Adds up what is booked and asked for in a range, and what was flown in it before `to_flown`.
fn add_up(site: &Site, zone: &TimeZone, range: &Range, to_flown: i64) -> Result<Counts, Failure> {
    let (mut sums, mut starts) = (Counts::default(), Vec::new());
    let mut at = range.from;
    while at < range.to {
        let day = zone.day(at, 0);
        sums.days.push(Counted { from: day.from, date: zone.date(day.from), ..Counted::default() });
        starts.push(day.from);
        at = day.to;
    }
    site.store.read(|tx| {
        for span in spans(&starts, range.to) {
            add(tx, (site.tunnel_id, to_flown), span, &starts, &mut sums)?;
        }
        add_events(tx, range, &mut sums)
    })?;
    let Counts { brought, .. } = &mut sums;
    brought.retain(|one| one.bookings + one.tokens + one.refused + one.users > 0);
    brought.sort_by(|a, b| (b.bookings, b.tokens, a.partner_id).cmp(&(a.bookings, a.tokens, b.partner_id)));
    Ok(sums)
}

/// Runs of days of 24 hours where each begins with an hour, as nearly everywhere, so that the store adds up each day of a run;
/// else day by day, lest an hour should belong to two.
fn spans(starts: &[i64], to: i64) -> Vec<(i64, i64)> {
    let ends = starts.iter().skip(1).copied().chain([to]);
    let mut spans: Vec<(i64, i64)> = Vec::new();
    for (from, to) in starts.iter().copied().zip(ends) {
        match spans.last_mut() {
            Some(run) if (run.1 - run.0) % DAY_SECONDS == 0 && is_even(from, to) && is_even(run.0, run.0) => run.1 = to,
            _ => spans.push((from, to)),
        }
    }
    spans
}

/// Whether a day begins with an hour and has 24 of them, or is none at all.
fn is_even(from: i64, to: i64) -> bool {
    from.rem_euclid(HOUR_SECONDS) == 0 && (to - from) % DAY_SECONDS == 0
}

/// Adds what a span had to its days and partners: what is booked in it, and what was flown in it before `to_flown`.
fn add(
    tx: &Read,
    (tunnel_id, to_flown): (i64, i64),
    (from, to): (i64, i64),
    starts: &[i64],
    sums: &mut Counts,
) -> Result<(), Failure> {
    // Nothing is before the first.
    let day = |at: i64| starts.partition_point(|start| *start <= at).saturating_sub(1);
    // A booked flight stands in the logbook before it is flown.
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
    /// Where what a partner brought is added up.
    fn partner(&mut self, partner_id: i64) -> &mut Brought {
        let known = self.brought.iter().position(|one| one.partner_id == partner_id);
        let place = known.unwrap_or_else(|| {
            self.brought.push(Brought { partner_id, ..Brought::default() });
            self.brought.len() - 1
        });
        &mut self.brought[place]
    }
}

/// The counts of a whole range.
pub(super) fn total(days: &[Counted]) -> Counted {
    days.iter().fold(Counted::default(), |sum, day| Counted {
        from: sum.from,
        date: String::new(),
        bookings: sum.bookings + day.bookings,
        booked: sum.booked + day.booked,
        arrived: sum.arrived + day.arrived,
        flights: sum.flights + day.flights,
        flown: sum.flown + day.flown,
    })
}
