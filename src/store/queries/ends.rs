//! Flights that are near, and memberships and waivers that end: for the reminders and the reports.

use crate::domain::ids::{MemberId, TunnelId};
use crate::moment::Moment;
use crate::store::Read;
use rusqlite::Result;

/// Bookings that were made a day or more before their flight.
const EARLY_SECONDS: i64 = 86_400;

/// The flights between two moments that wait for their members: member and moment. Whoever booked on the day before, or later, knows.
pub(crate) fn list_flights(
    tx: &Read,
    tunnel_id: TunnelId,
    from: Moment,
    to: Moment,
) -> Result<Vec<(MemberId, Moment)>> {
    let sql = sql!(
        "SELECT DISTINCT member_id, flight_date FROM bookings
          WHERE flight_date >= ?1 AND flight_date < ?2 AND tunnel_id = ?3 AND ended_as IS NULL AND arrived_at IS NULL
            AND created_at <= flight_date - ?4"
    );
    tx.list(sql, (from, to, tunnel_id, EARLY_SECONDS))
}

/// The memberships that are paid until a moment between two: member and moment.
pub(crate) fn list_memberships(tx: &Read, from: Moment, to: Moment) -> Result<Vec<(MemberId, Moment)>> {
    tx.list(sql!("SELECT member_id, paid_until FROM members WHERE paid_until >= ?1 AND paid_until < ?2"), (from, to))
}

/// The members who signed a waiver between two moments, and have flown since a third.
pub(crate) fn list_signers(tx: &Read, from: Moment, to: Moment, flown_since: Moment) -> Result<Vec<MemberId>> {
    let sql = sql!(
        "SELECT DISTINCT w.member_id FROM waiver_signatures w
          WHERE w.signed_at >= ?1 AND w.signed_at < ?2 AND EXISTS (
                SELECT 1 FROM entries e WHERE e.member_id = w.member_id AND e.kind = 'time' AND e.entry_date >= ?3)"
    );
    tx.list(sql, (from, to, flown_since))
}
