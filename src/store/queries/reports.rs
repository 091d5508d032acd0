//! The sums of the desk's reports that are computed from the rows; sums of whole hours are in [`super::hours`]. Each
//! statement reads an index alone.

use crate::domain::ids::{BookingId, MemberId, PartnerId, TunnelId};
use crate::moment::Moment;
use crate::store::Read;
use crate::store::engine::columns::Columns;
use crate::store::tables::bookings::Ending;
use rusqlite::{Result, Row, named_params};

row! {
    /// The sums of a partner's bookings.
    #[derive(Debug)]
    pub(crate) struct Booked {
        pub partner_id: PartnerId,
        pub bookings: i64 = "count(*)",
        pub minutes: i64 = "sum(minutes_booked)",
        /// How many of the bookings were checked in.
        pub arrived: i64 = "count(arrived_at)",
    }
}

/// A row of the table of bookings.
#[derive(Debug)]
pub(crate) struct BookingLine<'r> {
    pub booking_id: BookingId,
    pub partner: &'r str,
    pub member_id: MemberId,
    pub member: &'r str,
    pub registration_id: Option<i64>,
    pub flight_date: Moment,
    pub minutes: i64,
    pub arrived_at: Option<Moment>,
    pub ended: Option<Ending>,
}

/// The bookings of flights between two moments, by partner; `to` is not included.
pub(crate) fn list_booked(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<Vec<Booked>> {
    let sql = sql!(
        "SELECT ",
        Booked::COLUMNS,
        " FROM bookings INDEXED BY bookings_by_flight_date
               WHERE flight_date >= ?1 AND flight_date < ?2 AND tunnel_id = ?3 AND ended_as IS NOT 'cancelled'
               GROUP BY partner_id"
    );
    tx.list(sql, (from, to, tunnel_id))
}

/// Flights between two moments, and their minutes, without opening balances.
pub(crate) fn sum_flown(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT count(*), coalesce(sum(minutes), 0) FROM entries INDEXED BY entries_flown
               WHERE kind = 'time' AND status = 'open' AND opening IS NULL
                 AND entry_date >= ?1 AND entry_date < ?2 AND tunnel_id = ?3"
    );
    tx.get(sql, (from, to, tunnel_id))
}

/// The partners' requests between two moments: partner, event, how often.
pub(crate) fn list_events(tx: &Read, from: Moment, to: Moment) -> Result<Vec<(PartnerId, String, i64)>> {
    let sql = sql!(
        "SELECT partner_id, type, count(*) FROM events INDEXED BY history_by_moment
               WHERE history_seq IS NOT NULL AND at >= ?1 AND at < ?2 GROUP BY partner_id, type"
    );
    tx.list(sql, (from, to))
}

/// Calls `take` with the bookings after `(flight_date, booking_id)`, in that order, at most `limit`; `to` is not
/// included.
pub(crate) fn each_booking(
    tx: &Read,
    tunnel_id: TunnelId,
    after: (Moment, BookingId),
    to: Moment,
    limit: i64,
    mut take: impl FnMut(&BookingLine),
) -> Result<()> {
    let sql = sql!(
        "SELECT b.booking_id, p.name, b.member_id,
                coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username),
                b.registration_id, b.flight_date, b.minutes_booked, b.arrived_at, b.ended_as
               FROM bookings b JOIN members m ON m.member_id = b.member_id JOIN partners p ON p.partner_id = b.partner_id
               WHERE b.flight_date >= :from AND b.flight_date < :to AND b.tunnel_id = :tunnel_id
                 AND (b.flight_date, b.booking_id) > (:from, :booking_id)
               ORDER BY b.flight_date, b.booking_id LIMIT :limit"
    );
    let params = named_params! {":from": after.0, ":booking_id": after.1, ":to": to, ":tunnel_id": tunnel_id,
    ":limit": limit};
    let line = |row: &Row| {
        let mut columns = Columns::of(row);
        let line = BookingLine {
            booking_id: columns.read()?,
            partner: columns.text()?,
            member_id: columns.read()?,
            member: columns.text()?,
            registration_id: columns.read()?,
            flight_date: columns.read()?,
            minutes: columns.read()?,
            arrived_at: columns.read()?,
            ended: columns.read()?,
        };
        take(&line);
        Ok(())
    };
    tx.list_with(sql, params, line)?;
    Ok(())
}

/// The numbers of the members after one, in order.
pub(crate) fn list_member_ids(tx: &Read, after: MemberId, limit: i64) -> Result<Vec<MemberId>> {
    let sql = sql!("SELECT member_id FROM members WHERE member_id > ?1 ORDER BY member_id LIMIT ?2");
    tx.list(sql, (after, limit))
}
