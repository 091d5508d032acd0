//! Sign-in at a kiosk: by number and PIN, by a code that the member's app shows, or by a passkey.

use super::{Screen, show};
use crate::app::{self, Change};
use crate::auth::passkey as ceremony;
use crate::auth::passkey::{Intent, Outcome};
use crate::auth::{Kiosk, kiosk, limits};
use crate::domain::card;
use crate::http::Answer;
use crate::http::accept;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::cards;
use crate::store::tables::members::{self, Account};
use crate::web::{CREDENTIAL_CHARS_MAX, form, form_status};
use askama::Template;

const NUMBER_CHARS_MAX: usize = 19;
const PIN_CHARS_MAX: usize = 12;
const SCAN_CHARS_MAX: usize = 200;
const CARD_CHARS_MAX: usize = 64;

#[derive(Template)]
#[template(path = "kiosk/number.html", config = "assets/templates/askama.toml")]
struct NumberPage {
    screen: Screen,
    number: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "kiosk/scan.html", config = "assets/templates/askama.toml")]
struct ScanPage {
    screen: Screen,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "kiosk/passkey.html", config = "assets/templates/askama.toml")]
struct PasskeyPage {
    screen: Screen,
    problem: Option<String>,
}

/// `GET /kiosk/number`: the form for number and PIN.
pub(crate) fn show_number(site: &Site, call: &Call, _: &Kiosk) -> Answer {
    number_page(site, call, String::new(), None)
}

fn number_page(site: &Site, call: &Call, number: String, problem: Option<&'static str>) -> Answer {
    let problem = problem.map(|key| call.say(key));
    let page = NumberPage { screen: Screen::outside(site, call)?, number, problem };
    Ok(show(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /kiosk/number`: a member's number and booking PIN.
pub(crate) fn by_number(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    let mut form = form(call)?;
    let typed = form.required("number", fields::line(NUMBER_CHARS_MAX));
    let pin = form.required("pin", fields::line(PIN_CHARS_MAX));
    if form.finish().is_err() {
        return number_page(site, call, typed, Some("kiosk.both_needed"));
    }
    // Text that is no number is judged like an unknown number.
    let member_id = typed.parse().unwrap_or_default();
    let outcome =
        app::change_by_stranger(site, call, |cx| match kiosk::check_pin(site, call, cx.tx, kiosk, member_id, &pin)? {
            Some(account) => enter(cx, kiosk, &account),
            None => Ok(Entry::Refused("kiosk.wrong_pin")),
        })?;
    answer(site, call, outcome, |key| number_page(site, call, typed, Some(key)))
}

/// `POST /kiosk/card`: fills in the member number of a card or wristband; the PIN is still needed.
pub(crate) fn by_card(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    limits::CARDS.take(site, kiosk.id())?;
    let typed = form(call)?.line("card", CARD_CHARS_MAX);
    let owner = match card::parse(&typed) {
        Some(number) => site.store.read(|tx| Ok(cards::find(tx, &number)?))?,
        None => None,
    };
    match owner {
        Some(member_id) => number_page(site, call, member_id.to_string(), None),
        None => number_page(site, call, String::new(), Some("kiosk.card_unknown")),
    }
}

/// `GET /kiosk/scan`: a field for a scanner that types, and the camera.
pub(crate) fn show_scan(site: &Site, call: &Call, _: &Kiosk) -> Answer {
    scan_page(site, call, None)
}

fn scan_page(site: &Site, call: &Call, problem: Option<&'static str>) -> Answer {
    let page = ScanPage { screen: Screen::outside(site, call)?, problem: problem.map(|key| call.say(key)) };
    Ok(show(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /kiosk/scan`: signs in with the code of the member's app. The code is too long to be guessed, so wrong codes are not
/// delayed.
pub(crate) fn by_code(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    let code = form(call)?.line("code", SCAN_CHARS_MAX);
    if code.is_empty() {
        return scan_page(site, call, Some("kiosk.scan_wrong"));
    }
    let outcome = app::change_by_stranger(site, call, |cx| match kiosk::take_code(call, cx.tx, &code)? {
        Some(account) => enter(cx, kiosk, &account),
        None => Ok(Entry::Refused("kiosk.scan_wrong")),
    })?;
    answer(site, call, outcome, |key| scan_page(site, call, Some(key)))
}

/// `GET /kiosk/passkey`: the form for a passkey.
pub(crate) fn show_passkey(site: &Site, call: &Call, _: &Kiosk) -> Answer {
    passkey_page(site, call, None)
}

fn passkey_page(site: &Site, call: &Call, problem: Option<&'static str>) -> Answer {
    let page = PasskeyPage { screen: Screen::outside(site, call)?, problem: problem.map(|key| call.say(key)) };
    Ok(show(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /kiosk/passkey`: the answer to a challenge of `/api/auth/login/bio-web-option`.
pub(crate) fn by_passkey(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    let credential = form(call)?.lines("credential", CREDENTIAL_CHARS_MAX);
    let refused = |key| passkey_page(site, call, Some(key));
    if credential.is_empty() {
        return refused("kiosk.passkey_refused");
    }
    let Some(proof) = ceremony::check_response(site, call, &credential, Intent::Kiosk)? else {
        return refused("kiosk.passkey_refused");
    };
    let outcome = app::change_by_stranger(site, call, |cx| match ceremony::apply(site, call, cx.tx, &proof)? {
        Outcome::SignedIn(account) => enter(cx, kiosk, &account),
        Outcome::Registered(_) | Outcome::Refused => Ok(Entry::Refused("kiosk.passkey_refused")),
    })?;
    answer(site, call, outcome, refused)
}

/// The outcome of a sign-in. A refusal is no denial, so that a miss stays counted.
enum Entry {
    /// The token of the guest's session, and the guest's language.
    Opened(String, Option<Language>),
    /// The key of the reason.
    Refused(&'static str),
}

/// Opens a guest's session.
fn enter(cx: &Change, kiosk: &Kiosk, account: &Account) -> Result<Entry, Failure> {
    let Some(token) = kiosk::enter(cx.tx, kiosk, account)? else { return Ok(Entry::Refused("kiosk.closed")) };
    let tag = members::find_language(cx.tx, account.member_id)?.unwrap_or_default();
    Ok(Entry::Opened(token, Language::ALL.into_iter().find(|one| one.tag() == tag)))
}

/// The reply to a sign-in: the home page, else the form with the reason.
fn answer(site: &Site, call: &Call, outcome: Entry, refused: impl FnOnce(&'static str) -> Answer) -> Answer {
    match outcome {
        Entry::Opened(token, language) => {
            let reply = kiosk::with_guest_cookie(site, call, reply::see_other("/kiosk/home"), &token);
            // The kiosk speaks the guest's language until the sign-out, unless the guest chose another one at the start.
            let language = language.filter(|_| accept::chosen_at_kiosk(&call.headers).is_none());
            Ok(language.into_iter().fold(reply, |reply, one| kiosk::with_language(site, call, reply, Some(one))))
        }
        Entry::Refused(key) => refused(key),
    }
}
