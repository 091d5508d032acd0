//! Bookings as partners sent them, and the check-ins.

use super::partners;
use crate::domain::booking::Booking;
use crate::domain::ids::{BookingId, EntryId, MemberId, PartnerId, TunnelId};
use crate::moment::Moment;
use crate::store::engine::columns::{Columns, FromRow};
use crate::store::joining::{OPENS, WHO_DID, moves_unless, stays};
use crate::store::personal::{Ahead, Expiry, OUR_WORD, Rows, Seen, Table, not_personal, replaced, searched, secret};
use crate::store::{Conditions, Read, Write};
use rusqlite::{Result, named_params};

/// The survivor has a booking that the partner could not tell from this one.
pub(crate) const TAKEN: &str = "t.registration_id IS NULL AND EXISTS (SELECT 1 FROM bookings s
    WHERE s.member_id = :survivor AND s.partner_id = t.partner_id AND s.registration_id IS NULL AND s.purchase_id IS t.purchase_id
    AND coalesce(s.sent_flight_date, s.flight_date) = coalesce(t.sent_flight_date, t.flight_date))";

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "bookings",
        "booking_id",
        &[not_personal("ended_as", OUR_WORD), searched("removed_comment"), replaced("pin_hash", "NULL").secret()],
        &[Rows::emptied("bookings", "member_id = :id", "", "the partner's metrics count them; numbers and moments")],
    )
    .seen(Seen::OnPages)
    .joins(&[
        moves_unless("member_id", "booking_id", TAKEN),
        stays("arrived_by", WHO_DID),
        stays("ended_by", WHO_DID),
    ]),
    Table::new(
        "booking_tokens",
        "",
        &[secret("token_hash"), secret("bound")],
        &[Rows::deleted("booking_tokens", "member_id = :id")],
    )
    .expires(&[Expiry::at("token_hash", "ends_at")])
    .ahead(Ahead::Deleted("created_at"))
    .joins(&[stays("member_id", OPENS)]),
];

columns! {
    Booking in "b." {
        registration_id, purchase_id, purchase_date, flight_date, minutes_booked, product_id, tunnel_id, checkin_time
    } saved
}

row! {
    #[derive(Debug)]
    pub(crate) struct BookingRow in "b." {
        pub booking_id: BookingId,
        pub partner_id: PartnerId,
        pub client_id: String = "p.client_id",
        pub partner_name: String = "p.name",
        pub member_id: MemberId,
        pub booking: Booking = Booking::COLUMNS,
        /// The flight date that the partner sent last, where the desk has changed it since.
        pub sent_flight_date: Option<Moment>,
        pub sent_minutes: Option<i64>,
        pub arrived_at: Option<Moment>,
        pub time_waits: TimeWaits,
        pub ending: Option<Ending> = "b.ended_as",
        pub ended_at: Option<Moment>,
        pub tunnel_name: String = "t.name",
        pub entry_id: Option<EntryId> = "e.entry_id",
        pub created_at: Moment,
        pub updated_at: Moment,
    }
}

named! {
    /// How a booking ended without a flight.
    pub(crate) enum Ending {
        Cancelled = "cancelled",
        NoShow = "no_show",
    }
}

/// Whether the flight time of a booking waits, because the member had no waiver in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeWaits {
    /// The booking entered the flight time, or has none.
    No,
    ForCheckIn,
    /// The check-in entered the flight time.
    Entered,
}

impl FromRow for TimeWaits {
    fn read(columns: &mut Columns) -> Result<TimeWaits> {
        Ok(match columns.read::<i64>()? {
            0 => TimeWaits::No,
            1 => TimeWaits::ForCheckIn,
            _ => TimeWaits::Entered,
        })
    }
}

