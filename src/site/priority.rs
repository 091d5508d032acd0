//! Long work that is done beside people who wait.

const BACKGROUND_NICENESS: i32 = 10;
/// Of work that has to keep up with a machine which answers requests without a pause: of a core that another thread wants too,
/// this one gets a quarter.
const LOW_NICENESS: i32 = 5;
const NICENESS_MAX: i32 = 19;
/// The longest turn that may be asked for (0.1 s). A thread that asks for a longer turn than others is taken off the
/// core as soon as one of them wakes; with equal or shorter turns it would stay until the next tick, 4 ms on many
/// machines.
const LONGEST_SLICE_NANOS: u64 = 100_000_000;

/// How work that others do not wait for shares a core with those who are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// On the calling thread, as it is: somebody is kept waiting.
    Normal,
    /// Has its share of a core, and lets others in first whenever they wake.
    Preemptible,
    /// Has less than its share.
    Low,
}

impl Priority {
    /// Has the calling thread keep this pace for as long as it lives.
    pub(crate) fn apply(self) {
        // SAFETY: plain numbers; on Linux it is of the calling thread.
        let niceness = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        match self {
            Priority::Normal => {}
            Priority::Preemptible => schedule(niceness),
            Priority::Low => schedule((niceness + LOW_NICENESS).min(NICENESS_MAX)),
        }
    }

    /// Does work at this pace and waits for it.
    pub(crate) fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        if self == Priority::Normal {
            return work();
        }
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.apply();
                work()
            });
            thread.join()
        });
        done.unwrap_or_else(|fault| std::panic::resume_unwind(fault))
    }
}

/// Has the kernel let others in whenever they have something to do, for as long as the calling thread lives.
pub(crate) fn lower() {
    schedule(BACKGROUND_NICENESS);
}

/// Long turns at that niceness, for the calling thread. A refusal leaves the thread as it is; a kernel before 6.12, which knows
/// no turns of one's own, leaves it at what the niceness does.
fn schedule(niceness: i32) {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: niceness,
        sched_priority: 0,
        sched_runtime: LONGEST_SLICE_NANOS,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: asks the kernel about the calling thread alone; it reads one struct of the size that it says.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_of_the_work_alone_changes_its_pace() {
        // SAFETY: plain numbers.
        let niceness = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let before = niceness();
        assert_eq!(Priority::Low.run(niceness), (before + LOW_NICENESS).min(NICENESS_MAX));
        assert_eq!(Priority::Preemptible.run(niceness), before);
        assert_eq!(Priority::Normal.run(niceness), before);
        assert_eq!(niceness(), before);
    }
}
