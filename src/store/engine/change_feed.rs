//! Counts the commits that changed what the desk watches, and tells who listens: what was shown before may be old.

use rusqlite::Connection;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A change of any row of these tables counts.
const WATCHED: [&str; 7] =
    ["bookings", "entries", "members", "tunnels", "waiver_signatures", "waiver_decisions", "waiver_overrides"];

/// Takes the new count; `false`: nobody listens there any more.
type Listener = Box<dyn Fn(u64) -> bool + Send>;

/// What partners asked for, which no page of the desk but the reports counts.
const REQUESTS: &str = "history";

#[derive(Default)]
pub(crate) struct ChangeFeed {
    /// Whether a row was changed since the last commit that was told.
    changed: AtomicBool,
    count: AtomicU64,
    /// The same of [`REQUESTS`], of which nobody is told.
    requested: AtomicBool,
    requests: AtomicU64,
    listeners: Mutex<Vec<Listener>>,
}

impl ChangeFeed {
    /// Of what is changed by this connection.
    pub(crate) fn of(conn: &mut Connection) -> Arc<ChangeFeed> {
        let changes = Arc::new(ChangeFeed::default());
        let noted = changes.clone();
        let hooked = conn.update_hook(Some(move |_, _: &str, table: &str, _| {
            if WATCHED.contains(&table) {
                noted.changed.store(true, Ordering::Relaxed);
            } else if table == REQUESTS {
                noted.requested.store(true, Ordering::Relaxed);
            }
        }));
        // A connection that somebody owns can be hooked.
        _ = hooked.inspect_err(|e| tracing::error!(cause = %e, "changes are not told"));
        changes
    }

    /// The count: what was read after it was taken is as new as that count, or newer.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// The same for the partners' requests.
    pub(crate) fn count_requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }

    /// After a commit, before anybody is told that it is done.
    pub(crate) fn publish(&self) {
        if self.requested.swap(false, Ordering::Relaxed) {
            self.requests.fetch_add(1, Ordering::SeqCst);
        }
        if !self.changed.swap(false, Ordering::Relaxed) {
            return;
        }
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| listener(count));
    }

    /// Has `listener` called after each such commit, by the thread that made it: it must not wait.
    pub(crate) fn subscribe(&self, listener: impl Fn(u64) -> bool + Send + 'static) {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }
}
