//! A target: a directory or a folder in a bucket, where backups and ticks lie ([`crate::ops::outside`]).

use super::s3::S3Client;
use super::s3::folder::Folder;
use super::s3::upload::Spool;
use crate::config::{Config, OffSiteLocation};
use crate::ops::outside::object::{BackupName, FolderName, Object};
use crate::ops::outside::{Dir, too_large};
use crate::ops::space::check_space;
use std::fmt::{self, Display, Formatter};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

const BUFFER_BYTES: usize = 256 * 1024;
const PROBE_BYTES: usize = 64 * 1024;

/// A directory, or a folder in a bucket. Shown as its path or its `s3://` address.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Directory(Place),
    S3(Folder),
}

/// A directory below a root that a person named.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    root: PathBuf,
    folders: Vec<FolderName>,
}

/// What an earlier try to put a file left.
#[derive(Default)]
pub(crate) struct Written {
    /// The bytes for a bucket, so that the next try puts the same ones.
    pub spool: Option<Spool>,
    /// The file was created in a directory, and may be there in part.
    is_begun: bool,
}

/// A file that was put on a target.
#[derive(Debug, Clone)]
pub(crate) struct StoredFile {
    pub at: Target,
    pub object: Object,
    pub bytes: u64,
}

/// Reads no more than a number of bytes: a further one is an error.
struct Bounded<R> {
    from: R,
    left: u64,
    bytes_max: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(to)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| too_large(self.bytes_max))?;
        Ok(read)
    }
}

impl Place {
    fn within(&self, folder: FolderName) -> Place {
        Place { root: self.root.clone(), folders: self.folders.iter().cloned().chain([folder]).collect() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folders.iter().fold(self.root.clone(), |path, folder| path.join(folder.to_string()))
    }

    pub(crate) fn open(&self) -> io::Result<Dir> {
        self.folders.iter().try_fold(Dir::root(&self.root)?, |dir, folder| dir.folder(&folder.to_string()))
    }

    /// Opens it, and makes the folders that are missing. The root is not made: it may be a share that is away.
    fn make(&self) -> io::Result<Dir> {
        self.folders.iter().try_fold(Dir::root(&self.root)?, |dir, folder| {
            let name = folder.to_string();
            match dir.make_folder(&name) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => dir.folder(&name),
                made => made,
            }
        })
    }

    fn put(
        &self,
        object: Object,
        written: &mut Written,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let (dir, name) = (self.make()?, object.to_string());
        if written.is_begun {
            dir.remove(&name)?;
        }
        let file = dir.create(&name)?;
        written.is_begun = true;
        let mut to = BufWriter::with_capacity(BUFFER_BYTES, &file);
        write(&mut to)?;
        to.flush()?;
        drop(to);
        file.sync_all()?;
        dir.flush()?;
        Ok(file.metadata()?.len())
    }

    fn probe(&self, bytes: u64) -> Result<(), String> {
        let shown = self.path();
        if !shown.is_dir() {
            return Err(format!("{} is not there: is it mounted?", shown.display()));
        }
        check_space(bytes, &shown)?;
        let probe = || {
            let (dir, name) = (self.open()?, Object::Probe.to_string());
            // An interrupted probe left its file.
            dir.remove(&name)?;
            let written = dir.create(&name).and_then(|mut file| file.write_all(&[0; PROBE_BYTES]));
            written.and(dir.remove(&name))
        };
        probe().map_err(|e| format!("cannot write to {}: {e}", shown.display()))
    }
}

impl Target {
    /// The off-site target that the settings name.
    pub(crate) fn off_site(config: &Config) -> Option<Target> {
        Some(match config.backup.off_site.as_ref()? {
            OffSiteLocation::Directory(dir) => Target::directory(dir.clone()),
            OffSiteLocation::Bucket(settings) => {
                Target::S3(Folder::new(Arc::new(S3Client::new(settings, &config.data))))
            }
        })
    }

