//! Backups: the file and its key, copied together, checked, and only then counted and older ones pruned.

pub mod drill;
pub mod manifest;
pub mod restore;
pub mod rollback;
pub mod shelf;
pub mod upgrade;

use crate::site::Site;
use crate::store::place;
use crate::store::{Store, copy};
use manifest::{Manifest, Print, Upgrade};
use shelf::{Backup, Hold, Shelf};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often it is looked whether one is due.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// A backup must leave this much of the disk.
const SPARE_BYTES: u64 = 64 * 1024 * 1024;

/// What long work is at: what it does, how much is done, and of how much.
pub type Progress<'p> = dyn FnMut(&str, u64, u64) + 'p;

/// What is copied, and when that is.
struct Source<'s> {
    store: &'s Store,
    /// Where the file and its key lie.
    dir: &'s Path,
    now: i64,
}

/// What [`make`] did.
#[derive(Debug)]
pub struct Made {
    pub backup: Backup,
    pub pruned: usize,
    /// The second place: its copy, or why there is none. `None`: no second place is named.
    pub second: Option<Result<Backup, String>>,
}

/// The shelf beside the file.
pub fn shelf(site_dir: &Path) -> Shelf {
    Shelf::new(site_dir.join("backups"))
}

/// Every minute, until the sender of `stop` is dropped: a backup when one is due, and the drill.
pub fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    yield_to_requests();
    while stop.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let hours = site.config.backup.every_hours;
        let newest = shelf(&site.config.data).newest().map(|backup| backup.manifest.made_at);
        if hours > 0 && newest.is_none_or(|made| site.now() >= made + hours * 3_600) {
            log(&make(site, &mut |_, _, _| ()));
        }
        if drill::is_due(site) {
            drill::run_and_log(site);
        }
    }
}

/// Requests come first.
fn yield_to_requests() {
    // SAFETY: takes numbers and changes nothing but this thread's own priority.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 10) };
}

fn log(made: &Result<Made, String>) {
    match made {
        Ok(made) => {
            let bytes = made.backup.manifest.bytes();
            tracing::info!(backup = made.backup.name(), bytes, pruned = made.pruned, "backup made and verified");
            if let Some(Err(cause)) = &made.second {
                tracing::error!(cause, "the backup has no copy in the second place");
            }
        }
        Err(cause) => tracing::error!(cause, "no backup was made; the next minute tries again"),
    }
}

/// Makes a backup now: copy, check of the copy, manifest, flush, rename; then the second place, then pruning. The error
/// is one line, and leaves every older backup as it was.
pub fn make(site: &Site, progress: &mut Progress) -> Result<Made, String> {
    let (shelf, made_at) = (shelf(&site.config.data), site.now());
    let hold = shelf.hold()?;
    let source = Source { store: &site.store, dir: &site.config.data, now: made_at };
    source.check_space(shelf.dir(), 1)?;
    let backup = put(&source, &hold, &shown(made_at), None, progress)?;
    let second = site.config.backup.second_place.as_deref().map(|second| carry(&backup, second, made_at, progress));
    let pruned = hold.prune(made_at).map_err(|e| unwritten(&shelf, &e))?;
    Ok(Made { backup, pruned, second })
}

/// `2026-11-21T12-00-00Z`.
fn shown(moment: i64) -> String {
    let moment = jiff::Timestamp::from_second(moment).unwrap_or_default();
    moment.strftime("%Y-%m-%dT%H-%M-%SZ").to_string()
}

fn unwritten(shelf: &Shelf, e: &io::Error) -> String {
    format!("cannot write to {}: {e}", shelf.dir().display())
}

/// A backup on the shelf, verified.
fn put(
    source: &Source,
    hold: &Hold,
    name: &str,
    upgrade: Option<Upgrade>,
    progress: &mut Progress,
) -> Result<Backup, String> {
    let failed = |e: io::Error| unwritten(hold.shelf(), &e);
    let unfinished = hold.start(name).map_err(failed)?;
    let manifest = Manifest { upgrade, ..fill(source, &unfinished, progress)? };
    manifest.write(&unfinished).map_err(failed)?;
    let dir = hold.finish(&unfinished, name).map_err(failed)?;
    Ok(Backup { dir, manifest })
}

/// The copies, each flushed, and what is to be said of them.
fn fill(source: &Source, dir: &Path, progress: &mut Progress) -> Result<Manifest, String> {
    let failed = |e: io::Error| format!("cannot write to {}: {e}", dir.display());
    let (database, key) = (place::database(dir), place::key(dir));
    let copied = copy::copy(source.store, &database, &mut |done, all| progress("copying", done, all))?;
    progress("checking", 0, 1);
    let sound = copy::check(&database)?;
    if sound.rows != copied {
        return Err("the copy does not hold the rows that the file held: the disk or its memory is failing".to_owned());
    }
    std::fs::copy(place::key(source.dir), &key).map_err(failed)?;
    let mut files = std::collections::BTreeMap::new();
    for path in [database, key] {
        std::fs::File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
        let all = std::fs::metadata(&path).map_err(failed)?.len();
        let mut done = 0;
        let print = Print::of(&path, &mut |bytes| {
            done += bytes;
            progress("hashing", done, all);
        });
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, print.map_err(failed)?);
    }
    Ok(Manifest {
        version: crate::VERSION.to_owned(),
        site_id: sound.site_id,
        schema: sound.schema,
        made_at: source.now,
        files,
        rows: sound.rows,
        upgrade: None,
    })
}

/// A copy of a backup in another place, with its own pruning.
fn carry(backup: &Backup, second: &Path, now: i64, progress: &mut Progress) -> Result<Backup, String> {
    let failed = |e: io::Error| format!("cannot write to {}: {e}", second.display());
    if !second.is_dir() {
        return Err(format!("{} is not there: is it mounted?", second.display()));
    }
    let shelf = Shelf::new(second.to_owned());
    let hold = shelf.hold()?;
    let unfinished = hold.start(&backup.name()).map_err(failed)?;
    backup.copy_to(&unfinished, &mut |done, all| progress("copying to the second place", done, all))?;
    backup.manifest.write(&unfinished).map_err(failed)?;
    let dir = hold.finish(&unfinished, &backup.name()).map_err(failed)?;
    hold.prune(now).map_err(failed)?;
    Ok(Backup { dir, manifest: backup.manifest.clone() })
}

impl Source<'_> {
    /// So many copies must fit, and leave room for the file to go on.
    fn check_space(&self, shelf: &Path, copies: u64) -> Result<(), String> {
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let needed = copies * (bytes(&place::database(self.dir)) + bytes(&place::log(self.dir))) + SPARE_BYTES;
        let free = place::free_bytes(shelf).map_err(|e| format!("cannot look at {}: {e}", shelf.display()))?;
        if free >= needed {
            return Ok(());
        }
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        Err(format!(
            "no room for a backup in {}: {} MB are free and {} MB are needed; make room there",
            shelf.display(),
            megabytes(free),
            megabytes(needed)
        ))
    }
}
