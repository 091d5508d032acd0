//! `tunneldesk init`: makes a new site.

use super::owner::become_owner;
use super::shell::shell_actor;
use super::{CommandError, CommandResult, Global, acquire, done, failed, holder, refused};
use crate::app::{self, RankedActor, invitations, tunnels};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::Actor;
use crate::domain::zones::clocks_of;
use crate::domain::{local_time, tunnel};
use crate::i18n::language::Language;
use crate::keys::Keys;
use crate::moment::Moment;
use crate::ops::backup::restore;
use crate::ops::lifecycle::Identity;
use crate::ops::signature::Signer;
use crate::site::Site;
use crate::store::data_dir::{DataDir, LockError, database, standby_copy};
use crate::store::queries::erasure;
use clap::Args;
use std::io::{IsTerminal, Write as _};

#[derive(Args)]
pub(super) struct Init {
    /// What the tunnel is called
    #[arg(long, value_parser = tunnel::name)]
    name: String,
    /// The tunnel's number, as partners know it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    tunnel_id: i64,
    /// The city it is in
    #[arg(long, default_value = "", value_parser = tunnel::line)]
    city: String,
    /// The country it is in, by its two letters (ISO 3166)
    #[arg(long, value_parser = country)]
    country: String,
    /// The time zone in which its days begin, like Europe/Zurich [default: that of the country; where a country has several,
    /// this machine's if it is one of them, else it is asked for]
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
}

pub(super) fn country(text: &str) -> Result<String, String> {
    let sound = text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic());
    let known = if sound { tunnel::code(text) } else { Err("is not two letters, like DE or US") };
    known.map_err(str::to_owned)
}

/// The time zone that this machine is set to, where it can be read.
fn machine_zone() -> Option<String> {
    let link = std::fs::read_link("/etc/localtime").ok()?;
    local_time::parse_zone_name(link.to_str()?.split_once("/zoneinfo/")?.1).ok()
}

/// How often the command asks for the time zone before it gives up.
const ATTEMPTS_MAX: usize = 3;

/// The time zone of a site in a country: the country's only one, else this machine's where it is one of the country's,
/// else the one that is typed.
fn zone_of(country: &str, machine: Option<String>) -> Result<String, CommandError> {
    let clocks = clocks_of(country);
    if let [only] = &clocks[..] {
        return Ok(only[0].to_owned());
    }
    if let Some(machine) = machine.filter(|zone| clocks.iter().flatten().any(|one| one == zone)) {
        return Ok(machine);
    }
    let choice: Vec<&str> = clocks.iter().map(|clock| clock[0]).collect();
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        let choice = if choice.is_empty() { "Europe/Zurich".to_owned() } else { choice.join(", ") };
        return Err(refused(format!(
            "the time zone does not follow from --country {country}: name it with --time-zone, like {choice}"
        )));
    }
    let mut terminal = std::io::stderr();
    _ = writeln!(terminal, "{country} has several time zones: {}", choice.join(", "));
    for _ in 0..ATTEMPTS_MAX {
        _ = write!(terminal, "Time zone: ");
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        if read.map_err(|e| failed(format!("cannot read the time zone: {e}")))? == 0 {
            break;
        }
        match local_time::parse_zone_name(line.trim()) {
            Ok(zone) => return Ok(zone),
            Err(what) => _ = writeln!(terminal, "{} {what}", line.trim()),
        }
    }
    Err(refused("no time zone was given"))
}

