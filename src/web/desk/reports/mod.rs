//! *Reports*: bookings and minutes by day and by partner over a range of days, and members by level, with charts, tables and CSV.

pub(crate) mod census;
mod chart;
mod days;
pub(crate) mod hall;
pub(crate) mod members;
mod range;
mod statistics;
pub(crate) mod tables;

use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::{Frame, form_status, show as shown};
use askama::Template;
use range::{Quick, Range};
use std::sync::Arc;

const PART: &str = "/desk/reports";

#[derive(Template)]
#[template(path = "desk/reports.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    range: Range,
    /// First and last day, in words.
    between: (String, String),
    quick: Vec<Quick>,
    problem: Option<String>,
    /// Sums, charts and tables, rendered.
    statistics: Arc<str>,
}

/// `GET /desk/reports`: the days `from` to `to`, by default the last 30.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone, now) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?, site.now());
    let (range, problem) = match Range::from_query(call, &zone, now) {
        Ok(range) => (range, None),
        Err(key) => (Range::default_range(&zone, now), Some(call.say(key))),
    };
    let status = form_status(problem.is_some());
    let page = Page {
        between: statistics::in_words(call.language(), &zone, &range),
        quick: range.quick(&zone, now),
        statistics: statistics::render(site, &zone, &range, call.language())?,
        range,
        problem,
        frame,
    };
    Ok(shown(status, call.language(), &page))
}
