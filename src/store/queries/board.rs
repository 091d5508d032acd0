//! What boards show: the flyers of the rest of a day, and who asked to be shown by number.

use crate::domain::ids::{MemberId, TunnelId};
use crate::moment::Moment;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

row! {
    /// A booking as a board needs it.
    #[derive(Debug)]
    pub(crate) struct Flyer in "b." {
        pub member_id: MemberId,
        pub real_name: String = "m.real_name",
        pub dob: Option<Moment> = "m.dob",
        pub by_number: bool = "m.board_by_number",
        pub flight_date: Moment,
        pub is_here: bool = "b.arrived_at IS NOT NULL",
    }
}

/// The bookings in force at a tunnel between two moments, by flight date.
pub(crate) fn list_flyers(
    tx: &Read,
    tunnel_id: TunnelId,
    (from, to): (Moment, Moment),
    limit: i64,
) -> Result<Vec<Flyer>> {
    let sql = sql!(
        "SELECT ",
        Flyer::COLUMNS,
        " FROM bookings b JOIN members m ON m.member_id = b.member_id
          WHERE b.tunnel_id = :tunnel_id AND b.flight_date >= :from AND b.flight_date < :to AND b.ended_as IS NULL
          ORDER BY b.flight_date, b.booking_id LIMIT :limit"
    );
    tx.list(sql, named_params! {":tunnel_id": tunnel_id, ":from": from, ":to": to, ":limit": limit})
}

/// Whether the member asked to be shown by number.
pub(crate) fn is_by_number(tx: &Read, member_id: MemberId) -> Result<bool> {
    Ok(tx.find(sql!("SELECT board_by_number FROM members WHERE member_id = ?1"), [member_id])?.unwrap_or(false))
}

/// Sets whether the member is shown by number.
pub(crate) fn choose(tx: &Write, member_id: MemberId, by_number: bool) -> Result<usize> {
    tx.run(sql!("UPDATE members SET board_by_number = ?2 WHERE member_id = ?1"), (member_id, by_number))
}