impl Init {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let zone = match &self.time_zone {
            Some(named) => {
                local_time::parse_zone_name(named).map_err(|what| refused(format!("--time-zone {named} {what}")))?
            }
            None => zone_of(&self.country, machine_zone())?,
        };
        let config = global.checked()?;
        let dir = config.data.clone();
        let actor = shell_actor();
        become_owner(&dir)?;
        let data_dir = acquire::lock(&dir, DataDir::create).map_err(|error| match error {
            LockError::InUse => refused(holder::in_use(&dir)),
            LockError::Unusable(text) => failed(text),
        })?;
        let identity =
            Identity { tunnel_id: self.tunnel_id.into(), name: self.name, city: self.city, country: self.country };
        refuse_where_a_site_is(&data_dir)?;
        let fingerprint = Signer::ensure(&dir).map_err(failed)?.public().fingerprint();
        let port = config.tls.listen.first().or(config.listen.first()).map_or(0, |one| one.port());
        let url = config.public_url(port);
        let (site, code) = make_site(&data_dir, config, &identity, &zone, &actor).map_err(failed)?;
        let link = format!("{url}/claim?code={code}");
        let words = format!(
            "{} is ready in {}. Its days begin at midnight in {}.\nIts copies are signed by the key {fingerprint}: note it. A new machine knows the site by it.\n\nNext:\n  \
             tunneldesk serve   the site itself\n  \
             {link}\n                     opens the account of the first admin, once and within a day; all else is set in pages, under Site",
            identity.name,
            dir.display(),
            zone
        );
        let values = serde_json::json!({
            "data": dir, "site_id": &*site.site_id, "tunnel_id": site.tunnel_id, "time_zone": zone,
            "fingerprint": fingerprint, "first_admin": link
        });
        done(words, values)
    }
}

/// Refuses a directory that has a site. First finishes or removes the files of an interrupted `init` or restore. A
/// database without a site, which an `init` of an earlier version can leave, does not count as a site.
fn refuse_where_a_site_is(data_dir: &DataDir) -> Result<(), CommandError> {
    restore::complete(data_dir).map_err(|e| failed(format!("an earlier restore cannot be finished: {e}")))?;
    let (dir, remains) = (data_dir.dir().display(), data_dir.remains());
    // SQLite would remove the WAL of an empty database file.
    let has_database = std::fs::metadata(data_dir.database()).is_ok_and(|file| file.len() > 0);
    if has_database && !erasure::is_without_site(&data_dir.database()) {
        return Err(refused(format!("there is a site in {dir} already: start it with `tunneldesk serve`")));
    }
    if !has_database && standby_copy(data_dir.dir()).exists() {
        return Err(refused(format!("{}; or give the new site another --data", data_dir.without_database())));
    }
    let of_a_site: Vec<_> =
        remains.into_iter().filter(|what| *what == "its backups" || (*what == "its log" && !has_database)).collect();
    if of_a_site.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "there was a site in {dir}, and {} are there: bring it back with `tunneldesk restore`, or give the new one another --data",
        of_a_site.join(", ")
    )))
}

/// Makes the complete site in a directory beside its final place, and then moves it there, so that an interrupted
/// `init` can be run again. Returns the code of the first admin too.
fn make_site(
    data_dir: &DataDir,
    config: Config,
    identity: &Identity,
    zone: &str,
    actor: &Actor,
) -> Result<(Site, String), String> {
    let dir = restore::new_site_dir(data_dir);
    let beside = DataDir::create(&dir).map_err(|error| match error {
        LockError::InUse => format!("another process works in {}", dir.display()),
        LockError::Unusable(text) => text,
    })?;
    let failed = |e: std::io::Error| format!("cannot write to {}: {e}", dir.display());
    // A key that is there already stays: copies elsewhere may be sealed by it.
    let has_key = data_dir.key().exists();
    if has_key {
        // An error names this file, not the copy.
        Keys::open(&data_dir.key())?;
        crate::files::copy(&data_dir.key(), &beside.key()).map_err(failed)?;
        crate::files::open(&beside.key()).and_then(|key| key.sync_all()).map_err(failed)?;
    }
    let site = Site::create(&beside, Config { data: dir.clone(), ..config }, Clock::machine(Moment(0)), identity)?;
    let made = app::change(&site, RankedActor::owner(actor), Language::default(), |cx| {
        tunnels::begin(cx, zone)?;
        invitations::invite_first_admin(cx)
    });
    let code = made.map_err(|e| format!("the site takes no writes: {e}"))?;
    site.close();
    let replaced = restore::swap_in(data_dir, &dir)?;
    // The replaced directory has the key alone, of which the site has a copy.
    if let Some(old) = replaced.filter(|old| has_key && !database(old).exists()) {
        std::fs::remove_dir_all(&old).map_err(failed)?;
    }
    Ok((site, code))
}
