//! Partners: a request is authenticated by `token`, the HMAC of its body under one of the partner's secrets. A strict partner
//! signs the time before the body; some operations demand of every partner that it signs the whole request.

use super::limits;
use crate::auth::refusals::Refusals;
use crate::domain::ids::PartnerId;
use crate::http::call::{Call, PrincipalId, TOKEN};
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::Reply;
use crate::i18n::language::Text;
use crate::keys::{Purpose, hex, hmac_sha256, random, unhex};
use crate::log;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::partners::{self, Secret};
use http::HeaderName;
use ipnet::IpNet;
use std::net::IpAddr;
use subtle::ConstantTimeEq;

const CLIENT_ID: HeaderName = HeaderName::from_static("client-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("x-timestamp");
const NONCE: HeaderName = HeaderName::from_static("x-nonce");
const NONCE_CHARS: std::ops::RangeInclusive<usize> = 16..=64;
const SECRET_BYTES: usize = 32;
const CLIENT_ID_CHARS_SHOWN: usize = 64;

/// A partner with a right signature.
#[derive(Debug)]
pub struct Partner {
    id: PartnerId,
    /// The secret that signed.
    secret_id: i64,
    client_id: String,
    requests_per_minute: Option<i64>,
}

impl Partner {
    pub(crate) fn id(&self) -> PartnerId {
        self.id
    }

    pub(crate) fn secret_id(&self) -> i64 {
        self.secret_id
    }

    pub(crate) fn client_id(&self) -> &str {
        &self.client_id
    }

    /// Adds to an answer how many requests the partner may send a minute, how many of them now, and in how many seconds all.
    pub(super) fn tell_pace(&self, site: &Site, reply: Reply) -> Reply {
        let left = || limits::PARTNER.find_left(site, self.id);
        let Some((per_minute, (left, full_in))) = self.requests_per_minute.zip(left()) else { return reply };
        reply
            .with_header(HeaderName::from_static("ratelimit-limit"), per_minute.into())
            .with_header(HeaderName::from_static("ratelimit-remaining"), left.into())
            .with_header(HeaderName::from_static("ratelimit-reset"), full_in.into())
    }
}

/// A new secret. The HMAC key is the secret as text: 64 ASCII characters.
pub(crate) fn new_secret() -> String {
    hex(&random::<SECRET_BYTES>())
}

/// Checks the signature, then the address, then the rate limit, then (of a strict partner, and where the whole request is
/// signed) the time and the first use. The desk sees the refusals.
pub(crate) fn admit(site: &Site, call: &Call) -> Result<Partner, Failure> {
    check(site, call).map_err(|Rejection { failure, partner_id, why }| {
        site.state::<Refusals>().note(call, site.now(), partner_id, &failure, why);
        failure
    })
}

/// A refused call: the failure for the caller, the partner as far as known, and the reason for the desk.
struct Rejection {
    failure: Failure,
    partner_id: Option<PartnerId>,
    why: Text,
}

impl Rejection {
    fn new(failure: Failure, partner_id: Option<PartnerId>, key: &'static str) -> Rejection {
        Rejection { failure, partner_id, why: Text::new(key) }
    }
}

impl From<Failure> for Rejection {
    fn from(failure: Failure) -> Rejection {
        let why = failure.text().clone();
        Rejection { failure, partner_id: None, why }
    }
}

fn check(site: &Site, call: &Call) -> Result<Partner, Rejection> {
    // An id that is no text is the id of no client.
    let client_id = call.headers.get(CLIENT_ID).map(|id| String::from_utf8_lossy(id.as_bytes()));
    let client_id = client_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
    if call.row.client_id && client_id.is_none() {
        return Err(Rejection::new(Failure::client_id_missing(), None, "refused.client_id_missing"));
    }
    let now = site.now();
    let digest = call.header(TOKEN).and_then(unhex).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let Some(digest) = digest else {
        let key = if call.header(TOKEN).is_some() { "refused.token_form" } else { "refused.token_missing" };
        return Err(Rejection::new(Failure::bad_signature(), named(site, client_id)?.map(|one| one.partner_id), key));
    };
    if let Err((failure, key)) = check_nonce(call) {
        return Err(Rejection::new(failure, named(site, client_id)?.map(|one| one.partner_id), key));
    }
    let secrets = site.store.read(|tx| Ok(partners::list_secrets(tx, client_id, now)?))?;
    let mut signer = None;
    for secret in &secrets {
        if is_signed(site, call, secret, &digest) {
            signer = Some((&secret.partner, secret.secret_id));
        }
    }
    let Some((signer, secret_id)) = signer else { return Err(unsigned(site, call, client_id, &secrets, &digest)?) };
    call.principal.set(PrincipalId::Partner(signer.partner_id));
    check_terms(site, call, signer, &digest, now)?;
    let partners::Partner { partner_id, requests_per_minute, .. } = *signer;
    Ok(Partner { id: partner_id, secret_id, client_id: signer.client_id.clone(), requests_per_minute })
}

/// Checks the terms of a partner whose signature is right.
fn check_terms(
    site: &Site,
    call: &Call,
    signer: &partners::Partner,
    digest: &[u8; 32],
    now: Moment,
) -> Result<(), Rejection> {
    let reject = |failure, why| Rejection { failure, partner_id: Some(signer.partner_id), why };
    if !site.store.read(|tx| may_call_from(tx, signer.partner_id, call.peer))? {
        let why = Text::new("refused.address").with("address", call.peer);
        return Err(reject(Failure::address_not_allowed(), why));
    }
    if let Some(per_minute) = signer.requests_per_minute {
        let taken = limits::PARTNER.take_of(site, signer.partner_id, per_minute, 1);
        taken.map_err(|failure| reject(failure, Text::new("refused.too_fast").with_count("pace", per_minute)))?;
    }
    if signer.strict || call.row.signs_request {
        check_first_use(site, call, signer.partner_id, digest, now).map_err(|(failure, why)| reject(failure, why))?;
    }
    Ok(())
}

/// The partner that the caller claims to be.
fn named(site: &Site, client_id: Option<&str>) -> Result<Option<partners::Partner>, Failure> {
    let Some(client_id) = client_id else { return Ok(None) };
    site.store.read(|tx| Ok(partners::find(tx, client_id)?))
}

/// The rejection of a digest that no secret made, with the reason, as far as a common mistake explains it.
fn unsigned(
    site: &Site,
    call: &Call,
    client_id: Option<&str>,
    secrets: &[Secret],
    digest: &[u8; 32],
) -> Result<Rejection, Failure> {
    let failure = Failure::bad_signature();
    let Some(client_id) = client_id else { return Ok(Rejection::new(failure, None, "refused.nobody_signed")) };
    let Some(partner) = named(site, Some(client_id))? else {
        let shown: String = client_id.chars().take(CLIENT_ID_CHARS_SHOWN).collect();
        return Ok(Rejection {
            failure,
            partner_id: None,
            why: Text::new("refused.client_unknown").with("client_id", shown),
        });
    };
    let key = match (partner.revoked_at, secrets) {
        (Some(_), _) => "refused.revoked",
        (None, []) => "refused.no_secret",
        _ => secrets.iter().find_map(|secret| mistake(site, call, secret, digest)).unwrap_or("refused.signature"),
    };
    Ok(Rejection::new(failure, Some(partner.partner_id), key))
}

/// The common mistake that explains a wrong digest.
fn mistake(site: &Site, call: &Call, secret: &Secret, digest: &[u8; 32]) -> Option<&'static str> {
    let key = secret.open(&site.keys)?;
    let made_of = |key: &[u8], parts: &[&[u8]]| bool::from(hmac_sha256(key, parts).ct_eq(digest));
    let decoded = std::str::from_utf8(&key).ok().and_then(unhex).unwrap_or_default();
    let timestamp = call.header(TIMESTAMP).unwrap_or_default();
    if made_of(&decoded, &[&call.body]) {
        Some("refused.key_decoded")
    } else if call.row.signs_request {
        Some("refused.request_unsigned")
    } else if secret.partner.strict && made_of(&key, &[&call.body]) {
        Some("refused.timestamp_unsigned")
    } else if !secret.partner.strict && made_of(&key, &[timestamp.as_bytes(), b".", &call.body]) {
        Some("refused.timestamp_signed")
    } else if made_of(&key, &[call.body.trim_ascii()]) {
        Some("refused.body_trimmed")
    } else if made_of(&key, &[]) || made_of(&key, &[b"{}"]) {
        Some("refused.body_left_out")
    } else {
        None
    }
}

