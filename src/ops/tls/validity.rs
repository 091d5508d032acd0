//! Until when a certificate is good that somebody else made: the one value of it that we need, read from its DER.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Unix seconds; `None` where there is no certificate.
pub fn ends_at_of_file(path: &Path) -> Option<i64> {
    ends_at(&std::fs::read(path).ok()?)
}

fn ends_at(pem: &[u8]) -> Option<i64> {
    let der = CertificateDer::from_pem_slice(pem).ok()?;
    let (tag, certificate, _) = element(&der)?;
    let (inner, body, _) = element(certificate)?;
    if tag != SEQUENCE || inner != SEQUENCE {
        return None;
    }
    // Version (where there is one), serial number, algorithm, issuer; then the validity.
    let (first, _, after_first) = element(body)?;
    let mut rest = if first == VERSION { after_first } else { body };
    for _ in ["serial", "algorithm", "issuer"] {
        rest = element(rest)?.2;
    }
    let (_, validity, _) = element(rest)?;
    let (_, _, after_beginning) = element(validity)?;
    let (tag, end, _) = element(after_beginning)?;
    moment(tag, std::str::from_utf8(end).ok()?)
}

/// An element's tag and content, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// `YYMMDDHHMMSSZ` up to 2049, `YYYYMMDDHHMMSSZ` after.
fn moment(tag: u8, text: &str) -> Option<i64> {
    let century = |year: &str| if year < "50" { "20" } else { "19" };
    let whole = match tag {
        UTC_TIME => format!("{}{text}", century(text.get(..2)?)),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let at = jiff::civil::DateTime::strptime("%Y%m%d%H%M%SZ", &whole).ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::tls::authority;

    #[test]
    fn the_end_of_a_certificate_is_the_one_that_it_was_made_with() {
        for now in [1_700_000_000, 2_600_000_000] {
            let made = authority::make("Somebody", &["tunnel.example.org".to_owned()], now).unwrap();
            assert_eq!(ends_at(made.certificate.as_bytes()), Some(made.ends_at), "{now}");
        }
        assert_eq!(ends_at(b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), None);
        assert_eq!(ends_at(b"nothing"), None);
        assert_eq!(moment(UTC_TIME, "491231235959Z"), Some(2_524_607_999));
        assert_eq!(moment(UTC_TIME, "500101000000Z"), Some(-631_152_000));
        assert_eq!(moment(GENERALIZED_TIME, "20500101000000Z"), Some(2_524_608_000));
    }
}
