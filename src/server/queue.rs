//! A queue of limited length with its threads. A thread starts when a job finds none idle, up to a limit, and ends after some
//! idle time: each thread costs memory, and most sites never need all of them. The thread that became idle last gets the
//! next job, so that the others can end.

use crate::log;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How often an idle thread yields and looks for a job before it sleeps: the network thread with the next job is often about
/// to run, and waking a thread costs more than spinning. One thread of a queue does this at a time.
const SPINS: usize = 4;
/// A thread without a job ends after this time, except the last one.
const IDLE_TIME_MAX: Duration = Duration::from_secs(30);

/// What a thread does with its jobs.
pub(super) trait Worker<J>: Send {
    fn work(&mut self, job: J);

    /// Called when no job waits: the moment for work that several jobs share.
    fn pause(&mut self) {}
}

impl<J, F: FnMut(J) + Send> Worker<J> for F {
    fn work(&mut self, job: J) {
        self(job);
    }
}

pub(super) type Work<J> = Box<dyn Worker<J>>;

/// The limits of a queue: its threads, and how many jobs may wait.
pub(super) struct Limits {
    pub name: &'static str,
    pub threads_max: usize,
    pub jobs_max: usize,
}

/// How much of a queue is used now.
pub(super) struct Usage {
    pub name: &'static str,
    pub threads_busy: usize,
    pub threads_max: usize,
    pub jobs_waiting: usize,
    pub jobs_max: usize,
}

pub(super) struct Queue<J>(Arc<Shared<J>>);

struct Shared<J> {
    limits: Limits,
    state: Mutex<State<J>>,
    /// Notified when the last thread has ended.
    ended: Condvar,
}

struct State<J> {
    /// Makes the worker of another thread; `None` once the queue is closed.
    work: Option<Box<dyn Fn() -> Work<J> + Send>>,
    jobs: VecDeque<J>,
    threads: usize,
    /// The threads that have not looked for their first job yet.
    starting: usize,
    /// Whether a thread is looking for a job and takes the next one without being woken.
    spinning: bool,
    /// The sleeping threads, each with a number of its own.
    idle: Vec<(u64, Thread)>,
    idled: u64,
}

impl<J> Clone for Queue<J> {
    fn clone(&self) -> Queue<J> {
        Queue(self.0.clone())
    }
}

impl<J: Send + 'static> Queue<J> {
    /// Starts the first thread; `work` makes the worker of each thread.
    ///
    /// # Errors
    /// The system gives no more threads.
    pub(super) fn start(limits: Limits, work: impl Fn() -> Work<J> + Send + 'static) -> std::io::Result<Queue<J>> {
        let first = work();
        let state = State {
            work: Some(Box::new(work)),
            jobs: VecDeque::new(),
            threads: 1,
            starting: 1,
            spinning: false,
            idle: Vec::with_capacity(limits.threads_max),
            idled: 0,
        };
        let queue = Queue(Arc::new(Shared { limits, state: Mutex::new(state), ended: Condvar::new() }));
        queue.0.spawn(first)?;
        Ok(queue)
    }

    /// Queues a job. `Err` gives the job back: the queue is full or closed.
    pub(super) fn push(&self, job: J) -> Result<(), J> {
        self.push_below(self.0.limits.jobs_max, job)
    }

    /// Queues the continuation of a job, also in a full queue: callers limit the number of such jobs.
    pub(super) fn push_continuation(&self, job: J) -> Result<(), J> {
        self.push_below(usize::MAX, job)
    }

    fn push_below(&self, jobs_max: usize, job: J) -> Result<(), J> {
        let shared = &self.0;
        let mut state = shared.lock();
        if state.work.is_none() || state.jobs.len() >= jobs_max {
            return Err(job);
        }
        state.jobs.push_back(job);
        if state.spinning && state.jobs.len() == 1 {
            return Ok(());
        }
        if let Some((_, thread)) = state.idle.pop() {
            drop(state);
            thread.unpark();
        } else if state.jobs.len() > state.starting
            && state.threads < shared.limits.threads_max
            && let Some(work) = state.work.as_ref().map(|work| work())
        {
            (state.threads, state.starting) = (state.threads + 1, state.starting + 1);
            drop(state);
            if let Err(e) = shared.spawn(work) {
                if let Some(left_out) = log::due(("no more threads", e.kind())) {
                    tracing::warn!(cause = %e, left_out, "no more threads for requests can be started");
                }
                let mut state = shared.lock();
                state.starting -= 1;
                shared.count_ended(&mut state);
            }
        }
        Ok(())
    }

    pub(super) fn usage(&self) -> Usage {
        let Limits { name, threads_max, jobs_max } = self.0.limits;
        let state = self.0.lock();
        let threads_busy = state.threads.saturating_sub(state.idle.len() + usize::from(state.spinning));
        Usage { name, threads_busy, threads_max, jobs_waiting: state.jobs.len(), jobs_max }
    }

    /// Accepts no more jobs. The threads end after the waiting ones.
    pub(super) fn close(&self) {
        let mut state = self.0.lock();
        state.work = None;
        state.idle.drain(..).for_each(|(_, thread)| thread.unpark());
    }

    /// Waits for the last thread of a closed queue; `false`: some hang.
    pub(super) fn ends_by(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self.0.ended.wait_timeout_while(self.0.lock(), left, |state| state.threads > 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.threads == 0
    }
}

