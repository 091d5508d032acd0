//! Counts the commits that changed what the desk's pages show, and notifies the subscribers, whose pages may be stale.

use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The tables whose changes are told.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// A change of any row of these is told to the subscribers.
    pub pages: Vec<&'static str>,
    /// A change of any row of these is counted apart, for the reports alone.
    pub reports: Vec<&'static str>,
    /// A new row of this one wakes those who wait for events.
    pub events: &'static str,
}

/// A subscriber, called with the new count; `false` ends the subscription.
type Listener = Box<dyn Fn(u64) -> bool + Send>;

#[derive(Default)]
pub(crate) struct ChangeFeed {
    /// Whether a row of a watched table was changed since the last commit.
    changed: AtomicBool,
    count: AtomicU64,
    /// Whether a row that only reports show was changed since the last commit. Subscribers are not notified of these.
    requested: AtomicBool,
    requests: AtomicU64,
    listeners: Mutex<Vec<Listener>>,
    /// Whether something happened since the last commit: a row of the events was added.
    happened: AtomicBool,
    /// Those who wait for events; `false` ends the subscription.
    waiting: Mutex<Vec<Box<dyn Fn() -> bool + Send>>>,
}

impl ChangeFeed {
    /// The feed of the changes that this connection makes.
    pub(crate) fn of(conn: &mut Connection, watched: Watched) -> Arc<ChangeFeed> {
        let changes = Arc::new(ChangeFeed::default());
        let noted = changes.clone();
        let hooked = conn.update_hook(Some(move |_, _: &str, table: &str, _| {
            if table == watched.events {
                noted.happened.store(true, Ordering::Relaxed);
            }
            if watched.pages.contains(&table) {
                noted.changed.store(true, Ordering::Relaxed);
            } else if watched.reports.contains(&table) {
                noted.requested.store(true, Ordering::Relaxed);
            }
        }));
        // Fails only for a connection that rusqlite does not own.
        _ = hooked.inspect_err(|e| tracing::error!(cause = %e, "subscribers are not notified of changes"));
        changes
    }

    /// The count of commits. A read that begins after this call sees at least all commits counted.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// The count of commits that added partners' requests.
    pub(crate) fn count_requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    /// Counts a commit. To be called after it and before it is acknowledged.
    pub(crate) fn publish(&self) {
        if self.requested.swap(false, Ordering::Relaxed) {
            self.requests.fetch_add(1, Ordering::SeqCst);
        }
        if self.happened.swap(false, Ordering::Relaxed) {
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).retain(|wake| wake());
        }
        if !self.changed.swap(false, Ordering::Relaxed) {
            return;
        }
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener(count));
    }

    /// Registers `wake`, which is called after each commit with an event, on the thread that committed: it must not block.
    pub(crate) fn wake_for_events(&self, wake: impl Fn() -> bool + Send + 'static) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(wake));
    }

    /// Registers `listener`, which is called after each counted commit on the thread that committed: it must not
    /// block.
    pub(crate) fn subscribe(&self, listener: impl Fn(u64) -> bool + Send + 'static) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }
}
