//! One adult, several flyers: today's bookings of the children for whom the member acts, checked in one by one or all at once.

use super::{Screen, show, words};
use crate::app;
use crate::app::{bookings as effect, family};
use crate::auth::Guest;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings;
use askama::Template;

/// Nobody flies more often in a day.
const BOOKINGS_MAX: i64 = 12;

#[derive(Template)]
#[template(path = "kiosk/family.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    rows: Vec<Row>,
    /// Whether somebody has not arrived yet.
    is_open: bool,
    problem: Option<String>,
}

struct Row {
    booking_id: i64,
    name: String,
    clock: String,
    minutes: i64,
    arrived: Option<String>,
}

/// `GET /kiosk/family`
pub(crate) fn show_page(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

/// Today's bookings of the member and of the children, with the names; none where the member acts for nobody.
fn list(site: &Site, guest: &Guest) -> Result<Vec<(String, bookings::Own)>, Failure> {
    let day = site.hall()?.day(site.now(), 0);
    site.store.read(|tx| {
        let wards = family::list_wards(site, tx, guest.member_id())?;
        if wards.is_empty() {
            return Err(Failure::not_found());
        }
        let mut found = Vec::new();
        let own = [(guest.member_id(), wards[0].guardian.clone())];
        for (member_id, name) in own.into_iter().chain(wards.into_iter().map(|ward| (ward.child_id, ward.child))) {
            let booked = bookings::list_own(tx, site.tunnel_id, member_id, day.from, day.to, BOOKINGS_MAX)?;
            found.extend(booked.into_iter().map(|one| (name.clone(), one)));
        }
        Ok(found)
    })
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let hall = site.hall()?;
    let row = |(name, one): (String, bookings::Own)| Row {
        booking_id: one.booking_id,
        name,
        clock: hall.clock(one.flight_date),
        minutes: one.minutes_booked,
        arrived: one.arrived_at.map(|at| hall.clock(at)),
    };
    let rows: Vec<Row> = list(site, guest)?.into_iter().map(row).collect();
    let is_open = rows.iter().any(|row| row.arrived.is_none());
    let status = super::status(problem.as_ref());
    let page = Page { screen: Screen::of(site, call, guest)?, rows, is_open, problem };
    Ok(show(status, call.language(), &page))
}

/// `POST /kiosk/family`: checks in all who have not arrived: all of them, or nobody.
pub(crate) fn check_in_all(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let waiting = list(site, guest)?.into_iter().filter(|(_, one)| one.arrived_at.is_none());
    let waiting: Vec<i64> = waiting.map(|(_, one)| one.booking_id).collect();
    let actor = super::actor(call, guest);
    let checked_in = app::change(site, actor, call.language(), |cx| {
        waiting.iter().try_for_each(|booking_id| effect::check_in(cx, *booking_id).map(|_| ()))
    });
    match checked_in {
        Ok(()) => Ok(reply::see_other("/kiosk/home?done=arrived")),
        Err(failure) if failure.code() == Failure::waiver_missing().code() => Ok(reply::see_other("/kiosk/waiver")),
        Err(failure) => page(site, call, guest, Some(words(failure, call.language())?)),
    }
}