/// The digest that this body needs, in lowercase hex. A strict partner signs the time before the body. `None`: the secret is
/// damaged.
pub(crate) fn expected(site: &Site, secret: &Secret, timestamp: Option<&str>, body: &[u8]) -> Option<String> {
    let key = secret.open(&site.keys)?;
    Some(hex(&match timestamp {
        Some(timestamp) => hmac_sha256(&key, &[timestamp.as_bytes(), b".", body]),
        None => hmac_sha256(&key, &[body]),
    }))
}

/// 401 where the operation needs a time and a nonce and the request lacks one, or the nonce is none.
fn check_nonce(call: &Call) -> Result<(), (Failure, &'static str)> {
    if call.row.signs_request && call.header(TIMESTAMP).is_none() {
        return Err((Failure::bad_timestamp(), "refused.timestamp_missing"));
    }
    let is_nonce = |text: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        NONCE_CHARS.contains(&text.len()) && text.bytes().all(allowed)
    };
    match call.headers.get(NONCE) {
        None if !call.row.signs_request => Ok(()),
        Some(_) if call.header(NONCE).is_some_and(is_nonce) => Ok(()),
        _ => Err((Failure::bad_nonce(), "refused.nonce")),
    }
}

/// What the partner signs before the body: nothing; the time, and the nonce if there is one; or the line of the request
/// too, with and without the prefix of the API.
fn signed_before_body(call: &Call, strict: bool) -> Vec<String> {
    let (timestamp, nonce) = (call.header(TIMESTAMP).unwrap_or_default(), call.header(NONCE));
    match nonce {
        Some(nonce) if call.row.signs_request => {
            let paths = [Some(&*call.path), call.path.strip_prefix(call.row.base)];
            let mark = if call.query.is_empty() { "" } else { "?" };
            let line = |path: &str| format!("{timestamp}.{nonce}.{} {path}{mark}{}.", call.method, call.query);
            paths.into_iter().flatten().map(line).collect()
        }
        _ if !strict || timestamp.is_empty() => vec![String::new()],
        Some(nonce) => vec![format!("{timestamp}.{nonce}.")],
        None => vec![format!("{timestamp}.")],
    }
}

