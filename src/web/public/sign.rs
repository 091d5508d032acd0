//! Signing waivers on a phone: the target of a QR code of the kiosk or the desk. The code in the URL permits signing and nothing
//! else.

use super::{Frame, show};
use crate::app;
use crate::app::children;
use crate::app::waivers::{self, Due, Signing, links};
use crate::domain::ids::MemberId;
use crate::domain::waiver::SigningPlace;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::web::badge::Badge;
use crate::web::form_state::FormState;
use crate::web::kiosk::waiver::list_due;
use crate::web::waiver_form::{self, WaiverForm};
use crate::web::{check_waivers_required, client_error_text, done, form, form_status, query_text};
use askama::Template;
use http::StatusCode;

pub(super) const CODE_CHARS_MAX: usize = 64;

#[derive(Template)]
#[template(path = "public/sign.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    code: String,
    sheet: Option<WaiverForm>,
    /// Messages above, or instead of, the waiver.
    messages: Vec<Badge>,
    /// The form that adds a child; `None` where the signer may add none.
    child: Option<FormState>,
    /// The latest day of birth.
    today: String,
}

/// A form of the page that was refused.
pub(super) enum Submission {
    Nothing,
    Signature(Signing, String),
    Child(FormState),
}

/// `GET /sign`: the waivers of the member whose `code` it is.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let (code, language) = (query_text(call, "code"), language(call, &query_text(call, "lang")));
    let done = done(call, &[("child", "waiver.done_child")]).map(|_| language.say(&Text::new("waiver.done_child")));
    show_page(site, language, &code, Submission::Nothing, done)
}

/// The language of the link, else the browser's.
pub(super) fn language(call: &Call, tag: &str) -> Language {
    call.find_language(tag).unwrap_or_else(|| call.language())
}

pub(super) fn find(site: &Site, code: &str) -> Result<Option<MemberId>, Failure> {
    check_waivers_required(site)?;
    site.store.read(|tx| links::find(site, tx, code))
}

/// The page for an invalid or expired code.
pub(super) fn link_expired(site: &Site, language: Language) -> Answer {
    message_page(site, language, "bad", "waiver.link_over")
}

pub(super) fn page(site: &Site, language: Language, code: &str, sent: Submission) -> Answer {
    show_page(site, language, code, sent, None)
}

fn show_page(site: &Site, language: Language, code: &str, sent: Submission, done: Option<String>) -> Answer {
    let Some(member_id) = find(site, code)? else { return link_expired(site, language) };
    let (due, waiting) = list_due(site, member_id)?;
    if due.is_empty() && waiting.is_empty() {
        return message_page(site, language, "good", "waiver.all_signed");
    }
    let (signature, child) = match sent {
        Submission::Nothing => (None, None),
        Submission::Signature(signing, problem) => (Some((signing, problem)), None),
        Submission::Child(form) => (None, Some(form)),
    };
    let status = form_status(signature.is_some() || child.is_some());
    let may_have = site.store.read(|tx| children::may_have(site, tx, member_id))?;
    let child = may_have.then(|| child.unwrap_or_else(FormState::empty));
    let today = site.time_zone()?.date(site.now());
    let frame = Frame::named(site.name()?, language);
    let sheet = match due.is_empty() {
        true => None,
        false => Some(site.store.read(|tx| WaiverForm::read(tx, &due, language, false, signature.as_ref()))?),
    };
    let reason = |one: &Due| one.reason.map(|reason| frame.say(reason.key())).unwrap_or_default();
    let waits = waiting.iter().map(|one| Badge::new("soon", language.labelled(&one.name, &reason(one))));
    // The form shows its own problem.
    let problem = signature.map(|(_, problem)| problem).filter(|_| sheet.is_none());
    let messages = problem.map(|problem| Badge::new("bad", problem)).into_iter();
    let messages = messages.chain(done.map(|done| Badge::new("good", done))).chain(waits).collect();
    Ok(show(status, language, &Page { code: code.to_owned(), sheet, messages, frame, child, today }))
}

fn message_page(site: &Site, language: Language, tone: &'static str, key: &'static str) -> Answer {
    let frame = Frame::named(site.name()?, language);
    let status = if tone == "bad" { StatusCode::NOT_FOUND } else { StatusCode::OK };
    let messages = vec![Badge::new(tone, frame.say(key))];
    let page = Page { code: String::new(), sheet: None, messages, frame, child: None, today: String::new() };
    Ok(show(status, language, &page))
}

/// `POST /sign`: signs for all ticked flyers or for none, and ends the code.
pub(crate) fn sign(site: &Site, call: &Call) -> Answer {
    let mut form = form(call)?;
    let (code, lang) = (form.required("code", fields::line(CODE_CHARS_MAX)), form.line("lang", 5));
    let (code, language) = (code.as_str(), language(call, &lang));
    let Some(member_id) = find(site, code)? else { return link_expired(site, language) };
    let (due, _) = list_due(site, member_id)?;
    let signing = waiver_form::read(form, &due, SigningPlace::Phone)?;
    let signed = app::change(site, links::actor(call, member_id), language, |cx| {
        // The code may have been used since it was read.
        if links::find(site, cx.tx, code)? != Some(member_id) {
            return Err(Failure::not_found());
        }
        waivers::sign(cx, &signing)?;
        links::end(cx, member_id)
    });
    match signed {
        Ok(()) if signing.flyers.iter().any(|flyer| flyer.answers.contains('y')) => {
            message_page(site, language, "soon", "waiver.staff_next")
        }
        Ok(()) => message_page(site, language, "good", "waiver.done"),
        Err(failure) => {
            let problem = client_error_text(failure, language)?;
            page(site, language, code, Submission::Signature(signing, problem))
        }
    }
}
