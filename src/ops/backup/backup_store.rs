//! A backup store: a directory with backups, each in a directory of its own. The name of an unfinished one begins with a
//! dot.

use super::encrypted::{Identities, SUFFIX};
use super::manifest::{FileDigest, Manifest};
use crate::config::recipient::Recipient;
use crate::domain::retention;
use crate::ops::replication::target::Target;
use crate::store::engine::data_dir;
use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two tries to lock a backup store.
const LOCK_PAUSE: Duration = Duration::from_millis(100);
const UNFINISHED: &str = ".unfinished-";
/// How long an upgrade can be rolled back: as long as any backup is kept.
const UPGRADE_BACKUP_KEPT_SECONDS: i64 = 35 * 86_400;

/// A finished backup.
#[derive(Debug, Clone)]
pub struct Backup {
    /// Its directory, or its folder in a bucket.
    pub(crate) at: Target,
    pub(crate) manifest: Manifest,
}

pub(crate) struct BackupStore {
    dir: PathBuf,
}

/// The lock of a backup store, with which backups are added and removed. Given back when it is dropped.
pub(crate) struct BackupStoreLock<'s> {
    backup_store: &'s BackupStore,
    file: File,
}

/// All that lies in a backup store.
#[derive(Default)]
pub(crate) struct Listing {
    /// The finished backups, newest first.
    pub backups: Vec<Backup>,
    /// The names of backups that cannot be read, and why; the newest name first.
    pub unreadable: Vec<(String, String)>,
}

/// The backups that pruning keeps whatever their age.
#[derive(Debug, Clone)]
pub(crate) struct PruneExceptions {
    /// The name of the last backup that a drill restored.
    pub proven: Option<String>,
    /// Backups made before this moment ([`crate::clock::Clock::judged_from`]).
    pub made_before: i64,
}

impl Backup {
    /// Reads the manifest of the backup in this directory or folder.
    pub(crate) fn read(at: Target) -> Result<Backup, String> {
        Ok(Backup { manifest: Manifest::read(&at)?, at })
    }

    pub(crate) fn name(&self) -> String {
        self.at.name()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        !self.manifest.encrypted.is_empty()
    }

    /// Sorts older backups first; those of one second by the number in their names.
    pub(crate) fn age_order(&self) -> (i64, usize, String) {
        let name = self.name();
        (self.manifest.made_at, name.len(), name)
    }

    /// Copies the files into a directory, compares their digests with the manifest, and flushes them. `keys` open encrypted
    /// ones. `progress` gets bytes done and in all.
    pub(crate) fn copy_to(
        &self,
        dir: &Path,
        keys: Option<&Identities>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), String> {
        let (mut done, all) = (0, self.manifest.bytes());
        for (name, digest) in &self.manifest.files {
            let to = dir.join(name);
            let failed = |e: io::Error| format!("cannot write {}: {e}", to.display());
            let file = new_file(&to).map_err(failed)?;
            let mut tell = |bytes| {
                data_dir::begin_to_flush(&file);
                done += bytes;
                progress(done, all);
            };
            let (from, copied) = if self.is_encrypted() {
                let sealed = format!("{name}{SUFFIX}");
                let keys = keys.ok_or_else(|| format!("{} is encrypted: give --identity FILE", self.at))?;
                let opened = keys.decrypt(&self.at, &sealed, &mut &file, &mut tell)?;
                (self.at.within(&sealed), opened)
            } else {
                let from = self.at.within(name);
                let failed = |e: io::Error| format!("cannot copy {from} to {}: {e}", to.display());
                let mut opened = self.at.open(name).map_err(failed)?;
                let copied = FileDigest::of_reader(&mut opened, &mut &file, &mut tell).map_err(failed)?;
                (from, copied)
            };
            if copied != *digest {
                return Err(format!(
                    "{from} is damaged: its digest is not the one in the manifest; `tunneldesk backup list` shows other backups"
                ));
            }
            file.sync_all().map_err(failed)?;
        }
        Ok(())
    }

