//! Adds up a range day by day, from the sums that are kept by the hour.

use super::range::Range;
use crate::domain::local_time::Hall;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::hours;
use crate::store::tables::partners;

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

pub(super) fn count(site: &Site, hall: &Hall, range: &Range) -> Result<(Vec<Counted>, Vec<Brought>), Failure> {
    let named = |one: partners::Partner| Brought {
        partner_id: one.partner_id,
        name: one.name,
        client_id: one.client_id,
        ..Brought::default()
    };
    let mut days = Vec::new();
    let mut starts = Vec::new();
    let mut at = range.from;
    while at < range.to {
        let day = hall.day(at, 0);
        days.push(Counted { from: day.from, date: hall.date(day.from), ..Counted::default() });
        starts.push(day.from);
        at = day.to;
    }
    // At one moment: a partner who comes between two would be in one sum and not in the other.
    let mut brought = site.store.read(|tx| {
        let mut brought: Vec<Brought> = partners::list(tx)?.into_iter().map(named).collect();
        for span in spans(&starts, range.to) {
            add(tx, (site.tunnel_id, site.now()), span, &starts, (&mut days, &mut brought))?;
        }
        add_events(tx, range, &mut brought)?;
        Ok(brought)
    })?;
    brought.retain(|one| one.bookings + one.tokens + one.refused + one.users > 0);
    brought.sort_by(|a, b| (b.bookings, b.tokens, a.partner_id).cmp(&(a.bookings, a.tokens, b.partner_id)));
    Ok((days, brought))
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

/// Adds what a span had to its days and partners: what is booked in it, and what was flown in it by `now`.
fn add(
    tx: &Read,
    (tunnel_id, now): (i64, i64),
    (from, to): (i64, i64),
    starts: &[i64],
    (days, brought): (&mut [Counted], &mut [Brought]),
) -> Result<(), Failure> {
    // Nothing is before the first.
    let day = |at: i64| starts.partition_point(|start| *start <= at).saturating_sub(1);
    // A booked flight stands in the logbook before it is flown.
    let flown = hours::list_flown_days(tx, tunnel_id, from, to.min(now + 1).max(from))?;
    for one in flown {
        let day = &mut days[day(one.at)];
        day.flights += one.flights;
        day.flown += one.minutes;
    }
    for (at, one) in hours::list_booked_days(tx, tunnel_id, from, to)? {
        let day = &mut days[day(at)];
        day.bookings += one.bookings;
        day.booked += one.minutes;
        day.arrived += one.arrived;
        if let Some(sum) = brought.iter_mut().find(|sum| sum.partner_id == one.partner_id) {
            sum.bookings += one.bookings;
            sum.booked += one.minutes;
            sum.arrived += one.arrived;
        }
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
        let mut sum = Counted { from: range.from, ..Counted::default() };
        for one in hours::list_flown_days(tx, tunnel_id, range.from, to_flown)? {
            sum.flights += one.flights;
            sum.flown += one.minutes;
        }
        for (_, one) in hours::list_booked_days(tx, tunnel_id, range.from, range.to)? {
            sum.bookings += one.bookings;
            sum.booked += one.minutes;
            sum.arrived += one.arrived;
        }
        Ok(sum)
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
