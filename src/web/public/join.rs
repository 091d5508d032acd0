//! Signing up on a phone: the target of the QR codes at the kiosk and on the entrance card.

use super::{Frame, show};
use crate::app::own_sign_in::{self, Entry};
use crate::app::signup::{self, SignupPlace};
use crate::app::waivers::links;
use crate::app::{self, flights};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::outbox::Channel;
use crate::web::form_state::{self, FormState};
use crate::web::member::sign_in::with_session;
use crate::web::{form_pairs, form_status, query_text};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "public/join.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    languages: [Language; 5],
    form: FormState,
    /// The latest day of birth.
    today: String,
}

#[derive(Template)]
#[template(path = "public/joined.html", config = "assets/templates/askama.toml")]
struct Welcome {
    frame: Frame,
    member_id: MemberId,
    pin: String,
    /// Path where the waiver is signed.
    sign: Option<String>,
    /// Whether the site sends mails; elsewhere the front desk confirms the address.
    mails: bool,
}

/// The chosen language, else the browser's.
fn language(call: &Call, chosen: &str) -> Language {
    call.find_language(chosen).unwrap_or_else(|| call.language())
}

fn frame(site: &Site, language: Language) -> Result<Frame, Failure> {
    Ok(Frame::named(site.name()?, language))
}

/// `GET /join`: the form, in the language of `?language=` or of the browser.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    page(site, language(call, &query_text(call, "language")), FormState::empty())
}

fn page(site: &Site, language: Language, form: FormState) -> Answer {
    let status = form_status(form.has_problems());
    let page = Page {
        frame: frame(site, language)?,
        languages: Language::ALL,
        today: site.time_zone()?.date(site.now()),
        form,
    };
    Ok(show(status, language, &page))
}

/// The path where a new member signs the waiver, on a site that requires one.
fn sign_link(site: &Site, call: &Call, member_id: MemberId, language: Language) -> Result<Option<String>, Failure> {
    if !site.config.waiver.required || site.store.read(|tx| flights::find_demand(site, tx))?.is_none() {
        return Ok(None);
    }
    let code = app::change(site, links::actor(call, member_id), language, |cx| links::make(cx, member_id))?;
    Ok(Some(format!("/sign?lang={}&code={code}", language.tag())))
}

/// `POST /join`: signs a member up and shows number and PIN once.
pub(crate) fn enter(site: &Site, call: &Call) -> Answer {
    let typed = form_pairs(call)?;
    let language = language(call, form_state::value(&typed, "language"));
    match signup::join(site, call, SignupPlace::Telephone, language, &typed) {
        Ok(joined) => {
            let page = Welcome {
                frame: frame(site, language)?,
                member_id: joined.member_id,
                sign: sign_link(site, call, joined.member_id, language)?,
                mails: site.delivers(Channel::Email),
                pin: joined.pin,
            };
            with_own_session(site, call, &typed, joined.member_id, show(StatusCode::OK, language, &page))
        }
        Err(failure) => FormState::refused(typed, failure, call, language, |form| page(site, language, form)),
    }
}

/// The page of a new member, who is signed in to the own pages from now on, as anybody with that password. Where that is refused,
/// the page leads to the sign-in.
fn with_own_session(site: &Site, call: &Call, typed: &[(String, String)], member_id: MemberId, page: Reply) -> Answer {
    let account = site.store.read(|tx| Ok(members::find_account_by_id(tx, member_id)?))?;
    let Some(account) = account else { return Ok(page) };
    match own_sign_in::with_password(site, call, &account.username, form_state::value(typed, "password")) {
        Ok(Entry::SignedIn(opened)) => Ok(with_session(site, call, page, &opened)),
        Ok(_) => Ok(page),
        Err(failure) if failure.status().is_client_error() => Ok(page),
        Err(failure) => Err(failure),
    }
}
