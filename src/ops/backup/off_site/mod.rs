//! Work on the off-site target. The target may be a share whose server is gone, and a thread that touches such a share
//! hangs. So each piece of work runs on a thread of its own, the caller waits for a limited time, and no second piece of
//! the same kind begins before the first has ended.

pub(crate) mod mount;
mod worker;

use super::backup_store::{
    Backup, BackupStore, BackupStoreLock, Listing, PruneExceptions, UNFINISHED_KEPT_SECONDS, local_store,
    outlived_off_site,
};
use super::manifest::Manifest;
use super::manifest_signature::ErasedMark;
use super::tombstones;
use crate::config::Config;
use crate::config::recipient::Recipient;
use crate::moment::Moment;
use crate::ops::outside::object::BackupName;
use crate::ops::replication::chain::TICKS_KEPT_SECONDS;
use crate::ops::replication::replay::Replay;
use crate::ops::replication::target::Target;
use crate::ops::signature::{PublicKey, Signer, Trust};
use crate::ops::space::check_space;
use crate::ops::standby::epoch;
use crate::site::Site;
use crate::store::queries::erasure::Tombstone;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
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
    /// Whether the site encrypts what is off site. Anything else there is not from this site.
    is_sealed: bool,
    /// The data directory, with the key by which this machine signs.
    data: PathBuf,
    trust: Trust,
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

/// The newest local backup of the site that is signed by a key which the machine does not know: its own was lost.
pub(crate) fn find_foreign_signature(site: &Site, signer: &Signer) -> Option<(String, PublicKey)> {
    let known = signer.keys();
    let ours = local_store(&site.config.data).list().into_iter().filter(|one| *one.manifest.site_id == *site.site_id);
    let signed = ours.filter_map(|one| Some((one.name(), *one.manifest.signed_by()?)));
    signed.into_iter().find(|(_, key)| !known.contains(key))
}

impl OffSite {
    /// The off-site target of an open site. `None`: the settings name none.
    pub(crate) fn of(site: &Site) -> Option<Arc<OffSite>> {
        let new = || {
            // A site has a key, and believes nothing else.
            let signer = Signer::ensure(&site.config.data);
            if let Some((backup, key)) = signer.as_ref().ok().and_then(|signer| find_foreign_signature(site, signer)) {
                let former = key.fingerprint();
                tracing::warn!(
                    backup,
                    former,
                    "signing.key was lost or replaced: copies are signed by another key now"
                );
            }
            let keys = signer.map(|signer| signer.keys());
            let keys = keys.inspect_err(|cause| tracing::error!(cause, "nothing off site is believed"));
            OffSite::believing(&site.config, Trust::Keys(keys.unwrap_or_default())).map(Arc::new)
        };
        site.state::<OfSite>().0.get_or_init(new).clone()
    }

    /// The off-site target that the settings name, with the trust of the machine of their data directory.
    pub(crate) fn new(config: &Config) -> Option<OffSite> {
        OffSite::believing(config, Trust::of(&config.data))
    }

    pub(crate) fn believing(config: &Config, trust: Trust) -> Option<OffSite> {
        let (is_sealed, data) = (config.backup.recipient.is_some(), config.data.clone());
        let with_limits = |target| OffSite::with_limits(target, QUERY_TIME_MAX, STEP_TIME_MAX);
        Target::off_site(config).map(|target| OffSite { is_sealed, data, trust, ..with_limits(target) })
    }

