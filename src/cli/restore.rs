//! `tunneldesk restore`: a backup takes the site's place, with all that is off site behind it, while no server runs.

use super::owner::become_owner;
use super::shell::by_us;
use super::{Answered, Global, Trouble, broken, done, refused, shown_moment, stop_it_first};
use crate::clock::Clock;
use crate::config::Config;
use crate::ops::backup::elsewhere::Elsewhere;
use crate::ops::backup::encrypted::Identities;
use crate::ops::backup::restore::{Restored, Wanted};
use crate::ops::backup::shelf::Backup;
use crate::ops::backup::{restore, shelf, undo};
use crate::ops::replication::replay::{Replay, Replayed};
use crate::ops::replication::target::Target;
use crate::store::engine::place::Place;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct Restore {
    /// Which: a name as `backup list` shows it, or a directory [default: the newest there is, and all that is off site
    /// behind it]
    #[arg(value_name = "BACKUP")]
    backup: Option<PathBuf>,
    /// The site as it was at the end of that second, in UTC: "2026-11-22 14:03:10"
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    at: Option<i64>,
    /// The secret key of an encrypted copy, as `age-keygen` writes it
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Say what would be restored, after trying it, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take the last restore back: what it replaced takes its place again
    #[arg(long, conflicts_with_all = ["backup", "at", "identity", "dry_run"])]
    undo: bool,
}

/// The backup that is restored.
struct Choice {
    backup: Backup,
    /// The ticks behind the backup, in the second place.
    replay: Option<Replay>,
    /// The remark about the off-site backups where their directory did not answer.
    silent: Option<String>,
    /// Newer ones that cannot be read, by their names, and why.
    unreadable: Vec<(String, String)>,
}

/// All that is at hand, and what is to be said of what is not.
struct Shelves {
    backups: Vec<Backup>,
    silent: Option<String>,
    unreadable: Vec<(String, String)>,
}

impl Restore {
    pub(super) fn run(self, global: &Global) -> Answered {
        let config = global.checked()?;
        become_owner(&config.data)?;
        let place = Place::make(&config.data).map_err(|unheld| stop_it_first(unheld, &config.data))?;
        restore::complete(&place).map_err(|e| broken(format!("an earlier restore cannot be finished: {e}")))?;
        if self.undo {
            return take_back(&place, &config);
        }
        let choice = self.choose(&config)?;
        let keys = self.identity.as_deref().map(Identities::read).transpose().map_err(refused)?;
        if keys.is_none() {
            refuse_sealed(&choice)?;
        }
        let wanted = Wanted { backup: &choice.backup, keys: keys.as_ref(), replay: choice.replay.as_ref() };
        let mut bar = global.bar();
        let restored = restore::restore(&place, &wanted, &config, &by_us(), self.dry_run, &mut |step, done, all| {
            bar.tell(step, done, all);
        });
        drop(bar);
        let restored = restored.map_err(|e| broken(format!("nothing was changed: {e}")))?;
        self.say(&choice, &restored, &config)
    }

