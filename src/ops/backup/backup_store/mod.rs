//! A backup store: a directory with backups, each in a folder of its own. A folder has its name from the beginning and gets its manifest last:
//! without a complete manifest it is no backup.

pub(crate) mod manifest_file;
mod pruning;

use super::encrypted::Identities;
use super::manifest::{Manifest, ManifestError};
use super::manifest_signature::ErasedMark;
use crate::config::recipient::Recipient;
use crate::moment::Moment;
use crate::ops::digest::FileDigest;
use crate::ops::outside::Dir;
use crate::ops::outside::object::{BackupName, FolderName, Object, SiteFile, file_stamp};
use crate::ops::replication::target::Target;
use crate::ops::signature::Signer;
use crate::store::engine::data_dir;
use rustix::fs::FlockOperation;
use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use pruning::{PruneExceptions, outlived, outlived_off_site};

/// Backups that are read in one store, at most: more than a dozen sites keep.
const BACKUPS_MAX: usize = 2_000;
/// Backups of one name, at most.
const NUMBERS_MAX: u32 = 1_000;
/// Between two tries to lock a backup store.
const LOCK_PAUSE: Duration = Duration::from_millis(100);
/// The beginning of the names that earlier versions gave to unfinished backups.
const UNFINISHED: &str = ".unfinished-";
/// How long an unfinished backup is kept in a backup store that others use too: another machine may be making it.
pub(crate) const UNFINISHED_KEPT_SECONDS: i64 = 86_400;
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
    dir: Dir,
}

/// A backup that is being made. Its folder is removed when it is dropped before its end.
pub(crate) struct NewBackup<'l> {
    lock: &'l BackupStoreLock<'l>,
    name: BackupName,
    dir: Dir,
    is_finished: bool,
}

/// All that lies in a backup store.
#[derive(Default)]
pub(crate) struct Listing {
    /// The finished backups, newest first.
    pub backups: Vec<Backup>,
    /// The names of backups that cannot be read, and why; the newest name first.
    pub unreadable: Vec<(String, String)>,
    /// The names of those that were never finished, or are being made.
    pub unfinished: Vec<BackupName>,
}

impl Backup {
    /// Reads the manifest of the backup in this directory or folder.
    pub(crate) fn read(at: Target) -> Result<Backup, ManifestError> {
        Ok(Backup { manifest: manifest_file::read(&at)?, at })
    }

    /// Reads the manifest in a directory that a person named, and may have renamed.
    pub(crate) fn read_given(at: Target) -> Result<Backup, ManifestError> {
        Ok(Backup { manifest: manifest_file::read_named(&at, None)?, at })
    }

    pub(crate) fn name(&self) -> String {
        self.at.name()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        !self.manifest.encrypted.is_empty()
    }

    /// Sorts older backups first; those of one second by the number in their names.
    pub(crate) fn age_order(&self) -> (Moment, usize, String) {
        let name = self.name();
        (self.manifest.made_at, name.len(), name)
    }

    /// Copies the files into a directory, compares their digests with the manifest, and flushes them. `keys` open encrypted
    /// ones. `progress` gets bytes done and in all.
    pub(crate) fn copy_to(
        &self,
        dir: &Dir,
        keys: Option<&Identities>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), String> {
        let (mut done, all) = (0, self.manifest.bytes());
        for (file, digest) in &self.manifest.files {
            let failed = |e: io::Error| format!("cannot write {}: {e}", Object::Site(*file));
            let to = dir.create(&Object::Site(*file).to_string()).map_err(failed)?;
            let mut tell = |bytes| {
                data_dir::begin_to_flush(&to);
                done += bytes;
                progress(done, all);
            };
            let (from, copied) = if self.is_encrypted() {
                let (sealed, keys) = (Object::Sealed(file.sealed()), keys);
                let keys = keys.ok_or_else(|| format!("{} is encrypted: give --identity FILE", self.at))?;
                let bytes_max = self.manifest.encrypted.get(&file.sealed()).map_or(0, |digest| digest.bytes);
                let opened = keys.decrypt(&self.at, sealed, bytes_max, &mut &to, &mut tell);
                (self.at.shown(sealed), opened?)
            } else {
                let from = self.at.shown(Object::Site(*file));
                let failed = |e: io::Error| format!("cannot copy {from}: {e}");
                let mut opened = self.open(*file).map_err(failed)?;
                let copied = FileDigest::of_reader(&mut opened, &mut &to, &mut tell).map_err(failed)?;
                (from, copied)
            };
            if copied != *digest {
                return Err(format!("{from} is damaged: its digest is not the one in the manifest"));
            }
            to.sync_all().map_err(failed)?;
        }
        Ok(())
    }

