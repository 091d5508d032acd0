//! A fresh proof of identity, which rows that are declared `proven` ask for: by a code of the second factor, or by the password
//! where none is on. The form that was refused is carried along, and sent again once the proof is right.

use crate::app::second_factors::{self, Checked};
use crate::app::{self, credentials};
use crate::auth::sign_in::{self, OwnPassword};
use crate::auth::{Clerk, clerk};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::second_factors as factors;
use crate::web::desk::sign_in::safe_target;
use crate::web::{CODE_CHARS_MAX, Frame, form_pairs, form_status, read_form, show};
use askama::Template;
use http::StatusCode;

/// What the names of this page's own fields begin with; all other fields are those of the form that waits.
const OWN: &str = "prove_";
/// This page's own address.
const PATH: &str = "/desk/prove";
const TARGET_CHARS_MAX: usize = 200;

#[derive(Template)]
#[template(path = "desk/prove.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    username: String,
    /// Whether a second factor is on, whose code is asked for.
    by_code: bool,
    waiting: Waiting,
    /// The page to go back to without a proof.
    back: String,
    problem: Option<String>,
}

/// What goes on after the proof.
struct Waiting {
    /// The address of the form, or of the page.
    to: String,
    /// Whether a form is sent again; otherwise a page is opened.
    sends: bool,
    /// Names and values of the form.
    fields: Vec<(String, String)>,
}

/// The page for a call that was refused because the last proof is too long ago; 403.
pub(crate) fn ask(site: &Site, call: &Call) -> Answer {
    let Some(clerk) = clerk::find(site, call)? else { return Ok(clerk::to_sign_in(call)) };
    let back = safe_target(&Frame::of_refused_call(site, call).address);
    let to = match (call.reads(), call.query.is_empty()) {
        (true, false) => format!("{}?{}", call.path, call.query),
        _ => call.path.clone(),
    };
    let waiting = match call.form()? {
        Some(fields) if !call.reads() => Waiting { to, sends: true, fields },
        _ if call.reads() => Waiting { to, sends: false, fields: Vec::new() },
        // A file is chosen again on its page.
        _ => Waiting { to: back.clone(), sends: false, fields: Vec::new() },
    };
    page(site, call, clerk.id(), StatusCode::FORBIDDEN, waiting, back, None)
}

/// `POST /desk/prove`: judges the proof, which is good for ten minutes, and goes on with what waited for it.
pub(crate) fn prove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (secret, code, to, back, sends) = read_form(call, |form| {
        let secret = form.optional("prove_password", fields::secret);
        let code = form.optional("prove_code", fields::line(CODE_CHARS_MAX));
        let (to, back) = (form.line("prove_to", TARGET_CHARS_MAX), form.line("prove_back", TARGET_CHARS_MAX));
        // Sent to itself it would go round for ever.
        let is_own = to.starts_with(PATH);
        let to = if is_own { String::new() } else { to };
        (secret, code, safe_target(&to), safe_target(&back), form.has("prove_sends") && !is_own)
    })?;
    let has_factor = site.store.read(|tx| Ok(factors::find(tx, clerk.id(), site.now())?.kind.is_some()))?;
    let problem = match has_factor {
        true => by_code(site, call, clerk, code.as_deref())?,
        false => by_password(site, call, clerk, secret.as_deref())?,
    };
    match problem {
        None if sends => Ok(reply::send_again(&to)),
        None => Ok(reply::see_other(&to)),
        Some(problem) => {
            let fields = form_pairs(call)?.into_iter().filter(|(name, _)| !name.starts_with(OWN)).collect();
            let waiting = Waiting { to, sends, fields };
            page(site, call, clerk.id(), form_status(true), waiting, back, Some(problem))
        }
    }
}

/// The problem with a code in words; `None`: it is right.
fn by_code(site: &Site, call: &Call, clerk: &Clerk, code: Option<&str>) -> Result<Option<String>, Failure> {
    let checked = app::change(site, clerk, call.language(), |cx| {
        let checked = second_factors::check_code(cx, call, &cx.own()?, code)?;
        checked.then(|()| credentials::set_proven(cx, clerk.session()))
    })?;
    Ok(match checked {
        Checked::Passed(()) => None,
        Checked::Refused(problem) => Some(call.say(problem.key("desk.code_missing", "desk.code_wrong"))),
    })
}

/// The problem with a password in words; `None`: it is right.
fn by_password(site: &Site, call: &Call, clerk: &Clerk, secret: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(secret) = secret else { return Ok(Some(call.say("account.password_missing"))) };
    let proven = match sign_in::check_own_password(site, call, clerk.id(), secret)? {
        OwnPassword::Right(proven) => proven,
        OwnPassword::Refused(text) => return Ok(Some(call.language().say(&text))),
    };
    // The session may have ended, or the password changed, while the password was hashed.
    app::change(site, clerk, call.language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "prove_password")?;
        credentials::set_proven(cx, clerk.session())
    })?;
    Ok(None)
}

fn page(
    site: &Site,
    call: &Call,
    clerk_id: MemberId,
    status: StatusCode,
    waiting: Waiting,
    back: String,
    problem: Option<String>,
) -> Answer {
    let (account, factor) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, clerk_id)?.ok_or_else(Failure::not_signed_in)?;
        Ok((account, factors::find(tx, clerk_id, site.now())?.kind))
    })?;
    let frame = Frame::outside(site, call)?;
    let page = Page { frame, username: account.username, by_code: factor.is_some(), waiting, back, problem };
    Ok(show(status, call.language(), &page))
}
