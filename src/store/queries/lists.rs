//! Members, entries and bookings as lists have them: with usernames and partners' client-ids for numbers, because another
//! site has other numbers.

use crate::domain::booking::Booking;
use crate::http::failure::Failure;
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};
use serde::{Deserialize, Serialize};

/// A member with all that moves along: not the password and what else signs in.
#[derive(Debug, Serialize, Deserialize)]
pub struct Member {
    pub username: String,
    pub real_name: String,
    pub screen_name: String,
    pub email: String,
    pub email_confirmed_at: Option<i64>,
    pub phone: String,
    pub phone_confirmed_at: Option<i64>,
    pub country: String,
    pub country_code: String,
    pub dob: Option<i64>,
    pub tunnel_id: Option<i64>,
    pub role: String,
    pub terms_accepted_at: Option<i64>,
    pub paid_until: Option<i64>,
    pub banned_at: Option<i64>,
    pub join_date: i64,
    pub language: String,
}

/// Members from a number on, without those who were erased; with their numbers.
pub fn list_members(tx: &Read, after: i64, rows: i64) -> Result<Vec<(i64, Member)>> {
    let sql = "SELECT member_id, username, real_name, screen_name, email, email_confirmed_at, phone, phone_confirmed_at, country,
                      country_code, dob, tunnel_id, role, terms_accepted_at, paid_until, banned_at, join_date, language
               FROM members WHERE member_id > ?1 AND member_id NOT IN (SELECT member_id FROM erasures)
               ORDER BY member_id LIMIT ?2";
    let member = |row: &Row| -> Result<Member> {
        Ok(Member {
            username: row.get(1)?,
            real_name: row.get(2)?,
            screen_name: row.get(3)?,
            email: row.get(4)?,
            email_confirmed_at: row.get(5)?,
            phone: row.get(6)?,
            phone_confirmed_at: row.get(7)?,
            country: row.get(8)?,
            country_code: row.get(9)?,
            dob: row.get(10)?,
            tunnel_id: row.get(11)?,
            role: row.get(12)?,
            terms_accepted_at: row.get(13)?,
            paid_until: row.get(14)?,
            banned_at: row.get(15)?,
            join_date: row.get(16)?,
            language: row.get(17)?,
        })
    };
    tx.list(sql, (after, rows), |row| Ok((row.get(0)?, member(row)?)))
}

/// Refuses a username that somebody has, and an address that somebody else has confirmed.
pub fn insert_member(tx: &Write, new: &Member) -> std::result::Result<i64, Failure> {
    let sql = "INSERT INTO members (username, real_name, screen_name, email, email_confirmed_at, phone, phone_confirmed_at, country,
                      country_code, dob, tunnel_id, role, terms_accepted_at, paid_until, banned_at, join_date, language, updated_at)
               VALUES (:username, :real_name, :screen_name, :email, :email_confirmed_at, :phone, :phone_confirmed_at, :country,
                       :country_code, :dob, :tunnel_id, :role, :terms, :paid_until, :banned_at, :join_date, :language, :now)";
    let inserted = tx.insert(
        sql,
        named_params! {
            ":username": new.username, ":real_name": new.real_name, ":screen_name": new.screen_name, ":email": new.email,
            ":email_confirmed_at": new.email_confirmed_at, ":phone": new.phone,
            ":phone_confirmed_at": new.phone_confirmed_at, ":country": new.country, ":country_code": new.country_code,
            ":dob": new.dob, ":tunnel_id": new.tunnel_id, ":role": new.role, ":terms": new.terms_accepted_at,
            ":paid_until": new.paid_until, ":banned_at": new.banned_at, ":join_date": new.join_date,
            ":language": new.language, ":now": tx.now(),
        },
    );
    inserted.map_err(|e| if crate::store::is_taken(&e) { Failure::username_taken() } else { e.into() })
}

/// An entry of the logbook, by numbers of this site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub member_id: i64,
    pub kind: String,
    pub status: String,
    pub entry_date: i64,
    pub minutes: i64,
    pub tunnel_id: i64,
    pub cat_group: String,
    pub cat_id: String,
    pub skill: String,
    pub instructor_id: Option<i64>,
    pub approval_date: Option<i64>,
    pub comment: String,
    pub comments_instructor: String,
    pub comment_denial: String,
    pub author_id: i64,
    pub booking_id: Option<i64>,
}

