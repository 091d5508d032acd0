//! Backups: the file and its key, copied together, checked, and only then counted and older ones pruned.

pub(crate) mod backup_store;
pub(crate) mod damage;
pub(crate) mod drill;
#[cfg(feature = "encrypted-backups")]
pub(crate) mod encrypted;
#[cfg(not(feature = "encrypted-backups"))]
#[path = "unencrypted.rs"]
pub(crate) mod encrypted;
pub(crate) mod manifest;
pub(crate) mod off_site;
pub(crate) mod on_demand;
pub(crate) mod restore;
pub(crate) mod rollback;
pub(crate) mod tombstones;
pub(crate) mod undo;
pub(crate) mod upgrade;

use crate::clock::Clock;
use crate::domain::audit::{By, Detail, Whom};
use crate::ops::backup::off_site::OffSite;
use crate::ops::erasure;
use crate::ops::replication;
use crate::ops::replication::chain::{Chain, ChainStart};
use crate::ops::replication::target::Target;
use crate::ops::replication::tick::PageSums;
use crate::site::Site;
use crate::site::priority;
use crate::store::engine::capture::FollowerKind;
use crate::store::engine::{alarm, copy, data_dir};
use crate::store::tables::audit;
use crate::store::{Condition, Store};
use backup_store::{Backup, BackupStore, BackupStoreLock, PruneExceptions};
use manifest::{AuditHead, ChainOrigin, FileDigest, Manifest, Upgrade};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often it is looked whether one is due.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// How long a backup waits for another, or for a drill: the base of the off-site copy, most often.
const BUSY_TIME_MAX: Duration = Duration::from_secs(10);
/// A backup must leave this much of the disk.
const SPARE_BYTES: u64 = 64 * 1024 * 1024;

/// Hears how far long work is: its present step, how much is done, and of how much.
pub(crate) type Progress<'p> = dyn FnMut(&str, u64, u64) + 'p;

/// The site that is copied, and the moment of the copy.
struct Source<'s> {
    store: &'s Store,
    /// Where the file and its key lie.
    dir: &'s Path,
    now: i64,
    /// For the base of a chain: how many bytes of the log may wait for the second place.
    unconfirmed_bytes_max: Option<u64>,
}

/// The outcome of [`make`].
#[derive(Debug)]
pub(crate) struct BackupOutcome {
    pub backup: Backup,
    pub pruned: usize,
    /// The second place: its copy, or why there is none. `None`: no second place is named.
    pub off_site: Option<Result<Backup, String>>,
}

/// The backup store beside the file.
pub(crate) fn local_store(site_dir: &Path) -> BackupStore {
    BackupStore::new(site_dir.join("backups"))
}

/// Every minute, until the sender of `stop` is dropped: a backup when one is due, and the drill.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    priority::lower();
    while stop.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let hours = site.config.backup.every_hours;
        let backup_store = local_store(&site.config.data);
        let newest = backup_store.newest(site.now()).map(|backup| backup.manifest.made_at);
        let is_replaced = site.store.writer().condition() == Condition::Replaced;
        let is_due = hours > 0 && !is_replaced && newest.is_none_or(|made| site.now() >= made + hours * 3_600);
        // The base of the off-site copy is a backup too, and a large file's takes minutes.
        if is_due && !backup_store.is_locked() {
            log(&make(site, &By::job("backup"), &mut |_, _, _| ()));
        }
        if drill::is_due(site) {
            drill::run_and_log(site);
        }
        erasure::look_after(site);
    }
}

pub(crate) fn log(made: &Result<BackupOutcome, String>) {
    match made {
        Ok(made) => {
            let bytes = made.backup.manifest.bytes();
            tracing::info!(backup = made.backup.name(), bytes, pruned = made.pruned, "backup made and verified");
            if let Some(Err(cause)) = &made.off_site {
                tracing::error!(cause, "the backup has no copy in the second place");
            }
        }
        Err(cause) => tracing::error!(cause, "no backup was made; the next minute tries again"),
    }
}

