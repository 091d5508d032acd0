//! A place where backups and ticks lie as files under names: the backup store beside the site, or the second place off the site,
//! which is a directory or a folder in a store.

use super::s3::Store;
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

/// A place with files in it, and with places within it. Shown as people name it.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Directory(PathBuf),
    S3(Folder),
}

/// A file as it was written for an earlier try, so that the next one puts the same bytes: a directory needs none.
pub(crate) type Written = Mutex<Option<Spool>>;

/// A file that was put there.
#[derive(Debug, Clone)]
pub(crate) struct Filed {
    pub at: Target,
    pub name: String,
    pub bytes: u64,
}

impl Target {
    /// The second place that the settings name.
    pub(crate) fn off_site(config: &Config) -> Option<Target> {
        Some(match config.backup.off_site.as_ref()? {
            OffSiteLocation::Directory(dir) => Target::Directory(dir.clone()),
            OffSiteLocation::Bucket(settings) => Target::S3(Folder::new(Arc::new(Store::new(settings, &config.data)))),
        })
    }

    pub(crate) fn within(&self, name: &str) -> Target {
        match self {
            Target::Directory(dir) => Target::Directory(dir.join(name)),
            Target::S3(folder) => Target::S3(folder.within(name)),
        }
    }

    /// The last part of the name.
    pub(crate) fn name(&self) -> String {
        match self {
            Target::Directory(dir) => dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Target::S3(folder) => folder.name(),
        }
    }

    /// Where it is a directory.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Target::Directory(dir) => Some(dir),
            Target::S3(_) => None,
        }
    }

    /// The names of the files in it. The error: it is not there, or cannot be read.
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
            Target::Directory(dir) => Ok(Box::new(BufReader::new(File::open(dir.join(name))?))),
            Target::S3(folder) => folder.open(name),
        }
    }

    /// `None`: it is not there.
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

    /// Puts a file there that `write` writes: whole, and flushed, before this returns. A try that failed leaves no file of that
    /// name, and the same file may be put again. [`io::ErrorKind::AlreadyExists`]: somebody else put another one there.
    pub(crate) fn put(
        &self,
        name: &str,
        written: &Written,
        write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Filed> {
        let bytes = match self {
            Target::Directory(dir) => put_in_directory(dir, name, write)?,
            Target::S3(folder) => {
                folder.put(name, &mut written.lock().unwrap_or_else(PoisonError::into_inner), write)?
            }
        };
        Ok(Filed { at: self.clone(), name: name.to_owned(), bytes })
    }

    /// Whether it would take a backup of so many bytes.
    pub(crate) fn probe(&self, bytes: u64) -> Result<(), String> {
        match self {
            Target::Directory(dir) => {
                if !dir.is_dir() {
                    return Err(format!("{} is not there: is it mounted?", dir.display()));
                }
                check_space(bytes, dir)?;
                let path = dir.join(PROBE);
                let written = std::fs::write(&path, [0; PROBE_BYTES]);
                let removed = std::fs::remove_file(&path);
                written.and(removed).map_err(|e| format!("cannot write to {}: {e}", dir.display()))
            }
            Target::S3(folder) => folder.probe(),
        }
    }

    /// The newest backup there, as far as that is known without asking: a directory is quick to ask.
    pub(crate) fn newest_known(&self) -> Option<Backup> {
        match self {
            Target::Directory(_) => None,
            Target::S3(folder) => folder.newest_known(),
        }
    }

    /// Whether it may replace a file that another machine has put there: then two machines with one name could overwrite each
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

impl Filed {
    /// Whether it is there with all of its bytes.
    pub(crate) fn is_there(&self) -> io::Result<bool> {
        Ok(self.at.bytes_of(&self.name)? == Some(self.bytes))
    }
}

impl Display for Filed {
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
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
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
