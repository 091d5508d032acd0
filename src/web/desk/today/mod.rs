//! *Today*, and any other day: who comes, who is here, what is booked, what was flown, and what waits.

mod arrivals;
mod book;
mod flown;
mod found;
mod kept;
mod waiting;

pub(crate) use book::{Sent, Unclear, find_member, name_of};

use super::bookings as changes;
use crate::auth::Clerk;
use crate::domain::local_time::{Day, TimeZone};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::web::{Frame, asked, show as shown, skipped};
use arrivals::Question;
use askama::Template;
use book::Book;
use flown::Chart;
use found::Found;
use http::{HeaderValue, StatusCode, header};
use std::sync::Arc;
use waiting::Waiting;

/// The longest search text.
/// The keys of their names, from Monday on.
pub(in crate::web) const WEEKDAYS: [&str; 7] = [
    "weekday.monday",
    "weekday.tuesday",
    "weekday.wednesday",
    "weekday.thursday",
    "weekday.friday",
    "weekday.saturday",
    "weekday.sunday",
];

#[derive(Template)]
#[template(path = "desk/today.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// *Today*, or the weekday of another day.
    title: String,
    date: String,
    clock: String,
    is_today: bool,
    days: Days,
    typed: String,
    arrivals: Arc<str>,
    found: Option<Found>,
    book: Book,
    /// The booking whose end can be taken back here.
    undo: Option<i64>,
    chart: Option<Arc<Chart>>,
    waiting: Vec<Waiting>,
}

/// Days as a field for a date has them.
struct Days {
    shown: String,
    before: String,
    after: String,
    tomorrow: String,
}

/// The query of the address.
#[derive(Default)]
struct Wanted {
    day: String,
    typed: String,
    part: String,
    book: Option<i64>,
    skip: i64,
}

impl Wanted {
    fn read(call: &Call) -> Wanted {
        Wanted {
            day: asked(call, "day"),
            typed: asked(call, "q"),
            part: asked(call, "part"),
            book: asked(call, "book").parse().ok(),
            skip: skipped(call),
        }
    }
}

/// `GET /desk`: a day as it stands: today, or that of `day` (`2026-11-24`). `q` finds members, `book` fills in whom the
/// form books; `part=found` is the list of those who were found alone.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let wanted = Wanted::read(call);
    if wanted.part == "found" {
        let zone = site.time_zone()?;
        let (day, query) = day_of(&zone, site.now(), &wanted.day);
        let found = found::of(site, &zone, day, query, &wanted.typed, call.language())?;
        return Ok(shown(StatusCode::OK, call.language(), &found));
    }
    page(site, call, clerk, wanted, None)
}

/// `GET /desk/live`: a stream of events, one whenever something changed that the page may show. Ends by itself, so that a
/// session that has ended hears nothing for long.
pub(crate) fn listen(_: &Site, _: &Call, _: &Clerk) -> Answer {
    const BEGIN: &str = "retry: 2000\n\n";
    let begin = reply::bytes("text/event-stream", BEGIN);
    Ok(begin.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

/// The page with the booking form as it was sent, which was refused.
pub(crate) fn refuse(site: &Site, call: &Call, clerk: &Clerk, sent: Sent) -> Answer {
    let typed = if sent.is_unclear() { sent.member.clone() } else { String::new() };
    page(site, call, clerk, Wanted { day: sent.day.clone(), typed, ..Wanted::default() }, Some(sent))
}

/// The day of a name, else today; and what names it in a query, before other fields.
fn day_of(zone: &TimeZone, now: i64, named: &str) -> (Day, String) {
    match zone.start_of(named) {
        Some(from) if named != zone.date(now) => (zone.day(from, 0), format!("day={named}&")),
        _ => (zone.day(now, 0), String::new()),
    }
}

fn page(site: &Site, call: &Call, clerk: &Clerk, wanted: Wanted, refused: Option<Sent>) -> Answer {
    let mut frame = Frame::of(site, call, clerk, "/desk")?;
    let (zone, now, language) = (site.time_zone()?, site.now(), call.language());
    let (day, query) = day_of(&zone, now, &wanted.day);
    let is_today = query.is_empty();
    let done = changes::done(site, call, &zone)?;
    let undo = done.as_ref().and_then(|done| done.undo);
    frame.done = done.map(|done| done.said);
    let question = Question { zone: &zone, day, now, skip: wanted.skip, language };
    let found = match wanted.typed.is_empty() {
        true => None,
        false => Some(found::of(site, &zone, day, query, &wanted.typed, language)?),
    };
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let weekday = call.say(WEEKDAYS[zone.weekday(day.from)]);
    // Who has just changed something comes after that.
    let count = if call.reads() { call.changes_before } else { site.store.change_feed().count() };
    let kept::Shown { arrivals, chart } = kept::of(site, &question, count, is_today, &weekday)?;
    let date = |days| zone.date_beside(day.from, days);
    let page = Page {
        title: if is_today { frame.say("desk.today") } else { weekday.clone() },
        date: format!("{weekday}, {}", when::day(language, &zone, day.from)),
        clock: zone.clock(now),
        is_today,
        days: Days { shown: date(0), before: date(-1), after: date(1), tomorrow: zone.date_beside(now, 1) },
        typed: wanted.typed,
        arrivals,
        found,
        book: book::of(site, call, (&zone, day, is_today), wanted.book, refused)?,
        undo,
        chart,
        waiting: waiting::list(site, language)?,
        frame,
    };
    Ok::<Reply, Failure>(shown(status, language, &page))
}
