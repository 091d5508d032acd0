//! Actions on one entry at the desk: sign, deny, withdraw, delete, suspend, reinstate. To sign or deny, the signer proves their
//! identity with their own credentials in the clerk's browser.

use super::entry::{self, DENIAL_BOUND, SignForm};
use crate::app::logbook::sign_offs::{self, Shown};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::app::{self, Change, RankedActor};
use crate::auth::Clerk;
use crate::auth::challenge::Intent;
use crate::auth::passkey;
use crate::auth::sign_in;
use crate::auth::signer::{self, ProofOutcome};
use crate::domain::entry::Status;
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::skills::{self, SkillEntry};
use crate::web::desk::signer_proof::{self, Outcome};
use crate::web::{CODE_CHARS_MAX, CREDENTIAL_CHARS_MAX, form, path_id};
use http::StatusCode;

const STEP_CHARS_MAX: usize = 128;

/// `POST /desk/sign-offs/{entry_id}/sign`: signs with the signer's password, and a code where one is due.
pub(crate) fn sign(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let username = body.optional("username", fields::line(254));
    let secret = body.optional("password", fields::secret);
    let code = body.optional("code", fields::line(CODE_CHARS_MAX));
    let step = body.optional("step", fields::line(STEP_CHARS_MAX));
    let comment = body.optional("comment", fields::lines(COMMENT_CHARS_MAX));
    let version = body.optional("version", fields::id);
    let by_app = body.has("by_app");
    let ok = body.finish()?;
    let entry_id = path_id(call, 0)?;
    let (secret, code, step) = (secret.get(&ok), code.get(&ok).unwrap_or_default(), step.get(&ok));
    let sent = SignForm {
        username: username.get(&ok).unwrap_or_default(),
        comment: comment.get(&ok).unwrap_or_default(),
        version: version.get(&ok),
        by_app,
        ..SignForm::default()
    };
    match (step, secret) {
        (Some(step), _) => {
            let again = SignForm { step: Some(step.clone()), ..sent };
            prove(site, call, clerk, again, |tx| {
                signer::by_code(site, call, tx, &step, &code, Intent::SignEntry(entry_id))
            })
        }
        (None, Some(secret)) if !sent.username.is_empty() => {
            let account = sign_in::check_password(site, call, &sent.username, &secret)?;
            prove(site, call, clerk, sent, |tx| {
                signer::by_password(site, call, tx, account.as_ref(), Intent::SignEntry(entry_id))
            })
        }
        (None, _) => refuse(site, call, clerk, sent, "desk.sign_missing"),
    }
}

/// `POST /desk/sign-offs/{entry_id}/passkey`: signs with the signer's passkey.
pub(crate) fn sign_by_passkey(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let credential = body.optional("credential", fields::lines(CREDENTIAL_CHARS_MAX));
    let username = body.optional("username", fields::line(254));
    let comment = body.optional("comment", fields::lines(COMMENT_CHARS_MAX));
    let version = body.optional("version", fields::id);
    let ok = body.finish()?;
    let sent = SignForm {
        username: username.get(&ok).unwrap_or_default(),
        comment: comment.get(&ok).unwrap_or_default(),
        version: version.get(&ok),
        ..SignForm::default()
    };
    let intent = passkey::Intent::SignEntry(path_id(call, 0)?);
    let Some(answer) = passkey::check_response(site, call, &credential.get(&ok).unwrap_or_default(), intent)? else {
        return refuse(site, call, clerk, sent, "proof.passkey_refused");
    };
    prove(site, call, clerk, sent, |tx| signer::by_passkey(site, call, tx, &answer))
}

/// `POST /desk/sign-offs/{entry_id}/deny`: the requested signer denies, with a reason that the member is told.
pub(crate) fn deny(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let reason = body.optional("reason", fields::lines(COMMENT_CHARS_MAX));
    let version = body.optional("version", fields::id);
    let ok = body.finish()?;
    let (reason, version) = (reason.get(&ok), version.get(&ok));
    let Some(reason) = reason else {
        let denial_problem = Some(call.say("desk.deny_missing"));
        return entry::page(site, call, clerk, Some(SignForm { denial_problem, version, ..SignForm::default() }));
    };
    let shown = Shown::version(version);
    let outcome = signer_proof::carry_out(site, call, clerk, DENIAL_BOUND, &String::new, |cx| {
        let entry = find(call, cx)?;
        sign_offs::deny(cx, &entry, &shown, &reason).map(drop)
    })?;
    match outcome {
        Outcome::Done => Ok(reply::see_other(&format!("/desk/sign-offs/{}?done=denied", call.param(0)))),
        Outcome::Again(status, proof) => {
            // A changed entry is shown in its new version, to be denied again.
            let version = version.filter(|_| status != StatusCode::CONFLICT);
            let form = SignForm { denial: Some((status, *proof)), reason, version, ..SignForm::default() };
            entry::page(site, call, clerk, Some(form))
        }
    }
}