/// Makes a backup now. A copy that is not sound is an alarm until one is: the file is looked at, and copied again where
/// that put it right. See [`copy_and_carry`].
pub(crate) fn make(site: &Site, by: &By, progress: &mut Progress) -> Result<BackupOutcome, String> {
    if site.store.writer().condition() == Condition::Replaced {
        // The machine that goes on makes them: a restore must not take this one's for the newest.
        return Err("another machine has taken this one's place, and makes the backups".to_owned());
    }
    let dir = &site.config.data;
    let made = match copy_and_carry(site, by, progress) {
        Err(BackupError::Unsound(cause)) => match damage::look_after(site, &cause) {
            damage::Outcome::PutRight => copy_and_carry(site, by, progress),
            damage::Outcome::Stands => Err(BackupError::Unsound(cause)),
        },
        made => made,
    };
    match &made {
        Ok(_) => {
            alarm::clear(dir, alarm::Kind::Backup);
            damage::put_right(site);
        }
        // No alarm: the age of the newest backup tells when none was made for long.
        Err(BackupError::Busy(_) | BackupError::Failed(_)) => {}
        Err(BackupError::Unsound(cause)) => alarm::raise(dir, alarm::Kind::Backup, site.now(), cause),
    }
    site.forget_health();
    made.map_err(BackupError::into_cause)
}

/// Why no backup was made, in one line.
enum BackupError {
    /// Another is under way.
    Busy(String),
    /// The copy is not sound, or could not be read.
    Unsound(String),
    Failed(String),
}

impl BackupError {
    fn into_cause(self) -> String {
        let (BackupError::Busy(cause) | BackupError::Unsound(cause) | BackupError::Failed(cause)) = self;
        cause
    }
}

impl From<String> for BackupError {
    fn from(cause: String) -> BackupError {
        BackupError::Failed(cause)
    }
}

/// Copy, check of the copy, manifest, flush, rename; then pruning, then the second place, which may
/// take its time. The error is one line, and leaves every older backup as it was.
fn copy_and_carry(site: &Site, by: &By, progress: &mut Progress) -> Result<BackupOutcome, BackupError> {
    let (backup_store, made_at) = (local_store(&site.config.data), site.now());
    let lock = backup_store.lock_within(BUSY_TIME_MAX).map_err(BackupError::Busy)?;
    let unconfirmed_bytes_max = replication::unconfirmed_bytes_max(site);
    let source = Source { store: &site.store, dir: &site.config.data, now: made_at, unconfirmed_bytes_max };
    check_space(source.bytes(), backup_store.dir())?;
    let (backup, start) = put(&source, &lock, &shown(made_at), None, progress)?;
    let exceptions = exceptions(&site.config.data, &site.clock);
    let pruned = lock.prune(made_at, &exceptions).map_err(|e| unwritten(&backup_store, &e));
    // The second place may take its time, and other work on this backup store does not wait for it.
    drop(lock);
    let gone = pruned.as_ref().map_or(0, |gone| *gone as i64);
    record(site, by, "backup.made", &backup, Detail::none().number("pruned", gone));
    // Also when nothing could be pruned: a disk that fails is what the second place is for.
    let off_site = OffSite::target_of(site).map(|second| {
        let mut tell = |done, all| progress("copying to the second place", done, all);
        site.state::<OffSite>().carry(&backup, &second, site.config.backup.recipient.as_ref(), exceptions, &mut tell)
    });
    if let (Some(Ok(there)), Some(start)) = (&off_site, start) {
        replication::go_on_from(site, Chain::new(start, there));
    }
    Ok(BackupOutcome { backup, pruned: pruned?, off_site })
}

/// A backup that is there is there: that it cannot be recorded now (a full disk, say) is no reason to call it none.
fn record(site: &Site, by: &By, deed: &'static str, backup: &Backup, detail: Detail) {
    let whom = Whom::Backup(backup.name());
    let recorded = site.store.write(site.now(), |tx| Ok(audit::insert(tx, &by.who, deed, &whom, &by.origin, &detail)?));
    _ = recorded.inspect_err(|e| tracing::error!(deed, cause = %e, "a deed is missing in the audit log"));
}

/// `2026-11-21T12-00-00Z`.
pub(crate) fn shown(moment: i64) -> String {
    let moment = jiff::Timestamp::from_second(moment).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H-%M-%SZ").to_string()
}

fn unwritten(backup_store: &BackupStore, e: &io::Error) -> String {
    format!("cannot write to {}: {e}", backup_store.dir().display())
}

