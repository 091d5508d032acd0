//! Detects slow work inside a write transaction: reads by another connection, rendering, hashing. All other writers
//! wait meanwhile. Debug builds panic; release builds check nothing.

#[cfg(debug_assertions)]
use std::cell::Cell;

#[cfg(debug_assertions)]
thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as inside a write transaction until dropped.
#[must_use]
pub(crate) struct WriteScope;

impl WriteScope {
    pub(crate) fn enter() -> WriteScope {
        #[cfg(debug_assertions)]
        INSIDE.set(true);
        WriteScope
    }
}

impl Drop for WriteScope {
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        INSIDE.set(false);
    }
}

/// Panics in debug builds where this thread is inside a write transaction. `what`: the forbidden work.
#[inline]
#[track_caller]
pub(crate) fn forbid(what: &str) {
    #[cfg(debug_assertions)]
    assert!(
        !INSIDE.get(),
        "{what} while this thread holds the writer: return an outcome, and do that after the commit"
    );
    #[cfg(not(debug_assertions))]
    let _ = what;
}
