//! A chain: a base on the off-site target, and the ticks behind it, in `ticks/` in the base's own directory.

use super::resume::Reached;
use super::target::{StoredFile, Target, Written};
use super::tick::{Lineage, PageSums, Tick};
use crate::config::recipient::Recipient;
use crate::ops::backup::backup_store::Backup;
use crate::ops::outside::object::{FolderName, Object};
use crate::ops::signature::{PublicKey, Signer};
use crate::store::Store;
use crate::store::engine::capture::{End, Position};
use crate::store::engine::copy::Followed;
use crate::store::engine::wal_read::{Changes, WalReader};
use std::io;
use std::sync::{Arc, Mutex};

/// How long ticks are kept: any second of that time can be restored.
pub(crate) const TICKS_KEPT_SECONDS: i64 = 86_400;

/// The directory of the ticks behind a base.
pub(crate) fn ticks_of(base: &Target) -> Target {
    base.within(FolderName::Ticks)
}

/// The number of each tick, and whether it is encrypted, in order.
pub(crate) fn list(ticks: &Target) -> io::Result<Vec<(u64, bool)>> {
    let tick = |object| match object {
        Object::Tick { number, is_sealed } => Some((number, is_sealed)),
        _ => None,
    };
    let mut ticks: Vec<_> = ticks.list()?.into_iter().filter_map(tick).collect();
    ticks.sort_unstable();
    Ok(ticks)
}

/// The start of a chain. The WAL is followed from the moment of the base's copy on, until this is dropped.
pub(crate) struct ChainStart {
    store: Store,
    pub followed: Followed,
    pub lineage: Lineage,
    pub sums: PageSums,
}

impl ChainStart {
    pub(crate) fn new(store: &Store, followed: Followed, sums: PageSums) -> ChainStart {
        ChainStart { store: store.for_another_thread(), followed, lineage: crate::keys::random::<16>(), sums }
    }
}

impl Drop for ChainStart {
    fn drop(&mut self) {
        self.store.writer().capture.leave(self.followed.number);
    }
}

/// A chain whose base is on the off-site target.
pub(crate) struct Chain {
    pub(super) start: ChainStart,
    pub(super) base: Target,
    /// The number of the last confirmed tick.
    pub(super) number: u64,
    read: Position,
    /// The moment of the last confirmed tick, or of the base (Unix seconds).
    moment: i64,
    /// The file of the last confirmed tick, or the manifest of the base.
    last: StoredFile,
    /// The key by which the base and its ticks are signed.
    signer: Arc<Signer>,
    /// The tick on its way, which is written again until it is confirmed.
    pending: Option<(End, Arc<Tick>, Arc<Mutex<Written>>)>,
}

/// A tick on its way to the off-site target.
pub(crate) struct PendingTick {
    tick: Arc<Tick>,
    written: Arc<Mutex<Written>>,
    base: Target,
    signer: Arc<Signer>,
    last: StoredFile,
}

/// Why a tick is not confirmed.
#[derive(Debug, PartialEq)]
pub(crate) enum Unconfirmed {
    /// The off-site target has lost a confirmed file: the chain has a gap.
    Lost(String),
    /// Another machine has written a file of this name.
    Foreign(String),
    /// The next round tries again.
    Failed(String),
}

impl Chain {
    /// `base`: the off-site copy of the base.
    pub(crate) fn new(start: ChainStart, base: &Backup, signer: Arc<Signer>) -> Chain {
        let (at, End { position: read, moment }) = (base.at.clone(), start.followed.begin);
        let bytes = base.manifest.text().len() as u64;
        let last = StoredFile { at: at.clone(), object: Object::Manifest, bytes };
        Chain { start, base: at, number: 0, read, moment, last, signer, pending: None }
    }

    /// The chain that has come so far in another process.
    pub(super) fn resumed(
        start: ChainStart,
        base: Target,
        last: StoredFile,
        signer: Arc<Signer>,
        reached: &Reached,
    ) -> Chain {
        let (number, read) = (reached.number, Position { salt: reached.salt, frames: reached.frames });
        Chain { start, base, number, read, moment: reached.moment, last, signer, pending: None }
    }

