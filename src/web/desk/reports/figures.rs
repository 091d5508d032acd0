//! The figures of a report: sums, charts and tables. Kept as they were rendered last, for as long as the counts are the same:
//! a year has many days, and the counts of most never change.

use super::chart::Chart;
use super::days::{self, Brought, Counted, Counts};
use super::range::Range;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::i18n::number::{change, grouped};
use crate::site::Site;
use crate::web::Frame;
use crate::web::desk::today::WEEKDAYS;
use askama::Template;
use std::sync::{Arc, Mutex, PoisonError};

/// Reports that are kept: a range in a language each.
const KEPT_MAX: usize = 6;

#[derive(Template)]
#[template(path = "desk/reports_figures.html", config = "assets/templates/askama.toml")]
struct Figures<'a> {
    frame: Frame,
    range: &'a Range,
    sums: Vec<Sum>,
    /// With which days the sums are compared, in words.
    compared: Option<String>,
    days: Vec<Day>,
    partners: Vec<[String; 7]>,
    charts: Vec<Chart>,
}

/// The counts of the whole range, once on the page.
struct Sum {
    /// The key of its name.
    key: &'static str,
    total: String,
    /// The count of the range before, and the difference.
    before: Option<(String, String)>,
}

struct Day {
    name: String,
    numbers: [String; 5],
}

/// The key of its name, and where it stands in what was counted.
type Measure = (&'static str, fn(&Counted) -> i64);

/// In the order of the table's columns.
const MEASURES: [Measure; 5] = [
    ("reports.bookings", |day| day.bookings),
    ("reports.booked", |day| day.booked),
    ("reports.arrived", |day| day.arrived),
    ("reports.flights", |day| day.flights),
    ("reports.flown", |day| day.flown),
];

/// All that the rendered figures depend on.
#[derive(PartialEq)]
struct Told {
    language: Language,
    counts: Counts,
    /// The counts of the range before.
    before: Option<Counted>,
}

#[derive(Default)]
struct Kept(Mutex<Vec<(Told, Arc<str>)>>);

/// The figures of a range, rendered.
pub(super) fn of(site: &Site, zone: &TimeZone, range: &Range, language: Language) -> Result<Arc<str>, Failure> {
    let counts = days::count(site, zone, range)?;
    let earlier = range.before(zone);
    let before = earlier.as_ref().map(|earlier| days::count(site, zone, earlier)).transpose()?;
    let told = Told { language, counts, before: before.map(|before| days::total(&before.days)) };
    let kept = site.state::<Kept>();
    let all = || kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rendered)) = all().iter().find(|(known, _)| *known == told) {
        return Ok(rendered.clone());
    }
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    let rendered: Arc<str> = draw(zone, range, earlier.as_ref(), &told).render().unwrap_or_default().into();
    let mut all = all();
    let is_same = |known: &Told| {
        let days = |told: &Told| (told.language, told.counts.days.first().map(|day| day.from), told.counts.days.len());
        days(known) == days(&told)
    };
    all.retain(|(known, _)| !is_same(known));
    if all.len() >= KEPT_MAX {
        all.remove(0);
    }
    all.push((told, rendered.clone()));
    Ok(rendered)
}

fn draw<'a>(zone: &TimeZone, range: &'a Range, earlier: Option<&Range>, told: &Told) -> Figures<'a> {
    let (language, Counts { days, brought }) = (told.language, &told.counts);
    Figures {
        frame: Frame::bare(language),
        sums: sums(language, &days::total(days), told.before.as_ref()),
        compared: earlier.map(|earlier| {
            let (from, to) = in_words(language, zone, earlier);
            language.say(&Text::new("reports.compared").with("from", from).with("to", to))
        }),
        charts: charts(language, zone, range, days),
        days: days.iter().map(|day| named(language, zone, day)).collect(),
        partners: brought.iter().map(|one| cells(language, one)).collect(),
        range,
    }
}

/// The first and the last day of a range.
pub(super) fn in_words(language: Language, zone: &TimeZone, range: &Range) -> (String, String) {
    (when::day(language, zone, range.from), when::day(language, zone, range.to - 1))
}

fn sums(language: Language, total: &Counted, before: Option<&Counted>) -> Vec<Sum> {
    let sum = |(key, value): (&'static str, fn(&Counted) -> i64)| Sum {
        key,
        total: grouped(language, value(total)),
        before: before.map(|before| {
            let changed = change(language, value(before), value(total)).unwrap_or_default();
            (grouped(language, value(before)), changed)
        }),
    };
    MEASURES.into_iter().map(sum).collect()
}

fn charts(language: Language, zone: &TimeZone, range: &Range, days: &[Counted]) -> Vec<Chart> {
    let (from, to) = in_words(language, zone, range);
    let short: Vec<String> = days.iter().map(|day| when::short(language, zone, day.from)).collect();
    let draw = |id, title, said, value: fn(&Counted) -> i64| {
        let series: Vec<(&str, i64)> = short.iter().map(String::as_str).zip(days.iter().map(value)).collect();
        let sum = grouped(language, days.iter().map(value).sum());
        let said = Text::new(said).with("sum", sum).with("from", &from).with("to", &to);
        Chart::bars(id, language.say(&Text::new(title)), language.say(&said), &series)
    };
    vec![
        draw("flown", "reports.flown", "reports.flown_said", |day| day.flown),
        draw("booked", "reports.bookings", "reports.bookings_said", |day| day.bookings),
    ]
}

fn named(language: Language, zone: &TimeZone, day: &Counted) -> Day {
    let weekday = language.say(&Text::new(WEEKDAYS[zone.weekday(day.from)]));
    let text = Text::new("reports.day_named").with("weekday", weekday);
    Day {
        name: language.say(&text.with("day", when::day(language, zone, day.from))),
        numbers: MEASURES.map(|(_, value)| grouped(language, value(day))),
    }
}

fn cells(language: Language, one: &Brought) -> [String; 7] {
    let number = |number| grouped(language, number);
    let (bookings, booked, arrived) = (number(one.bookings), number(one.booked), number(one.arrived));
    [one.name.clone(), bookings, booked, arrived, number(one.tokens), number(one.refused), number(one.users)]
}
