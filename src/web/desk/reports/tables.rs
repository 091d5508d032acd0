//! The reports as CSV.

use super::days;
use super::range::Range;
use crate::app::import_export::cell::{RowWriter, write_row};
use crate::auth::Clerk;
use crate::domain::local_time::Hall;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::reports::{self, BookingLine};
use crate::store::tables::bookings::Ending;
use std::borrow::Borrow;

/// A table of bookings has no more rows than this; whoever wants more takes it in parts.
const BOOKINGS_MAX: usize = 50_000;
/// Bookings that are read in one snapshot.
const BOOKINGS_AT_ONCE: i64 = 1_000;

pub(crate) fn file(name: &str, heading: &[impl Borrow<str>], rows: impl Iterator<Item = Vec<String>>) -> Reply {
    let mut table = heading.join(",") + "\r\n";
    rows.for_each(|row| write_row(&mut table, &row));
    attachment(name, table)
}

fn attachment(name: &str, table: String) -> Reply {
    reply::file("text/csv; charset=utf-8", "attachment", name, table)
}

/// The heading of a column of moments, which [`Hall::written`] writes: with the zone whose clock they show.
pub(crate) fn moments(name: &str, hall: &Hall) -> String {
    format!("{name} ({})", hall.zone_name())
}

fn range(site: &Site, call: &Call) -> Result<Range, Failure> {
    let asked = Range::asked(call, &site.hall()?, site.now());
    asked.map_err(|key| Failure::field("from", Text::new(key)))
}

/// `GET /desk/reports/days.csv`: one row a day.
pub(crate) fn days(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let range = range(site, call)?;
    let days = days::count(site, &site.hall()?, &range)?.days;
    let heading = ["date", "bookings", "minutes_booked", "arrived", "flights", "minutes_flown"];
    let row = |day: days::Counted| {
        let numbers = [day.bookings, day.booked, day.arrived, day.flights, day.flown];
        std::iter::once(day.date).chain(numbers.map(|number| number.to_string())).collect()
    };
    Ok(file(&name("days", &range), &heading, days.into_iter().map(row)))
}

/// `GET /desk/reports/partners.csv`: one row a partner.
pub(crate) fn partners(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let range = range(site, call)?;
    let partners = days::count(site, &site.hall()?, &range)?.brought;
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
    let row = |one: days::Brought| {
        let numbers = [one.bookings, one.booked, one.arrived, one.tokens, one.refused, one.users];
        [one.client_id, one.name].into_iter().chain(numbers.map(|number| number.to_string())).collect()
    };
    Ok(file(&name("partners", &range), &heading, partners.into_iter().map(row)))
}

/// `GET /desk/reports/bookings.csv`: one row a booking, by the time of its flight, by the hall's clock; with
/// those that were cancelled (`ended`).
pub(crate) fn bookings(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let (range, hall) = (range(site, call)?, site.hall()?);
    let (flight, arrived) = (moments("flight_date", &hall), moments("arrived_at", &hall));
    let heading =
        ["booking_id", "partner", "member_id", "member", "registration_id", &flight, "minutes", &arrived, "ended"];
    let mut table = heading.join(",") + "\r\n";
    let (mut after, mut rows) = ((range.from, 0), 0);
    loop {
        let read = |tx: &Read| {
            let last = reports::each_booking(tx, site.tunnel_id, after, range.to, BOOKINGS_AT_ONCE, |line| {
                rows += 1;
                write_booking(&mut table, &hall, line);
            });
            Ok(last?)
        };
        let last = site.store.read(read)?;
        site.store.rest();
        if rows > BOOKINGS_MAX {
            return Err(Failure::field("to", Text::new("reports.bookings_many").with("max", BOOKINGS_MAX)));
        }
        match last {
            Some(last) => after = last,
            None => return Ok(attachment(&name("bookings", &range), table)),
        }
    }
}

fn write_booking(table: &mut String, hall: &Hall, line: &BookingLine) {
    let mut row = RowWriter::begin(table);
    row.plain(line.booking_id);
    row.text(line.partner);
    row.plain(line.member_id);
    row.text(line.member);
    row.plain(line.registration_id.map(|id| id.to_string()).unwrap_or_default());
    row.plain(hall.written(line.flight_date));
    row.plain(line.minutes);
    row.plain(line.arrived_at.map(|at| hall.written(at)).unwrap_or_default());
    row.plain(line.ended.map_or("", Ending::name));
    row.end();
}

fn name(what: &str, range: &Range) -> String {
    format!("{what}-{}-{}.csv", range.from_date, range.to_date)
}