/// What an entry of a list refers to, in words that another site understands.
#[derive(Debug)]
pub struct Names {
    pub entry_id: i64,
    pub username: String,
    /// Empty: nobody, or somebody who was erased.
    pub instructor: String,
    pub author: String,
    /// The number of the opening balance that it is part of.
    pub opening: Option<i64>,
    /// The booking that made it, and its partner.
    pub booking: Option<(String, Booking)>,
}

/// Entries from a number on, without those of erased members.
pub fn list_entries(tx: &Read, after: i64, rows: i64) -> Result<Vec<(Names, Entry)>> {
    let sql = "SELECT e.entry_id, m.username, coalesce(s.username, ''), coalesce(a.username, ''), e.opening,
                      p.client_id, b.registration_id, b.purchase_id, b.flight_date, b.minutes_booked, b.tunnel_id,
                      e.member_id, e.kind, e.status, e.entry_date, e.minutes, e.tunnel_id, e.cat_group, e.cat_id, e.skill,
                      e.instructor_id, e.approval_date, e.comment, e.comments_instructor, e.comment_denial, e.author_id, e.booking_id
               FROM entries e JOIN members m ON m.member_id = e.member_id
                    LEFT JOIN members s ON s.member_id = e.instructor_id AND s.member_id NOT IN (SELECT member_id FROM erasures)
                    LEFT JOIN members a ON a.member_id = e.author_id AND a.member_id NOT IN (SELECT member_id FROM erasures)
                    LEFT JOIN bookings b ON b.booking_id = e.booking_id LEFT JOIN partners p ON p.partner_id = b.partner_id
               WHERE e.entry_id > ?1 AND e.member_id NOT IN (SELECT member_id FROM erasures) ORDER BY e.entry_id LIMIT ?2";
    tx.list(sql, (after, rows), |row| Ok((names(row)?, entry(row)?)))
}

fn names(row: &Row) -> Result<Names> {
    let booking = |client_id: String| {
        let booking = Booking {
            registration_id: row.get(6)?,
            purchase_id: row.get(7)?,
            purchase_date: None,
            flight_date: row.get(8)?,
            minutes_booked: row.get(9)?,
            product_id: None,
            tunnel_id: row.get(10)?,
            checkin_time: None,
        };
        Ok::<_, rusqlite::Error>((client_id, booking))
    };
    Ok(Names {
        entry_id: row.get(0)?,
        username: row.get(1)?,
        instructor: row.get(2)?,
        author: row.get(3)?,
        opening: row.get(4)?,
        booking: row.get::<_, Option<String>>(5)?.map(booking).transpose()?,
    })
}

fn entry(row: &Row) -> Result<Entry> {
    Ok(Entry {
        member_id: row.get(11)?,
        kind: row.get(12)?,
        status: row.get(13)?,
        entry_date: row.get(14)?,
        minutes: row.get(15)?,
        tunnel_id: row.get(16)?,
        cat_group: row.get(17)?,
        cat_id: row.get(18)?,
        skill: row.get(19)?,
        instructor_id: row.get(20)?,
        approval_date: row.get(21)?,
        comment: row.get(22)?,
        comments_instructor: row.get(23)?,
        comment_denial: row.get(24)?,
        author_id: row.get(25)?,
        booking_id: row.get(26)?,
    })
}

/// By the member's own entries: no index of what most entries have none of (`+`), which would lead to all of those.
const SAME: &str =
    "SELECT count(*) FROM entries WHERE member_id = :member_id AND kind = :kind AND entry_date = :entry_date
             AND status = :status AND minutes = :minutes AND tunnel_id = :tunnel_id AND skill = :skill
             AND cat_group = :cat_group AND cat_id = :cat_id AND +instructor_id IS :instructor_id
             AND approval_date IS :approval_date AND comment = :comment AND comments_instructor = :comments_instructor
             AND comment_denial = :comment_denial AND author_id = :author_id AND +booking_id IS :booking_id";