    fn say(&self, choice: &Choice, restored: &Restored, config: &Config) -> Answered {
        let Choice { backup, silent: passed_over, unreadable, .. } = choice;
        let Restored { replaced, erased, replayed } = restored;
        let (name, made_at) = (backup.name(), backup.manifest.made_at);
        let moment = replayed.as_ref().map_or(made_at, |replayed| replayed.moment);
        let ticks = replayed.as_ref().map_or(0, |replayed| replayed.ticks);
        let trouble = replayed.as_ref().and_then(|replayed| replayed.trouble.as_deref());
        let values = json!({ "backup": name, "made_at": made_at, "moment": moment, "ticks": ticks, "trouble": trouble,
                             "dry_run": self.dry_run, "replaced": replaced, "erased_again": erased,
                             "passed_over": passed_over, "unreadable": unreadable });
        let kept = replaced.as_ref().map_or_else(String::new, |dir| {
            let undo = "`tunneldesk restore --undo` brings it back";
            format!("\nWhat it replaced is in {}: {undo}; remove it once nobody misses anything.", dir.display())
        });
        let gone = match (erased, self.dry_run) {
            (0, _) => "",
            (1, false) => "\nOne member had been erased since, and is not in it any more.",
            (1, true) => "\nOne member has been erased since, and would not be in it.",
            (_, false) => &*format!("\n{erased} members had been erased since, and are not in it any more."),
            (_, true) => &*format!("\n{erased} members have been erased since, and would not be in it."),
        };
        let lost = trouble.map_or_else(String::new, |why| format!("\nWhat came after that is lost: {why}."));
        let passed_over = passed_over
            .as_ref()
            .map_or_else(String::new, |silent| format!("\nThe off-site backups were passed over: {silent}."));
        let unreadable: String = unreadable
            .iter()
            .map(|(name, why)| format!("\nA newer backup was passed over, because it cannot be read: {name} ({why})."))
            .collect();
        let when = shown_result(made_at, &name, replayed.as_ref());
        let (is, next) = match self.dry_run {
            true => ("would be", "\n\nNothing was changed.".to_owned()),
            false => ("is", format!("\n\nNext:\n  tunneldesk serve --data {}", config.data.display())),
        };
        done(format!("The site {is} as it was on {when}.{gone}{lost}{kept}{passed_over}{unreadable}{next}"), values)
    }

    /// The named one, or the newest on the two shelves that is not of a later moment.
    fn choose(&self, config: &Config) -> Result<Choice, Trouble> {
        if let Some(named) = self.backup.as_deref().filter(|named| named.is_dir()) {
            let backup = Backup::at(Target::Directory(named.to_owned())).map_err(refused)?;
            let replay = self.at.and_then(|at| Replay::of(&backup, &backup.at, Some(at)));
            return Ok(Choice { backup, replay, silent: None, unreadable: Vec::new() });
        }
        let mut shelves = Shelves::find(config);
        let Some(named) = &self.backup else {
            let backup = shelves.newest(self.at)?;
            let replay = self.replay(&backup, config, &mut shelves.silent);
            let name = backup.name();
            shelves.unreadable.retain(|(other, _)| *other > name);
            return Ok(Choice { backup, replay, silent: shelves.silent, unreadable: shelves.unreadable });
        };
        let found = shelves.backups.iter().find(|backup| backup.name() == named.to_string_lossy()).cloned();
        let unknown =
            || shelves.none(format!("there is no backup {}: `tunneldesk backup list` shows them", named.display()));
        let backup = found.ok_or_else(unknown)?;
        let replay = self.at.and_then(|_| self.replay(&backup, config, &mut shelves.silent));
        Ok(Choice { backup, replay, silent: shelves.silent, unreadable: Vec::new() })
    }

    fn replay(&self, backup: &Backup, config: &Config, passed_over: &mut Option<String>) -> Option<Replay> {
        let elsewhere = Elsewhere::default();
        let second = elsewhere.target(config).filter(|_| passed_over.is_none())?;
        let found = elsewhere.replay(backup, &second, self.at);
        found.map_err(|silent| *passed_over = Some(silent)).ok().flatten()
    }
}

impl Shelves {
    fn find(config: &Config) -> Shelves {
        let shelf = shelf(&config.data);
        let mut found = Shelves { backups: shelf.list(), silent: None, unreadable: shelf.unreadable() };
        let elsewhere = Elsewhere::default();
        if let Some(second) = elsewhere.target(config) {
            match elsewhere.list(&second) {
                Ok(there) => {
                    found.backups.extend(there);
                    found.unreadable.extend(elsewhere.unreadable(&second).unwrap_or_default());
                }
                Err(cause) => found.silent = Some(cause),
            }
        }
        // Of the two copies of one backup the one beside the site is the last, which needs no key.
        found.backups.sort_by_cached_key(|backup| (backup.age_order(), !backup.is_encrypted()));
        found
    }

