//! The copy that a standby keeps: the database as of its last checkpoint, and the ticks behind it in a journal.
//!
//! A tick counts once it is flushed in the journal. Its pages are written to the database afterwards, and are flushed there
//! before the journal is emptied. After a crash, replaying the journal leads to the last tick that counted.

use super::epoch::{Main, write};
use crate::keys::{hex, unhex};
use crate::moment::Moment;
use crate::ops::backup::backup_store::make_dir;
use crate::ops::replication::replay;
use crate::ops::replication::tick::{PageSums, ReadTick};
use crate::ops::signature::{Signer, Trust};
use crate::store::engine::{data_dir, lineage};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const JOURNAL: &str = "ticks";
/// The directories of the current copy, of the one that is fetched, and of the one that it replaces.
const CURRENT: &str = "current";
const NEXT: &str = "next";
const OLD: &str = "old";
/// The directory of a copy that is being promoted: it takes no more ticks.
const PROMOTING: &str = "promoting";
/// A longer journal is checkpointed.
const JOURNAL_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The size of a base's head, at most.
const META_BYTES_MAX: usize = 64 * 1024;

/// The head of a base, before its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub site_id: String,
    /// Hex, as are the checksum of all pages and the content of the key file.
    pub lineage: String,
    pub moment: Moment,
    pub checksum: String,
    pub pages: u32,
    pub key: String,
    /// The text of the signing key's file. A main machine of an earlier version sends none.
    #[serde(default)]
    pub signing_key: String,
}

impl Meta {
    /// The length in four bytes, then JSON.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let text = serde_json::to_vec(self).expect("our own structs can be written as JSON");
        [&(text.len() as u32).to_be_bytes()[..], &text].concat()
    }

    /// Reads the first bytes of a base, and returns how many belong to the head. `None`: there is no head.
    fn read(bytes: &[u8]) -> Option<(Meta, usize)> {
        let length = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        let text = bytes.get(4..4 + length.min(META_BYTES_MAX))?;
        Some((serde_json::from_slice(text).ok()?, 4 + length))
    }
}

/// The state of the database without the journal (`state.json`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub site_id: String,
    pub lineage: String,
    /// The number of the last tick in it; 0: the base alone.
    pub number: u64,
    pub checksum: String,
    /// The second of its last commit (Unix seconds).
    pub moment: Moment,
    /// The epoch of the machine that is followed.
    pub epoch: u64,
    pub main: Main,
}

/// The copy of a standby, open for the next tick.
pub(crate) struct Copy {
    dir: PathBuf,
    state: State,
    /// The key of the site. A copy from an earlier version has none, and takes no ticks.
    trust: Trust,
    sums: PageSums,
    database: File,
    journal: File,
    journal_bytes: u64,
    /// The number of the last tick that counts.
    number: u64,
    moment: Moment,
}

/// The directory of the current copy. Completes an interrupted swap.
fn current_in(dir: &Path) -> io::Result<PathBuf> {
    let (current, next) = (dir.join(CURRENT), dir.join(NEXT));
    if !current.exists() && next.join(STATE).exists() {
        std::fs::rename(next, &current)?;
        File::open(dir)?.sync_all()?;
    }
    Ok(current)
}

/// Takes the copy out of the feed for a promotion, and returns its directory. Continues an interrupted promotion. `None`: there
/// is no copy.
pub(crate) fn begin_promotion(dir: &Path) -> Result<Option<(PathBuf, State)>, String> {
    let failed = |e: io::Error| format!("cannot read the standby's copy in {}: {e}", dir.display());
    let ready = dir.join(PROMOTING);
    if !ready.exists() {
        // Opening checkpoints the journal and compares the checksum with that of the last tick.
        let Some(copy) = Copy::open(dir)? else { return Ok(None) };
        drop(copy);
        std::fs::rename(dir.join(CURRENT), &ready).map_err(failed)?;
        File::open(dir).and_then(|names| names.sync_all()).map_err(failed)?;
    }
    let state = crate::files::read(&ready.join(STATE)).map_err(failed)?;
    serde_json::from_slice(&state).map(|state| Some((ready, state))).map_err(|e| failed(e.into()))
}

/// Whether a promotion was begun.
pub(crate) fn is_promoted(dir: &Path) -> bool {
    dir.join(PROMOTING).exists()
}

