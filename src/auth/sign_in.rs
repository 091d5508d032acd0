//! Sign-in by name and password: throttled, with the same answer in the same time whether or not the account exists.

use super::device;
use super::limits;
use super::limits::proofs::{self, Counters};
use super::own;
use super::second_factor::{Proof, SecondFactorPassed};
use super::session::{new_token, token_hash};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::password;
use crate::domain::unicode::nfc;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::audit;
use crate::store::tables::languages;
use crate::store::tables::members::{self, Account};
use crate::store::tables::sessions::{self, TokenHash};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};

/// The key of the refusal of an account that is about to be erased.
pub(crate) const LEAVES: &str = "leaving.signs_in_there";
const USER_AGENT_CHARS_MAX: usize = 200;

/// A new session, as its client gets it.
#[derive(Serialize, Deserialize)]
pub(crate) struct OpenedSession {
    pub token: String,
    /// Identifies the device at the next sign-in, see [`device`].
    pub device_token: String,
}

/// Whether an attempt is read.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The attempt is delayed for this number of seconds, whatever its proof.
    Delayed(i64),
    /// The attempt is read, for these accounts. None: the name is unknown, or its account is delayed without showing it.
    For(Vec<Account>),
}

/// Whether an attempt under this name is read. Every kind of proof shares the delays. Whoever then takes time over the proof
/// asks [`admit_within`] too, in the transaction that judges it: attempts at once would all be read otherwise.
pub(crate) fn admit(site: &Site, call: &Call, name: &str, accounts: Vec<Account>) -> Result<Attempt, Failure> {
    site.store.read(|tx| admit_within(site, call, tx, name, accounts))
}

/// Whether an attempt under this name is read now.
pub(crate) fn admit_within(
    site: &Site,
    call: &Call,
    tx: &Read,
    name: &str,
    mut accounts: Vec<Account>,
) -> Result<Attempt, Failure> {
    let now = site.now();
    let counters = Counters::of(site, call, tx, name, &accounts)?;
    let seconds = counters.shown_delay(tx, now)?;
    if seconds > 0 {
        call.delayed.set(true);
        call.outcome.set(AuthOutcome::Delayed);
        return Ok(Attempt::Delayed(seconds));
    }
    let mut hidden = Vec::new();
    for account in &accounts {
        if counters.hides(tx, account.member_id, now)? {
            hidden.push(account.member_id);
        }
    }
    accounts.retain(|account| !hidden.contains(&account.member_id));
    Ok(Attempt::For(accounts))
}

/// Counts a failed attempt for the accounts that were read, in the transaction that checked the proof.
pub(crate) fn record_failure(
    site: &Site,
    call: &Call,
    tx: &Write,
    name: &str,
    accounts: &[Account],
) -> Result<(), Failure> {
    call.outcome.set(AuthOutcome::WrongCredentials);
    Counters::of(site, call, tx, name, accounts)?.record_failure(tx)
}

/// What a typed password proves.
#[derive(Debug)]
pub(crate) enum PasswordProof {
    Right(Account),
    /// The password is wrong or the name unknown, or its account is delayed without showing it: nobody can tell these apart.
    Wrong,
    /// The attempt was not read, because attempts are delayed for this number of seconds.
    Delayed(i64),
}

impl PasswordProof {
    /// The account of a right password, on a page that tells no delay from a wrong password.
    pub(crate) fn account(self) -> Option<Account> {
        match self {
            PasswordProof::Right(account) => Some(account),
            PasswordProof::Wrong | PasswordProof::Delayed(_) => None,
        }
    }
}

/// Checks a password. A failed attempt is counted before the answer goes out.
///
/// An e-mail address may mean two accounts: the one that confirmed it, and a new one. Each is opened by its own password, and
/// two are always checked: otherwise a stranger could sign up with an address, and learn by signing in whether it was taken.
pub(crate) fn check_password(site: &Site, call: &Call, name: &str, secret: &str) -> Result<PasswordProof, Failure> {
    let accounts = site.store.read(|tx| Ok(members::list_accounts(tx, name)?))?;
    let accounts = match admit(site, call, name, accounts)? {
        Attempt::For(accounts) => accounts,
        Attempt::Delayed(seconds) => return Ok(PasswordProof::Delayed(seconds)),
    };
    let mut right = None;
    for number in 0..if name.contains('@') { members::ACCOUNTS_MAX } else { 1 } {
        let account = accounts.get(number);
        let phc = account.and_then(|account| account.password_hash.as_deref());
        if site.is_hash_of(secret, phc) && right.is_none() {
            right = account.map(|account| account.member_id);
        }
    }
    site.store.write(site.now(), |tx| judge_password(site, call, tx, name, accounts, right))
}

