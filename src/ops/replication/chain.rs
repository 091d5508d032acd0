//! A chain: the base in the second place, and the ticks behind it, in `ticks/` in the base's own directory.

use super::tick::{Lineage, PageSums, Tick};
use crate::config::recipient::Recipient;
use crate::ops::backup::encrypted::SUFFIX;
use crate::ops::backup::{manifest, shelf};
use crate::store::Store;
use crate::store::engine::capture::{End, Position};
use crate::store::engine::copy::Followed;
use crate::store::engine::log_read::LogReader;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TICK: &str = ".tick";
const UNFINISHED: &str = ".unfinished";

/// Where the ticks behind a base lie.
pub(crate) fn ticks_of(base: &Path) -> PathBuf {
    base.join("ticks")
}

/// A tick's number and where it lies, by their names; in order. The error: the directory cannot be read.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let number = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        name.strip_suffix(SUFFIX).unwrap_or(name).strip_suffix(TICK)?.parse::<u64>().ok()
    };
    let mut ticks = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        ticks.extend(number(&path).map(|number| (number, path)));
    }
    ticks.sort_unstable();
    Ok(ticks)
}

/// The start of a chain. The log is followed from the moment of the base's copy on, until the start is dropped.
pub(crate) struct Start {
    store: Store,
    pub followed: Followed,
    pub lineage: Lineage,
    pub sums: PageSums,
}

impl Start {
    pub(crate) fn new(store: &Store, followed: Followed, sums: PageSums) -> Start {
        Start { store: store.for_another_thread(), followed, lineage: crate::keys::random::<16>(), sums }
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        self.store.writer().capture.leave(self.followed.number);
    }
}

/// A chain whose base is in the second place.
pub(crate) struct Chain {
    start: Start,
    /// The base's directory.
    base: PathBuf,
    /// Of the last tick that was confirmed.
    number: u64,
    read: Position,
    /// The file that was confirmed last, and its size in bytes.
    last: (PathBuf, u64),
    /// On its way: the same is written again until it is confirmed.
    pending: Option<(End, Arc<Tick>)>,
}

/// A tick on its way to the second place.
pub(crate) struct Parcel {
    tick: Arc<Tick>,
    base: PathBuf,
    last: (PathBuf, u64),
}

/// Why a tick is not confirmed.
#[derive(Debug, PartialEq)]
pub(crate) enum Unconfirmed {
    /// The second place does not have what it confirmed: the chain has a gap there.
    Lost(String),
    /// The next second tries again.
    Failed(String),
}

impl Chain {
    pub(crate) fn new(start: Start, base: PathBuf) -> Chain {
        let manifest = base.join(manifest::NAME);
        let bytes = std::fs::metadata(&manifest).map_or(0, |file| file.len());
        let read = start.followed.begin.position;
        Chain { start, base, number: 0, read, last: (manifest, bytes), pending: None }
    }

    /// By which the writer's capture knows it.
    pub(crate) fn follower(&self) -> u64 {
        self.start.followed.number
    }

    /// The tick that reaches `end`. The error: the log is not what it was, in one line.
    pub(crate) fn parcel(&mut self, end: &End, log: &LogReader) -> Result<Parcel, String> {
        let tick = match &self.pending {
            Some((to, tick)) if to == end => tick.clone(),
            _ => {
                let changes = log.changes(self.read, end.position, super::tick::page_sum)?;
                Arc::new(Tick::next(self.start.lineage, self.number + 1, end, changes, &self.start.sums))
            }
        };
        self.pending = Some((*end, tick.clone()));
        Ok(Parcel { tick, base: self.base.clone(), last: self.last.clone() })
    }

    /// The tick of the last parcel is on the disk of the second place, in this file of so many bytes.
    pub(crate) fn confirm(&mut self, file: (PathBuf, u64)) {
        if let Some((end, tick)) = self.pending.take() {
            tick.apply_to(&mut self.start.sums);
            (self.number, self.read, self.last) = (tick.head.number, end.position, file);
        }
    }

    /// Whether the second place still has what it confirmed last.
    pub(crate) fn last(&self) -> (PathBuf, u64) {
        self.last.clone()
    }
}

/// Whether a file of so many bytes is there; the error of a place that cannot be asked is none of the chain's.
pub(crate) fn is_there(file: &(PathBuf, u64)) -> Result<(), Unconfirmed> {
    match std::fs::metadata(&file.0) {
        Ok(found) if found.len() == file.1 => Ok(()),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Unconfirmed::Failed(e.to_string())),
        _ => Err(Unconfirmed::Lost(format!("{} is not there any more", file.0.display()))),
    }
}

impl Parcel {
    /// The file that was confirmed last before this one.
    pub(crate) fn last(&self) -> (PathBuf, u64) {
        self.last.clone()
    }

    /// Puts it there, whole and flushed, and looks whether it and the one before are there then. Its file and bytes.
    pub(crate) fn put(&self, log: &LogReader, recipient: Option<&Recipient>) -> Result<(PathBuf, u64), Unconfirmed> {
        is_there(&self.last)?;
        let file = self.write(log, recipient).map_err(|e| Unconfirmed::Failed(e.to_string()))?;
        is_there(&self.last)?;
        is_there(&file)?;
        Ok(file)
    }

    fn write(&self, log: &LogReader, recipient: Option<&Recipient>) -> io::Result<(PathBuf, u64)> {
        let dir = ticks_of(&self.base);
        if !dir.exists() {
            shelf::make_dir(&dir)?;
            File::open(&self.base)?.sync_all()?;
        }
        let suffix = if recipient.is_some() { SUFFIX } else { "" };
        let path = dir.join(format!("{:010}{TICK}{suffix}", self.tick.head.number));
        let beside = dir.join(UNFINISHED);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        match recipient {
            Some(recipient) => recipient.seal(&file, &mut |to| self.tick.write(log, to))?,
            None => {
                let mut to = BufWriter::with_capacity(256 * 1024, &file);
                self.tick.write(log, &mut to)?;
                to.flush()?;
            }
        }
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        std::fs::rename(&beside, &path)?;
        File::open(&dir)?.sync_all()?;
        Ok((path, bytes))
    }
}
