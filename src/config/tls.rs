//! The settings of TLS.

use super::Settings;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The addresses and the certificate of https.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tls {
    /// The addresses on which the site answers over https; empty: none.
    pub listen: Vec<SocketAddr>,
    /// The files of the site's certificate; `None`: the certificate is signed by the site's own authority.
    pub files: Option<CertificateFiles>,
    /// Days for which browsers that used https use nothing else (HSTS); 0: browsers are not told to.
    pub hsts_days: i64,
}

/// A certificate of another authority; read again when the files change.
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
