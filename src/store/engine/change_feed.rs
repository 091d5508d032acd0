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

/// Those who are called after a commit; `false` ends the subscription.
type Subscribers = Mutex<Vec<Box<dyn Fn() -> bool + Send>>>;

#[derive(Default)]
pub(crate) struct ChangeFeed {
    /// Whether a row of a watched table was changed since the last commit.
    changed: AtomicBool,
    count: AtomicU64,
    /// Whether a row that only reports show was changed since the last commit. Subscribers are not notified of these.
    requested: AtomicBool,
    requests: AtomicU64,
    /// Those who are told of a changed row of a watched table.
    listeners: Subscribers,
    /// Whether something happened since the last commit: a row of the events was added.
    happened: AtomicBool,
    /// Those who wait for events.
    waiting: Subscribers,
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
            call(&self.waiting);
        }
        if self.changed.swap(false, Ordering::Relaxed) {
            self.count.fetch_add(1, Ordering::SeqCst);
            call(&self.listeners);
        }
    }

    /// Registers `changed`, which is called after each counted commit, and `happened`, which is called after each commit with an
    /// event, on the thread that committed: they must not block.
    pub(crate) fn subscribe(
        &self,
        changed: impl Fn() -> bool + Send + 'static,
        happened: impl Fn() -> bool + Send + 'static,
    ) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(changed));
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(happened));
    }
}

fn call(subscribers: &Subscribers) {
    subscribers.lock().unwrap_or_else(PoisonError::into_inner).retain(|subscriber| subscriber());
}
