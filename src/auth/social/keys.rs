//! A network's public keys: a JWK set in a file, which the operator keeps current.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Two or three keys are a few kilobytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;
const P256_COORDINATE_BYTES: usize = 32;

pub(super) struct KeySet {
    keys: Vec<Jwk>,
}

/// A set as the file has it. Keys of other kinds are passed over (RFC 7517 5).
#[derive(Deserialize)]
struct Written {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads the file.
    pub(super) fn read(path: &Path) -> Result<KeySet, String> {
        let mut text = String::new();
        let read = crate::files::open_given(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
        read.map_err(|e| e.to_string())?;
        KeySet::parse(&text)
    }

    pub(super) fn parse(text: &str) -> Result<KeySet, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let written: Written = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let keys: Vec<Jwk> = written.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
        if keys.is_empty() { Err("the file has no key".to_owned()) } else { Ok(KeySet { keys }) }
    }

    /// Whether the key of this id made the signature. The key itself names its algorithm, and a token that names another is
    /// refused, so that a public key cannot be passed off as an HMAC secret.
    pub(super) fn verify(&self, kid: &str, alg: &str, message: &[u8], signature: &[u8]) -> bool {
        let mut named = self.keys.iter().filter(|key| key.kid.as_deref() == Some(kid));
        let (Some(key), None) = (named.next(), named.next()) else { return false };
        let says = key.alg.as_deref().is_none_or(|own| own == alg) && key.usage.as_deref().is_none_or(|u| u == "sig");
        says && key.verify(alg, message, signature).unwrap_or(false)
    }
}

impl Jwk {
    fn verify(&self, alg: &str, message: &[u8], signature: &[u8]) -> Option<bool> {
        match (alg, self.kty.as_str()) {
            ("RS256", "RSA") => {
                let key = RsaPublicKeyComponents { n: bytes(&self.n)?, e: bytes(&self.e)? };
                Some(key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok())
            }
            ("ES256", "EC") if self.crv.as_deref() == Some("P-256") => {
                let point = [vec![4], coordinate(&self.x)?, coordinate(&self.y)?].concat();
                let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
                Some(key.verify(message, signature).is_ok())
            }
            _ => None,
        }
    }
}

fn bytes(text: &Option<String>) -> Option<Vec<u8>> {
    // Some programs write the padding, and the alphabet of plain base64.
    let text = text.as_deref()?.trim_end_matches('=').replace('+', "-").replace('/', "_");
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn coordinate(text: &Option<String>) -> Option<Vec<u8>> {
    bytes(text).filter(|bytes| bytes.len() == P256_COORDINATE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::{KeySet, bytes};

    #[test]
    fn odd_keys_are_passed_over_and_a_mark_and_padding_are_read() {
        let good = r#"{"kty": "RSA", "kid": "k1", "n": "AQAB", "e": "AQAB"}"#;
        for odd in [r#"{"kid": "odd", "use": "sig"}"#, r#"{"kty": 7}"#, "7", "null", r#"{"kty": "oct", "kid": ["x"]}"#]
        {
            let set = KeySet::parse(&format!("\u{feff}{{\"keys\": [{odd}, {good}]}}")).unwrap();
            assert_eq!(set.keys.iter().map(|key| key.kid.as_deref()).collect::<Vec<_>>(), [Some("k1")], "{odd}");
            assert!(KeySet::parse(&format!("{{\"keys\": [{odd}]}}")).is_err(), "{odd}");
        }
        assert_eq!(bytes(&Some("+/8=".to_owned())), bytes(&Some("-_8".to_owned())));
        assert!(bytes(&Some("-_8".to_owned())).is_some());
    }
}
