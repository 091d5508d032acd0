//! The second factor: what a sign-in requires after a right password, and whether a code passes it.
//!
//! Every decision is made on the rows of one transaction. Only this file makes a [`SecondFactorPassed`], without which no
//! session opens.

use super::limits::messages::Cause;
use super::passcode::{self, Target, Use};
use super::security_event::{self, Event};
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::{recovery_code, totp};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::Named;
use crate::i18n::language::Language;
use crate::keys::{Place, Purpose, columns, random};
use crate::site::Site;
use crate::store::tables::members::Account;
use crate::store::tables::outbox::Channel;
use crate::store::tables::second_factors::{self, Factor, Kind, Reachable};
use crate::store::tables::sessions::{self, TokenHash};
use crate::store::tables::{audit, notices, passcodes};
use crate::store::{Read, Write};
use serde_json::json;

/// How long a new secret waits for its first code.
const PENDING_SECONDS: i64 = 3600;

/// Proof that the second factor was passed, or that none is required: a session may be opened.
#[derive(Debug)]
pub(crate) struct SecondFactorPassed(());

/// How a member wants to pass the second factor (`passcodeOption`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactorMethod {
    /// A passcode by mail.
    Email,
    /// A passcode by short message.
    Sms,
    /// A code of the authenticator app.
    Totp,
}

/// What a sign-in requires after a right password.
#[derive(Debug)]
pub(crate) enum Requirement {
    /// Nothing more.
    Passed(SecondFactorPassed),
    Code(RequiredCode),
    /// The account's role requires a second factor, and none is set up.
    SetupMissing,
}

#[derive(Debug, PartialEq)]
pub(crate) enum RequiredCode {
    /// From the authenticator app.
    Totp,
    /// A code that is sent to this address; `None` where the address that was confirmed is gone.
    Passcode(Option<(Channel, String)>),
}

pub(super) const CLOCK_SUSPECT: &str = "factor.clock_suspect";

/// The result of checking a code.
#[derive(Debug)]
pub(crate) enum Proof {
    Right(SecondFactorPassed),
    Wrong,
    /// The code was not read, because attempts are delayed for this number of seconds.
    Delayed(i64),
    /// The code may be the authenticator's, but cannot be checked: the key of the text that says why, and what to do.
    Unusable(&'static str),
}

impl Named for FactorMethod {
    const NAMES: &'static [(&'static str, FactorMethod)] =
        &[("email", FactorMethod::Email), ("sms", FactorMethod::Sms), ("totp", FactorMethod::Totp)];
}

/// What an account's sign-in requires after its password: by the requested method where the account has it, else by its
/// strongest factor.
pub(crate) fn requirement(
    site: &Site,
    tx: &Read,
    account: &Account,
    method: Option<FactorMethod>,
) -> Result<Requirement, Failure> {
    let factor = second_factors::find(tx, account.member_id, site.now())?;
    let Some(kind) = factor.kind else {
        let required = is_required(site, account);
        return Ok(if required { Requirement::SetupMissing } else { Requirement::Passed(SecondFactorPassed(())) });
    };
    let sent = if takes_passcodes(account) {
        choose(kind, method, second_factors::find_reachable(tx, account.member_id)?)
    } else {
        None
    };
    Ok(Requirement::Code(match (sent, kind) {
        (None, Kind::Totp) => RequiredCode::Totp,
        (sent, _) => RequiredCode::Passcode(sent),
    }))
}

/// Whether the account has a second factor that is on.
pub(crate) fn is_on(tx: &Write, member_id: MemberId) -> Result<bool, Failure> {
    Ok(second_factors::find(tx, member_id, tx.now())?.kind.is_some())
}

/// Desk and admin accounts open other people's data. The demo has no real people.
pub(crate) fn is_required(site: &Site, account: &Account) -> bool {
    account.role.is_staff() && !site.config.demo
}

/// Not shown in the contract: whether a member with an authenticator may have a passcode instead. Yes, where asked for,
/// because phones get lost. An account that opens other people's data takes none, whichever factor is on: a mailbox is
/// easier to get into than an authenticator, and without a mail server the passcode waits at the desk.
pub(crate) fn takes_passcodes(account: &Account) -> bool {
    !account.role.is_above_member()
}