    /// The newest, of those that hold nothing that came after `at`.
    fn newest(&mut self, at: Option<i64>) -> Result<Backup, Trouble> {
        let oldest = self.backups.first().map_or(0, |backup| backup.manifest.made_at);
        let is_before = |backup: &&Backup| {
            let made = &backup.manifest;
            at.is_none_or(|at| made.chain.as_ref().map_or(made.made_at, |link| link.moment) <= at)
        };
        let newest = self.backups.iter().rev().find(is_before).cloned();
        let newest = newest.ok_or_else(|| match at {
            None => self.none("there is no backup: name the directory of one".to_owned()),
            Some(at) => self.none(format!("there is no backup from before {} UTC", shown_second(at))),
        })?;
        let (now, made) = (Clock::machine(0).now(), newest.manifest.made_at);
        if oldest <= now && now < made {
            return Err(refused(format!(
                "the newest backup is dated {}, which is yet to come: this machine's clock is behind, or was ahead when that was made; name the one you want, `tunneldesk backup list` shows them",
                shown_moment(made)
            )));
        }
        Ok(newest)
    }

    fn none(&self, text: String) -> Trouble {
        let damaged = self.unreadable.iter().map(|(name, why)| format!("{name} cannot be read: {why}"));
        let all = std::iter::once(text).chain(self.silent.clone()).chain(damaged);
        refused(all.collect::<Vec<_>>().join("; "))
    }
}

fn refuse_sealed(choice: &Choice) -> Result<(), Trouble> {
    let dir = &choice.backup.at;
    if choice.backup.is_encrypted() {
        return Err(refused(format!("{dir} is encrypted: give the secret key to it with --identity FILE")));
    }
    if choice.replay.as_ref().is_some_and(Replay::is_encrypted) {
        let name = choice.backup.name();
        return Err(refused(format!(
            "what is off site behind {name} is encrypted: give the secret key to it with --identity FILE, or go \
             without it: `tunneldesk restore {name}`"
        )));
    }
    Ok(())
}

fn take_back(place: &Place, config: &Config) -> Answered {
    let undo::Undone { from, replaced } =
        undo::run(place, config, &by_us()).map_err(|e| broken(format!("nothing was changed: {e}")))?;
    let kept = replaced
        .as_deref()
        .map_or_else(String::new, |dir: &Path| format!(" What it replaced is in {}.", dir.display()));
    let words = format!(
        "The site is as it was before the last restore.{kept}\n\nNext:\n  tunneldesk serve --data {}",
        config.data.display()
    );
    done(words, json!({ "from": from, "replaced": replaced }))
}

/// `2026-11-22 14:03:10 UTC (NAME and 12 seconds of writes behind it)`.
fn shown_result(made_at: i64, name: &str, replayed: Option<&Replayed>) -> String {
    match replayed {
        Some(replayed) if replayed.ticks > 0 => {
            let behind = match replayed.ticks {
                1 => "one tick".to_owned(),
                ticks => format!("{ticks} ticks"),
            };
            format!("{} UTC ({name} and {behind} behind it)", shown_second(replayed.moment))
        }
        _ => format!("{} ({name})", shown_moment(made_at)),
    }
}

fn shown_second(moment: i64) -> String {
    jiff::Timestamp::from_second(moment)
        .map_or_else(|_| moment.to_string(), |t| t.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

fn parse_moment(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is no moment like \"2026-11-22 14:03:10\", in UTC");
    let moment: jiff::civil::DateTime = text.trim_end_matches(" UTC").parse().map_err(|_| wrong())?;
    moment.to_zoned(jiff::tz::TimeZone::UTC).map(|moment| moment.timestamp().as_second()).map_err(|_| wrong())
}
