//! The data directory: one database and the site key, locked by one process at a time.

use crate::files;
use rustix::fs::{Access, AtFlags, FlockOperation};
use rustix::io::Errno;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// File systems on which locks and shared memory are not reliable, so that SQLite corrupts its database there.
const UNSOUND: [(i64, &str); 7] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x0bd0_0bd0, "Lustre"),
];

/// SQLite's WAL index grows by parts of this size.
const INDEX_PART_BYTES: u64 = 32 * 1024;
/// The bytes of the WAL that one part of the index covers.
const WAL_BYTES_PER_INDEX_PART: u64 = 4062 * 4096;

const ACT_AS_OWNER: &str = "; run this as the user who owns the directory, or as root";

/// A data directory that this process has locked, until the value is dropped.
pub struct DataDir {
    dir: PathBuf,
    lock_file: File,
}

/// Why a directory cannot be locked.
#[derive(Debug)]
pub enum LockError {
    /// Another process has the lock: a running server, most often.
    InUse,
    /// The reason in one line, with what to do.
    Unusable(String),
}

impl DataDir {
    /// Locks an existing directory.
    pub fn lock(dir: &Path) -> Result<DataDir, LockError> {
        let shown = dir.display();
        let lock_file = files::open_dir(dir).map_err(|e| {
            LockError::Unusable(match e.kind() {
                ErrorKind::NotADirectory => format!("the data directory {shown} is not a directory"),
                ErrorKind::PermissionDenied => format!("cannot open the data directory {shown}: {e}{ACT_AS_OWNER}"),
                _ => format!("cannot open the data directory {shown}: {e}"),
            })
        })?;
        // The database may be a link to another disk.
        for path in [Some(dir.to_owned()), Some(database(dir)).filter(|path| path.exists())].into_iter().flatten() {
            if let Some(name) = unsound(file_system(&path).map_err(LockError::Unusable)?) {
                return Err(LockError::Unusable(format!(
                    "{} is on {name}, which corrupts databases: put the data directory on a local disk",
                    path.display()
                )));
            }
        }
        rustix::fs::flock(&lock_file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => LockError::InUse,
            _ => {
                LockError::Unusable(format!("cannot lock the data directory {shown}: {}", std::io::Error::from(error)))
            }
        })?;
        Ok(DataDir { dir: dir.to_owned(), lock_file })
    }

    /// Creates the directory (mode 0700) where it is missing, and locks it.
    pub fn create(dir: &Path) -> Result<DataDir, LockError> {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let make = || {
            std::fs::create_dir_all(parent)?;
            std::fs::DirBuilder::new().mode(0o700).create(dir)?;
            // The directory's name must be on the disk before anything in it.
            File::open(parent)?.sync_all()
        };
        if !dir.exists() {
            make()
                .map_err(|e| LockError::Unusable(format!("cannot make the data directory {}: {e}", dir.display())))?;
        }
        DataDir::lock(dir)
    }

    /// The data directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        database(&self.dir)
    }

    /// The key file.
    pub fn key(&self) -> PathBuf {
        key(&self.dir)
    }

    /// The file of a new site key, while sealed values of the database are still sealed by the old one.
    pub(crate) fn next_key(&self) -> PathBuf {
        self.dir.join("site.key.next")
    }

    /// Replaces the site key by the new one.
    pub(crate) fn take_next_key(&self) -> std::io::Result<()> {
        std::fs::rename(self.next_key(), self.key())?;
        self.flush()
    }

    /// What the directory has of a site besides the database, as words of a sentence: `its key`, `its log` (the WAL, unless
    /// empty), `its backups`.
    pub(crate) fn remains(&self) -> Vec<&'static str> {
        let wal_bytes = std::fs::metadata(wal(&self.dir)).map_or(0, |wal| wal.len());
        let has_backups = std::fs::read_dir(self.dir.join("backups")).is_ok_and(|mut backups| backups.next().is_some());
        let found = [("its key", self.key().exists()), ("its log", wal_bytes > 0), ("its backups", has_backups)];
        found.into_iter().filter(|(_, exists)| *exists).map(|(name, _)| name).collect()
    }

    /// The error for a directory without a database. It proposes a new site only where no other file of a site lies
    /// there.
    pub(crate) fn without_database(&self) -> String {
        let (dir, remains) = (self.dir.display(), self.remains().join(", "));
        if standby_copy(&self.dir).exists() {
            return format!(
                "{dir} has a standby's copy and no site: once the main machine is lost or stopped, `tunneldesk promote` makes the copy the site"
            );
        }
        if remains.is_empty() {
            return format!(
                "there is no site in {dir}: make one with `tunneldesk init`, or look at one with `tunneldesk serve --demo`"
            );
        }
        format!(
            "the database of the site in {dir} is missing, and {remains} are there: put a backup in its place with `tunneldesk restore`"
        )
    }

    /// The error for a database without a site, which an interrupted `init` leaves.
    pub(crate) fn without_site(&self) -> String {
        let database = self.database();
        let next = match self.remains().contains(&"its backups") {
            true => "put a backup in its place with `tunneldesk restore`",
            false => "run `tunneldesk init` again",
        };
        format!("{} was not finished by `tunneldesk init`: {next}", database.display())
    }

    /// The error for something else than a file in the place of one, such as a pipe or a directory.
    pub(crate) fn check_kinds(&self) -> Result<(), String> {
        let sqlite = [database, wal, wal_index, page_checksums].map(|path| path(&self.dir));
        let ours = [wal_mark, damage_marker, reserve, key, signing_key].map(|path| path(&self.dir));
        let mut all = sqlite.into_iter().chain(ours).chain([self.next_key()]);
        let obstacle =
            all.find_map(|path| Some(format!("{} cannot be used: {}", path.display(), files::obstacle(&path)?)));
        obstacle.map_or(Ok(()), Err)
    }

    /// The error for a file of the site that this process may not read or write, such as one that root copied there.
    pub(crate) fn check_access(&self) -> Result<(), String> {
        let (read, write) = (Access::READ_OK, Access::READ_OK | Access::WRITE_OK);
        let files =
            [(self.database(), write), (wal(&self.dir), write), (wal_index(&self.dir), write), (self.key(), read)];
        let denied = files.iter().find(|(path, access)| is_denied(path, *access));
        denied.map_or(Ok(()), |(path, _)| Err(self.describe_denied(path)))
    }

    fn describe_denied(&self, path: &Path) -> String {
        let owner = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.uid());
        let (own, of_file, of_dir) = (rustix::process::geteuid().as_raw(), owner(path), owner(&self.dir));
        let (path, dir) = (path.display(), self.dir.display());
        match of_file {
            _ if of_file == own => format!("{path} is closed to its own user: chmod u+rw {path}"),
            _ if of_dir == own => format!(
                "{path} belongs to user {of_file}, and the data directory to user {own}: as root, chown --reference={dir} {path}"
            ),
            _ => format!("{path} is closed to user {own}{ACT_AS_OWNER}"),
        }
    }

    /// Whether the file system takes writes. A full one counts as taking them. The error: the test itself failed.
    fn takes_writes(&self) -> std::io::Result<bool> {
        let probe = self.dir.join(".writable");
        let written = files::write(&probe, b"1");
        // On a full disk the file may be created while its byte cannot be written.
        let removed = if probe.exists() { std::fs::remove_file(&probe) } else { Ok(()) };
        match written.and(removed).map_err(|e| (e.kind(), e)) {
            Ok(()) | Err((std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded, _)) => Ok(true),
            Err((std::io::ErrorKind::ReadOnlyFilesystem, _)) => Ok(false),
            Err((_, e)) => Err(e),
        }
    }

    /// Why the directory is not writable, as the end of a sentence about the disk, and what to do; `None`: it is
    /// writable.
    pub(crate) fn why_unwritable(&self) -> Option<(&'static str, &'static str)> {
        match self.takes_writes() {
            Ok(false) => Some(("takes no writes", "make it writable")),
            _ if self.has_room_for_index() => None,
            _ => Some(("has no room left", "make room")),
        }
    }

    /// Whether there is room for SQLite's WAL index. SQLite maps the index into memory; where the disk has no room for
    /// one of its pages, a process that touches the page gets SIGBUS.
    fn has_room_for_index(&self) -> bool {
        let wal_bytes = std::fs::metadata(wal(&self.dir)).map_or(0, |wal| wal.len());
        let bytes = (wal_bytes / WAL_BYTES_PER_INDEX_PART + 2) * INDEX_PART_BYTES;
        let probe = self.dir.join(".room");
        let code = match files::open_with(File::options().write(true).create(true).truncate(true), &probe) {
            // SAFETY: the descriptor is open.
            Ok(file) => unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes.cast_signed()) },
            Err(e) => e.raw_os_error().unwrap_or(0),
        };
        _ = std::fs::remove_file(&probe);
        ![libc::ENOSPC, libc::EDQUOT].contains(&code)
    }

    /// Flushes the directory's entries to the disk.
    pub fn flush(&self) -> std::io::Result<()> {
        self.lock_file.sync_all()
    }
}

