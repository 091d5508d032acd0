//! `tunneldesk backup …`: makes a backup now, lists the backups, or tries one by a drill. A running server also makes
//! backups by itself.

use super::shell::Shell;
use super::{CommandResult, Row, Table, done, failed, refused, shown_moment};
use crate::ops::Progress;
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::drill::{self, Drill};
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::{self, BackupOutcome};
use crate::site::Site;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter};

#[derive(Args)]
#[command(after_help = "Exit codes: 0 done; 1 refused; 2 failed, also when the off-site backup was not made.")]
pub(super) struct Command {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand, Clone, Copy)]
enum Action {
    /// Make a backup and verify it: what happens when nothing is named
    Now,
    /// List the backups, newest first, and how the last drill went
    List,
    /// Restore a backup, or a second of the last day, beside the site, open it, compare it, and throw it away
    Drill,
}

impl Command {
    pub(super) fn run(&self, site: &Shell, progress: &mut Progress) -> CommandResult {
        match self.action.unwrap_or(Action::Now) {
            Action::Now => made(site, &backup::make(site, site.actor(), site.check_speed(), progress).map_err(failed)?),
            Action::List => list(site),
            Action::Drill => drilled(drill::run(site, site.actor(), site.check_speed(), progress).map_err(refused)?),
        }
    }
}

fn made(site: &Site, made: &BackupOutcome) -> CommandResult {
    let off_site = match &made.off_site {
        Some(Err(cause)) => {
            let name = made.backup.name();
            return Err(failed(format!("{name} was made, but has no off-site backup: {cause}")));
        }
        Some(Ok(copy)) => Some(copy.at.to_string()),
        None => None,
    };
    let mut values = facts(&made.backup);
    values["second"] = json!(off_site);
    values["pruned"] = json!(made.pruned);
    let pruned = match made.pruned {
        0 => String::new(),
        1 => " An older one was no longer needed and is gone.".to_owned(),
        many => format!(" {many} older ones were no longer needed and are gone."),
    };
    let copy = off_site.map_or_else(
        || {
            if site.config.backup.off_site.is_none() {
                "\nIt is on the same disk as the site: name a directory for off-site backups (backup.off_site in tunneldesk.toml)."
                    .to_owned()
            } else {
                String::new()
            }
        },
        |copy| format!("\nA copy is in {copy}."),
    );
    let (dir, megabytes) = (&made.backup.at, megabytes(&made.backup));
    done(format!("Made and verified {dir} ({megabytes}).{pruned}{copy}"), values)
}

fn list(site: &Site) -> CommandResult {
    let (local, drill) = (local_store(&site.config.data).listing(), drill::last(&site.config.data));
    let (here, mut unreadable) = (local.backups, local.unreadable);
    let off_site = OffSite::of(site).map(|off_site| (off_site.target().to_string(), off_site.list()));
    if let Some((_, Ok(listing))) = &off_site {
        unreadable.extend(listing.unreadable.iter().cloned());
    }
    let all = |backups: &[Backup]| backups.iter().map(facts).collect::<Vec<_>>();
    let off_site_values = off_site.as_ref().map(
        |(dir, listed)| json!({ "dir": dir, "backups": listed.as_ref().ok().map(|listing| all(&listing.backups)) }),
    );
    let values =
        json!({ "backups": all(&here), "second": off_site_values, "drill": drill.as_ref(), "unreadable": unreadable });
    let mut said: Vec<String> =
        unreadable.iter().map(|(name, why)| format!("{name} is no backup that can be restored: {why}.")).collect();
    let there = match off_site {
        Some((_, Err(cause))) => {
            said.push(format!("The off-site backups are not in this list: {cause}."));
            Vec::new()
        }
        Some((_, Ok(listing))) => listing.backups,
        None => Vec::new(),
    };
    let mut rows = rows(here, there);
    if rows.is_empty() {
        said.insert(0, "There is no backup yet: make one with `tunneldesk backup`.".to_owned());
        return done(said.join("\n"), values);
    }
    rows.sort_by_cached_key(|row| Reverse(row.backup.age_order()));
    said.insert(0, format!("{}\n", Table::new(rows)));
    said.push(match drill {
        None => "No restore drill yet: `tunneldesk backup drill`.".to_owned(),
        Some(drill) => drill.to_string(),
    });
    done(said.join("\n"), values)
}

/// Each backup once, whether it is local, off-site or both.
fn rows(here: Vec<Backup>, there: Vec<Backup>) -> Vec<Listed> {
    let names = |all: &[Backup]| all.iter().map(Backup::name).collect::<Vec<_>>();
    let (names_here, names_there) = (names(&here), names(&there));
    let of_here = here.into_iter().map(|backup| {
        let is_in_both = names_there.contains(&backup.name());
        Listed { backup, place: if is_in_both { "both" } else { "site" } }
    });
    let only_there = there.into_iter().filter(|backup| !names_here.contains(&backup.name()));
    of_here.chain(only_there.map(|backup| Listed { backup, place: "off-site" })).collect()
}

/// A backup, and where it is.
struct Listed {
    backup: Backup,
    place: &'static str,
}

impl Row for Listed {
    const HEADINGS: &'static [&'static str] = &["BACKUP", "CREATED", "SIZE", "MEMBERS", "BY VERSION", "WHERE"];

    fn cells(&self) -> Vec<String> {
        let (backup, manifest) = (&self.backup, &self.backup.manifest);
        let members = manifest.rows.get("members").copied().unwrap_or_default();
        vec![
            backup.name(),
            shown_moment(manifest.made_at),
            megabytes(backup),
            members.to_string(),
            manifest.version.clone(),
            self.place.to_owned(),
        ]
    }

    fn value(&self) -> Value {
        facts(&self.backup)
    }
}

fn drilled(drill: Drill) -> CommandResult {
    if drill.trouble.is_empty() { Ok(Box::new(drill)) } else { Err(failed(drill.to_string())) }
}

impl Display for Drill {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (at, name) = (shown_moment(self.at), &self.backup);
        match (self.trouble.as_str(), self.moment) {
            ("", None) => write!(f, "Restore drill of {at}: {name} opens, and holds its {} rows.", self.rows),
            ("", Some(moment)) => write!(
                f,
                "Restore drill of {at}: the off-site copy brings back the site as it was at {}, whole, with {} rows.",
                shown_moment(moment),
                self.rows
            ),
            (trouble, _) => write!(
                f,
                "Restore drill of {at}: {name} cannot be restored: {trouble}; make a new backup and check the disk"
            ),
        }
    }
}

fn facts(backup: &Backup) -> Value {
    let manifest = &backup.manifest;
    json!({ "name": backup.name(), "dir": backup.at.to_string(), "made_at": manifest.made_at, "bytes": manifest.bytes(),
            "schema": manifest.schema, "version": manifest.version, "rows": manifest.rows })
}

fn megabytes(backup: &Backup) -> String {
    format!("{:.1} MB", backup.manifest.bytes() as f64 / 1e6)
}