impl<J: Send + 'static> Shared<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(self: &Arc<Self>, work: Work<J>) -> std::io::Result<()> {
        let shared = self.clone();
        let thread = std::thread::Builder::new().name(self.limits.name.to_owned());
        thread.spawn(move || shared.work_off(work)).map(drop)
    }

    fn work_off(&self, mut work: Work<J>) {
        let mut state = self.lock();
        state.starting -= 1;
        let (mut paused, mut spun, mut idle_too_long) = (true, false, false);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // A panic ends the job alone: its caller sees the answer's channel dropped.
                _ = catch_unwind(AssertUnwindSafe(|| work.work(job)));
                state = self.lock();
                (paused, spun) = (false, false);
            } else if !paused {
                drop(state);
                _ = catch_unwind(AssertUnwindSafe(|| work.pause()));
                state = self.lock();
                paused = true;
            } else if state.work.is_none() || (idle_too_long && state.threads > 1) {
                break;
            } else if spun || state.spinning {
                (state, idle_too_long) = self.idle(state);
            } else {
                state = self.spin(state);
                spun = true;
            }
        }
        // The worker has a database connection, which must be closed before the end is reported.
        drop(work);
        self.count_ended(&mut state);
    }

    /// Yields a few times, until a job comes or the queue is closed.
    fn spin<'s>(&'s self, mut state: MutexGuard<'s, State<J>>) -> MutexGuard<'s, State<J>> {
        state.spinning = true;
        for _ in 0..SPINS {
            drop(state);
            std::thread::yield_now();
            state = self.lock();
            if !state.jobs.is_empty() || state.work.is_none() {
                break;
            }
        }
        state.spinning = false;
        state
    }

    /// Sleeps until a job comes or the queue is closed; `true`: neither came in time.
    fn idle<'s>(&'s self, mut state: MutexGuard<'s, State<J>>) -> (MutexGuard<'s, State<J>>, bool) {
        state.idled += 1;
        let number = state.idled;
        state.idle.push((number, std::thread::current()));
        let until = Instant::now() + IDLE_TIME_MAX;
        loop {
            drop(state);
            let left = until.saturating_duration_since(Instant::now());
            std::thread::park_timeout(left);
            state = self.lock();
            let Some(place) = state.idle.iter().position(|(idle, _)| *idle == number) else { return (state, false) };
            if Instant::now() >= until {
                state.idle.remove(place);
                return (state, true);
            }
        }
    }

    fn count_ended(&self, state: &mut State<J>) {
        state.threads -= 1;
        if state.threads == 0 {
            self.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const TIME_MAX: Duration = Duration::from_secs(60);

    /// A queue whose jobs say that they began, and then wait for a number.
    fn queue(threads_max: usize, jobs_max: usize) -> (Queue<mpsc::Receiver<u32>>, mpsc::Receiver<()>) {
        let (begun, begins) = mpsc::channel();
        let limits = Limits { name: "test", threads_max, jobs_max };
        let work = move || -> Work<mpsc::Receiver<u32>> {
            let begun = begun.clone();
            Box::new(move |job: mpsc::Receiver<u32>| {
                begun.send(()).unwrap();
                assert_ne!(job.recv_timeout(TIME_MAX), Ok(13), "a job with a fault");
            })
        };
        (Queue::start(limits, work).unwrap(), begins)
    }

    fn threads(queue: &Queue<mpsc::Receiver<u32>>) -> usize {
        queue.0.lock().threads
    }

    #[test]
    fn threads_start_when_all_are_busy_and_a_full_queue_gives_jobs_back() {
        let (queue, begins) = queue(3, 2);
        assert_eq!(threads(&queue), 1);
        let (ends, jobs): (Vec<_>, Vec<_>) = (0..6).map(|_| mpsc::channel()).unzip();
        let mut jobs = jobs.into_iter();
        for started in 1..=3 {
            queue.push(jobs.next().unwrap()).unwrap();
            begins.recv_timeout(TIME_MAX).unwrap();
            assert_eq!(threads(&queue), started);
        }
        queue.push(jobs.next().unwrap()).unwrap();
        queue.push(jobs.next().unwrap()).unwrap();
        assert_eq!(queue.usage().jobs_waiting, 2);
        assert!(queue.push(jobs.next().unwrap()).is_err(), "three at work and two that wait are all");
        ends[0].send(13).unwrap();
        begins.recv_timeout(TIME_MAX).unwrap();
        assert_eq!((threads(&queue), queue.usage().jobs_waiting), (3, 1), "a job with a fault ends no thread");
        queue.close();
        assert!(!queue.ends_by(Instant::now()), "it ended before what waits was done");
        drop(ends);
        begins.recv_timeout(TIME_MAX).unwrap();
        assert!(queue.ends_by(Instant::now() + TIME_MAX));
        assert!(queue.push(mpsc::channel().1).is_err(), "a closed queue takes nothing");
    }

    #[test]
    fn consecutive_jobs_run_on_one_thread() {
        let (queue, begins) = queue(8, 8);
        for _ in 0..20 {
            let until = Instant::now() + TIME_MAX;
            while queue.0.lock().idle.is_empty() {
                assert!(Instant::now() < until, "the thread does not become idle");
                std::thread::yield_now();
            }
            queue.push(mpsc::channel().1).unwrap();
            begins.recv_timeout(TIME_MAX).unwrap();
        }
        assert_eq!(threads(&queue), 1);
    }
}
