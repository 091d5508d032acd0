//! The clerk's authenticator app: the first one, or one on another phone in place of the old.

use super::refuse;
use crate::app::{self, Change, SubjectAccount};
use crate::auth::second_factor::{self, Proof};
use crate::auth::{Clerk, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::site::Site;
use crate::store::tables::{members, second_factors};
use crate::web::desk::totp_setup::{self, RecoveryCodesPage};
use crate::web::{CODE_CHARS_MAX, read_form, show};
use http::StatusCode;

/// The part of the page that a problem belongs to.
pub(super) const PART: &str = "codes";

/// `POST /desk/account/authenticator`: a new secret for the app. Where a factor is on, a code of it or a recovery code is
/// needed, and the factor stays on until the first code of the new app.
pub(crate) fn begin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    clerk.check_proven(site.now())?;
    let code = read_form(call, |form| form.optional("code", fields::line(CODE_CHARS_MAX)))?;
    let begun = app::change(site, clerk, call.language(), |cx| {
        let account = cx.own()?;
        if second_factors::find(cx.tx, account.member_id, cx.now())?.kind.is_some() {
            let Some(code) = &code else { return Ok(Err("desk.code_missing")) };
            sign_in::check_not_delayed(site, call, cx.tx, &account)?;
            let prove = || second_factor::prove(site, call, cx.tx, &account, code);
            if let Some(key) = problem(&sign_in::check_code(site, call, cx.tx, &account, prove)?) {
                return Ok(Err(key));
            }
        }
        second_factor::begin_setup(site, cx.tx, account.member_id, &second_factor::new_secret())?;
        Ok(Ok(()))
    })?;
    match begun {
        Ok(()) => page(site, call, clerk, None),
        Err(key) => refuse(site, call, clerk, PART, call.say(key)),
    }
}

/// `POST /desk/account/authenticator/confirm`: the first code of the new app turns it on. New recovery codes are shown once;
/// the clerk's other sessions end.
pub(crate) fn confirm(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    clerk.check_proven(site.now())?;
    let code = read_form(call, |form| form.line("code", CODE_CHARS_MAX))?;
    match app::change(site, clerk, call.language(), |cx| finish(cx, call, clerk, &cx.own()?, &code))? {
        Ok((codes, username)) => {
            Ok(show(StatusCode::OK, call.language(), &RecoveryCodesPage::new(site, call, username, codes)?))
        }
        Err("factor.none_waits") => refuse(site, call, clerk, PART, call.say("factor.none_waits")),
        Err(key) => page(site, call, clerk, Some(key)),
    }
}

/// The recovery codes and the username; else the key of the problem.
type Finished = Result<(Vec<String>, String), &'static str>;

fn finish(cx: &Change, call: &Call, clerk: &Clerk, account: &SubjectAccount, code: &str) -> Result<Finished, Failure> {
    let (site, member_id) = (cx.site, account.member_id);
    if second_factor::find_pending(site, cx.tx, member_id)?.is_none() {
        return Ok(Err("factor.none_waits"));
    }
    sign_in::check_not_delayed(site, call, cx.tx, account)?;
    let prove = || Ok(second_factor::finish_setup(site, cx.tx, member_id, code)?.unwrap_or(Proof::Wrong));
    if let Some(key) = problem(&sign_in::check_code(site, call, cx.tx, account, prove)?) {
        return Ok(Err(key));
    }
    let session = Some(clerk.session());
    let codes = second_factor::finish_activation(site, cx.tx, member_id, session, cx.language, cx.actor)?;
    Ok(Ok((codes, account.username.clone())))
}

/// The key of the reason why a code does not prove.
fn problem(proof: &Proof) -> Option<&'static str> {
    match proof {
        Proof::Right(_) => None,
        Proof::Wrong | Proof::Delayed(_) => Some("desk.code_wrong"),
        Proof::Unusable(why) => Some(why),
    }
}

/// The page with the secret that waits.
fn page(site: &Site, call: &Call, clerk: &Clerk, problem: Option<&'static str>) -> Answer {
    let (secret, account) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, clerk.id())?.ok_or_else(Failure::not_signed_in)?;
        Ok((second_factor::find_pending(site, tx, clerk.id())?, account))
    })?;
    let Some(secret) = secret else { return refuse(site, call, clerk, PART, call.say("factor.none_waits")) };
    totp_setup::show_in_account(site, call, &account.username, &secret, problem)
}
