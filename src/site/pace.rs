//! Long work that is done beside people who wait.

const NICENESS: i32 = 10;
/// Of work that has to keep up with a machine which answers requests without a pause: of a core that another thread wants too,
/// this one gets a quarter.
const LITTLE_NICENESS: i32 = 5;
/// The longest turn that may be asked for (0.1 s). A thread that asks for a longer turn than others is taken off the
/// core as soon as one of them wakes; with equal or shorter turns it would stay until the next tick, 4 ms on many
/// machines.
const LONGEST_SLICE_NANOS: u64 = 100_000_000;

/// Has the kernel let others in whenever they have something to do, for as long as the calling thread lives. A refusal, or a
/// kernel before 6.12 that knows no turns of one's own, leaves it at what the priority does.
pub(crate) fn give_way() {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: NICENESS,
        sched_priority: 0,
        sched_runtime: LONGEST_SLICE_NANOS,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: asks the kernel about the calling thread alone; it reads one struct of the size that it says.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// Has the kernel prefer others to the calling thread, for as long as that lives, and not much: its work is to keep up with
/// theirs. A refusal leaves the thread as it is.
pub(crate) fn give_way_a_little() {
    // SAFETY: a plain number; on Linux it is for the calling thread.
    unsafe { libc::nice(LITTLE_NICENESS) };
}

/// Does work that gives way a little, on a thread of its own, and waits for it; or at once, on this one.
pub(crate) fn giving_way_a_little_if<T: Send>(gives_way: bool, work: impl FnOnce() -> T + Send) -> T {
    if !gives_way {
        return work();
    }
    let done = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            give_way_a_little();
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
        assert_eq!(giving_way_a_little_if(true, niceness), (before + LITTLE_NICENESS).min(19));
        assert_eq!(giving_way_a_little_if(false, niceness), before);
        assert_eq!(niceness(), before);
    }
}
