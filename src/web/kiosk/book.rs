//! Booking at a kiosk, where the site lets people: some minutes from now on, for oneself and the children for whom one acts,
//! who are checked in with it.

use super::{Screen, show, status, words};
use crate::app::{self, kiosks, waivers};
use crate::auth::Guest;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::web::{form, form_number};
use askama::Template;

#[derive(Template)]
#[template(path = "kiosk/book.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    /// Numbers and names; the member first.
    flyers: Vec<(i64, String)>,
    minutes: Vec<i64>,
    number: i64,
    problem: Option<String>,
}

/// `GET /kiosk/book`: who flies, and for how long?
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, form_number(), None)
}

fn list_flyers(site: &Site, guest: &Guest) -> Result<Vec<(i64, String)>, Failure> {
    let due = site.store.read(|tx| waivers::list_due(site, tx, guest.member_id()))?;
    Ok(due.into_iter().map(|one| (one.member_id, one.name)).collect())
}

fn page(site: &Site, call: &Call, guest: &Guest, number: i64, problem: Option<String>) -> Answer {
    let minutes = site.config.kiosk_minutes.clone();
    if minutes.is_empty() {
        return Err(Failure::not_found());
    }
    let flyers = list_flyers(site, guest)?;
    let page = Page { screen: Screen::of(site, call, guest)?, flyers, minutes, number, problem };
    Ok(show(status(page.problem.as_ref()), call.language(), &page))
}

/// `POST /kiosk/book`: booked for all who are ticked, or for nobody; each is checked in whom the waiver allows it.
pub(crate) fn book(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let mut body = form(call)?;
    let number = body.required("number", fields::whole_in(1..=i64::from(u32::MAX) + 1));
    let minutes = body.required("minutes", fields::whole_in(1..=600));
    let all = list_flyers(site, guest)?;
    let mut flyers: Vec<i64> = all.iter().map(|(id, _)| *id).collect();
    if flyers.len() > 1 {
        flyers.retain(|id| body.optional(&format!("flies_{id}"), fields::line(5)).into_option().flatten().is_some());
    }
    let ok = body.finish()?;
    let (number, minutes) = (number.get(&ok), minutes.get(&ok));
    if flyers.is_empty() {
        return page(site, call, guest, number, Some(call.say("waiver.nobody_flies")));
    }
    let actor = super::actor(call, guest);
    let booked = app::change(site, actor, call.language(), |cx| kiosks::book(cx, &flyers, minutes, number));
    match booked {
        Ok(true) => Ok(reply::see_other("/kiosk/home?done=booked")),
        Ok(false) => Ok(reply::see_other("/kiosk/waiver")),
        Err(failure) => page(site, call, guest, number, Some(words(failure, call.language())?)),
    }
}

impl Page {
    /// The words on a key.
    fn said(&self, minutes: &i64) -> String {
        self.screen.tell(&Text::new("kiosk.book_minutes").with("minutes", minutes))
    }
}
