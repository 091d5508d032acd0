//! What lies outside: files of a share, a stick or a bucket that others may write.
//!
//! Nothing there is trusted. The name of each file is computed ([`object`]), never read. A directory is opened folder by folder
//! below a root that a person named, and never through a link; the root is opened anew for each operation, because a handle
//! that stays would outlive a remount. Files alone are read, no more bytes than were there, and no more than the caller allows.
//! What is written is new.

pub(crate) mod object;

use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Names that are listed in one folder, at most: more than any folder of a site has.
const NAMES_MAX: usize = 1_000_000;
/// A backup has a folder for its ticks, which has none.
const FOLDERS_DEEP: u32 = 2;

/// See [`crate::ops::replication::Fault::Links`].
pub(crate) static FOLLOWS_LINKS: AtomicBool = AtomicBool::new(false);
/// In tests: see [`Dir::is_hanging_in_tests`].
const HANGING: &str = ".hanging";

/// An open directory.
pub(crate) struct Dir(OwnedFd);

impl Dir {
    /// Opens a root: a directory that a person named, perhaps by way of links.
    pub(crate) fn root(path: &Path) -> io::Result<Dir> {
        Ok(Dir(fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    pub(crate) fn folder(&self, name: &str) -> io::Result<Dir> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = fs::openat(&self.0, component(name)?, flags, Mode::empty());
        opened.map(Dir).map_err(|e| self.refusal(name, e, "a folder"))
    }

    /// Makes a folder. [`io::ErrorKind::AlreadyExists`]: the name is taken.
    pub(crate) fn make_folder(&self, name: &str) -> io::Result<Dir> {
        fs::mkdirat(&self.0, component(name)?, Mode::RWXU)?;
        self.flush()?;
        self.folder(name)
    }

    /// Opens a file for reading. The error: it is larger than that, or something else than a file.
    pub(crate) fn open(&self, name: &str, bytes_max: u64) -> io::Result<io::Take<File>> {
        let file = self.file(name, OFlags::RDONLY)?;
        let bytes = file.metadata()?.len();
        match bytes <= bytes_max {
            true => Ok(file.take(bytes)),
            false => Err(too_large(bytes_max)),
        }
    }

    /// Creates a file. [`io::ErrorKind::AlreadyExists`]: the name is taken.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        if self.is_hanging_in_tests(HANGING) {
            _ = fs::openat(&self.0, HANGING, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(fs::openat(&self.0, component(name)?, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Opens a file to add to its end, and creates it where it is missing. A file with a second name may be one of another
    /// directory.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        match self.create(name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created,
        }
        let file = self.file(name, OFlags::WRONLY | OFlags::APPEND)?;
        match file.metadata()?.nlink() {
            0 | 1 => Ok(file),
            _ => Err(invalid("the file has a second name: remove it")),
        }
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let name = component(name)?;
        let follows = FOLLOWS_LINKS.load(Ordering::Relaxed);
        let flags = flags | OFlags::CLOEXEC | if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        let waits = self.is_hanging_in_tests(name);
        let unblocked = if waits { OFlags::empty() } else { OFlags::NONBLOCK };
        let opened = match fs::openat(&self.0, name, flags | unblocked, Mode::empty()) {
            // Another program has a lease of the file, and gives it back.
            Err(Errno::WOULDBLOCK) if self.kind_of(name) == Some(FileType::RegularFile) => {
                fs::openat(&self.0, name, flags, Mode::empty())
            }
            opened => opened,
        };
        let file: File = opened.map_err(|e| self.refusal(name, e, "a file"))?.into();
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(self.refusal(name, Errno::INVAL, "a file")),
        }
    }

    /// The size of a file. `None`: there is none of that name.
    pub(crate) fn bytes_of(&self, name: &str) -> io::Result<Option<u64>> {
        match fs::statat(&self.0, component(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(is_kind(&found, FileType::RegularFile).then_some(found.st_size.cast_unsigned())),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// All names in the directory that are text.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.0)? {
            if names.len() == NAMES_MAX {
                return Err(invalid("there are too many files in it"));
            }
            names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
        }
        names.retain(|name| component(name).is_ok());
        Ok(names)
    }

    /// Removes a file, or what is in its place. Nothing is done where nothing is there.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        gone(fs::unlinkat(&self.0, component(name)?, AtFlags::empty()))
    }

    /// Removes a folder and all that is in it; a link in its place alone.
    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        self.remove_below(name, FOLDERS_DEEP)
    }

    fn remove_below(&self, name: &str, deep: u32) -> io::Result<()> {
        if self.kind_of(component(name)?) != Some(FileType::Directory) {
            return self.remove(name);
        }
        if deep == 0 {
            return Err(invalid("a folder is in a place where none belongs: remove it"));
        }
        let folder = self.folder(name)?;
        folder.names()?.iter().try_for_each(|inner| folder.remove_below(inner, deep - 1))?;
        gone(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR))
    }

    /// Flushes the names in it to the disk.
    pub(crate) fn flush(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }

    /// Locks the directory until it is dropped. The error: another process or thread has the lock.
    pub(crate) fn lock(&self) -> io::Result<()> {
        Ok(fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive)?)
    }

    fn kind_of(&self, name: &str) -> Option<FileType> {
        let found = fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(found.st_mode))
    }

    /// Why something is not opened, with what is in its place.
    fn refusal(&self, name: &str, error: Errno, wanted: &str) -> io::Error {
        let found = match self.kind_of(name) {
            Some(FileType::Symlink) => "a link",
            Some(FileType::Directory) if wanted == "a file" => "a folder",
            Some(FileType::RegularFile) if wanted == "a folder" => "a file",
            Some(FileType::Fifo) => "a named pipe",
            Some(FileType::Socket) => "a socket",
            Some(FileType::BlockDevice | FileType::CharacterDevice) => "a device",
            _ => return error.into(),
        };
        invalid(format!("it is {found} and not {wanted}: remove it"))
    }

    /// Tests have a named pipe with the sticky bit stand in for a file on a share whose server is gone: opening it waits. One of
    /// the name [`HANGING`] stands in for all files that are to be created in its folder.
    fn is_hanging_in_tests(&self, name: &str) -> bool {
        let is_one = |found: fs::Stat| is_kind(&found, FileType::Fifo) && found.st_mode & libc::S_ISVTX != 0;
        cfg!(debug_assertions) && fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_one)
    }
}

fn is_kind(found: &fs::Stat, kind: FileType) -> bool {
    FileType::from_raw_mode(found.st_mode) == kind
}

/// One part of a path, which leads to no other directory.
fn component(name: &str) -> io::Result<&str> {
    let leads_away = name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']);
    if leads_away { Err(invalid(format!("{name:?} is no name of a file"))) } else { Ok(name) }
}

fn gone(removed: rustix::io::Result<()>) -> io::Result<()> {
    match removed {
        Err(Errno::NOENT) => Ok(()),
        removed => Ok(removed?),
    }
}

pub(crate) fn too_large(bytes_max: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than the {bytes_max} bytes that it may have"))
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what.into())
}

#[cfg(test)]
mod tests;
