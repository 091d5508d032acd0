//! *Reports*: bookings and minutes by day, and what each partner brought, over a range of days; the members have a page
//! of their own. Each is drawn, written as a table, and to be had as CSV.

pub(crate) mod census;
mod chart;
mod days;
mod figures;
pub(crate) mod members;
mod range;
pub(crate) mod tables;

use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::site::Site;
use crate::web::{Frame, show as shown};
use askama::Template;
use http::StatusCode;
use range::{Quick, Range};
use std::sync::Arc;

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
    /// Sums, charts and tables, rendered.
    figures: Arc<str>,
}

/// `GET /desk/reports`: the last 30 days, unless others are asked for.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone, now) = (Frame::of(site, call, clerk, PART)?, site.time_zone()?, site.now());
    let (range, problem) = match Range::asked(call, &zone, now) {
        Ok(range) => (range, None),
        Err(key) => (Range::usual(&zone, now), Some(call.say(key))),
    };
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = Page {
        between: figures::in_words(call.language(), &zone, &range),
        quick: range.quick(&zone, now),
        figures: figures::of(site, &zone, &range, call.language())?,
        range,
        problem,
        frame,
    };
    Ok(shown(status, call.language(), &page))
}
