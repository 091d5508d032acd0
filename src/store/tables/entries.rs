//! Logbook entries.

use crate::domain::entry::{Kind, Status};
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::moment::Moment;
use crate::store::joining::{ITS_OWN, WHO_DID, moves_unless, stays};
use crate::store::personal::{CATALOGUE, Expiry, OUR_WORD, Rows, Seen, Table, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};
use std::ops::ControlFlow;

/// The survivor has an entry of the skill that says as much, or the booking of the flight time stays.
const KNOWN: &str = joined!(
    "t.kind = 'skill' AND EXISTS (SELECT 1 FROM entries s WHERE s.member_id = :survivor AND s.kind = 'skill'
        AND s.cat_group = t.cat_group AND s.skill = t.skill
        AND (s.status = 'open' OR s.status IN ('pending', 'suspended') AND t.status <> 'open'))
     OR t.booking_id IN (SELECT t.booking_id FROM bookings t WHERE t.member_id = :joined AND ",
    super::bookings::TAKEN,
    ")"
);

/// How long the form of a deleted entry is known: longer than a telephone keeps what it could not send.
const SPENT_SECONDS: i64 = 90 * 86_400;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new("spent_forms", "", &[], &[Rows::deleted("spent_forms", "member_id = :id")])
        .expires(&[Expiry::after("member_id, form_number", "spent_at", SPENT_SECONDS)])
        .joins(&[stays("member_id", ITS_OWN)]),
    Table::new(
        "entries",
        "entry_id",
        &[
            not_personal("kind", OUR_WORD),
            not_personal("status", OUR_WORD),
            searched("comment"),
            not_personal("cat_group", CATALOGUE),
            not_personal("cat_id", CATALOGUE),
            not_personal("skill", CATALOGUE),
            searched("comments_instructor"),
            searched("comment_denial"),
        ],
        &[
            Rows::emptied(
                "entries",
                "member_id = :id",
                "",
                "signatures and the minutes that the tunnel counts; the catalogue's words",
            ),
            Rows::others(
                "entries_signed_for_others",
                "instructor_id = :id AND member_id <> :id",
                "others' levels rest on it; the person's name in it is replaced",
            )
            .only(&[
                "entry_id",
                "kind",
                "status",
                "cat_group",
                "cat_id",
                "skill",
                "approval_date",
                "comments_instructor",
                "comment_denial",
            ]),
            Rows::others(
                "entries_made_for_others",
                "author_id = :id AND author_id <> member_id",
                "others' logbooks; the person's name in it is replaced",
            )
            .only(&["entry_id", "kind", "status", "entry_date", "minutes", "comment", "created_at"]),
        ],
    )
    .seen(Seen::OnPages)
    .joins(&[
        moves_unless("member_id", "entry_id", KNOWN),
        stays("author_id", WHO_DID),
        stays("instructor_id", WHO_DID),
    ]),
];

row! {
    /// A new flight-time entry.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct NewTime {
        /// When the flight was, in Unix seconds.
        pub entry_date: Moment,
        /// Minutes in the air.
        pub minutes: i64,
        /// The tunnel of the flight.
        pub tunnel_id: TunnelId,
        /// The member's comment; empty: none.
        pub comment: String,
    } saved
}

row! {
    #[derive(Debug)]
    pub(crate) struct TimeEntry in "e." {
        pub entry_id: EntryId,
        pub member_id: MemberId,
        pub status: Status,
        pub entry_date: Moment,
        pub minutes: i64,
        pub tunnel_id: TunnelId,
        pub tunnel_name: String = "t.name",
        pub comment: String,
        pub author_id: MemberId,
        pub booking_id: Option<BookingId>,
        /// Whether the entry is part of an opening balance.
        pub opening: bool = "e.opening IS NOT NULL",
        pub created_at: Moment,
    }
}

/// A member's last flight, and the booked flights.
#[derive(Debug)]
pub(crate) struct Flown {
    pub last_flight: Option<Moment>,
    /// Minutes that are booked and not flown yet.
    pub minutes_ahead: i64,
}

/// Adds a flight-time entry in force; returns its number.
pub fn insert_time(
    tx: &Write,
    member_id: MemberId,
    author_id: MemberId,
    booking_id: Option<BookingId>,
    time: &NewTime,
) -> Result<EntryId> {
    insert!(tx.insert, "INSERT INTO entries" NewTime: time, {
        member_id: member_id, kind: Kind::Time, status: Status::Open, author_id: author_id, booking_id: booking_id,
        created_at: tx.now(), updated_at: tx.now()
    })
    .map(EntryId)
}

/// The mark of the form of this number that the author sent, also where its entry was deleted since.
pub(crate) fn find_form(tx: &Read, author_id: MemberId, number: i64) -> Result<Option<i64>> {
    let known =
        tx.find(sql!("SELECT form_mark FROM entries WHERE author_id = ?1 AND form_number = ?2"), (author_id, number))?;
    let spent = sql!("SELECT form_mark FROM spent_forms WHERE member_id = ?1 AND form_number = ?2");
    known.map_or_else(|| tx.find(spent, (author_id, number)), |mark| Ok(Some(mark)))
}

/// Records by which form an entry was sent.
pub(crate) fn set_form(tx: &Write, entry_id: EntryId, number: i64, mark: i64) -> Result<usize> {
    let sql = sql!("UPDATE entries SET form_number = ?2, form_mark = ?3 WHERE entry_id = ?1");
    tx.run(sql, (entry_id, number, mark))
}

pub(crate) fn update_time(tx: &Write, entry_id: EntryId, time: &NewTime) -> Result<usize> {
    update!(tx, "UPDATE entries" NewTime: time, { updated_at: tx.now() } "WHERE entry_id = ? AND kind = 'time'", entry_id)
}

