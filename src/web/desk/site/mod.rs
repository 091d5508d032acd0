//! *Site*: system status, backups, names and certificate, mail, sync and languages. For admins.

pub(crate) mod audit;
pub(crate) mod backup;
mod health;
mod invitation_view;
pub(crate) mod invitations;
pub(crate) mod mail;
pub(crate) mod settings;
pub(crate) mod signers;
pub(crate) mod staff;
pub(crate) mod sync;

use crate::auth::Clerk;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::drill;
use crate::ops::backup::on_demand::Work;
use crate::ops::on_demand::{self, Run};
use crate::ops::tls;
use crate::site::Site;
use crate::store::tables::outbox;
use crate::store::tables::tls::Kind;
use crate::store::tables::tunnels;
use crate::web::desk::address_code::AddressCode;
use crate::web::{Frame, show as shown};
use askama::Template;
use health::Facts;
use http::StatusCode;

pub(crate) const PART: &str = "/desk/site";
const BACKUPS_SHOWN: usize = 10;
const DONE: [(&str, &str); 4] = [
    ("begun", "site.done_begun"),
    ("busy", "site.done_busy"),
    ("queued", "site.done_queued"),
    ("role", "site.done_role"),
];

#[derive(Template)]
#[template(path = "desk/site.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    facts: Facts,
    /// How many facts are in order, in words.
    passed_text: String,
    backups: Vec<Row>,
    /// The last backup or drill that an admin started on this page, in words.
    last_run: Option<String>,
    /// The CSS class of `last_run`.
    last_run_tone: &'static str,
    /// The last drill, in words.
    drill: String,
    /// Tunnel, time zone, names, addresses and certificate: label and value.
    addresses: Vec<(String, String)>,
    /// The site's address as a QR code.
    address: Option<AddressCode>,
    /// The last test mail of this clerk, in words.
    mail: String,
    has_mail: bool,
    has_sms: bool,
    upstream: sync::Upstream,
    languages: [Language; 5],
    version: &'static str,
    /// Whether the site requires waivers, whose texts admins write.
    has_texts: bool,
}

/// A backup in the list.
struct Row {
    name: String,
    at: String,
    megabytes: String,
    members: i64,
}

/// `GET /desk/site`: the page of system status.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (frame, zone) = (Frame::after_action(site, call, clerk, PART, &DONE)?, site.time_zone()?);
    // Read before the list, so that a backup reported as made is in the list.
    let last_run = on_demand::last::<Work>(site);
    let backups = local_store(&site.config.data).list();
    let drill = drill::last(&site.config.data);
    let facts = health::read(site, call);
    let page = Page {
        passed_text: health::passed_text(call, facts.passed.len()),
        facts,
        last_run_tone: tone(last_run.as_ref()),
        last_run: last_run.map(|run| run_text(call, &zone, &run)),
        drill: drill_in_words(call, &zone, drill.as_ref()),
        backups: backups.iter().take(BACKUPS_SHOWN).map(|one| row(call.language(), &zone, one)).collect(),
        addresses: addresses(site, call, &zone)?,
        address: AddressCode::of(site, ""),
        mail: last_test(site, call, &zone, clerk)?,
        has_mail: site.config.mail.is_some(),
        has_sms: site.config.sms.is_some(),
        upstream: sync::status(site, call, &zone)?,
        languages: Language::ALL,
        has_texts: site.config.waiver.required,
        version: crate::VERSION,
        frame,
    };
    Ok(shown(StatusCode::OK, call.language(), &page))
}

fn row(language: Language, zone: &TimeZone, backup: &crate::ops::backup::backup_store::Backup) -> Row {
    Row {
        name: backup.name(),
        at: when::moment(language, zone, backup.manifest.made_at),
        megabytes: format!("{:.1}", backup.manifest.bytes() as f64 / 1e6),
        members: backup.manifest.rows.get("members").copied().unwrap_or_default(),
    }
}

fn tone<W>(run: Option<&Run<W>>) -> &'static str {
    match run.and_then(|run| run.outcome.as_ref()) {
        None => "soon",
        Some(Ok(_)) => "good",
        Some(Err(_)) => "bad",
    }
}

