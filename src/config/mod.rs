//! Settings as typed (file, environment, flags) become a [`Config`]: all are checked together, and every mistake is named.

mod backup;
mod callbacks;
mod credentials;
pub(crate) mod desk;
mod limits;
mod log;
mod network;
mod off_site;
mod outgoing;
mod papers;
pub(crate) mod recipient;
pub mod replica;
mod social;
mod sync;
mod terminal;
mod tls;
mod values;
mod waiver;
mod warnings;

pub(crate) use backup::Backup;
pub(crate) use callbacks::Callbacks;
pub use desk::Typed;
pub(crate) use limits::Limits;
pub(crate) use log::{Log, LogAddresses, LogFormat};
pub(crate) use off_site::Bucket;
pub use off_site::OffSiteLocation;
pub use outgoing::{Mail, Secret, Security, Sms};
pub(crate) use papers::{Board, Papers, Reminders};
pub(crate) use replica::Replica;
pub(crate) use social::Social;
pub use social::TokenIssuer;
pub use sync::{Nats, Sync, Upstream};
pub(crate) use terminal::wants_colour;
pub(crate) use tls::{CertificateFiles, Tls};
pub(crate) use values::host_name;
pub(crate) use waiver::Waiver;

use crate::domain::catalogue::Catalogue;
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use toml::Value;
use values::{address, calling_code, currency, flight_minutes, origin, public_url};

/// The sample that the package ships. The defaults are read from it, so the two cannot differ.
pub(crate) const SAMPLE: &str = include_str!("../../packaging/tunneldesk.toml");

const ENVIRONMENT_PREFIX: &str = "TUNNELDESK_";
/// Environment variables of the program that are no settings.
const ENVIRONMENT_OTHERS: [&str; 1] = ["TUNNELDESK_CONFIG"];
/// Settings that are never shown.
const SECRETS: [&str; 7] = [
    "metrics_token",
    "mail.password",
    "sms.token",
    "social.facebook.app_secret",
    "callbacks.payment_secret",
    "callbacks.mail_key",
    "replica.token",
];
/// What stands in place of a secret.
const HIDDEN: &str = "(secret)";
const DEMO_YEARLY_FEE_CENTS: i64 = 3_000;

/// All settings of a site, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The addresses on which the site answers over plain HTTP.
    pub listen: Vec<SocketAddr>,
    /// The address on which `/metrics` and health are answered; `None`: none.
    pub metrics_listen: Option<SocketAddr>,
    /// The token that `/metrics` wants; `None`: the address is one of this machine.
    pub metrics_token: Option<Secret>,
    /// The name under which the site is found on its own network, like `tunneldesk.local`; `None`: none.
    pub local_name: Option<String>,
    /// The data directory.
    pub data: PathBuf,
    /// The host names of the site, in lower case and without a port.
    pub names: Vec<String>,
    /// Those of `names` under which only what members need at home is answered; empty: none.
    pub public_names: Vec<String>,
    /// The public URL, without a trailing slash.
    pub public_url: Option<String>,
    /// Networks whose `X-Forwarded-For` is trusted.
    pub proxies: Vec<IpNet>,
    /// Origins whose pages may call the API from a browser, as browsers write them.
    pub allowed_origins: Vec<String>,
    /// The built-in catalogue, extended by the site's own file if there is one.
    pub catalogue: &'static Catalogue,
    /// The yearly fee, in the smallest unit of its currency; 0: membership costs nothing.
    pub yearly_fee_cents: i64,
    /// Whether a member who never flew books without a confirmed e-mail address.
    pub first_flight_unconfirmed: bool,
    /// Minutes that can be flown in a quarter of an hour; 0: not set.
    pub minutes_per_quarter_hour: i64,
    /// The hour until which the arrivals of the evening before are shown; 0: not at all.
    pub evening_until_hour: i64,
    /// The durations that pages offer; others are typed.
    pub usual_minutes: Vec<i64>,
    /// Minutes that members can book at a kiosk; empty: no bookings there.
    pub kiosk_minutes: Vec<i64>,
    /// Until how many hours before the flight members cancel a booking themselves.
    pub cancel_hours: i64,
    /// The currency of the fee: ISO 4217, upper case; `None`: that of the site's country.
    pub fee_currency: Option<String>,
    /// The mail server; `None`: mails wait in the outbox.
    pub mail: Option<Mail>,
    /// The gateway for short messages; `None`: they wait in the outbox.
    pub sms: Option<Sms>,
    /// Countries whose new telephone numbers get passcodes, by calling code; empty: the site's own.
    pub calling_codes: Vec<u16>,
    /// The address to which messages of the contact form are sent; without it only the desk reads them.
    pub contact_to: Option<String>,
    /// The limits of connections, requests and messages.
    pub limits: Limits,
    /// How much is logged, and in what form.
    pub log: Log,
    /// The networks by which members sign in.
    pub social: Social,
    /// The secrets of the services that call back.
    pub callbacks: Callbacks,
    /// When backups are made, and to where they are copied.
    pub backup: Backup,
    /// The settings of the standby.
    pub replica: Replica,
    /// The receiver of the history; `None`: the history is not sent.
    pub sync: Option<Sync>,
    /// The authority that webhooks trust beside the public ones: PEM.
    pub webhook_authority: Option<Vec<u8>>,
    /// The addresses and the certificate of https.
    pub tls: Tls,
    /// The settings of waivers.
    pub waiver: Waiver,
    /// Who gives out receipts.
    pub papers: Papers,
    /// What boards in the hall show.
    pub board: Board,
    /// Whether and when members are reminded.
    pub reminders: Reminders,
    /// The settings as they were typed.
    pub typed: Typed,
    /// Whether this is a demo site, where no second factor is needed. Only `--demo` sets it, no file can.
    pub demo: bool,
}