/// The outcome of an attempt with the password of account `right`. Attempts are judged one by one: those that were judged while
/// this one was hashed may have begun a delay, in which a right password is not read either.
fn judge_password(
    site: &Site,
    call: &Call,
    tx: &Write,
    name: &str,
    accounts: Vec<Account>,
    right: Option<MemberId>,
) -> Result<PasswordProof, Failure> {
    let mut accounts = match admit_within(site, call, tx, name, accounts)? {
        Attempt::For(accounts) => accounts,
        Attempt::Delayed(seconds) => return Ok(PasswordProof::Delayed(seconds)),
    };
    match accounts.iter().position(|account| Some(account.member_id) == right) {
        Some(number) => Ok(PasswordProof::Right(accounts.swap_remove(number))),
        None => {
            record_failure(site, call, tx, name, &accounts)?;
            Ok(PasswordProof::Wrong)
        }
    }
}

/// A new hash of a right password whose stored hash has other parameters than today's, or dates from before passwords were
/// brought into Unicode's composed form. Hashing takes time: call this before the transaction.
pub(crate) fn renewed_hash(site: &Site, account: &Account, secret: &str) -> Option<String> {
    let phc = account.password_hash.as_deref()?;
    let normal = nfc(secret);
    let is_as_typed = normal != secret && !site.is_hash_of(&normal, Some(phc));
    (is_as_typed || password::is_outdated(phc, site.hash_cost())).then(|| site.hash(secret))
}

/// Checks a code for an account whose password was right. Like a password, a code is refused unread during a delay, and a
/// wrong one counts as a failed attempt. The caller must commit the transaction also after a wrong code.
pub(crate) fn check_code(
    site: &Site,
    call: &Call,
    tx: &Write,
    account: &Account,
    prove: impl FnOnce() -> Result<Proof, Failure>,
) -> Result<Proof, Failure> {
    let counters = Counters::of_account(site, call, tx, account)?;
    let seconds = counters.delay_left(tx, tx.now())?;
    if seconds > 0 {
        call.outcome.set(AuthOutcome::Delayed);
        return Ok(Proof::Delayed(seconds));
    }
    if !is_unchanged(tx, account)? {
        return Ok(Proof::Wrong);
    }
    let proof = prove()?;
    if matches!(proof, Proof::Wrong) {
        call.outcome.set(AuthOutcome::WrongCredentials);
        counters.record_failure(tx)?;
    }
    Ok(proof)
}

/// Whether password, role, ban and leaving are the same as when the password was checked: hashing takes time, and the account may
/// have changed meanwhile.
pub(crate) fn is_unchanged(tx: &Read, account: &Account) -> Result<bool, Failure> {
    let current = members::find_account_by_id(tx, account.member_id)?;
    Ok(current.is_some_and(|now| {
        now.password_hash == account.password_hash
            && (now.role, now.banned, now.leaves) == (account.role, account.banned, account.leaves)
    }))
}