    /// Writes the files into a directory, encrypted, and returns the manifest of that copy. `progress` gets bytes done and in
    /// all.
    pub(crate) fn encrypt_to(
        &self,
        dir: &Path,
        recipient: &Recipient,
        progress: &mut dyn FnMut(u64, u64),
    ) -> io::Result<Manifest> {
        let (mut done, all) = (0, self.manifest.bytes());
        let mut manifest = self.manifest.clone();
        for name in self.manifest.files.keys() {
            let sealed = format!("{name}{SUFFIX}");
            let mut tell = |bytes| {
                done += bytes;
                progress(done, all);
            };
            let file = new_file(&dir.join(&sealed))?;
            let mut to = BufWriter::new(&file);
            let digest = recipient.encrypt(&mut self.at.open(name)?, &mut to, &mut |bytes| {
                data_dir::begin_to_flush(&file);
                tell(bytes);
            })?;
            to.flush()?;
            file.sync_all()?;
            manifest.encrypted.insert(sealed, digest);
        }
        Ok(manifest)
    }
}

impl Listing {
    /// Newest first.
    pub(crate) fn sorted(mut self) -> Listing {
        self.backups.sort_by_cached_key(|backup| Reverse(backup.age_order()));
        self.unreadable.sort_unstable_by(|a, b| b.cmp(a));
        self
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

impl BackupStore {
    pub(crate) fn new(dir: PathBuf) -> BackupStore {
        BackupStore { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// All that lies there. Directories without a manifest are no backups.
    pub(crate) fn listing(&self) -> Listing {
        let mut listing = Listing::default();
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let (name, dir) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            if name.starts_with('.') {
                continue;
            }
            let has_manifest = || dir.join(super::manifest::NAME).exists();
            match Backup::read(Target::Directory(dir.clone())) {
                Ok(backup) => listing.backups.push(backup),
                Err(why) if has_manifest() => listing.unreadable.push((name, why)),
                Err(_) => {}
            }
        }
        listing.sorted()
    }

    /// The finished backups, newest first.
    pub(crate) fn list(&self) -> Vec<Backup> {
        self.listing().backups
    }

    /// The newest backup that was not made before an upgrade. A backup from after `now` was made by a wrong clock, and must
    /// not keep the next ones from being due.
    pub(crate) fn newest(&self, now: i64) -> Option<Backup> {
        let counts = |backup: &Backup| backup.manifest.upgrade.is_none() && backup.manifest.made_at <= now;
        self.list().into_iter().find(counts)
    }

    /// The backups that were made before an upgrade, newest first.
    pub(crate) fn before_upgrades(&self) -> Vec<Backup> {
        self.list().into_iter().filter(|backup| backup.manifest.upgrade.is_some()).collect()
    }

    /// Locks the directory, which is made where it is missing, and removes what a killed backup left: otherwise there might be
    /// no room for another. The error: another process or thread has the lock.
    pub(crate) fn lock(&self) -> Result<BackupStoreLock<'_>, String> {
        let failed = |e: io::Error| format!("cannot write to {}: {e}", self.dir.display());
        make_dir(&self.dir).map_err(failed)?;
        let file = crate::files::open_dir(&self.dir).map_err(failed)?;
        // SAFETY: the descriptor is open for as long as `file` lives.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            return Err(format!("a backup to {} is in progress: wait for it", self.dir.display()));
        }
        self.remove_unfinished();
        Ok(BackupStoreLock { backup_store: self, file })
    }

    fn remove_unfinished(&self) {
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                let removed = std::fs::remove_dir_all(entry.path());
                _ = removed.inspect_err(|e| tracing::warn!(cause = %e, "an unfinished backup is not removed"));
            }
        }
    }

    /// Whether a backup or a drill has the lock now.
    pub(crate) fn is_locked(&self) -> bool {
        // SAFETY: the descriptor is open for as long as `dir` lives, and releases the lock with it.
        let is_locked = |dir: File| unsafe { libc::flock(dir.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } != 0;
        crate::files::open_dir(&self.dir).is_ok_and(is_locked)
    }

    /// [`BackupStore::lock`], tried again for so long.
    pub(crate) fn lock_within(&self, timeout: Duration) -> Result<BackupStoreLock<'_>, String> {
        let mut left = timeout;
        loop {
            match self.lock() {
                Err(_) if !left.is_zero() => {
                    std::thread::sleep(LOCK_PAUSE);
                    left = left.saturating_sub(LOCK_PAUSE);
                }
                locked => return locked,
            }
        }
    }
}