impl Copy {
    /// Opens the copy, and checkpoints its journal. `None`: there is none. The error is one line: the copy must not be used.
    pub(crate) fn open(dir: &Path) -> Result<Option<Copy>, String> {
        let failed = |e: io::Error| format!("cannot read the standby's copy in {}: {e}", dir.display());
        let current = current_in(dir).map_err(failed)?;
        let state = match crate::files::read(&current.join(STATE)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(failed)?,
        };
        let state: State = serde_json::from_slice(&state).map_err(|e| failed(e.into()))?;
        let database = crate::files::open_with(File::options().read(true).write(true), &data_dir::database(&current))
            .map_err(failed)?;
        let journal = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(current.join(JOURNAL))
            .map_err(failed)?;
        let (number, moment) = (state.number, state.moment);
        let (sums, trust) = (PageSums::default(), trust_in(&current)?);
        let mut copy =
            Copy { dir: dir.to_owned(), state, trust, sums, database, journal, journal_bytes: 0, number, moment };
        copy.replay().map_err(failed)?;
        copy.checkpoint().map_err(failed)?;
        Ok(Some(copy))
    }

    /// Writes the journal's ticks over the database, and compares the sums of all pages.
    fn replay(&mut self) -> io::Result<()> {
        let mut after = self.state.checksum.clone();
        let mut journal = io::BufReader::new(self.journal.try_clone()?);
        let mut length = [0; 8];
        while journal.read_exact(&mut length).is_ok() {
            let mut bytes = Vec::new();
            (&mut journal).take(u64::from_be_bytes(length)).read_to_end(&mut bytes)?;
            // A truncated or damaged tick was never confirmed.
            let Ok(tick) = ReadTick::parse(bytes) else { break };
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
            false => Err(io::Error::other("its checksum is not that of its last tick")),
        }
    }

    /// Flushes the next tick to the journal. The error is one line, and the copy is unchanged.
    pub(crate) fn take(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let length = bytes.len() as u64;
        let tick = ReadTick::parse(bytes).map_err(|_| "a tick came damaged")?;
        if !tick.is_believed(&self.trust) {
            return Err("a tick came that is not signed by the key of the copy".to_owned());
        }
        let continues = tick.head.number == self.number + 1
            && hex(&tick.head.lineage) == self.state.lineage
            && tick.head.before == self.sums.whole()
            && tick.head.fits(self.sums.pages());
        if !continues {
            return Err("a tick does not continue from the one before".to_owned());
        }
        tick.apply_to(&mut self.sums);
        if self.sums.whole() != tick.head.after {
            return Err("a tick does not lead to the checksum in its head".to_owned());
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

    /// Flushes the database, and empties the journal.
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

    /// Notes the epoch of the machine that is followed, and how it is reached.
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

    /// The number of the last tick that is on the disk.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The second of the last commit (Unix seconds).
    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.state.epoch
    }
}

/// Why a base does not replace the copy, in one line.
#[derive(Debug, PartialEq)]
pub(crate) enum Trouble {
    /// The next attempt may succeed.
    Failed(String),
    /// The copy has writes that the followed site lacks. A person has to decide.
    OlderSite(String),
}

impl From<String> for Trouble {
    fn from(cause: String) -> Trouble {
        Trouble::Failed(cause)
    }
}

/// A base that is being received.
pub(crate) struct Incoming {
    dir: PathBuf,
    /// The site of the copy that the base is to replace; `None`: there is no copy.
    known_site: Option<String>,
    /// The second of the last commit in that copy (Unix seconds).
    known_moment: Moment,
    meta: Option<Meta>,
    database: File,
}

impl Incoming {
    /// `moment`: the second of the last commit in the copy (Unix seconds), where one is open.
    pub(crate) fn begin(dir: &Path, moment: Option<Moment>) -> io::Result<Incoming> {
        make_dir(dir)?;
        // Completes an interrupted swap first: `next` may be the only copy.
        let state = crate::files::read(&current_in(dir)?.join(STATE)).ok();
        let state: Option<State> = state.and_then(|state| serde_json::from_slice(&state).ok());
        let known_moment = moment.or(state.as_ref().map(|state| state.moment)).unwrap_or(Moment(0));
        let known_site = state.map(|state| state.site_id);
        let next = dir.join(NEXT);
        match std::fs::remove_dir_all(&next) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => make_dir(&next)?,
        }
        let database = OpenOptions::new().write(true).create_new(true).mode(0o600).open(data_dir::database(&next))?;
        Ok(Incoming { dir: dir.to_owned(), known_site, known_moment, meta: None, database })
    }

