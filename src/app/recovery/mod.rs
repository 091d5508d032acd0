//! Recovering an account without its password: a passcode to a confirmed address or telephone number, and the answers
//! to the member's own security questions. An unknown name gets the same answers at the same cost as a known one, so
//! that a caller cannot learn whether an account exists.

mod request;

pub(crate) use request::AccountAccess;

use super::credentials::{self, KeptCredentials};
use super::{RankedActor, change_once};
use crate::auth::limits;
use crate::auth::limits::messages::Cause;
use crate::auth::passcode::{self, Asker, Target, Use};
use crate::auth::sign_in::{self, Attempt};
use crate::domain::email;
use crate::domain::ids::MemberId;
use crate::domain::password::Owner;
use crate::domain::unicode::nfc;
use crate::domain::{password, questions};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::{self, Account, Profile};
use crate::store::tables::outbox::Channel;
use crate::store::tables::security_answers;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// The least number of questions that any name is asked.
const QUESTIONS_ASKED: usize = 3;
/// The member whose account is read in place of a missing one while nobody has answers.
const FIRST_MEMBER_ID: MemberId = MemberId(1);
/// A number that no member has.
const NO_MEMBER_ID: MemberId = MemberId(0);

/// A request to recover a password: without a proof, a passcode is sent.
pub(crate) struct Recovery {
    /// The username or the e-mail address, as typed.
    pub(crate) username: String,
    channel: Channel,
    proof: Option<Proof>,
}

/// The passcode, the new password and the answers, by question number.
struct Proof {
    passcode: String,
    password: String,
    answers: Vec<(i64, String)>,
    kept: KeptCredentials,
}

/// The outcome of a recovery, as the caller learns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// A passcode was sent, if the account can be recovered.
    Sent,
    /// The password is set.
    Done,
    /// The passcode, an answer or the name was wrong.
    Wrong,
}

/// Counts one request about a lost password or username. 429 above the hourly limit of the caller's network.
pub(crate) fn check_rate(site: &Site, call: &Call) -> Result<(), Failure> {
    count_requests(site, call, 1)
}

/// Counts a proof once more for each answer that is hashed. Of the smallest limits enough is left for one recovery: a
/// request for the passcode, and the proof.
fn check_rate_of_proofs(site: &Site, call: &Call) -> Result<(), Failure> {
    let spare = site.config.limits.recoveries_per_hour_per_address - 2;
    count_requests(site, call, spare.clamp(0, QUESTIONS_ASKED as i64))
}

fn count_requests(site: &Site, call: &Call, requests: i64) -> Result<(), Failure> {
    limits::RECOVERIES.take_several(site, call.network(), requests)
}

/// The questions that an account is asked, by number: its own, filled up with made-up ones to three. Answers to made-up
/// questions are ignored: only the account's own answers are checked.
pub(crate) fn list_questions(site: &Site, name: &str) -> Result<Vec<i64>, Failure> {
    let own = site.store.read(|tx| {
        let account = members::find_certain_account(tx, name)?;
        // An unknown name must take as long as a known one: both run the same five queries, and find as many rows. Rows
        // that the account lacks are read from a member who has them.
        let member_id = account.as_ref().map_or(NO_MEMBER_ID, |account| account.member_id);
        let any = security_answers::find_first_member(tx)?.unwrap_or(FIRST_MEMBER_ID);
        let other = |is_there: bool| if is_there { NO_MEMBER_ID } else { any };
        members::find_account_by_id(tx, other(account.is_some()))?;
        let own = security_answers::list_questions(tx, member_id)?;
        security_answers::list_questions(tx, other(!own.is_empty()))?;
        Ok(own)
    })?;
    Ok(add_made_up(site, name, own))
}

/// Adds made-up questions up to three. A typed name always gets the same ones, in every spelling, and they are
/// indistinguishable from chosen ones. The username and the address of one account get different ones, as two names of
/// nobody do.
fn add_made_up(site: &Site, name: &str, own: Vec<i64>) -> Vec<i64> {
    let hash = site.keys.hash(Purpose::MadeUpQuestions, &[email::canonical(name).as_bytes()]);
    let mut left: Vec<i64> = questions::NUMBERS.filter(|number| !own.contains(number)).collect();
    let missing = QUESTIONS_ASKED.saturating_sub(own.len());
    // Three are made up for every name, so that the time is the same.
    let make_up = |byte: &u8| (!left.is_empty()).then(|| left.remove(usize::from(*byte) % left.len()));
    let made_up: Vec<i64> = hash.iter().take(QUESTIONS_ASKED).filter_map(make_up).collect();
    let mut all: Vec<i64> = own.into_iter().chain(made_up.into_iter().take(missing)).collect();
    all.sort_unstable();
    all
}

