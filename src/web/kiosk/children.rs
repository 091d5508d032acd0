//! Adding a child at a kiosk: sign one up, or link the account of one by its number and PIN.

use super::{Screen, show};
use crate::app::children::{self, Child};
use crate::app::{self, Outcome, signup};
use crate::auth::{Guest, kiosk};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::form_state::FormState;
use crate::web::{client_error_text, form, form_pairs, form_status};
use askama::Template;
use http::StatusCode;

const NUMBER_CHARS_MAX: usize = 19;
const PIN_CHARS_MAX: usize = 12;

#[derive(Template)]
#[template(path = "kiosk/child.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    form: FormState,
}

#[derive(Template)]
#[template(path = "kiosk/child_link.html", config = "assets/templates/askama.toml")]
struct LinkPage {
    screen: Screen,
    number: String,
    problem: Option<String>,
}

/// 404 where the guest may not add children.
fn check_may_add(site: &Site, guest: &Guest) -> Result<(), Failure> {
    let may = site.store.read(|tx| children::may_have(site, tx, guest.member_id()))?;
    if may { Ok(()) } else { Err(Failure::not_found()) }
}

/// `GET /kiosk/family/child`: the form for name, date of birth and relation.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check_may_add(site, guest)?;
    let page = Page { screen: Screen::of(site, call, guest)?, form: FormState::empty() };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /kiosk/family/child`: signs a child up, with the guest as guardian.
pub(crate) fn sign_up(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check_may_add(site, guest)?;
    let typed = form_pairs(call)?;
    let actor = super::actor(call, guest);
    let signed_up = signup::check_rate(site, call, signup::SignupPlace::Kiosk(guest.kiosk_id()))
        .and_then(|()| Child::read(site.now(), &typed))
        .and_then(|child| app::change(site, actor, call.language(), |cx| children::sign_up(cx, &child)));
    match signed_up {
        Ok(_) => Ok(reply::see_other("/kiosk/family?done=child")),
        Err(failure) => FormState::refused(typed, failure, call, call.language(), |form| {
            let page = Page { screen: Screen::of(site, call, guest)?, form };
            Ok(show(StatusCode::UNPROCESSABLE_ENTITY, call.language(), &page))
        }),
    }
}

/// `GET /kiosk/family/link`: the form for number and PIN of a child with an account.
pub(crate) fn show_link(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check_may_add(site, guest)?;
    link_page(site, call, guest, String::new(), None)
}

fn link_page(site: &Site, call: &Call, guest: &Guest, number: String, problem: Option<String>) -> Answer {
    let page = LinkPage { screen: Screen::of(site, call, guest)?, number, problem };
    Ok(show(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /kiosk/family/link`: links a child, whose PIN proves its consent. Wrong PINs are delayed as at sign-in.
pub(crate) fn link(site: &Site, call: &Call, guest: &Guest) -> Answer {
    check_may_add(site, guest)?;
    let mut form = form(call)?;
    let typed = form.required("number", fields::line(NUMBER_CHARS_MAX));
    let pin = form.required("pin", fields::line(PIN_CHARS_MAX));
    let relation = form.optional("relation", children::read_relation);
    let (Ok(()), Some(relation)) = (form.finish(), relation) else {
        return link_page(site, call, guest, typed, Some(call.say("kiosk.link_missing")));
    };
    let child_id = typed.parse().unwrap_or_default();
    let actor = super::actor(call, guest);
    // A separate transaction: a failed attempt is counted even if the link is refused.
    let judged =
        app::change_by_stranger(site, call, |cx| kiosk::check_pin(site, call, cx.tx, &guest.kiosk(), child_id, &pin))?;
    let linked = match judged {
        Some(account) => {
            app::change(site, actor, call.language(), |cx| children::link(cx, account.member_id, relation))
        }
        None => return link_page(site, call, guest, typed, Some(call.say("kiosk.wrong_pin"))),
    };
    match linked {
        Ok(Outcome::Done | Outcome::Unchanged) => Ok(reply::see_other("/kiosk/family?done=child")),
        Err(failure) => link_page(site, call, guest, typed, Some(client_error_text(failure, call.language())?)),
    }
}
