//! Logging flight time of today at a kiosk.

use super::{Screen, show};
use crate::app;
use crate::app::kiosks::DAY_BOOKINGS_MAX;
use crate::app::logbook::time;
use crate::auth::Guest;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::bookings;
use crate::store::tables::entries::NewTime;
use crate::web::{client_error_text, form, form_status, new_form_number};
use askama::Template;

#[derive(Template)]
#[template(path = "kiosk/time.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    number: i64,
    /// Minutes with a button each.
    usual: Vec<i64>,
    minutes: String,
    /// Texts about flight time that today's bookings have logged.
    logged: Vec<String>,
    problem: Option<String>,
}

/// `GET /kiosk/time`: the form.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, String::new(), None)
}

fn page(site: &Site, call: &Call, guest: &Guest, minutes: String, problem: Option<String>) -> Answer {
    let status = form_status(problem.is_some());
    let logged = list_logged(site, call, guest)?;
    let (screen, number) = (Screen::of(site, call, guest)?, new_form_number());
    let usual = site.config.usual_minutes.clone();
    let page = Page { screen, number, usual, minutes, logged, problem };
    Ok(show(status, call.language(), &page))
}

fn list_logged(site: &Site, call: &Call, guest: &Guest) -> Result<Vec<String>, Failure> {
    let zone = site.time_zone()?;
    let day = zone.day(site.now(), 0);
    let own = site.store.read(|tx| {
        Ok(bookings::list_own(tx, site.tunnel_id, guest.member_id(), day.from, day.to, DAY_BOOKINGS_MAX)?)
    })?;
    let say = |one: bookings::OwnBooking| {
        let text = Text::new("kiosk.time_logged").with("clock", zone.clock(one.flight_date));
        Some(call.language().say(&text.with("minutes", one.minutes_logged?)))
    };
    Ok(own.into_iter().filter_map(say).collect())
}

/// `POST /kiosk/time`: enters the minutes in the logbook; once, where a browser sends the form again.
pub(crate) fn enter(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let mut form = form(call)?;
    let (typed, number) = (form.line("minutes", 5), form.number());
    let Some(flown) = minutes::parse(&typed).filter(|minutes| minutes::MINUTES.contains(minutes)) else {
        return page(site, call, guest, typed, Some(call.say("kiosk.time_wrong")));
    };
    let new = NewTime { entry_date: site.now(), minutes: flown, tunnel_id: site.tunnel_id, comment: String::new() };
    let actor = super::actor(call, guest);
    let entered = app::change(site, actor, call.language(), |cx| {
        if cx.is_first_sending_of(number, &format!("{} {flown}", guest.member_id()))? {
            time::enter(cx, guest.member_id(), &new)?;
        }
        Ok(())
    });
    match entered {
        Ok(()) => Ok(reply::see_other("/kiosk/home?done=logged")),
        Err(failure) if failure.is(Failure::waiver_missing) => Ok(reply::see_other("/kiosk/waiver")),
        Err(failure) => page(site, call, guest, typed, Some(client_error_text(failure, call.language())?)),
    }
}
