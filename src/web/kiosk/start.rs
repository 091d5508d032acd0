//! The start page of a kiosk with languages and ways to sign in; pairing of a browser as a kiosk; sign-out.

use super::{Screen, show};
use crate::app;
use crate::auth::Kiosk;
use crate::auth::kiosk::{self, Paired};
use crate::documents::qr;
use crate::http::Answer;
use crate::http::accept;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::kiosks::Kind;
use crate::web::{Frame, form, form_status, read_form};
use askama::Template;
use http::{HeaderName, HeaderValue, StatusCode};

const CODE_CHARS_MAX: usize = 20;

#[derive(Template)]
#[template(path = "kiosk/start.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    languages: [Language; 5],
    /// Whether a guest chose a language, which is forgotten at sign-out.
    chosen: bool,
    /// SVG with the URL for signing up on a phone.
    qr: String,
}

#[derive(Template)]
#[template(path = "kiosk/pair.html", config = "assets/templates/askama.toml")]
struct Unpaired {
    screen: Screen,
    /// Title of the page, and where a code is made.
    texts: [&'static str; 2],
    action: &'static str,
    problem: Option<String>,
}

/// The page that pairs this browser: the keys of its title and of where a code is made, and where its form is sent.
pub(crate) fn pairing_page(
    frame: Frame,
    (texts, action): ([&'static str; 2], &'static str),
    problem: Option<&'static str>,
) -> Reply {
    let (language, problem) = (frame.language(), problem.map(|key| frame.say(key)));
    let page = Unpaired { screen: Screen { frame, guest: None }, texts, action, problem };
    show(form_status(page.problem.is_some()), language, &page)
}

/// `GET /kiosk`: the start page, or the pairing form for an unpaired browser.
pub(crate) fn show_start(site: &Site, call: &Call) -> Answer {
    let Some(kiosk) = kiosk::find(site, call)? else { return unpaired(site, call, None) };
    if kiosk::find_guest(site, call, &kiosk)?.is_some() {
        return Ok(reply::see_other("/kiosk/home"));
    }
    let chosen = accept::chosen_at_kiosk(&call.headers).is_some();
    let join = format!("{}/join?language={}", site.public_url(), call.language().tag());
    let page = Page {
        screen: Screen::outside(site, call)?,
        languages: Language::ALL,
        chosen,
        qr: qr::svg(&join).ok_or_else(Failure::broken)?,
    };
    Ok(show(StatusCode::OK, call.language(), &page))
}

fn unpaired(site: &Site, call: &Call, problem: Option<&'static str>) -> Answer {
    Ok(pairing_page(Frame::outside(site, call)?, (["kiosk.pair_title", "kiosk.pair_first"], "/kiosk/pair"), problem))
}

/// `POST /kiosk/pair`: pairs this browser as a kiosk, with a code of the desk.
pub(crate) fn pair(site: &Site, call: &Call) -> Answer {
    let code = form(call)?.line("code", CODE_CHARS_MAX);
    match app::change_by_stranger(site, call, |cx| kiosk::pair(site, call, cx.tx, Kind::Kiosk, &code))? {
        Paired::Right(key) => Ok(kiosk::KEY.set(site, call, reply::see_other("/kiosk"), &key)),
        Paired::OfOtherKind => unpaired(site, call, Some("kiosk.pair_is_board")),
        Paired::Wrong => unpaired(site, call, Some("kiosk.pair_wrong")),
        Paired::Delayed => unpaired(site, call, Some("kiosk.wait")),
    }
}

/// `POST /kiosk/language`: sets the language until sign-out.
pub(crate) fn choose_language(site: &Site, call: &Call, _: &Kiosk) -> Answer {
    let tag = read_form(call, |form| form.required("language", fields::line(5)))?;
    let language = Language::ALL.into_iter().find(|one| one.tag() == tag).ok_or_else(Failure::not_found)?;
    Ok(kiosk::with_language(site, call, reply::see_other("/kiosk"), Some(language)))
}

/// `POST /kiosk/leave`: signs the guest out and clears the browser's cache and storage. Cookies stay, because one of them holds
/// the kiosk's key.
pub(crate) fn leave(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    // Ending the session requires the guest's cookie: a copy of the kiosk's key signs no guest out.
    if kiosk::find_guest(site, call, kiosk)?.is_some() {
        app::change_by_stranger(site, call, |cx| kiosk.end_guest(cx.tx))?;
    }
    let wiped = HeaderValue::from_static("\"cache\", \"storage\"");
    let reply = reply::see_other("/kiosk").with_header(HeaderName::from_static("clear-site-data"), wiped);
    Ok(kiosk::with_language(site, call, kiosk::GUEST.clear(site, call, reply), None))
}