/// Changes the entry that a booking made, in the values that are `Some`. The member's comment stays.
pub(crate) fn update_booked_time(
    tx: &Write,
    booking_id: BookingId,
    entry_date: Option<Moment>,
    minutes: Option<i64>,
    tunnel_id: Option<TunnelId>,
) -> Result<usize> {
    let sql = sql!(
        "UPDATE entries
               SET entry_date = coalesce(:entry_date, entry_date), minutes = coalesce(:minutes, minutes),
                   tunnel_id = coalesce(:tunnel_id, tunnel_id), updated_at = :now
               WHERE booking_id = :booking_id"
    );
    tx.run(
        sql,
        named_params! {":entry_date": entry_date, ":minutes": minutes, ":tunnel_id": tunnel_id, ":now": tx.now(), ":booking_id": booking_id},
    )
}

/// Deletes the entry that a booking made, and returns it.
pub(crate) fn take_booked_time(tx: &Write, booking_id: BookingId) -> Result<Option<NewTime>> {
    let sql = sql!("SELECT ", NewTime::COLUMNS, " FROM entries WHERE booking_id = ?1 AND kind = 'time'");
    let time = tx.find(sql, [booking_id])?;
    tx.run(sql!("DELETE FROM entries WHERE booking_id = ?1 AND kind = 'time'"), [booking_id])?;
    Ok(time)
}

pub(crate) fn find_owner(tx: &Read, entry_id: EntryId) -> Result<Option<MemberId>> {
    tx.find(sql!("SELECT member_id FROM entries WHERE entry_id = ?1"), [entry_id])
}

const TIME: &str =
    joined!("SELECT ", TimeEntry::COLUMNS, " FROM entries e JOIN tunnels t ON t.tunnel_id = e.tunnel_id");

pub(crate) fn find_time(tx: &Read, entry_id: EntryId) -> Result<Option<TimeEntry>> {
    tx.find(sql!(TIME, " WHERE e.entry_id = ?1 AND e.kind = 'time'"), [entry_id])
}

/// Calls `take` with a member's flight-time entries, newest flight first.
pub(crate) fn each_time(
    tx: &Read,
    member_id: MemberId,
    (limit, offset): (i64, i64),
    take: impl FnMut(TimeEntry) -> ControlFlow<()>,
) -> Result<()> {
    let sql = sql!(
        TIME,
        " WHERE e.member_id = :id AND e.kind = 'time' ORDER BY e.entry_date DESC, e.entry_id DESC LIMIT :limit OFFSET :offset"
    );
    tx.each(sql, named_params! {":id": member_id, ":limit": limit, ":offset": offset}, take)
}

pub(crate) fn count_time(tx: &Read, member_id: MemberId) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM entries WHERE member_id = ?1 AND kind = 'time'"), [member_id])
}

/// The last flight by `now`, and the minutes booked after it. Reads the index once, from the latest booked flight back
/// to the last flown one, because every profile needs both.
pub(crate) fn find_flown(tx: &Read, member_id: MemberId, now: Moment) -> Result<Flown> {
    let sql = sql!(
        "SELECT entry_date, minutes FROM entries WHERE member_id = ?1 AND kind = 'time' AND status = 'open'
               ORDER BY entry_date DESC"
    );
    let mut flown = Flown { last_flight: None, minutes_ahead: 0 };
    tx.each(sql, [member_id], |(at, minutes): (Moment, i64)| {
        if at <= now {
            flown.last_flight = Some(at);
            return ControlFlow::Break(());
        }
        flown.minutes_ahead += minutes;
        ControlFlow::Continue(())
    })?;
    Ok(flown)
}

row! {
    /// Flight time of a day.
    #[derive(Debug)]
    pub(crate) struct Logged {
        pub(crate) entry_date: Moment,
        pub(crate) minutes: i64,
        /// The booking that made the entry; `None`: the entry was typed.
        pub(crate) booking_id: Option<BookingId>,
    }
}

/// A member's flight time between two moments, by its date; without opening balances.
pub(crate) fn list_day(
    tx: &Read,
    member_id: MemberId,
    (from, to): (Moment, Moment),
    limit: i64,
) -> Result<Vec<Logged>> {
    let sql = sql!(
        "SELECT ",
        Logged::COLUMNS,
        " FROM entries
               WHERE member_id = :member_id AND kind = 'time' AND status = 'open' AND entry_date >= :from
                 AND entry_date < :to AND opening IS NULL
               ORDER BY entry_date, entry_id LIMIT :limit"
    );
    tx.list(sql, named_params! {":member_id": member_id, ":from": from, ":to": to, ":limit": limit})
}

/// Deletes an entry with its events.
pub fn delete(tx: &Write, entry_id: EntryId) -> Result<usize> {
    let spent = sql!(
        "INSERT OR IGNORE INTO spent_forms (member_id, form_number, form_mark, spent_at)
               SELECT author_id, form_number, form_mark, ?2 FROM entries WHERE entry_id = ?1 AND form_number IS NOT NULL"
    );
    tx.run(spent, (entry_id, tx.now()))?;
    tx.run(sql!("DELETE FROM entries WHERE entry_id = ?1"), [entry_id])
}

/// The flights at a tunnel between two moments: when, and how many minutes.
pub(crate) fn list_flown(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<Vec<(Moment, i64)>> {
    let sql = sql!(
        "SELECT entry_date, minutes FROM entries
               WHERE kind = 'time' AND status = 'open' AND opening IS NULL AND entry_date >= ?1 AND entry_date < ?2
                     AND tunnel_id = ?3"
    );
    tx.list(sql, (from, to, tunnel_id))
}
