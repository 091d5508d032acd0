//! Long work that is done beside people who wait.

const NICENESS: i32 = 10;
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
