//! The two reports, for the desk, the admins and the job that sends them upstream.

use crate::auth::Staff;
use crate::domain::ids::{BookingId, EntryId, MemberId, PartnerId, TunnelId};
use crate::http::Answer;
use crate::http::answer::{Int, Number, Sometimes, Stored};
use crate::http::call::{Call, Page, REPORT_ROWS_MAX};
use crate::http::failure::Failure;
use crate::http::field_types::{Count, FlightMinutes, Id, Line, Rows};
use crate::http::reply::{self, Report};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::bookings::{self, BookingRow, Ending};
use crate::store::tables::history::{self, HistoryRow};
use crate::store::tables::partners;
use http::{HeaderName, HeaderValue};
use serde_json::json;
use serde_json::value::RawValue;

crate::answer! {
    /// A booking. A partner's own numbers come back as they were sent.
    pub(crate) struct Booking {
        /// The same as `booking_id`.
        id: BookingId = 88,
        /// The booking's number here.
        booking_id: BookingId = 88,
        /// The partner who booked.
        client_id: String = "a3f1c09be2d45678",
        /// Who flies.
        member_id: MemberId = 1204,
        /// The partner's number.
        registration_id: Option<Number> = 7001,
        /// The partner's number.
        purchase_id: Option<Number>,
        /// The moment of the purchase.
        purchase_date: Option<Moment>,
        /// When the flight is.
        flight_date: Moment = 1780086400,
        minutes_booked: FlightMinutes = 15,
        /// The partner's number.
        product_id: Option<Number>,
        tunnel_id: TunnelId = 1,
        tunnel_name: String = "Windwerk",
        /// When the member should be there.
        checkin_time: Option<Moment>,
        /// The flight-time entry that the booking made; null where it made none.
        entry_id: Option<EntryId> = 5102,
        /// How the booking ended without a flight; null where it is in force.
        ended: Option<&'static str> ["cancelled", "no_show"],
        /// When it ended.
        ended_at: Option<Moment>,
        /// When the member checked in.
        arrived_at: Option<Moment>,
        /// When it was first sent.
        created_at: Moment = 1780000000,
        /// When it was last changed.
        updated_at: Moment = 1780000000,
    }
}

impl From<BookingRow> for Booking {
    fn from(row: BookingRow) -> Booking {
        let BookingRow {
            booking_id, client_id, member_id, booking, tunnel_name, entry_id, created_at, updated_at, ..
        } = row;
        Booking {
            id: booking_id,
            booking_id,
            client_id,
            member_id,
            registration_id: booking.registration_id,
            purchase_id: booking.purchase_id,
            purchase_date: booking.purchase_date,
            flight_date: booking.flight_date,
            minutes_booked: booking.minutes_booked,
            product_id: booking.product_id,
            tunnel_id: booking.tunnel_id,
            tunnel_name,
            checkin_time: booking.checkin_time,
            entry_id,
            ended: row.ending.map(Ending::name),
            ended_at: row.ended_at,
            arrived_at: row.arrived_at,
            created_at,
            updated_at,
        }
    }
}

crate::answer! {
    struct HistoryEvent {
        /// Grows and never repeats: read on from the last one with `after`. With the site's id it is the idempotency
        /// key upstream.
        seq: Id = 301,
        /// The partner.
        client_id: String = "a3f1c09be2d45678",
        event: String [
    "user.created", "user.edited", "user.deleted", "token.issued", "token.refused", "booking.recorded",
    "booking.changed", "booking.moved", "booking.cancelled", "booking.no_show", "booking.restored",
    "booking.checked_in", "booking.check_in_undone", "site.restored",
] = "token.refused",
        /// When it happened.
        at: Moment = 1780000000,
        /// The partner's record that it is about.
        user_id: Option<Id>,
        /// The member that it is about. A `booking.changed` with another member than before: two accounts of one
        /// person were joined.
        member_id: Option<Number> = 1204,
        /// The booking that it is about.
        booking_id: Option<BookingId>,
        /// Of a booking its values; of a refused token the `reason`; of a record that the desk brought back
        /// (`user.created`) `restored_by`; of a restored site (`site.restored`) the numbers around the rows that are gone;
        /// else empty.
        detail: Stored<HistoryDetail> = { "reason": "booking.wrong_pin" },
    }
}

crate::answer! {
    inline struct HistoryDetail {
        reason: Sometimes<String> [
            "booking.wrong_pin", "booking.banned", "booking.email_not_confirmed", "booking.unpaid", "booking.was_cancelled",
            "booking.was_missed", "booking.pin_outdated"
        ],
        restored_by: Sometimes<String> { "const": "desk" },
        /// The last row before those that are gone.
        last_kept: Sometimes<Int>,
        /// The last row that is gone.
        last_lost: Sometimes<Int>,
        registration_id: Sometimes<Option<Number>>,
        purchase_id: Sometimes<Option<Number>>,
        purchase_date: Sometimes<Option<Moment>>,
        flight_date: Sometimes<Moment>,
        minutes_booked: Sometimes<Int>,
        product_id: Sometimes<Option<Number>>,
        tunnel_id: Sometimes<TunnelId>,
        checkin_time: Sometimes<Option<Moment>>,
        ended: Sometimes<Option<String>> ["cancelled", "no_show"],
        ended_at: Sometimes<Option<Moment>>,
        arrived_at: Sometimes<Option<Moment>>,
    }
}

