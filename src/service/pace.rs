//! Long work that is done beside people who wait.

const NICENESS: i32 = 10;

/// Has the kernel let others in whenever they have something to do, for as long as the calling thread lives: its turns are
/// few, and a tenth of a millisecond long where it may choose (else about thirty times that). A refusal changes nothing.
pub fn give_way() {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: NICENESS,
        sched_priority: 0,
        sched_runtime: 100_000, // nanoseconds
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: asks the kernel about the calling thread alone; it reads one struct of the size that it says.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}