/// Compares in constant time. Of an empty body the digest of zero bytes and of `{}` are right: both are in use.
fn is_signed(site: &Site, call: &Call, secret: &Secret, digest: &[u8; 32]) -> bool {
    let Some(key) = secret.open(&site.keys) else {
        let partner = secret.partner.partner_id.0;
        if let Some(left_out) = log::due(("damaged secret", partner)) {
            tracing::error!(partner, left_out, "a secret of this partner is damaged; rotate it");
        }
        return false;
    };
    let mut is_right = false;
    for before in signed_before_body(call, secret.partner.strict) {
        let made_of = |body: &[u8]| bool::from(hmac_sha256(&key, &[before.as_bytes(), body]).ct_eq(digest));
        is_right |= made_of(&call.body) | (call.body.is_empty() && made_of(b"{}"));
    }
    is_right
}

/// Whether a partner may call from an address: from anywhere, or from its allowed networks.
pub(super) fn may_call_from(tx: &Read, partner_id: PartnerId, peer: IpAddr) -> Result<bool, Failure> {
    let networks = partners::list_networks(tx, partner_id)?;
    let has_peer = |network: &String| network.parse::<IpNet>().is_ok_and(|network| network.contains(&peer));
    Ok(networks.is_empty() || networks.iter().any(has_peer))
}

/// A signed time must be recent, and its signature not used. Without the time, every call with the same body would have the
/// same signature. A strict partner may repeat the same `GET`: a client library does so by itself when a connection breaks.
fn check_first_use(
    site: &Site,
    call: &Call,
    partner_id: PartnerId,
    digest: &[u8; 32],
    now: Moment,
) -> Result<(), (Failure, Text)> {
    if site.clock.is_suspect() {
        return Err((Failure::clock_suspect(), Text::new("refused.clock_suspect")));
    }
    let timestamp: Option<Moment> = call.header(TIMESTAMP).and_then(|t| fields::moment(&t.into()).ok());
    let Some(timestamp) = timestamp else {
        return Err((Failure::bad_timestamp(), Text::new("refused.timestamp_missing")));
    };
    let away = (now - timestamp).unsigned_abs();
    if away > partners::TIMESTAMP_SECONDS as u64 {
        let failure = Failure::bad_timestamp().saying(Text::new("bad_timestamp.away").with("seconds", away));
        return Err((failure, Text::new("refused.timestamp_away").with("seconds", away)));
    }
    let parts = [call.method.as_str(), &call.path, &call.query];
    let request_digest = site.keys.hash(Purpose::Replay, &parts.map(str::as_bytes));
    let used = site.store.write(now, |tx| Ok(partners::use_signature(tx, partner_id, digest, &request_digest)?));
    match used {
        Ok(None) => Ok(()),
        Ok(Some(true)) if call.reads() && !call.row.signs_request => Ok(()),
        Ok(Some(_)) => Err((Failure::signature_repeated(), Text::new("refused.repeated"))),
        Err(failure) => {
            let why = failure.text().clone();
            Err((failure, why))
        }
    }
}
