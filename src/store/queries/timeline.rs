//! A member's timeline: flights, sign-offs, bookings, check-ins, payments, and the desk's changes. An event names its
//! row and its moment; the details are in the table of its kind.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::Read;
use rusqlite::{Result, named_params};

named! {
    /// The kind of an event.
    pub(crate) enum What {
        /// An entry of the logbook, on its own day.
        Entry = "entry",
        /// A later event of a skill or safety entry.
        Move = "move",
        Booking = "booking",
        CheckIn = "check_in",
        /// A cancellation or a no-show.
        Ending = "ending",
        Payment = "payment",
        /// An action in the audit log.
        Action = "action",
    }
}

row! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Event {
        pub(crate) what: What,
        /// The number of the row.
        pub(crate) id: i64,
        /// The step of an entry's event; the flight date of a booking, in Unix seconds.
        pub(crate) more: i64,
        /// The moment of the event; Unix seconds.
        pub(crate) at: Moment,
    }
}

/// All events of a member. The first event of an entry is the entry itself.
const EVENTS: &str = "
    SELECT 'entry' AS what, entry_id AS id, 0 AS more, entry_date AS at FROM entries WHERE member_id = :id
    UNION ALL
    SELECT 'move', v.entry_id, v.step, v.at FROM entries e JOIN entry_events v ON v.entry_id = e.entry_id
     WHERE e.member_id = :id AND v.step > 1
    UNION ALL
    SELECT 'booking', booking_id, flight_date, flight_date FROM bookings WHERE member_id = :id
    UNION ALL
    SELECT 'check_in', booking_id, flight_date, arrived_at FROM bookings WHERE member_id = :id AND arrived_at IS NOT NULL
    UNION ALL
    SELECT 'ending', booking_id, flight_date, ended_at FROM bookings WHERE member_id = :id AND ended_at IS NOT NULL
    UNION ALL
    SELECT 'payment', payment_id, 0, created_at FROM payments WHERE member_id = :id
    UNION ALL
    SELECT 'action', seq, 0, at FROM audit WHERE subject = 'member:' || :id
       AND action IN ('member.added', 'member.claimed', 'member.edited', 'member.note_set', 'member.banned',
                    'member.unbanned', 'member.role_set')";

/// A member's events, latest first.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64, offset: i64) -> Result<Vec<Event>> {
    let sql = sql!(
        "SELECT what, id, more, at FROM (",
        EVENTS,
        ") ORDER BY at DESC, what, id DESC, more DESC LIMIT :limit OFFSET :offset"
    );
    tx.list(sql, named_params! {":id": member_id, ":limit": limit, ":offset": offset})
}

/// The moments of a member's events, latest first.
pub(crate) fn list_moments(tx: &Read, member_id: MemberId, limit: i64) -> Result<Vec<Moment>> {
    let sql = sql!("SELECT at FROM (", EVENTS, ") ORDER BY at DESC LIMIT :limit");
    tx.list(sql, named_params! {":id": member_id, ":limit": limit})
}

/// The action and the actor of a row of the audit log.
pub(crate) fn find_action(tx: &Read, seq: i64) -> Result<Option<(String, String)>> {
    tx.find(sql!("SELECT action, actor FROM audit WHERE seq = ?1"), [seq])
}
