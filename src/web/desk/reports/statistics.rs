//! The statistics of a report: sums, charts and tables. The rendered result is cached for as long as its data is the same,
//! because a year has many days, most of which never change.

use super::chart::Chart;
use super::days::{self, Counts, DayCounts, PartnerCounts};
use super::range::Range;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::i18n::number::{change, grouped};
use crate::site::Site;
use crate::web::desk::today::WEEKDAYS;
use crate::web::{self, Frame};
use askama::Template;
use std::sync::{Arc, Mutex, PoisonError};

/// Entries of the cache: one a range and language.
const REPORTS_MAX: usize = 6;

#[derive(Template)]
#[template(path = "desk/reports_statistics.html", config = "assets/templates/askama.toml")]
struct Statistics<'a> {
    frame: Frame,
    range: &'a Range,
    sums: Vec<Sum>,
    /// Text about the days that the sums are compared with.
    compared: Option<String>,
    days: Vec<Day>,
    partners: Vec<[String; 7]>,
    charts: Vec<Chart>,
}

/// A sum over the whole range.
struct Sum {
    /// Key of the label.
    key: &'static str,
    total: String,
    /// The sum of the range before, and the difference.
    before: Option<(String, String)>,
}

struct Day {
    name: String,
    numbers: [String; 5],
}

/// Key of the label, and the function that reads the value.
type Measure = (&'static str, fn(&DayCounts) -> i64);

/// In the order of the table's columns.
const MEASURES: [Measure; 5] = [
    ("reports.bookings", |day| day.bookings),
    ("reports.booked", |day| day.booked),
    ("reports.arrived", |day| day.arrived),
    ("reports.flights", |day| day.flights),
    ("reports.flown", |day| day.flown),
];

/// Everything that the rendered statistics depend on.
#[derive(PartialEq)]
struct ReportData {
    language: Language,
    counts: Counts,
    /// Sums of the range before.
    before: Option<DayCounts>,
}

#[derive(Default)]
struct StatisticsCache(Mutex<Vec<(ReportData, Arc<str>)>>);

/// The rendered statistics of a range, from the cache where its data is the same.
pub(super) fn render(site: &Site, zone: &TimeZone, range: &Range, language: Language) -> Result<Arc<str>, Failure> {
    let counts = days::count(site, zone, range)?;
    let earlier = range.before(zone);
    let before = earlier.as_ref().map(|earlier| days::count(site, zone, earlier)).transpose()?;
    let data = ReportData { language, counts, before: before.map(|before| days::total(&before.days)) };
    let cache = site.state::<StatisticsCache>();
    let all = || cache.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rendered)) = all().iter().find(|(known, _)| *known == data) {
        return Ok(rendered.clone());
    }
    let rendered: Arc<str> = web::render(&draw(zone, range, earlier.as_ref(), &data)).into();
    let mut all = all();
    let is_same = |known: &ReportData| {
        let days =
            |data: &ReportData| (data.language, data.counts.days.first().map(|day| day.from), data.counts.days.len());
        days(known) == days(&data)
    };
    all.retain(|(known, _)| !is_same(known));
    if all.len() >= REPORTS_MAX {
        all.remove(0);
    }
    all.push((data, rendered.clone()));
    Ok(rendered)
}

fn draw<'a>(zone: &TimeZone, range: &'a Range, earlier: Option<&Range>, data: &ReportData) -> Statistics<'a> {
    let (language, Counts { days, partners }) = (data.language, &data.counts);
    Statistics {
        frame: Frame::bare(language),
        sums: sums(language, &days::total(days), data.before.as_ref()),
        compared: earlier.map(|earlier| {
            let (from, to) = in_words(language, zone, earlier);
            language.say(&Text::new("reports.compared").with("from", from).with("to", to))
        }),
        charts: charts(language, zone, range, days),
        days: days.iter().map(|day| named(language, zone, day)).collect(),
        partners: partners.iter().map(|one| cells(language, one)).collect(),
        range,
    }
}

/// The first and the last day of a range, in words.
pub(super) fn in_words(language: Language, zone: &TimeZone, range: &Range) -> (String, String) {
    (when::day(language, zone, range.from), when::day(language, zone, range.to - 1))
}

fn sums(language: Language, total: &DayCounts, before: Option<&DayCounts>) -> Vec<Sum> {
    let sum = |(key, value): (&'static str, fn(&DayCounts) -> i64)| Sum {
        key,
        total: grouped(language, value(total)),
        before: before.map(|before| {
            let changed = change(language, value(before), value(total)).unwrap_or_default();
            (grouped(language, value(before)), changed)
        }),
    };
    MEASURES.into_iter().map(sum).collect()
}

fn charts(language: Language, zone: &TimeZone, range: &Range, days: &[DayCounts]) -> Vec<Chart> {
    let (from, to) = in_words(language, zone, range);
    let short: Vec<String> = days.iter().map(|day| when::short(language, zone, day.from)).collect();
    let draw = |id, title, description, value: fn(&DayCounts) -> i64| {
        let series: Vec<(&str, i64)> = short.iter().map(String::as_str).zip(days.iter().map(value)).collect();
        let sum = grouped(language, days.iter().map(value).sum());
        let description = Text::new(description).with("sum", sum).with("from", &from).with("to", &to);
        Chart::bars(id, language.say(&Text::new(title)), language.say(&description), &series, language)
    };
    vec![
        draw("flown", "reports.flown", "reports.flown_said", |day| day.flown),
        draw("booked", "reports.bookings", "reports.bookings_said", |day| day.bookings),
    ]
}

fn named(language: Language, zone: &TimeZone, day: &DayCounts) -> Day {
    let weekday = language.say(&Text::new(WEEKDAYS[zone.weekday(day.from)]));
    let text = Text::new("reports.day_named").with("weekday", weekday);
    Day {
        name: language.say(&text.with("day", when::day(language, zone, day.from))),
        numbers: MEASURES.map(|(_, value)| grouped(language, value(day))),
    }
}

fn cells(language: Language, one: &PartnerCounts) -> [String; 7] {
    let number = |number| grouped(language, number);
    let (bookings, booked, arrived) = (number(one.bookings), number(one.booked), number(one.arrived));
    [one.name.clone(), bookings, booked, arrived, number(one.tokens), number(one.refused), number(one.users)]
}
