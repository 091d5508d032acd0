//! *Reports*: bookings and minutes by day, and what each partner brought, over a range of days; the members have a page
//! of their own. Each is drawn, written as a table, and to be had as CSV.

pub(crate) mod census;
mod chart;
mod days;
pub(crate) mod members;
mod range;
pub(crate) mod tables;

use crate::auth::Clerk;
use crate::domain::local_time::Hall;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::i18n::language::{Language, Text};
use crate::i18n::number::{change, grouped};
use crate::site::Site;
use crate::web::desk::today::WEEKDAYS;
use crate::web::{Frame, show as shown};
use askama::Template;
use chart::Chart;
use days::{Brought, Counted};
use http::StatusCode;
use range::{Quick, Range};

const PART: &str = "/desk/reports";

#[derive(Template)]
#[template(path = "desk/reports.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    range: Range,
    /// Its first and its last day in words.
    between: (String, String),
    quick: Vec<Quick>,
    problem: Option<String>,
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

/// `GET /desk/reports`: the last 30 days, unless others are asked for.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, hall, now) = (Frame::of(site, call, clerk, PART)?, site.hall()?, site.now());
    let (range, problem) = match Range::asked(call, &hall, now) {
        Ok(range) => (range, None),
        Err(key) => (Range::usual(&hall, now), Some(call.say(key))),
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let language = call.language();
    let (days, partners) = days::count(site, &hall, &range)?;
    let earlier = range.before(&hall);
    let before = earlier.as_ref().map(|earlier| days::sum(site, earlier)).transpose()?;
    let page = Page {
        between: in_words(language, &hall, &range),
        quick: range.quick(&hall, now),
        sums: sums(language, &days::total(&days), before.as_ref()),
        compared: earlier.map(|earlier| {
            let (from, to) = in_words(language, &hall, &earlier);
            language.say(&Text::new("reports.compared").with("from", from).with("to", to))
        }),
        charts: charts(call, &hall, &range, &days),
        days: days.iter().map(|day| named(language, &hall, day)).collect(),
        partners: partners.into_iter().map(|one| cells(language, one)).collect(),
        range,
        problem,
        frame,
    };
    Ok(shown(status, language, &page))
}

/// The first and the last day of a range.
fn in_words(language: Language, hall: &Hall, range: &Range) -> (String, String) {
    (when::day(language, hall, range.from), when::day(language, hall, range.to - 1))
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

fn charts(call: &Call, hall: &Hall, range: &Range, days: &[Counted]) -> Vec<Chart> {
    let language = call.language();
    let (from, to) = in_words(language, hall, range);
    let short: Vec<String> = days.iter().map(|day| when::short(language, hall, day.from)).collect();
    let draw = |id, title, said, value: fn(&Counted) -> i64| {
        let series: Vec<(&str, i64)> = short.iter().map(String::as_str).zip(days.iter().map(value)).collect();
        let sum = grouped(language, days.iter().map(value).sum());
        let said = Text::new(said).with("sum", sum).with("from", &from).with("to", &to);
        Chart::bars(id, call.say(title), language.say(&said), &series)
    };
    vec![
        draw("flown", "reports.flown", "reports.flown_said", |day| day.flown),
        draw("booked", "reports.bookings", "reports.bookings_said", |day| day.bookings),
    ]
}

fn named(language: Language, hall: &Hall, day: &Counted) -> Day {
    let weekday = language.say(&Text::new(WEEKDAYS[hall.weekday(day.from)]));
    let text = Text::new("reports.day_named").with("weekday", weekday);
    Day {
        name: language.say(&text.with("day", when::day(language, hall, day.from))),
        numbers: MEASURES.map(|(_, value)| grouped(language, value(day))),
    }
}

fn cells(language: Language, one: Brought) -> [String; 7] {
    let number = |number| grouped(language, number);
    let (bookings, booked, arrived) = (number(one.bookings), number(one.booked), number(one.arrived));
    [one.name, bookings, booked, arrived, number(one.tokens), number(one.refused), number(one.users)]
}
