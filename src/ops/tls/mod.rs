//! TLS on the site's own network: which certificate the server presents, where it comes from, and when it is replaced.
//!
//! The certificate comes from files that another program renews, or from the site's own authority. The authority's
//! certificate and key lie in the database, the key sealed, so that a backup has them.

pub(crate) mod authority;
mod validity;

pub(crate) use validity::ends_at_of_file;

use crate::config::CertificateFiles;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::http::failure::Failure;
use crate::keys::{Place, columns};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::audit;
use crate::store::tables::tls::{self, Certificate, Kind, Names};
use rustls::crypto::ring::{default_provider, sign::any_supported_type};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, version};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, PoisonError, RwLock};

/// The modification time of a file: seconds and nanoseconds.
type Modified = (i64, i64);

/// The certificate for new connections.
#[derive(Debug, Default)]
pub(crate) struct ServerCertificate {
    current: RwLock<Option<Arc<CertifiedKey>>>,
    /// The modification time of the certificate file that it came from.
    modified: RwLock<Option<Modified>>,
}

impl ResolvesServerCert for ServerCertificate {
    fn resolve(&self, _: ClientHello) -> Option<Arc<CertifiedKey>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertificate {
    fn set(&self, pair: CertifiedKey) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(pair));
    }
}

/// The configuration of TLS: versions 1.2 and 1.3, with HTTP/1.1.
pub(crate) fn server_config(certificate: Arc<ServerCertificate>) -> Result<ServerConfig, String> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(|e| format!("cannot set up TLS: {e}"))?
        .with_no_client_auth()
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Loads the certificate. The error is one line that says what to do.
pub(crate) fn load(site: &Site) -> Result<(), String> {
    if let Some(files) = &site.config.tls.files {
        return load_files(site, files);
    }
    let server = find(site, Kind::Server).map_err(|e| format!("cannot read the certificate: {e}"))?;
    let server = server.ok_or(
        "tls.listen needs a certificate: make one with `tunneldesk tls init --name tunnel.example.org`, or name \
         tls.certificate_file and tls.key_file",
    )?;
    let key = site
        .keys
        .unseal(&place(Kind::Server), &server.sealed_key)
        .ok_or("the key of the certificate is damaged: `tunneldesk tls renew`")?;
    site.state::<ServerCertificate>().set(pair(server.certificate.as_bytes(), PrivatePkcs8KeyDer::from(key).into())?);
    Ok(())
}

fn load_files(site: &Site, files: &CertificateFiles) -> Result<(), String> {
    let read = |path: &std::path::Path| {
        crate::files::read_given(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let modified = modified(&files.certificate);
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?)
        .map_err(|e| format!("{} holds no private key in PEM: {e}", files.key.display()))?;
    site.state::<ServerCertificate>().set(pair(&read(&files.certificate)?, key)?);
    let presented = site.state::<ServerCertificate>();
    *presented.modified.write().unwrap_or_else(PoisonError::into_inner) = modified;
    Ok(())
}

fn modified(path: &std::path::Path) -> Option<Modified> {
    std::fs::metadata(path).ok().map(|file| (file.mtime(), file.mtime_nsec()))
}

fn pair(certificate: &[u8], key: PrivateKeyDer<'static>) -> Result<CertifiedKey, String> {
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
    let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or("there is no certificate in PEM")?;
    let key = any_supported_type(&key).map_err(|e| format!("the certificate's key cannot be used: {e}"))?;
    let pair = CertifiedKey::new(chain, key);
    match pair.keys_match() {
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
            Err("the key is not that of the certificate".to_owned())
        }
        _ => Ok(pair),
    }
}