fn choose(kind: Kind, method: Option<FactorMethod>, reachable: Reachable) -> Option<(Channel, String)> {
    let email = reachable.email.map(|address| (Channel::Email, address));
    let sms = reachable.phone.map(|number| (Channel::Sms, number));
    match (method, kind) {
        (Some(FactorMethod::Email), Kind::Totp) => email,
        (Some(FactorMethod::Sms), Kind::Totp) => sms,
        (Some(FactorMethod::Totp) | None, Kind::Totp) => None,
        (Some(FactorMethod::Email), Kind::Passcode) => email.or(sms),
        (_, Kind::Passcode) => sms.or(email),
    }
}

/// Queues the required passcode for sending. 429 where a limit is reached.
pub(crate) fn send(
    site: &Site,
    call: &Call,
    tx: &Write,
    member_id: MemberId,
    to: &(Channel, String),
) -> Result<(), Failure> {
    passcode::send_or_refuse(site, tx, Use::SignIn, &target(call, member_id, to))
}

/// Queues the required passcode during a sign-in; `false` where a limit is reached, because a recovery code does as well.
pub(crate) fn send_within_limit(
    site: &Site,
    call: &Call,
    tx: &Write,
    member_id: MemberId,
    to: &(Channel, String),
) -> Result<bool, Failure> {
    Ok(passcode::send(site, tx, Use::SignIn, &target(call, member_id, to))?.is_counted())
}

fn target<'a>(call: &Call, member_id: MemberId, (channel, address): &'a (Channel, String)) -> Target<'a> {
    Target { member_id, channel: *channel, address, language: call.language(), cause: Cause::SignIn }
}

/// Checks a code against the factor that is on: a code of the authenticator, a passcode that was sent, or a recovery code.
/// A right code is used up.
pub(crate) fn prove(site: &Site, call: &Call, tx: &Write, account: &Account, typed: &str) -> Result<Proof, Failure> {
    let factor = second_factors::find(tx, account.member_id, tx.now())?;
    let Some(kind) = factor.kind else { return Ok(Proof::Wrong) };
    if let Some(code) = recovery_code::normalise(typed) {
        return prove_by_recovery_code(site, call, tx, account.member_id, &code);
    }
    let code: String = typed.split_whitespace().collect();
    let by_app = match kind {
        Kind::Totp => prove_by_authenticator(site, tx, account.member_id, &factor, &code)?,
        Kind::Passcode => Proof::Wrong,
    };
    if matches!(by_app, Proof::Right(_)) {
        return Ok(by_app);
    }
    let sent = takes_passcodes(account) && totp::is_code(&code);
    if sent && passcode::take(site, tx, account.member_id, Use::SignIn, &code)?.is_some() {
        return Ok(Proof::Right(SecondFactorPassed(())));
    }
    Ok(by_app)
}

fn prove_by_authenticator(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    factor: &Factor,
    code: &str,
) -> Result<Proof, Failure> {
    if site.clock.is_suspect() {
        return Ok(Proof::Unusable(CLOCK_SUSPECT));
    }
    let place = columns::SECOND_FACTOR.at([member_id.into()]);
    let Some(secret) = unseal(site, &place, factor.sealed.as_deref()) else {
        tracing::error!(
            member_id = member_id.0,
            "the authenticator's secret was not sealed for this row by this site's key"
        );
        return Ok(Proof::Unusable("factor.unreadable"));
    };
    let Some(step) = totp::matching_step(&secret, code, tx.now(), factor.last_step) else { return Ok(Proof::Wrong) };
    second_factors::set_last_step(tx, member_id, step)?;
    Ok(Proof::Right(SecondFactorPassed(())))
}

fn prove_by_recovery_code(
    site: &Site,
    call: &Call,
    tx: &Write,
    member_id: MemberId,
    code: &str,
) -> Result<Proof, Failure> {
    if !second_factors::take_recovery_code(tx, member_id, &hash(site, member_id, code))? {
        return Ok(Proof::Wrong);
    }
    let left = second_factors::count_recovery_codes(tx, member_id)?;
    let (actor, detail) = (call.actor(member_id), Detail::none().number("left", left));
    audit::insert(tx, &actor, "member.recovery_code_used", &Subject::Member(member_id), &detail)?;
    notices::insert(tx, member_id, "notice.recovery_code_used", &format!("{{\"left\":{left}}}"))?;
    Ok(Proof::Right(SecondFactorPassed(())))
}