/// How many entries are exactly like this one.
pub fn count_same(tx: &Read, entry: &Entry) -> Result<i64> {
    tx.get(
        SAME,
        named_params! {
            ":member_id": entry.member_id, ":kind": entry.kind, ":entry_date": entry.entry_date, ":status": entry.status,
            ":minutes": entry.minutes, ":tunnel_id": entry.tunnel_id, ":skill": entry.skill, ":cat_group": entry.cat_group,
            ":cat_id": entry.cat_id, ":instructor_id": entry.instructor_id, ":approval_date": entry.approval_date,
            ":comment": entry.comment, ":comments_instructor": entry.comments_instructor,
            ":comment_denial": entry.comment_denial, ":author_id": entry.author_id, ":booking_id": entry.booking_id,
        },
        |row| row.get(0),
    )
}

/// Whether a booking has its entry.
pub fn is_entered(tx: &Read, booking_id: i64) -> Result<bool> {
    tx.get("SELECT EXISTS (SELECT 1 FROM entries WHERE booking_id = ?1)", [booking_id], |row| row.get(0))
}

/// `opening`: the number of the opening balance; the first of one has none yet.
pub fn insert_entry(tx: &Write, new: &Entry, opening: Option<i64>) -> Result<i64> {
    let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, cat_group, cat_id, skill, instructor_id,
                      approval_date, comment, comments_instructor, comment_denial, author_id, booking_id, opening, created_at,
                      updated_at)
               VALUES (:member_id, :kind, :status, :entry_date, :minutes, :tunnel_id, :cat_group, :cat_id, :skill, :instructor_id,
                       :approval_date, :comment, :comments_instructor, :comment_denial, :author_id, :booking_id, :opening, :now,
                       :now)";
    tx.insert(
        sql,
        named_params! {
            ":member_id": new.member_id, ":kind": new.kind, ":entry_date": new.entry_date, ":status": new.status,
            ":minutes": new.minutes, ":tunnel_id": new.tunnel_id, ":skill": new.skill, ":cat_group": new.cat_group,
            ":cat_id": new.cat_id, ":instructor_id": new.instructor_id, ":approval_date": new.approval_date,
            ":comment": new.comment, ":comments_instructor": new.comments_instructor,
            ":comment_denial": new.comment_denial, ":author_id": new.author_id, ":booking_id": new.booking_id,
            ":opening": opening, ":now": tx.now(),
        },
    )
}

/// Bookings from a number on, without those of erased members: number, client-id, username, booking.
pub fn list_bookings(tx: &Read, after: i64, rows: i64) -> Result<Vec<(i64, String, String, Booking)>> {
    let sql = "SELECT b.booking_id, p.client_id, m.username, b.registration_id, b.purchase_id, b.purchase_date, b.flight_date,
                      b.minutes_booked, b.product_id, b.tunnel_id, b.checkin_time
               FROM bookings b JOIN partners p ON p.partner_id = b.partner_id JOIN members m ON m.member_id = b.member_id
               WHERE b.booking_id > ?1 AND b.member_id NOT IN (SELECT member_id FROM erasures) ORDER BY b.booking_id LIMIT ?2";
    tx.list(sql, (after, rows), |row| {
        let booking = Booking {
            registration_id: row.get(3)?,
            purchase_id: row.get(4)?,
            purchase_date: row.get(5)?,
            flight_date: row.get(6)?,
            minutes_booked: row.get(7)?,
            product_id: row.get(8)?,
            tunnel_id: row.get(9)?,
            checkin_time: row.get(10)?,
        };
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, booking))
    })
}

/// The greatest numbers of members, entries and bookings.
pub fn lasts(tx: &Read) -> Result<[i64; 3]> {
    let sql =
        "SELECT coalesce((SELECT max(member_id) FROM members), 0), coalesce((SELECT max(entry_id) FROM entries), 0),
                      coalesce((SELECT max(booking_id) FROM bookings), 0)";
    tx.get(sql, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::migrate;
    use rusqlite::Connection;

    #[test]
    fn the_same_entry_is_looked_for_among_the_member_s_own() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut conn).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {SAME}");
        let mut statement = conn.prepare(&plan).unwrap();
        let mut steps = statement.raw_query();
        let first: String = steps.next().unwrap().unwrap().get(3).unwrap();
        assert_eq!(first, "SEARCH entries USING INDEX entries_by_member (member_id=? AND kind=? AND entry_date=?)");
        assert!(steps.next().unwrap().is_none());
    }
}
