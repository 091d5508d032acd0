//! Credentials of an account, replaced or ended by the owner, or by an actor who may serve the account.

use super::{Change, Outcome, SubjectAccount};
use crate::auth::limits::booking_pins;
use crate::auth::new_token;
use crate::auth::pin;
use crate::auth::second_factor;
use crate::auth::security_event::{self, Event};
use crate::auth::sign_in;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::keys::{hex, random};
use crate::moment::Moment;
use crate::store::tables::members::Account;
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::{
    members, passkeys, pins, second_factors, security_answers, sessions, signing_links, social_links,
};
use serde_json::json;

const PINS: u64 = 1_000_000;
/// The account that jobs use when none was made for them. The account has no password, so no one can sign in to it.
const SYNC_USERNAME: &str = "sync";
/// The random suffix where the username is taken.
const SUFFIX_BYTES: usize = 3;

/// The other credentials of an account that a password reset keeps: numbers of passkeys, names of social networks.
#[derive(Debug, Default)]
pub(crate) struct KeptCredentials {
    pub passkeys: Vec<i64>,
    pub social: Vec<String>,
}

/// Creates a booking PIN of six digits and stores only its hash. The old PIN becomes invalid, and with it the kiosk
/// tickets and the signing code of a guest who signed in with the PIN. Audited.
pub(crate) fn renew_pin(cx: &Change, subject: &SubjectAccount) -> Result<String, Failure> {
    // 64 random bits modulo a million: the probabilities of two PINs differ by less than one part in 10^13.
    let new = format!("{:06}", u64::from_be_bytes(random::<8>()) % PINS);
    pins::set(cx.tx, subject.member_id, &pin::hash(cx.site, subject.member_id, &new))?;
    booking_pins::forget(cx.site, cx.tx, subject.member_id)?;
    forget_outdated_pins(cx, subject)?;
    if cx.site.config.waiver.required {
        signing_links::delete_of_member(cx.tx, subject.member_id)?;
    }
    cx.record("member.pin_renewed", &Subject::Member(subject.member_id), &Detail::none())?;
    Ok(new)
}

/// Ends the session that the call came by.
pub(crate) fn sign_out(cx: &Change, session: &TokenHash) -> Result<(), Failure> {
    sessions::delete(cx.tx, session)?;
    Ok(())
}

/// Marks a session as proven now: for a while it may change credentials. 401 where the session has ended meanwhile: hashing
/// takes time.
pub(crate) fn set_proven(cx: &Change, session: &TokenHash) -> Result<(), Failure> {
    match sessions::set_proven(cx.tx, session)? {
        0 => Err(Failure::not_signed_in()),
        _ => Ok(()),
    }
}

/// Ends one of the actor's own sessions; 404 where the actor has no session of this number.
pub(crate) fn end_session(cx: &Change, session_id: &str) -> Result<(), Failure> {
    let listed = sessions::list_of_member(cx.tx, cx.own()?.member_id, cx.now())?;
    let session = listed.iter().find(|one| one.session_id() == session_id).ok_or_else(Failure::not_found)?;
    sessions::delete(cx.tx, &session.token_hash)?;
    Ok(())
}

/// Ends every session except `kept`, and the tokens for bookings. Audited.
pub(crate) fn end_sessions(cx: &Change, subject: &SubjectAccount, kept: Option<&TokenHash>) -> Result<(), Failure> {
    sessions::delete_of_member(cx.tx, subject.member_id, kept)?;
    cx.record("member.sessions_ended", &Subject::Member(subject.member_id), &Detail::none())
}

/// Turns passcodes on as the second factor. Ends every session except `kept`, as a new factor does. Returns the recovery
/// codes. 409 where the member has no confirmed address that a passcode could go to.
pub(crate) fn turn_on_passcodes(
    cx: &Change,
    subject: &SubjectAccount,
    kept: &TokenHash,
) -> Result<Vec<String>, Failure> {
    let reachable = second_factors::find_reachable(cx.tx, subject.member_id)?;
    if reachable.email.is_none() && reachable.phone.is_none() {
        return Err(Failure::nothing_confirmed());
    }
    second_factors::set_passcodes(cx.tx, subject.member_id)?;
    second_factor::finish_activation(cx.site, cx.tx, subject.member_id, Some(kept), cx.language, cx.actor)
}

/// Turns the second factor off. Ends every session except `kept`, and every sign-in challenge. Audited; the member is
/// notified.
pub(crate) fn turn_off_second_factor(
    cx: &Change,
    subject: &SubjectAccount,
    kept: Option<&TokenHash>,
) -> Result<(), Failure> {
    second_factors::delete(cx.tx, subject.member_id)?;
    forget_outdated_pins(cx, subject)?;
    second_factor::end_older(cx.tx, subject.member_id, kept)?;
    notify(cx, subject, Event::SecondFactorOff)
}