    /// A directory that a person named.
    pub(crate) fn directory(root: PathBuf) -> Target {
        Target::Directory(Place { root, folders: Vec::new() })
    }

    pub(crate) fn within(&self, folder: FolderName) -> Target {
        match self {
            Target::Directory(place) => Target::Directory(place.within(folder)),
            Target::S3(store) => Target::S3(store.within(&folder.to_string())),
        }
    }

    /// The folder of a backup.
    pub(crate) fn backup(&self, name: &BackupName) -> Target {
        self.within(FolderName::Backup(name.clone()))
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> String {
        match self {
            Target::Directory(place) => place.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Target::S3(folder) => folder.name(),
        }
    }

    /// The path of a directory.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Target::Directory(place) => Some(place.path()),
            Target::S3(_) => None,
        }
    }

    /// The path or address of a file, for people.
    pub(crate) fn shown(&self, object: Object) -> String {
        format!("{self}/{object}")
    }

    /// The numbered files in it: ticks and epochs. The error: it is not there, or cannot be read.
    pub(crate) fn list(&self) -> io::Result<Vec<Object>> {
        match self {
            Target::Directory(place) => {
                Ok(place.open()?.names()?.iter().filter_map(|name| Object::parse(name)).collect())
            }
            Target::S3(folder) => folder.list(),
        }
    }

    /// Opens a file that may have `bytes_max` bytes. A further byte is an error.
    pub(crate) fn open(&self, object: Object, bytes_max: u64) -> io::Result<Box<dyn Read>> {
        let bytes_max = bytes_max.min(object.bytes_max());
        let from: Box<dyn Read> = match self {
            Target::Directory(place) => Box::new(BufReader::new(place.open()?.open(&object.to_string(), bytes_max)?)),
            Target::S3(folder) => folder.open(object)?,
        };
        Ok(Box::new(Bounded { from, left: bytes_max, bytes_max }))
    }

    /// Reads a small file.
    pub(crate) fn read(&self, object: Object) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(object, object.bytes_max())?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The size of a file. `None`: it is not there.
    pub(crate) fn bytes_of(&self, object: Object) -> io::Result<Option<u64>> {
        match self {
            Target::Directory(place) => match place.open() {
                Ok(dir) => dir.bytes_of(&object.to_string()),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(e),
            },
            Target::S3(folder) => folder.bytes_of(object),
        }
    }

    /// Puts a file that `write` writes, and flushes it. A failed try may leave a part of it, and the same file may be put
    /// again with the same `written`. [`io::ErrorKind::AlreadyExists`]: another machine has put a file of that name.
    pub(crate) fn put(
        &self,
        object: Object,
        written: &Mutex<Written>,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<StoredFile> {
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = match self {
            Target::Directory(place) => place.put(object, &mut written, write)?,
            Target::S3(folder) => folder.put(object, &mut written.spool, write)?,
        };
        Ok(StoredFile { at: self.clone(), object, bytes })
    }

    /// Whether the target takes a backup of this size.
    pub(crate) fn probe(&self, bytes: u64) -> Result<(), String> {
        match self {
            Target::Directory(place) => place.probe(bytes),
            Target::S3(folder) => folder.probe(),
        }
    }

    /// Whether putting a file may overwrite one of another machine, so that two machines with one site could overwrite each
    /// other's.
    pub(crate) fn replaces(&self) -> bool {
        matches!(self, Target::S3(folder) if !folder.keeps_first())
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Target::Directory(place) => place.path().display().fmt(f),
            Target::S3(folder) => folder.fmt(f),
        }
    }
}

impl StoredFile {
    /// Whether the file is there with its full size.
    pub(crate) fn is_complete(&self) -> io::Result<bool> {
        Ok(self.at.bytes_of(self.object)? == Some(self.bytes))
    }
}

impl Display for StoredFile {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.at.shown(self.object))
    }
}
