//! `tunneldesk backup …`: make one now, list them, try one. A running server does it itself.

use super::shell::Shell;
use super::{Trouble, as_json, broken, refused, shown_moment, table};
use crate::ops::backup::elsewhere::silent;
use crate::ops::backup::shelf::Backup;
use crate::ops::backup::{self, Made, Progress, drill};
use crate::site::Site;
use clap::{Args, Subcommand};
use serde_json::json;
use std::cmp::Reverse;

#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 done; 1 refused; 2 broken, also when the copy for the second place was not made."
)]
pub struct Command {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand, Clone, Copy)]
enum Action {
    /// Make a backup and verify it: what happens when nothing is named
    Now,
    /// List the backups, newest first, and how the last drill went
    List,
    /// Restore the newest beside the site, open it, compare it, and throw it away
    Drill,
}

impl Command {
    pub fn run(&self, site: &Shell, json: bool, progress: &mut Progress) -> Result<String, Trouble> {
        match self.action.unwrap_or(Action::Now) {
            Action::Now => made(site, &backup::make(site, site.by(), progress).map_err(broken)?, json),
            Action::List => Ok(list(site, json)),
            Action::Drill => drilled(&drill::run(site, site.by(), progress).map_err(refused)?, json),
        }
    }
}

fn made(site: &Site, made: &Made, json: bool) -> Result<String, Trouble> {
    let second = match &made.second {
        Some(Err(cause)) => {
            let name = made.backup.name();
            return Err(broken(format!("{name} was made, but has no copy in the second place: {cause}")));
        }
        Some(Ok(copy)) => Some(&copy.dir),
        None => None,
    };
    if json {
        let mut said = facts(&made.backup);
        said["second"] = json!(second);
        said["pruned"] = json!(made.pruned);
        return Ok(as_json(&said));
    }
    let pruned = match made.pruned {
        0 => String::new(),
        1 => " An older one was no longer needed and is gone.".to_owned(),
        many => format!(" {many} older ones were no longer needed and are gone."),
    };
    let copy = second.map_or_else(
        || {
            if site.config.backup.second_place.is_none() {
                "\nIt is on the same disk as the site: name a second place (backup.second_place in tunneldesk.toml)."
                    .to_owned()
            } else {
                String::new()
            }
        },
        |dir| format!("\nA copy is in {}.", dir.display()),
    );
    let (dir, megabytes) = (made.backup.dir.display(), megabytes(&made.backup));
    Ok(format!("Made and verified {dir} ({megabytes}).{pruned}{copy}"))
}

fn list(site: &Site, json: bool) -> String {
    let (here, drill) = (backup::shelf(&site.config.data).list(), drill::last(&site.config.data));
    let second = site.config.backup.second_place.as_deref().map(|dir| (dir, site.elsewhere.list(dir)));
    let mut unreadable = backup::shelf(&site.config.data).unreadable();
    if let Some((dir, Some(_))) = &second {
        unreadable.extend(site.elsewhere.unreadable(dir).unwrap_or_default());
    }
    if json {
        let all = |backups: &[Backup]| backups.iter().map(facts).collect::<Vec<_>>();
        let second = second.map(|(dir, there)| json!({ "dir": dir, "backups": there.as_deref().map(all) }));
        return as_json(&json!({ "backups": all(&here), "second": second, "drill": drill, "unreadable": unreadable }));
    }
    let mut said: Vec<String> =
        unreadable.iter().map(|(name, why)| format!("{name} is no backup that can be restored: {why}.")).collect();
    let there = match second {
        Some((dir, None)) => {
            said.push(format!("The second place is not in this list: {}.", silent(dir)));
            Vec::new()
        }
        Some((_, Some(there))) => there,
        None => Vec::new(),
    };
    if here.is_empty() && there.is_empty() {
        said.insert(0, "There is no backup yet: make one with `tunneldesk backup`.".to_owned());
        return said.join("\n");
    }
    let is_among = |all: &[Backup], name: &str| all.iter().any(|backup| backup.name() == name);
    let only_there = there.iter().filter(|backup| !is_among(&here, &backup.name()));
    let mut all: Vec<&Backup> = here.iter().chain(only_there).collect();
    all.sort_by_cached_key(|backup| Reverse(backup.age_order()));
    let row = |backup: &&Backup| {
        let name = backup.name();
        let place = match (is_among(&here, &name), is_among(&there, &name)) {
            (true, true) => "both",
            (true, false) => "site",
            _ => "second place",
        };
        let members = backup.manifest.rows.get("members").copied().unwrap_or_default();
        let (made, version) = (shown_moment(backup.manifest.made_at), backup.manifest.version.clone());
        vec![name, made, megabytes(backup), members.to_string(), version, place.to_owned()]
    };
    let head = ["BACKUP", "MADE (UTC)", "SIZE", "MEMBERS", "BY VERSION", "WHERE"];
    said.insert(0, table(&head, &all.iter().map(row).collect::<Vec<_>>()) + "\n");
    said.push(match drill {
        None => "No restore drill yet: `tunneldesk backup drill`.".to_owned(),
        Some(drill) => drill_in_words(&drill),
    });
    said.join("\n")
}

fn drilled(drill: &drill::Drill, json: bool) -> Result<String, Trouble> {
    if drill.trouble.is_empty() {
        Ok(if json { as_json(drill) } else { drill_in_words(drill) })
    } else {
        Err(broken(drill_in_words(drill)))
    }
}

fn drill_in_words(drill: &drill::Drill) -> String {
    let (at, name) = (shown_moment(drill.at), &drill.backup);
    match drill.trouble.as_str() {
        "" => format!("Restore drill of {at}: {name} opens, and holds its {} rows.", drill.rows),
        trouble => format!(
            "Restore drill of {at}: {name} cannot be restored: {trouble}; make a new backup and look at the disk"
        ),
    }
}

fn facts(backup: &Backup) -> serde_json::Value {
    let manifest = &backup.manifest;
    json!({ "name": backup.name(), "dir": backup.dir, "made_at": manifest.made_at, "bytes": manifest.bytes(),
            "schema": manifest.schema, "version": manifest.version, "rows": manifest.rows })
}

fn megabytes(backup: &Backup) -> String {
    format!("{:.1} MB", backup.manifest.bytes() as f64 / 1e6)
}
