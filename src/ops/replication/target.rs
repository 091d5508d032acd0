//! A target: a directory or a folder in a bucket, where backups and ticks lie as named files.

use super::s3::S3Client;
use super::s3::folder::Folder;
use super::s3::upload::Spool;
use crate::config::{Config, OffSiteLocation};
use crate::ops::backup::backup_store::{Backup, make_dir};
use crate::ops::backup::check_space;
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const UNFINISHED: &str = ".unfinished";
const BUFFER_BYTES: usize = 256 * 1024;
const PROBE: &str = ".probe";
const PROBE_BYTES: usize = 64 * 1024;

/// A directory, or a folder in a bucket. Shown as its path or its `s3://` address.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Directory(PathBuf),
    S3(Folder),
}

/// The bytes of a file that an earlier try wrote, so that the next try puts the same ones. A directory needs none.
pub(crate) type Written = Mutex<Option<Spool>>;

/// A file that was put on a target.
#[derive(Debug, Clone)]
pub(crate) struct StoredFile {
    pub at: Target,
    pub name: String,
    pub bytes: u64,
}

impl Target {
    /// The off-site target that the settings name.
    pub(crate) fn off_site(config: &Config) -> Option<Target> {
        Some(match config.backup.off_site.as_ref()? {
            OffSiteLocation::Directory(dir) => Target::Directory(dir.clone()),
            OffSiteLocation::Bucket(settings) => {
                Target::S3(Folder::new(Arc::new(S3Client::new(settings, &config.data))))
            }
        })
    }

    pub(crate) fn within(&self, name: &str) -> Target {
        match self {
            Target::Directory(dir) => Target::Directory(dir.join(name)),
            Target::S3(folder) => Target::S3(folder.within(name)),
        }
    }

    /// The last part of the path.
    pub(crate) fn name(&self) -> String {
        match self {
            Target::Directory(dir) => dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Target::S3(folder) => folder.name(),
        }
    }

    /// The path of a directory.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Target::Directory(dir) => Some(dir),
            Target::S3(_) => None,
        }
    }

    /// The names of its files. The error: it is not there, or cannot be read.
    pub(crate) fn list(&self) -> io::Result<Vec<String>> {
        match self {
            Target::Directory(dir) => {
                let name = |entry: io::Result<std::fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
                std::fs::read_dir(dir)?.map(name).collect()
            }
            Target::S3(folder) => folder.list(),
        }
    }

    pub(crate) fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        match self {
            Target::Directory(dir) => Ok(Box::new(BufReader::new(crate::files::open(&dir.join(name))?))),
            Target::S3(folder) => folder.open(name),
        }
    }

    /// The size of a file. `None`: it is not there.
    pub(crate) fn bytes_of(&self, name: &str) -> io::Result<Option<u64>> {
        match self {
            Target::Directory(dir) => match std::fs::metadata(dir.join(name)) {
                Ok(file) => Ok(Some(file.len())),
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(e),
            },
            Target::S3(folder) => folder.bytes_of(name),
        }
    }

    /// Puts a file that `write` writes, whole and flushed. A failed try leaves no file of that name, and the same file may be put
    /// again. [`io::ErrorKind::AlreadyExists`]: another machine has put a different file of that name.
    pub(crate) fn put(
        &self,
        name: &str,
        written: &Written,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<StoredFile> {
        let bytes = match self {
            Target::Directory(dir) => put_in_directory(dir, name, write)?,
            Target::S3(folder) => {
                folder.put(name, &mut written.lock().unwrap_or_else(PoisonError::into_inner), write)?
            }
        };
        Ok(StoredFile { at: self.clone(), name: name.to_owned(), bytes })
    }

    /// Whether the target takes a backup of so many bytes.
    pub(crate) fn probe(&self, bytes: u64) -> Result<(), String> {
        match self {
            Target::Directory(dir) => {
                if !dir.is_dir() {
                    return Err(format!("{} is not there: is it mounted?", dir.display()));
                }
                check_space(bytes, dir)?;
                let path = dir.join(PROBE);
                let written = crate::files::write(&path, [0; PROBE_BYTES]);
                let removed = std::fs::remove_file(&path);
                written.and(removed).map_err(|e| format!("cannot write to {}: {e}", dir.display()))
            }
            Target::S3(folder) => folder.probe(),
        }
    }

    /// The newest backup in a bucket, as far as it is known without a request. A directory is quick to list.
    pub(crate) fn newest_known(&self) -> Option<Backup> {
        match self {
            Target::Directory(_) => None,
            Target::S3(folder) => folder.newest_known(),
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
            Target::Directory(dir) => dir.display().fmt(f),
            Target::S3(folder) => folder.fmt(f),
        }
    }
}

impl StoredFile {
    /// Whether the file is there with its full size.
    pub(crate) fn is_complete(&self) -> io::Result<bool> {
        Ok(self.at.bytes_of(&self.name)? == Some(self.bytes))
    }
}

impl Display for StoredFile {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        self.at.within(&self.name).fmt(f)
    }
}

fn put_in_directory(
    dir: &Path,
    name: &str,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<u64> {
    if !dir.exists() {
        make_dir(dir)?;
        dir.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())?;
    }
    let beside = dir.join(UNFINISHED);
    let file =
        crate::files::open_with(OpenOptions::new().write(true).create(true).truncate(true).mode(0o600), &beside)?;
    let mut to = BufWriter::with_capacity(BUFFER_BYTES, &file);
    write(&mut to)?;
    to.flush()?;
    drop(to);
    file.sync_all()?;
    let bytes = file.metadata()?.len();
    std::fs::rename(&beside, dir.join(name))?;
    File::open(dir)?.sync_all()?;
    Ok(bytes)
}
