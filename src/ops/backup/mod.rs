//! Backups: the database and its key are copied together and checked; older backups are pruned afterwards.

pub(crate) mod backup_store;
pub(crate) mod damage;
pub(crate) mod drill;
pub(crate) mod encrypted;
pub(crate) mod manifest;
pub(crate) mod manifest_signature;
pub(crate) mod off_site;
pub(crate) mod on_demand;
mod recorded;
pub(crate) mod restore;
pub(crate) mod rollback;
pub(crate) mod tombstones;
pub(crate) mod undo;
pub(crate) mod upgrade;

use crate::clock::Clock;
use crate::domain::audit::{Actor, Detail};
use crate::keys::Keys;
use crate::moment::Moment;
use crate::ops::Progress;
use crate::ops::backup::off_site::OffSite;
use crate::ops::digest::FileDigest;
use crate::ops::erasure;
use crate::ops::outside::object::{BackupName, SiteFile};
use crate::ops::replication;
use crate::ops::replication::chain::Chain;
use crate::ops::replication::sequence::Sequence;
use crate::ops::replication::tick::PageSums;
use crate::ops::rotation;
use crate::ops::signature::Signer;
use crate::ops::space::check_space;
use crate::site::Site;
use crate::site::priority;
use crate::store::copy_check::{self, CheckSpeed};
use crate::store::engine::capture::FollowerKind;
use crate::store::engine::copy;
use crate::store::engine::pace::Pace;
use crate::store::engine::{alarm, data_dir};
use crate::store::{Condition, Store};
use backup_store::{Backup, BackupStoreLock, PruneExceptions, local_store};
use manifest::{AuditHead, ChainOrigin, Manifest, Upgrade};
use recorded::record;
use std::io;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Between two checks whether a backup is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// How long a backup waits for another one, most often the base of the off-site copy, or for a drill.
const BUSY_TIME_MAX: Duration = Duration::from_secs(10);
/// The site that is backed up, and the moment of the backup.
struct Source<'s> {
    store: &'s Store,
    /// The directory of the database and its key.
    dir: &'s Path,
    now: Moment,
    /// For the base of a chain: how many bytes of the WAL may be unconfirmed.
    unconfirmed_bytes_max: Option<u64>,
    speed: CheckSpeed,
    /// Whether the key file must be that of the database. Before an upgrade an interrupted change of keys may be half done.
    checks_key: bool,
}

/// The outcome of [`make`].
#[derive(Debug)]
pub(crate) struct BackupOutcome {
    pub backup: Backup,
    pub pruned: usize,
    /// The off-site copy, or why there is none. `None`: the settings name no off-site target.
    pub off_site: Option<Result<Backup, String>>,
}

/// Makes a backup and runs the restore drill when they are due, until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    priority::lower();
    while site.rest(stop, CHECK_INTERVAL) {
        let hours = site.config.backup.every_hours;
        let backup_store = local_store(&site.config.data);
        let newest = backup_store.newest(site.now()).map(|backup| backup.manifest.made_at);
        let is_replaced = site.store.writer().condition() == Condition::Replaced;
        let is_due = hours > 0 && !is_replaced && newest.is_none_or(|made| site.now() >= made + hours * 3_600);
        // The base of the off-site copy is a backup too, and a large file's takes minutes.
        if is_due && !backup_store.is_locked() {
            log(&make(site, &Actor::job("backup"), CheckSpeed::Gentle, &mut |_, _, _| ()));
        }
        if drill::is_due(site) {
            drill::run_and_log(site);
        }
        erasure::complete(site);
    }
}

fn log(made: &Result<BackupOutcome, String>) {
    match made {
        Ok(made) => {
            let bytes = made.backup.manifest.bytes();
            tracing::info!(backup = made.backup.name(), bytes, pruned = made.pruned, "backup made and verified");
            if let Some(Err(cause)) = &made.off_site {
                tracing::error!(cause, "the backup has no off-site copy");
            }
        }
        Err(cause) => tracing::error!(cause, "no backup was made; the next minute tries again"),
    }
}

/// Makes the base of a chain of the off-site copy, and logs what came of it.
pub(crate) fn make_base(site: &Site) {
    // Until the base is there, the newest writes are on this machine alone.
    log(&make(site, &Actor::job("backup"), CheckSpeed::Prompt, &mut |_, _, _| ()));
}