    /// How far it has come.
    pub(super) fn reached(&self) -> Reached {
        let Position { salt, frames } = self.read;
        Reached {
            base: self.base.name(),
            since: self.start.followed.begin.moment,
            key: self.key(),
            lineage: self.start.lineage,
            number: self.number,
            is_sealed: matches!(self.last.object, Object::Tick { is_sealed: true, .. }),
            bytes: self.last.bytes,
            sum: self.start.sums.whole(),
            salt,
            frames,
            moment: self.moment,
        }
    }

    /// Goes on at the begin of the log, which is another one by now.
    pub(super) fn read_from_begin(&mut self) {
        self.read = Position::default();
    }

    /// The key by which the base and its ticks are signed.
    pub(super) fn key(&self) -> PublicKey {
        self.signer.public()
    }

    /// The number of this follower in the writer's capture.
    pub(crate) fn follower(&self) -> u64 {
        self.start.followed.number
    }

    /// The tick up to `end`. The error is one line: the WAL was overwritten.
    pub(crate) fn next_tick(&mut self, end: &End, wal: &WalReader) -> Result<PendingTick, String> {
        if self.pending.as_ref().is_none_or(|(to, ..)| to != end) {
            let changes = wal.changes(self.read, end.position, super::tick::page_sum)?;
            return Ok(self.tick_of(end, changes));
        }
        Ok(self.pending_tick().expect("a tick is on its way"))
    }

    /// The tick with these changes.
    pub(super) fn tick_of(&mut self, end: &End, changes: Changes) -> PendingTick {
        let tick = Tick::next(self.start.lineage, self.number + 1, end, changes, &self.start.sums);
        self.pending = Some((*end, Arc::new(tick), Arc::default()));
        self.pending_tick().expect("a tick is on its way")
    }

    fn pending_tick(&self) -> Option<PendingTick> {
        let (_, tick, written) = self.pending.clone()?;
        let (base, signer, last) = (self.base.clone(), self.signer.clone(), self.last.clone());
        Some(PendingTick { tick, written, base, signer, last })
    }

    /// Notes that the pending tick was flushed to this file.
    pub(crate) fn confirm(&mut self, file: StoredFile) {
        if let Some((end, tick, _)) = self.pending.take() {
            tick.apply_to(&mut self.start.sums);
            (self.number, self.read, self.moment, self.last) = (tick.head.number, end.position, end.moment, file);
        }
    }

    /// The file of the last confirmed tick, or the manifest of the base.
    pub(crate) fn last(&self) -> StoredFile {
        self.last.clone()
    }
}

/// Checks that a confirmed file is still there.
pub(crate) fn check_there(file: &StoredFile) -> Result<(), Unconfirmed> {
    match file.is_complete() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unconfirmed::Lost(format!("{file} is not there any more"))),
        Err(e) => Err(Unconfirmed::Failed(e.to_string())),
    }
}

impl PendingTick {
    /// The file of the tick before, or the manifest of the base.
    pub(crate) fn last(&self) -> StoredFile {
        self.last.clone()
    }

    /// Writes and flushes the tick, and checks that it and the one before are there then. Returns its file.
    pub(crate) fn put(&self, wal: &WalReader, recipient: Option<&Recipient>) -> Result<StoredFile, Unconfirmed> {
        check_there(&self.last)?;
        let file = self.write(wal, recipient).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                Unconfirmed::Foreign(format!("another machine writes there as this site: {e}"))
            }
            _ => Unconfirmed::Failed(e.to_string()),
        })?;
        check_there(&self.last)?;
        check_there(&file)?;
        Ok(file)
    }

    fn write(&self, wal: &WalReader, recipient: Option<&Recipient>) -> io::Result<StoredFile> {
        let object = Object::Tick { number: self.tick.head.number, is_sealed: recipient.is_some() };
        ticks_of(&self.base).put(object, &self.written, &mut |to| match recipient {
            Some(recipient) => recipient.seal(to, &mut |to| self.tick.write(wal, &self.signer, to)),
            None => self.tick.write(wal, &self.signer, to),
        })
    }
}
