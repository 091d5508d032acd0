//! Facebook's signed request: an HMAC and its payload, both in base64url.

use super::token::{is_subject, seconds_if_any};
use crate::keys::hmac_sha256;
use crate::moment::Moment;
use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use subtle::ConstantTimeEq;

/// With or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const CHARS_MAX: usize = 8 * 1024;
const ALGORITHM: &str = "HMAC-SHA256";
/// A signed request has no expiry of its own.
const AGE_SECONDS_MAX: i64 = 600;
const AHEAD_SECONDS_MAX: i64 = 60;

#[derive(Deserialize)]
struct Payload {
    algorithm: String,
    #[serde(default, deserialize_with = "seconds_if_any")]
    issued_at: Option<Moment>,
    user_id: String,
    /// The access token, which only a sign-in has.
    #[serde(alias = "oauth_token")]
    code: Option<serde::de::IgnoredAny>,
}

/// The user of a recent request with a right digest.
pub(crate) fn subject(secret: &[u8], text: &str, now: Moment) -> Option<String> {
    let payload = open(secret, text)?;
    let fresh = (now - AGE_SECONDS_MAX..=now + AHEAD_SECONDS_MAX).contains(&payload.issued_at?);
    (fresh && is_subject(&payload.user_id)).then_some(payload.user_id)
}

/// The user of a deletion request, of any age. A signed request of a sign-in is refused: a thief of one must not be able to
/// erase the account.
pub(crate) fn deletion(secret: &[u8], text: &str) -> Option<String> {
    let payload = open(secret, text)?;
    (payload.code.is_none() && is_subject(&payload.user_id)).then_some(payload.user_id)
}

/// Checks the digest, and only then decodes the payload.
fn open(secret: &[u8], text: &str) -> Option<Payload> {
    let (digest, payload) = text.split_once('.').filter(|_| text.len() <= CHARS_MAX)?;
    let digest = BASE64.decode(digest).ok()?;
    let right: bool = hmac_sha256(secret, &[payload.as_bytes()])[..].ct_eq(&digest[..]).into();
    let payload: Payload = serde_json::from_slice(&BASE64.decode(payload).ok().filter(|_| right)?).ok()?;
    (payload.algorithm == ALGORITHM).then_some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: &str = "N32LNcvDGXq0GI1jxm-tj1ysJh2uqkNIBcUhUmTp19k.eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsImV4cGlyZXMiOjEyOTE4NDA0MDAsImlzc3VlZF9hdCI6MTI5MTgzNjgwMCwidXNlcl9pZCI6IjIxODQ3MSJ9";
    const ISSUED_AT: i64 = 1_291_836_800;

    #[test]
    fn the_published_vector_opens_for_ten_minutes() {
        for (now, opens) in [(-61, false), (-60, true), (0, true), (600, true), (601, false)] {
            assert_eq!(subject(b"appsecret", VECTOR, Moment(ISSUED_AT + now)).is_some(), opens, "{now}");
        }
        assert_eq!(subject(b"appsecret", VECTOR, Moment(ISSUED_AT)).as_deref(), Some("218471"));
        let padded = VECTOR.replacen('.', "=.", 1);
        assert!(subject(b"appsecret", &padded, Moment(ISSUED_AT)).is_some());
    }

    #[test]
    fn a_deletion_may_come_late_and_a_sign_in_is_none() {
        assert_eq!(deletion(b"appsecret", VECTOR).as_deref(), Some("218471"));
        assert!(deletion(b"other", VECTOR).is_none());
        let signed = |payload: &str| {
            let payload = BASE64.encode(payload);
            format!("{}.{payload}", BASE64.encode(hmac_sha256(b"appsecret", &[payload.as_bytes()])))
        };
        let request = |more: &str| signed(&format!("{{\"algorithm\":\"HMAC-SHA256\",\"user_id\":\"7\"{more}}}"));
        assert_eq!(deletion(b"appsecret", &request("")).as_deref(), Some("7"));
        for sign_in in [",\"code\":\"abc\"", ",\"oauth_token\":\"abc\""] {
            assert!(deletion(b"appsecret", &request(sign_in)).is_none(), "{sign_in}");
        }
        assert!(deletion(b"appsecret", &signed("{\"algorithm\":\"HMAC-SHA256\",\"user_id\":7}")).is_none());
        assert!(deletion(b"appsecret", &signed("{\"algorithm\":\"none\",\"user_id\":\"7\"}")).is_none());
    }

    #[test]
    fn another_secret_and_every_changed_character_are_refused() {
        assert!(subject(b"other", VECTOR, Moment(ISSUED_AT)).is_none());
        for place in (0..VECTOR.len()).filter(|place| ![42, 43].contains(place)) {
            let mut changed = VECTOR.as_bytes().to_vec();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert!(
                subject(b"appsecret", &String::from_utf8(changed).unwrap(), Moment(ISSUED_AT)).is_none(),
                "{place}"
            );
        }
    }
}
