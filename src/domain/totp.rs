//! Codes of an authenticator app (RFC 6238: SHA-1, six digits, thirty seconds), the variant that every app supports.

use crate::moment::Moment;

use totp_rs::{Builder, Secret, Totp};

pub(crate) const SECRET_BYTES: usize = 20;
const DIGITS: usize = 6;
const STEP_SECONDS: u64 = 30;
/// Steps before and after the current one that are accepted, because the phone's clock may differ and typing takes
/// time.
const STEPS_AROUND: u16 = 1;
/// Greatest length of the issuer, in characters: a longer name would make the QR code too fine for a phone's camera.
const ISSUER_CHARS_MAX: usize = 40;

/// A new secret in the forms that a member types into an authenticator app or scans.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Base32.
    pub secret: String,
    pub otpauth_url: String,
}

/// The setup of a new secret for an account of the site.
pub(crate) fn setup(secret: &[u8], site_name: &str, account: &str) -> Setup {
    let plain = |text: &str| text.replace(':', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let issuer: String = plain(site_name).chars().take(ISSUER_CHARS_MAX).collect();
    let totp = builder(secret).with_issuer(Some(issuer)).with_account_name(plain(account)).build();
    let totp = totp.expect("the secret is long enough, and the names have no colon");
    let otpauth_url = totp.to_url().expect("an account has a name");
    Setup { secret: totp.secret().to_base32(), otpauth_url }
}

/// The step of a code, if it is one of those around `now` and later than `last_step`, the last one used.
pub(crate) fn matching_step(secret: &[u8], code: &str, now: Moment, last_step: i64) -> Option<i64> {
    if !is_code(code) {
        return None;
    }
    let step = authenticator(secret)?.check(code, u64::try_from(now.0).ok()?)?;
    i64::try_from(step).ok().filter(|step| *step > last_step)
}

/// Whether the text is shaped like an authenticator's code or a passcode.
pub(crate) fn is_code(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_digit())
}

fn authenticator(secret: &[u8]) -> Option<Totp> {
    builder(secret).build().ok()
}

fn builder(secret: &[u8]) -> Builder {
    Builder::new()
        .with_secret(Secret::from(secret.to_vec()))
        .with_digits(DIGITS as u8)
        .with_step_duration(STEP_SECONDS)
        .with_skew(STEPS_AROUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of the test vectors in RFC 6238.
    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_the_standard() {
        for (moment, code) in
            [(59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (2_000_000_000, "279037")]
        {
            assert_eq!(matching_step(SECRET, code, Moment(moment), 0), Some(moment / 30), "{moment}");
        }
    }

    #[test]
    fn a_code_serves_one_step_before_and_after_its_own_and_not_two() {
        let (moment, code) = (1_234_567_890, "005924");
        for (away, found) in [(-60, false), (-30, true), (0, true), (30, true), (59, true), (60, false)] {
            assert_eq!(matching_step(SECRET, code, Moment(moment + away), 0).is_some(), found, "{away}");
        }
    }

    #[test]
    fn a_step_that_was_used_serves_no_more() {
        let (moment, code) = (1_234_567_890, "005924");
        let step = moment / 30;
        assert_eq!(matching_step(SECRET, code, Moment(moment), step - 1), Some(step));
        assert_eq!(matching_step(SECRET, code, Moment(moment), step), None);
        assert_eq!(matching_step(SECRET, code, Moment(moment), step + 1), None);
    }

    #[test]
    fn what_is_no_code_matches_nothing() {
        for odd in ["", "05924", "0005924", "00592a", "٠٠٥٩٢٤", "-05924", "+05924"] {
            assert_eq!(matching_step(SECRET, odd, Moment(1_234_567_890), 0), None, "{odd}");
        }
        assert_eq!(matching_step(b"short", "005924", Moment(1_234_567_890), 0), None);
        assert_eq!(matching_step(SECRET, "005924", Moment(-5), 0), None);
    }

    #[test]
    fn the_url_names_site_and_account_and_carries_the_secret() {
        let setup = setup(SECRET, "Windwerk: Süd", "jane@example.com");
        assert_eq!(setup.secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert!(setup.otpauth_url.starts_with("otpauth://totp/Windwerk%20S%C3%BCd:jane%40example.com?"), "{setup:?}");
        assert!(setup.otpauth_url.contains("secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), "{setup:?}");
    }
}
