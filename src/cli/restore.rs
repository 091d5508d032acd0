//! `tunneldesk restore`: puts a backup in the site's place, with the off-site ticks behind it, while no server runs.

use super::acquire::lock_offline;
use super::backup_choice::{Choice, Source, Until};
use super::found_backups::{Insistence, ask, refuse_other_site, stranger, whose};
use super::point_in_time;
use super::shell::shell_actor;
use super::{CommandError, CommandResult, Global, done, failed, refused};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::local_time::{MomentInput, TimeZone};
use crate::moment::Moment;
use crate::ops::backup::encrypted::Identities;
use crate::ops::backup::restore::{Purpose, RestoreRequest, Restored};
use crate::ops::backup::{restore, undo};
use crate::ops::replication::replay::Replay;
use crate::ops::signature::{PublicKey, parse_fingerprint};
use crate::store::data_dir::DataDir;
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(super) struct Restore {
    /// Which: a name as `backup list` shows it, or a directory [default: the newest there is, and all that is off site
    /// behind it]
    #[arg(value_name = "BACKUP")]
    backup: Option<PathBuf>,
    /// The site as it was at the end of that second: "2026-11-22 15:03:10" in the site's own time,
    /// "2026-11-22 15:03:10+01:00" or "2026-11-22 14:03:10Z" wherever it is; a date alone is its first moment
    #[arg(long, value_name = "MOMENT", value_parser = point_in_time::parse)]
    at: Option<MomentInput>,
    /// The secret key of an encrypted copy, as `age-keygen` writes it
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
    /// Insist on the site with this key, as `init`, `doctor` and the page *Site* showed its fingerprint: on a new machine
    /// nothing else tells your copy from one that somebody put in its place
    #[arg(long, value_name = "FINGERPRINT", value_parser = parse_fingerprint)]
    site: Option<String>,
    /// Take copies that are not signed too, as earlier versions made them: somebody else may have written them
    #[arg(long, conflicts_with = "site")]
    unsigned: bool,
    /// Say what would be restored, after trying it, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take the last restore back: what it replaced takes its place again
    #[arg(long, conflicts_with_all = ["backup", "at", "identity", "site", "unsigned", "dry_run"])]
    undo: bool,
}

/// The exit code where the site is back, but not up to the newest tick that there is, or may be.
const CUT_SHORT: u8 = 3;

