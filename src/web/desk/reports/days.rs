//! Adds up a range day by day, from the sums that are kept by the hour.

use super::range::Range;
use crate::domain::local_time::Hall;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::hours;
use crate::store::tables::partners;

const HOUR_SECONDS: i64 = 3600;

/// What a day had.
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

/// What a partner brought in all.
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
        Ok(brought)
    })?;
    brought.retain(|one| one.bookings + one.tokens + one.refused + one.users > 0);
    brought.sort_by(|a, b| (b.bookings, b.tokens, a.partner_id).cmp(&(a.bookings, a.tokens, b.partner_id)));
    Ok((days, brought))
}

/// All days at once where each begins with an hour, as nearly everywhere; else day by day, lest an hour should belong to two.
fn spans(starts: &[i64], to: i64) -> Vec<(i64, i64)> {
    if starts.iter().all(|start| start.rem_euclid(HOUR_SECONDS) == 0) {
        return starts.first().map(|from| (*from, to)).into_iter().collect();
    }
    let ends = starts.iter().skip(1).copied().chain([to]);
    starts.iter().copied().zip(ends).collect()
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
    let flown = hours::list_flown(tx, tunnel_id, from, to.min(now + 1).max(from))?;
    for one in flown {
        let day = &mut days[day(one.at)];
        day.flights += one.flights;
        day.flown += one.minutes;
    }
    for (at, one) in hours::list_booked(tx, tunnel_id, from, to)? {
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
    for (partner_id, event, times) in hours::list_events(tx, from, to)? {
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
