//! The clerk's authenticator app: the first one, or one on another phone in place of the old; and the recovery codes.

use super::refuse;
use crate::app;
use crate::app::second_factors::{self, Checked, Problem};
use crate::auth::{Clerk, second_factor};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::site::Site;
use crate::store::tables::members;
use crate::web::desk::totp_setup::{ACCOUNT_WORDS, RECOVERY_WORDS};
use crate::web::factor::{RecoveryCodesCard, SecretCard};
use crate::web::{CODE_CHARS_MAX, form_status, read_form, show};
use http::StatusCode;

/// The part of the page that a problem belongs to.
const PART: &str = "codes";

/// The key of the text of a problem with a code.
fn key(problem: Problem) -> &'static str {
    problem.key("desk.code_missing", "desk.code_wrong")
}

/// `POST /desk/account/authenticator`: a new secret for the app. Where a factor is on, a code of it or a recovery code is
/// needed, and the factor stays on until the first code of the new app.
pub(crate) fn begin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let code = read_form(call, |form| form.optional("code", fields::line(CODE_CHARS_MAX)))?;
    let begun = app::change(site, clerk, call.language(), |cx| {
        second_factors::begin_app(cx, call, &cx.own()?, code.as_deref())
    })?;
    match begun {
        Checked::Passed(()) => page(site, call, clerk, None),
        Checked::Refused(problem) => refuse(site, call, clerk, PART, call.say(key(problem))),
    }
}

/// `POST /desk/account/authenticator/confirm`: the first code of the new app turns it on. New recovery codes are shown once;
/// the clerk's other sessions end.
pub(crate) fn confirm(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let code = read_form(call, |form| form.line("code", CODE_CHARS_MAX))?;
    let finished = app::change(site, clerk, call.language(), |cx| {
        let account = cx.own()?;
        let codes = second_factors::finish_app(cx, call, &account, clerk.session(), &code)?;
        codes.then(|codes| Ok((account.username.clone(), codes)))
    })?;
    match finished {
        Checked::Passed((username, codes)) => show_codes(site, call, username, codes),
        Checked::Refused(problem @ Problem::NoneWaits) => refuse(site, call, clerk, PART, call.say(key(problem))),
        Checked::Refused(problem) => page(site, call, clerk, Some(key(problem))),
    }
}

/// `POST /desk/account/recovery-codes`: makes ten new recovery codes and shows them once; needs a code of the authenticator
/// app.
pub(crate) fn renew_codes(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let code = read_form(call, |form| form.optional("code", fields::line(CODE_CHARS_MAX)))?;
    let renewed = app::change(site, clerk, call.language(), |cx| {
        let account = cx.own()?;
        let codes = second_factors::renew_codes(cx, call, &account, code.as_deref())?;
        codes.then(|codes| Ok((account.username.clone(), codes)))
    })?;
    match renewed {
        Checked::Passed((username, codes)) => show_codes(site, call, username, codes),
        Checked::Refused(problem) => refuse(site, call, clerk, PART, call.say(key(problem))),
    }
}

/// The recovery codes, shown once.
fn show_codes(site: &Site, call: &Call, username: String, codes: Vec<String>) -> Answer {
    let card = RecoveryCodesCard::new(site, call, &RECOVERY_WORDS, username, codes)?;
    Ok(show(StatusCode::OK, call.language(), &card))
}

/// The page with the secret that waits.
fn page(site: &Site, call: &Call, clerk: &Clerk, problem: Option<&'static str>) -> Answer {
    let (secret, account) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, clerk.id())?.ok_or_else(Failure::not_signed_in)?;
        Ok((second_factor::find_pending(site, tx, clerk.id())?, account))
    })?;
    let Some(secret) = secret else { return refuse(site, call, clerk, PART, call.say("factor.none_waits")) };
    let card = SecretCard::new(site, call, &ACCOUNT_WORDS, &account.username, &secret, problem)?;
    Ok(show(form_status(problem.is_some()), call.language(), &card))
}