    fn with_limits(target: Target, query_time_max: Duration, step_time_max: Duration) -> OffSite {
        OffSite {
            target,
            is_sealed: false,
            data: PathBuf::new(),
            trust: Trust::Unsigned,
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

    pub(crate) fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The key by which this machine signs what it writes there.
    pub(crate) fn signer(&self) -> Result<Arc<Signer>, String> {
        Signer::ensure(&self.data).map(Arc::new)
    }

    /// The newest backup in a bucket, as far as it is known without a request. A directory is quick to list.
    pub(crate) fn newest_known(&self) -> Option<Backup> {
        let Target::S3(folder) = &self.target else { return None };
        folder.newest_known().filter(|backup| self.trust.believes(backup.manifest.signed_by()))
    }

    /// The finished backups there that are believed, newest first, and those that cannot be read or are not believed. The error:
    /// the target does not answer, or refuses to.
    pub(crate) fn list(&self) -> Result<Listing, String> {
        let target = self.target.clone();
        let mut listing = self.query(move |step| match target {
            Target::Directory(place) => Ok(BackupStore::new(place.path()).listing()),
            Target::S3(folder) => Ok(folder.bases(step)?),
        })?;
        if self.is_sealed {
            let (sealed, plain): (Vec<_>, Vec<_>) = listing.backups.into_iter().partition(Backup::is_encrypted);
            let refused = |backup: Backup| {
                let why = "is not encrypted: without backup.recipient in the settings it is restored all the same";
                (backup.name(), format!("{} {why}", backup.at))
            };
            listing.backups = sealed;
            listing.unreadable.extend(plain.into_iter().map(refused));
        }
        let is_believed = |backup: &Backup| self.trust.believes(backup.manifest.signed_by());
        let (believed, others): (Vec<_>, Vec<_>) = listing.backups.into_iter().partition(is_believed);
        let sites: BTreeSet<&str> = believed.iter().map(|backup| &*backup.manifest.site_id).collect();
        // Another site may have its copies there too.
        let is_strange = |manifest: &Manifest| {
            manifest.signed_by().is_none() || sites.is_empty() || sites.contains(&*manifest.site_id)
        };
        let strange = others.iter().filter(|backup| is_strange(&backup.manifest));
        let refused =
            |backup: &Backup| (backup.name(), format!("{} {}", backup.at, backup.manifest.describe_distrust()));
        listing.unreadable.extend(strange.map(refused));
        listing.backups = believed;
        Ok(listing.sorted())
    }

    /// The tombstones of a site there that are believed. The error: the target does not answer, or refuses to.
    pub(crate) fn list_erased(&self, site_id: &str) -> Result<Vec<Tombstone>, String> {
        let (target, site_id, trust) = (self.target.clone(), site_id.to_owned(), self.trust.clone());
        self.query(move |_| match target {
            Target::Directory(place) => Ok(tombstones::list(&place.path(), &site_id, &trust)?.into_iter().collect()),
            Target::S3(folder) => folder.list_erased(&site_id, &trust),
        })
    }

    /// Adds tombstones of a site there; nothing where the directory is not mounted.
    pub(crate) fn add_erased(&self, site_id: &str, all: &[Tombstone]) -> Result<(), String> {
        let (target, site_id, all) = (self.target.clone(), site_id.to_owned(), all.to_vec());
        let signer = self.signer()?;
        self.query(move |_| match target {
            Target::Directory(place) => match place.path() {
                dir if dir.is_dir() => {
                    tombstones::add(&dir, &site_id, &all, &signer).map_err(|e| write_error(&dir, &e))
                }
                _ => Ok(()),
            },
            Target::S3(folder) => folder.add_erased(&site_id, &all, &signer),
        })
    }

    /// The epochs of a site there that are higher than `own`. `None`: the target does not answer.
    pub(crate) fn find_higher_epochs(&self, site_id: &str, own: u64) -> Option<epoch::Higher> {
        let (target, site_id, trust) = (self.target.clone(), site_id.to_owned(), self.trust.clone());
        self.query(move |_| {
            epoch::find_higher(&target, &site_id, own, &trust).map_err(|e| format!("cannot read in {target}: {e}"))
        })
        .ok()
    }

    /// [`epoch::claim`] or [`epoch::catch_up`] there. The error: the target does not answer, or takes no file.
    pub(crate) fn write_epoch<T: Send + 'static>(
        &self,
        site_id: &str,
        epoch: u64,
        content: &str,
        write: fn(&Target, &str, u64, &str, &Signer) -> io::Result<T>,
    ) -> Result<T, String> {
        let (target, site_id, content) = (self.target.clone(), site_id.to_owned(), content.to_owned());
        let signer = self.signer()?;
        self.query(move |_| {
            write(&target, &site_id, epoch, &content, &signer).map_err(|e| format!("cannot write to {target}: {e}"))
        })
    }

    /// Copies a backup there, encrypted where a recipient is named, with the members who were `erased`, and prunes older ones.
    /// Nothing is begun where the target
    /// does not answer immediately, or where the copy of another backup is in progress. `progress` gets bytes done and in all.
    pub(crate) fn copy(
        &self,
        backup: &Backup,
        recipient: Option<&Recipient>,
        exceptions: PruneExceptions,
        erased: &[Tombstone],
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, String> {
        self.list()?;
        if !erased.is_empty() {
            self.add_erased(&backup.manifest.site_id, erased)?;
        }
        let (backup, target, recipient) = (backup.clone(), self.target.clone(), recipient.cloned());
        let by = Signing { signer: self.signer()?, trust: self.trust.clone(), erased: ErasedMark::of(erased) };
        let timeouts = Timeouts { idle: self.query_time_max / 2, step: self.step_time_max };
        let copied = self.copies.run(timeouts, progress, move |step| match target {
            Target::Directory(place) => copy_to(&backup, &place.path(), recipient.as_ref(), &exceptions, &by, step),
            Target::S3(folder) => folder.copy(&backup, recipient.as_ref(), &exceptions, &by, step),
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
    pub(crate) fn replay(&self, base: &Backup, until: Option<Moment>) -> Result<Option<Replay>, String> {
        let Some(name) = BackupName::parse(&base.name()) else { return Ok(None) };
        let (base, copy, is_sealed) = (base.clone(), self.target.backup(&name), self.is_sealed);
        let trust = self.trust.clone();
        self.query(move |_| Replay::of(&base, &copy, until, is_sealed, &trust))
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

    /// Runs a restore drill with backups from there.
    pub(crate) fn drill<T: Send + 'static>(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> Result<T, String> + Send + 'static,
    ) -> Drilled<T> {
        let timeouts = Timeouts { idle: Duration::ZERO, step: self.step_time_max };
        match self.drills.run(timeouts, progress, work) {
            Ok(Ok(value)) => Drilled::Done(value),
            Ok(Err(cause)) => Drilled::Failed(cause),
            Err(WorkError::Busy) => Drilled::Busy,
            Err(WorkError::TimedOut) => Drilled::Failed(self.no_answer()),
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

/// What a restore drill came to.
pub(crate) enum Drilled<T> {
    Done(T),
    /// The error of the work, or that the target does not answer.
    Failed(String),
    /// Another drill is in progress.
    Busy,
}

/// How a copy is signed, and which of the others are believed.
pub(crate) struct Signing {
    pub signer: Arc<Signer>,
    pub trust: Trust,
    pub erased: ErasedMark,
}

fn copy_to(
    backup: &Backup,
    dir: &Path,
    recipient: Option<&Recipient>,
    exceptions: &PruneExceptions,
    by: &Signing,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Backup, String> {
    let failed = |e: io::Error| write_error(dir, &e);
    if !dir.is_dir() {
        return Err(format!("{} is not there: is it mounted?", dir.display()));
    }
    let at = backup.at.path();
    let local_store = at.as_deref().and_then(Path::parent);
    local_store.map_or(Ok(()), |local_store| mount::check(local_store, dir))?;
    let name = BackupName::parse(&backup.name()).ok_or_else(|| format!("{} is no backup of a site", backup.at))?;
    let (backup_store, now) = (BackupStore::new(dir.to_owned()), backup.manifest.made_at);
    let lock = backup_store.lock()?;
    lock.remove_unfinished(now - UNFINISHED_KEPT_SECONDS);
    check_space(backup.manifest.bytes(), dir)?;
    let new = lock.begin(&name).map_err(failed)?;
    let manifest = match recipient {
        Some(recipient) => backup.encrypt_to(new.dir(), recipient, progress).map_err(failed)?,
        None => {
            backup.copy_to(new.dir(), None, progress)?;
            backup.manifest.clone()
        }
    };
    let copied = new.finish(&manifest, &by.signer, Some(by.erased.clone())).map_err(failed)?;
    // A failed pruning does not make the new backup fail.
    if let Err(cause) = prune(&lock, &copied.manifest, exceptions, &by.trust) {
        tracing::warn!(%cause, "old off-site backups are not removed; the next backup tries again");
    }
    local_store.into_iter().for_each(|local_store| mount::note(local_store, dir));
    Ok(copied)
}

/// Removes old backups, and the ticks of ended chains.
fn prune(lock: &BackupStoreLock, newest: &Manifest, exceptions: &PruneExceptions, trust: &Trust) -> io::Result<()> {
    lock.remove_all(&outlived_off_site(&lock.backup_store().list(), newest, exceptions, trust))?;
    let is_ours =
        |other: &Backup| other.manifest.site_id == newest.site_id && trust.believes(other.manifest.signed_by());
    let ours: Vec<Backup> = lock.backup_store().list().into_iter().filter(is_ours).collect();
    ended_chains(&ours, newest.made_at, exceptions).try_for_each(|base| lock.remove_ticks(base))
}

/// The bases of chains that ended more than a day ago, by a clock that is not doubted. `backups`: those of one site, newest
/// first.
pub(crate) fn ended_chains<'b>(
    backups: &'b [Backup],
    now: Moment,
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
