//! The member's second factor: an authenticator app or passcodes that are sent, and the recovery codes.

use super::super::show;
use super::{PATH, prove, refuse};
use crate::app::second_factors::{self, Checked, Problem};
use crate::app::{self, Change};
use crate::auth::Member;
use crate::auth::second_factor::{self, RequiredCode, Requirement};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::members;
use crate::web::factor::{RecoveryCodesCard, RecoveryWords, SecretCard, SecretWords};
use crate::web::{CODE_CHARS_MAX, form_status, read_form, refused_form};
use http::StatusCode;

/// The part of the page that a problem belongs to.
const PART: &str = "factor";
const APP: &str = "/me/account/security/app";

const SECRET: SecretWords = SecretWords {
    title: "me.app",
    why: "me.app_why",
    picture: "me.app_picture",
    secret: "me.app_secret",
    code: "me.app_code",
    turn_on: "me.turn_on",
    action: "/me/account/security/app/confirm",
    back: (PATH, "me.back"),
};
const RECOVERY: RecoveryWords = RecoveryWords {
    title: "me.codes",
    username: "claim.username",
    made: "me.codes_made",
    why: "me.codes_why",
    used: "me.codes_used",
    print: "me.print",
    copy: "me.copy",
    copied: "me.copied",
    kept: "me.codes_kept",
    onward: PATH,
};

fn key(problem: Problem) -> &'static str {
    problem.key("me.code_missing", "me.code_wrong")
}

fn typed_code(call: &Call) -> Result<Option<String>, Failure> {
    read_form(call, |form| form.optional("code", fields::line(CODE_CHARS_MAX)))
}

/// `POST /me/account/security/app`: a new secret for an authenticator app. Where a factor is on, a code of it is needed.
pub(crate) fn begin(site: &Site, call: &Call, member: &Member) -> Answer {
    let code = typed_code(call)?;
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    let effect = |cx: &Change| second_factors::begin_app(cx, call, &cx.own()?, code.as_deref());
    match app::change(site, member, call.language(), effect) {
        Ok(Checked::Passed(())) => Ok(reply::see_other(APP)),
        Ok(Checked::Refused(problem)) => refuse(site, call, member, PART, call.say(key(problem))),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}

/// `GET /me/account/security/app`: the secret that waits for its first code.
pub(crate) fn show_secret(site: &Site, call: &Call, member: &Member) -> Answer {
    secret_card(site, call, member, None)
}

fn secret_card(site: &Site, call: &Call, member: &Member, problem: Option<&'static str>) -> Answer {
    let (secret, account) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
        Ok((second_factor::find_pending(site, tx, member.id())?, account))
    })?;
    // The secret opens the account, as the forms do.
    if let Some(asks) = prove::demand(site, member, APP) {
        return Ok(asks);
    }
    let Some(secret) = secret else { return Ok(reply::see_other(PATH)) };
    let card = SecretCard::new(site, call, &SECRET, &account.username, &secret, problem)?;
    Ok(show(form_status(problem.is_some()), call.language(), &card))
}

/// `POST /me/account/security/app/confirm`: the first code turns the app on, and ends the member's other sessions.
pub(crate) fn confirm(site: &Site, call: &Call, member: &Member) -> Answer {
    let code = read_form(call, |form| form.line("code", CODE_CHARS_MAX))?;
    if let Some(asks) = prove::demand(site, member, APP) {
        return Ok(asks);
    }
    let effect = |cx: &Change| second_factors::finish_app(cx, call, &cx.own()?, member.session(), &code);
    match app::change(site, member, call.language(), effect) {
        Ok(Checked::Passed(codes)) => show_codes(site, call, member, codes),
        Ok(Checked::Refused(problem @ Problem::NoneWaits)) => refuse(site, call, member, PART, call.say(key(problem))),
        Ok(Checked::Refused(problem)) => secret_card(site, call, member, Some(key(problem))),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}

/// `POST /me/account/security/passcodes`: passcodes by mail or SMS become the second factor.
pub(crate) fn turn_on_passcodes(site: &Site, call: &Call, member: &Member) -> Answer {
    read_form(call, |_| ())?;
    if let Some(asks) = prove::demand(site, member, PATH) {
        return Ok(asks);
    }
    let effect = |cx: &Change| {
        let account = cx.own()?;
        if second_factor::is_on(cx.tx, account.member_id)? {
            return Ok(None);
        }
        second_factors::turn_on_passcodes(cx, &account, member.session()).map(Some)
    };
    match app::change(site, member, call.language(), effect) {
        Ok(Some(codes)) => show_codes(site, call, member, codes),
        Ok(None) => Ok(reply::see_other(PATH)),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}

/// `POST /me/account/security/send`: sends the passcode that the forms ask for.
pub(crate) fn send_passcode(site: &Site, call: &Call, member: &Member) -> Answer {
    read_form(call, |_| ())?;
    let sent = app::change(site, member, call.language(), |cx| {
        match second_factor::requirement(site, cx.tx, &*cx.own()?, None)? {
            Requirement::Code(RequiredCode::Passcode(Some(to))) => {
                second_factor::send(site, call, cx.tx, member.id(), &to)
            }
            Requirement::Code(RequiredCode::Passcode(None)) => Err(Failure::nothing_confirmed()),
            _ => Err(Failure::second_factor_off()),
        }
    });
    match sent {
        Ok(()) => Ok(reply::see_other(&format!("{PATH}?done=sent"))),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}

/// `POST /me/account/security/codes`: new recovery codes in place of the old, with a code of the factor.
pub(crate) fn renew_codes(site: &Site, call: &Call, member: &Member) -> Answer {
    let code = typed_code(call)?;
    let effect = |cx: &Change| second_factors::renew_codes(cx, call, &cx.own()?, code.as_deref());
    match app::change(site, member, call.language(), effect) {
        Ok(Checked::Passed(codes)) => show_codes(site, call, member, codes),
        Ok(Checked::Refused(problem)) => refuse(site, call, member, PART, call.say(key(problem))),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}

/// `POST /me/account/security/off`: turns the factor off, with a code of it.
pub(crate) fn turn_off(site: &Site, call: &Call, member: &Member) -> Answer {
    let code = typed_code(call)?;
    let effect = |cx: &Change| {
        let account = cx.own()?;
        // Sent again, it is off already.
        match second_factor::is_on(cx.tx, account.member_id)? {
            true => second_factors::turn_off(cx, call, &account, member.session(), code.as_deref()),
            false => Ok(Checked::Passed(())),
        }
    };
    match app::change(site, member, call.language(), effect) {
        Ok(Checked::Passed(())) => Ok(reply::see_other(&format!("{PATH}?done=off"))),
        Ok(Checked::Refused(problem)) => refuse(site, call, member, PART, call.say(key(problem))),
        Err(failure) => refused_form(failure, call, |text| refuse(site, call, member, PART, text)),
    }
}

/// The recovery codes, shown once.
fn show_codes(site: &Site, call: &Call, member: &Member, codes: Vec<String>) -> Answer {
    let account = site.store.read(|tx| Ok(members::find_account_by_id(tx, member.id())?))?;
    let username = account.ok_or_else(Failure::not_signed_in)?.username;
    let card = RecoveryCodesCard::new(site, call, &RECOVERY, username, codes)?;
    Ok(show(StatusCode::OK, call.language(), &card))
}
