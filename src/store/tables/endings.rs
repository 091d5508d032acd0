//! Bookings that ended without a flight, and the flight time that was removed from the logbook with them: columns of the
//! bookings.

use super::bookings::Ending;
use super::entries::NewTime;
use crate::domain::ids::{BookingId, MemberId};
use crate::moment::Moment;
use crate::store::Write;
use rusqlite::Result;

row! {
    /// The flight time that was removed from a logbook with a booking that ended.
    #[derive(Debug)]
    pub(crate) struct Removed {
        pub removed_date: Option<Moment>,
        pub removed_minutes: Option<i64>,
        pub removed_comment: Option<String>,
    }
}

/// Ends a booking. `by`: the clerk. `time`: the flight time that is removed from the logbook with it.
pub(crate) fn set_ended(
    tx: &Write,
    booking_id: BookingId,
    ending: Ending,
    by: Option<MemberId>,
    time: Option<&NewTime>,
) -> Result<usize> {
    update!(tx, "UPDATE bookings" {
        ended_as: ending, ended_at: tx.now(), ended_by: by, updated_at: tx.now(),
        removed_date: time.map(|time| time.entry_date), removed_minutes: time.map(|time| time.minutes),
        removed_comment: time.map(|time| &time.comment)
    } "WHERE booking_id = ?", booking_id)
}

/// Changes the removed flight time of a booking that ended: its date and minutes, where they are given.
pub(crate) fn update_removed(
    tx: &Write,
    booking_id: BookingId,
    date: Option<Moment>,
    minutes: Option<i64>,
) -> Result<usize> {
    let sql = sql!(
        "UPDATE bookings SET removed_date = coalesce(?2, removed_date), removed_minutes = coalesce(?3, removed_minutes)
               WHERE booking_id = ?1 AND removed_date IS NOT NULL"
    );
    tx.run(sql, (booking_id, date, minutes))
}

/// Restores a booking that ended. Returns the flight time that was removed from the logbook.
pub(crate) fn unset_ended(tx: &Write, booking_id: BookingId) -> Result<Option<NewTime>> {
    let sql = sql!("SELECT ", Removed::COLUMNS, " FROM bookings WHERE booking_id = ?1");
    let removed: Removed = tx.get(sql, [booking_id])?;
    let sql = sql!(
        "UPDATE bookings SET ended_as = NULL, ended_at = NULL, ended_by = NULL, removed_date = NULL, removed_minutes = NULL,
                             removed_comment = NULL, updated_at = ?2 WHERE booking_id = ?1"
    );
    tx.run(sql, (booking_id, tx.now()))?;
    let tunnel_id = tx.get(sql!("SELECT tunnel_id FROM bookings WHERE booking_id = ?1"), [booking_id])?;
    Ok(match (removed.removed_date, removed.removed_minutes) {
        (Some(entry_date), Some(minutes)) => {
            Some(NewTime { entry_date, minutes, tunnel_id, comment: removed.removed_comment.unwrap_or_default() })
        }
        _ => None,
    })
}
