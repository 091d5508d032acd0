//! Whose turn it is to speak for a site to its receiver: one at a time, and nobody waits for it without a limit.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::time::Duration;

/// How long somebody waits for the turn: a few batches to a receiver that is slow.
pub(crate) const LOCK_WAIT_MAX: Duration = Duration::from_secs(60);
/// The error after waiting so long for the turn.
pub(crate) const BUSY: &str = "another sync of this site is in progress: try again when it is through";

/// Holds a token while nobody has the turn.
pub struct SyncLock {
    give: Sender<()>,
    take: Receiver<()>,
}

/// The turn, given back when it is dropped, also by a panic.
pub(crate) struct SyncGuard<'t>(&'t SyncLock);

impl Default for SyncLock {
    fn default() -> SyncLock {
        let (give, take) = bounded(1);
        _ = give.try_send(());
        SyncLock { give, take }
    }
}

impl SyncLock {
    /// `None`: others had it for all of `wait_max`.
    pub(crate) fn lock_within(&self, wait_max: Duration) -> Option<SyncGuard<'_>> {
        self.take.recv_timeout(wait_max).ok().map(|()| SyncGuard(self))
    }
}

impl Drop for SyncGuard<'_> {
    fn drop(&mut self) {
        _ = self.0.give.try_send(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_turn_and_who_waits_for_it_gives_up() {
        let turn = SyncLock::default();
        let taken = turn.lock_within(Duration::ZERO).expect("nobody has it");
        assert!(turn.lock_within(Duration::from_millis(1)).is_none());
        drop(taken);
        let panicked = std::panic::catch_unwind(|| {
            let _taken = turn.lock_within(Duration::ZERO);
            panic!("at work");
        });
        assert!(panicked.is_err() && turn.lock_within(Duration::ZERO).is_some());
    }
}