/// Loads changed certificate files, or renews the site's own certificate at half of its life. Called every minute.
pub(crate) fn refresh(site: &Site) -> Result<(), String> {
    if let Some(files) = &site.config.tls.files {
        let modified = modified(&files.certificate);
        let presented = *site.state::<ServerCertificate>().modified.read().unwrap_or_else(PoisonError::into_inner);
        if modified.is_some() && modified != presented {
            load_files(site, files)?;
            tracing::info!("the certificate files have changed; the new ones are in use");
        }
        return Ok(());
    }
    let server = find(site, Kind::Server).map_err(|e| format!("cannot read the certificate: {e}"))?;
    // By a clock that ran ahead the new certificate would not be valid yet on any device.
    let now = site.clock.earliest();
    let half_life = |made: &Certificate| made.created_at + (made.ends_at - made.created_at) / 2;
    // One from the future is of a time when the clock ran ahead.
    let is_to_come = |made: &Certificate| made.created_at > now && now == site.now();
    if server.is_some_and(|made| now >= half_life(&made) || is_to_come(&made)) {
        let made = renew(site, &Actor::job("tls"), now).map_err(|e| format!("cannot renew the certificate: {e}"))?;
        tracing::info!(ends_at = %made.ends_at, "the certificate was renewed");
    }
    Ok(())
}

pub(crate) fn find(site: &Site, kind: Kind) -> Result<Option<Certificate>, Failure> {
    let found = site.store.read(|tx| Ok(tls::find(tx, kind)?));
    site.store.release();
    found
}

/// Makes the authority and the server's certificate, and replaces earlier ones.
pub fn init(site: &Site, subject: &str, names: &[String], actor: &Actor) -> Result<Certificate, Failure> {
    let now = site.now();
    let made = authority::make(subject, names, now).map_err(|e| Failure::broken().because(e))?;
    let authority = row(site, Kind::Authority, subject, names, made, now);
    let server = signed_by(site, &authority, now)?;
    site.store.write(site.now(), |tx| {
        record(tx, actor, "tls.made", names)?;
        tls::replace(tx, Kind::Authority, &authority)?;
        Ok(tls::replace(tx, Kind::Server, &server)?)
    })?;
    load(site).map_err(|e| Failure::broken().because(e))?;
    Ok(server)
}

/// Makes and loads a new certificate of the present authority, valid from `now` on (Unix seconds).
pub(crate) fn renew(site: &Site, actor: &Actor, now: Moment) -> Result<Certificate, Failure> {
    let authority = find(site, Kind::Authority)?.ok_or_else(Failure::not_found)?;
    let server = signed_by(site, &authority, now)?;
    site.store.write(site.now(), |tx| {
        record(tx, actor, "tls.renewed", &server.names)?;
        Ok(tls::replace(tx, Kind::Server, &server)?)
    })?;
    load(site).map_err(|e| Failure::broken().because(e))?;
    Ok(server)
}

fn record(tx: &Write, actor: &Actor, action: &'static str, names: &[String]) -> Result<(), Failure> {
    let detail = Detail::none().number("names", names.len() as i64);
    audit::insert(tx, actor, action, &Subject::Site, &detail)?;
    Ok(())
}

/// Makes a certificate for the server with the names of the authority.
fn signed_by(site: &Site, authority: &Certificate, now: Moment) -> Result<Certificate, Failure> {
    let names = &authority.names;
    let key = site
        .keys
        .unseal(&place(Kind::Authority), &authority.sealed_key)
        .ok_or_else(|| Failure::broken().because("the authority's key is damaged"))?;
    let made = authority::sign(&authority.subject, &key, names, now).map_err(|e| Failure::broken().because(e))?;
    Ok(row(site, Kind::Server, names.first().map_or("", String::as_str), names, made, now))
}

fn row(
    site: &Site,
    kind: Kind,
    subject: &str,
    names: &[String],
    made: authority::IssuedCertificate,
    now: Moment,
) -> Certificate {
    Certificate {
        names: Names(names.to_vec()),
        subject: subject.to_owned(),
        certificate: made.certificate,
        sealed_key: site.keys.seal(&place(kind), &made.key),
        created_at: now,
        ends_at: made.ends_at,
    }
}

/// The place of a sealed private key.
fn place(kind: Kind) -> Place {
    columns::TLS_KEY.at([kind.name().into()])
}