/// The secret of an authenticator app.
pub(crate) type Secret = [u8; totp::SECRET_BYTES];

pub(crate) fn new_secret() -> Secret {
    random()
}

/// Stores a new secret until its first code comes. The secret replaces an older one that waited; a factor that is on stays
/// on.
pub(crate) fn begin_setup(site: &Site, tx: &Write, member_id: MemberId, secret: &Secret) -> Result<(), Failure> {
    let sealed = site.keys.seal(&columns::PENDING_FACTOR.at([member_id.into()]), secret);
    second_factors::set_pending(tx, member_id, &sealed, tx.now() + PENDING_SECONDS)?;
    Ok(())
}

/// The secret that waits for its first code. One that was not sealed for its row does not wait.
pub(crate) fn find_pending(site: &Site, tx: &Read, member_id: MemberId) -> Result<Option<Vec<u8>>, Failure> {
    let sealed = second_factors::find(tx, member_id, site.now())?.sealed_pending;
    let place = columns::PENDING_FACTOR.at([member_id.into()]);
    Ok(unseal(site, &place, sealed.as_deref()))
}

/// Turns the authenticator on, where the code is one of the waiting secret. `None`: no secret waits.
pub(crate) fn finish_setup(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    typed: &str,
) -> Result<Option<Proof>, Failure> {
    let Some(secret) = find_pending(site, tx, member_id)? else { return Ok(None) };
    if site.clock.is_suspect() {
        return Ok(Some(Proof::Unusable(CLOCK_SUSPECT)));
    }
    let code: String = typed.split_whitespace().collect();
    let Some(step) = totp::matching_step(&secret, &code, tx.now(), 0) else { return Ok(Some(Proof::Wrong)) };
    let sealed = site.keys.seal(&columns::SECOND_FACTOR.at([member_id.into()]), &secret);
    second_factors::confirm_pending(tx, member_id, &sealed, step)?;
    Ok(Some(Proof::Right(SecondFactorPassed(()))))
}

/// Completes turning a factor on: ends all older sessions except `kept_session`, notifies the member, and returns new recovery
/// codes.
pub(crate) fn finish_activation(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    kept_session: Option<&TokenHash>,
    language: Language,
    actor: &Actor,
) -> Result<Vec<String>, Failure> {
    end_older(tx, member_id, kept_session)?;
    security_event::record_and_notify(site, tx, member_id, Event::SecondFactorOn, &json!({}), language, actor)?;
    new_recovery_codes(site, tx, member_id)
}

/// Ends every older session except `kept_session`, and the passcode of a sign-in under way.
pub(crate) fn end_older(tx: &Write, member_id: MemberId, kept_session: Option<&TokenHash>) -> Result<(), Failure> {
    sessions::delete_of_member(tx, member_id, kept_session)?;
    passcodes::delete(tx, member_id, Use::SignIn.name())?;
    Ok(())
}

/// Replaces the recovery codes. The codes are shown once; only their hashes are stored.
pub(crate) fn new_recovery_codes(site: &Site, tx: &Write, member_id: MemberId) -> Result<Vec<String>, Failure> {
    second_factors::delete_recovery_codes(tx, member_id)?;
    let codes: Vec<String> = (0..recovery_code::CODES).map(|_| recovery_code::from_bytes(random())).collect();
    for shown in &codes {
        let code = recovery_code::normalise(shown).expect("our own codes have the form of one");
        second_factors::insert_recovery_code(tx, member_id, &hash(site, member_id, &code))?;
    }
    Ok(codes)
}

fn hash(site: &Site, member_id: MemberId, code: &str) -> [u8; 32] {
    site.keys.hash(Purpose::RecoveryCode, &[&member_id.0.to_be_bytes(), code.as_bytes()])
}

fn unseal(site: &Site, place: &Place, sealed: Option<&[u8]>) -> Option<Vec<u8>> {
    site.keys.unseal(place, sealed?)
}
