//! ID tokens of OpenID Connect (signed JWTs), and every check of one.

use super::keys::KeySet;
use crate::http::fields;
use crate::keys::hex;
use crate::moment::Moment;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

const CHARS_MAX: usize = 8 * 1024;
const SUBJECT_CHARS_MAX: usize = 255;
/// How far the network's clock may be ahead of ours.
const AHEAD_SECONDS_MAX: i64 = 60;
/// Networks issue tokens for an hour or a day; a longer life is refused.
const LIFE_SECONDS_MAX: i64 = 86_400 + AHEAD_SECONDS_MAX;

/// The values that a token's claims must have.
pub(super) struct Expected<'a> {
    pub issuers: &'a [&'a str],
    pub audiences: &'a [String],
    /// The nonce that the app chose for this sign-in and asked the network to put into the token.
    pub nonce: Option<&'a str>,
    /// Unix seconds.
    pub now: Moment,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: String,
    /// Extensions that the receiver must support; this one supports none.
    crit: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    aud: Audience,
    #[serde(deserialize_with = "seconds")]
    exp: Moment,
    #[serde(deserialize_with = "seconds")]
    iat: Moment,
    #[serde(default, deserialize_with = "seconds_if_any")]
    nbf: Option<Moment>,
    nonce: Option<String>,
    pub sub: String,
    pub email: Option<String>,
    email_verified: Option<Value>,
    pub name: Option<String>,
}

/// One audience, also as a list of one. A token for several apps is refused.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    Plain(String),
    Listed([String; 1]),
}

/// A moment of a token: seconds, which may have a fraction (RFC 7519).
pub(crate) fn seconds<'de, D: Deserializer<'de>>(number: D) -> Result<Moment, D::Error> {
    let value = Value::deserialize(number)?;
    let moment = if value.is_number() { fields::seconds(&value).map(Moment) } else { None };
    moment.ok_or_else(|| D::Error::custom("not a number of seconds"))
}

pub(crate) fn seconds_if_any<'de, D: Deserializer<'de>>(number: D) -> Result<Option<Moment>, D::Error> {
    seconds(number).map(Some)
}

impl Claims {
    /// Apple sends the flag as a string.
    pub(super) fn email_is_verified(&self) -> bool {
        matches!(&self.email_verified, Some(Value::Bool(true))) || self.email_verified.as_ref() == Some(&"true".into())
    }

    /// Whether token and request have the same nonce, or none. The token may have the nonce itself or its SHA-256 in hex, as
    /// Apple advises.
    fn is_made_for(&self, nonce: Option<&str>) -> bool {
        match (self.nonce.as_deref(), nonce) {
            (None, None) => true,
            (Some(own), Some(nonce)) => own == nonce || own == hex(&Sha256::digest(nonce)),
            _ => false,
        }
    }

    fn are_as(&self, expected: &Expected) -> bool {
        let (Audience::Plain(audience) | Audience::Listed([audience])) = &self.aud;
        let latest = expected.now + AHEAD_SECONDS_MAX;
        expected.issuers.contains(&self.iss.as_str())
            && expected.audiences.contains(audience)
            && self.exp > expected.now
            && (expected.now - LIFE_SECONDS_MAX..=latest).contains(&self.iat)
            && self.exp.0.checked_sub(self.iat.0).is_some_and(|life| (1..=LIFE_SECONDS_MAX).contains(&life))
            && self.nbf.is_none_or(|from| from <= latest)
            && self.is_made_for(expected.nonce)
            && is_subject(&self.sub)
    }
}

/// Whether the text can be a network's id of a person: printable ASCII of a limited length.
pub(super) fn is_subject(text: &str) -> bool {
    (1..=SUBJECT_CHARS_MAX).contains(&text.len()) && text.chars().all(|c| c.is_ascii_graphic())
}

/// The claims of a valid token.
pub(super) fn check(token: &str, keys: &KeySet, expected: &Expected) -> Option<Claims> {
    if token.len() > CHARS_MAX {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    if header.crit.is_some() || !keys.verify(&header.kid, &header.alg, signed.as_bytes(), &signature) {
        return None;
    }
    let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    claims.are_as(expected).then_some(claims)
}
