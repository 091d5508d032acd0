//! Passwords are hashed on threads of their own, one a core and at a lower priority, so that a flood of sign-ins
//! neither delays other requests nor fills the memory with hashes at work (about 20 MB each). A caller waits for no
//! more than its hash: the core makes the next one while a sign-in is written.
//!
//! While requests read the database, one core is left to them: a hash fills a core's cache and memory bandwidth, whatever its
//! priority. Measured on two cores, 750 reads a second beside guesses from everywhere: p99 0.4 to 0.6 ms, and 1.5 to 3.2 ms
//! where both cores hash; the price is 65 guesses a second instead of 115.

use crate::domain::password::{self, Cost};
use crate::site::Site;
use crate::site::priority;
use crate::store::write_scope;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// This long after the last read, all cores hash.
const READING_ENDED_AFTER: Duration = Duration::from_millis(100);
/// How often a thread that leaves its core to reads checks whether they go on.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// A thread that is idle for so long releases its memory.
const IDLE_MAX: Duration = Duration::from_millis(100);

type Job = Box<dyn FnOnce() + Send>;

/// The threads that hash, once a server has started them; without them each caller hashes on its own thread.
pub struct Hashers {
    /// Each caller waits for its job, so there are never more jobs than callers.
    jobs: OnceLock<Sender<Job>>,
    started: Instant,
    /// Milliseconds from `started` to the last read.
    read_at: AtomicU64,
    /// A lower cost, for tests with another subject; else the full cost.
    cost: OnceLock<Cost>,
}

impl Default for Hashers {
    fn default() -> Hashers {
        Hashers { jobs: OnceLock::new(), started: Instant::now(), read_at: AtomicU64::new(0), cost: OnceLock::new() }
    }
}

impl Hashers {
    /// Starts the threads; they end when the site is dropped.
    pub(crate) fn start(self: &Arc<Hashers>) -> io::Result<()> {
        let (jobs, taken) = unbounded();
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        for number in 0..threads {
            // One thread leaves its core to reads, unless it is the only one.
            let leaves_core = number > 0 && number + 1 == threads;
            let (hashers, taken) = (Arc::downgrade(self), taken.clone());
            let must_wait = move || leaves_core && hashers.upgrade().is_some_and(|hashers| hashers.reads_go_on());
            let thread = std::thread::Builder::new().name("hashing".to_owned());
            thread.spawn(move || {
                priority::lower();
                hash_all(&taken, must_wait);
            })?;
        }
        _ = self.jobs.set(jobs);
        Ok(())
    }

    pub(crate) fn note_read(&self, moment: Instant) {
        self.read_at.store(moment.duration_since(self.started).as_millis() as u64, Ordering::Relaxed);
    }

    fn reads_go_on(&self) -> bool {
        let read_at = Duration::from_millis(self.read_at.load(Ordering::Relaxed));
        self.started.elapsed().saturating_sub(read_at) < READING_ENDED_AFTER
    }

    fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        write_scope::forbid("a hash");
        let Some(jobs) = self.jobs.get() else { return work() };
        let (done, result) = std::sync::mpsc::sync_channel(1);
        jobs.send(Box::new(move || _ = done.send(work()))).expect("the threads live as long as the queue");
        result.recv().expect("hashing does not panic")
    }
}

fn hash_all(jobs: &Receiver<Job>, must_wait: impl Fn() -> bool) {
    loop {
        if must_wait() {
            password::rest();
            std::thread::sleep(CHECK_INTERVAL);
            continue;
        }
        let job = jobs.recv_timeout(IDLE_MAX).or_else(|none| match none {
            RecvTimeoutError::Timeout => {
                password::rest();
                jobs.recv().map_err(drop)
            }
            RecvTimeoutError::Disconnected => Err(()),
        });
        let Ok(job) = job else { return };
        // The caller learns of a panic by the end of its channel.
        _ = catch_unwind(AssertUnwindSafe(job));
    }
}

impl Site {
    /// The cost of the hashes that this site makes.
    pub fn hash_cost(&self) -> Cost {
        self.hashers.cost.get().copied().unwrap_or(Cost::FULL)
    }

    /// Makes hashes of another cost from now on; only the first call counts. For tests with another subject: not in a
    /// released build.
    #[cfg(debug_assertions)]
    pub fn hash_at(&self, cost: Cost) {
        _ = self.hashers.cost.set(cost);
    }

    /// A PHC string with a new salt. To hash takes time, so the caller's snapshot is released first.
    pub fn hash(&self, secret: &str) -> String {
        self.store.release();
        let secret = secret.to_owned();
        let cost = self.hash_cost();
        self.hashers.run(move || password::hash(&secret, cost))
    }

    /// Whether the secret is the one of the hash; in the same time, and false, where there is none. The caller's snapshot
    /// is released.
    pub(crate) fn is_hash_of(&self, secret: &str, phc: Option<&str>) -> bool {
        self.store.release();
        let (secret, phc) = (secret.to_owned(), phc.map(str::to_owned));
        let cost = self.hash_cost();
        self.hashers.run(move || password::verify(&secret, phc.as_deref(), cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> Option<String> {
        std::thread::current().name().map(str::to_owned)
    }

    #[test]
    fn once_there_are_threads_for_it_they_do_it_and_outlive_a_panic() {
        let hashers = Arc::new(Hashers::default());
        assert_eq!(hashers.run(name), name());
        hashers.start().unwrap();
        for _ in 0..2 * std::thread::available_parallelism().unwrap().get() {
            let fault = || hashers.run(|| -> () { panic!("a hash with a fault") });
            assert!(catch_unwind(AssertUnwindSafe(fault)).is_err());
        }
        assert_eq!(hashers.run(name).as_deref(), Some("hashing"));
    }

    #[test]
    fn a_core_is_left_to_readers_until_they_are_done() {
        let (put, taken) = unbounded::<Job>();
        let left = Arc::new(AtomicU64::new(3));
        let must_wait = {
            let left = left.clone();
            move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |looks| looks.checked_sub(1)).is_ok()
        };
        let (tell, told) = std::sync::mpsc::channel();
        let looks = left.clone();
        put.send(Box::new(move || _ = tell.send(looks.load(Ordering::Relaxed)))).unwrap();
        drop(put);
        hash_all(&taken, must_wait);
        assert_eq!(told.try_recv(), Ok(0), "it was done before the readers were");
    }

    #[test]
    fn reads_go_on_for_a_moment_after_the_last_one() {
        let hashers = Hashers::default();
        let long_ago = hashers.started;
        hashers.note_read(Instant::now() + Duration::from_secs(60));
        assert!(hashers.reads_go_on());
        std::thread::sleep(READING_ENDED_AFTER);
        hashers.note_read(long_ago);
        assert!(!hashers.reads_go_on());
    }
}
