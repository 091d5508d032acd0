//! `Idempotency-Key`: a request with the same key and body gets the first answer again, also after a crash. The outcome
//! of the effect is kept, sealed, in the transaction of the effect. The edge renders it after the commit, for the first
//! request and for each repeat alike, so that no page, status or header is stored.
//!
//! The numbers of forms are kept beside the outcomes: a form that is sent twice is applied once.

use super::{Change, RankedActor};
use crate::auth::limits::{self, Whose};
use crate::domain::ids::MemberId;
use crate::http::call::{AuthOutcome, Call, IdempotentRequest, PrincipalId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::{Purpose, columns, hex};
use crate::log;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::replays::{self, StoredOutcome};
use crate::store::tables::second_factors::{self, Kind};
use crate::store::tables::{members, sessions};
use crate::store::{Read, Write};
use http::StatusCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::type_name;

/// The text for a kept outcome that this version of the program does not read.
const OF_OLD_VERSION: &str = "field.idempotency_key_of_old_version";

/// What is kept of a request.
#[derive(Serialize, Deserialize)]
struct Kept<O> {
    shows: Option<Shown>,
    outcome: O,
}

/// The credentials that an outcome shows, as they were then.
#[derive(PartialEq, Serialize, Deserialize)]
struct Shown {
    member_id: MemberId,
    /// A keyed hash of password, second factor and ban (hex).
    credentials: String,
}

impl Shown {
    fn now(site: &Site, tx: &Read, member_id: MemberId) -> Result<Shown, Failure> {
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        // Also a secret that nobody can prove any more, so that time alone changes nothing.
        let factor = second_factors::find(tx, member_id, Moment(0))?;
        let kind = factor.kind.map_or("", Kind::name);
        let parts: [&[u8]; 6] = [
            b"credentials",
            account.password_hash.as_deref().unwrap_or_default().as_bytes(),
            &[u8::from(account.banned)],
            kind.as_bytes(),
            factor.sealed.as_deref().unwrap_or_default(),
            factor.sealed_pending.as_deref().unwrap_or_default(),
        ];
        Ok(Shown { member_id, credentials: hex(&site.keys.hash(Purpose::Replay, &parts)) })
    }
}

/// Runs an effect as [`super::change`], for a call that may be repeated under one `Idempotency-Key`: the outcome is kept with
/// the effect, and a repeat gets it without the effect.
#[track_caller]
pub(crate) fn change_once<O: Serialize + DeserializeOwned>(
    site: &Site,
    call: &Call,
    actor: impl Into<RankedActor>,
    effect: impl FnOnce(&Change) -> Result<O, Failure>,
) -> Result<O, Failure> {
    let actor = &actor.into();
    let effect = |tx: &Write| effect(&actor.change(site, tx, call.language()));
    let Some(request) = call.idempotency.get() else { return site.store.write(site.now(), effect) };
    if let Some(outcome) = site.store.read(|tx| find(site, tx, request))? {
        return Ok(outcome);
    }
    site.store.write(site.now(), |tx| {
        if let Some(outcome) = find(site, tx, request)? {
            return Ok(outcome);
        }
        count_outcome(site, call)?;
        let outcome = effect(tx)?;
        if !is_delayed(call) {
            keep(site, tx, call, request, &outcome)?;
        }
        Ok(outcome)
    })
}

/// Runs an operation whose work before its [`change_once`] counts or takes time: a repeat gets the kept outcome without
/// that work. An outcome without a [`change_once`], such as that of a wrong password, is kept here, unless the operation
/// only read.
pub(crate) fn once<O: Serialize + DeserializeOwned>(
    site: &Site,
    call: &Call,
    operation: impl FnOnce() -> Result<O, Failure>,
) -> Result<O, Failure> {
    let Some(request) = call.idempotency.get() else { return operation() };
    if let Some(outcome) = site.store.read(|tx| find(site, tx, request))? {
        return Ok(outcome);
    }
    let writes = site.store.writes();
    let outcome = operation()?;
    let only_read = site.store.writes() == writes;
    let kept_as = request.kept_as.get();
    debug_assert!(kept_as.is_none_or(|kept| kept == type_name::<O>()), "a repeat would read another type");
    if kept_as.is_some() || only_read || is_delayed(call) {
        return Ok(outcome);
    }
    keep_afterwards(site, call, request, outcome)
}

/// Keeps the outcome of what has been done already. Where it cannot be kept, the answer is given all the same.
fn keep_afterwards<O: Serialize + DeserializeOwned>(
    site: &Site,
    call: &Call,
    request: &IdempotentRequest,
    outcome: O,
) -> Result<O, Failure> {
    let kept = site.store.write(site.now(), |tx| {
        if let Some(first) = find(site, tx, request)? {
            return Ok(Some(first));
        }
        count_outcome(site, call)?;
        keep(site, tx, call, request, &outcome)?;
        Ok(None)
    });
    match kept {
        Ok(first) => Ok(first.unwrap_or(outcome)),
        Err(failure) if failure.status() == StatusCode::TOO_MANY_REQUESTS => Ok(outcome),
        Err(failure) if failure.status().is_server_error() => {
            let cause = failure.cause();
            if let Some(left_out) = log::due(("outcome not kept", cause)) {
                tracing::warn!(cause, left_out, "the outcome of a request with an idempotency key was not kept");
            }
            Ok(outcome)
        }
        Err(failure) => Err(failure),
    }
}

/// The kept outcome of the request, if it is still in force. 422 for another body under the same key, and
/// where another version of the program kept the outcome in a form that this one does not read: the effect is not repeated.
fn find<O: DeserializeOwned>(site: &Site, tx: &Read, request: &IdempotentRequest) -> Result<Option<O>, Failure> {
    let Some(found) = replays::find(tx, &request.replay_key, site.now())? else { return Ok(None) };
    let refused = |key| Failure::idempotency_key_reused().with_problem("Idempotency-Key", Text::new(key));
    if found.body_digest != request.body_digest {
        return Err(refused("field.idempotency_key_reused"));
    }
    if found.outcome.is_empty() {
        return Ok(None);
    }
    // An outcome with an ended token is worth nothing: the operation runs again.
    if let Some(token_hash) = &found.token_hash
        && !sessions::is_in_force(tx, token_hash, site.now())?
    {
        return Ok(None);
    }
    let plain = site.keys.unseal(&columns::OUTCOME.at([(&request.replay_key).into()]), &found.outcome);
    let plain = plain.ok_or_else(|| Failure::broken().because("a kept outcome is not sealed by this site's key"))?;
    let unreadable = |e| refused(OF_OLD_VERSION).saying(Text::new(OF_OLD_VERSION)).because(e);
    let Kept { shows, outcome } = serde_json::from_slice(&plain).map_err(unreadable)?;
    // Credentials that were replaced are shown to nobody, least of all to whoever knows the old ones.
    if let Some(shown) = shows
        && shown != Shown::now(site, tx, shown.member_id)?
    {
        return Ok(None);
    }
    request.kept_as.set(Some(type_name::<O>()));
    Ok(Some(outcome))
}

fn keep<O: Serialize>(
    site: &Site,
    tx: &Write,
    call: &Call,
    request: &IdempotentRequest,
    outcome: &O,
) -> Result<(), Failure> {
    let shows = request.shown_of.get().map(|member_id| Shown::now(site, tx, member_id)).transpose()?;
    let plain = serde_json::to_vec(&Kept { shows, outcome }).map_err(|e| Failure::broken().because(e))?;
    // Beyond the caller's share the effect is taken back.
    limits::KEY_KILOBYTES.take_several(site, call.principal.get(), plain.len().div_ceil(1024) as i64)?;
    let kept = StoredOutcome {
        body_digest: request.body_digest,
        outcome: site.keys.seal(&columns::OUTCOME.at([(&request.replay_key).into()]), &plain),
        token_hash: request.token_hash.get(),
        booking_id: request.booking_id.get(),
    };
    replays::insert(tx, &request.replay_key, &kept)?;
    request.kept_as.set(Some(type_name::<O>()));
    Ok(())
}

/// Counts one kept outcome; 429 beyond the caller's share.
fn count_outcome(site: &Site, call: &Call) -> Result<(), Failure> {
    match call.principal.get() {
        PrincipalId::Anyone => {
            limits::KEYS_OF_NETWORK.take(site, call.network())?;
            limits::KEYS_OF_STRANGERS.take(site, Whose::All)
        }
        principal => limits::KEYS.take(site, principal),
    }
}

/// Whether the call was an attempt during a delay, which was not read: its repeat is one more attempt.
fn is_delayed(call: &Call) -> bool {
    call.outcome.get() == AuthOutcome::Delayed
}

impl Change<'_> {
    /// Marks the form of this number as sent. Returns whether it was sent for the first time: the effect of a form whose
    /// answer is shown once, such as a new secret, is not repeated where a browser loads the answer again. A form without
    /// a number is always new.
    pub(crate) fn is_first_sending(&self, form_number: Option<i64>) -> Result<bool, Failure> {
        self.is_first_sending_of(form_number, "")
    }

    /// As [`Change::is_first_sending`], for a form to which a person may go back: 409 where it was sent before with another
    /// `content`, which stands.
    pub(crate) fn is_first_sending_of(&self, form_number: Option<i64>, content: &str) -> Result<bool, Failure> {
        let Some(number) = form_number else { return Ok(true) };
        // At the desk a form is one, whoever sends it again; a member's is nobody else's.
        let whose = if self.rank.is_staff() { 0 } else { self.member_id().map_or(0, i64::from) };
        let replay_key = self.site.keys.hash(Purpose::Replay, &[b"form", &whose.to_be_bytes(), &number.to_be_bytes()]);
        let body_digest = self.site.keys.hash(Purpose::Replay, &[b"content", content.as_bytes()]);
        if let Some(before) = replays::find(self.tx, &replay_key, self.now())? {
            let is_same = before.body_digest == body_digest;
            let refused = || Failure::exists().saying(Text::new("kiosk.form_sent_before"));
            return if is_same { Ok(false) } else { Err(refused()) };
        }
        let nothing = StoredOutcome { body_digest, outcome: Vec::new(), token_hash: None, booking_id: None };
        replays::insert(self.tx, &replay_key, &nothing)?;
        Ok(true)
    }
}