impl Restore {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let (config, mistakes) = global.checked_for_restore()?;
        let (dir, is_new) = (config.data.clone(), !config.data.exists());
        let data_dir = lock_offline(&config, DataDir::create)?;
        let answer = self.carry_out(global, config, data_dir, &mistakes);
        if is_new {
            // A directory that was made to restore into, and stayed empty. A directory with a site is not removed.
            _ = std::fs::remove_dir(dir);
        }
        answer
    }

    fn carry_out(self, global: &Global, config: Config, data_dir: DataDir, mistakes: &[String]) -> CommandResult {
        restore::complete(&data_dir).map_err(|e| failed(format!("an earlier restore cannot be finished: {e}")))?;
        if self.undo {
            return take_back(&data_dir, &config);
        }
        let wanted = Insistence { site: self.site.clone(), unsigned: self.unsigned };
        let source = Source::find(self.backup.as_deref(), &config, &wanted)?;
        let until = Until::read(self.at, source.clock(&data_dir))?;
        let choice = until.choose(source, &config)?;
        if self.site.is_none() && self.backup.is_none() {
            refuse_other_site(&choice.backup, &config)?;
        }
        let stranger = stranger(&choice.backup, &config);
        if let Some(key) = stranger.filter(|_| self.site.is_none()) {
            ask(key, &choice.backup)?;
        }
        let keys = self.identity.as_deref().map(Identities::read).transpose().map_err(refused)?;
        if keys.is_none() {
            refuse_sealed(&choice)?;
        }
        let wanted = RestoreRequest {
            backup: &choice.backup,
            keys: keys.as_ref(),
            replay: choice.replay.as_ref(),
            purpose: Purpose::Restore,
            erased: choice.erased.as_ref(),
            trust: &choice.trust,
        };
        let mut bar = global.bar();
        let restored =
            restore::restore(&data_dir, &wanted, &config, &shell_actor(), self.dry_run, &mut |step, done, all| {
                bar.set(step, done, all);
            });
        drop(bar);
        let restored =
            restored.map_err(|e| failed(format!("nothing was changed: {e}{}", self.next_try(&choice, &until))))?;
        self.say(&choice, &restored, &until, &config, stranger, mistakes)
    }

    /// The command that takes the backup before the one that failed, and all that was copied behind it.
    fn next_try(&self, choice: &Choice, until: &Until) -> String {
        let Some(before) = choice.before.as_ref().filter(|_| self.backup.is_none()) else { return String::new() };
        let at = until.format_moment(until.moment().unwrap_or_else(|| Clock::machine(Moment(0)).now()));
        let mut more = String::new();
        if let Some(file) = &self.identity {
            more += &format!(" --identity {}", file.display());
        }
        if let Some(site) = &self.site {
            more += &format!(" --site {site}");
        }
        if self.unsigned {
            more += " --unsigned";
        }
        format!(
            "; the backup before it, with what was copied behind that one: `tunneldesk restore {before} --at \"{at}\"{more}`"
        )
    }

    fn say(
        &self,
        choice: &Choice,
        restored: &Restored,
        until: &Until,
        config: &Config,
        stranger: Option<&PublicKey>,
        mistakes: &[String],
    ) -> CommandResult {
        let Choice { backup, off_site_error: passed_over, unreadable, other_signers, .. } = choice;
        let Restored { replaced, erased, replayed, zone, name: tunnel, not_erased } = restored;
        let (name, made_at) = (backup.name(), backup.manifest.made_at);
        let moment = replayed.as_ref().map_or(made_at, |replayed| replayed.moment);
        let ticks = replayed.as_ref().map_or(0, |replayed| replayed.ticks);
        let trouble = replayed.as_ref().and_then(|replayed| replayed.trouble.as_deref());
        let cut = replayed.as_ref().and_then(|replayed| replayed.cut.as_deref());
        let asked = until.given.as_ref();
        let gap_until = replayed.as_ref().and_then(|replayed| replayed.gap_until);
        let values = json!({ "backup": name, "made_at": made_at, "moment": moment, "ticks": ticks, "trouble": trouble,
                             "cut": cut, "mistakes": mistakes,
                             "gap_until": gap_until,
                             "shown": zone.rfc3339(moment), "zone": zone.name(),
                             "at": asked.map(|given| until.clock.value(given)),
                             "dry_run": self.dry_run, "replaced": replaced, "erased_again": erased,
                             "tunnel": tunnel, "not_erased": not_erased,
                             "signed_by": backup.manifest.signed_by().map(PublicKey::fingerprint),
                             "passed_over": passed_over, "unreadable": unreadable });
        let kept = replaced.as_ref().map_or_else(String::new, |dir| {
            let undo = "`tunneldesk restore --undo` brings it back";
            format!("\nWhat it replaced is in {}: {undo}; remove it once nobody misses anything.", dir.display())
        });
        let gone = erased_since(*erased, self.dry_run);
        let lost = lost(restored, asked.is_some());
        // Ticks that are there, or may be, and are not in the site now.
        let wants_newest = asked.is_none() && self.backup.is_none();
        let mut whose = whose(tunnel, stranger, other_signers, config);
        if let Some(key) = backup.manifest.signed_by().filter(|_| self.unsigned && stranger.is_none()) {
            whose += &format!("\n{name} is signed, by the key {}.", key.fingerprint());
        }
        let cut = cut_or_not_erased(restored);
        let is_cut_short = trouble.is_some()
            || !cut.is_empty()
            || wants_newest && passed_over.is_some()
            || (wants_newest || self.backup.is_some()) && !unreadable.is_empty();
        let passed_over = passed_over.as_ref().map_or_else(String::new, |off_site_error| {
            format!("\nThe off-site backups were passed over: {off_site_error}.")
        });
        let unreadable: String =
            unreadable.iter().map(|(name, why)| format!("\nA newer backup was passed over: {name} ({why}).")).collect();
        let mistakes = match mistakes {
            [] => String::new(),
            mistakes => {
                format!("\nThe settings have mistakes, with which no server starts:\n  {}", mistakes.join("\n  "))
            }
        };
        let state_of = if ticks == 0 && asked.is_none() { made_at } else { moment };
        let when = shown_result(zone, state_of, &name, ticks);
        let asked = asked.map_or_else(String::new, |given| format!("\n{}", until.clock.describe(given)));
        let (is, next) = match self.dry_run {
            true => ("would be", "\n\nNothing was changed.".to_owned()),
            false => ("is", format!("\n\nNext:\n  tunneldesk serve --data {}", config.data.display())),
        };
        let answer = done(
            format!(
                "The site {is} as it was on {when}.{whose}{asked}{gone}{lost}{cut}{kept}{passed_over}{unreadable}{mistakes}{next}"
            ),
            values,
        )?;
        if is_cut_short { Err(CommandError::Report(CUT_SHORT, answer)) } else { Ok(answer) }
    }
}

