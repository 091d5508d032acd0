//! The settings of the sync upstream.

use super::{Settings, host_name};
use std::net::IpAddr;
use std::path::PathBuf;

/// The receiver of the history, and how the history is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sync {
    /// The receiver.
    pub upstream: Upstream,
    /// The name by which the receiver knows this site, beside its `site_id`.
    pub client_id: String,
    /// The secret of the signature, alone in a file, read again for each connection.
    pub secret_file: Option<PathBuf>,
    /// Whether the time is signed too.
    pub strict: bool,
    /// The authority of the receiver's certificate in PEM, trusted instead of the public ones.
    pub authority: Option<Vec<u8>>,
    /// Rows of the history in one batch at most.
    pub batch_rows: i64,
    /// Seconds between two checks for new rows.
    pub interval_seconds: i64,
    /// Whether a server sends by itself.
    pub scheduled: bool,
}

/// The kinds of receivers.
#[derive(Debug, Clone, PartialEq)]
pub enum Upstream {
    /// The address for a POST.
    Https(String),
    /// A JetStream of NATS.
    Nats(Nats),
}

/// A NATS server.
#[derive(Debug, Clone, PartialEq)]
pub struct Nats {
    /// The server's name or address.
    pub host: String,
    /// The server's port.
    pub port: u16,
    /// Whether the connection is encrypted from its first byte on.
    pub tls: bool,
    /// The subject, with a place for `{site_id}`.
    pub subject: String,
    /// A `.creds` file, a seed, `user:password` or a token, alone in a file, read again for each connection.
    pub credentials_file: Option<PathBuf>,
}

impl Upstream {
    /// The receiver without the parts that could be secret.
    pub(crate) fn without_secrets(&self) -> String {
        match self {
            Upstream::Https(url) => url.split('?').next().unwrap_or_default().to_owned(),
            Upstream::Nats(Nats { host, port, tls, subject, .. }) => {
                format!("{}://{host}:{port} {subject}", if *tls { "tls" } else { "nats" })
            }
        }
    }
}

impl Settings {
    /// The settings of the sync. Everything is checked, also while no receiver is named.
    pub(super) fn sync(&mut self) -> Option<Sync> {
        let path = |text: &str| Ok(Some(text).filter(|text| !text.is_empty()).map(PathBuf::from));
        let url = self.text("sync.url", |text| Ok(text.to_owned())).unwrap_or_default();
        let subject = self.text("sync.subject", subject);
        let credentials_file = self.readable("sync.credentials_file");
        let client_id = self.text("sync.client_id", header).unwrap_or_default();
        let secret_file = self.readable("sync.secret_file");
        let strict = self.truth("sync.strict");
        let authority = self.text("sync.ca_file", path).flatten().and_then(|path| self.pem("sync.ca_file", &path));
        let batch_rows = self.whole("sync.batch_rows", 1, 5_000);
        let interval_seconds = self.whole("sync.interval_seconds", 1, 86_400);
        let scheduled = self.truth("sync.scheduled");
        if url.is_empty() {
            return None;
        }
        let upstream = match upstream(&url) {
            Ok(Upstream::Nats(nats)) => Upstream::Nats(Nats { subject: subject?, credentials_file, ..nats }),
            Ok(https) => https,
            Err(what) => {
                self.mistake("sync.url", what);
                return None;
            }
        };
        let needs_secret = matches!(upstream, Upstream::Https(_)) || !client_id.is_empty();
        if needs_secret && secret_file.is_none() {
            self.mistake("sync.secret_file", "must name the file that holds the secret which the receiver gave you");
        }
        if matches!(upstream, Upstream::Https(_)) && client_id.is_empty() {
            self.mistake("sync.client_id", "must be the client id that the receiver gave you");
        }
        Some(Sync { upstream, client_id, secret_file, strict, authority, batch_rows, interval_seconds, scheduled })
    }

    /// The path of a file with a secret. The content may change later, so it is only checked here.
    pub(super) fn readable(&mut self, key: &str) -> Option<PathBuf> {
        let path = self.text(key, |text| Ok(text.to_owned())).filter(|text| !text.is_empty()).map(PathBuf::from)?;
        match crate::files::read_given_text(&path) {
            Ok(text) if text.trim().is_empty() => self.mistake(key, "is an empty file"),
            Ok(_) => {}
            Err(e) => self.mistake(key, &format!("cannot be read: {e}")),
        }
        Some(path)
    }

    pub(super) fn pem(&mut self, key: &str, path: &std::path::Path) -> Option<Vec<u8>> {
        match crate::files::read_given(path) {
            Ok(pem) if String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") => return Some(pem),
            Ok(_) => self.mistake(key, "holds no PEM certificate"),
            Err(e) => self.mistake(key, &format!("cannot be read: {e}")),
        }
        None
    }

    pub(super) fn truth(&mut self, key: &str) -> bool {
        match self.typed[key].value.as_bool() {
            Some(truth) => truth,
            None => {
                self.mistake(key, "must be true or false");
                false
            }
        }
    }
}