impl BookingRow {
    /// The booking as the partner sent it last.
    pub(crate) fn as_sent(&self) -> Booking {
        Booking {
            flight_date: self.sent_flight_date.unwrap_or(self.booking.flight_date),
            minutes_booked: self.sent_minutes.unwrap_or(self.booking.minutes_booked),
            ..self.booking.clone()
        }
    }
}

/// A filter of the bookings. Moments are flight dates, in Unix seconds; `to` is not included.
#[derive(Debug, Default, Clone)]
pub(crate) struct Filter {
    pub partner_id: Option<PartnerId>,
    pub member_id: Option<MemberId>,
    pub from: Option<Moment>,
    pub to: Option<Moment>,
    /// Only bookings with an event in the history after this `seq`.
    pub after: Option<i64>,
}

const BOOKING: &str = joined!(
    "SELECT ",
    BookingRow::COLUMNS,
    " FROM bookings b JOIN partners p ON p.partner_id = b.partner_id JOIN tunnels t ON t.tunnel_id = b.tunnel_id
           LEFT JOIN entries e ON e.booking_id = b.booking_id"
);
/// The bookings of a partner.
const ITS: &str = joined!(BOOKING, " WHERE b.partner_id = :partner_id AND ");
/// The bookings without registration that a partner sent for a member's flight.
const OF_MEMBER: &str = joined!(
    ITS,
    "b.registration_id IS NULL AND b.member_id = :member_id
     AND coalesce(b.sent_flight_date, b.flight_date) = :flight_date AND "
);

/// The booking that the partner means: by registration, else by member, purchase and flight, else by member and flight. One
/// purchase may have flights of several members at one moment.
pub(crate) fn find_same(
    tx: &Read,
    partner_id: PartnerId,
    member_id: MemberId,
    sent: &Booking,
) -> Result<Option<BookingRow>> {
    if let Some(registration_id) = sent.registration_id {
        return find_by_registration(tx, partner_id, registration_id);
    }
    let sql = match sent.purchase_id {
        Some(_) => sql!(OF_MEMBER, "b.purchase_id = :purchase_id"),
        None => sql!(OF_MEMBER, "b.purchase_id IS NULL AND :purchase_id IS NULL"),
    };
    let params = named_params! {
        ":partner_id": partner_id, ":member_id": member_id, ":flight_date": sent.flight_date, ":purchase_id": sent.purchase_id,
    };
    tx.find(sql, params)
}

/// The booking that a partner registered under this number.
pub(crate) fn find_by_registration(
    tx: &Read,
    partner_id: PartnerId,
    registration_id: i64,
) -> Result<Option<BookingRow>> {
    let params = named_params! {":partner_id": partner_id, ":registration_id": registration_id};
    tx.find(sql!(ITS, "b.registration_id = :registration_id"), params)
}

/// The member's booking of the same purchase and flight, where only one of the two has a registration number. Another
/// member's booking of the same purchase is another one.
pub(crate) fn find_of_purchase(
    tx: &Read,
    partner_id: PartnerId,
    member_id: MemberId,
    sent: &Booking,
) -> Result<Option<BookingRow>> {
    let Some(purchase_id) = sent.purchase_id else { return Ok(None) };
    if sent.registration_id.is_some() {
        let unregistered = find_same(tx, partner_id, member_id, &Booking { registration_id: None, ..sent.clone() })?;
        return Ok(unregistered.filter(|known| known.member_id == member_id));
    }
    // The unary plus makes SQLite use the member's index, which is the most selective.
    let sql = sql!(
        BOOKING,
        " WHERE b.member_id = :member_id AND coalesce(b.sent_flight_date, b.flight_date) = :flight_date
            AND +b.partner_id = :partner_id AND b.purchase_id = :purchase_id ORDER BY b.booking_id LIMIT 1"
    );
    tx.find(
        sql,
        named_params! {":member_id": member_id, ":flight_date": sent.flight_date, ":partner_id": partner_id,
        ":purchase_id": purchase_id},
    )
}