/// A backup on the backup store, verified.
fn put(
    source: &Source,
    lock: &BackupStoreLock,
    name: &str,
    upgrade: Option<Upgrade>,
    progress: &mut Progress,
) -> Result<(Backup, Option<ChainStart>), BackupError> {
    let failed = |e: io::Error| BackupError::Failed(unwritten(lock.backup_store(), &e));
    let unfinished = lock.start(name).map_err(failed)?;
    let (filled, start) = fill(source, &unfinished, progress)?;
    let manifest = Manifest { upgrade, ..filled };
    manifest.write(&unfinished).map_err(failed)?;
    let dir = lock.finish(&unfinished, name).map_err(failed)?;
    Ok((Backup { at: Target::Directory(dir), manifest }, start))
}

/// The copies, each flushed, and what is to be said of them; and what a chain needs to go on from there.
fn fill(source: &Source, dir: &Path, progress: &mut Progress) -> Result<(Manifest, Option<ChainStart>), BackupError> {
    let failed = |e: io::Error| BackupError::Failed(format!("cannot write to {}: {e}", dir.display()));
    let (database, key) = (data_dir::database(dir), data_dir::key(dir));
    let tell = &mut |done, all| progress("copying", done, all);
    let following = source.unconfirmed_bytes_max.map(|bytes_max| (FollowerKind::OffSite, bytes_max));
    let copied = copy::copy(source.store, &database, following, tell);
    let copied = copied.map_err(BackupError::Unsound)?;
    // From here on, whatever ends this lets go of the log.
    let mut start = copied.followed.map(|followed| ChainStart::new(source.store, followed, PageSums::default()));
    progress("checking", 0, 1);
    let sound = copy::check(&database).map_err(BackupError::Unsound)?;
    if sound.rows != copied.rows {
        let cause = "the copy does not hold the rows that the file held: the disk or its memory is failing";
        return Err(BackupError::Unsound(cause.to_owned()));
    }
    std::fs::copy(data_dir::key(source.dir), &key).map_err(failed)?;
    let mut files = std::collections::BTreeMap::new();
    for path in [database, key] {
        std::fs::File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        let all = std::fs::metadata(&path).map_err(failed)?.len();
        let mut done = 0;
        let mut tell = |bytes| {
            done += bytes;
            progress("hashing", done, all);
        };
        let digest = FileDigest::of(&path, &mut tell);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, digest.map_err(failed)?);
    }
    let chain =
        start.as_mut().map(|start| link(start, &data_dir::database(dir), source.now)).transpose().map_err(failed)?;
    let version = crate::VERSION.to_owned();
    let audit = sound.audit.as_ref().map(AuditHead::of);
    let encrypted = Default::default();
    let (site_id, schema, rows, made_at, zone) = (sound.site_id, sound.schema, sound.rows, source.now, sound.zone);
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
        checksum: String::new(),
    };
    Ok((manifest, start))
}

/// The point from which the ticks continue: the checksums of the copy, and the position of its last step. Where this
/// process has written nothing yet, the copy is as old as its begin.
fn link(start: &mut ChainStart, database: &Path, now: i64) -> io::Result<ChainOrigin> {
    start.sums = PageSums::of_file(database)?;
    let begin = &start.followed.begin;
    let moment = if begin.moment == 0 { now } else { begin.moment };
    Ok(ChainOrigin::of(&start.lineage, moment, &begin.position, &start.sums))
}

/// The backups that pruning leaves: the one that a drill opened last, and all whose age the clock may be wrong about.
fn exceptions(site_dir: &Path, clock: &Clock) -> PruneExceptions {
    let proven = drill::last(site_dir).map(|drill| drill.proven).filter(|name| !name.is_empty());
    PruneExceptions { proven, made_before: clock.judged_from() }
}

impl Source<'_> {
    /// The most bytes that a copy can take.
    fn bytes(&self) -> u64 {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        bytes(&data_dir::database(self.dir)) + bytes(&data_dir::wal(self.dir))
    }
}

/// A copy must fit, and leave room for the file to go on.
pub(crate) fn check_space(bytes: u64, dir: &Path) -> Result<(), String> {
    let needed = bytes + SPARE_BYTES;
    let free = data_dir::free_bytes(dir).map_err(|e| format!("cannot look at {}: {e}", dir.display()))?;
    if free >= needed {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    Err(format!(
        "no room for a copy in {}: {} MB are free and {} MB are needed; make room there",
        dir.display(),
        megabytes(free),
        megabytes(needed)
    ))
}
