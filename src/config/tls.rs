//! The settings of TLS.

use super::Settings;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Where the site answers over https, and with which certificate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tls {
    /// Where the site answers over https; none: nowhere.
    pub listen: Vec<SocketAddr>,
    /// The site's own, instead of one from its own authority.
    pub files: Option<CertificateFiles>,
    /// For so many days browsers that were here by https come back by nothing else; 0: they are not told.
    pub hsts_days: i64,
}

/// A certificate that somebody else gave; read anew when the files change.
#[derive(Debug, Clone, PartialEq)]
pub struct CertificateFiles {
    /// PEM: the certificate, then its chain.
    pub certificate: PathBuf,
    /// PEM: the private key.
    pub key: PathBuf,
}

impl Settings {
    pub(super) fn tls(&mut self) -> Tls {
        let path = |text: &str| Ok(Some(text).filter(|text| !text.is_empty()).map(PathBuf::from));
        let listen =
            self.list("tls.listen", |s| s.parse().map_err(|_| "is not ADDRESS:PORT, for instance 0.0.0.0:8443"));
        let certificate = self.text("tls.certificate_file", path).flatten();
        let key = self.text("tls.key_file", path).flatten();
        if certificate.is_some() != key.is_some() {
            self.mistake("tls.certificate_file", "goes with tls.key_file: give both or neither");
        }
        let files = certificate.zip(key).map(|(certificate, key)| CertificateFiles { certificate, key });
        Tls { listen, files, hsts_days: self.whole("tls.hsts_days", 0, 730) }
    }
}
