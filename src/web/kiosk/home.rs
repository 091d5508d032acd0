//! The kiosk's screen after signing in: today's bookings, and the choices.

use super::{Screen, show, words};
use crate::app;
use crate::auth::Guest;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings;
use askama::Template;
use http::StatusCode;

/// Nobody flies more often in a day.
const BOOKINGS_MAX: i64 = 12;
/// Words that a page before this one may leave in its address, and what they say.
const DONE: [(&str, &str); 3] =
    [("arrived", "kiosk.done_arrived"), ("logged", "kiosk.done_logged"), ("asked", "kiosk.done_asked")];

#[derive(Template)]
#[template(path = "kiosk/home.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    bookings: Vec<Booked>,
    done: Option<String>,
    problem: Option<String>,
}

struct Booked {
    booking_id: i64,
    clock: String,
    minutes: i64,
    arrived: Option<String>,
}

/// `GET /kiosk/home`: today's bookings, and what can be done here.
pub(crate) fn show_home(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let mut query = call.query();
    let done = query.optional("done", fields::line(20));
    let done = query.finish().map(|ok| done.get(&ok)).ok().flatten();
    let known = DONE.iter().find(|(word, _)| done.as_deref() == Some(*word));
    let (hall, now) = (site.hall()?, site.now());
    let day = hall.day(now, 0);
    let own = site
        .store
        .read(|tx| Ok(bookings::list_own(tx, site.tunnel_id, guest.member_id(), day.from, day.to, BOOKINGS_MAX)?))?;
    let booked = |one: bookings::Own| Booked {
        booking_id: one.booking_id,
        clock: hall.clock(one.flight_date),
        minutes: one.minutes_booked,
        arrived: one.arrived_at.map(|at| hall.clock(at)),
    };
    let status = super::status(problem.as_ref());
    let page = Page {
        screen: Screen::of(site, call, guest)?,
        bookings: own.into_iter().map(booked).collect(),
        done: known.map(|(_, key)| call.say(key)),
        problem,
    };
    Ok(show(status, call.language(), &page))
}

/// `POST /kiosk/bookings/{booking_id}/check-in`: the member is here, by the rule of the desk; only for a booking of
/// today and of one's own.
pub(crate) fn check_in(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let booking_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let actor = super::actor(call, guest);
    match app::change(site, actor, call.language(), |cx| app::bookings::check_in(cx, booking_id)) {
        Ok(_) => Ok(reply::see_other("/kiosk/home?done=arrived")),
        Err(failure) => page(site, call, guest, Some(words(failure, call.language())?)),
    }
}

/// `POST /kiosk/here`: somebody touches the screen. The gate has noted the visit already.
pub(crate) fn stay(_: &Site, _: &Call, _: &Guest) -> Answer {
    Ok(reply::text(StatusCode::NO_CONTENT, ""))
}
