//! Work on the off-site target. The target may be a share whose server is gone, and a thread that touches such a share
//! hangs. So each piece of work runs on a thread of its own, the caller waits for a limited time, and no second piece of
//! the same kind begins before the first has ended.

pub(crate) mod mount;
mod worker;

use super::backup_store::{Backup, BackupStore, Listing, PruneExceptions};
use super::{check_space, tombstones};
use crate::config::Config;
use crate::config::recipient::Recipient;
use crate::ops::replication::chain::{TICKS_KEPT_SECONDS, ticks_of};
use crate::ops::replication::replay::Replay;
use crate::ops::replication::target::Target;
use crate::ops::standby::epoch;
use crate::site::Site;
use crate::store::queries::erasure::Tombstone;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use worker::{Timeouts, WorkError, Worker};

/// A disk that sleeps takes some seconds to wake.
const QUERY_TIME_MAX: Duration = Duration::from_secs(5);
/// Between two steps of a copy. The last step is a flush, and a distant share writes everything in it.
const STEP_TIME_MAX: Duration = Duration::from_secs(600);

/// The off-site target, with one worker for each kind of work, so that short work does not wait behind long work.
pub(crate) struct OffSite {
    target: Target,
    queries: Worker,
    copies: Worker,
    ticks: Worker,
    drills: Worker,
    query_time_max: Duration,
    step_time_max: Duration,
}

/// The off-site target of a site, made at its first use.
#[derive(Default)]
struct OfSite(OnceLock<Option<Arc<OffSite>>>);

impl OffSite {
    /// The off-site target of an open site. `None`: the settings name none.
    pub(crate) fn of(site: &Site) -> Option<Arc<OffSite>> {
        site.state::<OfSite>().0.get_or_init(|| OffSite::new(&site.config).map(Arc::new)).clone()
    }

    /// The off-site target that the settings name.
    pub(crate) fn new(config: &Config) -> Option<OffSite> {
        Target::off_site(config).map(|target| OffSite::with_limits(target, QUERY_TIME_MAX, STEP_TIME_MAX))
    }

    fn with_limits(target: Target, query_time_max: Duration, step_time_max: Duration) -> OffSite {
        OffSite {
            target,
            queries: Worker::default(),
            copies: Worker::default(),
            ticks: Worker::default(),
            drills: Worker::default(),
            query_time_max,
            step_time_max,
        }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// The finished backups there, newest first, and those that cannot be read. The error: the target does not answer, or
    /// refuses to.
    pub(crate) fn list(&self) -> Result<Listing, String> {
        let target = self.target.clone();
        self.query(move |step| match target {
            Target::Directory(dir) => Ok(BackupStore::new(dir).listing()),
            Target::S3(folder) => Ok(folder.bases(step)?.listing),
        })
    }

    /// The tombstones of a site there. The error: the target does not answer, or refuses to.
    pub(crate) fn list_erased(&self, site_id: &str) -> Result<Vec<Tombstone>, String> {
        let (target, site_id) = (self.target.clone(), site_id.to_owned());
        self.query(move |_| match target {
            Target::Directory(dir) => Ok(tombstones::list(&dir, &site_id)?.into_iter().collect()),
            Target::S3(folder) => folder.list_erased(&site_id),
        })
    }

    /// Adds tombstones of a site there; nothing where the directory is not mounted.
    pub(crate) fn add_erased(&self, site_id: &str, all: &[Tombstone]) -> Result<(), String> {
        let (target, site_id, all) = (self.target.clone(), site_id.to_owned(), all.to_vec());
        self.query(move |_| match target {
            Target::Directory(dir) if dir.is_dir() => {
                tombstones::add(&dir, &site_id, &all).map_err(|e| write_error(&dir, &e))
            }
            Target::Directory(_) => Ok(()),
            Target::S3(folder) => folder.add_erased(&site_id, &all),
        })
    }

    /// An epoch of a site there that is higher than `own`. `None`: there is none, or the target does not answer.
    pub(crate) fn find_higher_epoch(&self, site_id: &str, own: u64) -> Option<u64> {
        let (target, site_id) = (self.target.clone(), site_id.to_owned());
        let find =
            move || epoch::find_higher(&target, &site_id, own).map_err(|e| format!("cannot read in {target}: {e}"));
        self.query(move |_| find()).ok().flatten()
    }

    /// [`epoch::claim`] or [`epoch::catch_up`] there. The error: the target does not answer, or takes no file.
    pub(crate) fn write_epoch<T: Send + 'static>(
        &self,
        site_id: &str,
        epoch: u64,
        content: &str,
        write: fn(&Target, &str, u64, &str) -> io::Result<T>,
    ) -> Result<T, String> {
        let (target, site_id, content) = (self.target.clone(), site_id.to_owned(), content.to_owned());
        self.query(move |_| {
            write(&target, &site_id, epoch, &content).map_err(|e| format!("cannot write to {target}: {e}"))
        })
    }