/// The names of the database and of the files that belong to it, in the directory itself.
pub(crate) const DATABASE_FILES: [&str; 7] = [
    "tunneldesk.sqlite",
    "tunneldesk.sqlite-wal",
    "tunneldesk.sqlite-shm",
    "log-mark",
    "tunneldesk.sqlite-sums",
    "audit-end",
    "off-site-end",
];
/// The name of the key file.
pub(crate) const KEY: &str = "site.key";

pub(crate) fn database(dir: &Path) -> PathBuf {
    dir.join(DATABASE_FILES[0])
}

/// The WAL of a database.
pub(crate) fn wal_of(database: &Path) -> PathBuf {
    beside(database, "-wal")
}

/// A file beside the database whose name only adds to the database's. Where the database is a link, SQLite has its WAL beside
/// the file that the link leads to.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let target = if database.is_symlink() { database.canonicalize().ok() } else { None };
    let mut name = target.unwrap_or_else(|| database.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// SQLite's write-ahead log (WAL).
pub(crate) fn wal(dir: &Path) -> PathBuf {
    wal_of(&database(dir))
}

/// SQLite's rollback journal, which this program never writes: the database has a WAL.
pub(super) fn journal(dir: &Path) -> PathBuf {
    beside(&database(dir), "-journal")
}

/// SQLite's index of the WAL.
pub(crate) fn wal_index(dir: &Path) -> PathBuf {
    beside(&database(dir), "-shm")
}

/// The end of the audit log: see [`crate::ops::audit_end`].
pub(crate) fn audit_end(dir: &Path) -> PathBuf {
    dir.join("audit-end")
}

/// How far the off-site copy has come: see [`crate::ops::replication::resume`].
pub(crate) fn off_site_end(dir: &Path) -> PathBuf {
    dir.join("off-site-end")
}

/// The WAL mark: see [`super::wal_mark`].
pub(crate) fn wal_mark(dir: &Path) -> PathBuf {
    dir.join("log-mark")
}

/// The checksum file: see [`super::page_checksums`].
pub(crate) fn page_checksums(dir: &Path) -> PathBuf {
    page_checksums_of(&database(dir))
}

/// The checksum file of a database.
pub(crate) fn page_checksums_of(database: &Path) -> PathBuf {
    beside(database, "-sums")
}

/// The directory of a standby's copy of another machine's site.
pub(crate) fn standby_copy(dir: &Path) -> PathBuf {
    dir.join("standby")
}

pub(crate) fn key(dir: &Path) -> PathBuf {
    dir.join(KEY)
}

/// The private key by which the machine signs what it writes off site.
pub(crate) fn signing_key(dir: &Path) -> PathBuf {
    dir.join("signing.key")
}

/// The socket by which commands reach the running server. A killed server leaves the file behind.
pub(crate) fn control(dir: &Path) -> PathBuf {
    dir.join("control.sock")
}

/// The damage marker, which exists from the moment that damage was found until a check finds the database sound.
pub(crate) fn damage_marker(dir: &Path) -> PathBuf {
    dir.join("damaged")
}

/// The emergency reserve: see [`super::reserve`].
pub(crate) fn reserve(dir: &Path) -> PathBuf {
    dir.join("reserve")
}

/// The bytes that an unprivileged process may still write on the directory's file system.
pub(crate) fn free_bytes(dir: &Path) -> std::io::Result<u64> {
    let found = rustix::fs::statvfs(dir)?;
    Ok(found.f_bavail * found.f_frsize)
}

/// Starts writing dirty pages of the file to the disk, without waiting. Otherwise the final flush of a large file
/// writes all of it together, and readers of the disk wait that long.
pub(crate) fn begin_to_flush(file: &File) {
    // SAFETY: the descriptor is open. An error here shows again when the whole file is flushed.
    unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
}

/// The magic number of the file system that the directory is on (`statfs(2)`).
fn file_system(dir: &Path) -> Result<i64, String> {
    rustix::fs::statfs(dir).map(|found| found.f_type).map_err(|error| {
        format!("cannot look at the data directory {}: {}", dir.display(), std::io::Error::from(error))
    })
}

/// Whether this process lacks these rights to a file that exists. Opens nothing: to close the database drops SQLite's locks.
fn is_denied(path: &Path, access: Access) -> bool {
    rustix::fs::accessat(rustix::fs::CWD, path, access, AtFlags::EACCESS) == Err(Errno::ACCESS)
}

fn unsound(magic: i64) -> Option<&'static str> {
    UNSOUND.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_is_locked_once() {
        let dir = tempfile::tempdir().unwrap();
        let locked = DataDir::lock(dir.path()).unwrap();
        assert!(matches!(DataDir::lock(dir.path()), Err(LockError::InUse)));
        drop(locked);
        DataDir::lock(dir.path()).unwrap();
    }

    #[test]
    fn network_file_systems_are_recognized_and_the_local_disk_is_none() {
        assert_eq!(unsound(0x6969), Some("NFS"));
        assert_eq!(unsound(file_system(Path::new("/")).unwrap()), None);
    }

    #[test]
    fn a_new_directory_is_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::create(&dir.path().join("a/b")).unwrap();
        assert_eq!(std::fs::metadata(data_dir.dir()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