/// One setting as it was typed, and where.
#[derive(Clone)]
struct Setting {
    value: Value,
    origin: String,
}

/// The settings as they were typed, by dotted key; later layers replace earlier ones.
#[derive(Default)]
pub(crate) struct Settings {
    typed: BTreeMap<String, Setting>,
    mistakes: Vec<String>,
    demo: bool,
}

impl Settings {
    /// The defaults alone.
    pub(crate) fn new() -> Settings {
        let mut settings = Settings::default();
        settings.add_file(SAMPLE, "the defaults");
        settings
    }

    /// The settings from the defaults, the file, the environment and the service manager's credentials.
    pub(crate) fn gather(file: Option<&Path>) -> Settings {
        let mut settings = Settings::new();
        if let Some(path) = file {
            match crate::files::read_given_text(path) {
                Ok(text) => settings.add_file(&text, &path.display().to_string()),
                Err(e) => settings.mistakes.push(format!("{}: cannot be read: {e}", path.display())),
            }
        }
        settings.add_environment(std::env::vars());
        if let Some(dir) = std::env::var_os("CREDENTIALS_DIRECTORY") {
            settings.add_credentials(Path::new(&dir));
        }
        settings
    }

    /// The file that is read when none is named: the first that exists.
    pub(crate) fn usual_file() -> Option<PathBuf> {
        ["tunneldesk.toml", "/etc/tunneldesk/tunneldesk.toml"].map(PathBuf::from).into_iter().find(|p| p.exists())
    }

    fn add_file(&mut self, text: &str, origin: &str) {
        match text.parse::<toml::Table>() {
            Ok(table) => self.add_table("", table, origin),
            Err(e) => self.mistakes.push(format!("{origin}: {}", e.to_string().trim().replace('\n', " "))),
        }
    }

    fn add_table(&mut self, prefix: &str, table: toml::Table, origin: &str) {
        for (name, value) in table {
            let key = format!("{prefix}{name}");
            match value {
                // A table in place of a value is a mistake that the check of the value names.
                Value::Table(inner) if !self.typed.contains_key(&key) => {
                    self.add_table(&format!("{key}."), inner, origin)
                }
                value => self.set(&key, value, &format!("{origin}: {key}")),
            }
        }
    }