/// The SHA-256 of a certificate, as devices show it: pairs of capital hex digits.
pub(crate) fn fingerprint(certificate: &str) -> String {
    use sha2::{Digest, Sha256};
    let der = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap_or_else(|_| Vec::new().into());
    Sha256::digest(&der).iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::Config;
    use crate::ops::tests;
    use crate::store::data_dir::DataDir;
    use std::time::Duration;

    fn new_site(dir: &std::path::Path, config: Config) -> Site {
        let data_dir = DataDir::create(&dir.join("data")).unwrap();
        tests::new_site(&data_dir, config)
    }

    fn served_certificate(site: &Site) -> Vec<u8> {
        let pair = site.state::<ServerCertificate>().current.read().unwrap().clone().unwrap();
        pair.cert[0].to_vec()
    }

    #[test]
    fn the_certificate_is_renewed_at_half_its_life_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let site = new_site(dir.path(), Config::defaults());
        assert!(load(&site).unwrap_err().contains("tunneldesk tls init"));
        refresh(&site).unwrap();
        let made = init(&site, "Here", &["tunnel.example.org".to_owned()], &Actor::job("test")).unwrap();
        let first = served_certificate(&site);
        let half = (made.ends_at - made.created_at) / 2;
        site.clock.advance(Duration::from_secs(half as u64 - 1));
        refresh(&site).unwrap();
        assert_eq!(served_certificate(&site), first);
        site.clock.advance(Duration::from_secs(1));
        refresh(&site).unwrap();
        assert_ne!(served_certificate(&site), first);
        let authority = find(&site, Kind::Authority).unwrap().unwrap();
        assert_eq!(authority.created_at, made.created_at, "devices need trust nothing new");
    }

    #[test]
    fn a_clock_that_runs_ahead_renews_no_certificate_and_one_from_then_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let site = new_site(dir.path(), Config::defaults());
        init(&site, "Here", &["tunnel.example.org".to_owned()], &Actor::job("test")).unwrap();
        let (first, began) = (served_certificate(&site), site.now());
        let year = 365 * 86_400;
        for moment in [began + year, began + year - 86_400, began + 60] {
            site.clock.set(moment);
            refresh(&site).unwrap();
            assert_eq!(served_certificate(&site), first, "at {moment}");
        }
        // By a certificate of the year ahead nobody gets in once the clock is right.
        site.clock.set(began + year + 1);
        renew(&site, &Actor::job("test"), site.now()).unwrap();
        let ahead = served_certificate(&site);
        site.clock.set(began + 120);
        refresh(&site).unwrap();
        assert_eq!(served_certificate(&site), ahead, "a machine that starts in 1970 is behind too");
        site.store.write(began + 180, |tx| Ok(crate::store::clock::set_back(tx)?)).unwrap();
        drop(site);
        let data_dir = DataDir::lock(&dir.path().join("data")).unwrap();
        let site = Site::open(&data_dir, Config::defaults(), Clock::frozen(began + 180)).unwrap();
        refresh(&site).unwrap();
        assert_ne!(served_certificate(&site), ahead);
        let renewed = find(&site, Kind::Server).unwrap().unwrap();
        assert_eq!(renewed.created_at, began + 180);
    }

    #[test]
    fn certificate_files_are_read_again_when_they_change_and_a_wrong_pair_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let put = |number: u64, certificate: &authority::IssuedCertificate, key: &authority::IssuedCertificate| {
            let (certificate_file, key_file) = (dir.path().join("certificate"), dir.path().join("key"));
            let key = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &key.key);
            std::fs::write(key_file, format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n"))
                .unwrap();
            std::fs::write(&certificate_file, &certificate.certificate).unwrap();
            let file = std::fs::File::options().append(true).open(certificate_file).unwrap();
            file.set_modified(crate::clock::system_time(Moment(1_800_000_000 + number as i64))).unwrap();
        };
        let names = ["tunnel.example.org".to_owned()];
        let [one, two] = [0, 1].map(|_| authority::make("Somebody else's", &names, Moment(1_800_000_000)).unwrap());
        let mut config = Config::defaults();
        config.tls.files =
            Some(CertificateFiles { certificate: dir.path().join("certificate"), key: dir.path().join("key") });
        let site = new_site(dir.path(), config);
        assert!(load(&site).unwrap_err().contains("cannot read"));
        put(1, &one, &one);
        load(&site).unwrap();
        let first = served_certificate(&site);
        refresh(&site).unwrap();
        assert_eq!(served_certificate(&site), first);
        put(2, &two, &one);
        assert!(refresh(&site).unwrap_err().contains("not that of the certificate"));
        assert_eq!(served_certificate(&site), first, "a wrong pair is not shown");
        put(3, &two, &two);
        refresh(&site).unwrap();
        assert_ne!(served_certificate(&site), first);
    }
}
