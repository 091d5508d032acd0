//! Applies a checked response, in the transaction that uses its challenge up.

use super::response::{CheckedResponse, Proof};
use super::{Label, passkey_from, text_of};
use crate::auth::security_event::{self, Event};
use crate::domain::audit::{Actor, ActorId, Detail, Subject};
use crate::domain::ids::{MemberId, PasskeyId};
use crate::domain::passkey::{KEYS_MAX, is_copied};
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::members::{self, Account};
use crate::store::tables::passkeys::{self, NewPasskey, StoredPasskey};
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::{audit, notices, sessions};
use crate::store::{Write, is_taken};
use serde_json::{Value, json};
use webauthn_rs::prelude::{AuthenticationResult, Passkey};

/// The outcome of a response.
pub(crate) enum Outcome {
    /// The member proved to be this account. The caller decides what the proof opens.
    SignedIn(Account),
    /// The account has a new passkey.
    Registered(Account),
    Refused,
}

/// Uses the challenge up and applies what the response proves.
pub(crate) fn apply(site: &Site, call: &Call, tx: &Write, answer: &CheckedResponse) -> Result<Outcome, Failure> {
    match used_once(tx, answer)? {
        None => Ok(Outcome::Refused),
        Some(Proof::Copied { member_id, credential_id }) => match passkeys::find(tx, *member_id, credential_id)? {
            Some(held) => warn_of_copy(call, tx, *member_id, &held).map(|()| Outcome::Refused),
            None => Ok(Outcome::Refused),
        },
        Some(Proof::SignIn { member_id, result }) => match owner(call, tx, *member_id, result)? {
            Some(account) => {
                call.outcome.set(AuthOutcome::Plain);
                Ok(Outcome::SignedIn(account))
            }
            None => Ok(Outcome::Refused),
        },
        Some(Proof::Registration { member_id, session_hash, rp_id, passkey, label }) => {
            let session = sessions::find(tx, session_hash, tx.now())?;
            match session.filter(|session| session.member_id == *member_id && !session.banned) {
                Some(_) => register(site, call, tx, *member_id, rp_id, passkey, label),
                None => Ok(Outcome::Refused),
            }
        }
    }
}

/// The proof of a response, for the first request that brings it.
fn used_once<'a>(tx: &Write, answer: &'a CheckedResponse) -> Result<Option<&'a Proof>, Failure> {
    Ok(if passkeys::take_challenge(tx, &answer.hash)? { answer.proof.as_ref() } else { None })
}

/// The account of the passkey that signed, by its current row: the signature was checked against the passkey's state at
/// the time of the challenge.
fn owner(
    call: &Call,
    tx: &Write,
    member_id: MemberId,
    result: &AuthenticationResult,
) -> Result<Option<Account>, Failure> {
    let Some(held) = passkeys::find(tx, member_id, result.cred_id())? else { return Ok(None) };
    let counter = i64::from(result.counter());
    if is_copied(held.counter, counter) {
        warn_of_copy(call, tx, member_id, &held)?;
        return Ok(None);
    }
    let account = members::find_account_by_id(tx, member_id)?.filter(|account| !account.banned);
    let Some(account) = account else { return Ok(None) };
    let mut passkey = passkey_from(&held.public_key)?;
    passkey.update_credential(result);
    passkeys::set_used(tx, member_id, held.passkey_id, counter, &text_of(&passkey)?)?;
    Ok(Some(account))
}

fn register(
    site: &Site,
    call: &Call,
    tx: &Write,
    member_id: MemberId,
    rp_id: &str,
    passkey: &Passkey,
    label: &Label,
) -> Result<Outcome, Failure> {
    let Some(account) = members::find_account_by_id(tx, member_id)? else { return Ok(Outcome::Refused) };
    if passkeys::count(tx, member_id)? >= KEYS_MAX {
        return Ok(Outcome::Refused);
    }
    let public_key = text_of(passkey)?;
    let new = NewPasskey {
        member_id,
        rp_id,
        credential_id: passkey.cred_id(),
        public_key: &public_key,
        name: &label.name,
        device_id: label.device_id,
    };
    match passkeys::insert(tx, &new) {
        Ok(_) => {}
        // The id of an existing passkey, of any member, is refused.
        Err(e) if is_taken(&e) => return Ok(Outcome::Refused),
        Err(e) => return Err(e.into()),
    }
    security_event::record_and_notify(
        site,
        tx,
        member_id,
        Event::PasskeyAdded,
        &named(&label.name),
        call.language(),
        &call.actor(member_id),
    )?;
    call.outcome.set(AuthOutcome::Plain);
    Ok(Outcome::Registered(account))
}

/// Removes a passkey of the member, and ends the member's other sessions. `false`: there is no such passkey.
pub(crate) fn remove(
    site: &Site,
    call: &Call,
    tx: &Write,
    (member_id, session): (MemberId, &TokenHash),
    passkey_id: PasskeyId,
) -> Result<bool, Failure> {
    let Some(name) = passkeys::delete(tx, member_id, passkey_id)? else { return Ok(false) };
    sessions::delete_of_member(tx, member_id, Some(session))?;
    let actor = call.actor(member_id);
    security_event::record_and_notify(
        site,
        tx,
        member_id,
        Event::PasskeyRemoved,
        &named(&name),
        call.language(),
        &actor,
    )?;
    Ok(true)
}

fn warn_of_copy(call: &Call, tx: &Write, member_id: MemberId, held: &StoredPasskey) -> Result<(), Failure> {
    let actor = Actor::caller(ActorId::Job("passkeys"), call.peer);
    audit::insert(tx, &actor, "member.passkey_copied", &Subject::Member(member_id), &Detail::none())?;
    notices::insert(tx, member_id, "notice.passkey_copied", &named(&held.name).to_string())?;
    Ok(())
}

/// The values of a notice that speaks of one passkey.
fn named(name: &str) -> Value {
    json!({ "name": name })
}
