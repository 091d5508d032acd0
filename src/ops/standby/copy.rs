//! The copy that a standby keeps: the file as of its last checkpoint, and the ticks behind it in one journal.
//!
//! A tick counts once it is flushed in the journal; its pages go into the file afterwards, and are flushed there before the
//! journal begins anew. Whatever ends the process, the journal over the file leads to the last tick that counted.

use super::epoch::{Main, write};
use crate::keys::{hex, unhex};
use crate::ops::backup::backup_store::make_dir;
use crate::ops::replication::replay;
use crate::ops::replication::tick::{PageSums, Whole};
use crate::store::engine::data_dir;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const JOURNAL: &str = "ticks";
/// In the directory of the copy: the one that counts, the one that is fetched, and the one that was replaced.
const CURRENT: &str = "current";
const NEXT: &str = "next";
const OLD: &str = "old";
/// Its file is being made the site's: no tick goes on from it any more.
const READY: &str = "promoting";
/// Beyond this the journal's pages are flushed in the file, and the journal begins anew.
const JOURNAL_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Of what is said before a base.
const META_BYTES_MAX: usize = 64 * 1024;

/// What is said of a base before its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub site_id: String,
    /// In hex, as are the checksum of all pages and the site key's file.
    pub lineage: String,
    pub moment: i64,
    pub checksum: String,
    pub pages: u32,
    pub key: String,
}

impl Meta {
    /// Its length in four bytes, and JSON.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("our own structs can be written as JSON");
        [&(text.len() as u32).to_be_bytes()[..], &text].concat()
    }

    /// From the first bytes of a base; how many they are. `None`: they are no such thing.
    fn read(bytes: &[u8]) -> Option<(Meta, usize)> {
        let length = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let text = bytes.get(4..4 + length.min(META_BYTES_MAX))?;
        Some((serde_json::from_slice(text).ok()?, 4 + length))
    }
}

/// How far the file is without the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub site_id: String,
    pub lineage: String,
    /// Of the last tick in it; 0: the base alone.
    pub number: u64,
    pub checksum: String,
    /// The second of its last commit, in Unix seconds.
    pub moment: i64,
    /// The epoch of the machine that is followed.
    pub epoch: u64,
    pub main: Main,
}

/// The copy of a standby, open for its next tick.
pub(crate) struct Copy {
    dir: PathBuf,
    state: State,
    sums: PageSums,
    database: File,
    journal: File,
    journal_bytes: u64,
    /// Of the last tick that counts.
    number: u64,
    moment: i64,
}

/// Where the copy that counts lies; finishes a swap that was cut off.
fn current_in(dir: &Path) -> io::Result<PathBuf> {
    let (current, next) = (dir.join(CURRENT), dir.join(NEXT));
    if !current.exists() && next.join(STATE).exists() {
        std::fs::rename(next, &current)?;
        File::open(dir)?.sync_all()?;
    }
    Ok(current)
}

/// The copy in this directory, whole and no longer followed, to be made a site; a promotion that was cut off goes on. `None`:
/// there is none.
pub(crate) fn begin_promotion(dir: &Path) -> Result<Option<(PathBuf, State)>, String> {
    let failed = |e: io::Error| format!("cannot read the standby's copy in {}: {e}", dir.display());
    let ready = dir.join(READY);
    if !ready.exists() {
        // All of it is flushed in the file then, whose sums are those that the last tick speaks of.
        let Some(copy) = Copy::open(dir)? else { return Ok(None) };
        drop(copy);
        std::fs::rename(dir.join(CURRENT), &ready).map_err(failed)?;
        File::open(dir).and_then(|names| names.sync_all()).map_err(failed)?;
    }
    let state = std::fs::read(ready.join(STATE)).map_err(failed)?;
    serde_json::from_slice(&state).map(|state| Some((ready, state))).map_err(|e| failed(e.into()))
}

