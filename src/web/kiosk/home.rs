//! The first screen after sign-in at a kiosk: currency, today's bookings, next flight and choices.

use super::{Screen, show};
use crate::app::kiosks::DAY_BOOKINGS_MAX;
use crate::app::waivers::brief;
use crate::app::{self, children, family, flights};
use crate::auth::{Guest, kiosk};
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::{Day, TimeZone};
use crate::domain::{minutes, when};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::standing::{self, Flyer};
use crate::store::queries::{holdings, logbook};
use crate::store::tables::bookings::{self, OwnBooking};
use crate::store::tables::media;
use crate::store::tables::members::{self, Secrets};
use crate::web::badge::{Badge, currency_badge};
use crate::web::flights_today;
use crate::web::{client_error_text, form_status, initials, path_id, query_text};
use askama::Template;
use http::StatusCode;

/// How far ahead the next flight is searched for.
const AHEAD_SECONDS: i64 = 400 * 86_400;
/// Values of `done` in the query, with the keys of their messages.
const DONE: [(&str, &str); 7] = [
    ("arrived", "kiosk.done_arrived"),
    ("logged", "kiosk.done_logged"),
    ("asked", "kiosk.done_asked"),
    ("photo", "kiosk.done_photo"),
    ("no-photo", "kiosk.done_no_photo"),
    ("signed", "waiver.done"),
    ("booked", "kiosk.done_booked"),
];

#[derive(Template)]
#[template(path = "kiosk/home.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    greeting: String,
    has_photo: bool,
    initials: String,
    currency: Badge,
    flown_today: String,
    flown: String,
    next_flight: Option<String>,
    bookings: Vec<Booked>,
    done: Option<String>,
    problem: Option<String>,
    /// Whether the waiver must be signed before flying.
    signs: bool,
    /// Whether the member has children or may add some.
    has_family: bool,
    /// Whether the safety brief must be read.
    reads_brief: bool,
    /// Whether the kiosk takes bookings.
    books: bool,
    has_certificates: bool,
}

/// A booking of today.
struct Booked {
    booking_id: BookingId,
    /// Ticket for an offline check-in.
    ticket: String,
    clock: String,
    minutes: i64,
    arrived: Option<String>,
    /// Text about minutes that are in the logbook already.
    logged: Option<String>,
}

/// `GET /kiosk/home`.
pub(crate) fn show_home(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let done = query_text(call, "done");
    let known = DONE.iter().find(|(word, _)| done == *word);
    let (zone, language) = (site.time_zone()?, call.language());
    let days = (site.arrivals_day(&zone, site.now()), zone.day(site.now(), 0));
    let own = site.store.read(|tx| read(site, tx, guest.member_id(), &days))?;
    let screen = Screen::of(site, call, guest)?;
    let name = screen.guest.clone().unwrap_or_default();
    let status = form_status(problem.is_some());
    let page = Page {
        greeting: language.say(&Text::new("kiosk.hello").with("name", &name)),
        initials: initials(&name),
        has_photo: own.has_photo,
        currency: currency_badge(&own.flyer, &zone, language, site.now()),
        flown_today: language.say(&Text::new("kiosk.flown_today").with_count("minutes", own.flown_today)),
        flown: language.say(&Text::new("kiosk.flown").with("time", minutes::show(own.flown))),
        next_flight: own.next.map(|next| {
            let when = when::moment(language, &zone, next.flight_date);
            language.say(&Text::new("kiosk.next_flight").with("when", when).with("minutes", next.minutes_booked))
        }),
        bookings: own
            .today
            .into_iter()
            .map(|one| booked(kiosk::new_ticket(site, guest, &own.secrets, one.booking_id), one, &zone, language))
            .collect(),
        done: known.map(|(_, key)| call.say(key)),
        problem,
        signs: own.signs,
        has_family: own.has_family,
        reads_brief: own.reads_brief,
        books: !site.config.kiosk_minutes.is_empty(),
        has_certificates: own.has_certificates,
        screen,
    };
    Ok(show(status, language, &page))
}

/// What the page shows about a member.
struct HomeData {
    today: Vec<OwnBooking>,
    /// The first booking after today.
    next: Option<OwnBooking>,
    flyer: Flyer,
    flown_today: i64,
    flown: i64,
    has_photo: bool,
    /// Secrets that the tickets are bound to: a change of them invalidates the tickets.
    secrets: Secrets,
    /// See the fields of [`Page`].
    signs: bool,
    has_family: bool,
    reads_brief: bool,
    has_certificates: bool,
}

/// Reads what the page shows; the days are those of the arrivals and of the flights.
fn read(site: &Site, tx: &Read, member_id: MemberId, (arrivals, day): &(Day, Day)) -> Result<HomeData, Failure> {
    let now = site.now();
    let list = |from, to, most| bookings::list_own(tx, site.tunnel_id, member_id, from, to, most);
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let flyer = standing::read(tx, member_id, now)?;
    Ok(HomeData {
        today: list(arrivals.from, arrivals.to, DAY_BOOKINGS_MAX)?,
        next: list(day.to, now + AHEAD_SECONDS, 1)?.pop(),
        flown_today: logbook::sum_flown_between(tx, member_id, (day.from, day.to.min(now + 1)))?
            + flights_today::sum_unlogged(site, tx, member_id, (day.from, day.to.min(now + 1)))?,
        flown: profile.flight_minutes - flyer.minutes_ahead,
        has_photo: media::exists(tx, member_id)?,
        secrets: members::find_secrets(tx, member_id)?.ok_or_else(Failure::not_found)?,
        signs: flights::find_denial(site, tx, member_id, now)?.is_some(),
        has_family: children::may_have(site, tx, member_id)? || !family::list_wards(site, tx, member_id)?.is_empty(),
        reads_brief: brief::is_due(site, tx, member_id)?,
        has_certificates: !holdings::list(tx, member_id)?.is_empty(),
        flyer,
    })
}

fn booked(ticket: String, one: OwnBooking, zone: &TimeZone, language: Language) -> Booked {
    let logged = |minutes: i64| language.say(&Text::new("kiosk.logged").with("minutes", minutes));
    Booked {
        booking_id: one.booking_id,
        ticket,
        clock: zone.clock(one.flight_date),
        minutes: one.minutes_booked,
        arrived: one.arrived_at.map(|at| zone.clock(at)),
        logged: one.minutes_logged.map(logged),
    }
}

/// `POST /kiosk/bookings/{booking_id}/check-in`: checks in a booking of today, of the guest or of their children.
pub(crate) fn check_in(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let booking_id = path_id(call, 0)?;
    let actor = super::actor(call, guest);
    match app::change(site, actor, call.language(), |cx| app::bookings::check_in(cx, booking_id)) {
        Ok(_) => Ok(reply::see_other("/kiosk/home?done=arrived")),
        Err(failure) if failure.is(Failure::waiver_missing) => Ok(reply::see_other("/kiosk/waiver")),
        Err(failure) => page(site, call, guest, Some(client_error_text(failure, call.language())?)),
    }
}

/// `POST /kiosk/here`: keeps the guest signed in after a touch. Authentication has extended the session already.
pub(crate) fn stay(_: &Site, _: &Call, _: &Guest) -> Answer {
    Ok(reply::text(StatusCode::NO_CONTENT, ""))
}
