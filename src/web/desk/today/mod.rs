//! *Today*: who comes, who is here, what was flown, and what waits.

mod arrivals;
mod flown;
mod waiting;

use crate::auth::Clerk;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::Reply;
use crate::i18n::language::Text;
use crate::keys::random;
use crate::site::Site;
use crate::store::tables::bookings;
use crate::web::{Frame, show as shown};
use arrivals::Hour;
use askama::Template;
use flown::Chart;
use http::StatusCode;
use waiting::Waiting;

/// Words that a page before this one may leave in its address, and what they say.
const DONE: [(&str, &str); 3] =
    [("arrived", "desk.done_arrived"), ("undone", "desk.done_undone"), ("booked", "desk.done_booked")];
const WEEKDAYS: [&str; 7] = [
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
    date: String,
    clock: String,
    hours: Vec<Hour>,
    /// Arrivals before those that are shown; 0 where all are.
    earlier: i64,
    /// Arrivals after those that are shown, and how many of the day come before them.
    later: i64,
    skip_to: i64,
    counted: String,
    chart: Chart,
    waiting: Vec<Waiting>,
    walk_in: WalkIn,
}

/// The form of a booking at the desk, as it was filled in.
pub(crate) struct WalkIn {
    pub member: String,
    pub minutes: String,
    /// `14:30`, by the hall's clock.
    pub clock: String,
    /// By which the same form sent twice is known.
    pub number: i64,
    pub problem: Option<String>,
}

/// `GET /desk`: the day as it stands; `all` begins with its first arrival, `skip` with the one after so many.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// The page, with the booking form as it was sent where that was refused.
pub(crate) fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<WalkIn>) -> Answer {
    let mut query = call.query();
    let (done, skip) =
        (query.optional("done", fields::line(20)), query.optional("skip", fields::whole_in(0..=i64::MAX)));
    let (done, skip) = query.finish().map(|ok| (done.get(&ok), skip.get(&ok))).unwrap_or_default();
    let (all, skip) = (skip.is_some() || call.query.split('&').any(|pair| pair == "all"), skip.unwrap_or(0));
    let mut frame = Frame::of(site, call, clerk, "/desk")?;
    let known = DONE.iter().find(|(word, _)| done.as_deref() == Some(*word));
    frame.done = known.map(|(_, key)| call.say(key));
    let (hall, now) = (site.hall()?, site.now());
    let day = hall.day(now, 0);
    let from = if all { day.from } else { arrivals::first_shown(&day, now) };
    let (hours, earlier, expected, counted) = site.store.read(|tx| {
        let hours = arrivals::list(site, tx, &hall, ((from, day.to), skip), now, call.language())?;
        let (before, _) = bookings::count_arrivals(tx, site.tunnel_id, day.from, from)?;
        let (expected, here) = bookings::count_arrivals(tx, site.tunnel_id, day.from, day.to)?;
        let counted = Text::new("desk.counted").with("here", here).with("expected", expected);
        Ok((hours, (before + skip).min(expected), expected, counted))
    })?;
    let skip_to = earlier + hours.iter().map(|hour| hour.rows.len() as i64).sum::<i64>();
    let status = if refused.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let weekday = call.say(WEEKDAYS[hall.weekday(now)]);
    let page = Page {
        date: format!("{weekday}, {}", when::day(call.language(), &hall, now)),
        clock: hall.clock(now),
        hours,
        earlier,
        later: expected - skip_to,
        skip_to,
        counted: frame.tell(&counted),
        chart: flown::draw(site, &hall, now, &weekday, call.language())?,
        waiting: waiting::list(site, call.language())?,
        walk_in: refused.unwrap_or_else(|| WalkIn::empty(hall.clock(now + 5 * 60 - now.rem_euclid(5 * 60)))),
        frame,
    };
    Ok::<Reply, Failure>(shown(status, call.language(), &page))
}

impl WalkIn {
    fn empty(clock: String) -> WalkIn {
        // Positive, and exact in every program that reads numbers as floats.
        let number = i64::from(u32::from_ne_bytes(random())) + 1;
        WalkIn { member: String::new(), minutes: String::new(), clock, number, problem: None }
    }
}