/// `POST /desk/sign-offs/{entry_id}/withdraw`: the clerk withdraws the request for the member; the signer is notified.
pub(crate) fn withdraw(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    act(site, call, clerk, "withdrawn", sign_offs::cancel)
}

/// `POST /desk/sign-offs/{entry_id}/delete`: the clerk deletes an unsigned entry.
pub(crate) fn delete(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let entry_id = path_id(call, 0)?;
    let member_id = app::change(site, clerk, call.language(), |cx| {
        let entry = find(call, cx)?;
        logbook::delete(cx, entry_id)?;
        Ok(entry.member_id)
    })?;
    Ok(reply::see_other(&format!("/desk/members/{member_id}?done=deleted#logbook")))
}

/// `POST /desk/sign-offs/{entry_id}/suspend`: admins only.
pub(crate) fn suspend(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    act(site, call, clerk, "suspended", sign_offs::suspend)
}

/// `POST /desk/sign-offs/{entry_id}/reinstate`: admins only.
pub(crate) fn reinstate(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    act(site, call, clerk, "reinstated", sign_offs::reinstate)
}

/// Judges a proof and signs as the member whom it names, in one transaction. A failed attempt is counted; a refusal by the
/// rules of signing leaves no change.
fn prove(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    mut sent: SignForm,
    proof: impl FnOnce(&Write) -> Result<ProofOutcome, Failure>,
) -> Answer {
    let comment = Some(sent.comment.as_str()).filter(|comment| !comment.is_empty());
    let outcome = app::change(site, clerk, call.language(), |cx| {
        let entry = find(call, cx)?;
        let proven = proof(cx.tx)?;
        if let ProofOutcome::Signer(signer) = &proven {
            // A signer acts in the role of a member, whatever role the account has.
            let signing = RankedActor::account(signer.id(), Role::Member, &call.actor(signer.id()));
            sign_offs::sign(
                &signing.change(cx.site, cx.tx, cx.language),
                &entry,
                &Shown::version(sent.version),
                comment,
            )?;
        }
        Ok(proven)
    });
    match outcome {
        Ok(ProofOutcome::Signer(_)) => {
            Ok(reply::see_other(&format!("/desk/sign-offs?done=signed&entry={}", call.param(0))))
        }
        Ok(ProofOutcome::CodeRequired { challenge: step, by_app, problem }) => {
            let problem = problem.map(|key| call.say(key));
            entry::page(site, call, clerk, Some(SignForm { step: Some(step), by_app, problem, ..sent }))
        }
        Ok(ProofOutcome::Refused(key)) => {
            if key == "proof.step_ended" {
                sent.step = None;
            }
            refuse(site, call, clerk, sent, key)
        }
        // The page shows the new version of the entry and asks again.
        Err(failure) if failure.code() == Failure::entry_changed().code() => {
            let problem = Some(call.language().say(failure.text()));
            let form = SignForm { step: None, problem, changed: true, version: None, ..sent };
            entry::page(site, call, clerk, Some(form))
        }
        // A signer without permission, or an entry in another state: the form shows why.
        Err(failure) if [403, 409].contains(&failure.status().as_u16()) => {
            let form = SignForm { step: None, problem: Some(call.language().say(failure.text())), ..sent };
            entry::page(site, call, clerk, Some(form))
        }
        Err(failure) => Err(failure),
    }
}

fn refuse(site: &Site, call: &Call, clerk: &Clerk, sent: SignForm, key: &'static str) -> Answer {
    entry::page(site, call, clerk, Some(SignForm { problem: Some(call.say(key)), ..sent }))
}

/// Runs an action of the clerk on the entry that the path names.
fn act(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    done: &str,
    effect: impl FnOnce(&Change, &SkillEntry) -> Result<Status, Failure>,
) -> Answer {
    let entry_id = app::change(site, clerk, call.language(), |cx| {
        let entry = find(call, cx)?;
        effect(cx, &entry)?;
        Ok(entry.entry_id)
    })?;
    Ok(reply::see_other(&format!("/desk/sign-offs/{entry_id}?done={done}")))
}

fn find(call: &Call, cx: &Change) -> Result<SkillEntry, Failure> {
    let entry_id = path_id(call, 0)?;
    skills::find(cx.tx, entry_id)?.ok_or_else(Failure::not_found)
}
