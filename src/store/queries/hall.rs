//! What an owner reads of a span of time: use of the tunnel by the hour, missed bookings, flyers, sign-offs, fees and reminders.

use crate::domain::ids::TunnelId;
use crate::domain::till::Kind;
use crate::moment::Moment;
use crate::store::Read;
use rusqlite::Result;

row! {
    /// What became of the bookings of a span.
    #[derive(Debug, Default, Clone, PartialEq, Eq)]
    pub(crate) struct Outcomes {
        pub(crate) bookings: i64 = "count(*)",
        pub(crate) arrived: i64 = "count(arrived_at)",
        pub(crate) missed: i64 = "count(iif(ended_as = 'no_show', 1, NULL))",
        pub(crate) cancelled: i64 = "count(iif(ended_as = 'cancelled', 1, NULL))",
    }
}

row! {
    /// A fee that was taken or undone, at the till or by the processor.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Fee {
        pub(crate) at: Moment = "taken_at",
        /// `None`: by the processor.
        pub(crate) kind: Option<Kind> = "kind",
        pub(crate) cents: i64 = "amount_cents",
        pub(crate) currency: String,
    }
}

/// The booked minutes of the hours between two moments: the moment at which an hour begins, and the minutes.
pub(crate) fn list_booked(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<Vec<(Moment, i64)>> {
    let sql = sql!(
        "SELECT hour, sum(minutes) FROM booked_hours WHERE tunnel_id = ?1 AND hour >= ?2 AND hour < ?3 GROUP BY hour"
    );
    tx.list(sql, (tunnel_id, from, to))
}

/// What became of the bookings of flights between two moments.
pub(crate) fn count_outcomes(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<Outcomes> {
    let sql = sql!(
        "SELECT ",
        Outcomes::COLUMNS,
        " FROM bookings INDEXED BY bookings_by_flight_date
               WHERE flight_date >= ?1 AND flight_date < ?2 AND tunnel_id = ?3"
    );
    tx.get(sql, (from, to, tunnel_id))
}

/// The members who were checked in between two moments, and how many of them had been before.
pub(crate) fn count_flyers(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT count(*), count(iif(EXISTS (
                    SELECT 1 FROM bookings e WHERE e.member_id = f.member_id AND e.flight_date < ?1
                       AND e.arrived_at IS NOT NULL), 1, NULL))
           FROM (SELECT DISTINCT member_id FROM bookings INDEXED BY bookings_by_flight_date
                  WHERE flight_date >= ?1 AND flight_date < ?2 AND tunnel_id = ?3 AND arrived_at IS NOT NULL) f"
    );
    tx.get(sql, (from, to, tunnel_id))
}

/// The skills that were signed between two moments, by programme.
pub(crate) fn list_signed(tx: &Read, from: Moment, to: Moment) -> Result<Vec<(String, i64)>> {
    let sql = sql!(
        "SELECT cat_group, count(*) FROM entries
          WHERE kind = 'skill' AND status = 'open' AND approval_date >= ?1 AND approval_date < ?2 GROUP BY cat_group"
    );
    tx.list(sql, (from, to))
}

/// The fees that were taken or undone at the till between two moments.
pub(crate) fn list_fees(tx: &Read, from: Moment, to: Moment) -> Result<Vec<Fee>> {
    let sql = sql!(
        "SELECT ",
        Fee::COLUMNS,
        " FROM till_entries WHERE taken_at >= ?1 AND taken_at < ?2 AND payment_id IS NOT NULL"
    );
    tx.list(sql, (from, to))
}

/// The payments by the processor that extended a membership between two moments, less what went back: moment, amount and currency.
pub(crate) fn list_processed(tx: &Read, from: Moment, to: Moment) -> Result<Vec<(Moment, i64, String)>> {
    let sql = sql!(
        "SELECT created_at, amount_cents - coalesce(refunded_cents, 0), currency FROM payments
          WHERE status = 'succeeded' AND created_at >= ?1 AND created_at < ?2 AND granted_to IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM till_entries t WHERE t.payment_id = payments.payment_id)"
    );
    tx.list(sql, (from, to))
}

/// The reminders that were given between two moments, by what they speak of.
pub(crate) fn list_reminded(tx: &Read, from: Moment, to: Moment) -> Result<Vec<(String, i64)>> {
    let sql = sql!(
        "SELECT programme, count(*) FROM reminders WHERE created_at >= ?1 AND created_at < ?2 AND kind <> 'lapsed' GROUP BY programme"
    );
    tx.list(sql, (from, to))
}

/// The entries of the till between two moments: the first and the last; 0 where there is none.
pub(crate) fn find_entries(tx: &Read, from: Moment, to: Moment) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT coalesce(min(entry_id), 0), coalesce(max(entry_id), 0) FROM till_entries
          WHERE taken_at >= ?1 AND taken_at < ?2"
    );
    tx.get(sql, (from, to))
}