/// Adds a booking as the partner sent it; returns its number.
pub fn insert_booking(tx: &Write, partner_id: PartnerId, member_id: MemberId, sent: &Booking) -> Result<BookingId> {
    insert!(tx.insert, "INSERT INTO bookings" Booking: sent, {
        partner_id: partner_id, member_id: member_id, created_at: tx.now(), updated_at: tx.now()
    })
    .map(BookingId)
}

pub(crate) fn update_booking(tx: &Write, booking_id: BookingId, sent: &Booking) -> Result<usize> {
    update!(tx, "UPDATE bookings" Booking: sent, { updated_at: tx.now() } "WHERE booking_id = ?", booking_id)
}

/// A booking at any tunnel.
pub(crate) fn find_by_id(tx: &Read, booking_id: BookingId) -> Result<Option<BookingRow>> {
    tx.find(sql!(BOOKING, " WHERE b.booking_id = ?1"), [booking_id])
}

/// The booking of this number, where it is the partner's.
pub(crate) fn find_of_partner(tx: &Read, partner_id: PartnerId, booking_id: BookingId) -> Result<Option<BookingRow>> {
    let params = named_params! {":partner_id": partner_id, ":booking_id": booking_id};
    tx.find(sql!(ITS, "b.booking_id = :booking_id"), params)
}

/// A booking at this tunnel.
pub(crate) fn find(tx: &Read, booking_id: BookingId, tunnel_id: TunnelId) -> Result<Option<BookingRow>> {
    tx.find(sql!(BOOKING, " WHERE b.booking_id = ?1 AND b.tunnel_id = ?2"), (booking_id, tunnel_id))
}

/// Stores the values that the partner sent last, where the booking has others.
pub(crate) fn set_sent(
    tx: &Write,
    booking_id: BookingId,
    flight_date: Option<Moment>,
    minutes: Option<i64>,
) -> Result<usize> {
    let sql = sql!(
        "UPDATE bookings SET sent_flight_date = ?2, sent_minutes = ?3
               WHERE booking_id = ?1 AND (sent_flight_date, sent_minutes) IS NOT (?2, ?3)"
    );
    tx.run(sql, (booking_id, flight_date, minutes))
}

impl Filter {
    fn conditions(&self) -> Conditions<'_> {
        Conditions::default()
            .when("b.partner_id = :partner_id", ":partner_id", &self.partner_id)
            .when("b.member_id = :member_id", ":member_id", &self.member_id)
            .when("b.flight_date >= :from", ":from", &self.from)
            .when("b.flight_date < :to", ":to", &self.to)
            .when(
                "b.booking_id IN (SELECT h.booking_id FROM history h WHERE h.seq > :after AND h.event LIKE 'booking.%')",
                ":after",
                &self.after,
            )
    }
}