    /// Opens a file that is not encrypted, of the size in the manifest.
    pub(crate) fn open(&self, file: SiteFile) -> io::Result<Box<dyn Read>> {
        let bytes_max = self.manifest.files.get(&file).map_or(0, |digest| digest.bytes);
        self.at.open(Object::Site(file), bytes_max)
    }

    /// Writes the files into a directory, encrypted, and returns the manifest of that copy. `progress` gets bytes done and in
    /// all.
    pub(crate) fn encrypt_to(
        &self,
        dir: &Dir,
        recipient: &Recipient,
        progress: &mut dyn FnMut(u64, u64),
    ) -> io::Result<Manifest> {
        let (mut done, all) = (0, self.manifest.bytes());
        let mut manifest = self.manifest.clone();
        for file in self.manifest.files.keys() {
            let mut tell = |bytes| {
                done += bytes;
                progress(done, all);
            };
            let sealed = dir.create(&Object::Sealed(file.sealed()).to_string())?;
            let mut to = BufWriter::new(&sealed);
            let digest = recipient.encrypt(&mut self.open(*file)?, &mut to, &mut |bytes| {
                data_dir::begin_to_flush(&sealed);
                tell(bytes);
            })?;
            to.flush()?;
            drop(to);
            sealed.sync_all()?;
            manifest.encrypted.insert(file.sealed(), digest);
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

/// The backup store in the data directory.
pub(crate) fn local_store(site_dir: &Path) -> BackupStore {
    BackupStore::new(site_dir.join("backups"))
}

impl BackupStore {
    pub(crate) fn new(dir: PathBuf) -> BackupStore {
        BackupStore { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Why nothing could be written there, in one line.
    pub(crate) fn write_error(&self, e: &io::Error) -> String {
        format!("cannot write to {}: {e}", self.dir.display())
    }

    pub(crate) fn target(&self) -> Target {
        Target::directory(self.dir.clone())
    }

    /// All that lies there.
    pub(crate) fn listing(&self) -> Listing {
        let (mut listing, target) = (Listing::default(), self.target());
        for name in newest_names(Dir::root(&self.dir).and_then(|dir| dir.names()).unwrap_or_default()) {
            let at = target.backup(&name);
            let has_manifest = || matches!(at.bytes_of(Object::Manifest), Ok(Some(_)));
            match Backup::read(at.clone()) {
                Ok(backup) => listing.backups.push(backup),
                Err(ManifestError::Unfinished(_)) => listing.unfinished.push(name),
                Err(ManifestError::Unreadable(why)) if name.is_stamp() || has_manifest() => {
                    listing.unreadable.push((name.as_str().to_owned(), why))
                }
                // No backup.
                Err(ManifestError::Unreadable(_)) => {}
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
    pub(crate) fn newest(&self, now: Moment) -> Option<Backup> {
        let counts = |backup: &Backup| backup.manifest.upgrade.is_none() && backup.manifest.made_at <= now;
        self.list().into_iter().find(counts)
    }

    /// The backups that were made before an upgrade, newest first.
    pub(crate) fn before_upgrades(&self) -> Vec<Backup> {
        self.list().into_iter().filter(|backup| backup.manifest.upgrade.is_some()).collect()
    }

    /// Locks the directory. The error: another process or thread has the lock.
    pub(crate) fn lock(&self) -> Result<BackupStoreLock<'_>, String> {
        let dir = Dir::root(&self.dir).map_err(|e| self.write_error(&e))?;
        let in_progress = |_| format!("a backup to {} is in progress: wait for it", self.dir.display());
        dir.lock().map_err(in_progress)?;
        Ok(BackupStoreLock { backup_store: self, dir })
    }

    /// Locks the store of a data directory. The store is made where it is missing, and what a killed backup left is removed:
    /// otherwise there might be no room for another.
    pub(crate) fn lock_own(&self) -> Result<BackupStoreLock<'_>, String> {
        make_dir(&self.dir).map_err(|e| self.write_error(&e))?;
        let lock = self.lock()?;
        lock.remove_unfinished(Moment::LAST);
        Ok(lock)
    }

    /// Whether a backup or a drill has the lock now.
    pub(crate) fn is_locked(&self) -> bool {
        let is_locked = |dir: File| rustix::fs::flock(&dir, FlockOperation::NonBlockingLockShared).is_err();
        crate::files::open_dir(&self.dir).is_ok_and(is_locked)
    }

    /// [`BackupStore::lock_own`], tried again for so long.
    pub(crate) fn lock_within(&self, timeout: Duration) -> Result<BackupStoreLock<'_>, String> {
        let mut left = timeout;
        loop {
            match self.lock_own() {
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

    /// Begins a new backup; a number is added where the name is taken.
    pub(crate) fn begin(&self, name: &BackupName) -> io::Result<NewBackup<'_>> {
        for number in 1.. {
            let name = name.numbered(number);
            match self.dir.make_folder(name.as_str()) {
                Ok(dir) => return Ok(NewBackup { lock: self, name, dir, is_finished: false }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < NUMBERS_MAX => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Removes the [`outlived`] backups, and returns how many.
    pub(crate) fn prune(&self, now: Moment, exceptions: &PruneExceptions) -> io::Result<usize> {
        self.remove_all(&outlived(self.backup_store.list(), now, exceptions))
    }

    pub(crate) fn remove_all(&self, old: &[Backup]) -> io::Result<usize> {
        old.iter().try_for_each(|backup| self.remove(&backup.name()))?;
        Ok(old.len())
    }

    /// Removes a backup. The manifest goes first: a removal that is cut off must not leave half a backup.
    fn remove(&self, name: &str) -> io::Result<()> {
        let folder = self.dir.folder(name)?;
        folder.remove(&Object::Manifest.to_string())?;
        folder.flush()?;
        self.dir.remove_folder(name)
    }

    /// Removes the ticks of a base.
    pub(crate) fn remove_ticks(&self, base: &Backup) -> io::Result<()> {
        self.dir.folder(&base.name())?.remove_folder(&FolderName::Ticks.to_string())
    }

    /// Removes the unfinished backups that were begun before that moment.
    pub(crate) fn remove_unfinished(&self, before: Moment) {
        let before = if before == Moment::LAST { None } else { Some(file_stamp(before)) };
        let is_old = |name: &str| before.as_deref().is_none_or(|before| name < before);
        let unfinished = self.backup_store.listing().unfinished;
        let ours = unfinished.iter().filter(|name| name.is_stamp() && is_old(name.as_str())).map(BackupName::as_str);
        let names = self.dir.names().unwrap_or_default();
        let of_earlier_versions = names.iter().filter(|name| name.starts_with(UNFINISHED)).map(String::as_str);
        for name in ours.chain(of_earlier_versions) {
            let removed = self.dir.remove_folder(name);
            _ = removed.inspect_err(|e| tracing::warn!(name, cause = %e, "an unfinished backup is not removed"));
        }
    }
}

impl NewBackup<'_> {
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.lock.backup_store.dir.join(self.name.as_str())
    }

    /// Signs the manifest, and writes it behind the flushed files.
    pub(crate) fn finish(
        mut self,
        manifest: &Manifest,
        signer: &Signer,
        erased: Option<ErasedMark>,
    ) -> io::Result<Backup> {
        let manifest = manifest.signed(self.name.as_str(), signer, erased);
        self.dir.flush()?;
        let mut file = self.dir.create(&Object::Manifest.to_string())?;
        file.write_all(manifest.text().as_bytes())?;
        file.sync_all()?;
        self.dir.flush()?;
        self.lock.dir.flush()?;
        self.is_finished = true;
        Ok(Backup { at: self.lock.backup_store.target().backup(&self.name), manifest })
    }
}

impl Drop for NewBackup<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            _ = self.lock.remove(self.name.as_str());
        }
    }
}

/// The names of backups among others, the newest first, and no more of them than a store is read for.
pub(crate) fn newest_names(names: Vec<String>) -> Vec<BackupName> {
    let mut names: Vec<BackupName> = names.iter().filter_map(|name| BackupName::parse(name)).collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    names.truncate(BACKUPS_MAX);
    names
}

/// Makes a directory that only its owner can enter.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

#[cfg(test)]
mod tests;
