//! The credentials for a NATS server: a `.creds` file, a seed, a user with a password, or a token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::BASE32_NOPAD;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

/// The prefix bytes of a user's seed and public key, before base 32.
const SEED: u8 = 18 << 3;
const USER: u8 = 20 << 3;

/// The fields of `CONNECT` that authenticate the client. `nonce` is the challenge that the server wants signed. The
/// error is one line, and contains nothing of the credentials.
pub(super) fn fields(credentials: &str, nonce: Option<&str>) -> Result<Value, String> {
    let text = credentials.trim();
    if text.contains("-----BEGIN") {
        let jwt = between(text, "USER JWT").ok_or("the credentials file holds no user JWT")?;
        let seed = between(text, "USER NKEY SEED").ok_or("the credentials file holds no seed")?;
        let pair = key_pair(seed)?;
        return Ok(json!({ "jwt": jwt, "sig": signed(&pair, nonce) }));
    }
    if text.starts_with("SU") && text.len() == 58 {
        let pair = key_pair(text)?;
        return Ok(json!({ "nkey": public(&pair), "sig": signed(&pair, nonce) }));
    }
    match text.split_once(':') {
        Some((user, pass)) => Ok(json!({ "user": user, "pass": pass })),
        None if text.is_empty() => Ok(json!({})),
        None => Ok(json!({ "auth_token": text })),
    }
}

/// The line between `-----BEGIN NATS {what}-----` and its end.
fn between<'a>(text: &'a str, what: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| !(line.contains("BEGIN") && line.contains(what)));
    lines.nth(1).filter(|line| !line.is_empty() && !line.starts_with('-'))
}

fn key_pair(seed: &str) -> Result<Ed25519KeyPair, String> {
    let damaged = || "the seed in the credentials file is damaged".to_owned();
    let bytes = BASE32_NOPAD.decode(seed.as_bytes()).map_err(|_| damaged())?;
    let (body, check) = bytes.split_at_checked(34).ok_or_else(damaged)?;
    // The first five bits mark a seed, the next five the kind of its owner.
    if check != crc16(body).to_le_bytes() || body[0] & 0xf8 != SEED || ((body[0] & 7) << 5) | (body[1] >> 3) != USER {
        return Err(damaged());
    }
    Ed25519KeyPair::from_seed_unchecked(&body[2..]).map_err(|_| damaged())
}

fn public(pair: &Ed25519KeyPair) -> String {
    let mut bytes = vec![USER];
    bytes.extend(pair.public_key().as_ref());
    bytes.extend(crc16(&bytes).to_le_bytes());
    BASE32_NOPAD.encode(&bytes)
}

fn signed(pair: &Ed25519KeyPair, nonce: Option<&str>) -> String {
    URL_SAFE_NO_PAD.encode(pair.sign(nonce.unwrap_or_default().as_bytes()).as_ref())
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(
            crc ^ (u16::from(*byte) << 8),
            |crc, _| if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in the documentation of nkeys.
    const SEED_TEXT: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const PUBLIC_TEXT: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

    #[test]
    fn a_seed_gives_the_public_key_that_the_server_knows() {
        let fields = fields(&format!("{SEED_TEXT}\n"), Some("nonce")).unwrap();
        assert_eq!(fields["nkey"], PUBLIC_TEXT);
        assert_eq!(fields["sig"].as_str().unwrap().len(), 86);
    }

    #[test]
    fn what_opens_a_server_is_told_by_its_shape() {
        assert_eq!(fields("desk:p:w\n", None).unwrap(), json!({ "user": "desk", "pass": "p:w" }));
        assert_eq!(fields("s3cret", None).unwrap(), json!({ "auth_token": "s3cret" }));
        let file = format!(
            "-----BEGIN NATS USER JWT-----\neyJ.a.b\n------END NATS USER JWT------\n\nIMPORTANT\n\n\
             -----BEGIN USER NKEY SEED-----\n{SEED_TEXT}\n------END USER NKEY SEED------\n"
        );
        assert_eq!(fields(&file, Some("n")).unwrap()["jwt"], "eyJ.a.b");
    }

    #[test]
    fn a_damaged_seed_is_refused_and_not_shown() {
        let damaged = SEED_TEXT.replace('H', "J");
        let error = fields(&damaged, None).unwrap_err();
        assert!(error.contains("damaged") && !error.contains("SUA"));
    }
}