crate::body! {
    pub(crate) struct ReportRequest {
        /// The most rows in the answer; by default 50.
        limit: Option<Rows<REPORT_ROWS_MAX>>,
        offset: Option<Count>,
        /// Ours: from this moment on.
        from: Option<Moment>,
        /// Ours: before this moment.
        to: Option<Moment>,
        /// Ours: of `history` the rows after this `seq`, oldest first; of `bookings` those with an event after it.
        after: Option<Count>,
        /// Ours: only of this partner.
        client_id: Option<Line<64>>,
    }
}

/// The validated request of a report.
struct ReportQuery {
    page: Page,
    from: Option<Moment>,
    to: Option<Moment>,
    after: Option<i64>,
    partner_id: Option<PartnerId>,
}

crate::answer! {
    /// Bookings, newest first.
    struct BookingList = Report<Booking>;
}

crate::answer! {
    /// What the partners did.
    struct HistoryList = Report<HistoryEvent>;
}

crate::operation! {
    /// Bookings of all partners
    ///
    /// One row a booking, newest first. `from` and `to` are about `flight_date`; with `after` only the bookings with
    /// an event in the history after that `seq`.
    BOOKINGS = "reportBookings"
        .body(|| json!({ "limit": 10, "offset": 0 }))
        .answers::<BookingList>("One page of the bookings.")
}

pub(crate) fn bookings(site: &Site, call: &Call, _: &Staff) -> Answer {
    let query = ReportQuery::read(site, call)?;
    let ReportQuery { from, to, after, partner_id, .. } = query;
    let filter = bookings::Filter { partner_id, member_id: None, from, to, after };
    site.store.read(|tx| {
        let rows = bookings::list(tx, &filter, query.page.limit, query.page.offset)?;
        Ok(reply::report::<Booking>(
            bookings::count(tx, &filter)?,
            query.page,
            rows.into_iter().map(Booking::from).collect(),
        ))
    })
}

crate::operation! {
    /// What the partners did, and what became of their bookings
    ///
    /// An append-only log, newest first: the partners' requests, and what the desk, a kiosk or the member did to a
    /// booking. `detail` of each `booking.…` event has the booking's values as they stood after it. To read it on
    /// without a gap, send the last `seq` that you have as `after`: then rows come oldest first.
    HISTORY = "reportHistory"
        .body(|| json!({ "limit": 10, "offset": 0, "after": 300 }))
        .answers::<HistoryList>("One page of the events.")
        .also(|| json!({
            "responses": {
                "200": {
                    "description": "One page of the events.",
                    "headers": {
                        "x-site-id": {
                            "description": "Whose rows these are: with `seq` they are known everywhere.",
                            "schema": { "type": "string" },
                        },
                    },
                },
            },
        }))
}

pub(crate) fn history(site: &Site, call: &Call, _: &Staff) -> Answer {
    let query = ReportQuery::read(site, call)?;
    let filter = history::Filter { partner_id: query.partner_id, from: query.from, to: query.to, after: query.after };
    site.store.read(|tx| {
        let rows = history::list(tx, &filter, query.page.limit, query.page.offset)?;
        let rows: Result<Vec<_>, Failure> = rows.into_iter().map(history_reply).collect();
        let list = reply::report::<HistoryEvent>(history::count(tx, &filter)?, query.page, rows?);
        // A client that passes the rows on needs the site's name with them.
        Ok(list.with_header(HeaderName::from_static("x-site-id"), site_id(site)))
    })
}

fn site_id(site: &Site) -> HeaderValue {
    HeaderValue::from_str(&site.site_id).expect("hex digits are a header's value")
}

fn history_reply(row: HistoryRow) -> Result<HistoryEvent, Failure> {
    let detail = RawValue::from_string(row.detail).map_err(|e| Failure::broken().because(e))?;
    let HistoryRow { seq, client_id, event, at, user_id, booking_id, .. } = row;
    let member_id = row.member_id.map(i64::from);
    Ok(HistoryEvent { seq, client_id, event, at, user_id, member_id, booking_id, detail })
}

impl ReportQuery {
    fn read(site: &Site, call: &Call) -> Result<ReportQuery, Failure> {
        let ReportRequest { limit, offset, from, to, after, client_id } = call.body()?;
        let partner_id = client_id.map(|client_id| partner_id(site, &client_id)).transpose()?;
        Ok(ReportQuery { page: Page::of_report(limit, offset), from, to, after, partner_id })
    }
}

/// The partner of a client id; 0, which no partner has, for an unknown one.
fn partner_id(site: &Site, client_id: &str) -> Result<PartnerId, Failure> {
    let found = site.store.read(|tx| Ok(partners::find(tx, client_id)?))?;
    Ok(found.map_or(PartnerId(0), |partner| partner.partner_id))
}
