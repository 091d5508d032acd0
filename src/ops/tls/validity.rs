//! The end of the validity of a certificate file.

use crate::moment::Moment;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;
use x509_parser::prelude::{FromDer, X509Certificate};

/// In Unix seconds. `None`: the file has no certificate.
pub(crate) fn ends_at_of_file(path: &Path) -> Option<Moment> {
    ends_at(&crate::files::read_given(path).ok()?)
}

fn ends_at(pem: &[u8]) -> Option<Moment> {
    let der = CertificateDer::from_pem_slice(pem).ok()?;
    let (_, certificate) = X509Certificate::from_der(&der).ok()?;
    Some(Moment(certificate.validity().not_after.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::tls::authority;

    #[test]
    fn the_end_of_validity_is_read_from_a_certificate() {
        for now in [1_700_000_000, 2_600_000_000] {
            let made = authority::make("Somebody", &["tunnel.example.org".to_owned()], Moment(now)).unwrap();
            assert_eq!(ends_at(made.certificate.as_bytes()), Some(made.ends_at), "{now}");
        }
        assert_eq!(ends_at(b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), None);
        assert_eq!(ends_at(b"nothing"), None);
    }
}
