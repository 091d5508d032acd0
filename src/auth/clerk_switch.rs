//! Switching between clerks at a shared screen. Each clerk signs in there once in full; from then on the browser holds a
//! session of each: one is open, and the others are parked. The token of a parked session opens nothing until its owner
//! resumes the session, by passkey (two factors in itself) or by PIN.
//!
//! A PIN is weak, and the desk hands out those of members. Here a PIN resumes only a session that the same clerk opened in
//! full in this very browser, at most [`PIN_SECONDS`] ago; never an admin's; and five wrong PINs end the session. A PIN is
//! no proof of identity for changes of credentials. A new password, a ban, another role and *sign out everywhere* end
//! parked sessions like all others.

use super::clerk::{self, Clerk};
use super::cookie::Cookie;
use super::pin;
use super::session::{new_token, token_hash};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::sessions::{self, Parked, TokenHash};
use crate::store::tables::{audit, failed_attempts};
use crate::store::{Read, Write};

/// How long after a full sign-in a PIN is enough to resume: a shift.
const PIN_SECONDS: i64 = 12 * 3600;
const WRONG_PINS_MAX: i64 = super::limits::SWITCH_PINS.fixed();
/// Parked sessions of one browser; the one parked longest ago is dropped first.
const PARKED_MAX: usize = 8;
/// The tokens of the parked sessions, with a dot between two.
const PARKED: Cookie = Cookie::new("desk-parked", Some(24 * 3600)).with_chars_max(600);

/// A clerk whose session is parked in this browser.
pub(crate) struct Colleague {
    pub(crate) member_id: MemberId,
    pub(crate) name: String,
    pub(crate) username: String,
    /// Whether a PIN is enough.
    pub(crate) by_pin: bool,
    token: String,
    hash: TokenHash,
}

/// The outcome of a PIN.
pub(crate) enum SwitchOutcome {
    /// The token of the resumed session, and the tokens that are parked from now on.
    In { token: String, waiting: Vec<String> },
    /// The translation key of the reason. The transaction must be kept, because it counted a failed attempt.
    Refused(&'static str),
}

fn tokens(site: &Site, call: &Call) -> Vec<String> {
    let line = PARKED.value(site, call).unwrap_or("");
    line.split('.').filter(|token| !token.is_empty()).take(PARKED_MAX).map(str::to_owned).collect()
}

/// The clerks whose sessions are parked in this browser and in force.
pub(crate) fn list(site: &Site, call: &Call, tx: &Read, now: Moment) -> Result<Vec<Colleague>, Failure> {
    let mut colleagues: Vec<Colleague> = Vec::new();
    for token in tokens(site, call) {
        let hash = token_hash(&token);
        let Some(parked) = sessions::find_parked(tx, &hash, now)? else { continue };
        let is_here = colleagues.iter().any(|one| one.member_id == parked.member_id);
        if is_here || parked.banned || !parked.role.is_staff() {
            continue;
        }
        let by_pin = takes_pin(&parked, now);
        let Parked { member_id, name, username, .. } = parked;
        colleagues.push(Colleague { member_id, name, username, by_pin, token, hash });
    }
    Ok(colleagues)
}

fn takes_pin(parked: &Parked, now: Moment) -> bool {
    parked.role == Role::Desk && now - parked.proven_at <= PIN_SECONDS && parked.wrong_pins < WRONG_PINS_MAX
}

/// Parks the open session and resumes the one of `member_id`, by that clerk's PIN. Audited.
pub(crate) fn by_pin(
    site: &Site,
    call: &Call,
    tx: &Write,
    leaving: Option<&Clerk>,
    member_id: MemberId,
    pin: &str,
) -> Result<SwitchOutcome, Failure> {
    let colleagues = list(site, call, tx, tx.now())?;
    let Some(colleague) = colleagues.iter().find(|one| one.member_id == member_id) else {
        return Ok(SwitchOutcome::Refused("change.full_first"));
    };
    if !colleague.by_pin {
        return Ok(SwitchOutcome::Refused("change.passkey_only"));
    }
    if !pin::is_right(site, tx, member_id, pin)? {
        call.outcome.set(AuthOutcome::WrongCredentials);
        failed_attempts::count_one(tx)?;
        sessions::count_wrong_pin(tx, &colleague.hash)?;
        let wrong_pins = sessions::find_parked(tx, &colleague.hash, tx.now())?.map_or(0, |parked| parked.wrong_pins);
        if wrong_pins >= WRONG_PINS_MAX {
            sessions::delete(tx, &colleague.hash)?;
            return Ok(SwitchOutcome::Refused("change.ended"));
        }
        return Ok(SwitchOutcome::Refused("change.wrong"));
    }
    let (token, hash) = new_token();
    call.issues_token(&hash);
    sessions::resume(tx, &colleague.hash, &hash)?;
    record(call, tx, member_id, leaving)?;
    call.outcome.set(AuthOutcome::SignedIn);
    Ok(SwitchOutcome::In { token, waiting: waiting(site, call, tx, member_id)? })
}

/// After a full sign-in in a browser: parks the session that was open there, and ends parked sessions of the same member.
/// Returns the parked tokens.
pub(crate) fn after_sign_in(site: &Site, call: &Call, tx: &Write, opened: &str) -> Result<Vec<String>, Failure> {
    let now = tx.now();
    let Some(session) = sessions::find(tx, &token_hash(opened), now)? else { return Ok(tokens(site, call)) };
    for colleague in list(site, call, tx, now)? {
        if colleague.member_id == session.member_id {
            sessions::delete(tx, &colleague.hash)?;
        }
    }
    waiting(site, call, tx, session.member_id)
}

/// Parks the open session of this browser. Returns the parked tokens except those of `member_id`, the newest first.
fn waiting(site: &Site, call: &Call, tx: &Write, member_id: MemberId) -> Result<Vec<String>, Failure> {
    let mut waiting = Vec::new();
    if let Some(token) = clerk::token(site, call) {
        let hash = token_hash(token);
        let open = sessions::find(tx, &hash, tx.now())?;
        if open.is_some_and(|open| open.member_id != member_id && open.role.is_staff() && !open.banned) {
            sessions::park(tx, &hash)?;
            waiting.push(token.to_owned());
        }
    }
    let others = list(site, call, tx, tx.now())?.into_iter().filter(|one| one.member_id != member_id);
    waiting.extend(others.map(|one| one.token).filter(|token| !waiting.contains(token)).collect::<Vec<_>>());
    waiting.truncate(PARKED_MAX);
    Ok(waiting)
}

fn record(call: &Call, tx: &Write, member_id: MemberId, leaving: Option<&Clerk>) -> Result<(), Failure> {
    let actor = call.actor(member_id);
    let from = leaving.map_or(member_id, Clerk::id);
    audit::insert(tx, &actor, "staff.took_over", &Subject::Member(from), &Detail::none())?;
    Ok(())
}

/// The reply with the cookie of the parked tokens.
pub(crate) fn with_parked_cookie(site: &Site, call: &Call, reply: Reply, waiting: &[String]) -> Reply {
    match waiting.is_empty() {
        true => PARKED.clear(site, call, reply),
        false => PARKED.set(site, call, reply, &waiting.join(".")),
    }
}