/// Sends a passcode, or sets the new password. 422 for a password that is too weak; 429 above the hourly limit of the caller's
/// network, for which a proof counts once more for each answer that is hashed.
pub(crate) fn carry_out(site: &Site, call: &Call, recovery: &Recovery) -> Result<Outcome, Failure> {
    let account = site.store.read(|tx| Ok(members::find_certain_account(tx, &recovery.username)?))?;
    match &recovery.proof {
        None => {
            let usage = Use::RecoverPassword;
            let sent = Outcome::Sent;
            send_passcode(site, call, &recovery.username, account.as_ref(), recovery.channel, usage, sent)
        }
        Some(proof) => {
            check_rate_of_proofs(site, call)?;
            set_password(site, call, &recovery.username, account, proof)
        }
    }
}

/// Sends a passcode to the confirmed address or number of a known account. An unknown name costs the same work and gets
/// the same answer, so that neither time nor text distinguishes the two.
pub(crate) fn send_passcode<O: Serialize + DeserializeOwned>(
    site: &Site,
    call: &Call,
    name: &str,
    account: Option<&Account>,
    channel: Channel,
    usage: Use,
    sent: O,
) -> Result<O, Failure> {
    limits::MESSAGE_REQUESTS.take(site, call.network())?;
    change_once(site, call, RankedActor::stranger(call), |cx| {
        let tx = cx.tx;
        let asker = Asker::of(site, call, tx, account.map_or(NO_MEMBER_ID, |account| account.member_id))?;
        passcode::count_request(site, tx, name, &asker)?;
        let account = account.filter(|account| !account.banned && may_recover(site, account, channel));
        let member_id = account.map_or(NO_MEMBER_ID, |account| account.member_id);
        if !send_to(site, tx, call, asker.cause, member_id, channel, usage)? {
            let any = members::find_first(tx)?.unwrap_or(NO_MEMBER_ID);
            imitate_send(site, tx, call, asker.cause, any, channel, usage)?;
        }
        Ok(sent)
    })
}

/// Whether this channel may recover an account. An undeliverable message waits at the desk, where a clerk could read
/// the passcode of a superior, so an account with a staff role is not recovered by such a channel.
fn may_recover(site: &Site, account: &Account, channel: Channel) -> bool {
    !account.role.is_above_member() || site.delivers(channel)
}

/// Sends a passcode. `false`: there is no such member, no confirmed address, or the address's message quota is used up. The
/// caller does not learn that.
fn send_to(
    site: &Site,
    tx: &Write,
    call: &Call,
    cause: Cause,
    member_id: MemberId,
    channel: Channel,
    usage: Use,
) -> Result<bool, Failure> {
    let Some(profile) = members::find(tx, member_id)? else { return Ok(false) };
    let Some(address) = confirmed_address(&profile, channel) else { return Ok(false) };
    let target = Target { member_id, channel, address, language: call.language(), cause };
    Ok(passcode::send(site, tx, usage, &target)?.is_counted())
}

fn imitate_send(
    site: &Site,
    tx: &Write,
    call: &Call,
    cause: Cause,
    member_id: MemberId,
    channel: Channel,
    usage: Use,
) -> Result<(), Failure> {
    let Some(_) = members::find(tx, member_id)? else { return Ok(()) };
    let target = Target { member_id, channel, address: "nobody@example.com", language: call.language(), cause };
    passcode::imitate_send(site, tx, usage, &target)
}

fn confirmed_address(profile: &Profile, channel: Channel) -> Option<&str> {
    match channel {
        Channel::Email if profile.email_verified => Some(&profile.email),
        Channel::Sms if profile.phone_verified => Some(&profile.phone),
        _ => None,
    }
}

/// Sets the password and ends every credential of before, or returns the one answer for every mistake. Hashing precedes
/// the transaction; the transaction checks that passcode and account are unchanged.
fn set_password(
    site: &Site,
    call: &Call,
    name: &str,
    account: Option<Account>,
    proof: &Proof,
) -> Result<Outcome, Failure> {
    // The form of a password is checked fast and reveals nothing, so a delayed sign-in gets this answer too.
    password::check_form(&proof.password, &stranger(name, &site.name()?))
        .map_err(|text| Failure::field("password", text))?;
    let Attempt::For(accounts) = sign_in::admit(site, call, name, account.into_iter().collect())? else {
        return Ok(Outcome::Wrong);
    };
    let account = accounts.first();
    let strength = judge_strength(site, name, account, &proof.password)?;
    if let Strength::WeakForAnybody(text) = strength {
        return Err(Failure::field("password", text));
    }
    let answered = answers_are_right(site, name, account, &proof.answers)?;
    let password_hash = site.hash(&proof.password);
    let recovered = Cell::new(None);
    let outcome = change_once(site, call, RankedActor::stranger(call), |cx| {
        let tx = cx.tx;
        let Attempt::For(accounts) = sign_in::admit_within(site, call, tx, name, accounts)? else {
            return Ok(Outcome::Wrong);
        };
        let account = accounts.first();
        if let Some(account) = account.filter(|account| !account.banned && answered) {
            if take_passcode(site, tx, account.member_id, Use::RecoverPassword, &proof.passcode)? {
                // A failure rolls the transaction back, so the passcode stays valid for a stronger password.
                if let Strength::WeakForOwner(text) = strength {
                    return Err(Failure::field("password", text));
                }
                let actor = RankedActor::account(account.member_id, account.role, &call.actor(account.member_id));
                let cx = actor.change(site, tx, call.language());
                credentials::reset_password(&cx, &cx.own()?, &password_hash, &proof.kept)?;
                recovered.set(Some(account.member_id));
                return Ok(Outcome::Done);
            }
        } else if let Some(account) = account {
            // Wrong answers spend a try of the passcode, whether or not the passcode was right.
            passcode::spend_try(tx, account.member_id, Use::RecoverPassword)?;
        }
        sign_in::record_failure(site, call, tx, name, &accounts)?;
        Ok(Outcome::Wrong)
    })?;
    if let Some(member_id) = recovered.get() {
        renew_answers(site, member_id, &proof.answers)?;
    }
    Ok(outcome)
}