    /// Text from the environment takes the type of the default that it replaces.
    fn add_environment(&mut self, vars: impl Iterator<Item = (String, String)>) {
        let keys: BTreeMap<String, (String, Value)> = self
            .typed
            .iter()
            .map(|(key, setting)| {
                (
                    format!("{ENVIRONMENT_PREFIX}{}", key.to_uppercase().replace('.', "_")),
                    (key.clone(), setting.value.clone()),
                )
            })
            .collect();
        for (name, text) in vars.filter(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX)) {
            match keys.get(&name) {
                Some((key, like)) => self.set(key, typed_like(like, &text), &name),
                None if ENVIRONMENT_OTHERS.contains(&name.as_str()) => {}
                None => self.mistakes.push(format!("{name}: there is no such setting; tunneldesk check lists them")),
            }
        }
    }

    /// One setting from a flag, or on behalf of `--demo`.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>, origin: &str) {
        let known = self.typed.contains_key(key) || origin.starts_with("the defaults");
        if known {
            self.typed.insert(key.to_owned(), Setting { value: value.into(), origin: origin.to_owned() });
        } else {
            self.mistakes.push(format!("{origin}: there is no such setting"));
        }
    }

    /// The defaults of `serve --demo`: a directory of its own, a fee (so that a member can owe it), and no delays for a
    /// visitor who tries things out.
    pub(crate) fn for_demo(&mut self) {
        self.demo = true;
        for (key, value) in [
            ("data", Value::from("tunneldesk-demo")),
            ("membership.yearly_fee_cents", Value::from(DEMO_YEARLY_FEE_CENTS)),
            ("backup.every_hours", Value::from(0)),
            ("limits.sign_in_misses_per_address", Value::from(1_000_000)),
            ("limits.signups_per_hour_per_address", Value::from(1_000_000)),
            ("limits.passkey_questions_per_minute_per_address", Value::from(1_000_000)),
            ("limits.recoveries_per_hour_per_address", Value::from(1_000_000)),
            ("limits.messages_per_day_per_address", Value::from(1_000_000)),
            ("limits.changes_per_day_per_member", Value::from(1_000_000)),
        ] {
            if self.typed.get(key).is_some_and(|s| s.origin.starts_with("the defaults")) {
                self.set(key, value, "--demo");
            }
        }
    }

    /// Checks everything. The error is one line a mistake.
    pub(crate) fn check(mut self) -> Result<Config, Vec<String>> {
        let config = Config {
            listen: self.list("listen", |s| s.parse().map_err(|_| "is not ADDRESS:PORT, for instance 0.0.0.0:8080")),
            metrics_listen: self.metrics_listen(),
            metrics_token: self.metrics_token(),
            data: self
                .text("data", |s| if s.is_empty() { Err("must name a directory") } else { Ok(s.into()) })
                .unwrap_or_default(),
            local_name: self.local_name(),
            names: self.names(),
            public_names: self.list("public_names", host_name),
            public_url: self.text("public_url", public_url).flatten(),
            proxies: self.list("proxies", |s| {
                s.parse::<IpNet>()
                    .or_else(|_| s.parse::<IpAddr>().map(IpNet::from))
                    .map_err(|_| "is not an address or a network like 10.0.0.0/8")
            }),
            allowed_origins: self.list("allowed_origins", origin),
            catalogue: self.catalogue(),
            yearly_fee_cents: self.whole("membership.yearly_fee_cents", 0, 10_000_000),
            first_flight_unconfirmed: self.truth("membership.first_flight_unconfirmed"),
            fee_currency: self.text("membership.currency", currency).flatten(),
            minutes_per_quarter_hour: self.whole("tunnel.minutes_per_quarter_hour", 0, 600),
            evening_until_hour: self.whole("tunnel.evening_until_hour", 0, 12),
            usual_minutes: self.minutes("tunnel.usual_minutes"),
            kiosk_minutes: self.minutes("tunnel.kiosk_minutes"),
            cancel_hours: self.whole("tunnel.cancel_hours", 0, 8_760),
            mail: self.mail(),
            sms: self.sms(),
            calling_codes: self.list("sms.calling_codes", calling_code),
            contact_to: self.text("mail.contact_to", address).flatten(),
            limits: self.limits(),
            log: self.log(),
            social: self.social(),
            callbacks: self.callbacks(),
            backup: self.backup(),
            replica: self.replica(),
            sync: self.sync(),
            webhook_authority: self.text("webhooks.ca_file", outgoing::authority).flatten(),
            tls: self.tls(),
            waiver: self.waiver(),
            papers: self.papers(),
            reminders: self.reminders(),
            board: self.board(),
            typed: Typed::of(&self.typed),
            demo: self.demo,
        };
        if config.listen.is_empty() && self.mistakes.is_empty() {
            self.mistakes.push("listen: needs at least one ADDRESS:PORT".to_owned());
        }
        for name in config.public_names.iter().filter(|name| !config.names.contains(name)) {
            self.mistake("public_names", &format!("{name} is not in names"));
        }
        if self.mistakes.is_empty() { Ok(config) } else { Err(self.mistakes) }
    }

    /// Every key with the value in force and its origin, for `tunneldesk check`.
    pub(crate) fn effective(&self) -> Vec<(String, String, String)> {
        let from = |s: &Setting| s.origin.rsplit_once(": ").map_or(s.origin.clone(), |(origin, _)| origin.to_owned());
        self.typed.iter().map(|(key, setting)| (key.clone(), redacted(key, &setting.value), from(setting))).collect()
    }

    /// The catalogue, extended by the site's own file. A mistake of that file is a mistake of the settings.
    fn catalogue(&mut self) -> &'static Catalogue {
        let base = Catalogue::built_in();
        let Some(path) = self.text("catalogue", |s| Ok(s.to_owned())).filter(|path| !path.is_empty()) else {
            return base;
        };
        let read = crate::files::read_given_text(Path::new(&path)).map_err(|e| format!("cannot be read: {e}"));
        match read.and_then(|json| base.extended(&json)) {
            // Used by every thread until the process ends.
            Ok(catalogue) => Box::leak(Box::new(catalogue)),
            Err(mistakes) => {
                mistakes.lines().for_each(|mistake| self.mistake("catalogue", mistake));
                base
            }
        }
    }

    fn mistake(&mut self, key: &str, what: &str) {
        let setting = &self.typed[key];
        self.mistakes.push(format!("{} = {}: {what}", setting.origin, redacted(key, &setting.value)));
    }

    fn text<T>(&mut self, key: &str, parse: impl Fn(&str) -> Result<T, &'static str>) -> Option<T> {
        match self.typed[key].value.as_str().ok_or("must be text in quotes").and_then(|s| parse(s.trim())) {
            Ok(value) => Some(value),
            Err(what) => {
                self.mistake(key, what);
                None
            }
        }
    }

    fn list<T>(&mut self, key: &str, parse: impl Fn(&str) -> Result<T, &'static str>) -> Vec<T> {
        let Some(items) = self.typed[key].value.as_array().cloned() else {
            self.mistake(key, "must be a list in brackets");
            return Vec::new();
        };
        let mut values = Vec::new();
        for item in items {
            match item.as_str().ok_or("must be text in quotes").and_then(&parse) {
                Ok(value) => values.push(value),
                Err(what) => {
                    let origin = self.typed[key].origin.clone();
                    self.mistakes.push(format!("{origin}: {item}: {what}"));
                }
            }
        }
        values
    }

    /// Durations that a page offers, each once.
    fn minutes(&mut self, key: &str) -> Vec<i64> {
        let minutes = self.list(key, flight_minutes);
        if let Some(twice) = minutes.iter().enumerate().find(|(at, one)| minutes[..*at].contains(one)) {
            self.mistake(key, &format!("names {} twice, and must name each once", twice.1));
        }
        minutes
    }

    fn whole(&mut self, key: &str, least: i64, most: i64) -> i64 {
        match self.typed[key].value.as_integer() {
            Some(value) if (least..=most).contains(&value) => value,
            _ => {
                self.mistake(key, &format!("must be a whole number from {least} to {most}"));
                least
            }
        }
    }
}

