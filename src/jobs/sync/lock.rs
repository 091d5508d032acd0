//! The lock of the sync: one sync of a site at a time, and a limit on the wait for it.

use crossbeam_channel::{Receiver, Sender, bounded};
use std::time::Duration;

/// How long a sync waits for another one: the time a slow receiver takes for a few batches.
pub(crate) const LOCK_WAIT_MAX: Duration = Duration::from_secs(60);
/// The error after [`LOCK_WAIT_MAX`].
pub(crate) const BUSY: &str = "another sync of this site is in progress: try again when it is through";

/// A channel that contains one token while the lock is free.
pub struct SyncLock {
    give: Sender<()>,
    take: Receiver<()>,
}

/// The acquired lock; dropping the guard releases it, also on a panic.
pub(crate) struct SyncGuard<'t>(&'t SyncLock);

impl Default for SyncLock {
    fn default() -> SyncLock {
        let (give, take) = bounded(1);
        _ = give.try_send(());
        SyncLock { give, take }
    }
}

impl SyncLock {
    /// Acquires the lock. `None`: it was not free within `wait_max`.
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
    fn the_lock_is_exclusive_waits_are_limited_and_a_panic_releases_it() {
        let lock = SyncLock::default();
        let guard = lock.lock_within(Duration::ZERO).expect("the lock is free");
        assert!(lock.lock_within(Duration::from_millis(1)).is_none());
        drop(guard);
        let panicked = std::panic::catch_unwind(|| {
            let _guard = lock.lock_within(Duration::ZERO);
            panic!("at work");
        });
        assert!(panicked.is_err() && lock.lock_within(Duration::ZERO).is_some());
    }
}
