//! Children whom an adult brings along at a kiosk: signed up here, or linked by the child's own number and PIN.

use super::{Screen, show, status, words};
use crate::app::wards::{self, Child};
use crate::app::{self, Outcome, signup};
use crate::auth::{Guest, kiosk};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::filled::Filled;
use crate::web::form;
use askama::Template;
use http::StatusCode;

const NUMBER_CHARS_MAX: usize = 19;
const PIN_CHARS_MAX: usize = 12;

#[derive(Template)]
#[template(path = "kiosk/child.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    form: Filled,
}

#[derive(Template)]
#[template(path = "kiosk/child_link.html", config = "assets/templates/askama.toml")]
struct LinkPage {
    screen: Screen,
    number: String,
    problem: Option<String>,
}

/// 404 for who may bring nobody along.
fn check(site: &Site, guest: &Guest) -> Result<(), Failure> {
    let may = site.store.read(|tx| wards::may_have(site, tx, guest.member_id()))?;
    if may { Ok(()) } else { Err(Failure::not_found()) }
}

/// `GET /kiosk/family/child`: name, day of birth, and by what right.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check(site, guest)?;
    let page = Page { screen: Screen::of(site, call, guest)?, form: Filled::empty() };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /kiosk/family/child`: a member more, for whom the guest acts.
pub(crate) fn sign_up(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check(site, guest)?;
    signup::check_rate(site, call, signup::Place::Kiosk(guest.kiosk_id()))?;
    let typed: Vec<(String, String)> = call.form()?.ok_or_else(Failure::unsupported_type)?.into_iter().collect();
    let actor = super::actor(call, guest);
    let signed_up = Child::read(site.now(), &typed)
        .and_then(|child| app::change(site, actor, call.language(), |cx| wards::sign_up(cx, &child)));
    match signed_up {
        Ok(_) => Ok(reply::see_other("/kiosk/family?done=child")),
        Err(failure) if failure.problems().is_empty() => Err(failure),
        Err(failure) => {
            let form = Filled::refused(typed, &failure, call.language());
            let page = Page { screen: Screen::of(site, call, guest)?, form };
            Ok(show(StatusCode::UNPROCESSABLE_ENTITY, call.language(), &page))
        }
    }
}

/// `GET /kiosk/family/link`: keys for the number and the PIN of a child that has an account.
pub(crate) fn show_link(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check(site, guest)?;
    link_page(site, call, guest, String::new(), None)
}

fn link_page(site: &Site, call: &Call, guest: &Guest, number: String, problem: Option<String>) -> Answer {
    let page = LinkPage { screen: Screen::of(site, call, guest)?, number, problem };
    Ok(show(status(page.problem.as_ref()), call.language(), &page))
}

/// `POST /kiosk/family/link`: the child's PIN says that the child agrees. A wrong one delays as at the kiosk's sign-in.
pub(crate) fn link(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check(site, guest)?;
    let mut body = form(call)?;
    let number = body.required("number", fields::line(NUMBER_CHARS_MAX));
    let pin = body.required("pin", fields::line(PIN_CHARS_MAX));
    let relation = body.required("relation", wards::read_relation);
    let typed = number.peek().cloned().unwrap_or_default();
    let Ok(ok) = body.finish() else {
        return link_page(site, call, guest, typed, Some(call.say("kiosk.link_missing")));
    };
    let (pin, relation) = (pin.get(&ok), relation.get(&ok));
    let child_id = typed.parse().unwrap_or(0);
    let actor = super::actor(call, guest);
    // What a wrong PIN counts is kept, whatever becomes of the link.
    let judged = site.store.write(site.now(), |tx| kiosk::judge(site, call, tx, &guest.kiosk(), child_id, &pin))?;
    let linked = match judged {
        Some(account) => app::change(site, actor, call.language(), |cx| wards::link(cx, account.member_id, relation)),
        None => return link_page(site, call, guest, typed, Some(call.say("kiosk.wrong_pin"))),
    };
    match linked {
        Ok(Outcome::Done | Outcome::Unchanged) => Ok(reply::see_other("/kiosk/family?done=child")),
        Err(failure) => link_page(site, call, guest, typed, Some(words(failure, call.language())?)),
    }
}
