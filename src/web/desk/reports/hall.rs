//! The report for the owner: use of the tunnel, missed bookings, flyers, progression, fees, and what is due to end. On a page
//! that prints on one sheet, and as CSV; and a month of the till for the accountant.

use super::census::{Census, Counts};
use super::chart::Chart;
use super::range::{Quick, Range};
use super::{PART, tables};
use crate::app::import_export::cell::{RowWriter, Separator};
use crate::auth::Clerk;
use crate::domain::local_time::TimeZone;
use crate::domain::payment::Price;
use crate::domain::till::Kind;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::i18n::number::grouped;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::ends;
use crate::store::queries::hall::{self, Outcomes};
use crate::store::tables::till;
use crate::web::badge::PROGRAMMES;
use crate::web::desk::today::WEEKDAYS;
use crate::web::{Frame, form_status, query_text, show as shown};
use askama::Template;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const DAY_SECONDS: i64 = 86_400;
const HOUR_SECONDS: i64 = 3_600;
/// Days ahead in which memberships that end are counted.
const ENDING_DAYS: i64 = 30;
/// Quarters of an hour in an hour.
const QUARTERS: i64 = 4;

#[derive(Template)]
#[template(path = "desk/report_hall.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    range: Range,
    between: (String, String),
    quick: Vec<Quick>,
    problem: Option<String>,
    weekdays: Vec<String>,
    hours: Vec<HourView>,
    /// Label and figure of each sum.
    sums: Vec<(String, String)>,
    signed: Vec<(String, String)>,
    months: Vec<MonthView>,
    kinds: Vec<String>,
    chart: Option<Chart>,
    ending: Vec<(String, String)>,
}

/// An hour of the day: its use on each weekday.
struct HourView {
    clock: String,
    /// Text and CSS class of each weekday.
    cells: Vec<(String, &'static str)>,
}

struct MonthView {
    /// `2026-11`, of the CSV file.
    month: String,
    amounts: Vec<String>,
    total: String,
}

/// What a report says, before it is put into words.
struct Report {
    /// Booked minutes, and those that could be flown, by hour and weekday.
    used: [[(i64, i64); 7]; 24],
    outcomes: Outcomes,
    /// Members who were checked in, and how many of them had been before.
    flyers: (i64, i64),
    signed: Vec<(String, i64)>,
    /// Amounts by month, currency and kind; the kind that follows [`Kind::FEES`] is the processor's.
    fees: BTreeMap<(String, String), [i64; COLUMNS]>,
    /// That of the fee of now.
    currency: String,
    memberships: i64,
    reminded: i64,
}

/// The kinds of fees, and the processor's payments.
const COLUMNS: usize = Kind::FEES.len() + 1;

fn read(site: &Site, zone: &TimeZone, range: &Range) -> Result<Report, Failure> {
    let (from, to, now) = (range.from, range.to, site.now());
    let report = site.store.read(|tx| {
        let mut fees: BTreeMap<(String, String), [i64; COLUMNS]> = BTreeMap::new();
        let mut add = |at: Moment, currency: String, column: usize, cents: i64| {
            let month = zone.date(at).chars().take(7).collect();
            fees.entry((month, currency)).or_default()[column] += cents;
        };
        for fee in hall::list_fees(tx, from, to)? {
            if let Some(column) = Kind::FEES.iter().position(|kind| Some(*kind) == fee.kind) {
                add(fee.at, fee.currency, column, fee.cents);
            }
        }
        for (at, cents, currency) in hall::list_processed(tx, from, to)? {
            add(at, currency, COLUMNS - 1, cents);
        }
        Ok(Report {
            used: used(site, zone, range, &hall::list_booked(tx, site.tunnel_id, from, to)?),
            outcomes: hall::count_outcomes(tx, site.tunnel_id, from, to)?,
            flyers: hall::count_flyers(tx, site.tunnel_id, from, to)?,
            signed: hall::list_signed(tx, from, to)?,
            fees,
            currency: site.fee(tx)?.currency.unwrap_or_default(),
            memberships: ends::list_memberships(tx, now, now + ENDING_DAYS * DAY_SECONDS)?.len() as i64,
            reminded: hall::list_reminded(tx, from, to)?.iter().map(|(_, count)| count).sum(),
        })
    })?;
    site.store.release();
    Ok(report)
}

/// Booked minutes and capacity by hour and weekday, by the site's clock.
fn used(site: &Site, zone: &TimeZone, range: &Range, booked: &[(Moment, i64)]) -> [[(i64, i64); 7]; 24] {
    let mut used = [[(0, 0); 7]; 24];
    let capacity = site.config.minutes_per_quarter_hour * QUARTERS;
    let mut at = range.from;
    while at < range.to {
        used[zone.hour(at)][zone.weekday(at)].1 += capacity;
        at += HOUR_SECONDS;
    }
    for (hour, minutes) in booked {
        used[zone.hour(*hour)][zone.weekday(*hour)].0 += minutes;
    }
    used
}

/// `GET /desk/reports/hall`: the days `from` to `to`, by default the last 30.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone, now) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?, site.now());
    let (range, problem) = match Range::from_query(call, &zone, now) {
        Ok(range) => (range, None),
        Err(key) => (Range::default_range(&zone, now), Some(call.say(key))),
    };
    let (report, language) = (read(site, &zone, &range)?, call.language());
    let counts = site.state::<Census>().take(site)?.counts;
    let kinds = Kind::FEES.map(|kind| call.say(kind.key())).into_iter().chain([call.say("reports.by_processor")]);
    let page = Page {
        between: super::statistics::in_words(language, &zone, &range),
        quick: range.quick(&zone, now),
        weekdays: WEEKDAYS.map(|key| call.say(key)).into(),
        hours: hours(&report),
        sums: sums(call, &report),
        signed: signed(call, &report),
        months: months(language, &report),
        kinds: kinds.collect(),
        chart: chart(call, &report),
        ending: ending(call, &report, counts.as_ref()),
        range,
        problem,
        frame,
    };
    Ok(shown(form_status(page.problem.is_some()), language, &page))
}

