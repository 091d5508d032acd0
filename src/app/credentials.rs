//! Credentials of an account, replaced or ended: by the owner, or for the owner by somebody who may serve the account.

use super::{Change, SubjectAccount};
use crate::auth::pin;
use crate::auth::second_factor;
use crate::auth::security_event::{self, Event};
use crate::domain::audit::{Detail, Subject};
use crate::http::failure::Failure;
use crate::keys::random;
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::{members, passkeys, second_factors, sessions, signing_links, social_links};
use serde_json::json;

const PINS: u64 = 1_000_000;

/// The other ways into an account that stay open after a new password: numbers of passkeys, names of social networks.
#[derive(Debug, Default)]
pub(crate) struct KeptCredentials {
    pub passkeys: Vec<i64>,
    pub social: Vec<String>,
}

/// A new booking PIN of six digits; only its hash is stored, and the old one is dead, with the tickets and the code to sign by
/// of who came in by it at a kiosk. Audited.
pub(crate) fn renew_pin(cx: &Change, subject: &SubjectAccount) -> Result<String, Failure> {
    // Taken modulo a million from 64 bits: no PIN is likelier than another by more than one in 10^13.
    let new = format!("{:06}", u64::from_be_bytes(random::<8>()) % PINS);
    members::set_pin(cx.tx, subject.member_id, &pin::hash(cx.site, subject.member_id, &new))?;
    if cx.site.config.waiver.required {
        signing_links::delete_of_member(cx.tx, subject.member_id)?;
    }
    cx.record("member.pin_renewed", &Subject::Member(subject.member_id), &Detail::none())?;
    Ok(new)
}

/// Ends every session but `kept`, and the tokens of bookings. Audited.
pub(crate) fn end_sessions(cx: &Change, subject: &SubjectAccount, kept: Option<&TokenHash>) -> Result<(), Failure> {
    sessions::delete_of_member(cx.tx, subject.member_id, kept)?;
    cx.record("member.sessions_ended", &Subject::Member(subject.member_id), &Detail::none())
}

/// Turns the second factor off. Every session but `kept` ends, and every sign-in under way. Audited; the member is told.
pub(crate) fn turn_off_second_factor(
    cx: &Change,
    subject: &SubjectAccount,
    kept: Option<&TokenHash>,
) -> Result<(), Failure> {
    second_factors::delete(cx.tx, subject.member_id)?;
    second_factor::end_older(cx.tx, subject.member_id, kept)?;
    tell(cx, subject, Event::SecondFactorOff)
}

/// Sets the password that the owner chose, who proved to know the one before; `password_hash` is made before the transaction.
/// Every session but `kept` ends, and every other credential of before. Audited; the member is told. 401 where the session
/// has ended meanwhile: hashing takes its time, and what ended it may have been a recovery, which is stronger.
pub(crate) fn change_password(
    cx: &Change,
    subject: &SubjectAccount,
    password_hash: &str,
    kept: &TokenHash,
) -> Result<(), Failure> {
    let session = sessions::find(cx.tx, kept, cx.now())?.filter(|session| !session.banned);
    session.ok_or_else(Failure::not_signed_in)?;
    members::set_password(cx.tx, subject.member_id, password_hash)?;
    sessions::end_credentials(cx.tx, subject.member_id, Some(kept))?;
    tell(cx, subject, Event::PasswordChanged)
}

/// Ten new recovery codes in place of the old, shown once, for an owner who proved the second factor. Audited; the member is
/// told.
pub(crate) fn renew_recovery_codes(cx: &Change, subject: &SubjectAccount) -> Result<Vec<String>, Failure> {
    let codes = second_factor::new_recovery_codes(cx.site, cx.tx, subject.member_id)?;
    tell(cx, subject, Event::RecoveryCodes)?;
    Ok(codes)
}

/// Sets a new password for an owner who lost the old one; `password_hash` is made before the transaction. Every session and
/// credential ends, and every passkey and social link that is not kept: somebody else may have added them. Audited; the
/// member is told.
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
    tell(cx, subject, if by_owner { Event::Recovered } else { Event::PasswordChanged })
}

fn tell(cx: &Change, subject: &SubjectAccount, event: Event) -> Result<(), Failure> {
    let language = cx.language_of(subject.member_id)?;
    security_event::record_and_notify(cx.site, cx.tx, subject.member_id, event, &json!({}), language, cx.actor)
}
