//! Long work that is done beside people who wait.

use std::cell::Cell;
use std::sync::mpsc;

const NICENESS: i32 = 10;
/// The longest turn that may be asked for (0.1 s). Whoever asks for a longer one than others is put off the core as soon
/// as one of them wakes; with equal or shorter turns it would stay until the next tick, 4 ms on many machines.
const LONGEST_SLICE_NANOS: u64 = 100_000_000;

thread_local! {
    /// Whether anybody is let in before this thread.
    static GIVES_WAY: Cell<bool> = const { Cell::new(false) };
}

/// Has the kernel let others in whenever they have something to do, for as long as the calling thread lives. A refusal, or a
/// kernel before 6.12 that knows no turns of one's own, leaves it at what the priority does.
pub fn give_way() {
    GIVES_WAY.set(true);
    set(libc::SCHED_OTHER, LONGEST_SLICE_NANOS);
}

/// Does it on a thread that has the core only while nobody else wants it, where the calling one gives way; `told` hears of
/// each step. Only for what holds nothing that others wait for: on a machine that is never idle it takes as long as that lasts.
pub fn aside<T: Send>(told: &mut dyn FnMut(u64), work: impl FnOnce(&mut dyn FnMut(u64)) -> T + Send) -> T {
    let (gives_way, (tell, steps)) = (GIVES_WAY.get(), mpsc::channel());
    std::thread::scope(|scope| {
        let aside = scope.spawn(move || {
            if gives_way {
                set(libc::SCHED_IDLE, 0);
            }
            // Who hears of it goes on listening until this is over.
            work(&mut |step| _ = tell.send(step))
        });
        steps.iter().for_each(told);
        aside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// `slice` in nanoseconds; 0: the kernel's own.
fn set(policy: i32, slice: u64) {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: policy as u32,
        sched_flags: 0,
        sched_nice: NICENESS,
        sched_priority: 0,
        sched_runtime: slice,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: asks the kernel about the calling thread alone; it reads one struct of the size that it says.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}
