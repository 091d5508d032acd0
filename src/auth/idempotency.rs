//! `Idempotency-Key`: the same key and body get the first answer again, also after a crash.

use super::limits::{self, Whose};
use super::session;
use crate::http::Answer;
use crate::http::call::{AuthOutcome, Call, IdempotentRequest, PrincipalId};
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::keys::{Purpose, columns};
use crate::log;
use crate::site::Site;
use crate::store::tables::replays::{self, StoredReply};
use crate::store::tables::sessions;
use crate::store::{Read, Write};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use std::cell::Cell;

const HEADER: &str = "idempotency-key";
const KEY_CHARS_MAX: usize = 255;
/// This bit of a stored status says that headers follow it. No status has it.
const WITH_HEADERS: u16 = 1 << 15;

/// Returns the stored answer of a repeated request, else runs the operation. An operation that wrote in several transactions
/// (a refused sign-in) has its answer stored here. Of one that only read nothing is stored, and its key has no effect.
pub(crate) fn run(site: &Site, call: &Call, caller: PrincipalId, operation: impl FnOnce() -> Answer) -> Answer {
    let Some(request) = prepare(site, call, caller)? else { return operation() };
    if let Some(answer) = site.store.read(|tx| find_stored(site, tx, &request))? {
        return Ok(answer);
    }
    let request = call.idempotency.get_or_init(|| request);
    let writes = site.store.writes();
    let reply = operation()?;
    let only_read = site.store.writes() == writes;
    if request.is_stored.get() || only_read || reply.rest.is_some() || is_delayed(call) {
        return Ok(reply);
    }
    match site.once(call, |_| Ok(reply.again())) {
        // Beyond the caller's share the answer is given without being stored, since what it tells has been done.
        Err(failure) if failure.status() == StatusCode::TOO_MANY_REQUESTS => Ok(reply),
        Err(failure) if failure.status().is_server_error() => {
            let cause = failure.cause();
            if let Some(left_out) = log::due(("answer not stored", cause)) {
                tracing::warn!(cause, left_out, "the answer to a request with an idempotency key was not stored");
            }
            Ok(reply)
        }
        answer => answer,
    }
}

/// Whether the call was an attempt during a delay, which was not read: its repeat is one more attempt.
fn is_delayed(call: &Call) -> bool {
    call.outcome.get() == AuthOutcome::Delayed
}

/// Counts one stored outcome; 429 beyond the caller's share.
fn count_outcome(site: &Site, call: &Call) -> Result<(), Failure> {
    match call.principal.get() {
        PrincipalId::Anyone => {
            limits::KEYS_OF_NETWORK.take(site, call.network())?;
            limits::KEYS_OF_STRANGERS.take(site, Whose::All)
        }
        principal => limits::KEYS.take(site, principal),
    }
}

/// Counts the bytes of one stored outcome; 429 beyond the caller's share, which takes the effect back.
fn count_bytes(site: &Site, call: &Call, bytes: usize) -> Result<(), Failure> {
    limits::KEY_KILOBYTES.take_several(site, call.principal.get(), bytes.div_ceil(1024) as i64)
}

/// Runs an effect and stores its answer, in one transaction, once for each key.
fn run_in_transaction(site: &Site, tx: &Write, call: &Call, effect: impl FnOnce(&Write) -> Answer) -> Answer {
    let Some(request) = call.idempotency.get() else { return effect(tx) };
    if let Some(answer) = find_stored(site, tx, request)? {
        return Ok(answer);
    }
    count_outcome(site, call)?;
    let reply = effect(tx)?;
    if is_delayed(call) {
        return Ok(reply);
    }
    let written = written(&reply);
    count_bytes(site, call, written.len())?;
    let answer = site.keys.seal(&columns::ANSWER.at([(&request.replay_key).into()]), &written);
    let (body_digest, token_hash) = (request.body_digest, request.token_hash.get());
    let kept = StoredReply { body_digest, answer, token_hash, booking_id: request.booking_id.get() };
    replays::insert(tx, &request.replay_key, &kept)?;
    request.is_stored.set(true);
    Ok(reply)
}

