//! Actions on one entry at the desk: sign, deny, withdraw, delete, suspend, reinstate. To sign or deny, the signer proves their
//! identity with their own credentials in the clerk's browser.

use super::entry::{self, DENIAL_BOUND, SignForm};
use crate::app::logbook::sign_offs::{self, SeenEntry};
use crate::app::logbook::{self, COMMENT_CHARS_MAX};
use crate::app::{self, Change};
use crate::auth::Clerk;
use crate::auth::challenge::Intent;
use crate::auth::passkey;
use crate::domain::entry::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::skills::{self, SkillEntry};
use crate::web::desk::signer_proof::{self, Outcome, Proof, ProofForm};
use crate::web::{path_id, read_form};

/// `POST /desk/sign-offs/{entry_id}/sign`: signs with the signer's password, and a code where one is due.
pub(crate) fn sign(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let intent = Intent::SignEntry(path_id(call, 0)?);
    sign_with(site, call, clerk, |proof, effect| proof.by_password(intent, effect))
}

/// `POST /desk/sign-offs/{entry_id}/passkey`: signs with the signer's passkey.
pub(crate) fn sign_by_passkey(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let intent = passkey::Intent::SignEntry(path_id(call, 0)?);
    sign_with(site, call, clerk, |proof, effect| proof.by_passkey(intent, effect))
}

fn sign_with(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    judge: impl FnOnce(Proof, &dyn Fn(&Change) -> Result<(), Failure>) -> Result<Outcome, Failure>,
) -> Answer {
    let (comment, version) = read_form(call, |form| {
        (form.optional("comment", fields::lines(COMMENT_CHARS_MAX)), form.optional("version", fields::id))
    })?;
    let shown = SeenEntry::version(version);
    let proof = Proof { site, call, clerk, again: ProofForm::default(), subject: &String::new };
    let outcome = judge(proof, &|cx| {
        let entry = find(call, cx)?;
        sign_offs::sign(cx, &entry, &shown, comment.as_deref()).map(drop)
    })?;
    match outcome {
        Outcome::Done => Ok(reply::see_other(&format!("/desk/sign-offs?done=signed&entry={}", call.param(0)))),
        Outcome::Again(status, proof) => {
            let form = SignForm { comment: comment.unwrap_or_default(), ..SignForm::again(status, version) };
            entry::page(site, call, clerk, Some(SignForm { signing: Some(*proof), ..form }))
        }
    }
}

/// `POST /desk/sign-offs/{entry_id}/deny`: the requested signer denies, with a reason that the member is told.
pub(crate) fn deny(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (reason, version) = read_form(call, |form| {
        (form.optional("reason", fields::lines(COMMENT_CHARS_MAX)), form.optional("version", fields::id))
    })?;
    let Some(reason) = reason else {
        let denial_problem = Some(call.say("desk.deny_missing"));
        let denial = Some(ProofForm::new(site, call.path.clone(), DENIAL_BOUND, String::new())?.sent(call)?);
        return entry::page(
            site,
            call,
            clerk,
            Some(SignForm { denial_problem, denial, version, ..SignForm::default() }),
        );
    };
    let shown = SeenEntry::version(version);
    let outcome = signer_proof::carry_out(site, call, clerk, DENIAL_BOUND, &String::new, |cx| {
        let entry = find(call, cx)?;
        sign_offs::deny(cx, &entry, &shown, &reason).map(drop)
    })?;
    match outcome {
        Outcome::Done => Ok(reply::see_other(&format!("/desk/sign-offs/{}?done=denied", call.param(0)))),
        Outcome::Again(status, proof) => {
            let form = SignForm { reason, denial: Some(*proof), ..SignForm::again(status, version) };
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
