//! The history of the partners' requests, and of what became of their bookings here: append-only and numbered without gaps. The sync sends its rows upstream.

use super::bookings::BookingRow;
use super::partners;
use crate::domain::booking::Booking;
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::store::joining::{AS_IT_WAS, stays};
use crate::store::personal::{OUR_WORD, Rows, Seen, Table, not_personal};
use crate::store::{Conditions, Read, Write};
use rusqlite::Result;
use serde::Serialize;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "history",
    "",
    &[not_personal("event", OUR_WORD), not_personal("detail", "a booking's numbers, or a word of the product's own")],
    &[Rows::kept("history", "member_id = :id", "append-only, and goes upstream; numbers and moments")],
)
.seen(Seen::InReports)
.joins(&[stays("member_id", AS_IT_WAS)])];

named! {
    /// A partner's request that changed something, or was refused; what became of a booking at this site; or a restore.
    pub enum Event {
        /// A user record was created.
        UserCreated = "user.created",
        /// The address of a user record was changed.
        UserEdited = "user.edited",
        /// A user record was deleted for the partner.
        UserDeleted = "user.deleted",
        /// A booking token was issued.
        TokenIssued = "token.issued",
        /// No booking token was issued; the detail has the reason.
        TokenRefused = "token.refused",
        /// A booking was sent for the first time.
        BookingRecorded = "booking.recorded",
        /// A booking was sent again with other values.
        BookingChanged = "booking.changed",
        /// The desk gave a booking another time or length.
        BookingMoved = "booking.moved",
        /// A booking was cancelled, by whomever.
        BookingCancelled = "booking.cancelled",
        /// The member did not come.
        BookingMissed = "booking.no_show",
        /// A cancellation or a no-show was undone.
        BookingRestored = "booking.restored",
        /// The member came.
        BookingCheckedIn = "booking.checked_in",
        /// A check-in was undone.
        CheckInUndone = "booking.check_in_undone",
        /// The site was restored to an earlier moment, so that rows which the receiver has are gone here.
        SiteRestored = "site.restored",
    }
}

/// The subject and the detail of an event.
#[derive(Debug, Default, Clone, Copy)]
pub struct EventSubject<'a> {
    /// A user record of the partner.
    pub user_id: Option<i64>,
    /// The member whose PIN came with the request.
    pub member_id: Option<MemberId>,
    /// The booking that the request sent.
    pub booking_id: Option<BookingId>,
    /// The detail of the event, as a JSON object.
    pub detail: Option<&'a str>,
}

row! {
    /// A row of the history, as reports show it.
    #[derive(Debug)]
    pub struct HistoryRow in "h." {
        /// The row's number, from 1 on, without gaps.
        pub seq: i64,
        /// The partner's `client_id`.
        pub client_id: String = "p.client_id",
        /// The event's name: see [`Event`].
        pub event: String,
        /// When the request was made, in Unix seconds.
        pub at: i64,
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
    pub from: Option<i64>,
    /// The end, in Unix seconds, not included.
    pub to: Option<i64>,
    /// Only rows after this `seq`.
    pub after: Option<i64>,
}

/// Adds a row; returns its `seq`.
pub fn insert(tx: &Write, partner_id: PartnerId, event: Event, about: &EventSubject) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO history" {
        partner_id, event: event.name(), at: tx.now(), user_id: about.user_id, member_id: about.member_id,
        booking_id: about.booking_id, detail: about.detail.unwrap_or("{}"),
    })
}

/// A booking as it stands, as the `detail` of an event.
#[derive(Serialize)]
struct BookingDetail<'a> {
    #[serde(flatten)]
    booking: &'a Booking,
    ended: Option<&'static str>,
    ended_at: Option<i64>,
    arrived_at: Option<i64>,
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
    if filter.after.or(filter.from).or(filter.to).is_none() {
        return partners::count_events(tx, filter.partner_id);
    }
    let conditions = filter.conditions();
    let sql = format!("SELECT count(*) FROM history h WHERE {}", conditions.sql());
    tx.get(&sql, &*conditions.params)
}

/// The highest number ever given; 0: none.
pub(crate) fn last_seq(tx: &Read) -> Result<i64> {
    let sql = sql!("SELECT seq FROM sqlite_sequence WHERE name = 'history'");
    Ok(tx.find(sql, [])?.unwrap_or(0))
}

/// How many rows come after this one, and the moment of the oldest of them.
pub(crate) fn waiting(tx: &Read, after: i64) -> Result<(i64, Option<i64>)> {
    // Where nothing was sent yet, all rows wait: their count is kept by triggers.
    let count = match after {
        ..=0 => partners::count_events(tx, None)?,
        _ => tx.get(sql!("SELECT count(*) FROM history WHERE seq > ?1"), [after])?,
    };
    let oldest = tx.find(sql!("SELECT at FROM history WHERE seq > ?1 ORDER BY seq LIMIT 1"), [after])?;
    Ok((count, oldest))
}

/// The first row with a number in this range (both ends in it) that is younger than `at`.
pub(crate) fn first_younger(tx: &Read, first: i64, last: i64, at: i64) -> Result<Option<i64>> {
    let sql = sql!("SELECT seq FROM history WHERE seq BETWEEN ?1 AND ?2 AND at > ?3 ORDER BY seq LIMIT 1");
    tx.find(sql, [first, last, at])
}

/// Renumbers the rows from `first` on to the numbers from `to` on, in the same order. Returns the number of rows.
pub(crate) fn renumber(tx: &Write, first: i64, to: i64) -> Result<usize> {
    let by = to - first;
    // Via negative numbers, because a new number may still be that of another row.
    let moved = tx.run(sql!("UPDATE history SET seq = -(seq + ?2) WHERE seq >= ?1"), [first, by])?;
    tx.run(sql!("UPDATE history SET seq = -seq WHERE seq < 0"), [])?;
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
    let sql = sql!("UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'history'");
    if tx.run(sql, [number])? == 0 {
        insert!(tx.run, "INSERT INTO sqlite_sequence" { name: "history", seq: number })?;
    }
    Ok(1)
}