/// The hours from the first to the last in which anything was booked.
fn hours(report: &Report) -> Vec<HourView> {
    let is_used = |hour: &usize| report.used[*hour].iter().any(|(booked, _)| *booked > 0);
    let Some(first) = (0..24).find(is_used) else { return Vec::new() };
    let last = (0..24).rev().find(is_used).unwrap_or(first);
    let cell = |(booked, capacity): &(i64, i64)| match (*booked, *capacity) {
        (0, _) => ("–".to_owned(), "heat-0"),
        (booked, 0) => (booked.to_string(), "heat-1"),
        (booked, capacity) => {
            let percent = (booked * 100 + capacity / 2) / capacity;
            let heat = ["heat-1", "heat-2", "heat-3", "heat-4"][(percent / 25).clamp(0, 3) as usize];
            (format!("{percent} %"), heat)
        }
    };
    (first..=last)
        .map(|hour| HourView { clock: format!("{hour:02}:00"), cells: report.used[hour].iter().map(cell).collect() })
        .collect()
}

fn sums(call: &Call, report: &Report) -> Vec<(String, String)> {
    let Outcomes { bookings, arrived, missed, cancelled } = report.outcomes;
    let (flyers, returning) = report.flyers;
    let due = bookings - cancelled;
    let share = |part: i64| if due > 0 { format!(" ({}\u{a0}%)", (part * 100 + due / 2) / due) } else { String::new() };
    let number = |number: i64| grouped(call.language(), number);
    vec![
        (call.say("reports.bookings_all"), number(bookings)),
        (call.say("reports.arrived"), format!("{}{}", number(arrived), share(arrived))),
        (call.say("reports.missed"), format!("{}{}", number(missed), share(missed))),
        (call.say("reports.cancelled"), number(cancelled)),
        (call.say("reports.new_flyers"), number(flyers - returning)),
        (call.say("reports.returning"), number(returning)),
    ]
}

/// The words of a programme.
fn programme(call: &Call, cat_group: &str) -> String {
    let key = PROGRAMMES.iter().find(|(name, _)| *name == cat_group).map(|(_, key)| *key);
    key.map_or_else(|| cat_group.to_owned(), |key| call.say(key))
}

fn signed(call: &Call, report: &Report) -> Vec<(String, String)> {
    let line = |(cat_group, count): &(String, i64)| (programme(call, cat_group), grouped(call.language(), *count));
    report.signed.iter().map(line).collect()
}

fn months(language: Language, report: &Report) -> Vec<MonthView> {
    let month = |((month, currency), amounts): (&(String, String), &[i64; COLUMNS])| {
        let money = |cents: i64| Price { cents, currency: currency.clone() }.in_words(language);
        MonthView {
            month: month.clone(),
            amounts: amounts.iter().map(|cents| money(*cents)).collect(),
            total: money(amounts.iter().sum()),
        }
    };
    report.fees.iter().map(month).collect()
}

/// Fees by month, in whole units of the currency of now; `None` with fewer than two months, which are no comparison.
fn chart(call: &Call, report: &Report) -> Option<Chart> {
    let unit = |amounts: &[i64; COLUMNS]| {
        let price = Price { cents: amounts.iter().sum(), currency: report.currency.clone() }.to_string();
        price.split(['.', ' ']).next().and_then(|whole| whole.parse::<i64>().ok()).unwrap_or(0).max(0)
    };
    let of_now = report.fees.iter().filter(|((_, currency), _)| *currency == report.currency);
    let bars: Vec<(&str, i64)> = of_now.map(|((month, _), amounts)| (month.as_str(), unit(amounts))).collect();
    let title = call.say("reports.fees");
    (bars.len() > 1).then(|| Chart::bars("fees", title.clone(), title, &bars, call.language()))
}