impl BackupStoreLock<'_> {
    pub(crate) fn backup_store(&self) -> &BackupStore {
        self.backup_store
    }

    /// An empty directory for a new backup.
    pub(crate) fn start(&self, name: &str) -> io::Result<PathBuf> {
        let dir = self.backup_store.dir.join(format!("{UNFINISHED}{name}"));
        make_dir(&dir).map(|()| dir)
    }

    /// Flushes the directory and gives it a backup's name; a number is added where the name is taken.
    pub(crate) fn finish(&self, unfinished: &Path, name: &str) -> io::Result<PathBuf> {
        File::open(unfinished)?.sync_all()?;
        let free = |number: u32| match number {
            1 => self.backup_store.dir.join(name),
            number => self.backup_store.dir.join(format!("{name}-{number}")),
        };
        let dir = (1..).map(free).find(|dir| !dir.exists()).expect("some name is free");
        std::fs::rename(unfinished, &dir)?;
        self.file.sync_all().map(|()| dir)
    }

    /// Removes the [`outlived`] backups, and returns how many.
    pub(crate) fn prune(&self, now: i64, exceptions: &PruneExceptions) -> io::Result<usize> {
        let old = outlived(self.backup_store.list(), now, exceptions);
        for backup in &old {
            // Renamed first: a removal that is cut off must not leave half a backup under a good name.
            let going = self.backup_store.dir.join(format!("{UNFINISHED}{}", backup.name()));
            std::fs::rename(self.backup_store.dir.join(backup.name()), &going)?;
            std::fs::remove_dir_all(&going)?;
        }
        Ok(old.len())
    }
}

/// The backups that need not be kept any more. `all`: newest first. Of those made before an upgrade the newest of each schema
/// is kept for a while, so that the upgrade can be rolled back.
pub(crate) fn outlived(all: Vec<Backup>, now: i64, exceptions: &PruneExceptions) -> Vec<Backup> {
    let (upgrade_backups, backups): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|backup| backup.manifest.upgrade.is_some());
    let made: Vec<i64> = backups.iter().map(|backup| backup.manifest.made_at).collect();
    let kept = retention::kept(&made, now, exceptions.made_before);
    let mut old: Vec<_> = backups.into_iter().zip(kept).filter(|(_, keep)| !keep).map(|(backup, _)| backup).collect();
    let is_over = |i: usize| {
        let (manifest, newer) = (&upgrade_backups[i].manifest, &upgrade_backups[..i]);
        (manifest.made_at < now - UPGRADE_BACKUP_KEPT_SECONDS && manifest.made_at >= exceptions.made_before)
            || newer.iter().any(|newer| newer.manifest.schema == manifest.schema)
    };
    old.extend((0..upgrade_backups.len()).filter(|i| is_over(*i)).map(|i| upgrade_backups[i].clone()));
    old.retain(|backup| exceptions.proven.as_deref() != Some(&*backup.name()));
    old
}

/// Makes a directory that only its owner can enter.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay(backup_store: &BackupStore, name: &str, made_at: i64) {
        let backup = backup_store.dir.join(name);
        make_dir(&backup).unwrap();
        Manifest::blank(made_at).write(&backup).unwrap();
    }

    #[test]
    fn of_backups_made_in_one_second_the_one_with_the_highest_number_is_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let backup_store = BackupStore::new(dir.path().to_owned());
        for name in ["day-2", "day", "day-10"] {
            lay(&backup_store, name, 100);
        }
        lay(&backup_store, "earlier-30", 99);
        let names: Vec<String> = backup_store.list().iter().map(Backup::name).collect();
        assert_eq!(names, ["day-10", "day-2", "day", "earlier-30"]);
    }

    #[test]
    fn what_a_killed_backup_left_takes_no_room_from_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let backup_store = BackupStore::new(dir.path().to_owned());
        let left = backup_store.lock().unwrap().start("day").unwrap();
        lay(&backup_store, "earlier", 99);
        drop(backup_store.lock().unwrap());
        assert!(!left.exists());
        assert_eq!(backup_store.list().len(), 1);
    }

    #[test]
    fn a_backup_from_the_future_is_not_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let backup_store = BackupStore::new(dir.path().to_owned());
        for made_at in [100, 200, 900_000] {
            lay(&backup_store, &made_at.to_string(), made_at);
        }
        let newest = |now| backup_store.newest(now).map(|backup| backup.manifest.made_at);
        assert_eq!([newest(99), newest(300), newest(900_000)], [None, Some(200), Some(900_000)]);
    }
}
