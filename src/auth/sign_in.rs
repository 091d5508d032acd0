//! Names and passwords: throttled, and the same answer in the same time whether or not the account exists.

use super::counters::Counters;
use super::device;
use super::second_factor::{Proof, SecondFactorPassed};
use super::session::new_token;
use crate::domain::audit::{Detail, Whom};
use crate::domain::password;
use crate::domain::unicode::nfc;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members::{self, Account};
use crate::store::tables::{audit, sessions};
use crate::store::{Read, Write};
use std::time::Duration;

const USER_AGENT_CHARS_MAX: usize = 200;

/// A session that was opened.
pub(crate) struct OpenedSession {
    pub token: String,
    /// By which the device is known again, see [`device`].
    pub device_token: String,
}

/// The verdict on a name and a password.
pub(crate) enum Verdict {
    /// Name and password belong together.
    Right(Account),
    /// The password is another, or nobody has that name, or the counters are closed: never told apart.
    Wrong,
}

/// Whether tries under this name have to wait; what proves an identity in another way waits with them.
pub(crate) fn is_delayed(site: &Site, call: &Call, name: &str, account: Option<&Account>) -> Result<bool, Failure> {
    let delayed =
        site.store.read(|tx| Ok(Counters::of(site, call, tx, name, account)?.closed_for(tx, site.now())? > 0))?;
    call.delayed.set(delayed);
    if delayed {
        call.outcome.set(AuthOutcome::Delayed);
    }
    Ok(delayed)
}

/// Counts a miss of another proof than the password, in the transaction that judged it.
pub(crate) fn record_failure(
    site: &Site,
    call: &Call,
    tx: &Write,
    name: &str,
    account: Option<&Account>,
) -> Result<(), Failure> {
    call.outcome.set(AuthOutcome::WrongCredentials);
    Counters::of(site, call, tx, name, account)?.record_failure(tx)
}

/// Judges a name and a password. A miss is counted before the answer goes out.
pub(crate) fn judge(site: &Site, call: &Call, name: &str, secret: &str) -> Result<Verdict, Failure> {
    let now = site.now();
    let (counters, closed_for, account) = site.store.read(|tx| {
        let account = members::find_account(tx, name)?;
        let counters = Counters::of(site, call, tx, name, account.as_ref())?;
        let closed_for = counters.closed_for(tx, now)?;
        Ok((counters, closed_for, account))
    })?;
    if closed_for > 0 {
        call.delayed.set(true);
        call.outcome.set(AuthOutcome::Delayed);
        return Ok(Verdict::Wrong);
    }
    let phc = account.as_ref().and_then(|account| account.password_hash.as_deref());
    if !site.is_hash_of(secret, phc) {
        call.outcome.set(AuthOutcome::WrongCredentials);
        site.store.write(now, |tx| counters.record_failure(tx))?;
        return Ok(Verdict::Wrong);
    }
    Ok(account.map_or(Verdict::Wrong, Verdict::Right))
}

/// A new hash of a right password whose stored hash was made with other parameters than today's, or before passwords were
/// brought into Unicode's composed form. Hashes, so call this before the transaction.
pub(crate) fn renewed_hash(site: &Site, account: &Account, secret: &str) -> Option<String> {
    let phc = account.password_hash.as_deref()?;
    let normal = nfc(secret);
    let is_as_typed = normal != secret && !site.is_hash_of(&normal, Some(phc));
    (is_as_typed || password::is_outdated(phc, site.hash_cost())).then(|| site.hash(secret))
}

/// Judges a code for an account whose password was right, like a password: not while the counters are closed, and a
/// miss counts. The transaction must be kept, also after a miss.
pub(crate) fn judge_code(
    site: &Site,
    call: &Call,
    tx: &Write,
    account: &Account,
    prove: impl FnOnce() -> Result<Proof, Failure>,
) -> Result<Proof, Failure> {
    let counters = Counters::of(site, call, tx, "", Some(account))?;
    if counters.closed_for(tx, tx.now())? > 0 || !is_as_judged(tx, account)? {
        call.outcome.set(AuthOutcome::Delayed);
        return Ok(Proof::Wrong);
    }
    let proof = prove()?;
    if matches!(proof, Proof::Wrong) {
        call.outcome.set(AuthOutcome::WrongCredentials);
        counters.record_failure(tx)?;
    }
    Ok(proof)
}

/// Whether password and ban are still those that were judged: hashing takes its time, and somebody may use it.
pub(crate) fn is_as_judged(tx: &Read, account: &Account) -> rusqlite::Result<bool> {
    let current = members::find_account_by_id(tx, account.member_id)?;
    Ok(current.is_some_and(|now| {
        now.password_hash == account.password_hash && now.role == account.role && now.banned == account.banned
    }))
}

/// A session for an account whose password was right and that owes nothing more, unless it changed in the meantime.
pub(crate) fn open_session(
    site: &Site,
    call: &Call,
    tx: &Write,
    _: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<Option<OpenedSession>, Failure> {
    if account.banned || !is_as_judged(tx, account)? {
        return Ok(None);
    }
    Counters::of(site, call, tx, "", Some(account))?.clear_account(tx)?;
    if let Some(phc) = renewed {
        members::set_password(tx, account.member_id, phc)?;
    }
    Ok(Some(insert_session(call, tx, account)?))
}

/// A session for an account whose owner has proven enough. The log has those of the people who serve others.
pub(crate) fn insert_session(call: &Call, tx: &Write, account: &Account) -> Result<OpenedSession, Failure> {
    call.outcome.set(AuthOutcome::SignedIn);
    let (token, hash) = new_token();
    let user_agent: String = call.header("user-agent").unwrap_or("").chars().take(USER_AGENT_CHARS_MAX).collect();
    call.issues_token(&hash);
    sessions::insert(tx, &hash, account.member_id, account.role, &user_agent)?;
    if account.role.is_staff() {
        let (by, detail) = (call.by(account.member_id), Detail::none().word("role", account.role.name()));
        audit::insert(tx, &by.who, "staff.signed_in", &Whom::Member(account.member_id), &by.origin, &detail)?;
    }
    if call.asks_for_language() {
        members::set_language(tx, account.member_id, call.language().tag())?;
    }
    Ok(OpenedSession { token, device_token: device::remember(call, tx, account.member_id)? })
}

/// Tells a signed-in member to wait while the account's counters are closed: here a delay is told, because the caller is
/// known.
pub(crate) fn check_open(site: &Site, call: &Call, tx: &Read, account: &Account) -> Result<(), Failure> {
    match Counters::of(site, call, tx, "", Some(account))?.closed_for(tx, site.now())? {
        0 => Ok(()),
        seconds => Err(Failure::too_fast().retry_after(Duration::from_secs(seconds as u64))),
    }
}

/// Whether a signed-in member typed the own password; the text says why not.
pub(crate) fn confirm_own(site: &Site, call: &Call, member_id: i64, secret: &str) -> Result<Result<(), Text>, Failure> {
    let account = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
        check_open(site, call, tx, &account)?;
        Ok(account)
    })?;
    if account.password_hash.is_none() {
        return Ok(Err(Text::new("field.no_password")));
    }
    Ok(match judge(site, call, &account.username, secret)? {
        Verdict::Right(_) => Ok(()),
        Verdict::Wrong => Err(Text::new("field.wrong_password")),
    })
}