/// What is lost of the writes behind the restored moment.
fn lost(restored: &Restored, is_asked: bool) -> String {
    let Some(replayed) = &restored.replayed else {
        return match is_asked {
            true => {
                "\nWhat came after that until the wanted moment is lost: no off-site copy goes on from this backup."
                    .to_owned()
            }
            false => String::new(),
        };
    };
    match (&replayed.trouble, replayed.gap_until) {
        (Some(why), _) => format!("\nWhat came after that is lost: {why}."),
        (None, Some(gap)) => {
            let until = restored.zone.date_time_offset(gap);
            format!("\nWrites between then and {until} may be missing: the off-site copy began anew at that moment.")
        }
        (None, None) => String::new(),
    }
}

/// The newest tick, where it is incomplete, and the number of erased members, where their list is.
fn cut_or_not_erased(restored: &Restored) -> String {
    let mut said = String::new();
    if let Some(file) = restored.replayed.as_ref().and_then(|replayed| replayed.cut.as_ref()) {
        said += &format!(
            "\nThe newest tick, {file}, is cut short, and what was in it is lost: a site that is stopped while it writes one leaves \
             that, and so does somebody who cuts it."
        );
    }
    if let Some(all) = restored.not_erased {
        said += &format!(
            "\nThe list of erased members is not whole: {all} had been erased, and some of them may be in it again. Compare \
             erased.jsonl with an older copy of it."
        );
    }
    said
}

/// The sentence about the members who are erased again.
fn erased_since(erased: usize, is_dry_run: bool) -> String {
    match (erased, is_dry_run) {
        (0, _) => String::new(),
        (1, false) => "\nOne member had been erased since, and is not in it any more.".to_owned(),
        (1, true) => "\nOne member has been erased since, and would not be in it.".to_owned(),
        (_, false) => format!("\n{erased} members had been erased since, and are not in it any more."),
        (_, true) => format!("\n{erased} members have been erased since, and would not be in it."),
    }
}

fn refuse_sealed(choice: &Choice) -> Result<(), CommandError> {
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

fn take_back(data_dir: &DataDir, config: &Config) -> CommandResult {
    let undo::Undone { from, replaced } =
        undo::run(data_dir, config, &shell_actor()).map_err(|e| failed(format!("nothing was changed: {e}")))?;
    let kept = replaced
        .as_deref()
        .map_or_else(String::new, |dir: &Path| format!(" What it replaced is in {}.", dir.display()));
    let words = format!(
        "The site is as it was before the last restore.{kept}\n\nNext:\n  tunneldesk serve --data {}",
        config.data.display()
    );
    done(words, json!({ "from": from, "replaced": replaced }))
}

/// `2026-11-22 15:03:10+01:00 (Europe/Zurich; NAME and 12 ticks behind it)`.
fn shown_result(zone: &TimeZone, moment: Moment, name: &str, ticks: u64) -> String {
    let behind = match ticks {
        0 => String::new(),
        1 => " and one tick behind it".to_owned(),
        ticks => format!(" and {ticks} ticks behind it"),
    };
    format!("{} ({}; {name}{behind})", zone.date_time_offset(moment), zone.name())
}
