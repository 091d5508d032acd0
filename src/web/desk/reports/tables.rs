//! Reports as CSV.

use super::days;
use super::range::Range;
use crate::app::import_export::cell::{RowWriter, Separator, write_row};
use crate::auth::Clerk;
use crate::domain::ids::BookingId;
use crate::domain::local_time::TimeZone;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::chunks::Chunks;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::queries::reports::{self, BookingLine};
use crate::store::tables::bookings::Ending;
use std::borrow::Borrow;
use std::ops::ControlFlow;

const CSV: &str = "text/csv; charset=utf-8";
/// Rows of a long file that are read in one snapshot.
pub(crate) const ROWS_AT_ONCE: i64 = 1_000;

/// A file of few rows.
pub(crate) fn file(
    call: &Call,
    name: &str,
    heading: &[impl Borrow<str>],
    rows: impl Iterator<Item = Vec<String>>,
) -> Answer {
    let separator = Separator::of(call)?;
    let mut table = separator.headings(heading);
    rows.for_each(|row| write_row(&mut table, separator, &row));
    Ok(reply::file(CSV, "attachment", name, table))
}

/// A streamed file of any number of rows. `next` appends up to [`ROWS_AT_ONCE`] rows from a snapshot of its own and breaks
/// after the last. The file ends early when the clerk's session ends.
pub(crate) fn long_file(
    site: &Site,
    clerk: &Clerk,
    separator: Separator,
    name: &str,
    heading: &[impl Borrow<str>],
    mut next: impl FnMut(&Site, &mut String) -> Result<ControlFlow<()>, Failure> + Send + 'static,
) -> Answer {
    // The stream reads with a connection of its own; this thread gives its snapshot back first.
    site.store.release();
    let (site, pass) = (site.for_another_thread(), clerk.session_guard());
    let chunks = Chunks::begin(separator.headings(heading), move |table| {
        let step = pass.check(&site).and_then(|()| next(&site, table));
        site.store.release();
        step
    });
    Ok(reply::chunked_file(CSV, "attachment", name, chunks?))
}

/// Breaks after the last rows, which are fewer than [`ROWS_AT_ONCE`].
pub(crate) fn continue_after(rows: usize) -> ControlFlow<()> {
    if rows as i64 == ROWS_AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// The heading of a column of times that [`TimeZone::written`] writes, with the name of the zone.
pub(crate) fn time_heading(name: &str, zone: &TimeZone) -> String {
    format!("{name} ({})", zone.name())
}

fn range(site: &Site, call: &Call) -> Result<Range, Failure> {
    let range = Range::from_query(call, &site.time_zone()?, site.now());
    range.map_err(|key| Failure::field("from", Text::new(key)))
}

/// `GET /desk/reports/days.csv`: one row a day.
pub(crate) fn days(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let range = range(site, call)?;
    let days = days::count(site, &site.time_zone()?, &range)?.days;
    let heading = ["date", "bookings", "minutes_booked", "arrived", "flights", "minutes_flown"];
    let row = |day: days::DayCounts| {
        let numbers = [day.bookings, day.booked, day.arrived, day.flights, day.flown];
        std::iter::once(day.date).chain(numbers.map(|number| number.to_string())).collect()
    };
    file(call, &name("days", &range), &heading, days.into_iter().map(row))
}

/// `GET /desk/reports/partners.csv`: one row a partner.
pub(crate) fn partners(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let range = range(site, call)?;
    let partners = days::count(site, &site.time_zone()?, &range)?.partners;
    let heading = [
        "client_id",
        "partner",
        "bookings",
        "minutes_booked",
        "arrived",
        "tokens_issued",
        "tokens_refused",
        "users_created",
    ];
    let row = |one: days::PartnerCounts| {
        let numbers = [one.bookings, one.booked, one.arrived, one.tokens, one.refused, one.users];
        [one.client_id, one.name].into_iter().chain(numbers.map(|number| number.to_string())).collect()
    };
    file(call, &name("partners", &range), &heading, partners.into_iter().map(row))
}

/// `GET /desk/reports/bookings.csv`: one row a booking, by the time of its flight, by the site's clock; with
/// those that were cancelled (`ended`).
pub(crate) fn bookings(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (range, zone) = (range(site, call)?, site.time_zone()?);
    let (flight, arrived) = (time_heading("flight_date", &zone), time_heading("arrived_at", &zone));
    let heading =
        ["booking_id", "partner", "member_id", "member", "registration_id", &flight, "minutes", &arrived, "ended"];
    let (mut last, to, name) = ((range.from, BookingId(0)), range.to, name("bookings", &range));
    let separator = Separator::of(call)?;
    long_file(site, clerk, separator, &name, &heading, move |site, table| {
        let (mut rows, from) = (0, last);
        site.store.read(|tx| {
            Ok(reports::each_booking(tx, site.tunnel_id, from, to, ROWS_AT_ONCE, |line| {
                write_booking(table, separator, &zone, line);
                (rows, last) = (rows + 1, (line.flight_date, line.booking_id));
            })?)
        })?;
        Ok(continue_after(rows))
    })
}

fn write_booking(table: &mut String, separator: Separator, zone: &TimeZone, line: &BookingLine) {
    let mut row = RowWriter::begin(table, separator);
    row.plain(line.booking_id);
    row.text(line.partner);
    row.plain(line.member_id);
    row.text(line.member);
    row.number(line.registration_id);
    row.moment(zone, line.flight_date);
    row.plain(line.minutes);
    row.moment(zone, line.arrived_at);
    row.plain(line.ended.map_or("", Ending::name));
    row.end();
}

fn name(what: &str, range: &Range) -> String {
    format!("{what}-{}-{}.csv", range.from_date, range.to_date)
}
