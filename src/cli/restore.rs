//! `tunneldesk restore`: puts a backup in the site's place, with the off-site ticks behind it, while no server runs.

use super::acquire::offline;
use super::found_backups::{FoundBackups, Insistence, ask, refuse_other_site, stranger, whose};
use super::point_in_time::{self, PointInTime, SiteClock};
use super::shell::shell_actor;
use super::{CommandError, CommandResult, Global, done, failed, refused};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::local_time::{MomentInput, TimeZone};
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::encrypted::Identities;
use crate::ops::backup::manifest_signature::ErasedMark;
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::restore::{Purpose, RestoreRequest, Restored};
use crate::ops::backup::{restore, undo};
use crate::ops::replication::replay::Replay;
use crate::ops::replication::target::Target;
use crate::ops::signature::{PublicKey, Trust, parse_fingerprint};
use crate::store::engine::data_dir::DataDir;
use crate::store::queries::erasure::zone_of;
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

/// A moment later than this machine's clock by more than this is refused as a mistake, most often one of the time
/// zone.
const AHEAD_SECONDS_MAX: i64 = 60;

/// The exit code where the site is back, but not up to the newest tick that there is, or may be.
const CUT_SHORT: u8 = 3;

/// The backup that is restored.
struct Choice {
    backup: Backup,
    /// The ticks behind the backup.
    replay: Option<Replay>,
    /// Whose tombstones are believed, and how many there should be.
    trust: Trust,
    erased: Option<ErasedMark>,
    /// The remark about the off-site backups where their directory did not answer.
    off_site_error: Option<String>,
    /// Newer backups that cannot be read: their names, and why.
    unreadable: Vec<(String, String)>,
}

/// Where the backup comes from.
enum Source {
    /// The backup in the directory that was named, and whose ticks behind it are believed.
    Directory(Box<Backup>, Trust),
    /// The backup of this name among those that were found, or the newest.
    FoundBackups(FoundBackups, Option<String>),
}

/// The moment up to which the site is restored, by the site's time zone.
struct Until {
    clock: SiteClock,
    /// `None`: up to the last write.
    given: Option<PointInTime>,
}