/// Whether the copy was begun to be made a site.
pub(crate) fn is_promoted(dir: &Path) -> bool {
    dir.join(READY).exists()
}

impl Copy {
    /// The copy in this directory, with its journal brought into the file. `None`: there is none. The error is one line: there
    /// is one that must not be used.
    pub(crate) fn open(dir: &Path) -> Result<Option<Copy>, String> {
        let failed = |e: io::Error| format!("cannot read the standby's copy in {}: {e}", dir.display());
        let current = current_in(dir).map_err(failed)?;
        let state = match std::fs::read(current.join(STATE)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(failed)?,
        };
        let state: State = serde_json::from_slice(&state).map_err(|e| failed(e.into()))?;
        let database = File::options().read(true).write(true).open(data_dir::database(&current)).map_err(failed)?;
        let journal = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(current.join(JOURNAL))
            .map_err(failed)?;
        let (number, moment) = (state.number, state.moment);
        let sums = PageSums::default();
        let mut copy = Copy { dir: dir.to_owned(), state, sums, database, journal, journal_bytes: 0, number, moment };
        copy.replay().map_err(failed)?;
        copy.checkpoint().map_err(failed)?;
        Ok(Some(copy))
    }

    /// Writes the journal's ticks over the file, and compares the sums of all pages.
    fn replay(&mut self) -> io::Result<()> {
        let mut after = self.state.checksum.clone();
        let mut journal = io::BufReader::new(self.journal.try_clone()?);
        let mut length = [0; 8];
        while journal.read_exact(&mut length).is_ok() {
            let mut bytes = Vec::new();
            (&mut journal).take(u64::from_be_bytes(length)).read_to_end(&mut bytes)?;
            // What was cut off or damaged counts for nothing: it was never confirmed.
            let Some(tick) = Whole::parse(bytes) else { break };
            if tick.head.number != self.number + 1 || hex(&tick.head.lineage) != self.state.lineage {
                break;
            }
            replay::write(&self.database, &tick)?;
            (self.number, self.moment) = (tick.head.number, tick.head.moment);
            after = format!("{:016x}", tick.head.after);
        }
        self.database.sync_all()?;
        self.sums = PageSums::of_file(&data_dir::database(&self.dir.join(CURRENT)))?;
        match format!("{:016x}", self.sums.whole()) == after {
            true => Ok(()),
            false => Err(io::Error::other("the file is not what its last tick speaks of")),
        }
    }

    /// Takes the next tick: once this returns, the tick is on the disk. The error is one line, and the copy is as it was.
    pub(crate) fn take(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let length = bytes.len() as u64;
        let tick = Whole::parse(bytes).ok_or("a tick came damaged")?;
        let goes_on = tick.head.number == self.number + 1
            && hex(&tick.head.lineage) == self.state.lineage
            && tick.head.before == self.sums.whole();
        if !goes_on {
            return Err("a tick does not go on from the one before".to_owned());
        }
        tick.apply_to(&mut self.sums);
        if self.sums.whole() != tick.head.after {
            return Err("a tick does not lead to the file that it speaks of".to_owned());
        }
        let failed = |e: io::Error| format!("cannot write the standby's copy: {e}");
        self.journal.write_all(&length.to_be_bytes()).map_err(failed)?;
        self.journal.write_all(tick.bytes()).map_err(failed)?;
        self.journal.sync_data().map_err(failed)?;
        (self.number, self.moment) = (tick.head.number, tick.head.moment);
        replay::write(&self.database, &tick).map_err(failed)?;
        self.journal_bytes += length;
        if self.journal_bytes > JOURNAL_BYTES_MAX {
            self.checkpoint().map_err(failed)?;
        }
        Ok(())
    }

