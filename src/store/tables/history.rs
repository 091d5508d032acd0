//! The history of the partners' requests, and of what became of their bookings here: those events that are about a partner,
//! append-only and numbered without gaps. The sync sends its rows upstream.

use super::bookings::BookingRow;
use super::partners;
use crate::domain::booking::Booking;
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::moment::Moment;
use crate::store::{Conditions, Read, Write};
use rusqlite::Result;
use serde::Serialize;

row! {
    /// A row of the history, as reports show it.
    #[derive(Debug)]
    pub struct HistoryRow in "h." {
        /// The row's number, from 1 on, without gaps.
        pub seq: i64,
        /// The partner's `client_id`.
        pub client_id: String = "p.client_id",
        /// The event's name: see [`super::events::Event`].
        pub event: String,
        /// When the request was made, in Unix seconds.
        pub at: Moment,
        /// The user record of the partner that the event is about, if any.
        pub user_id: Option<i64>,
        /// The member whose PIN came with the request, if any.
        pub member_id: Option<MemberId>,
        /// The booking that the request sent, if any.
        pub booking_id: Option<BookingId>,
        /// The detail of the event, as a JSON object.
        pub detail: String,
    }
}

/// A filter of the history. With `after`, rows come oldest first, for reading on; without it, newest first.
#[derive(Debug, Default, Clone)]
pub struct Filter {
    /// Only rows of this partner.
    pub partner_id: Option<PartnerId>,
    /// The begin, in Unix seconds, included.
    pub from: Option<Moment>,
    /// The end, in Unix seconds, not included.
    pub to: Option<Moment>,
    /// Only rows after this `seq`.
    pub after: Option<i64>,
}

/// A booking as it stands, as the `detail` of an event.
#[derive(Serialize)]
struct BookingDetail<'a> {
    #[serde(flatten)]
    booking: &'a Booking,
    ended: Option<&'static str>,
    ended_at: Option<Moment>,
    arrived_at: Option<Moment>,
}

/// The `detail` of an event about a booking: its values as they stand after it.
pub(crate) fn booking_detail(row: &BookingRow) -> String {
    let BookingRow { booking, ending, ended_at, arrived_at, .. } = row;
    let detail = BookingDetail {
        booking,
        ended: ending.map(|ending| ending.name()),
        ended_at: *ended_at,
        arrived_at: *arrived_at,
    };
    serde_json::to_string(&detail).expect("a booking can be written as JSON")
}

impl Filter {
    fn conditions(&self) -> Conditions<'_> {
        Conditions::default()
            .when("h.partner_id = :partner_id", ":partner_id", &self.partner_id)
            .when("h.at >= :from", ":from", &self.from)
            .when("h.at < :to", ":to", &self.to)
            .when("h.seq > :after", ":after", &self.after)
    }
}

/// The rows that match a filter.
pub fn list(tx: &Read, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<HistoryRow>> {
    let conditions = filter.conditions().with(":limit", &limit).with(":offset", &offset);
    let sql = format!(
        "SELECT {} FROM history h JOIN partners p ON p.partner_id = h.partner_id WHERE {} ORDER BY h.seq {} LIMIT :limit OFFSET :offset",
        HistoryRow::COLUMNS,
        conditions.sql(),
        if filter.after.is_some() { "ASC" } else { "DESC" }
    );
    tx.list(&sql, &*conditions.params)
}

pub(crate) fn count(tx: &Read, filter: &Filter) -> Result<i64> {
    if filter.after.is_none() && filter.from.is_none() && filter.to.is_none() {
        return partners::count_events(tx, filter.partner_id);
    }
    let conditions = filter.conditions();
    let sql = format!("SELECT count(*) FROM history h WHERE {}", conditions.sql());
    tx.get(&sql, &*conditions.params)
}

/// The highest number ever given; 0: none.
pub(crate) fn last_seq(tx: &Read) -> Result<i64> {
    Ok(tx.find(sql!("SELECT history_seq FROM site"), [])?.unwrap_or(0))
}

/// How many rows come after this one, and the moment of the oldest of them.
pub(crate) fn waiting(tx: &Read, after: i64) -> Result<(i64, Option<Moment>)> {
    // Where nothing was sent yet, all rows wait: their count is kept by triggers.
    let count = match after {
        ..=0 => partners::count_events(tx, None)?,
        _ => tx.get(sql!("SELECT count(*) FROM history WHERE seq > ?1"), [after])?,
    };
    let oldest = tx.find(sql!("SELECT at FROM history WHERE seq > ?1 ORDER BY seq LIMIT 1"), [after])?;
    Ok((count, oldest))
}

/// The first row with a number in this range (both ends in it) that is younger than `at`.
pub(crate) fn first_younger(tx: &Read, first: i64, last: i64, at: Moment) -> Result<Option<i64>> {
    let sql = sql!("SELECT seq FROM history WHERE seq BETWEEN ?1 AND ?2 AND at > ?3 ORDER BY seq LIMIT 1");
    tx.find(sql, (first, last, at))
}

/// Renumbers the rows from `first` on to the numbers from `to` on, in the same order. Returns the number of rows.
pub(crate) fn renumber(tx: &Write, first: i64, to: i64) -> Result<usize> {
    let by = to - first;
    // Via negative numbers, because a new number may still be that of another row.
    let sql = sql!("UPDATE events SET history_seq = -(history_seq + ?2) WHERE history_seq >= ?1");
    let moved = tx.run(sql, [first, by])?;
    tx.run(sql!("UPDATE events SET history_seq = -history_seq WHERE history_seq < 0"), [])?;
    let highest = tx.get(sql!("SELECT coalesce(max(seq), 0) FROM history"), [])?;
    raise_numbers(tx, highest)?;
    Ok(moved)
}

/// The last row up to this number; 0: there is none.
pub(crate) fn last_up_to(tx: &Read, number: i64) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(max(seq), 0) FROM history WHERE seq <= ?1"), [number])
}

/// Ensures that new rows get numbers above this one.
pub(crate) fn raise_numbers(tx: &Write, number: i64) -> Result<usize> {
    tx.run(sql!("UPDATE site SET history_seq = max(history_seq, ?1)"), [number])
}