impl Config {
    /// The defaults, checked.
    pub fn defaults() -> Config {
        Settings::new().check().expect("the defaults are sound")
    }

    /// The origin that people and partners use.
    pub fn public_url(&self, port: u16) -> String {
        let name = self.names.first().map_or("localhost", String::as_str);
        let (scheme, usual) = if self.tls.listen.is_empty() { ("http", 80) } else { ("https", 443) };
        let port = if port == usual { String::new() } else { format!(":{port}") };
        self.public_url.clone().unwrap_or_else(|| format!("{scheme}://{name}{port}"))
    }
}

/// A value as it may be shown: secrets are replaced.
fn redacted(key: &str, value: &Value) -> String {
    let hidden = SECRETS.contains(&key) && value.as_str() != Some("");
    if hidden { HIDDEN.to_owned() } else { value.to_string() }
}

fn typed_like(like: &Value, text: &str) -> Value {
    match like {
        Value::Array(_) => {
            text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(Value::from).collect::<Vec<_>>().into()
        }
        Value::Integer(_) => text.trim().parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Value::Boolean(_) => text.trim().parse::<bool>().map_or_else(|_| text.into(), Value::from),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests;

/// The configuration of a settings file with this text alone.
#[cfg(test)]
fn with(file: &str) -> Result<Config, Vec<String>> {
    let mut settings = Settings::new();
    settings.add_file(file, "t.toml");
    settings.check()
}
