//! Members, entries and bookings for import and export: with usernames and client ids instead of numbers, which differ
//! from site to site.

use crate::domain::booking::Booking;
use crate::domain::entry::{Kind, Status};
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::engine::columns::{Columns, FromRow};
use crate::store::engine::statements::Sql;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow::Continue;

row! {
    /// A member with all data that can move to another site, without credentials.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) struct Member {
        pub username: String,
        pub real_name: String,
        pub screen_name: String,
        pub email: String,
        pub email_confirmed_at: Option<Moment>,
        pub phone: String,
        pub phone_confirmed_at: Option<Moment>,
        pub country: String,
        pub country_code: String,
        pub dob: Option<Moment>,
        pub tunnel_id: Option<TunnelId>,
        pub role: Role,
        pub terms_accepted_at: Option<Moment>,
        pub paid_until: Option<Moment>,
        pub banned_at: Option<Moment>,
        pub join_date: Moment,
        pub language: String,
    } saved
}

/// Calls `take` with members after a number, each with the number, without erased ones.
pub(crate) fn each_member(tx: &Read, after: i64, rows: i64, mut take: impl FnMut((MemberId, Member))) -> Result<()> {
    let sql = sql!(
        "SELECT member_id, ",
        Member::COLUMNS,
        " FROM members WHERE member_id > ?1 AND member_id NOT IN (SELECT member_id FROM erasures)
          ORDER BY member_id LIMIT ?2"
    );
    tx.each(sql, (after, rows), |found| {
        take(found);
        Continue(())
    })
}

/// A member as an export writes it.
pub(crate) fn find_member(tx: &Read, member_id: MemberId) -> Result<Option<Member>> {
    tx.find(sql!("SELECT ", Member::COLUMNS, " FROM members WHERE member_id = ?1"), [member_id])
}

/// Changes what a list may change of a known member: no way to reach or to open the account, no role and no ban.
pub(crate) fn update_member(tx: &Write, member_id: MemberId, new: &Member) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET real_name = :real_name, screen_name = :screen_name, country = :country, dob = :dob,
                tunnel_id = :tunnel_id, paid_until = :paid_until, join_date = :join_date, language = :language,
                updated_at = :now
          WHERE member_id = :id AND role = 'member'"
    );
    tx.run(
        sql,
        named_params! {
            ":real_name": new.real_name, ":screen_name": new.screen_name, ":country": new.country, ":dob": new.dob,
            ":tunnel_id": new.tunnel_id, ":paid_until": new.paid_until, ":join_date": new.join_date,
            ":language": new.language, ":now": tx.now(), ":id": member_id,
        },
    )
}

/// Whether the owner signed up here, who agreed to the terms at that moment; else the account came by a list or was made
/// by the staff.
pub(crate) fn is_signed_up_here(tx: &Read, member_id: MemberId) -> Result<bool> {
    tx.get(sql!("SELECT count(*) > 0 FROM members WHERE member_id = ?1 AND terms_accepted_at = join_date"), [member_id])
}

/// Adds a member. Refuses a username that is taken, and an address that another member has confirmed.
pub(crate) fn insert_member(tx: &Write, new: &Member) -> std::result::Result<MemberId, Failure> {
    let inserted = insert!(tx.insert, "INSERT INTO members" Member: new, { updated_at: tx.now() });
    inserted.map(MemberId).map_err(|e| if crate::store::is_taken(&e) { Failure::username_taken() } else { e.into() })
}

row! {
    /// A logbook entry with the numbers of this site.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) struct Entry in "e." {
        pub member_id: MemberId,
        pub kind: Kind,
        pub status: Status,
        pub entry_date: Moment,
        pub minutes: i64,
        pub tunnel_id: TunnelId,
        pub cat_group: String,
        pub cat_id: String,
        pub skill: String,
        pub instructor_id: Option<MemberId>,
        pub approval_date: Option<Moment>,
        pub comment: String,
        pub comments_instructor: String,
        pub comment_denial: String,
        pub author_id: MemberId,
        pub booking_id: Option<BookingId>,
    } saved
}

row! {
    /// The names that stand for the numbers of an entry at another site.
    #[derive(Debug)]
    pub(crate) struct Names {
        pub entry_id: EntryId = "e.entry_id",
        pub username: String = "m.username",
        /// The instructor's username; empty: there is no instructor, or the member was erased.
        pub instructor: String = "coalesce(s.username, '')",
        pub author: String = "coalesce(a.username, '')",
        /// The number of the opening balance that contains the entry.
        pub opening: Option<EntryId> = "e.opening",
        /// The booking that made the entry, and its partner.
        pub booking: Option<Booked> = joined!("p.client_id, ", Booking::COLUMNS),
    }
}