impl Restore {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let is_new = !global.checked()?.data.exists();
        let (config, data_dir) = offline(global, DataDir::create)?;
        let dir = config.data.clone();
        let answer = self.carry_out(global, config, data_dir);
        if is_new {
            // A directory that was made to restore into, and stayed empty. A directory with a site is not removed.
            _ = std::fs::remove_dir(dir);
        }
        answer
    }

    fn carry_out(self, global: &Global, config: Config, data_dir: DataDir) -> CommandResult {
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
        let restored = restored.map_err(|e| failed(format!("nothing was changed: {e}")))?;
        self.say(&choice, &restored, &until, &config, stranger)
    }

    fn say(
        &self,
        choice: &Choice,
        restored: &Restored,
        until: &Until,
        config: &Config,
        stranger: Option<&PublicKey>,
    ) -> CommandResult {
        let Choice { backup, off_site_error: passed_over, unreadable, .. } = choice;
        let Restored { replaced, erased, replayed, zone, name: tunnel, not_erased } = restored;
        let (name, made_at) = (backup.name(), backup.manifest.made_at);
        let moment = replayed.as_ref().map_or(made_at, |replayed| replayed.moment);
        let ticks = replayed.as_ref().map_or(0, |replayed| replayed.ticks);
        let trouble = replayed.as_ref().and_then(|replayed| replayed.trouble.as_deref());
        let asked = until.given.as_ref();
        let gap_until = replayed.as_ref().and_then(|replayed| replayed.gap_until);
        let values = json!({ "backup": name, "made_at": made_at, "moment": moment, "ticks": ticks, "trouble": trouble,
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
        let lost = match trouble {
            Some(why) => format!("\nWhat came after that is lost: {why}."),
            None if asked.is_some() && replayed.is_none() => {
                "\nWhat came after that until the wanted moment is lost: no off-site copy goes on from this backup."
                    .to_owned()
            }
            None => gap_until.map_or_else(String::new, |gap| {
                let until = zone.date_time_offset(gap);
                format!(
                    "\nWrites between then and {until} may be missing: the off-site copy began anew at that moment."
                )
            }),
        };
        // Ticks that are there, or may be, and are not in the site now.
        let wants_newest = asked.is_none() && self.backup.is_none();
        let whose = whose(tunnel, stranger, config);
        let back = not_erased.map_or_else(String::new, |all| {
            format!(
                "\nThe list of erased members is not whole: {all} had been erased, and some of them may be in it again. Compare \
                 erased.jsonl with an older copy of it."
            )
        });
        let is_cut_short = trouble.is_some()
            || not_erased.is_some()
            || wants_newest && (passed_over.is_some() || !unreadable.is_empty());
        let passed_over = passed_over.as_ref().map_or_else(String::new, |off_site_error| {
            format!("\nThe off-site backups were passed over: {off_site_error}.")
        });
        let unreadable: String =
            unreadable.iter().map(|(name, why)| format!("\nA newer backup was passed over: {name} ({why}).")).collect();
        let state_of = if ticks == 0 && asked.is_none() { made_at } else { moment };
        let when = shown_result(zone, state_of, &name, ticks);
        let asked = asked.map_or_else(String::new, |given| format!("\n{}", until.clock.describe(given)));
        let (is, next) = match self.dry_run {
            true => ("would be", "\n\nNothing was changed.".to_owned()),
            false => ("is", format!("\n\nNext:\n  tunneldesk serve --data {}", config.data.display())),
        };
        let answer = done(
            format!(
                "The site {is} as it was on {when}.{whose}{asked}{gone}{back}{lost}{kept}{passed_over}{unreadable}{next}"
            ),
            values,
        )?;
        if is_cut_short { Err(CommandError::Report(CUT_SHORT, answer)) } else { Ok(answer) }
    }
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

impl Source {
    fn find(named: Option<&Path>, config: &Config, wanted: &Insistence) -> Result<Source, CommandError> {
        let Some(dir) = named.filter(|named| named.is_dir()) else {
            let name = named.map(|named| named.to_string_lossy().into_owned());
            return Ok(Source::FoundBackups(FoundBackups::find(config, wanted)?, name));
        };
        let backup = Backup::read_given(Target::directory(dir.to_owned())).map_err(|why| {
            let (shown, why) = (dir.display(), why.into_text());
            refused(format!("{shown} is no backup: {why}; `tunneldesk backup list` shows those that there are"))
        })?;
        let trust = wanted.judge(&backup, config)?;
        Ok(Source::Directory(Box::new(backup), trust))
    }

    /// The time zone of the named backup, of the site in the directory, or else of the newest backup that has one.
    fn clock(&self, data_dir: &DataDir) -> SiteClock {
        let named = match self {
            Source::Directory(backup, _) => Some(&**backup),
            Source::FoundBackups(found, name) => name.as_ref().and_then(|name| found.by_name(name)),
        };
        let own = || zone_of(&data_dir.database());
        let newest = || match self {
            Source::Directory(..) => None,
            Source::FoundBackups(found, _) => found.backups.iter().rev().find_map(|backup| backup.manifest.time_zone()),
        };
        SiteClock::of(named.and_then(|backup| backup.manifest.time_zone()).or_else(own).or_else(newest))
    }
}

impl Until {
    fn read(typed: Option<MomentInput>, clock: SiteClock) -> Result<Until, CommandError> {
        let (given, now) = (typed.map(|typed| clock.read(typed)).transpose()?, Clock::machine(0).now());
        if let Some(given) = given.as_ref().filter(|given| given.moment > now + AHEAD_SECONDS_MAX) {
            let [at, now] = [given.moment, now].map(|moment| clock.zone.date_time_offset(moment));
            return Err(refused(format!(
                "{at} is yet to come: it is {now}, by this machine's clock; without --at the site comes back with all \
                 there is"
            )));
        }
        Ok(Until { clock, given })
    }

    fn moment(&self) -> Option<i64> {
        self.given.as_ref().map(|given| given.moment)
    }

    /// A moment as people read and type it.
    fn format_moment(&self, moment: i64) -> String {
        self.clock.zone.date_time_offset(moment)
    }

    /// The named backup, or the newest of the two backup stores that has no write later than the wanted moment.
    fn choose(&self, source: Source, config: &Config) -> Result<Choice, CommandError> {
        let (mut found, name) = match source {
            Source::Directory(backup, trust) => {
                let backup = *backup;
                self.check(&backup)?;
                let replay =
                    self.moment().map(|at| Replay::of(&backup, &backup.at, Some(at), false, &trust)).transpose();
                let replay = replay.map_err(refused)?.flatten();
                let erased = backup.manifest.erased().cloned();
                return Ok(Choice { backup, replay, trust, erased, off_site_error: None, unreadable: Vec::new() });
            }
            Source::FoundBackups(found, name) => (found, name),
        };
        let Some(name) = name else {
            let backup = self.newest(&found)?;
            let replay = self.replay(&backup, config, &mut found);
            let trust = found.trust_in(&backup);
            let (name, erased) = (backup.name(), found.erased(&backup, &trust));
            found.unreadable.retain(|(other, _)| *other > name);
            let FoundBackups { off_site_error, unreadable, .. } = found;
            return Ok(Choice { backup, replay, trust, erased, off_site_error, unreadable });
        };
        let unknown = || found.none(format!("there is no backup {name}: `tunneldesk backup list` shows them"));
        let backup = found.by_name(&name).cloned().ok_or_else(unknown)?;
        self.check(&backup)?;
        let replay = self.moment().and_then(|_| self.replay(&backup, config, &mut found));
        let trust = found.trust_in(&backup);
        let erased = found.erased(&backup, &trust);
        Ok(Choice { backup, replay, trust, erased, off_site_error: found.off_site_error, unreadable: Vec::new() })
    }

    /// Refuses a backup that was made later than the wanted moment, because it has writes that the restore must leave
    /// out.
    fn check(&self, backup: &Backup) -> Result<(), CommandError> {
        match self.moment().filter(|at| last_write(backup) > *at) {
            None => Ok(()),
            Some(at) => Err(refused(format!(
                "{} holds writes up to {}, later than {}: without its name the newest from before then is taken",
                backup.name(),
                self.format_moment(last_write(backup)),
                self.format_moment(at)
            ))),
        }
    }

    /// The newest backup without a write later than the wanted moment.
    fn newest(&self, found: &FoundBackups) -> Result<Backup, CommandError> {
        let oldest = found.backups.first().map_or(0, |backup| backup.manifest.made_at);
        let is_before = |backup: &&Backup| self.moment().is_none_or(|at| last_write(backup) <= at);
        let newest = found.backups.iter().rev().find(is_before).cloned();
        let newest = newest.ok_or_else(|| match self.moment() {
            None => found.none("there is no backup: name the directory of one".to_owned()),
            Some(at) => found.none(format!("there is no backup from before {}", self.format_moment(at))),
        })?;
        let (now, made) = (Clock::machine(0).now(), newest.manifest.made_at);
        if oldest <= now && now < made {
            return Err(refused(format!(
                "the newest backup is dated {}, which is yet to come: this machine's clock is behind, or was ahead when that was made; name the one you want, `tunneldesk backup list` shows them",
                self.format_moment(made)
            )));
        }
        Ok(newest)
    }

    fn replay(&self, backup: &Backup, config: &Config, found: &mut FoundBackups) -> Option<Replay> {
        let off_site = OffSite::believing(config, found.trust_in(backup)).filter(|_| found.off_site_error.is_none())?;
        let replay = off_site.replay(backup, self.moment());
        let replay = replay.map_err(|cause| found.off_site_error = Some(cause)).ok().flatten()?;
        Some(replay.before(self.moment().and_then(|at| found.next_base(&backup.manifest.site_id, at))))
    }
}

/// The second of the last write in a backup (Unix seconds); for a backup without a chain the second in which it was
/// made, which is no earlier.
fn last_write(backup: &Backup) -> i64 {
    let made = &backup.manifest;
    made.chain.as_ref().map_or(made.made_at, |origin| origin.moment)
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
fn shown_result(zone: &TimeZone, moment: i64, name: &str, ticks: u64) -> String {
    let behind = match ticks {
        0 => String::new(),
        1 => " and one tick behind it".to_owned(),
        ticks => format!(" and {ticks} ticks behind it"),
    };
    format!("{} ({}; {name}{behind})", zone.date_time_offset(moment), zone.name())
}