/// A member's bookings by flight, latest first; a report's by number, newest first.
pub(crate) fn list(tx: &Read, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<BookingRow>> {
    // For one member SQLite reads the entries by the member's index, in one place of the database; otherwise by the
    // booking's.
    let (beside, order) = match filter.member_id {
        Some(_) => ("AND e.member_id = b.member_id", "b.flight_date DESC, b.booking_id DESC"),
        None => ("", "b.booking_id DESC"),
    };
    let conditions = filter.conditions().with(":limit", &limit).with(":offset", &offset);
    let sql = format!("{BOOKING} {beside} WHERE {} ORDER BY {order} LIMIT :limit OFFSET :offset", conditions.sql());
    tx.list(&sql, &*conditions.params)
}

pub(crate) fn count(tx: &Read, filter: &Filter) -> Result<i64> {
    if filter.member_id.is_none() && filter.from.is_none() && filter.to.is_none() && filter.after.is_none() {
        return partners::count_bookings(tx, filter.partner_id);
    }
    let conditions = filter.conditions();
    let sql = format!("SELECT count(*) FROM bookings b WHERE {}", conditions.sql());
    tx.get(&sql, &*conditions.params)
}

row! {
    /// A booking of a day as the desk sees it, with the member's data that may need attention.
    #[derive(Debug)]
    pub(crate) struct Arrival in "b." {
        pub booking_id: BookingId,
        pub member_id: MemberId,
        pub name: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username)",
        pub flight_date: Moment,
        pub minutes_booked: i64,
        pub arrived_at: Option<Moment>,
        pub no_show: bool = "b.ended_as IS NOT NULL",
        pub banned: bool = "m.banned_at IS NOT NULL",
        pub paid_until: Option<Moment> = "m.paid_until",
        pub dob: Option<Moment> = "m.dob",
        pub holds_flyer_1: bool = "m.holds_flyer_1",
        /// Whether the member holds levels of other programmes.
        pub holds_more: bool = "m.programmes NOT IN ('', 'Flyer')",
        pub last_flight: Option<Moment> = "(SELECT max(e.entry_date) FROM entries e WHERE e.member_id = b.member_id
                                         AND e.kind = 'time' AND e.status = 'open' AND e.entry_date <= :now)",
        /// Whether there was neither a booking nor a flight before this day.
        pub first_time: bool = "NOT EXISTS (SELECT 1 FROM bookings o WHERE o.member_id = b.member_id
                                            AND o.flight_date < :day AND o.ended_as IS NULL)
                                AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.member_id = b.member_id
                                                AND e.kind = 'time' AND e.status = 'open' AND e.entry_date < :day)",
    }
}

const ARRIVAL: &str = joined!(
    "SELECT ",
    Arrival::COLUMNS,
    " FROM bookings b JOIN members m ON m.member_id = b.member_id
           WHERE b.tunnel_id = :tunnel_id AND b.flight_date >= :day AND b.flight_date < :to AND b.ended_as IS NOT 'cancelled'"
);

/// The bookings at a tunnel on a day that begins at `from`, by flight date.
pub(crate) fn list_arrivals(
    tx: &Read,
    tunnel_id: TunnelId,
    (from, to): (Moment, Moment),
    (limit, offset): (i64, i64),
    now: Moment,
) -> Result<Vec<Arrival>> {
    let sql = sql!(ARRIVAL, " ORDER BY b.flight_date, b.booking_id LIMIT :limit OFFSET :offset");
    let params = named_params! {":day": from, ":to": to, ":tunnel_id": tunnel_id, ":limit": limit, ":offset": offset,
    ":now": now};
    tx.list(sql, params)
}

/// The minutes booked in each slot of `seconds` of a day: the slot's number from 0, and the minutes.
pub(crate) fn list_load(
    tx: &Read,
    tunnel_id: TunnelId,
    (from, to): (Moment, Moment),
    seconds: i64,
) -> Result<Vec<(i64, i64)>> {
    let sql = sql!(
        "SELECT (flight_date - ?1) / ?4, sum(minutes_booked) FROM bookings
               WHERE flight_date >= ?1 AND flight_date < ?2 AND tunnel_id = ?3 AND ended_as IS NULL GROUP BY 1"
    );
    tx.list(sql, (from, to, tunnel_id, seconds))
}

row! {
    /// A booking as its member sees it.
    #[derive(Debug)]
    pub(crate) struct OwnBooking {
        pub booking_id: BookingId,
        pub flight_date: Moment,
        pub minutes_booked: i64,
        pub arrived_at: Option<Moment>,
        /// The minutes that the booking put into the logbook.
        pub minutes_logged: Option<i64> =
            "(SELECT e.minutes FROM entries e WHERE e.booking_id = bookings.booking_id AND e.status = 'open')",
    }
}

/// Whether the member came for a booking, or has flight time that no booking entered.
pub(crate) fn has_flown(tx: &Read, member_id: MemberId) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM bookings WHERE member_id = ?1 AND arrived_at IS NOT NULL)
             OR EXISTS (SELECT 1 FROM entries WHERE member_id = ?1 AND kind = 'time' AND booking_id IS NULL)"
    );
    tx.get(sql, [member_id])
}

