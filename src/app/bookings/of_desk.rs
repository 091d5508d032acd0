//! Bookings by the desk, and by the kiosks in its name: asked about before a second one on a day, and before a full quarter of an
//! hour.

use super::room::{self, Full};
use super::{Address, check_in_where_allowed, find_denial, record};
use crate::app::Change;
use crate::domain::booking::{Booking, Denial};
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::domain::when;
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::bookings::{self, BookingRow};
use crate::store::tables::{members, partners, tunnels};
use crate::store::{Read, Write};

/// The client identifier under which the desk books.
pub(crate) const DESK_CLIENT_ID: &str = "front-desk";
const DESK_CLIENT_NAME: &str = "Front desk";

/// A booking that the desk makes for a member who is present or who called.
pub(crate) struct DeskBooking {
    pub(crate) member_id: MemberId,
    pub(crate) minutes_booked: i64,
    /// Distinguishes the bookings of the desk.
    pub(crate) number: i64,
    /// The member's other booking on that day of which the clerk knows.
    pub(crate) beside: Option<BookingId>,
    /// The begin of a quarter of an hour of which the clerk knows that it is full.
    pub(crate) full_quarter: Option<Moment>,
}

/// Why the desk did not book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotBooked {
    Denied(Denial),
    /// The member has a booking on that day of which the clerk does not know.
    HasOne,
    /// The quarter of an hour that begins then has no room, and the clerk was not asked about it.
    Full(Moment),
}

/// Books on behalf of the desk. A form that is sent again with other content is refused. Audited; the member is notified.
/// Returns the number of the booking.
pub(crate) fn book_at_desk(
    cx: &Change,
    wanted: &DeskBooking,
    flight_date: Moment,
) -> Result<BookingId, Stop<NotBooked>> {
    let DeskBooking { member_id, minutes_booked, number, beside, full_quarter } = *wanted;
    cx.check_staff()?;
    if let Some(denial) = find_denial(cx, member_id, flight_date, Address::NotAsked)? {
        return Err(Stop::Denied(NotBooked::Denied(denial)));
    }
    if let Some(known) = find_of_desk(cx, number)? {
        let sent = known.as_sent();
        let is_same =
            (known.member_id, sent.flight_date, sent.minutes_booked) == (member_id, flight_date, minutes_booked);
        return if is_same { Ok(known.booking_id) } else { Err(sent_before(cx, &known)?.into()) };
    }
    if find_on_day(cx.site, cx.tx, member_id, flight_date)?.is_some_and(|known| Some(known.booking_id) != beside) {
        return Err(Stop::Denied(NotBooked::HasOne));
    }
    let placed = room::place(cx, flight_date, minutes_booked, full_quarter);
    let placed = placed.map_err(|stop| stop.map(|Full(begins)| NotBooked::Full(begins)))?;
    let sent = of_desk(cx, number, cx.now(), flight_date, minutes_booked);
    let partner_id = desk_client(cx.tx)?;
    Ok(record(cx, partner_id, member_id, &sent, placed)?)
}

/// The member's booking in this tunnel on the day of a moment, at night the evening before: the first that waits for the
/// check-in, else the first.
pub(crate) fn find_on_day(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    moment: Moment,
) -> Result<Option<bookings::OwnBooking>, Failure> {
    const BOOKINGS_OF_DAY_MAX: i64 = 20;
    let day = site.arrivals_day(&tunnels::find_time_zone(tx, site.tunnel_id)?, moment);
    let mut own = bookings::list_own(tx, site.tunnel_id, member_id, day.from, day.to, BOOKINGS_OF_DAY_MAX)?;
    let waits = own.iter().position(|one| one.arrived_at.is_none()).unwrap_or(0);
    Ok((!own.is_empty()).then(|| own.swap_remove(waits)))
}

/// The booking that a form of the desk or of a kiosk made.
pub(in crate::app) fn find_of_desk(cx: &Change, number: i64) -> Result<Option<BookingRow>, Failure> {
    Ok(bookings::find_by_registration(cx.tx, desk_client(cx.tx)?, number)?)
}

/// 409 for a form that made another booking before, which stands: a browser that goes back keeps the number of the form.
pub(in crate::app) fn sent_before(cx: &Change, known: &BookingRow) -> Result<Failure, Failure> {
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    let profile = members::find(cx.tx, known.member_id)?.ok_or_else(Failure::not_found)?;
    let text = Text::new("kiosk.sent_before")
        .with("name", profile.display_name())
        .with("at", when::moment(cx.language, &zone, known.booking.flight_date))
        .with("minutes", known.booking.minutes_booked);
    Ok(Failure::exists().saying(text))
}

/// Books on behalf of the desk for a flight now, and checks the member in where the waiver allows it; otherwise as
/// [`book_at_desk`].
pub(crate) fn book_here_now(cx: &Change, wanted: &DeskBooking) -> Result<BookingId, Stop<NotBooked>> {
    cx.check_staff()?;
    // A form that is sent again keeps the flight date of its first submission.
    let flight_date = find_of_desk(cx, wanted.number)?.map_or(cx.now(), |known| known.as_sent().flight_date);
    let booking_id = book_at_desk(cx, wanted, flight_date)?;
    check_in_where_allowed(cx, booking_id)?;
    Ok(booking_id)
}

/// A booking by the desk in its tunnel. `number` distinguishes the bookings of the desk.
pub(in crate::app) fn of_desk(
    cx: &Change,
    number: i64,
    purchase_date: Moment,
    flight_date: Moment,
    minutes_booked: i64,
) -> Booking {
    Booking {
        registration_id: Some(number),
        purchase_id: None,
        purchase_date: Some(purchase_date),
        flight_date,
        minutes_booked,
        product_id: None,
        tunnel_id: cx.site.tunnel_id,
        checkin_time: None,
    }
}

/// The client under which the desk books; inserted before the desk's first booking.
pub(crate) fn desk_client(tx: &Write) -> Result<PartnerId, Failure> {
    Ok(match partners::find(tx, DESK_CLIENT_ID)? {
        Some(desk) => desk.partner_id,
        None => partners::insert(tx, DESK_CLIENT_ID, DESK_CLIENT_NAME, false, None)?,
    })
}
