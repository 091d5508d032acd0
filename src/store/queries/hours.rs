//! Sums of minutes flown and booked by the hour, and of the partners' requests by the day, which triggers keep. The
//! partial hours or days at the ends of a span are summed from the rows, so that every result is exact.

use super::reports::{self, Booked};
use crate::domain::ids::{PartnerId, TunnelId};
use crate::moment::Moment;
use crate::store::personal::{OUR_WORD, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::nobodys("event_days", &[not_personal("event", OUR_WORD)])];

const HOUR_SECONDS: i64 = 3600;
/// A day in UTC.
const DAY_SECONDS: i64 = 86_400;

row! {
    /// The flights of an hour, or of a part of one.
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) struct Flown {
        /// The begin of the hour.
        pub at: Moment = "hour",
        pub flights: i64,
        pub minutes: i64,
    }
}

/// The flights at a tunnel between two moments; `to` is not included.
pub(crate) fn list_flown(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<Vec<Flown>> {
    let sql = sql!(
        "SELECT ",
        Flown::COLUMNS,
        " FROM flown_hours
               WHERE tunnel_id = ?1 AND hour >= ?2 AND hour < ?3 AND flights > 0"
    );
    let whole = |from: Moment, to: Moment| tx.list(sql, (tunnel_id, from, to));
    gather(HOUR_SECONDS, (from, to), whole, |at, to| sum_partial_hour(tx, tunnel_id, at, to))
}

fn sum_partial_hour(tx: &Read, tunnel_id: TunnelId, at: Moment, to: Moment) -> Result<Vec<Flown>> {
    let (flights, minutes) = reports::sum_flown(tx, tunnel_id, at, to)?;
    Ok(vec![Flown { at, flights, minutes }])
}

/// The flights at a tunnel between two moments in sums of 24 hours from the first whole hour on, each under its first
/// hour with flights; `to` is not included.
pub(crate) fn list_flown_days(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<Vec<Flown>> {
    let sql = sql!(
        "SELECT min(hour), sum(flights), sum(minutes) FROM flown_hours
               WHERE tunnel_id = ?1 AND hour >= ?2 AND hour < ?3 AND flights > 0 GROUP BY (hour - ?2) / 86400"
    );
    let whole = |from: Moment, to: Moment| {
        let rows: Vec<(Moment, i64, i64)> = tx.list(sql, (tunnel_id, from, to))?;
        Ok(rows.into_iter().map(|(at, flights, minutes)| Flown { at, flights, minutes }).collect())
    };
    gather(HOUR_SECONDS, (from, to), whole, |at, to| sum_partial_hour(tx, tunnel_id, at, to))
}

/// All flights at a tunnel between two moments, and their minutes; `to` is not included.
pub(crate) fn sum_flown(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT coalesce(sum(flights), 0), coalesce(sum(minutes), 0) FROM flown_hours
               WHERE tunnel_id = ?1 AND hour >= ?2 AND hour < ?3"
    );
    let whole = |from: Moment, to: Moment| Ok(vec![tx.get(sql, (tunnel_id, from, to))?]);
    let sums: Vec<(i64, i64)> =
        gather(HOUR_SECONDS, (from, to), whole, |from, to| Ok(vec![reports::sum_flown(tx, tunnel_id, from, to)?]))?;
    Ok(sums.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}

/// The bookings of the flights between two moments by partner, in sums of 24 hours as in [`list_flown_days`]; `to` is
/// not included.
pub(crate) fn list_booked_days(
    tx: &Read,
    tunnel_id: TunnelId,
    from: Moment,
    to: Moment,
) -> Result<Vec<(Moment, Booked)>> {
    let sql = sql!(
        "SELECT min(hour), partner_id, sum(bookings), sum(minutes), sum(arrived) FROM booked_hours
               WHERE tunnel_id = ?1 AND hour >= ?2 AND hour < ?3 AND bookings > 0
               GROUP BY (hour - ?2) / 86400, partner_id"
    );
    let whole = |from: Moment, to: Moment| tx.list(sql, (tunnel_id, from, to));
    let part = |at: Moment, to: Moment| {
        let booked = reports::list_booked(tx, tunnel_id, at, to)?;
        Ok(booked.into_iter().map(|one| (at, one)).collect())
    };
    gather(HOUR_SECONDS, (from, to), whole, part)
}

/// The partners' requests between two moments: partner, event, how often.
pub(crate) fn list_events(tx: &Read, from: Moment, to: Moment) -> Result<Vec<(PartnerId, String, i64)>> {
    let sql = sql!("SELECT partner_id, event, sum(times) FROM event_days WHERE day >= ?1 AND day < ?2 GROUP BY 1, 2");
    let whole = |from: Moment, to: Moment| tx.list(sql, (from, to));
    gather(DAY_SECONDS, (from, to), whole, |from, to| reports::list_events(tx, from, to))
}

/// Concatenates the results of `part` for the partial hours or days at the ends of a span, and of `whole` for those
/// between.
fn gather<T>(
    seconds: i64,
    (from, to): (Moment, Moment),
    whole: impl Fn(Moment, Moment) -> Result<Vec<T>>,
    part: impl Fn(Moment, Moment) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let (first, last) = ((from + (seconds - 1)).rounded_down(seconds), to.rounded_down(seconds));
    if first > last {
        return part(from, to);
    }
    let mut all = if from < first { part(from, first)? } else { Vec::new() };
    all.extend(whole(first, last)?);
    if last < to {
        all.extend(part(last, to)?);
    }
    Ok(all)
}

/// Recomputes all sums, after rows were written without the triggers.
pub(crate) fn count_anew(tx: &Write) -> Result<()> {
    for sql in [
        sql!("DELETE FROM flown_hours"),
        sql!("DELETE FROM booked_hours"),
        sql!("DELETE FROM event_days"),
        sql!(
            "INSERT INTO flown_hours
         SELECT tunnel_id, hour, count(*), sum(minutes) FROM entries
         WHERE kind = 'time' AND status = 'open' AND opening IS NULL GROUP BY 1, 2"
        ),
        sql!(
            "INSERT INTO booked_hours
         SELECT tunnel_id, hour, partner_id, count(*), sum(minutes_booked),
                count(arrived_at) FROM bookings WHERE ended_as IS NOT 'cancelled' GROUP BY 1, 2, 3"
        ),
        sql!(
            "INSERT INTO event_days SELECT at - (at % 86400 + 86400) % 86400, partner_id, event, count(*) FROM history GROUP BY 1, 2, 3"
        ),
    ] {
        tx.run(sql, [])?;
    }
    Ok(())
}