/// A booking, and the client-id of its partner.
#[derive(Debug)]
pub(crate) struct Booked {
    pub client_id: String,
    pub booking: Booking,
}

impl FromRow for Option<Booked> {
    fn read(columns: &mut Columns) -> Result<Option<Booked>> {
        let Some(client_id) = columns.read()? else {
            columns.end();
            return Ok(None);
        };
        Ok(Some(Booked { client_id, booking: columns.read()? }))
    }
}

/// Calls `take` with entries after a number, without those of erased members.
pub(crate) fn each_entry(tx: &Read, after: i64, rows: i64, mut take: impl FnMut((Entry, Names))) -> Result<()> {
    let sql = sql!("SELECT ", Entry::COLUMNS, ", ", Names::COLUMNS, " FROM entries e JOIN members m ON m.member_id = e.member_id
                    LEFT JOIN members s ON s.member_id = e.instructor_id AND s.member_id NOT IN (SELECT member_id FROM erasures)
                    LEFT JOIN members a ON a.member_id = e.author_id AND a.member_id NOT IN (SELECT member_id FROM erasures)
                    LEFT JOIN bookings b ON b.booking_id = e.booking_id LEFT JOIN partners p ON p.partner_id = b.partner_id
               WHERE e.entry_id > ?1 AND e.member_id NOT IN (SELECT member_id FROM erasures) ORDER BY e.entry_id LIMIT ?2");
    tx.each(sql, (after, rows), |found| {
        take(found);
        Continue(())
    })
}

/// Parameters in the order of [`Entry`]. The unary plus keeps SQLite from an index on a column that is null in most
/// entries, so that it uses the member's.
static SAME: &Sql = sql!(
    "SELECT count(*) FROM entries WHERE member_id = ? AND kind = ? AND status = ? AND entry_date = ? AND minutes = ?
         AND tunnel_id = ? AND cat_group = ? AND cat_id = ? AND skill = ? AND +instructor_id IS ? AND approval_date IS ?
         AND comment = ? AND comments_instructor = ? AND comment_denial = ? AND author_id = ? AND +booking_id IS ?"
);

/// How many entries are equal to this one.
pub(crate) fn count_same(tx: &Read, entry: &Entry) -> Result<i64> {
    tx.get(SAME, &*entry.values())
}

/// Whether a booking has an entry.
pub(crate) fn is_entered(tx: &Read, booking_id: BookingId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM entries WHERE booking_id = ?1)"), [booking_id])
}

/// Adds an entry. `opening`: the number of the opening balance; `None` for its first entry.
pub(crate) fn insert_entry(tx: &Write, new: &Entry, opening: Option<EntryId>) -> Result<EntryId> {
    insert!(tx.insert, "INSERT INTO entries" Entry: new, {
        opening: opening, created_at: tx.now(), updated_at: tx.now()
    })
    .map(EntryId)
}

/// Calls `take` with bookings after a number, without cancelled ones and those of erased members: number, client id,
/// username, booking.
pub(crate) fn each_booking(
    tx: &Read,
    after: i64,
    rows: i64,
    mut take: impl FnMut((BookingId, String, String, Booking)),
) -> Result<()> {
    let sql = sql!(
        "SELECT b.booking_id, p.client_id, m.username, ",
        Booking::COLUMNS,
        " FROM bookings b JOIN partners p ON p.partner_id = b.partner_id JOIN members m ON m.member_id = b.member_id
          WHERE b.booking_id > ?1 AND b.ended_as IS NOT 'cancelled'
            AND b.member_id NOT IN (SELECT member_id FROM erasures) ORDER BY b.booking_id LIMIT ?2"
    );
    tx.each(sql, (after, rows), |found| {
        take(found);
        Continue(())
    })
}

/// The highest number of a member.
pub(crate) fn last_member(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(max(member_id), 0) FROM members"), [])
}

/// The highest number of an entry.
pub(crate) fn last_entry(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(max(entry_id), 0) FROM entries"), [])
}

/// The highest number of a booking.
pub(crate) fn last_booking(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(max(booking_id), 0) FROM bookings"), [])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::migrate;
    use rusqlite::Connection;

    #[test]
    fn an_equal_entry_is_searched_by_the_members_index() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut conn).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {}", SAME.text());
        let mut statement = conn.prepare(&plan).unwrap();
        let mut steps = statement.raw_query();
        let first: String = steps.next().unwrap().unwrap().get(3).unwrap();
        assert_eq!(
            first,
            "SEARCH entries USING COVERING INDEX entries_by_member (member_id=? AND kind=? AND entry_date=?)"
        );
        assert!(steps.next().unwrap().is_none());
    }
}
