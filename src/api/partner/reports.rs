//! The two reports, for the desk, the admins and the job that sends them upstream.

use crate::auth::Staff;
use crate::http::Answer;
use crate::http::call::{Call, Page, REPORT_ROWS_MAX};
use crate::http::failure::Failure;
use crate::http::field_types::{Count, Line, Moment, Rows};
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings::{self, BookingRow, Ending};
use crate::store::tables::history::{self, HistoryRow};
use crate::store::tables::partners;
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::value::RawValue;

/// A booking as reports and members see it.
#[derive(Serialize)]
pub(crate) struct BookingReply {
    id: i64,
    booking_id: i64,
    client_id: String,
    member_id: i64,
    registration_id: Option<i64>,
    purchase_id: Option<i64>,
    purchase_date: Option<i64>,
    flight_date: i64,
    minutes_booked: i64,
    product_id: Option<i64>,
    tunnel_id: i64,
    tunnel_name: String,
    checkin_time: Option<i64>,
    /// The flight-time entry that the booking made.
    entry_id: Option<i64>,
    /// Ours: how the booking ended without a flight.
    ended: Option<&'static str>,
    ended_at: Option<i64>,
    arrived_at: Option<i64>,
    created_at: i64,
    updated_at: i64,
}

impl From<BookingRow> for BookingReply {
    fn from(row: BookingRow) -> BookingReply {
        let BookingRow {
            booking_id, client_id, member_id, booking, tunnel_name, entry_id, created_at, updated_at, ..
        } = row;
        BookingReply {
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

#[derive(Serialize)]
struct HistoryReply {
    seq: i64,
    client_id: String,
    event: String,
    at: i64,
    user_id: Option<i64>,
    member_id: Option<i64>,
    booking_id: Option<i64>,
    detail: Box<RawValue>,
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
    from: Option<i64>,
    to: Option<i64>,
    after: Option<i64>,
    partner_id: Option<i64>,
}

/// `POST /admin/reports/external/partner-metrics/bookings`: one row a booking, newest first.
pub(crate) fn bookings(site: &Site, call: &Call, _: &Staff) -> Answer {
    let query = ReportQuery::read(site, call)?;
    let ReportQuery { from, to, after, partner_id, .. } = query;
    let filter = bookings::Filter { partner_id, member_id: None, from, to, after };
    site.store.read(|tx| {
        let rows = bookings::list(tx, &filter, query.page.limit, query.page.offset)?;
        Ok(reply::report(bookings::count(tx, &filter)?, query.page, rows.into_iter().map(BookingReply::from).collect()))
    })
}

/// `POST /admin/reports/external/partner-metrics/history`: the partners' history, newest first; with `after` (a `seq`)
/// oldest first from there on.
pub(crate) fn history(site: &Site, call: &Call, _: &Staff) -> Answer {
    let query = ReportQuery::read(site, call)?;
    let filter = history::Filter { partner_id: query.partner_id, from: query.from, to: query.to, after: query.after };
    site.store.read(|tx| {
        let rows = history::list(tx, &filter, query.page.limit, query.page.offset)?;
        let rows: Result<Vec<_>, Failure> = rows.into_iter().map(history_reply).collect();
        let list = reply::report(history::count(tx, &filter)?, query.page, rows?);
        // A client that passes the rows on needs the site's name with them.
        Ok(list.with_header(HeaderName::from_static("x-site-id"), site_id(site)))
    })
}

fn site_id(site: &Site) -> HeaderValue {
    HeaderValue::from_str(&site.site_id).expect("hex digits are a header's value")
}

fn history_reply(row: HistoryRow) -> Result<HistoryReply, Failure> {
    let detail = RawValue::from_string(row.detail).map_err(|e| Failure::broken().because(e))?;
    let HistoryRow { seq, client_id, event, at, user_id, member_id, booking_id, .. } = row;
    Ok(HistoryReply { seq, client_id, event, at, user_id, member_id, booking_id, detail })
}

impl ReportQuery {
    fn read(site: &Site, call: &Call) -> Result<ReportQuery, Failure> {
        let ReportRequest { limit, offset, from, to, after, client_id } = call.body()?;
        let partner_id = client_id.map(|client_id| partner_id(site, &client_id)).transpose()?;
        Ok(ReportQuery { page: Page::of_report(limit, offset), from, to, after, partner_id })
    }
}

/// The partner of a client id; 0, which no partner has, for an unknown one.
fn partner_id(site: &Site, client_id: &str) -> Result<i64, Failure> {
    let found = site.store.read(|tx| Ok(partners::find(tx, client_id)?))?;
    Ok(found.map_or(0, |partner| partner.partner_id))
}
