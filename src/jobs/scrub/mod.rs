//! Every page of the file and of its log, and every byte of the backups beside it, is read again and again: what a disk
//! spoils is told within a minute, and not when somebody needs it. A large site takes longer, so that the reading never costs
//! more than [`STEP_BYTES_MAX`] a second.
//!
//! A file of a backup is held against its manifest, whose digests cost two instructions a byte, once in this process and when
//! its sum changes; from then on its sum is looked at, which costs a fiftieth of that and finds whatever a disk does.

use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::manifest::{FileDigest, FileDigester, Manifest};
use crate::ops::backup::{damage, local_store};
use crate::ops::replication::target::Target;
use crate::site::Site;
use crate::site::priority;
use crate::store::Condition;
use crate::store::engine::scrub::{Scrub, Step};
use crate::store::engine::{alarm, data_dir};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);
/// Steps in which all of a site that is not large is read: fewer than a minute has seconds.
const STEPS: u64 = 30;
const STEP_BYTES_MIN: u64 = 1024 * 1024;
const STEP_BYTES_MAX: u64 = 8 * 1024 * 1024;
const PAGE_BYTES: u64 = 4096;
/// So much of a backup is read at once: little enough that the allocator keeps it for the next step.
const CHUNK_BYTES: usize = 64 * 1024;

/// Every second, until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    priority::lower();
    let (mut pages, mut backups) = (None, Backups::default());
    let mut bytes = STEP_BYTES_MIN;
    while stop.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if site.store.writer().condition() != Condition::Damaged {
            bytes = step_bytes(site);
            read_pages(site, &mut pages, bytes);
        }
        backups.read(site, bytes);
    }
}

/// The bytes that a step reads of the file; it reads as many of the backups.
fn step_bytes(site: &Site) -> u64 {
    let data = &site.config.data;
    let size = |path: PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
    let backups: u64 = local_store(data).list().iter().map(|backup| backup.manifest.bytes()).sum();
    let most = backups.max(size(data_dir::database(data)) + size(data_dir::wal(data)));
    (most / STEPS).clamp(STEP_BYTES_MIN, STEP_BYTES_MAX)
}

fn read_pages(site: &Site, scrub: &mut Option<Scrub>, bytes: u64) {
    if scrub.is_none() {
        *scrub = Scrub::of(&site.store)
            .inspect_err(|e| tracing::warn!(cause = %e, "the pages of the file cannot be read through"))
            .ok();
    }
    let Some(walk) = scrub else { return };
    let mut step = || walk.step((bytes / PAGE_BYTES) as usize);
    // A disk that failed a read once is asked again.
    if let Step::Bad(_) = step()
        && let Step::Bad(cause) = step()
    {
        damage::look_after_page(site, &cause);
        *scrub = None;
    }
}

/// A walk over the backups beside the file, again and again.
#[derive(Default)]
struct Backups {
    left: VecDeque<PathBuf>,
    open: Option<Open>,
    /// The sums of the files that were what their manifests say.
    known: HashMap<PathBuf, u32>,
    /// The first backup that this walk found spoilt.
    spoilt: Option<String>,
}

/// A file of a backup that is read.
struct Open {
    path: PathBuf,
    file: File,
    sum: crc32fast::Hasher,
    /// What the manifest says of a file whose sum is not known.
    against: Option<(FileDigester, FileDigest)>,
}

impl Backups {
    /// Reads so many bytes.
    fn read(&mut self, site: &Site, bytes: u64) {
        let mut left = bytes as usize;
        let mut chunk = Vec::new();
        while left > 0 {
            let Some(open) = &mut self.open else {
                match self.left.pop_front() {
                    Some(path) => self.begin(&path),
                    None => return self.end(site),
                }
                continue;
            };
            chunk.resize(CHUNK_BYTES, 0);
            match open.file.read(&mut chunk) {
                Ok(0) => {
                    let open = self.open.take().expect("it is open");
                    self.finish(open);
                }
                Ok(read) => {
                    open.sum.update(&chunk[..read]);
                    open.against.iter_mut().for_each(|(digester, _)| digester.add(&chunk[..read]));
                    left = left.saturating_sub(read);
                }
                Err(_) => {
                    let path = self.open.take().expect("it is open").path;
                    self.judge(&path, false);
                }
            }
        }
    }

    fn begin(&mut self, path: &Path) {
        let wanted = || {
            let manifest = Manifest::read(&Target::Directory(path.parent()?.to_owned())).ok()?;
            let name = path.file_name()?.to_str()?;
            manifest.encrypted.get(name).or(manifest.files.get(name)).cloned()
        };
        let against = match self.known.contains_key(path) {
            true => None,
            false => match wanted() {
                Some(wanted) => Some((FileDigest::begin(), wanted)),
                None => return self.judge(path, false),
            },
        };
        match File::open(path) {
            Ok(file) => {
                self.open = Some(Open { path: path.to_owned(), file, sum: crc32fast::Hasher::new(), against });
            }
            Err(_) => self.judge(path, false),
        }
    }

    /// The file was read to its end.
    fn finish(&mut self, Open { path, sum, against, .. }: Open) {
        let sum = sum.finalize();
        match against {
            Some((digester, wanted)) => {
                let is_sound = digester.end() == wanted;
                if is_sound {
                    self.known.insert(path.clone(), sum);
                }
                self.judge(&path, is_sound);
            }
            None if self.known.get(&path) == Some(&sum) => {}
            // The manifest has the last word.
            None => {
                self.known.remove(&path);
                self.left.push_front(path);
            }
        }
    }

    /// A backup that was taken out of the backup store meanwhile is not spoilt.
    fn judge(&mut self, file: &Path, is_sound: bool) {
        let backup = file.parent().unwrap_or(file);
        if !is_sound && backup.exists() && self.spoilt.is_none() {
            self.spoilt = Some(backup.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }

    /// All were read: what was found is told, and the walk begins anew.
    fn end(&mut self, site: &Site) {
        let dir = &site.config.data;
        let backup_store = local_store(dir);
        let unreadable = || backup_store.unreadable().into_iter().next().map(|(name, _)| name);
        let changed = match self.spoilt.take().or_else(unreadable) {
            Some(name) => {
                let is_new = alarm::find(dir, alarm::Kind::SpoiltBackup).is_none_or(|alarm| alarm.cause != name);
                if is_new {
                    tracing::error!(backup = name, "a backup is not what was written");
                    alarm::raise(dir, alarm::Kind::SpoiltBackup, site.now(), &name);
                }
                is_new
            }
            None => alarm::clear(dir, alarm::Kind::SpoiltBackup),
        };
        if changed {
            site.forget_health();
        }
        let files = |backup: Backup| {
            let names = if backup.is_encrypted() { &backup.manifest.encrypted } else { &backup.manifest.files };
            names.keys().map(|name| backup_store.dir().join(backup.name()).join(name)).collect::<Vec<_>>()
        };
        self.left = backup_store.list().into_iter().flat_map(files).collect();
        let left = &self.left;
        self.known.retain(|path, _| left.contains(path));
    }
}

#[cfg(test)]
mod tests;
