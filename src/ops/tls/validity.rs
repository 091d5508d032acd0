//! Until when a certificate is good that somebody else made.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Unix seconds; `None` where there is no certificate.
pub(crate) fn ends_at_of_file(path: &Path) -> Option<i64> {
    ends_at(&std::fs::read(path).ok()?)
}

fn ends_at(pem: &[u8]) -> Option<i64> {
    let der = CertificateDer::from_pem_slice(pem).ok()?;
    let (_, certificate) = X509Certificate::from_der(&der).ok()?;
    Some(certificate.validity().not_after.timestamp())
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
    }
}