/// Parses the receiver's URL. The subject and the credentials of NATS are settings of their own.
fn upstream(url: &str) -> Result<Upstream, &'static str> {
    let what = "is not an address like https://metrics.example.org/tunnels, nats://HOST:4222 or tls://HOST:4222";
    let (scheme, rest) = url.split_once("://").ok_or(what)?;
    if rest.split(['/', '?']).next().unwrap_or_default().contains('@') {
        return Err("must not hold a name or password: those go in a file (credentials_file, secret_file)");
    }
    match scheme {
        "https" | "http" => {
            let uri: http::Uri = url.parse().map_err(|_| what)?;
            let host = uri.host().ok_or(what)?;
            if scheme == "http" && !is_this_machine(host) {
                return Err("must be https://, unless it is this machine");
            }
            Ok(Upstream::Https(url.to_owned()))
        }
        "nats" | "tls" => {
            let (host, port) = host_and_port(rest.trim_end_matches('/')).ok_or(what)?;
            Ok(Upstream::Nats(Nats {
                host,
                port,
                tls: scheme == "tls",
                subject: String::new(),
                credentials_file: None,
            }))
        }
        _ => Err(what),
    }
}

fn host_and_port(text: &str) -> Option<(String, u16)> {
    const NATS_PORT: u16 = 4222;
    let bare_six = text.ends_with(']') || !text.contains(':');
    let (host, port) =
        if bare_six { (text, NATS_PORT) } else { text.rsplit_once(':').map(|(h, p)| Some((h, p.parse().ok()?)))?? };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let sound = host.parse::<IpAddr>().is_ok() || host_name(host).is_ok();
    (sound && port > 0).then(|| (host.to_owned(), port))
}

pub(super) fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Checks the subject of NATS. Each site needs a subject of its own, because the receiver relies on the order within
/// it.
fn subject(text: &str) -> Result<String, &'static str> {
    let filled = text.replace("{site_id}", "x");
    let sound = filled
        .split('.')
        .all(|token| !token.is_empty() && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    match sound && text.contains("{site_id}") && text.len() <= 200 {
        true => Ok(text.to_owned()),
        false => Err("must be words with dots between them and a place for {site_id}, like tunnels.{site_id}.history"),
    }
}

fn header(text: &str) -> Result<String, &'static str> {
    match text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("must be 64 letters, digits and signs at most, without spaces"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, with};

    fn secret() -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "opensesame\n").unwrap();
        file
    }

    #[test]
    fn nothing_goes_upstream_unless_somebody_says_so() {
        assert_eq!(Config::defaults().sync, None);
    }

    #[test]
    fn an_upstream_is_https_or_nats() {
        let secret = secret();
        let path = secret.path().display();
        let file =
            format!("[sync]\nurl = \"https://m.example.org/in?x=1\"\nclient_id = \"c1\"\nsecret_file = \"{path}\"");
        let sync = with(&file).unwrap().sync.unwrap();
        assert_eq!(sync.upstream, Upstream::Https("https://m.example.org/in?x=1".to_owned()));
        assert_eq!(sync.upstream.without_secrets(), "https://m.example.org/in");
        assert!(sync.scheduled && !sync.strict);

        let file = format!("[sync]\nurl = \"tls://nats.example.org\"\ncredentials_file = \"{path}\"");
        let Upstream::Nats(nats) = with(&file).unwrap().sync.unwrap().upstream else { panic!("not NATS") };
        assert_eq!((nats.host.as_str(), nats.port, nats.tls), ("nats.example.org", 4222, true));
        let Upstream::Nats(nats) = with("[sync]\nurl = \"nats://[::1]:99\"").unwrap().sync.unwrap().upstream else {
            panic!("not NATS")
        };
        assert_eq!((nats.host.as_str(), nats.port, nats.tls), ("::1", 99, false));
    }

    #[test]
    fn every_mistake_is_named() {
        let secret = secret();
        let whole = format!("client_id = \"c\"\nsecret_file = \"{}\"", secret.path().display());
        for (lines, part) in [
            (format!("url = \"http://m.example.org/\"\n{whole}"), "must be https"),
            (format!("url = \"ftp://m.example.org/\"\n{whole}"), "is not an address like"),
            (format!("url = \"nats://user:pass@m.example.org\"\n{whole}"), "must not hold a name"),
            (format!("url = \"https://m.example.org/\"\nclient_id = \"a b\"\n{}", &whole[16..]), "without spaces"),
            ("url = \"https://m.example.org/\"\nclient_id = \"c\"".to_owned(), "the file that holds the secret"),
            (format!("url = \"https://m.example.org/\"\n{}", &whole[16..]), "the client id that"),
            ("secret_file = \"/nowhere/at/all\"".to_owned(), "cannot be read"),
            ("ca_file = \"/nowhere/at/all\"".to_owned(), "cannot be read"),
            ("subject = \"tunnels.history\"".to_owned(), "{site_id}"),
            ("subject = \"tunnels.>.{site_id}\"".to_owned(), "{site_id}"),
            ("batch_rows = 0".to_owned(), "from 1 to"),
            ("strict = \"perhaps\"".to_owned(), "true or false"),
        ] {
            let mistakes = with(&format!("[sync]\n{lines}")).unwrap_err();
            assert!(mistakes.iter().any(|mistake| mistake.contains(part)), "{lines}: {mistakes:?}");
            assert!(!format!("{mistakes:?}").contains("opensesame"));
        }
    }
}
