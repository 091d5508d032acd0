//! Scrubbing: every page of the database and of its WAL, and every byte of the local backups, is read again and again,
//! so that damage by the disk is reported within a minute. A large site takes longer, because at most
//! [`STEP_BYTES_MAX`] are read in a second.
//!
//! A file of a backup is compared with the SHA-256 in its manifest once in this process, and again when its CRC
//! changes. Otherwise only its CRC is compared, which costs a fiftieth and finds all damage by a disk.

use crate::ops::backup::backup_store::{Backup, Listing, local_store};
use crate::ops::backup::damage;
use crate::ops::digest::{FileDigest, FileDigester};
use crate::ops::replication::target::Target;
use crate::site::Site;
use crate::site::priority;
use crate::store::Condition;
use crate::store::scrub::{Scrub, Step, flips};
use crate::store::{alarm, data_dir};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);
/// The number of steps that read all of a site of normal size, in less than a minute.
const STEPS: u64 = 30;
const STEP_BYTES_MIN: u64 = 1024 * 1024;
const STEP_BYTES_MAX: u64 = 8 * 1024 * 1024;
const PAGE_BYTES: u64 = 4096;
/// The size of one read: small enough that the allocator reuses the buffer for the next step.
const CHUNK_BYTES: usize = 64 * 1024;

/// Scrubs every second until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    priority::lower();
    let (mut pages, mut backups) = (None, Backups::default());
    let mut bytes = STEP_BYTES_MIN;
    while site.rest(stop, INTERVAL) {
        if site.store.writer().condition() != Condition::Damaged {
            bytes = step_bytes(site);
            read_pages(site, &mut pages, bytes);
        }
        backups.read(site, bytes);
    }
}

/// The bytes that a step reads of the database; the step reads as many of the backups.
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
    // A failed read is repeated once, and once more where flipped bits were corrected.
    if let Step::Bad(_) = step()
        && let Step::Bad(_) = step()
        && let Step::Bad(cause) = {
            flips::correct_served(&site.store);
            step()
        }
    {
        damage::check_after_bad_page(site, &cause);
        *scrub = None;
    }
}

/// A repeated walk over the local backups.
#[derive(Default)]
struct Backups {
    left: VecDeque<PathBuf>,
    open: Option<OpenFile>,
    /// The CRCs of the files that matched their manifests.
    known: HashMap<PathBuf, u32>,
    /// The first backup that this walk found damaged.
    damaged: Option<String>,
}

/// A file of a backup that is being read.
struct OpenFile {
    path: PathBuf,
    file: File,
    sum: crc32fast::Hasher,
    /// The digest so far, and that of the manifest, for a file whose CRC is not known.
    expected: Option<(FileDigester, FileDigest)>,
}

impl Backups {
    /// Reads `bytes` bytes of the backups.
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
                    open.expected.iter_mut().for_each(|(digester, _)| digester.add(&chunk[..read]));
                    left = left.saturating_sub(read);
                }
                Err(_) => {
                    let path = self.open.take().expect("it is open").path;
                    self.note(&path, false);
                }
            }
        }
    }

    fn begin(&mut self, path: &Path) {
        let wanted = || {
            let manifest = Backup::read(Target::directory(path.parent()?.to_owned())).ok()?.manifest;
            let name = path.file_name()?.to_str()?;
            manifest.digests().find(|(object, _)| object.to_string() == name).map(|(_, digest)| digest.clone())
        };
        let expected = match self.known.contains_key(path) {
            true => None,
            false => match wanted() {
                Some(wanted) => Some((FileDigest::begin(), wanted)),
                None => return self.note(path, false),
            },
        };
        match crate::files::open(path) {
            Ok(file) => {
                self.open = Some(OpenFile { path: path.to_owned(), file, sum: crc32fast::Hasher::new(), expected });
            }
            Err(_) => self.note(path, false),
        }
    }

    /// Checks a file that was read to its end.
    fn finish(&mut self, OpenFile { path, sum, expected, .. }: OpenFile) {
        let sum = sum.finalize();
        match expected {
            Some((digester, wanted)) => {
                let is_sound = digester.end() == wanted;
                if is_sound {
                    self.known.insert(path.clone(), sum);
                }
                self.note(&path, is_sound);
            }
            None if self.known.get(&path) == Some(&sum) => {}
            // The CRC has changed: the file is read again and compared with its manifest.
            None => {
                self.known.remove(&path);
                self.left.push_front(path);
            }
        }
    }

    /// Stores the name of a damaged backup, unless the backup was removed meanwhile.
    fn note(&mut self, file: &Path, is_sound: bool) {
        let backup = file.parent().unwrap_or(file);
        if !is_sound && backup.exists() && self.damaged.is_none() {
            self.damaged = Some(backup.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }

    /// Reports the damage of this walk, and starts the next.
    fn end(&mut self, site: &Site) {
        let dir = &site.config.data;
        let backup_store = local_store(dir);
        let Listing { backups, unreadable, .. } = backup_store.listing();
        let changed = match self.damaged.take().or(unreadable.into_iter().next().map(|(name, _)| name)) {
            Some(name) => {
                let is_new = alarm::find(dir, alarm::Kind::SpoiltBackup).is_none_or(|alarm| alarm.cause != name);
                if is_new {
                    tracing::error!(backup = name, "a backup is damaged");
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
            let dir = backup_store.dir().join(backup.name());
            backup.manifest.digests().map(|(object, _)| dir.join(object.to_string())).collect::<Vec<_>>()
        };
        self.left = backups.into_iter().flat_map(files).collect();
        let left = &self.left;
        self.known.retain(|path, _| left.contains(path));
    }
}

#[cfg(test)]
mod tests;