/// Makes a backup now. A corrupt copy raises an alarm until a later one is intact. The database is then checked, and copied
/// once more where the check repaired it.
pub(crate) fn make(
    site: &Site,
    actor: &Actor,
    speed: CheckSpeed,
    progress: &mut Progress,
) -> Result<BackupOutcome, String> {
    if site.store.writer().condition() == Condition::Replaced {
        // Backups of a replaced machine would pass for the newest at a restore.
        return Err("another machine has taken this one's place, and makes the backups".to_owned());
    }
    let dir = &site.config.data;
    let made = match try_make(site, actor, speed, progress) {
        Err(BackupError::Corrupt(cause)) => match damage::check_database(site, &cause) {
            damage::Outcome::Repaired => try_make(site, actor, speed, progress),
            damage::Outcome::Unrepaired => Err(BackupError::Corrupt(cause)),
        },
        made => made,
    };
    match &made {
        Ok(_) => {
            alarm::clear(dir, alarm::Kind::Backup);
            damage::clear_alarm(site);
        }
        // No alarm: the age of the newest backup shows when none was made for a long time.
        Err(BackupError::Busy(_) | BackupError::Failed(_)) => {}
        Err(BackupError::Corrupt(cause)) => alarm::raise(dir, alarm::Kind::Backup, site.now(), cause),
    }
    site.forget_health();
    made.map_err(BackupError::into_cause)
}

/// Why no backup was made, in one line.
enum BackupError {
    /// Another backup or a drill is in progress.
    Busy(String),
    /// The copy is corrupt, or could not be read.
    Corrupt(String),
    Failed(String),
}

impl BackupError {
    fn into_cause(self) -> String {
        let (BackupError::Busy(cause) | BackupError::Corrupt(cause) | BackupError::Failed(cause)) = self;
        cause
    }
}

impl From<String> for BackupError {
    fn from(cause: String) -> BackupError {
        BackupError::Failed(cause)
    }
}

/// Copies, checks the copy, writes the manifest, flushes and renames; then prunes; then copies off site. The error is one
/// line, and leaves every older backup as it was.
fn try_make(
    site: &Site,
    actor: &Actor,
    speed: CheckSpeed,
    progress: &mut Progress,
) -> Result<BackupOutcome, BackupError> {
    let (backup_store, made_at) = (local_store(&site.config.data), site.now());
    let lock = backup_store.lock_within(BUSY_TIME_MAX).map_err(BackupError::Busy)?;
    let unconfirmed_bytes_max = replication::unconfirmed_bytes_max(site);
    let (store, dir) = (&site.store, &*site.config.data);
    let source = Source { store, dir, now: made_at, unconfirmed_bytes_max, speed, checks_key: true };
    check_space(source.bytes(), backup_store.dir())?;
    let (backup, start) = add(&source, &lock, &BackupName::of_moment(made_at, ""), None, progress)?;
    let exceptions = prune_exceptions(&site.config.data, &site.clock);
    let pruned = lock.prune(made_at, &exceptions).map_err(|e| backup_store.write_error(&e));
    // The off-site target may be slow: other work on the local backup store does not wait for it.
    drop(lock);
    let removed = pruned.as_ref().map_or(0, |removed| *removed as i64);
    record(site, actor, "backup.made", &backup, Detail::none().number("pruned", removed));
    // Also when nothing could be pruned: a failing disk is what the off-site copy is for.
    let off_site = OffSite::of(site).map(|off_site| -> Result<Backup, String> {
        let mut progress = |done, all| progress("copying off site", done, all);
        let erased = erasure::list(site)?;
        let copy = off_site.copy(&backup, site.config.backup.recipient.as_ref(), exceptions, &erased, &mut progress)?;
        if let Some(start) = start {
            replication::continue_from(site, Chain::new(start, &copy, off_site.signer()?));
        }
        Ok(copy)
    });
    Ok(BackupOutcome { backup, pruned: pruned?, off_site })
}

/// Adds a verified backup to the backup store.
fn add(
    source: &Source,
    lock: &BackupStoreLock,
    name: &BackupName,
    upgrade: Option<Upgrade>,
    progress: &mut Progress,
) -> Result<(Backup, Option<Sequence>), BackupError> {
    let failed = |e: io::Error| BackupError::Failed(lock.backup_store().write_error(&e));
    let new = lock.begin(name).map_err(failed)?;
    let (filled, start) = fill(source, &new.path(), progress)?;
    let signer = Signer::ensure(source.dir).map_err(BackupError::Failed)?;
    let backup = new.finish(&Manifest { upgrade, ..filled }, &signer, None).map_err(failed)?;
    Ok((backup, start))
}