    /// Copies a backup there, encrypted where a recipient is named, and prunes older ones. Nothing is begun where the target
    /// does not answer at once, or where the copy of another backup is in progress. `progress` gets bytes done and in all.
    pub(crate) fn copy(
        &self,
        backup: &Backup,
        recipient: Option<&Recipient>,
        exceptions: PruneExceptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, String> {
        self.list()?;
        let (backup, target, recipient) = (backup.clone(), self.target.clone(), recipient.cloned());
        let timeouts = Timeouts { idle: self.query_time_max / 2, step: self.step_time_max };
        let copied = self.copies.run(timeouts, progress, move |step| match target {
            Target::Directory(dir) => copy_to(&backup, &dir, recipient.as_ref(), &exceptions, step),
            Target::S3(folder) => folder.copy(&backup, recipient.as_ref(), &exceptions, step),
        });
        copied.unwrap_or_else(|error| match error {
            WorkError::Busy => {
                Err(format!("the copy of another backup to {} is in progress: wait for it", self.target))
            }
            WorkError::TimedOut => Err(self.no_answer()),
        })
    }

    /// The ticks behind a base there, up to the second `until`. `Err`: the target does not answer. `None`: the backup is
    /// the base of no chain.
    pub(crate) fn replay(&self, base: &Backup, until: Option<i64>) -> Result<Option<Replay>, String> {
        let (base, copy) = (base.clone(), self.target.within(&base.name()));
        self.query(move |_| Replay::of(&base, &copy, until))
    }

    /// Sends a tick, or checks the last one. Nothing is begun while an earlier one hangs. `None`: the target does not answer
    /// within `timeout`.
    pub(crate) fn send<T: Send + 'static>(
        &self,
        timeout: Duration,
        send: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let timeouts = Timeouts { idle: Duration::ZERO, step: timeout };
        self.ticks.run(timeouts, &mut |_, _| (), |_| send()).ok()
    }

    /// Runs a restore drill with backups from there. The outer error: another drill is in progress; the inner one: that of
    /// `work`, or the target does not answer.
    pub(crate) fn drill<T: Send + 'static>(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<T, String> + Send + 'static,
    ) -> Result<Result<T, String>, String> {
        let timeouts = Timeouts { idle: Duration::ZERO, step: self.step_time_max };
        match self.drills.run(timeouts, progress, work) {
            Ok(drilled) => Ok(drilled),
            Err(WorkError::Busy) => Err("another restore drill is in progress: wait for it".to_owned()),
            Err(WorkError::TimedOut) => Ok(Err(self.no_answer())),
        }
    }

    /// The error for a target that does not answer.
    pub(crate) fn no_answer(&self) -> String {
        format!("{} does not answer: look after the machine that it is on, and the network between", self.target)
    }

    /// Short work. Work of several steps calls its argument after each.
    fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut dyn FnMut()) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let timeouts = Timeouts { idle: self.query_time_max, step: self.query_time_max };
        let answer = self.queries.run(timeouts, &mut |_, _| (), |step| query(&mut || step(0, 0)));
        answer.unwrap_or_else(|_| Err(self.no_answer()))
    }
}

fn copy_to(
    backup: &Backup,
    dir: &Path,
    recipient: Option<&Recipient>,
    exceptions: &PruneExceptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Backup, String> {
    let failed = |e: io::Error| write_error(dir, &e);
    if !dir.is_dir() {
        return Err(format!("{} is not there: is it mounted?", dir.display()));
    }
    let local_store = backup.at.path().and_then(Path::parent);
    local_store.map_or(Ok(()), |local_store| mount::check(local_store, dir))?;
    let backup_store = BackupStore::new(dir.to_owned());
    let lock = backup_store.lock()?;
    check_space(backup.manifest.bytes(), dir)?;
    let unfinished = lock.start(&backup.name()).map_err(failed)?;
    let manifest = match recipient {
        Some(recipient) => backup.encrypt_to(&unfinished, recipient, progress).map_err(failed)?,
        None => {
            backup.copy_to(&unfinished, None, progress)?;
            backup.manifest.clone()
        }
    };
    manifest.write(&unfinished).map_err(failed)?;
    let copied = lock.finish(&unfinished, &backup.name()).map_err(failed)?;
    lock.prune(backup.manifest.made_at, exceptions).map_err(failed)?;
    let is_ours = |other: &Backup| other.manifest.site_id == backup.manifest.site_id;
    let ours: Vec<Backup> = backup_store.list().into_iter().filter(is_ours).collect();
    prune_ticks(&ours, backup.manifest.made_at, exceptions).map_err(failed)?;
    local_store.into_iter().for_each(|local_store| mount::note(local_store, dir));
    Ok(Backup { at: Target::Directory(copied), manifest })
}

/// Removes the ticks of the [`ended_chains`]; their bases stay.
fn prune_ticks(backups: &[Backup], now: i64, exceptions: &PruneExceptions) -> io::Result<()> {
    let ticks = ended_chains(backups, now, exceptions).map(|base| ticks_of(&base.at));
    ticks.filter_map(|ticks| ticks.path().filter(|dir| dir.exists()).map(std::fs::remove_dir_all)).collect()
}

/// The bases of chains that ended more than a day ago, by a clock that is not doubted. `backups`: those of one site, newest
/// first.
pub(crate) fn ended_chains<'b>(
    backups: &'b [Backup],
    now: i64,
    exceptions: &PruneExceptions,
) -> impl Iterator<Item = &'b Backup> {
    let ended = exceptions.made_before..now - TICKS_KEPT_SECONDS;
    backups.windows(2).filter(move |pair| ended.contains(&pair[0].manifest.made_at)).map(|pair| &pair[1])
}

/// A service may write only where its systemd unit allows, which is not where people look first.
fn write_error(dir: &Path, e: &io::Error) -> String {
    let dir = dir.display();
    let next = match e.kind() {
        io::ErrorKind::ReadOnlyFilesystem => format!(
            "; the service may write there once `systemctl edit tunneldesk` has [Service] ReadWritePaths={dir} and it is restarted"
        ),
        io::ErrorKind::PermissionDenied => "; let the user that the server runs as write there".to_owned(),
        _ => String::new(),
    };
    format!("cannot write to {dir}: {e}{next}")
}

#[cfg(test)]
mod tests;
