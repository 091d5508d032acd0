//! *Today*, and any other day: arrivals, member search, booking form, minutes flown and the to-do list.

mod arrivals;
mod booking_form;
mod day_cache;
mod flight_chart;
mod search_results;
mod to_do;

pub(crate) use booking_form::BookingInput;

use super::bookings as changes;
use super::group_said;
use super::shift_note_view::{self, NoteView, RefusedNote};
use crate::auth::Clerk;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::{Day, TimeZone};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::web::{Frame, form_status, query_text, show as shown, skipped};
use arrivals::DayQuery;
use askama::Template;
use booking_form::BookingForm;
use flight_chart::Chart;
use http::StatusCode;
use search_results::SearchResults;
use std::sync::Arc;
use to_do::Task;

/// Keys of the weekdays' names, Monday first.
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
    found: Option<SearchResults>,
    book: BookingForm,
    /// Booking whose cancellation or no-show can be undone here.
    undo: Option<BookingId>,
    chart: Option<Arc<Chart>>,
    tasks: Vec<Task>,
    shift: NoteView,
}

/// A form of the page that was refused.
enum Refused {
    Booking(BookingInput),
    Note(RefusedNote),
}

/// Dates for the day picker, as `2026-11-24`.
struct Days {
    shown: String,
    before: String,
    after: String,
    tomorrow: String,
}

/// The query of the page.
#[derive(Default)]
struct PageQuery {
    day: String,
    typed: String,
    part: String,
    book: Option<MemberId>,
    skip: i64,
}

impl PageQuery {
    fn read(call: &Call) -> PageQuery {
        PageQuery {
            day: query_text(call, "day"),
            typed: query_text(call, "q"),
            part: query_text(call, "part"),
            book: query_text(call, "book").parse().ok(),
            skip: skipped(call),
        }
    }
}

/// `GET /desk`: today, or the day that `day` names (`2026-11-24`). `q` searches for members, `book` is the member to fill
/// into the booking form; with `part=found` the reply is the list of search results alone.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let page_query = PageQuery::read(call);
    if page_query.part == "found" {
        let zone = site.time_zone()?;
        let (day, query) = day_of(site, &zone, site.now(), &page_query.day);
        let found = search_results::search(site, &zone, day, query, &page_query.typed, call.language())?;
        return Ok(shown(StatusCode::OK, call.language(), &found));
    }
    page(site, call, clerk, page_query, None)
}

/// The page with a booking form that was refused.
pub(crate) fn refuse(site: &Site, call: &Call, clerk: &Clerk, sent: BookingInput) -> Answer {
    let typed = if sent.is_unclear() { sent.member.clone() } else { String::new() };
    page(
        site,
        call,
        clerk,
        PageQuery { day: sent.day.clone(), typed, ..PageQuery::default() },
        Some(Refused::Booking(sent)),
    )
}

/// The page with a shift note that was refused.
pub(super) fn refuse_note(site: &Site, call: &Call, clerk: &Clerk, refused: RefusedNote) -> Answer {
    page(site, call, clerk, PageQuery::default(), Some(Refused::Note(refused)))
}

/// The day that a date names, else today, at night with the evening before; and the query prefix that names the day, empty
/// for today.
fn day_of(site: &Site, zone: &TimeZone, now: Moment, named: &str) -> (Day, String) {
    match zone.start_of_date(named) {
        Some(from) if named != zone.date(now) => (zone.day(from, 0), format!("day={named}&")),
        _ => (site.arrivals_day(zone, now), String::new()),
    }
}

fn page(site: &Site, call: &Call, clerk: &Clerk, page_query: PageQuery, refused: Option<Refused>) -> Answer {
    let mut frame = Frame::of(site, call, clerk, "/desk")?;
    let (zone, now, language) = (site.time_zone()?, site.now(), call.language());
    let (day, query) = day_of(site, &zone, now, &page_query.day);
    // The day is named by its end: at night it begins in the evening before.
    let named = day.to - 1;
    let is_today = query.is_empty();
    if !is_today && !frame.address.is_empty() {
        frame.address = format!("/desk?{query}");
    }
    let done = group_said::done(site, call)?.map_or_else(|| changes::done(site, call, &zone), |done| Ok(Some(done)))?;
    let undo = done.as_ref().and_then(|done| done.undo);
    frame.done = done.map(|done| done.message);
    let day_query = DayQuery { zone: &zone, day, now, skip: page_query.skip, language };
    let found = match page_query.typed.is_empty() {
        true => None,
        false => Some(search_results::search(site, &zone, day, query, &page_query.typed, language)?),
    };
    let status = form_status(refused.is_some());
    let (sent, note) = match refused {
        Some(Refused::Booking(sent)) => (Some(sent), RefusedNote::default()),
        Some(Refused::Note(note)) => (None, note),
        None => Default::default(),
    };
    let weekday = call.say(WEEKDAYS[zone.weekday(named)]);
    // The reply to a change must show that change.
    let count = if call.reads() { call.changes_before } else { site.store.change_feed().count() };
    let day_cache::RenderedDay { arrivals, chart } = day_cache::render(site, &day_query, count, is_today, &weekday)?;
    let date = |days| zone.date_days_later(named, days);
    let page = Page {
        title: if is_today { frame.say("desk.today") } else { weekday.clone() },
        date: language.say(
            &Text::new("desk.weekday_and_day").with("weekday", &weekday).with("day", when::day(language, &zone, named)),
        ),
        clock: zone.clock(now),
        is_today,
        days: Days { shown: date(0), before: date(-1), after: date(1), tomorrow: zone.date_days_later(now, 1) },
        typed: page_query.typed,
        arrivals,
        found,
        book: booking_form::build(site, call, (&zone, day, is_today), page_query.book, sent)?,
        undo,
        chart,
        tasks: to_do::list(site, language, frame.admin)?,
        shift: shift_note_view::read(site, language, note)?,
        frame,
    };
    Ok::<Reply, Failure>(shown(status, language, &page))
}