/// Copies the database and the key, and flushes them. Returns their manifest, and the start of a chain that continues from
/// the copy.
fn fill(source: &Source, dir: &Path, progress: &mut Progress) -> Result<(Manifest, Option<Sequence>), BackupError> {
    let failed = |e: io::Error| BackupError::Failed(format!("cannot write to {}: {e}", dir.display()));
    let (database, key) = (data_dir::database(dir), data_dir::key(dir));
    let copying = &mut |done, all| progress("copying", done, all);
    let following = source.unconfirmed_bytes_max.map(|bytes_max| (FollowerKind::OffSite, bytes_max));
    let copied = copy::copy(source.store, &database, following, copying);
    let copied = copied.map_err(BackupError::Corrupt)?;
    // `Sequence` stops following the WAL when it is dropped.
    let mut start = copied.followed.map(|followed| Sequence::new(source.store, followed, PageSums::default()));
    progress("checking", 0, 1);
    let sound = copy_check::check(&database, source.speed).map_err(BackupError::Corrupt)?;
    if sound.rows != copied.rows {
        let cause = "the copy has other rows than the database: the disk or the memory is failing";
        return Err(BackupError::Corrupt(cause.to_owned()));
    }
    crate::files::copy(&data_dir::key(source.dir), &key).map_err(failed)?;
    if source.checks_key && !Keys::open(&key).is_ok_and(|keys| rotation::fits(&keys, &sound.key_check)) {
        let from = data_dir::key(source.dir);
        let cause =
            format!("{} is not the key of this site any more: a copy with it would open nothing", from.display());
        return Err(BackupError::Corrupt(cause));
    }
    let mut files = std::collections::BTreeMap::new();
    for (file, path) in [(SiteFile::Database, database), (SiteFile::Key, key)] {
        std::fs::File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        let all = std::fs::metadata(&path).map_err(failed)?.len();
        let (mut done, mut pace) = (0, Pace::begin());
        let mut hashed = |bytes| {
            if source.speed == CheckSpeed::Gentle {
                pace.pause_if_due();
            }
            done += bytes;
            progress("hashing", done, all);
        };
        let digest = FileDigest::of(&path, &mut hashed);
        files.insert(file, digest.map_err(failed)?);
    }
    let chain =
        start.as_mut().map(|start| origin(start, &data_dir::database(dir), source)).transpose().map_err(failed)?;
    let version = crate::VERSION.to_owned();
    let audit = Some(AuditHead::of(&sound.audit));
    let encrypted = Default::default();
    let (site_id, schema, rows, made_at, zone) =
        (sound.site_id, sound.schema, sound.rows, source.now, Some(sound.zone));
    let manifest = Manifest {
        version,
        site_id,
        schema,
        made_at,
        zone,
        files,
        encrypted,
        rows,
        upgrade: None,
        audit,
        chain,
        signature: None,
        checksum: String::new(),
    };
    Ok((manifest, start))
}

/// Where the ticks behind a copy begin. Before the first write of this process the WAL position has no moment, and that of
/// the copy stands for it.
fn origin(start: &mut Sequence, database: &Path, source: &Source) -> io::Result<ChainOrigin> {
    start.sums = PageSums::of_file(database)?;
    if start.followed.begin.moment == Moment(0) {
        (start.followed.begin.moment, start.end.moment) = (source.now, source.now);
    }
    let begin = &start.followed.begin;
    let bytes_max = source.unconfirmed_bytes_max.unwrap_or_default();
    Ok(ChainOrigin::of(&start.lineage, begin.moment, &begin.position, &start.sums, bytes_max))
}

/// Pruning keeps the backup that a drill restored last, and all whose age the clock may be wrong about.
fn prune_exceptions(site_dir: &Path, clock: &Clock) -> PruneExceptions {
    let proven = drill::last(site_dir).map(|drill| drill.proven).filter(|name| !name.is_empty());
    PruneExceptions { proven, made_before: clock.judged_from() }
}

impl Source<'_> {
    /// The size of a copy, at most.
    fn bytes(&self) -> u64 {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        bytes(&data_dir::database(self.dir)) + bytes(&data_dir::wal(self.dir))
    }
}

#[cfg(test)]
mod tests;
