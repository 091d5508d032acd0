//! What the partners did: append-only, numbered upwards, the source of what goes upstream.

use super::partners;
use crate::domain::booking::Booking;
use crate::store::{Asked, Read, Write};
use rusqlite::{Result, named_params};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    UserCreated,
    UserEdited,
    UserDeleted,
    TokenIssued,
    TokenRefused,
    BookingRecorded,
    BookingChanged,
}

impl Event {
    pub fn name(self) -> &'static str {
        match self {
            Event::UserCreated => "user.created",
            Event::UserEdited => "user.edited",
            Event::UserDeleted => "user.deleted",
            Event::TokenIssued => "token.issued",
            Event::TokenRefused => "token.refused",
            Event::BookingRecorded => "booking.recorded",
            Event::BookingChanged => "booking.changed",
        }
    }
}

/// Whom and what an event is about.
#[derive(Debug, Default, Clone, Copy)]
pub struct About<'a> {
    pub user_id: Option<i64>,
    pub member_id: Option<i64>,
    pub booking_id: Option<i64>,
    /// JSON.
    pub detail: Option<&'a str>,
}

#[derive(Debug)]
pub struct HistoryRow {
    pub seq: i64,
    pub client_id: String,
    pub event: String,
    pub at: i64,
    pub user_id: Option<i64>,
    pub member_id: Option<i64>,
    pub booking_id: Option<i64>,
    pub detail: String,
}

/// Which rows a report takes. `to` is not included; with `after` rows come oldest first, to be read on from there.
#[derive(Debug, Default, Clone)]
pub struct Filter {
    pub partner_id: Option<i64>,
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub after: Option<i64>,
}

pub fn insert(tx: &Write, partner_id: i64, event: Event, about: &About) -> Result<i64> {
    let sql = "INSERT INTO history (partner_id, event, at, user_id, member_id, booking_id, detail)
               VALUES (:partner_id, :event, :now, :user_id, :member_id, :booking_id, :detail)";
    tx.insert(
        sql,
        named_params! {":partner_id": partner_id, ":event": event.name(), ":now": tx.now(), ":user_id": about.user_id,
        ":member_id": about.member_id, ":booking_id": about.booking_id, ":detail": about.detail.unwrap_or("{}")},
    )
}

/// A booking's values, as the `detail` of an event.
pub fn booking_detail(booking: &Booking) -> String {
    serde_json::to_string(booking).expect("a booking can be written as JSON")
}

impl Filter {
    fn asked(&self) -> Asked<'_> {
        Asked::default()
            .when("h.partner_id = :partner_id", ":partner_id", &self.partner_id)
            .when("h.at >= :from", ":from", &self.from)
            .when("h.at < :to", ":to", &self.to)
            .when("h.seq > :after", ":after", &self.after)
    }
}

pub fn list(tx: &Read, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<HistoryRow>> {
    let asked = filter.asked().with(":limit", &limit).with(":offset", &offset);
    let sql = format!(
        "SELECT h.seq, p.client_id, h.event, h.at, h.user_id, h.member_id, h.booking_id, h.detail
         FROM history h JOIN partners p ON p.partner_id = h.partner_id WHERE {} ORDER BY h.seq {} LIMIT :limit OFFSET :offset",
        asked.sql(),
        if filter.after.is_some() { "ASC" } else { "DESC" }
    );
    tx.list(&sql, &*asked.params, |row| {
        Ok(HistoryRow {
            seq: row.get(0)?,
            client_id: row.get(1)?,
            event: row.get(2)?,
            at: row.get(3)?,
            user_id: row.get(4)?,
            member_id: row.get(5)?,
            booking_id: row.get(6)?,
            detail: row.get(7)?,
        })
    })
}

pub fn count(tx: &Read, filter: &Filter) -> Result<i64> {
    if filter.after.or(filter.from).or(filter.to).is_none() {
        return partners::count_events(tx, filter.partner_id);
    }
    let asked = filter.asked();
    let sql = format!("SELECT count(*) FROM history h WHERE {}", asked.sql());
    tx.get(&sql, &*asked.params, |row| row.get(0))
}

/// The moment of a row.
pub fn find_moment(tx: &Read, seq: i64) -> Result<Option<i64>> {
    tx.find("SELECT at FROM history WHERE seq = ?1", [seq], |row| row.get(0))
}

/// The highest number ever given; 0: none was.
pub fn last_seq(tx: &Read) -> Result<i64> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'history'";
    Ok(tx.find(sql, [], |row| row.get(0))?.unwrap_or(0))
}

/// How many rows come after this one, and the moment of the oldest of them.
pub fn waiting(tx: &Read, after: i64) -> Result<(i64, Option<i64>)> {
    // Where nothing ever went, all of it waits: millions of rows, that are counted already.
    let count = match after {
        ..=0 => partners::count_events(tx, None)?,
        _ => tx.get("SELECT count(*) FROM history WHERE seq > ?1", [after], |row| row.get(0))?,
    };
    let oldest = tx.find("SELECT at FROM history WHERE seq > ?1 ORDER BY seq LIMIT 1", [after], |row| row.get(0))?;
    Ok((count, oldest))
}

/// The first row with a number in this range (both ends in it) that is younger than `at`.
pub fn first_younger(tx: &Read, first: i64, last: i64, at: i64) -> Result<Option<i64>> {
    let sql = "SELECT seq FROM history WHERE seq BETWEEN ?1 AND ?2 AND at > ?3 ORDER BY seq LIMIT 1";
    tx.find(sql, [first, last, at], |row| row.get(0))
}

/// Gives the rows from `first` on the numbers from `to` on, in the same order, and returns how many they are.
pub fn renumber(tx: &Write, first: i64, to: i64) -> Result<usize> {
    let by = to - first;
    // By way of numbers that no row has: the new ones may be those of rows that move later.
    let moved = tx.run("UPDATE history SET seq = -(seq + ?2) WHERE seq >= ?1", [first, by])?;
    tx.run("UPDATE history SET seq = -seq WHERE seq < 0", [])?;
    let highest = tx.get("SELECT coalesce(max(seq), 0) FROM history", [], |row| row.get(0))?;
    raise_numbers(tx, highest)?;
    Ok(moved)
}

/// From here on no row gets this number or a lower one.
pub fn raise_numbers(tx: &Write, number: i64) -> Result<usize> {
    let sql = "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'history'";
    if tx.run(sql, [number])? == 0 {
        tx.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('history', ?1)", [number])?;
    }
    Ok(1)
}
