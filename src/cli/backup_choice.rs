//! Which backup is restored, and up to which moment.

use super::found_backups::{FoundBackups, Insistence};
use super::point_in_time::{PointInTime, SiteClock};
use super::{CommandError, refused};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::local_time::MomentInput;
use crate::moment::Moment;
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::manifest_signature::ErasedMark;
use crate::ops::backup::off_site::OffSite;
use crate::ops::replication::replay::Replay;
use crate::ops::replication::target::Target;
use crate::ops::signature::Trust;
use crate::store::data_dir::DataDir;
use crate::store::queries::erasure::zone_of;
use std::path::Path;

/// A moment later than this machine's clock by more than this is refused as a mistake, most often one of the time
/// zone.
const AHEAD_SECONDS_MAX: i64 = 60;

/// The backup that is restored.
pub(super) struct Choice {
    pub(super) backup: Backup,
    /// The ticks behind the backup.
    pub(super) replay: Option<Replay>,
    /// Whose tombstones are believed, and how many there should be.
    pub(super) trust: Trust,
    pub(super) erased: Option<ErasedMark>,
    /// The remark about the off-site backups where their directory did not answer.
    pub(super) off_site_error: Option<String>,
    /// Newer backups that cannot be read, or are not wanted: their names, and why.
    pub(super) unreadable: Vec<(String, String)>,
    /// The backup to try where this one turns out to be damaged.
    pub(super) before: Option<String>,
    /// The keys of other copies that were found.
    pub(super) other_signers: Vec<String>,
}

/// Where the backup comes from.
pub(super) enum Source {
    /// The backup in the directory that was named, and whose signatures on the ticks behind it are believed.
    Directory(Box<Backup>, Trust),
    /// The backup of this name among those that were found, or the newest.
    FoundBackups(FoundBackups, Option<String>),
}

/// The moment up to which the site is restored, by the site's time zone.
pub(super) struct Until {
    pub(super) clock: SiteClock,
    /// `None`: up to the last write.
    pub(super) given: Option<PointInTime>,
}

impl Choice {
    fn of(
        backup: Backup,
        replay: Option<Replay>,
        trust: Trust,
        erased: Option<ErasedMark>,
        found: FoundBackups,
    ) -> Choice {
        let before = found.before(&backup);
        let other_signers = backup.manifest.signed_by().map(|key| found.other_signers(key)).unwrap_or_default();
        let FoundBackups { off_site_error, unreadable, .. } = found;
        Choice { backup, replay, trust, erased, off_site_error, unreadable, before, other_signers }
    }
}

impl Source {
    pub(super) fn find(named: Option<&Path>, config: &Config, wanted: &Insistence) -> Result<Source, CommandError> {
        let Some(dir) = named.filter(|named| named.is_dir()) else {
            let name = named.map(|named| named.to_string_lossy().into_owned());
            return Ok(Source::FoundBackups(FoundBackups::find(config, wanted)?, name));
        };
        let backup = Backup::read_given(Target::directory(dir.to_owned())).map_err(|why| {
            let (shown, why) = (dir.display(), why.into_text());
            refused(format!("{shown} is no backup: {why}"))
        })?;
        let trust = wanted.judge(&backup, config)?;
        Ok(Source::Directory(Box::new(backup), trust))
    }

    /// The time zone of the named backup, of the site in the directory, or else of the newest backup that has one.
    pub(super) fn clock(&self, data_dir: &DataDir) -> SiteClock {
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
    pub(super) fn read(typed: Option<MomentInput>, clock: SiteClock) -> Result<Until, CommandError> {
        let (given, now) = (typed.map(|typed| clock.read(typed)).transpose()?, Clock::machine(Moment(0)).now());
        if let Some(given) = given.as_ref().filter(|given| given.moment > now + AHEAD_SECONDS_MAX) {
            let [at, now] = [given.moment, now].map(|moment| clock.zone.date_time_offset(moment));
            return Err(refused(format!(
                "{at} is yet to come: it is {now}, by this machine's clock; without --at the site comes back with all \
                 there is"
            )));
        }
        Ok(Until { clock, given })
    }

    pub(super) fn moment(&self) -> Option<Moment> {
        self.given.as_ref().map(|given| given.moment)
    }

    /// A moment as people read and type it.
    pub(super) fn format_moment(&self, moment: Moment) -> String {
        self.clock.zone.date_time_offset(moment)
    }

    /// The named backup, or the newest of the two backup stores that has no write later than the wanted moment.
    pub(super) fn choose(&self, source: Source, config: &Config) -> Result<Choice, CommandError> {
        let (mut found, name) = match source {
            Source::Directory(backup, trust) => {
                let backup = *backup;
                self.check(&backup)?;
                let replay =
                    self.moment().map(|at| Replay::of(&backup, &backup.at, Some(at), false, &trust)).transpose();
                let replay = replay.map_err(refused)?.flatten();
                let erased = backup.manifest.erased().cloned();
                return Ok(Choice {
                    backup,
                    replay,
                    trust,
                    erased,
                    off_site_error: None,
                    unreadable: Vec::new(),
                    before: None,
                    other_signers: Vec::new(),
                });
            }
            Source::FoundBackups(found, name) => (found, name),
        };
        let Some(name) = name else {
            let backup = self.newest(&found)?;
            let replay = self.replay(&backup, config, &mut found);
            let trust = found.trust_in(&backup);
            let (name, erased) = (backup.name(), found.erased(&backup, &trust));
            found.unreadable.retain(|(other, _)| *other > name);
            return Ok(Choice::of(backup, replay, trust, erased, found));
        };
        let unknown = || found.none(format!("there is no backup {name}: {}", found.names()));
        let backup = found.by_name(&name).cloned().ok_or_else(unknown)?;
        self.check(&backup)?;
        let replay = self.moment().and_then(|_| self.replay(&backup, config, &mut found));
        let trust = found.trust_in(&backup);
        let erased = found.erased(&backup, &trust);
        found.unreadable.clear();
        if let Some(at) = self.moment() {
            found.pass_over(&backup, at);
        }
        Ok(Choice::of(backup, replay, trust, erased, found))
    }

    /// Refuses a backup that was made later than the wanted moment, because it has writes that the restore must leave
    /// out.
    fn check(&self, backup: &Backup) -> Result<(), CommandError> {
        match self.moment().filter(|at| backup.manifest.last_write() > *at) {
            None => Ok(()),
            Some(at) => Err(refused(format!(
                "{} holds writes up to {}, later than {}: without its name the newest from before then is taken",
                backup.name(),
                self.format_moment(backup.manifest.last_write()),
                self.format_moment(at)
            ))),
        }
    }

    /// The newest backup without a write later than the wanted moment.
    fn newest(&self, found: &FoundBackups) -> Result<Backup, CommandError> {
        let oldest = found.backups.first().map_or(Moment(0), |backup| backup.manifest.made_at);
        let is_before = |backup: &&Backup| self.moment().is_none_or(|at| backup.manifest.last_write() <= at);
        let newest = found.backups.iter().rev().find(is_before).cloned();
        let newest = newest.ok_or_else(|| match self.moment() {
            None => found.none(format!("there is no backup {}: name the directory of one", found.places)),
            Some(at) => found.none(format!("there is no backup from before {}", self.format_moment(at))),
        })?;
        let (now, made) = (Clock::machine(Moment(0)).now(), newest.manifest.made_at);
        if oldest <= now && now < made {
            return Err(refused(format!(
                "the newest backup is dated {}, which is yet to come: this machine's clock is behind, or was ahead when that was made; name the one you want: {}",
                self.format_moment(made),
                found.names()
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
