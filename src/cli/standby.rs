//! `tunneldesk standby` and `tunneldesk promote`: a second machine that has a copy of the site, and takes its place
//! when the operator promotes it.

use super::acquire::{self, offline};
use super::owner::become_owner;
use super::shell::shell_actor;
use super::{CommandError, CommandResult, Global, done, failed, holder, refused};
use crate::jobs::standby::{Serving, follow, serving, token_in};
use crate::ops::backup::restore;
use crate::ops::standby::copy::Trouble;
use crate::ops::standby::epoch::{self, Main};
use crate::ops::standby::promote::{self, Promoted};
use crate::store::data_dir::{DataDir, LockError};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct Standby {
    /// The machine to follow, like https://tunnel.example.org:8443
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    from: String,
    /// The file with the token, the same as `replica.token_file` there; readable by its owner alone
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// The authority that signed that machine's certificate, in PEM: its `tunneldesk tls authority` prints it [default: the
    /// public ones]
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct Promote {
    /// Take the place of a machine that has taken this one's, although it serves
    #[arg(long)]
    take_over: bool,
    /// Leave the epoch as it is: the partitions that must end with two histories
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    without_fence: bool,
}

impl Standby {
    /// Runs until the process ends, which may be at any moment: a tick counts once it is on the disk.
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let config = global.checked()?;
        crate::log::start(&config.log);
        become_owner(&config.data)?;
        let data_dir = acquire::lock(&config.data, DataDir::create).map_err(|error| match error {
            LockError::InUse => refused(holder::in_use(&config.data)),
            LockError::Unusable(why) => failed(why),
        })?;
        if data_dir.database().exists() {
            return Err(refused(format!(
                "{} holds a site of its own: give the standby another --data",
                config.data.display()
            )));
        }
        let absolute = |path: &Path| std::path::absolute(path).map_err(|e| failed(format!("{}: {e}", path.display())));
        token_in(&self.token_file).map_err(refused)?;
        let main = Main {
            url: self.from,
            token_file: absolute(&self.token_file)?,
            ca_file: self.ca_file.as_deref().map(absolute).transpose()?,
        };
        match follow(data_dir.dir(), &main) {
            Err(Trouble::Failed(cause)) => Err(failed(cause)),
            // The service manager does not start it again.
            Err(Trouble::OlderSite(cause)) => Err(refused(cause)),
        }
    }
}

impl Promote {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let (config, data_dir) = offline(global, DataDir::lock)?;
        restore::complete(&data_dir).map_err(|e| failed(format!("an earlier command cannot be finished: {e}")))?;
        let asked = ask_others(&config.data, self.take_over)?;
        #[cfg(debug_assertions)]
        let raises = !self.without_fence;
        #[cfg(not(debug_assertions))]
        let raises = true;
        let mut bar = global.bar();
        let promoted =
            promote::run(&data_dir, &config, &shell_actor(), raises, &mut |step, done, all| bar.set(step, done, all));
        drop(bar);
        say(&promoted.map_err(|e| failed(format!("nothing was promoted: {e}")))?, &asked, &config.data)
    }
}

/// Asks the machines that may have taken the place of this one whether they serve.
/// Returns a line for each of them.
fn ask_others(data: &Path, takes_over: bool) -> Result<String, CommandError> {
    let mut lines = String::new();
    let Some(fenced) = epoch::fenced(data) else { return Ok(lines) };
    let followed = epoch::own(data).main.map(|main| main.url);
    let known: BTreeSet<String> = fenced.url.into_iter().chain(followed).collect();
    for url in known {
        match serving(&url) {
            Serving::Yes if takes_over => lines += &format!("\nThe machine at {url} serves."),
            Serving::Yes => {
                return Err(refused(format!(
                    "nothing was promoted: this machine was replaced (epoch {}), and the one at {url} serves. People go on \
                     there. To take its place all the same, with what is on this machine: tunneldesk promote --take-over. That \
                     machine then writes nothing any more, and what was entered there stays there.",
                    fenced.claim.epoch
                )));
            }
            Serving::Replaced => lines += &format!("\nThe machine at {url} was replaced too, and writes nothing."),
            Serving::Silent(cause) => lines += &format!("\nThe machine at {url} does not answer: {cause}."),
        }
    }
    Ok(lines)
}

fn say(promoted: &Promoted, asked: &str, data: &Path) -> CommandResult {
    let Promoted { epoch, moment, zone, other, erased, not_off_site } = promoted;
    let values = json!({ "epoch": epoch, "moment": moment, "shown": moment.map(|moment| zone.rfc3339(moment)),
                         "zone": zone.name(), "main": other,
                         "erased_again": erased, "silent": not_off_site });
    let state = moment.map_or_else(
        || "This site is the one that goes on".to_owned(),
        |moment| {
            format!(
                "The copy is the site now, with everything up to {} ({})",
                zone.date_time_offset(moment),
                zone.name()
            )
        },
    );
    let told = other.as_ref().map_or_else(String::new, |url| {
        format!(
            "\nThe machine at {url} is told once this one serves, and writes nothing any more then. As long as it cannot be \
             reached, keep people from it: it cannot know."
        )
    });
    let off_site = not_off_site.as_ref().map_or_else(String::new, |cause| {
        format!(
            "\nThe new epoch could not be written off site: {cause}. The site writes it once the off-site target answers."
        )
    });
    let next = format!("\n\nNext:\n  tunneldesk serve --data {}", data.display());
    done(format!("{state} (epoch {epoch}).{asked}{told}{off_site}{next}"), values)
}

/// Parses the URL of the machine to follow: without a path, and with plain http for this machine itself only.
fn parse_url(text: &str) -> Result<String, String> {
    let wrong = || "must be like https://tunnel.example.org:8443, without a path".to_owned();
    let text = text.trim_end_matches('/');
    let uri: http::Uri = text.parse().map_err(|_| wrong())?;
    let host = uri.host().ok_or_else(wrong)?;
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    let is_here = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    let has_path = uri.path_and_query().is_some_and(|path| path.as_str() != "/") || text.contains('@');
    match uri.scheme_str() {
        Some("https") if !has_path => Ok(text.to_owned()),
        Some("http") if !has_path && is_here => Ok(text.to_owned()),
        Some("http") if !has_path => Err("must be https://, unless it is this machine".to_owned()),
        _ => Err(wrong()),
    }
}
