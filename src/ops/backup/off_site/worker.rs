//! A worker: one piece of work at a time, each on a thread of its own, with limits on how long the caller waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// Runs one piece of work at a time.
#[derive(Default)]
pub(super) struct Worker(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Idle,
    Busy,
    /// The work takes too long: its caller waits no longer, and its thread may hang.
    TimedOut,
}

/// How long the caller waits.
#[derive(Clone, Copy)]
pub(super) struct Timeouts {
    /// Until earlier work has ended.
    pub idle: Duration,
    /// From one step of the work to the next.
    pub step: Duration,
}

/// Why work was not done, or not while its caller waited.
#[derive(Debug, PartialEq)]
pub(super) enum WorkError {
    /// Earlier work is in progress.
    Busy,
    /// The work timed out, or earlier work did and has not ended yet.
    TimedOut,
}

enum Message<T> {
    Step(u64, u64),
    Done(T),
}

/// Makes the worker idle when it is dropped, also by a panic.
struct BusyGuard(Arc<Shared>);

impl Worker {
    /// Runs `work` on a new thread, and waits for as long as steps are reported in time, or until its end. `progress` gets the
    /// arguments of each step.
    pub(super) fn run<T: Send + 'static>(
        &self,
        timeouts: Timeouts,
        progress: &mut dyn FnMut(u64, u64),
        work: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let Shared { state, changed } = &*self.0;
        let idle = changed.wait_timeout_while(lock(state), timeouts.idle, |state| *state == State::Busy);
        let (mut current, _) = idle.unwrap_or_else(PoisonError::into_inner);
        match *current {
            State::Idle => *current = State::Busy,
            State::Busy => return Err(WorkError::Busy),
            State::TimedOut => return Err(WorkError::TimedOut),
        }
        drop(current);
        let (send, messages) = mpsc::channel();
        let busy = BusyGuard(self.0.clone());
        let begun = std::thread::Builder::new().name("off-site".to_owned()).spawn(move || {
            let end = work(&mut |done, all| _ = send.send(Message::Step(done, all)));
            drop(busy);
            _ = send.send(Message::Done(end));
        });
        let end = begun.ok().and_then(|_| {
            loop {
                match messages.recv_timeout(timeouts.step) {
                    Ok(Message::Step(done, all)) => progress(done, all),
                    Ok(Message::Done(end)) => return Some(end),
                    Err(_) => return None,
                }
            }
        });
        let mut current = lock(state);
        if end.is_none() && *current == State::Busy {
            *current = State::TimedOut;
            changed.notify_all();
        }
        end.ok_or(WorkError::TimedOut)
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        *lock(&self.0.state) == State::Idle
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        *lock(&self.0.state) = State::Idle;
        self.0.changed.notify_all();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(20);

    fn run<T: Send + 'static>(
        worker: &Worker,
        timeout: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        worker.run(Timeouts { idle: timeout, step: timeout }, &mut |_, _| (), |_| work()).ok()
    }

    fn wait_until_idle(worker: &Worker) {
        while !worker.is_idle() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn work_that_hangs_takes_one_thread_and_later_callers_do_not_wait_for_it() {
        let worker = Worker::default();
        let (let_go, held) = mpsc::channel::<()>();
        assert_eq!(run(&worker, SHORT, move || held.recv().is_ok()), None);
        for _ in 0..3 {
            assert_eq!(run(&worker, LONG, || "another"), None);
        }
        let_go.send(()).unwrap();
        wait_until_idle(&worker);
        assert_eq!(run(&worker, LONG, || 7), Some(7));
        assert_eq!(run(&worker, LONG, || 8), Some(8));
    }

    #[test]
    fn each_of_several_callers_gets_the_result_of_its_own_work() {
        let worker = Worker::default();
        std::thread::scope(|scope| {
            let worker = &worker;
            let running: Vec<_> = (0..8).map(|n| (n, scope.spawn(move || run(worker, LONG, move || n)))).collect();
            for (n, one) in running {
                assert_eq!(one.join().unwrap(), Some(n));
            }
        });
    }

    #[test]
    fn work_that_reports_its_steps_is_waited_for_and_a_panic_leaves_the_worker_idle() {
        let worker = Worker::default();
        let mut reported = Vec::new();
        let steps = |step: &mut dyn FnMut(u64, u64)| {
            for n in 0..8 {
                std::thread::sleep(Duration::from_millis(150));
                step(n, 8);
            }
            "through"
        };
        let timeouts = Timeouts { idle: LONG, step: Duration::from_secs(1) };
        assert_eq!(worker.run(timeouts, &mut |done, _| reported.push(done), steps), Ok("through"));
        assert_eq!(reported, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(run(&worker, LONG, || panic!("a fault")), None::<()>);
        wait_until_idle(&worker);
        assert_eq!(run(&worker, LONG, || 9), Some(9));
    }
}
