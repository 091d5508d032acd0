//! The scheduling priority of long work, so that requests come first.

const BACKGROUND_NICENESS: i32 = 10;
/// For work that has to keep up under a constant load: a quarter of a core for which another thread competes.
const LOW_NICENESS: i32 = 5;
const NICENESS_MAX: i32 = 19;
/// The longest time slice that Linux accepts (0.1 s). A thread with a longer slice than others is preempted as soon as one of
/// them wakes; with an equal or shorter one it would run until the next timer tick, 4 ms on many machines.
const LONGEST_SLICE_NANOS: u64 = 100_000_000;

/// How long work shares a core with requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// On the calling thread, unchanged: a caller waits for the work.
    Normal,
    /// An equal share of a core, preempted whenever another thread wakes.
    Preemptible,
    /// Less than an equal share.
    Low,
}

impl Priority {
    /// Gives the calling thread this priority until it ends.
    pub(crate) fn apply(self) {
        match self {
            Priority::Normal => {}
            Priority::Preemptible => schedule(niceness()),
            Priority::Low => schedule((niceness() + LOW_NICENESS).min(NICENESS_MAX)),
        }
    }

    /// Runs work at this priority and waits for it.
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

/// The niceness of the calling thread: on Linux each has its own.
fn niceness() -> i32 {
    rustix::process::getpriority_process(None).unwrap_or(0)
}

/// Gives the calling thread a low priority until it ends: other threads preempt it whenever they wake.
pub(crate) fn lower() {
    schedule(BACKGROUND_NICENESS);
}

/// Sets the niceness and the longest slice for the calling thread. If the kernel refuses, nothing changes; kernels before 6.12
/// ignore the slice.
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
    fn only_the_thread_of_the_work_changes_its_priority() {
        let before = niceness();
        assert_eq!(Priority::Low.run(niceness), (before + LOW_NICENESS).min(NICENESS_MAX));
        assert_eq!(Priority::Preemptible.run(niceness), before);
        assert_eq!(Priority::Normal.run(niceness), before);
        assert_eq!(niceness(), before);
    }
}
