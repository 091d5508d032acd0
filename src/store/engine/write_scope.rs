//! Forbids a thread that holds the writer to read by another connection, to render and to hash, because every other
//! writer waits for it. Builds for development and tests panic where that is tried; others check nothing.

#[cfg(debug_assertions)]
use std::cell::Cell;

#[cfg(debug_assertions)]
thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as the one that holds the writer, until it is dropped.
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

/// Panics where this thread holds the writer, in builds for development; `what` is not done there.
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