    /// The lineage of the base, once its head is there.
    pub(crate) fn lineage(&self) -> &str {
        self.meta.as_ref().map_or("", |meta| &meta.lineage)
    }

    /// Takes the next bytes. Refuses the base of another site: after the loss of the main machine the copy is all there
    /// is, and a new site may answer at the same address.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let failed = |e: io::Error| format!("cannot write the standby's copy: {e}");
        if self.meta.is_some() {
            return self.database.write_all(bytes).map_err(failed);
        }
        let (meta, length) = Meta::read(bytes).ok_or("the base has no head")?;
        if self.known_site.as_ref().is_some_and(|known| *known != meta.site_id) {
            return Err(format!(
                "another site answers there, and the copy in {} is kept: follow that site with another --data, or make the \
                 copy the site with `tunneldesk promote`",
                self.dir.display()
            ));
        }
        self.meta = Some(meta);
        self.database.write_all(bytes.get(length..).unwrap_or_default()).map_err(failed)
    }

    /// Compares the received base with its head, and makes it the current copy. The earlier one is removed, unless it has
    /// writes that the base lacks.
    pub(crate) fn finish(self, epoch: u64, main: &Main) -> Result<Copy, Trouble> {
        let failed = |e: io::Error| format!("cannot write the standby's copy: {e}");
        let next = self.dir.join(NEXT);
        let meta = self.meta.ok_or("the base has no bytes".to_owned())?;
        let sums = PageSums::of_file(&data_dir::database(&next)).map_err(failed)?;
        let key = unhex(&meta.key).ok_or("the site key came damaged".to_owned())?;
        let signer = Signer::parse(&meta.signing_key)
            .ok_or_else(|| format!("{} sends no signing key: is it of an earlier version?", main.url))?;
        let current = self.dir.join(CURRENT);
        if Signer::open(&current)?.is_some_and(|known| known.public() != signer.public()) {
            _ = std::fs::remove_dir_all(&next);
            return Err(Trouble::OlderSite(other_key(&current, &main.url, &signer)));
        }
        if format!("{:016x}", sums.whole()) != meta.checksum || sums.pages() != meta.pages {
            return Err("the base came damaged".to_owned().into());
        }
        if lineage::lacks_writes(&data_dir::database(&next), &self.dir.join(CURRENT), self.known_moment) {
            _ = std::fs::remove_dir_all(&next);
            return Err(Trouble::OlderSite(refusal(&self.dir.join(CURRENT), &main.url)));
        }
        self.database.sync_all().map_err(failed)?;
        let keep = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(data_dir::key(&next))?;
            file.write_all(&key)?;
            file.sync_all()?;
            signer.write(&next)?;
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
        Copy::open(&self.dir)?.ok_or_else(|| "the copy is gone".to_owned().into())
    }
}

/// The trust of a copy in the key that came with its base.
fn trust_in(current: &Path) -> Result<Trust, String> {
    Ok(Trust::Keys(Signer::open(current)?.map(|signer| signer.public()).into_iter().collect()))
}

/// The error for a base that is signed by another key than the copy.
fn other_key(copy: &Path, url: &str, key: &Signer) -> String {
    format!(
        "the site at {url} has another signing key than the copy in {copy}, {}: the copy is kept, and follows no more. Where \
         that site has a new key because it was changed, or because it was restored, move {copy} to another directory and \
         start again",
        key.public().fingerprint(),
        copy = copy.display()
    )
}

/// The error for a base that lacks writes of the copy.
fn refusal(copy: &Path, url: &str) -> String {
    let copy = copy.display();
    format!(
        "the site at {url} was taken back to an earlier state, and the copy in {copy} has writes that it lacks: the copy is \
         kept, and follows no more. To go on with the copy, stop that site and type `tunneldesk promote` here; to follow that \
         site as it is, move {copy} to another directory and start again"
    )
}
