//! The settings of the mail server and of the gateway for short messages.

use super::Settings;
use lettre::message::Mailbox;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Text that no log and no listing shows.
#[derive(Clone, PartialEq)]
pub struct Secret(String);

/// The mail server, and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Mail {
    /// The mail server's name or address.
    pub host: String,
    /// The mail server's port.
    pub port: u16,
    /// How the connection is encrypted.
    pub security: Security,
    /// Username and password; `None`: the server needs none.
    pub account: Option<(String, Secret)>,
    /// The sender. Without a name of its own, the name of the site is shown.
    pub from: Mailbox,
    /// The address for answers; `None`: `from`.
    pub reply_to: Option<Mailbox>,
    /// The authority of the server's certificate in PEM, trusted instead of the public ones.
    pub authority: Option<Vec<u8>>,
}

/// How the connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Security {
    /// The connection is encrypted from the first command on: a server without STARTTLS gets nothing.
    StartTls,
    /// The connection is encrypted from the first byte on.
    Tls,
    /// The connection is not encrypted: for a server on this machine.
    None,
}

/// The gateway for short messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Sms {
    /// The gateway's address for a POST.
    pub url: String,
    /// The JSON of a request, with places for `{to}` and `{text}`.
    pub body: String,
    /// The token, sent as `Authorization: Bearer` unless the body has a place for it.
    pub token: Option<Secret>,
    /// The authority of the gateway's certificate in PEM, trusted instead of the public ones.
    pub authority: Option<Vec<u8>>,
}

impl Secret {
    /// A secret text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Settings {
    /// The settings of the mail server. Everything is checked, also while no server is named.
    pub(super) fn mail(&mut self) -> Option<Mail> {
        let server = self.text("mail.server", host_and_port).flatten();
        let security = self.text("mail.security", security);
        let username = self.text("mail.username", |s| Ok(s.to_owned())).unwrap_or_default();
        let password = self.secret("mail.password", "mail.password_file");
        let from = self.text("mail.from", mailbox).flatten();
        let reply_to = self.text("mail.reply_to", mailbox).flatten();
        let authority = self.text("mail.ca_file", authority).flatten();
        let (host, port) = server?;
        let security = security?;
        if security == Security::None && !is_this_machine(&host) {
            self.mistake("mail.security", "only a mail server on this machine may go without: use starttls or tls");
        }
        if !username.is_empty() && password.is_none() {
            self.mistake("mail.username", "needs a password or password_file beside it");
        }
        if from.is_none() {
            self.mistake("mail.from", "must say who writes, like desk@example.org");
        }
        let account = password.filter(|_| !username.is_empty()).map(|password| (username, password));
        Some(Mail { host, port, security, account, from: from?, reply_to, authority })
    }

    /// The settings of the gateway. Everything is checked, also while no gateway is named.
    pub(super) fn sms(&mut self) -> Option<Sms> {
        let url = self.text("sms.url", gateway).flatten();
        let body = self.text("sms.body", gateway_body);
        let token = self.secret("sms.token", "sms.token_file");
        let authority = self.text("sms.ca_file", authority).flatten();
        Some(Sms { url: url?, body: body?, token, authority })
    }

    /// A secret that is a setting, or the whole content of a file.
    pub(super) fn secret(&mut self, key: &str, file_key: &str) -> Option<Secret> {
        let typed = self.text(key, |s| Ok(s.to_owned())).filter(|s| !s.is_empty());
        let file = self.text(file_key, |s| Ok(s.to_owned())).filter(|s| !s.is_empty());
        match (typed, file) {
            (Some(_), Some(_)) => {
                self.mistake(file_key, "stands beside the secret itself; give one of them");
                None
            }
            (typed, None) => typed.map(Secret),
            (None, Some(file)) => match crate::files::read_given_text(Path::new(&file)) {
                // With an empty key any request could be signed.
                Ok(text) if text.trim().is_empty() => {
                    self.mistake(file_key, "is an empty file");
                    None
                }
                Ok(text) => Some(Secret(text.trim_end_matches(['\r', '\n']).to_owned())),
                Err(e) => {
                    self.mistake(file_key, &format!("cannot be read: {e}"));
                    None
                }
            },
        }
    }
}

fn host_and_port(text: &str) -> Result<Option<(String, u16)>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let what = "is not HOST:PORT, for instance mail.example.org:587";
    let (host, port) = text.rsplit_once(':').ok_or(what)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let sound = host.parse::<IpAddr>().is_ok() || super::host_name(host).is_ok();
    match port.parse() {
        Ok(port) if sound && port > 0 => Ok(Some((host.to_owned(), port))),
        _ => Err(what),
    }
}

fn security(text: &str) -> Result<Security, &'static str> {
    match text {
        "starttls" => Ok(Security::StartTls),
        "tls" => Ok(Security::Tls),
        "none" => Ok(Security::None),
        _ => Err("is not one of starttls, tls, none"),
    }
}

