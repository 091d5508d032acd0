//! The family page of a kiosk: the guest's children, and today's bookings of all, checked in one by one or together.

use super::{Screen, show};
use crate::app;
use crate::app::kiosks::DAY_BOOKINGS_MAX;
use crate::app::waivers::{self, Due};
use crate::app::{bookings as effect, children, family};
use crate::auth::{Guest, kiosk};
use crate::domain::ids::BookingId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::bookings;
use crate::store::tables::members::{self, Secrets};
use crate::web::badge::Badge;
use crate::web::{client_error_text, done, form_status};
use askama::Template;

const DONE: [(&str, &str); 1] = [("child", "kiosk.done_child")];

#[derive(Template)]
#[template(path = "kiosk/family.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    people: Vec<Person>,
    rows: Vec<Row>,
    /// Whether a waiver must be signed.
    signs: bool,
    /// Whether a booking is not checked in yet.
    is_open: bool,
    /// Whether the kiosk takes bookings.
    books: bool,
    /// Whether the guest may add children.
    may_have: bool,
    done: Option<String>,
    problem: Option<String>,
}

/// A child with the badge of its waiver.
struct Person {
    name: String,
    badge: Badge,
}

struct Row {
    booking_id: BookingId,
    name: String,
    clock: String,
    minutes: i64,
    arrived: Option<String>,
    /// Ticket for an offline check-in; `None` where the waiver is missing.
    ticket: Option<String>,
}

/// What the page shows of a family.
struct FamilyData {
    /// The guest, then the children.
    due: Vec<Due>,
    booked: Vec<(usize, bookings::OwnBooking)>,
    may_have: bool,
    secrets: Secrets,
}

/// `GET /kiosk/family`
pub(crate) fn show_page(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

/// The family with today's bookings; 404 where the guest has no children and may add none.
fn find(site: &Site, guest: &Guest) -> Result<FamilyData, Failure> {
    let day = site.time_zone()?.day(site.now(), 0);
    site.store.read(|tx| {
        let may_have = children::may_have(site, tx, guest.member_id())?;
        if !may_have && family::list_wards(site, tx, guest.member_id())?.is_empty() {
            return Err(Failure::not_found());
        }
        let due = waivers::list_due(site, tx, guest.member_id())?;
        let mut booked = Vec::new();
        for (place, one) in due.iter().enumerate() {
            let own = bookings::list_own(tx, site.tunnel_id, one.member_id, day.from, day.to, DAY_BOOKINGS_MAX)?;
            booked.extend(own.into_iter().map(|booking| (place, booking)));
        }
        let secrets = members::find_secrets(tx, guest.member_id())?.ok_or_else(Failure::not_found)?;
        Ok(FamilyData { due, booked, may_have, secrets })
    })
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let (zone, language) = (site.time_zone()?, call.language());
    let FamilyData { due, booked, may_have, secrets } = find(site, guest)?;
    let row = |(place, one): (usize, bookings::OwnBooking)| Row {
        booking_id: one.booking_id,
        name: due[place].name.clone(),
        clock: zone.clock(one.flight_date),
        minutes: one.minutes_booked,
        arrived: one.arrived_at.map(|at| zone.clock(at)),
        ticket: due[place].reason.is_none().then(|| kiosk::new_ticket(site, guest, &secrets, one.booking_id)),
    };
    let rows: Vec<Row> = booked.into_iter().map(row).collect();
    let page = Page {
        screen: Screen::of(site, call, guest)?,
        is_open: rows.iter().any(|row| row.arrived.is_none()),
        rows,
        signs: due.iter().any(|one| one.reason.is_some_and(|reason| reason.wants_signature())),
        people: due.into_iter().skip(1).map(|one| person(one, language)).collect(),
        books: !site.config.kiosk_minutes.is_empty(),
        may_have,
        done: done(call, &DONE),
        problem,
    };
    Ok(show(form_status(page.problem.is_some()), language, &page))
}

fn person(one: Due, language: Language) -> Person {
    let (tone, key) = one.reason.map_or(("good", "kiosk.family_cleared"), |reason| ("soon", reason.key()));
    Person { name: one.name, badge: Badge::new(tone, language.say(&Text::new(key))) }
}

/// `POST /kiosk/family`: checks in all open bookings or none.
pub(crate) fn check_in_all(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let waiting = find(site, guest)?.booked.into_iter().filter(|(_, one)| one.arrived_at.is_none());
    let waiting: Vec<BookingId> = waiting.map(|(_, one)| one.booking_id).collect();
    let actor = super::actor(call, guest);
    let checked_in = app::change(site, actor, call.language(), |cx| {
        waiting.iter().try_for_each(|booking_id| effect::check_in(cx, *booking_id).map(|_| ()))
    });
    match checked_in {
        Ok(()) => Ok(reply::see_other("/kiosk/home?done=arrived")),
        Err(failure) if failure.is(Failure::waiver_missing) => Ok(reply::see_other("/kiosk/waiver")),
        Err(failure) => page(site, call, guest, Some(client_error_text(failure, call.language())?)),
    }
}
