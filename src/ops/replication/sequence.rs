//! The ticks of a chain, one after the other, wherever they are carried: to the off-site target, or to a standby.

use super::tick::{Lineage, PageSums, Tick, page_sum};
use crate::store::Store;
use crate::store::engine::capture::{End, Position};
use crate::store::engine::copy::Followed;
use crate::store::engine::wal_read::{Changes, WalReader};
use std::sync::Arc;

/// A sequence of ticks behind a base. The WAL is followed from the moment of the base's copy on, until this is dropped.
pub(crate) struct Sequence {
    store: Store,
    /// The number of the follower in the writer's capture, and where it began.
    pub followed: Followed,
    pub lineage: Lineage,
    /// The sums of the file after the last confirmed tick.
    pub sums: PageSums,
    /// The number of the last confirmed tick.
    pub number: u64,
    /// Where the last confirmed tick ended in the WAL, and the moment of its commits.
    pub end: End,
    /// The tick on its way, which is the same one until it is confirmed.
    pending: Option<(End, Arc<Tick>)>,
}

impl Sequence {
    pub(crate) fn new(store: &Store, followed: Followed, sums: PageSums) -> Sequence {
        let (store, lineage) = (store.for_another_thread(), crate::keys::random::<16>());
        Sequence { store, followed, lineage, sums, number: 0, end: followed.begin, pending: None }
    }

    pub(crate) fn follower(&self) -> u64 {
        self.followed.number
    }

    /// The tick up to `end`. The error is one line: the WAL was overwritten.
    pub(crate) fn next(&mut self, end: &End, wal: &WalReader) -> Result<Arc<Tick>, String> {
        match &self.pending {
            Some((to, tick)) if to == end => Ok(tick.clone()),
            _ => Ok(self.tick_of(end, wal.changes(self.end.position, end.position, page_sum)?)),
        }
    }

    /// The tick with these changes.
    pub(super) fn tick_of(&mut self, end: &End, changes: Changes) -> Arc<Tick> {
        let tick = Arc::new(Tick::next(self.lineage, self.number + 1, end, changes, &self.sums));
        self.pending = Some((*end, tick.clone()));
        tick
    }

    /// Notes that the tick on its way is on the disk to which it was carried. Whether there was one.
    pub(crate) fn confirm(&mut self) -> bool {
        let is_pending = self.apply();
        if is_pending {
            self.store.writer().capture.confirm(self.follower());
        }
        is_pending
    }

    /// Counts the tick on its way as carried, without word to the writer: for a tick that an earlier process wrote.
    pub(super) fn apply(&mut self) -> bool {
        let Some((end, tick)) = self.pending.take() else { return false };
        tick.apply_to(&mut self.sums);
        (self.number, self.end) = (tick.head.number, end);
        true
    }

    /// Goes on at the begin of the WAL, which is another one by now.
    pub(super) fn read_from_begin(&mut self) {
        self.end.position = Position::default();
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        self.store.writer().capture.leave(self.followed.number);
    }
}