fn prepare(site: &Site, call: &Call, caller: PrincipalId) -> Result<Option<IdempotentRequest>, Failure> {
    if call.method != Method::POST || !call.headers.contains_key(HEADER) {
        return Ok(None);
    }
    let sound = |key: &&str| key.len() <= KEY_CHARS_MAX && key.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    let key = call.header(HEADER).filter(sound);
    let key = key.ok_or_else(|| {
        Failure::field("Idempotency-Key", Text::new("field.idempotency_key").with("max", KEY_CHARS_MAX))
    })?;
    // An open operation may still answer by the credential that a call carries, so the credential is part of the key.
    let carried = if caller == PrincipalId::Anyone { session::token(call).unwrap_or("") } else { "" };
    let whose = format!("{} {carried}", caller.text());
    // The path's parameters are part of the request, so the same key for another entry is another key.
    let mut parts = vec![call.row.path.as_bytes(), whose.as_bytes(), key.as_bytes()];
    parts.extend(call.params.iter().map(String::as_bytes));
    Ok(Some(IdempotentRequest {
        replay_key: site.keys.hash(Purpose::Replay, &parts),
        body_digest: site.keys.hash(Purpose::Replay, &[&call.body]),
        is_stored: Cell::new(false),
        token_hash: Cell::new(None),
        booking_id: Cell::new(None),
    }))
}

fn find_stored(site: &Site, tx: &Read, request: &IdempotentRequest) -> Result<Option<Reply>, Failure> {
    let Some(found) = replays::find(tx, &request.replay_key, site.now())? else { return Ok(None) };
    if found.body_digest != request.body_digest {
        let text = Text::new("field.idempotency_key_reused");
        return Err(Failure::idempotency_key_reused().with_problem("Idempotency-Key", text));
    }
    if found.answer.is_empty() {
        return Ok(None);
    }
    // An answer with an ended token is worth nothing: the operation runs again.
    if let Some(token_hash) = &found.token_hash
        && !sessions::is_in_force(tx, token_hash, site.now())?
    {
        return Ok(None);
    }
    let plain = site.keys.unseal(&columns::ANSWER.at([(&request.replay_key).into()]), &found.answer);
    let plain = plain.ok_or_else(|| Failure::broken().because("a stored answer is not sealed by this site's key"))?;
    let reply = read(&plain).ok_or_else(|| Failure::broken().because("a stored answer cannot be read"))?;
    request.is_stored.set(true);
    Ok(Some(reply))
}

/// The stored form of an answer: the status with [`WITH_HEADERS`], the length of the headers, the headers as lines
/// `name:value`, and the body. Cookies are not stored: a repeat must not sign a browser in.
fn written(reply: &Reply) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in reply.headers.iter().filter(|(name, _)| *name != header::SET_COOKIE) {
        headers.extend([name.as_str().as_bytes(), b":", value.as_bytes(), b"\n"].concat());
    }
    let status = (reply.status.as_u16() | WITH_HEADERS).to_be_bytes();
    [&status, &(headers.len() as u32).to_be_bytes()[..], &headers, &reply.body].concat()
}

/// Reads the form of [`written`], or that of versions that stored no headers: the status and the body, which is JSON.
fn read(stored: &[u8]) -> Option<Reply> {
    let (first, rest) = stored.split_first_chunk()?;
    let first = u16::from_be_bytes(*first);
    let status = StatusCode::from_u16(first & !WITH_HEADERS).ok()?;
    if first & WITH_HEADERS == 0 {
        return Some(reply::json_again(status, rest.to_vec()));
    }
    let (length, rest) = rest.split_first_chunk()?;
    let (lines, body) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let mut headers = HeaderMap::new();
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        headers.append(name, HeaderValue::from_bytes(&line[colon + 1..]).ok()?);
    }
    Some(Reply { headers, ..reply::json_again(status, body.to_vec()) })
}

impl Site {
    /// Runs an operation's effect as one transaction. Where the caller sent an `Idempotency-Key`, the answer is kept in
    /// the same transaction, and a request gets it again without the effect.
    pub(crate) fn once(&self, call: &Call, effect: impl FnOnce(&Write) -> Answer) -> Answer {
        self.store.write(self.now(), |tx| run_in_transaction(self, tx, call, effect))
    }
}
