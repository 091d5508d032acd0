//! *Reports*: bookings and minutes by day, and what each partner brought, over a range of days; the members have a page
//! of their own. Each is drawn, written as a table, and to be had as CSV.

pub(crate) mod census;
mod chart;
mod days;
pub(crate) mod members;
mod range;
pub(crate) mod tables;

use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::web::{Frame, show as shown};
use askama::Template;
use chart::Chart;
use days::{Brought, Counted};
use http::StatusCode;
use range::Range;

const PART: &str = "/desk/reports";

#[derive(Template)]
#[template(path = "desk/reports.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    range: Range,
    /// Its first and its last day in words.
    between: (String, String),
    problem: Option<String>,
    /// Each with its name.
    days: Vec<(String, Counted)>,
    total: Counted,
    partners: Vec<Brought>,
    charts: Vec<Chart>,
}

/// `GET /desk/reports`: the last 30 days, unless others are asked for.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, hall, now) = (Frame::of(site, call, clerk, PART)?, site.hall()?, site.now());
    let (range, problem) = match Range::asked(call, &hall, now) {
        Ok(range) => (range, None),
        Err(key) => (Range::usual(&hall, now), Some(call.say(key))),
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let (days, partners) = days::count(site, &hall, &range)?;
    let total = days::total(&days);
    let (say, language) = (|key| call.say(key), call.language());
    let between = (when::day(language, &hall, range.from), when::day(language, &hall, range.to - 1));
    let said = |key: &'static str, sum: i64| {
        let text = Text::new(key).with("sum", sum).with("from", &between.0).with("to", &between.1);
        call.language().say(&text)
    };
    let short: Vec<String> = days.iter().map(|day| when::short(language, &hall, day.from)).collect();
    let series = |value: fn(&Counted) -> i64| short.iter().cloned().zip(days.iter().map(value)).collect::<Vec<_>>();
    let charts = vec![
        Chart::bars("flown", say("reports.flown"), said("reports.flown_said", total.flown), &series(|day| day.flown)),
        Chart::bars(
            "booked",
            say("reports.bookings"),
            said("reports.bookings_said", total.bookings),
            &series(|day| day.bookings),
        ),
    ];
    let days = days.into_iter().map(|day| (when::day(language, &hall, day.from), day)).collect();
    Ok(shown(status, language, &Page { frame, range, between, problem, days, total, partners, charts }))
}
