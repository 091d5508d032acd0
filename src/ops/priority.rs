//! Work that gives way to requests.

/// Of a processor that both want, a thread that gives way gets a third of what another gets: enough for the work of a second to
/// be done within it on a machine that answers requests without a pause.
const NICER: libc::c_int = 5;

/// From now on this thread gives way to those that answer requests. It cannot be taken back, so a thread that may hold what
/// others wait for never calls this. Where the system refuses, the thread stays as it is.
pub(crate) fn give_way() {
    // SAFETY: a plain number; on Linux it is for the thread that calls.
    unsafe { libc::nice(NICER) };
}

/// Does work that gives way to requests, on a thread of its own, and waits for it.
pub(crate) fn giving_way<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let done = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            give_way();
            work()
        });
        thread.join()
    });
    done.unwrap_or_else(|fault| std::panic::resume_unwind(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_of_the_work_alone_gives_way() {
        // SAFETY: plain numbers.
        let niceness = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = niceness();
        assert_eq!(giving_way(niceness), (before + NICER).min(19));
        assert_eq!(niceness(), before);
    }
}