    /// The journal is in the file, and begins anew.
    fn checkpoint(&mut self) -> io::Result<()> {
        self.database.sync_all()?;
        let (number, moment, checksum) = (self.number, self.moment, format!("{:016x}", self.sums.whole()));
        self.state = State { number, moment, checksum, ..self.state.clone() };
        write(&self.current(), STATE, &self.state)?;
        self.journal.set_len(0)?;
        self.journal.sync_all()?;
        self.journal_bytes = 0;
        Ok(())
    }

    /// The epoch of the machine that is followed, and how it is reached, as they are now.
    pub(crate) fn note_main(&mut self, epoch: u64, main: &Main) -> io::Result<()> {
        if self.state.epoch == epoch && self.state.main == *main {
            return Ok(());
        }
        self.state = State { epoch, main: main.clone(), ..self.state.clone() };
        write(&self.current(), STATE, &self.state)
    }

    fn current(&self) -> PathBuf {
        self.dir.join(CURRENT)
    }

    pub(crate) fn lineage(&self) -> &str {
        &self.state.lineage
    }

    /// Of the last tick that is on the disk.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The second of the last commit, in Unix seconds.
    pub(crate) fn moment(&self) -> i64 {
        self.moment
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.state.epoch
    }
}

/// A base on its way in.
pub(crate) struct Incoming {
    dir: PathBuf,
    meta: Option<Meta>,
    database: File,
}

impl Incoming {
    pub(crate) fn begin(dir: &Path) -> io::Result<Incoming> {
        make_dir(dir)?;
        // A swap that was cut off comes first: what is next there may be the only copy.
        current_in(dir)?;
        let next = dir.join(NEXT);
        match std::fs::remove_dir_all(&next) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => make_dir(&next)?,
        }
        let database = OpenOptions::new().write(true).create_new(true).mode(0o600).open(data_dir::database(&next))?;
        Ok(Incoming { dir: dir.to_owned(), meta: None, database })
    }

    /// Which base it is, once its first bytes are in.
    pub(crate) fn lineage(&self) -> &str {
        self.meta.as_ref().map_or("", |meta| &meta.lineage)
    }

    /// The next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let failed = |e: io::Error| format!("cannot write the standby's copy: {e}");
        if self.meta.is_some() {
            return self.database.write_all(bytes).map_err(failed);
        }
        let (meta, length) = Meta::read(bytes).ok_or("the base does not say what it is")?;
        self.meta = Some(meta);
        self.database.write_all(bytes.get(length..).unwrap_or_default()).map_err(failed)
    }

    /// The copy that counts from now on, once all bytes are in and compared. The one before is gone.
    pub(crate) fn finish(self, epoch: u64, main: &Main) -> Result<Copy, String> {
        let failed = |e: io::Error| format!("cannot write the standby's copy: {e}");
        let next = self.dir.join(NEXT);
        let meta = self.meta.ok_or("the base has no bytes")?;
        let sums = PageSums::of_file(&data_dir::database(&next)).map_err(failed)?;
        let key = unhex(&meta.key).ok_or("the site key came damaged")?;
        if format!("{:016x}", sums.whole()) != meta.checksum || sums.pages() != meta.pages {
            return Err("the base came damaged".to_owned());
        }
        self.database.sync_all().map_err(failed)?;
        let keep = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(data_dir::key(&next))?;
            file.write_all(&key)?;
            file.sync_all()?;
            let Meta { site_id, lineage, moment, checksum, .. } = meta;
            let state = State { site_id, lineage, number: 0, checksum, moment, epoch, main: main.clone() };
            write(&next, STATE, &state)?;
            let (current, old) = (self.dir.join(CURRENT), self.dir.join(OLD));
            _ = std::fs::remove_dir_all(&old);
            if current.exists() {
                std::fs::rename(&current, &old)?;
            }
            std::fs::rename(&next, &current)?;
            File::open(&self.dir)?.sync_all()?;
            _ = std::fs::remove_dir_all(&old);
            Ok(())
        };
        keep().map_err(failed)?;
        Copy::open(&self.dir)?.ok_or_else(|| "the copy is gone".to_owned())
    }
}
