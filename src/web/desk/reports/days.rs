//! Adds up a range day by day, from the sums that are kept by the hour.

use super::range::Range;
use crate::domain::local_time::Hall;
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

/// Ranges of which the sums are kept.
const RANGES_MAX: usize = 4;

/// The sums of a range's bookings and flights: what a partner brought has no name here, and nothing but bookings.
#[derive(Default)]
struct Sums {
    days: Vec<Counted>,
    brought: Vec<Brought>,
}

/// Whose sums, and until when they are good.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    from: i64,
    to: i64,
    /// Flights from then on are still to come.
    to_flown: i64,
    /// The commits that may have changed them.
    count: u64,
}

/// As they were added up last: a report is asked for as a page, then as a table of days and one of partners.
#[derive(Default)]
struct Kept(Mutex<Vec<(Key, Arc<Sums>)>>);

impl Kept {
    fn all(&self) -> MutexGuard<'_, Vec<(Key, Arc<Sums>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn count(site: &Site, hall: &Hall, range: &Range) -> Result<(Vec<Counted>, Vec<Brought>), Failure> {
    let sums = sums(site, hall, range)?;
    let mut brought = site.store.read(|tx| {
        let mut brought: Vec<Brought> = partners::list(tx)?.into_iter().map(|one| named(one, &sums.brought)).collect();
        add_events(tx, range, &mut brought)?;
        Ok(brought)
    })?;
    brought.retain(|one| one.bookings + one.tokens + one.refused + one.users > 0);
    brought.sort_by(|a, b| (b.bookings, b.tokens, a.partner_id).cmp(&(a.bookings, a.tokens, b.partner_id)));
    Ok((sums.days.clone(), brought))
}

fn named(one: partners::Partner, sums: &[Brought]) -> Brought {
    let sum = sums.iter().find(|sum| sum.partner_id == one.partner_id).cloned().unwrap_or_default();
    Brought { partner_id: one.partner_id, name: one.name, client_id: one.client_id, ..sum }
}

/// The sums of a range, added up anew where what is kept may be old.
fn sums(site: &Site, hall: &Hall, range: &Range) -> Result<Arc<Sums>, Failure> {
    let key = |count| Key { from: range.from, to: range.to, to_flown: range.to.min(site.now() + 1), count };
    let kept = site.kept::<Kept>();
    let wanted = key(site.store.changes().count());
    if let Some((_, sums)) = kept.all().iter().find(|(key, _)| *key == wanted) {
        return Ok(sums.clone());
    }
    // The snapshot of this request may be older than the count.
    site.store.rest();
    let made = key(site.store.changes().count());
    let sums = Arc::new(add_up(site, hall, range, made.to_flown)?);
    let mut all = kept.all();
    all.retain(|(key, _)| key.count == made.count && *key != made);
    if all.len() >= RANGES_MAX {
        all.remove(0);
    }
    all.push((made, sums.clone()));
    Ok(sums)
}

/// Adds up what is booked in a range, and what was flown in it before `to_flown`.
fn add_up(site: &Site, hall: &Hall, range: &Range, to_flown: i64) -> Result<Sums, Failure> {
    let (mut sums, mut starts) = (Sums::default(), Vec::new());
    let mut at = range.from;
    while at < range.to {
        let day = hall.day(at, 0);
        sums.days.push(Counted { from: day.from, date: hall.date(day.from), ..Counted::default() });
        starts.push(day.from);
        at = day.to;
    }
    site.store.read(|tx| {
        for span in spans(&starts, range.to) {
            add(tx, (site.tunnel_id, to_flown), span, &starts, &mut sums)?;
        }
        Ok(())
    })?;
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
    sums: &mut Sums,
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
        let known = sums.brought.iter().position(|sum| sum.partner_id == one.partner_id);
        let place = known.unwrap_or(sums.brought.len());
        if known.is_none() {
            sums.brought.push(Brought { partner_id: one.partner_id, ..Brought::default() });
        }
        let sum = &mut sums.brought[place];
        sum.bookings += one.bookings;
        sum.booked += one.minutes;
        sum.arrived += one.arrived;
    }
    Ok(())
}

fn add_events(tx: &Read, range: &Range, brought: &mut [Brought]) -> Result<(), Failure> {
    for (partner_id, event, times) in hours::list_events(tx, range.from, range.to)? {
        let Some(sum) = brought.iter_mut().find(|sum| sum.partner_id == partner_id) else { continue };
        match event.as_str() {
            "token.issued" => sum.tokens += times,
            "token.refused" => sum.refused += times,
            "user.created" => sum.users += times,
            _ => {}
        }
    }
    Ok(())
}

/// The counts of a whole range.
pub(super) fn sum(site: &Site, range: &Range) -> Result<Counted, Failure> {
    let (tunnel_id, to_flown) = (site.tunnel_id, range.to.min(site.now() + 1).max(range.from));
    site.store.read(|tx| {
        let (flights, flown) = hours::sum_flown(tx, tunnel_id, range.from, to_flown)?;
        let (bookings, booked, arrived) = hours::sum_booked(tx, tunnel_id, range.from, range.to)?;
        Ok(Counted { from: range.from, date: String::new(), bookings, booked, arrived, flights, flown })
    })
}

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