fn run_text(call: &Call, zone: &TimeZone, run: &Run<Work>) -> String {
    let (work, at) = (run.work, when::moment(call.language(), zone, run.began_at));
    let text = match (&run.outcome, work) {
        (None, Work::Backup) => Text::new("site.backup_under_way").with("at", at),
        (None, Work::Drill) => Text::new("site.drill_under_way").with("at", at),
        (Some(Ok(name)), Work::Backup) => Text::new("site.backup_made").with("name", name),
        (Some(Ok(name)), Work::Drill) => Text::new("site.drill_made").with("name", name),
        (Some(Err(why)), Work::Backup) => Text::new("site.backup_failed").with("why", why),
        (Some(Err(why)), Work::Drill) => Text::new("site.drill_failed").with("why", why),
    };
    call.language().say(&text)
}

fn drill_in_words(call: &Call, zone: &TimeZone, drill: Option<&drill::Drill>) -> String {
    let Some(drill) = drill else { return call.say("site.drill_never") };
    let text = match (drill.trouble.as_str(), drill.moment) {
        ("", None) => Text::new("site.drill_last").with_count("rows", drill.rows),
        ("", Some(moment)) => Text::new("site.drill_last_off_site")
            .with("moment", when::moment(call.language(), zone, moment))
            .with_count("rows", drill.rows),
        (why, _) => Text::new("site.drill_last_failed").with("why", why),
    };
    call.language().say(&text.with("at", when::moment(call.language(), zone, drill.at)).with("name", &drill.backup))
}

/// Tunnel, time zone, names, addresses and certificate: label and value.
fn addresses(site: &Site, call: &Call, zone: &TimeZone) -> Result<Vec<(String, String)>, Failure> {
    let (home, certificate) =
        (site.store.read(|tx| Ok(tunnels::find_whole(tx, site.tunnel_id)?))?, tls::find(site, Kind::Server)?);
    let none = || call.say("site.none");
    let listed = |list: Vec<String>| if list.is_empty() { none() } else { list.join(", ") };
    let mut rows = Vec::new();
    if let Some(home) = home {
        rows.push((call.say("site.hall"), home.name));
        rows.push((call.say("site.zone"), if home.time_zone.is_empty() { "UTC".to_owned() } else { home.time_zone }));
    }
    let join = |list: &[std::net::SocketAddr]| listed(list.iter().map(ToString::to_string).collect());
    rows.push((call.say("site.names"), listed(site.config.names.clone())));
    rows.push((call.say("site.url"), site.config.public_url.clone().unwrap_or_else(none)));
    rows.push((call.say("site.plain"), join(&site.config.listen)));
    rows.push((call.say("site.secure"), join(&site.config.tls.listen)));
    let certificate = match (&site.config.tls.files, certificate) {
        (Some(files), _) => files.certificate.display().to_string(),
        (None, Some(made)) => {
            let days = (made.ends_at - site.now()).div_euclid(86_400);
            let text = Text::new("site.certificate_days")
                .with_count("days", days)
                .with("until", when::day(call.language(), zone, made.ends_at));
            format!("{}: {}", made.names.join(", "), call.language().say(&text))
        }
        (None, None) => none(),
    };
    rows.push((call.say("site.certificate"), certificate));
    Ok(rows)
}

/// The last test mail that this clerk sent, and whether the mail server took it, in words.
fn last_test(site: &Site, call: &Call, zone: &TimeZone, clerk: &Clerk) -> Result<String, Failure> {
    let last = site.store.read(|tx| Ok(outbox::find_last_of(tx, clerk.id(), mail::TEMPLATE)?))?;
    let Some(last) = last else { return Ok(call.say("site.mail_never")) };
    let text = match (last.sent_at, last.state.as_str()) {
        (Some(at), _) => Text::new("site.mail_sent").with("at", when::moment(call.language(), zone, at)),
        (None, "dead") => Text::new("site.mail_dead").with("why", &last.last_error),
        (None, _) if last.last_error.is_empty() => {
            Text::new("site.mail_waits").with("at", when::moment(call.language(), zone, last.created_at))
        }
        (None, _) => Text::new("site.mail_tried").with("why", &last.last_error),
    };
    Ok(call.language().say(&text))
}