/// Opens a session for an account that passed every factor. `None` where the account changed meanwhile or is banned.
/// `renewed`: a new hash of the password, to be stored.
pub(crate) fn open_session(
    site: &Site,
    call: &Call,
    tx: &Write,
    passed: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<Option<OpenedSession>, Failure> {
    match complete(site, call, tx, passed, account, renewed)? {
        true => Ok(Some(insert_session(call, tx, account)?)),
        false => Ok(None),
    }
}

/// As [`open_session`], for the member's own pages.
pub(crate) fn open_own_session(
    site: &Site,
    call: &Call,
    tx: &Write,
    passed: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<Option<OpenedSession>, Failure> {
    match complete(site, call, tx, passed, account, renewed)? {
        true => Ok(Some(insert_own_session(call, tx, account)?)),
        false => Ok(None),
    }
}

/// Completes a sign-in that passed every factor. `false` where the account changed meanwhile or is banned.
fn complete(
    site: &Site,
    call: &Call,
    tx: &Write,
    _: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<bool, Failure> {
    if account.banned || !is_unchanged(tx, account)? {
        return Ok(false);
    }
    proofs::clear_after_sign_in(site, call, tx, account)?;
    if let Some(phc) = renewed {
        members::set_password(tx, account.member_id, phc)?;
    }
    Ok(true)
}

/// Inserts a session for an account whose owner has proven enough: of the API, and of the desk for its staff.
/// 403 where the owner asked for the erasure of the account: the own pages alone take that back.
pub(crate) fn insert_session(call: &Call, tx: &Write, account: &Account) -> Result<OpenedSession, Failure> {
    if account.leaves {
        return Err(Failure::not_allowed().saying(Text::new(LEAVES)));
    }
    insert(call, tx, account, token_hash)
}

/// Inserts a session of the member's own pages for an account whose owner has proven enough.
pub(crate) fn insert_own_session(call: &Call, tx: &Write, account: &Account) -> Result<OpenedSession, Failure> {
    insert(call, tx, account, own::hash)
}

/// Sign-ins of staff are audited.
fn insert(call: &Call, tx: &Write, account: &Account, hash: fn(&str) -> TokenHash) -> Result<OpenedSession, Failure> {
    call.outcome.set(AuthOutcome::SignedIn);
    let (token, _) = new_token();
    let hash = hash(&token);
    let user_agent: String = call.header("user-agent").unwrap_or("").chars().take(USER_AGENT_CHARS_MAX).collect();
    call.issues_token(&hash);
    // Who knows a replaced password gets no session by a repeat.
    call.shows_credentials_of(account.member_id);
    sessions::insert(tx, &hash, account.member_id, account.role, &user_agent)?;
    if account.role.is_staff() {
        let (actor, detail) = (call.actor(account.member_id), Detail::none().word("role", account.role.name()));
        audit::insert(tx, &actor, "staff.signed_in", &Subject::Member(account.member_id), &detail)?;
    }
    if let Some(language) = call.asked_language() {
        languages::follow(tx, account.member_id, language.tag())?;
    }
    Ok(OpenedSession { token, device_token: device::remember(call, tx, account.member_id)? })
}

/// 429 while the account's sign-ins are delayed. Only a signed-in member is told of the delay.
pub(crate) fn check_not_delayed(site: &Site, call: &Call, tx: &Read, account: &Account) -> Result<(), Failure> {
    match Counters::of_account(site, call, tx, account)?.delay_left(tx, site.now())? {
        0 => Ok(()),
        seconds => Err(limits::too_soon(seconds)),
    }
}

/// What a signed-in member's own password proves.
pub(crate) enum OwnPassword {
    /// The account as it was when the password was checked.
    Right(Account),
    /// The password is wrong, or the account has none, as the text says.
    Refused(Text),
}

impl OwnPassword {
    /// The account; 422 at `field` where the password is not right.
    pub(crate) fn at(self, field: &str) -> Result<Account, Failure> {
        match self {
            OwnPassword::Right(account) => Ok(account),
            OwnPassword::Refused(text) => Err(Failure::field(field, text)),
        }
    }
}

/// Checks that a signed-in member typed the own password.
/// An effect that the password allows asks [`check_same_password`] in its transaction.
pub(crate) fn check_own_password(
    site: &Site,
    call: &Call,
    member_id: MemberId,
    secret: &str,
) -> Result<OwnPassword, Failure> {
    let account = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
        check_not_delayed(site, call, tx, &account)?;
        Ok(account)
    })?;
    if account.password_hash.is_none() {
        return Ok(OwnPassword::Refused(Text::new("field.no_password")));
    }
    let proven = check_password(site, call, &account.username, secret)?.account();
    Ok(proven.map_or_else(|| OwnPassword::Refused(Text::new("field.wrong_password")), OwnPassword::Right))
}

/// 422 at `field` where the account of [`check_own_password`] has changed meanwhile: the typed password may be none by now.
pub(crate) fn check_same_password(tx: &Read, account: &Account, field: &'static str) -> Result<(), Failure> {
    match is_unchanged(tx, account)? {
        true => Ok(()),
        false => Err(Failure::field(field, Text::new("field.wrong_password"))),
    }
}
