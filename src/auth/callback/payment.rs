//! The payment processor's signature scheme (Stripe's): `Stripe-Signature: t=<unix>,v1=<hex>`, HMAC-SHA256 of `t`, a dot and
//! the body. On the same path a member's app may claim a payment, by its session: that is another type, and no proof.

use crate::auth::Member;
use crate::auth::session;
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::{hmac_sha256, unhex};
use crate::moment::Moment;
use crate::site::Site;
use subtle::ConstantTimeEq;

const HEADER: &str = "stripe-signature";
const HEADER_CHARS_MAX: usize = 4096;
/// While the processor rolls a secret, there are two.
const SIGNATURES_MAX: usize = 16;
/// How far the signed time may be from ours.
const TIME_SECONDS: u64 = 300;

/// The sender of a payment callback.
#[derive(Debug)]
pub enum PaymentCaller {
    /// The payment processor, by its signature.
    Processor(Processor),
    /// A member's app: a claim, and no proof.
    App(Member),
}

/// The processor, whose signature over this body was right.
#[derive(Debug)]
pub struct Processor(());

/// The fields of a signature header.
struct Signed<'a> {
    /// As signed.
    time: &'a str,
    digests: Vec<Vec<u8>>,
}

pub(crate) fn admit(site: &Site, call: &Call) -> Result<PaymentCaller, Failure> {
    let secret = site.config.callbacks.payment_secret.as_ref().ok_or_else(Failure::not_configured)?;
    if call.headers.contains_key(HEADER) {
        let processor = processor(site, call, secret.reveal().as_bytes())?;
        call.principal.set(PrincipalId::Sender("processor"));
        return Ok(PaymentCaller::Processor(processor));
    }
    if session::token(call).is_none() {
        return Err(Failure::bad_callback().because("neither a signature nor a session"));
    }
    session::member(site, call).map(PaymentCaller::App)
}

/// Checks the signature before the time, so that an unauthenticated caller learns nothing of our clock.
fn processor(site: &Site, call: &Call, secret: &[u8]) -> Result<Processor, Failure> {
    let signed = call.header(HEADER).and_then(parse);
    let signed = signed.ok_or_else(|| Failure::bad_callback().because("the signature cannot be read"))?;
    if !is_right(secret, &signed, &call.body) {
        return Err(Failure::bad_callback().because("the signature is wrong"));
    }
    if site.clock.is_suspect() {
        return Err(Failure::clock_suspect());
    }
    let time: i64 = signed.time.parse().map_err(|_| Failure::bad_callback())?;
    let away = (site.now() - Moment(time)).unsigned_abs();
    if away > TIME_SECONDS {
        let text = Text::new("bad_callback.time").with("seconds", away);
        return Err(Failure::bad_callback().saying(text).because(format_args!("the signature is {away} seconds away")));
    }
    Ok(Processor(()))
}

/// Reads a signature header; schemes other than `v1` are ignored.
fn parse(header: &str) -> Option<Signed<'_>> {
    let pairs = || header.split(',').filter_map(|part| part.trim().split_once('='));
    let time = pairs().find(|(name, _)| *name == "t").map(|(_, time)| time);
    let time = time.filter(|time| (1..=12).contains(&time.len()) && time.bytes().all(|b| b.is_ascii_digit()))?;
    let digests = pairs().filter(|(name, _)| *name == "v1").take(SIGNATURES_MAX);
    let digests = digests.filter_map(|(_, digest)| unhex(digest)).collect();
    (header.len() <= HEADER_CHARS_MAX).then_some(Signed { time, digests })
}

/// Compares every digest, in constant time.
fn is_right(secret: &[u8], signed: &Signed, body: &[u8]) -> bool {
    let expected = hmac_sha256(secret, &[signed.time.as_bytes(), b".", body]);
    signed.digests.iter().fold(false, |right, digest| right | bool::from(expected[..].ct_eq(digest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"whsec_test_secret";
    const BODY: &[u8] = br#"{"id":"evt_test_1","object":"event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","object":"payment_intent","amount":2000,"currency":"usd"}}}"#;
    const DIGEST: &str = "e5c3a44848a69563140768b69738174f62608fe5218f2de116bd2658add3e301";

    fn passes(header: &str) -> bool {
        parse(header).is_some_and(|signed| is_right(SECRET, &signed, BODY))
    }

    #[test]
    fn the_published_vector_passes_alone_and_among_others() {
        for header in [
            format!("t=1700000000,v1={DIGEST}"),
            format!("v1={DIGEST}, t=1700000000"),
            format!("t=1700000000,v1={},v1={DIGEST}", "0".repeat(64)),
            format!("t=1700000000,v0=abc,v1={DIGEST},v2=?"),
        ] {
            assert!(passes(&header), "{header}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let last = if DIGEST.ends_with('1') { "2" } else { "1" };
        for header in [
            format!("t=1700000001,v1={DIGEST}"),
            format!("t=1700000000,v0={DIGEST}"),
            format!("t=1700000000,v1={}{last}", &DIGEST[..63]),
            format!("t=1700000000,v1={}", &DIGEST[..62]),
            format!("t=1700000000,v1={DIGEST}00"),
            format!("t=+1700000000,v1={DIGEST}"),
            format!("v1={DIGEST}"),
            "t=1700000000".to_owned(),
            "t=1700000000,v1=".to_owned(),
            String::new(),
            format!("t=1700000000,{}v1={DIGEST}", "v1=00,".repeat(SIGNATURES_MAX)),
        ] {
            assert!(!passes(&header), "{header}");
        }
    }
}
