//! Check-ins that a kiosk noted while it could not reach the site, and that the site refused afterwards. The desk settles them.

use crate::domain::ids::{BookingId, MemberId};
use crate::moment::Moment;
use crate::store::personal::{OUR_WORD, Rows, Seen, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "refused_check_ins",
    "booking_id",
    &[not_personal("reason", OUR_WORD)],
    &[Rows::deleted("refused_check_ins", "booking_id IN (SELECT booking_id FROM bookings WHERE member_id = :id)")],
)
.seen(Seen::OnPages)];

row! {
    /// A check-in that waits for the desk.
    #[derive(Debug)]
    pub(crate) struct RefusedCheckIn in "r." {
        pub(crate) booking_id: BookingId,
        pub(crate) member_id: MemberId = "b.member_id",
        pub(crate) name: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username)",
        pub(crate) flight_date: Moment = "b.flight_date",
        /// When the guest tapped it; Unix seconds.
        pub(crate) tapped_at: Moment,
        /// The code of the refusal.
        pub(crate) reason: String,
    }
}

const OPEN: &str = " FROM refused_check_ins r JOIN bookings b USING (booking_id) JOIN members m USING (member_id)
      WHERE r.settled_at IS NULL AND b.arrived_at IS NULL";

/// Notes a refusal, once for each tap: a later one waits for the desk although an earlier one was settled.
pub(crate) fn insert(tx: &Write, booking_id: BookingId, tapped_at: Moment, reason: &str) -> Result<usize> {
    let sql = sql!(
        "INSERT INTO refused_check_ins (booking_id, tapped_at, reason) VALUES (?1, ?2, ?3)
             ON CONFLICT (booking_id) DO UPDATE SET tapped_at = ?2, reason = ?3, settled_at = NULL WHERE tapped_at < ?2"
    );
    tx.run(sql, (booking_id, tapped_at, reason))
}

/// The refusals that wait, the oldest first: who was checked in after all waits no more.
pub(crate) fn list_open(tx: &Read, limit: i64) -> Result<Vec<RefusedCheckIn>> {
    tx.list(sql!("SELECT ", RefusedCheckIn::COLUMNS, OPEN, " ORDER BY r.tapped_at LIMIT ?1"), [limit])
}

/// Those of one member.
pub(crate) fn list_open_of_member(tx: &Read, member_id: MemberId) -> Result<Vec<RefusedCheckIn>> {
    let sql = sql!("SELECT ", RefusedCheckIn::COLUMNS, OPEN, " AND b.member_id = ?1 ORDER BY r.tapped_at LIMIT 20");
    tx.list(sql, [member_id])
}

/// Marks a refusal as settled. Returns whether it waited.
pub(crate) fn settle(tx: &Write, booking_id: BookingId) -> Result<bool> {
    let sql = sql!("UPDATE refused_check_ins SET settled_at = ?2 WHERE booking_id = ?1 AND settled_at IS NULL");
    Ok(tx.run(sql, (booking_id, tx.now()))? > 0)
}