/// A member's own bookings between two moments, by flight date.
pub(crate) fn list_own(
    tx: &Read,
    tunnel_id: TunnelId,
    member_id: MemberId,
    from: Moment,
    to: Moment,
    limit: i64,
) -> Result<Vec<OwnBooking>> {
    let sql = sql!(
        "SELECT ",
        OwnBooking::COLUMNS,
        " FROM bookings
               WHERE member_id = :member_id AND flight_date >= :from AND flight_date < :to AND tunnel_id = :tunnel_id
                 AND ended_as IS NULL
               ORDER BY flight_date, booking_id LIMIT :limit"
    );
    let params =
        named_params! {":member_id": member_id, ":from": from, ":to": to, ":tunnel_id": tunnel_id, ":limit": limit};
    tx.list(sql, params)
}

/// The date of the next flight from a moment on that a partner booked for a member, without those that ended.
pub(crate) fn find_next(
    tx: &Read,
    (partner_id, member_id): (PartnerId, MemberId),
    tunnel_id: TunnelId,
    from: Moment,
) -> Result<Option<Moment>> {
    let sql = sql!(
        "SELECT flight_date FROM bookings
               WHERE member_id = ?1 AND flight_date >= ?2 AND partner_id = ?3 AND tunnel_id = ?4
                 AND ended_as IS NULL AND arrived_at IS NULL
               ORDER BY flight_date LIMIT 1"
    );
    tx.find(sql, (member_id, from, partner_id, tunnel_id))
}

/// The bookings between two moments, without cancelled ones, and how many of them have checked in.
pub(crate) fn count_arrivals(tx: &Read, tunnel_id: TunnelId, from: Moment, to: Moment) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT count(*), count(arrived_at) FROM bookings
               WHERE flight_date >= ?1 AND flight_date < ?2 AND tunnel_id = ?3 AND ended_as IS NOT 'cancelled'"
    );
    tx.get(sql, (from, to, tunnel_id))
}

/// Checks a booking in; a second time changes nothing. `by`: the actor.
pub(crate) fn set_arrived(tx: &Write, booking_id: BookingId, at: Moment, by: Option<MemberId>) -> Result<usize> {
    let sql = sql!("UPDATE bookings SET arrived_at = ?2, arrived_by = ?3 WHERE booking_id = ?1 AND arrived_at IS NULL");
    tx.run(sql, (booking_id, at, by))
}

pub(crate) fn set_time_waits(tx: &Write, booking_id: BookingId, to: TimeWaits) -> Result<usize> {
    tx.run(sql!("UPDATE bookings SET time_waits = ?2 WHERE booking_id = ?1"), (booking_id, to as i64))
}

pub(crate) fn unset_arrived(tx: &Write, booking_id: BookingId) -> Result<usize> {
    let sql = sql!(
        "UPDATE bookings SET arrived_at = NULL, arrived_by = NULL WHERE booking_id = ?1 AND arrived_at IS NOT NULL"
    );
    tx.run(sql, [booking_id])
}

/// The keyed hash of the PIN that may still change a booking; `None`: no PIN but the member's own.
pub(crate) fn find_pin_hash(tx: &Read, booking_id: BookingId) -> Result<Option<[u8; 32]>> {
    tx.get(sql!("SELECT pin_hash FROM bookings WHERE booking_id = ?1"), [booking_id])
}

/// Keeps the hash of the PIN that came with a booking.
pub(crate) fn set_pin_hash(tx: &Write, booking_id: BookingId, hash: &[u8; 32]) -> Result<usize> {
    let sql = sql!("UPDATE bookings SET pin_hash = ?2 WHERE booking_id = ?1 AND pin_hash IS NOT ?2");
    tx.run(sql, (booking_id, &hash[..]))
}
