//! A chain: the base in the second place, and the ticks behind it, in `ticks/` in the base's own directory.

use super::target::{Filed, Target, Written};
use super::tick::{Lineage, PageSums, Tick};
use crate::config::recipient::Recipient;
use crate::ops::backup::backup_store::Backup;
use crate::ops::backup::encrypted::SUFFIX;
use crate::ops::backup::manifest;
use crate::store::Store;
use crate::store::engine::capture::{End, Position};
use crate::store::engine::copy::Followed;
use crate::store::engine::wal_read::WalReader;
use std::io;
use std::sync::Arc;

const TICK: &str = ".tick";
pub(crate) const TICKS: &str = "ticks";
/// Any second that lies no longer back can be restored.
pub(crate) const TICKS_KEPT_SECONDS: i64 = 86_400;

/// Where the ticks behind a base lie.
pub(crate) fn ticks_of(base: &Target) -> Target {
    base.within(TICKS)
}

/// Each tick's number and name; in order. The error: the place cannot be read.
pub(crate) fn list(ticks: &Target) -> io::Result<Vec<(u64, String)>> {
    let number = |name: &str| name.strip_suffix(SUFFIX).unwrap_or(name).strip_suffix(TICK)?.parse::<u64>().ok();
    let names = ticks.list()?.into_iter();
    let mut ticks: Vec<_> = names.filter_map(|name| Some((number(&name)?, name))).collect();
    ticks.sort_unstable();
    Ok(ticks)
}

/// The start of a chain. The log is followed from the moment of the base's copy on, until the start is dropped.
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

/// A chain whose base is in the second place.
pub(crate) struct Chain {
    start: ChainStart,
    base: Target,
    /// Of the last tick that was confirmed.
    number: u64,
    read: Position,
    /// The file that was confirmed last.
    last: Filed,
    /// On its way: the same is written again until it is confirmed.
    pending: Option<(End, Arc<Tick>, Arc<Written>)>,
}

/// A tick on its way to the second place.
pub(crate) struct PendingTick {
    tick: Arc<Tick>,
    written: Arc<Written>,
    base: Target,
    last: Filed,
}

/// Why a tick is not confirmed.
#[derive(Debug, PartialEq)]
pub(crate) enum Unconfirmed {
    /// The second place does not have what it confirmed: the chain has a gap there.
    Lost(String),
    /// Another machine wrote there where this one was to.
    Foreign(String),
    /// The next second tries again.
    Failed(String),
}

impl Chain {
    /// `base`: its copy in the second place.
    pub(crate) fn new(start: ChainStart, base: &Backup) -> Chain {
        let (at, read) = (base.at.clone(), start.followed.begin.position);
        let last = Filed { at: at.clone(), name: manifest::NAME.to_owned(), bytes: base.manifest.text().len() as u64 };
        Chain { start, base: at, number: 0, read, last, pending: None }
    }

    /// By which the writer's capture knows it.
    pub(crate) fn follower(&self) -> u64 {
        self.start.followed.number
    }

    /// The tick that reaches `end`. The error: the log is not what it was, in one line.
    pub(crate) fn next_tick(&mut self, end: &End, wal: &WalReader) -> Result<PendingTick, String> {
        let (tick, written) = match &self.pending {
            Some((to, tick, written)) if to == end => (tick.clone(), written.clone()),
            _ => {
                let changes = wal.changes(self.read, end.position, super::tick::page_sum)?;
                let tick = Tick::next(self.start.lineage, self.number + 1, end, changes, &self.start.sums);
                (Arc::new(tick), Arc::default())
            }
        };
        self.pending = Some((*end, tick.clone(), written.clone()));
        Ok(PendingTick { tick, written, base: self.base.clone(), last: self.last.clone() })
    }

    /// The tick of the last pending tick is on the disk of the second place, in this file.
    pub(crate) fn confirm(&mut self, file: Filed) {
        if let Some((end, tick, _)) = self.pending.take() {
            tick.apply_to(&mut self.start.sums);
            (self.number, self.read, self.last) = (tick.head.number, end.position, file);
        }
    }

    /// Whether the second place still has what it confirmed last.
    pub(crate) fn last(&self) -> Filed {
        self.last.clone()
    }
}

/// Whether a file is there still; the error of a place that cannot be asked is none of the chain's.
pub(crate) fn is_there(file: &Filed) -> Result<(), Unconfirmed> {
    match file.is_there() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unconfirmed::Lost(format!("{file} is not there any more"))),
        Err(e) => Err(Unconfirmed::Failed(e.to_string())),
    }
}

impl PendingTick {
    /// The file that was confirmed last before this one.
    pub(crate) fn last(&self) -> Filed {
        self.last.clone()
    }

    /// Puts it there, whole and flushed, and looks whether it and the one before are there then. Its file.
    pub(crate) fn put(&self, wal: &WalReader, recipient: Option<&Recipient>) -> Result<Filed, Unconfirmed> {
        is_there(&self.last)?;
        let file = self.write(wal, recipient).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => {
                Unconfirmed::Foreign(format!("another machine writes there as this site: {e}"))
            }
            _ => Unconfirmed::Failed(e.to_string()),
        })?;
        is_there(&self.last)?;
        is_there(&file)?;
        Ok(file)
    }

    fn write(&self, wal: &WalReader, recipient: Option<&Recipient>) -> io::Result<Filed> {
        let suffix = if recipient.is_some() { SUFFIX } else { "" };
        let name = format!("{:010}{TICK}{suffix}", self.tick.head.number);
        ticks_of(&self.base).put(&name, &self.written, &mut |to| match recipient {
            Some(recipient) => recipient.seal(to, &mut |to| self.tick.write(wal, to)),
            None => self.tick.write(wal, to),
        })
    }
}