/// Spends a passcode. True if the passcode is right and its address or number is still the member's: a mailbox that the
/// member has given up recovers nothing.
pub(crate) fn take_passcode(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    usage: Use,
    passcode: &str,
) -> Result<bool, Failure> {
    let Some(target) = passcode::take(site, tx, member_id, usage, passcode)? else { return Ok(false) };
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let by_mail = profile.email_verified && profile.email.eq_ignore_ascii_case(&target);
    Ok(by_mail || (profile.phone_verified && profile.phone == target))
}

/// Whether a new password is strong enough, or why not.
enum Strength {
    Enough,
    /// The password is weak for every account: the caller gets the reason at once.
    WeakForAnybody(Text),
    /// The password resembles the owner's data. The reason would reveal that data to a stranger, so it is reported only
    /// with the right passcode.
    WeakForOwner(Text),
}

/// Checks the strength of a password. A weak password is checked a second time against the typed name only, also for an
/// unknown name.
fn judge_strength(site: &Site, name: &str, account: Option<&Account>, secret: &str) -> Result<Strength, Failure> {
    let tunnel = site.name()?;
    let profile = match account {
        Some(account) => site.store.read(|tx| Ok(members::find(tx, account.member_id)?))?,
        None => None,
    };
    let owner = profile.as_ref().map_or(stranger(name, &tunnel), |profile| profile.owner(&tunnel));
    let Err(for_owner) = password::check(secret, &owner) else { return Ok(Strength::Enough) };
    Ok(match password::check(secret, &stranger(name, &tunnel)) {
        Err(text) => Strength::WeakForAnybody(text),
        Ok(()) => Strength::WeakForOwner(for_owner),
    })
}

/// An owner with only the typed name.
fn stranger<'a>(name: &'a str, tunnel: &'a str) -> Owner<'a> {
    Owner { username: name, site: tunnel, ..Owner::default() }
}

/// Whether every question of the member is answered correctly; true for a member without questions. One hash is made for
/// each question that the name is asked, whether or not there is an account or an answer; other answers are ignored.
fn answers_are_right(
    site: &Site,
    name: &str,
    account: Option<&Account>,
    answers: &[(i64, String)],
) -> Result<bool, Failure> {
    let own = match account {
        Some(account) => site.store.read(|tx| Ok(security_answers::list(tx, account.member_id)?))?,
        None => Vec::new(),
    };
    let mut right = 0;
    for asked in list_questions(site, name)? {
        let answer = answers.iter().find(|(number, _)| *number == asked).map(|(_, answer)| answer.as_str());
        let phc = own.iter().find(|(question, _)| *question == asked).map(|(_, phc)| phc.as_str());
        let is_right = site.is_hash_of(&questions::normalise(answer.unwrap_or("")), phc);
        right += usize::from(is_right && answer.is_some());
    }
    Ok(right == own.len())
}

/// Makes new hashes of the answers whose typed form is not in Unicode's composed form, because the stored hash may be of
/// the typed form. Only after a recovery, which proved the answers to be right: otherwise they would cost time.
fn renew_answers(site: &Site, member_id: MemberId, answers: &[(i64, String)]) -> Result<(), Failure> {
    let own = site.store.read(|tx| Ok(security_answers::list_questions(tx, member_id)?))?;
    let typed = answers.iter().map(|(number, answer)| (*number, questions::normalise(answer)));
    let old = typed.filter(|(number, answer)| own.contains(number) && nfc(answer) != *answer);
    let renewed: Vec<(i64, String)> = old.map(|(number, answer)| (number, site.hash(&answer))).collect();
    if renewed.is_empty() {
        return Ok(());
    }
    site.store.write(site.now(), |tx| {
        for (question, answer_hash) in &renewed {
            security_answers::renew(tx, member_id, *question, answer_hash)?;
        }
        Ok(())
    })
}
