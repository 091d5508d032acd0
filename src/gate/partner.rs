//! Partners: a request is theirs when `token` is the HMAC of its body under one of their secrets.

use super::rates::{Caller, Pace};
use crate::call::{Call, Who};
use crate::failure::Failure;
use crate::keys::{Keys, Purpose, hex, hmac_sha256, random, unhex};
use crate::site::Site;
use crate::store::partners::{self, Secret};
use ipnet::IpNet;
use subtle::ConstantTimeEq;

const SECRET_BYTES: usize = 32;
/// How far a strict partner's clock may be from ours.
const TIMESTAMP_SECONDS: i64 = 300;

/// A partner whose signature was right.
#[derive(Debug)]
pub struct Partner {
    id: i64,
}

impl Partner {
    pub fn id(&self) -> i64 {
        self.id
    }
}

/// A new secret, and what of it is stored. It is the HMAC key as it stands: 64 ASCII characters.
pub fn new_secret(keys: &Keys) -> (String, Vec<u8>) {
    let secret = hex(&random::<SECRET_BYTES>());
    let sealed = keys.seal(Purpose::PartnerSecret, secret.as_bytes());
    (secret, sealed)
}

/// Signature, then address, then pace, then (strict partners) time and first use.
pub(super) fn admit(site: &Site, call: &Call) -> Result<Partner, Failure> {
    let client_id = call.header("client-id");
    if call.route.client_id && client_id.is_none() {
        return Err(Failure::client_id_missing());
    }
    let digest = call.header("token").and_then(unhex).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    let digest = digest.ok_or_else(Failure::bad_signature)?;
    let now = site.now();
    let secrets = site.store.read(|tx| Ok(partners::list_secrets(tx, client_id, now)?))?;
    let mut signer = None;
    for secret in &secrets {
        if is_signed(site, call, secret, &digest) {
            signer = Some(&secret.partner);
        }
    }
    let signer = signer.ok_or_else(Failure::bad_signature)?;
    call.who.set(Who::Partner(signer.partner_id));
    check_address(site, call, signer.partner_id)?;
    if let Some(per_minute) = signer.requests_per_minute {
        site.rates.take(Caller::Partner(signer.partner_id), Pace::per_minute(per_minute))?;
    }
    if signer.strict {
        check_first_use(site, call, signer.partner_id, &digest, now)?;
    }
    Ok(Partner { id: signer.partner_id })
}

/// Compares in constant time. Without a body the digest of zero bytes or of `{}` is right: both are in use.
fn is_signed(site: &Site, call: &Call, secret: &Secret, digest: &[u8; 32]) -> bool {
    let Some(key) = site.keys.unseal_partner_secret(&secret.sealed) else {
        tracing::error!(partner = secret.partner.partner_id, "a secret of this partner is damaged; rotate it");
        return false;
    };
    let stamp = match (secret.partner.strict, call.header("x-timestamp")) {
        (true, Some(timestamp)) => format!("{timestamp}."),
        _ => String::new(),
    };
    let over = |body: &[u8]| bool::from(hmac_sha256(&key, &[stamp.as_bytes(), body]).ct_eq(digest));
    over(&call.body) | (call.body.is_empty() && over(b"{}"))
}

fn check_address(site: &Site, call: &Call, partner_id: i64) -> Result<(), Failure> {
    let networks = site.store.read(|tx| Ok(partners::list_networks(tx, partner_id)?))?;
    let listed = |network: &String| network.parse::<IpNet>().is_ok_and(|network| network.contains(&call.peer));
    if networks.is_empty() || networks.iter().any(listed) { Ok(()) } else { Err(Failure::address_not_allowed()) }
}

/// A signature over the same body is always the same; a strict partner signs the time too, and each signature once.
fn check_first_use(site: &Site, call: &Call, partner_id: i64, digest: &[u8; 32], now: i64) -> Result<(), Failure> {
    if site.clock.is_suspect() {
        return Err(Failure::clock_suspect());
    }
    let timestamp: Option<i64> = call.header("x-timestamp").and_then(|t| t.parse().ok());
    if timestamp.is_none_or(|t| now.abs_diff(t) > TIMESTAMP_SECONDS as u64) {
        return Err(Failure::bad_timestamp());
    }
    let first = site.store.write(now, |tx| Ok(partners::use_signature(tx, partner_id, digest)?))?;
    if first { Ok(()) } else { Err(Failure::signature_repeated()) }
}

/// How long a used signature must be remembered: until its timestamp cannot pass any more.
pub const SIGNATURE_KEPT_SECONDS: i64 = 2 * TIMESTAMP_SECONDS;
