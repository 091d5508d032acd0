//! Signing on one's own telephone, where a QR code of the kiosk or the desk leads: the code signs, and nothing else.

use super::{Frame, show};
use crate::app;
use crate::app::waivers::{self, Due, Signing, links};
use crate::app::wards;
use crate::domain::waiver::Place;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::web::filled::Filled;
use crate::web::kiosk::waiver::list_due;
use crate::web::mark::Mark;
use crate::web::sheet::{self, Sheet};
use crate::web::{asked, done, form};
use askama::Template;
use http::{StatusCode, header};

pub(super) const CODE_CHARS_MAX: usize = 64;

#[derive(Template)]
#[template(path = "public/sign.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    code: String,
    sheet: Option<Sheet>,
    /// What is said instead of, or above, the waiver.
    said: Vec<Mark>,
    /// The form for a child; none where the signer may bring nobody along.
    child: Option<Filled>,
    /// The latest day of birth.
    today: String,
}

/// What was sent from the page, and refused.
pub(super) enum Sent {
    Nothing,
    Signature(Signing, String),
    Child(Filled),
}

/// `GET /sign`: the waiver of whose code it is.
pub(crate) fn ask(site: &Site, call: &Call) -> Answer {
    let (code, language) = (asked(call, "code"), language(call, &asked(call, "lang")));
    let done = done(call, &[("child", "waiver.done_child")]).map(|_| language.say(&Text::new("waiver.done_child")));
    show_page(site, language, &code, Sent::Nothing, done)
}

/// The one that the link names; else the browser's.
pub(super) fn language(call: &Call, tag: &str) -> Language {
    let browser = call.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let tag = if tag.is_empty() && browser.starts_with("it") { "it" } else { tag };
    Language::AT_KIOSK.into_iter().find(|one| one.tag() == tag).unwrap_or_else(|| call.language())
}

pub(super) fn find(site: &Site, code: &str) -> Result<Option<i64>, Failure> {
    if !site.config.waiver.required {
        return Err(Failure::not_found());
    }
    site.store.read(|tx| links::find(site, tx, code))
}

/// The code is no code, or over.
pub(super) fn over(site: &Site, language: Language) -> Answer {
    told(site, language, "bad", "waiver.link_over")
}

pub(super) fn page(site: &Site, language: Language, code: &str, sent: Sent) -> Answer {
    show_page(site, language, code, sent, None)
}

fn show_page(site: &Site, language: Language, code: &str, sent: Sent, done: Option<String>) -> Answer {
    let Some(member_id) = find(site, code)? else { return over(site, language) };
    let (due, waiting) = list_due(site, member_id)?;
    if due.is_empty() && waiting.is_empty() {
        return told(site, language, "good", "waiver.all_signed");
    }
    let (sent, problem, child) = match sent {
        Sent::Nothing => (None, None, None),
        Sent::Signature(signing, problem) => (Some(signing), Some(problem), None),
        Sent::Child(form) => (None, None, Some(form)),
    };
    let is_refused = problem.is_some() || child.is_some();
    let status = if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let may_have = site.store.read(|tx| wards::may_have(site, tx, member_id))?;
    let child = may_have.then(|| child.unwrap_or_else(Filled::empty));
    let today = site.time_zone()?.date(site.now());
    let frame = Frame::named(site.name()?, language);
    let sheet = match due.is_empty() {
        true => None,
        false => Some(site.store.read(|tx| Sheet::read(tx, &due, language, false, sent.as_ref()))?),
    };
    let reason = |one: &Due| one.reason.map(|reason| frame.say(reason.key())).unwrap_or_default();
    let waits = waiting.iter().map(|one| Mark::new("soon", format!("{}: {}", one.name, reason(one))));
    let said = problem.map(|problem| Mark::new("bad", problem)).into_iter();
    let said = said.chain(done.map(|done| Mark::new("good", done))).chain(waits).collect();
    Ok(show(status, language, &Page { code: code.to_owned(), sheet, said, frame, child, today }))
}

fn told(site: &Site, language: Language, tone: &'static str, key: &'static str) -> Answer {
    let frame = Frame::named(site.name()?, language);
    let status = if tone == "bad" { StatusCode::NOT_FOUND } else { StatusCode::OK };
    let said = vec![Mark::new(tone, frame.say(key))];
    let page = Page { code: String::new(), sheet: None, said, frame, child: None, today: String::new() };
    Ok(show(status, language, &page))
}

/// `POST /sign`: signed for all who are ticked, or for nobody. The code is used up.
pub(crate) fn take(site: &Site, call: &Call) -> Answer {
    let mut body = form(call)?;
    let code = body.required("code", fields::line(CODE_CHARS_MAX));
    let lang = body.optional("lang", fields::line(5));
    let (code, lang) = (code.into_option().unwrap_or_default(), lang.into_option().flatten().unwrap_or_default());
    sign(site, call, body, &code, language(call, &lang))
}

fn sign(site: &Site, call: &Call, body: Fields, code: &str, language: Language) -> Answer {
    let Some(member_id) = find(site, code)? else { return over(site, language) };
    let (due, _) = list_due(site, member_id)?;
    let signing = sheet::read(body, &due, Place::Phone)?;
    let signed = app::change(site, links::actor(call, member_id), language, |cx| {
        // Somebody may have been quicker.
        if links::find(site, cx.tx, code)? != Some(member_id) {
            return Err(Failure::not_found());
        }
        waivers::sign(cx, &signing)?;
        links::end(cx, member_id)
    });
    match signed {
        Ok(()) if signing.flyers.iter().any(|flyer| flyer.answers.contains('y')) => {
            told(site, language, "soon", "waiver.staff_next")
        }
        Ok(()) => told(site, language, "good", "waiver.done"),
        Err(failure) => {
            let problem = sheet::words(failure, language)?;
            page(site, language, code, Sent::Signature(signing, problem))
        }
    }
}