/// Sets the password that the owner chose after proving knowledge of the old one; `password_hash` is made before the
/// transaction. Ends every session except `kept`, and every other earlier credential. Audited; the member is notified.
/// 401 where the session has ended since: hashing takes time, and a recovery, which outranks this change, may have
/// ended the session. 422 where the proven password is no longer the account's: the old password proves one change.
pub(crate) fn change_password(
    cx: &Change,
    subject: &SubjectAccount,
    proven: &Account,
    password_hash: &str,
    kept: &TokenHash,
) -> Result<(), Failure> {
    let session = sessions::find(cx.tx, kept, cx.now())?.filter(|session| !session.banned);
    session.ok_or_else(Failure::not_signed_in)?;
    sign_in::check_same_password(cx.tx, proven, "current_password")?;
    members::set_password(cx.tx, subject.member_id, password_hash)?;
    sessions::end_credentials(cx.tx, subject.member_id, Some(kept))?;
    notify(cx, subject, Event::PasswordChanged)
}

/// Replaces the recovery codes with ten new ones, which are shown once. The owner has proved the second factor.
/// Audited; the member is notified.
pub(crate) fn renew_recovery_codes(cx: &Change, subject: &SubjectAccount) -> Result<Vec<String>, Failure> {
    let codes = second_factor::new_recovery_codes(cx.site, cx.tx, subject.member_id)?;
    notify(cx, subject, Event::RecoveryCodes)?;
    Ok(codes)
}

/// Sets a new password for an owner who lost the old one; `password_hash` is made before the transaction. Ends every
/// session and credential, and deletes every passkey and social link that is not in `kept`, because an intruder may
/// have added them. Audited; the member is notified.
pub(crate) fn reset_password(
    cx: &Change,
    subject: &SubjectAccount,
    password_hash: &str,
    kept: &KeptCredentials,
) -> Result<(), Failure> {
    let member_id = subject.member_id;
    members::set_password(cx.tx, member_id, password_hash)?;
    passkeys::delete_others(cx.tx, member_id, &kept.passkeys)?;
    social_links::delete_others(cx.tx, member_id, &kept.social)?;
    sessions::end_credentials(cx.tx, member_id, None)?;
    let by_owner = cx.member_id() == Some(member_id);
    notify(cx, subject, if by_owner { Event::Recovered } else { Event::PasswordChanged })
}

/// Sets the owner's answer to a security question; its hash is made before the transaction. Audited.
pub(crate) fn set_answer(
    cx: &Change,
    subject: &SubjectAccount,
    question: i64,
    answer_hash: &str,
) -> Result<(), Failure> {
    security_answers::set(cx.tx, subject.member_id, question, answer_hash)?;
    cx.record("member.security_answers", &Subject::Member(subject.member_id), &Detail::none())
}

/// Removes the owner's answer to a security question, which is asked no more. Audited, if there was one.
pub(crate) fn remove_answer(cx: &Change, subject: &SubjectAccount, question: i64) -> Result<Outcome, Failure> {
    if security_answers::delete(cx.tx, subject.member_id, question)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("member.security_answers", &Subject::Member(subject.member_id), &Detail::none())?;
    Ok(Outcome::Done)
}

/// After a reset by the desk no earlier PIN changes a booking any more. An owner who renews a credential leaves the partners
/// what they booked.
fn forget_outdated_pins(cx: &Change, subject: &SubjectAccount) -> Result<(), Failure> {
    if cx.member_id() != Some(subject.member_id) {
        pins::forget_outdated(cx.tx, subject.member_id)?;
    }
    Ok(())
}

/// Records the event in the member's security log, and notifies the member.
fn notify(cx: &Change, subject: &SubjectAccount, event: Event) -> Result<(), Failure> {
    let language = cx.language_of(subject.member_id)?;
    security_event::record_and_notify(cx.site, cx.tx, subject.member_id, event, &json!({}), language, cx.actor)
}

/// A token of a job that reads the partner reports.
pub(crate) struct SyncToken {
    pub(crate) token: String,
    pub(crate) member_id: MemberId,
    pub(crate) ends_at: Moment,
}

/// Issues a token to the account of the jobs, which is made where there is none. Audited.
pub(crate) fn issue_sync_token(cx: &Change) -> Result<SyncToken, Failure> {
    let member_id = sync_account(cx)?;
    let (token, hash) = new_token();
    sessions::insert(cx.tx, &hash, member_id, Role::Sync, "issued in the shell")?;
    cx.record("session.issued", &Subject::Member(member_id), &Detail::none().word("role", Role::Sync.name()))?;
    Ok(SyncToken { token, member_id, ends_at: cx.now() + Role::Sync.session_lifetime().1.as_secs() as i64 })
}

fn sync_account(cx: &Change) -> Result<MemberId, Failure> {
    if let Some(account) = members::list(cx.tx, Some(Role::Sync), 1, 0)?.first() {
        return Ok(account.member_id);
    }
    let mut username = SYNC_USERNAME.to_owned();
    // Anybody may have signed up under the name.
    while !members::username_is_free(cx.tx, &username)? {
        username = format!("{SYNC_USERNAME}-{}", hex(&random::<SUFFIX_BYTES>()));
    }
    let new = members::NewMember {
        username: &username,
        screen_name: SYNC_USERNAME,
        real_name: "Sync job",
        email: "sync@localhost.invalid",
        role: Role::Sync.name(),
        ..Default::default()
    };
    members::insert(cx.tx, &new)
}
