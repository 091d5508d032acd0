//! Booking at a kiosk, where the settings allow it: a flight from now on, for the guest and their children, with check-in.

use super::{Screen, show};
use crate::app::bookings::Quarter;
use crate::app::{self, kiosks, waivers};
use crate::auth::Guest;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::web::{client_error_text, form, form_status, new_form_number, read_form_number};
use askama::Template;

#[derive(Template)]
#[template(path = "kiosk/book.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    /// IDs, names and whether they are ticked; the guest first.
    flyers: Vec<(MemberId, String, bool)>,
    minutes: Vec<i64>,
    number: i64,
    problem: Option<String>,
}

/// `GET /kiosk/book`: the form with flyers and minutes.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, new_form_number(), None)
}

/// Flyers who are ticked, and why the form was refused.
type Refused = (Vec<MemberId>, String);

fn list_flyers(site: &Site, guest: &Guest) -> Result<Vec<(MemberId, String)>, Failure> {
    let due = site.store.read(|tx| waivers::list_due(site, tx, guest.member_id()))?;
    Ok(due.into_iter().map(|one| (one.member_id, one.name)).collect())
}

fn page(site: &Site, call: &Call, guest: &Guest, number: i64, refused: Option<Refused>) -> Answer {
    let mut minutes = site.config.kiosk_minutes.clone();
    if minutes.is_empty() {
        return Err(Failure::not_found());
    }
    let quarter = site.store.read(|tx| Quarter::of(site, tx, site.now()))?;
    minutes.retain(|one| quarter.has_room(*one));
    let (ticked, problem) = refused.unzip();
    let is_ticked = |id| ticked.as_ref().is_none_or(|ticked| ticked.contains(&id));
    let flyers = list_flyers(site, guest)?.into_iter().map(|(id, name)| (id, name, is_ticked(id))).collect();
    let page = Page { screen: Screen::of(site, call, guest)?, flyers, minutes, number, problem };
    Ok(show(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /kiosk/book`: books for all ticked flyers or for none, and checks in those whose waiver is in force.
pub(crate) fn book(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let mut form = form(call)?;
    let number = form.required("number", read_form_number);
    let minutes = form.required("minutes", fields::whole_in(1..=600));
    let all = list_flyers(site, guest)?;
    let mut flyers: Vec<MemberId> = all.iter().map(|(id, _)| *id).collect();
    if flyers.len() > 1 {
        flyers.retain(|id| !form.line(&format!("flies_{id}"), 5).is_empty());
    }
    form.finish()?;
    if flyers.is_empty() {
        return page(site, call, guest, number, Some((flyers, call.say("waiver.nobody_flies"))));
    }
    let actor = super::actor(call, guest);
    let booked = app::change(site, actor, call.language(), |cx| kiosks::book(cx, &flyers, minutes, number));
    match booked {
        Ok(true) => Ok(reply::see_other("/kiosk/home?done=booked")),
        Ok(false) => Ok(reply::see_other("/kiosk/waiver")),
        Err(failure) => {
            let problem = client_error_text(failure, call.language())?;
            page(site, call, guest, number, Some((flyers, problem)))
        }
    }
}

impl Page {
    /// Label of a button.
    fn minutes_label(&self, minutes: &i64) -> String {
        self.screen.tell(&Text::new("kiosk.book_minutes").with("minutes", minutes))
    }
}