fn mailbox(text: &str) -> Result<Option<Mailbox>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed: Result<Mailbox, _> = text.parse();
    let mailbox = parsed.map_err(|_| "is not an address like desk@example.org or Windwerk <desk@example.org>")?;
    // A domain has a form in ASCII, and what stands before it has none.
    let is_ascii = mailbox.email.user().is_ascii();
    is_ascii.then_some(Some(mailbox)).ok_or("has letters before the @ that most mail servers refuse: use a to z")
}

pub(super) fn authority(text: &str) -> Result<Option<Vec<u8>>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let path: PathBuf = text.into();
    let pem = crate::files::read_given(Path::new(&path)).map_err(|_| "cannot be read")?;
    let sound = String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----");
    if sound { Ok(Some(pem)) } else { Err("holds no PEM certificate") }
}

fn gateway(text: &str) -> Result<Option<String>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let what = "is not an address like https://gateway.example.org/send";
    let url: http::Uri = text.parse().map_err(|_| what)?;
    match (url.scheme_str(), url.host()) {
        (Some("https"), Some(_)) => Ok(Some(text.to_owned())),
        (Some("http"), Some(host)) if is_this_machine(host) || is_private(host) => Ok(Some(text.to_owned())),
        (Some("http"), Some(_)) => Err("must be https://, unless it is this machine or a private address"),
        _ => Err(what),
    }
}

fn gateway_body(text: &str) -> Result<String, &'static str> {
    let whole = text.contains("{to}") && text.contains("{text}");
    if !whole {
        return Err("must have places for {to} and {text}");
    }
    // All values are escaped, so a template that is valid with plain words as values is valid with any.
    let filled = text.replace("{to}", "x").replace("{text}", "x").replace("{token}", "x");
    let sound = !text.starts_with('{') || serde_json::from_str::<serde_json::Value>(&filled).is_ok();
    if sound { Ok(text.to_owned()) } else { Err("begins with { and is not JSON") }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || address(host).is_some_and(|ip| ip.is_loopback())
}

fn is_private(host: &str) -> bool {
    matches!(address(host), Some(IpAddr::V4(ip)) if ip.is_private())
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, with};

    #[test]
    fn without_a_server_messages_wait() {
        let config = Config::defaults();
        assert_eq!((config.mail, config.sms), (None, None));
    }

    #[test]
    fn a_mail_server_is_its_host_port_account_and_sender() {
        let file = "[mail]\nserver = \"mail.example.org:587\"\nusername = \"desk\"\npassword = \"p w\"\nfrom = \"Windwerk <desk@example.org>\"";
        let mail = with(file).unwrap().mail.unwrap();
        assert_eq!((mail.host.as_str(), mail.port, mail.security), ("mail.example.org", 587, Security::StartTls));
        assert_eq!(mail.account, Some(("desk".to_owned(), Secret::new("p w"))));
        assert_eq!(mail.from.to_string(), "Windwerk <desk@example.org>");
    }

    #[test]
    fn a_secret_may_lie_in_a_file_and_is_never_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "opensesame\n").unwrap();
        let from_file = format!("[sms]\nurl = \"https://g.example/\"\ntoken_file = \"{}\"", file.path().display());
        assert_eq!(with(&from_file).unwrap().sms.unwrap().token, Some(Secret::new("opensesame")));

        let typed = "[mail]\nserver = \"m.example:25\"\npassword = \"opensesame\"\npassword_file = \"/nowhere\"";
        let mistakes = with(typed).unwrap_err();
        assert!(!format!("{mistakes:?}").contains("opensesame"), "{mistakes:?}");
        let mut settings = Settings::new();
        settings.add_file(typed, "t.toml");
        assert!(!format!("{:?}", settings.effective()).contains("opensesame"));
        assert!(!format!("{:?}", Secret::new("opensesame")).contains("opensesame"));
    }

    #[test]
    fn what_would_send_secrets_in_the_open_is_a_mistake() {
        for (file, part) in [
            (
                "[mail]\nserver = \"m.example:25\"\nfrom = \"a@b.example\"\nsecurity = \"none\"",
                "only a mail server on this",
            ),
            ("[sms]\nurl = \"http://gateway.example/\"", "must be https"),
            ("[mail]\nserver = \"m.example:25\"", "must say who writes"),
            ("[mail]\nserver = \"m.example:25\"\nfrom = \"a@b.example\"\nusername = \"u\"", "needs a password"),
            ("[mail]\nserver = \"m.example\"", "is not HOST:PORT"),
            ("[mail]\nfrom = \"Halle <müller@halle.example>\"", "most mail servers refuse"),
            ("[mail]\nreply_to = \"bücher@halle.example\"", "most mail servers refuse"),
            ("[mail]\nca_file = \"/nowhere.pem\"", "cannot be read"),
            ("[sms]\nbody = \"{to\"", "places for"),
            ("[sms]\nbody = '{\"to\": {to}, \"text\": {text}'", "is not JSON"),
        ] {
            let mistakes = with(file).unwrap_err();
            assert!(mistakes.len() == 1 && mistakes[0].contains(part), "{file}: {mistakes:?}");
        }
        with("[mail]\nserver = \"127.0.0.1:25\"\nfrom = \"a@b.example\"\nsecurity = \"none\"").unwrap();
        with("[sms]\nurl = \"http://192.168.1.9:8080/send\"").unwrap();
    }
}