fn ending(call: &Call, report: &Report, counts: Option<&Counts>) -> Vec<(String, String)> {
    let number = |number: i64| grouped(call.language(), number);
    let soon = counts.map(|counts| counts.programmes.iter().map(|[_, soon, _]| soon).sum::<i64>());
    let mut lines = vec![(call.say("reports.memberships_end"), number(report.memberships))];
    lines.extend(soon.map(|soon| (call.say("reports.currency_ends"), number(soon))));
    lines.push((call.say("reports.reminded"), number(report.reminded)));
    lines
}

/// `GET /desk/reports/hall.csv`: one row a figure.
pub(crate) fn csv(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let zone = site.time_zone()?;
    let range = Range::from_query(call, &zone, site.now()).map_err(|key| Failure::field("from", Text::new(key)))?;
    let report = read(site, &zone, &range)?;
    let row = |part: &str, name: &str, detail: &str, value: i64| {
        vec![part.to_owned(), name.to_owned(), detail.to_owned(), value.to_string()]
    };
    let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let mut rows = Vec::new();
    for (hour, cells) in report.used.iter().enumerate() {
        for (day, (booked, capacity)) in days.iter().zip(cells).filter(|(_, (booked, _))| *booked > 0) {
            rows.push(row("booked_minutes", day, &format!("{hour:02}:00"), *booked));
            rows.push(row("capacity_minutes", day, &format!("{hour:02}:00"), *capacity));
        }
    }
    let Outcomes { bookings, arrived, missed, cancelled } = report.outcomes;
    for (name, value) in [("all", bookings), ("arrived", arrived), ("no_show", missed), ("cancelled", cancelled)] {
        rows.push(row("bookings", name, "", value));
    }
    rows.push(row("flyers", "new", "", report.flyers.0 - report.flyers.1));
    rows.push(row("flyers", "returning", "", report.flyers.1));
    rows.extend(report.signed.iter().map(|(cat_group, count)| row("signed", cat_group, "", *count)));
    let names = Kind::FEES.map(Kind::name).into_iter().chain(["processor"]);
    for ((month, currency), amounts) in &report.fees {
        let fees = names.clone().zip(amounts);
        rows.extend(fees.map(|(kind, cents)| row(&format!("fees_cents_{currency}"), month, kind, *cents)));
    }
    rows.push(row("ending", "memberships", "30 days", report.memberships));
    rows.push(row("reminded", "", "", report.reminded));
    let name = format!("hall-{}-{}.csv", range.from_date, range.to_date);
    tables::file(call, &name, &["part", "name", "detail", "value"], rows.into_iter())
}

/// `GET /desk/reports/month.csv?month=2026-11`: every entry of the till of a month, for the accountant; by default of the last.
pub(crate) fn month(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (zone, separator) = (site.time_zone()?, Separator::of(call)?);
    let asked = query_text(call, "month");
    let asked =
        if asked.is_empty() { zone.date(zone.day(site.now(), 31).from).chars().take(7).collect() } else { asked };
    let wrong = || Failure::field("month", Text::new("reports.month_wrong"));
    let from = zone.start_of_date(&format!("{asked}-01")).ok_or_else(wrong)?;
    let next = zone.date(from + 40 * DAY_SECONDS);
    let to = zone.start_of_date(&format!("{}-01", next.chars().take(7).collect::<String>())).ok_or_else(wrong)?;
    let (first, last) = site.store.read(|tx| Ok(hall::find_entries(tx, from, to)?))?;
    let taken_at = tables::time_heading("taken_at", &zone);
    let heading = ["entry_id", &taken_at, "kind", "amount", "currency", "member_id", "undoes", "reason", "taken_by"];
    let mut before = last;
    tables::long_file(site, clerk, separator, &format!("till-{asked}.csv"), &heading, move |site, table| {
        let lines = site.store.read(|tx| Ok(till::list(tx, first - 1, before, tables::ROWS_AT_ONCE)?))?;
        let rows = lines.len();
        for line in lines {
            before = line.entry_id - 1;
            let price = Price { cents: line.amount_cents, currency: line.currency.clone() }.to_string();
            let mut row = RowWriter::begin(table, separator);
            row.plain(line.entry_id);
            row.plain(zone.date_time(line.taken_at));
            row.plain(line.kind.name());
            row.plain(price.split(' ').next().unwrap_or_default());
            row.text(&line.currency);
            row.number(line.member_id.map(i64::from));
            row.number(line.undoes);
            row.text(&line.reason);
            row.text(&line.clerk);
            row.end();
        }
        Ok(if first == 0 { ControlFlow::Break(()) } else { tables::continue_after(rows) })
    })
}
