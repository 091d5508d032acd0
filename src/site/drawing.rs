//! Pictures are decoded and documents drawn on threads of a lower priority, so that they do not delay a sign-in. Decoding a
//! picture takes some 50 MB, so one is decoded at a time; a document takes little memory, and a long one some milliseconds.

use crate::http::failure::Failure;
use crate::site::Site;
use crate::site::priority;
use crate::store::write_scope;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a request waits for its drawing, the queue included: the largest take a second or two.
const DRAWING_WAIT_MAX: Duration = Duration::from_secs(30);
/// Documents that are drawn at the same time.
const DOCUMENT_THREADS: usize = 2;

type Job = Box<dyn FnOnce() + Send>;

/// The threads that draw.
#[derive(Default)]
pub struct Drawer {
    pictures: Queue,
    documents: Queue,
}

/// Drawings that wait for their threads, once a server has started those; without them each caller draws on its own thread.
#[derive(Default)]
struct Queue {
    /// Each caller waits for its job, so there are never more jobs than threads that take such requests.
    jobs: OnceLock<Sender<Job>>,
}

impl Drawer {
    /// Starts the threads; they end when the site is dropped.
    pub(crate) fn start(&self) -> io::Result<()> {
        self.pictures.start("pictures", 1)?;
        self.documents.start("drawing", DOCUMENT_THREADS)
    }
}

impl Queue {
    fn start(&self, name: &str, threads: usize) -> io::Result<()> {
        let (jobs, taken) = unbounded();
        for _ in 0..threads {
            let taken = taken.clone();
            std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                priority::lower();
                draw_all(&taken);
            })?;
        }
        _ = self.jobs.set(jobs);
        Ok(())
    }

    /// `None`: not done within `wait_max`. Work that had not begun by then is dropped.
    fn run<T: Send + 'static>(&self, wait_max: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let Some(jobs) = self.jobs.get() else { return Some(work()) };
        let (done, result) = bounded(1);
        let waits = Arc::new(());
        let wanted = Arc::downgrade(&waits);
        let job = move || {
            if wanted.strong_count() > 0 {
                _ = done.send(work());
            }
        };
        jobs.send(Box::new(job)).expect("the thread lives as long as the queue");
        match result.recv_timeout(wait_max) {
            Ok(drawn) => Some(drawn),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the drawing panicked; the line before says where"),
        }
    }
}

fn draw_all(jobs: &Receiver<Job>) {
    for job in jobs {
        // The caller learns of a panic by the end of its channel.
        _ = catch_unwind(AssertUnwindSafe(job));
    }
}

impl Site {
    /// Decodes a picture and draws it anew; see [`Site::draw_document`].
    pub(crate) fn draw_picture<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        self.draw(&self.drawer.pictures, work)
    }

    /// Draws a document. Drawing takes time, so the caller's snapshot is released first. 503 after [`DRAWING_WAIT_MAX`].
    pub(crate) fn draw_document<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        self.draw(&self.drawer.documents, work)
    }

    fn draw<T: Send + 'static>(&self, queue: &Queue, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        write_scope::forbid("a drawing");
        self.store.release();
        let drawn = queue.run(DRAWING_WAIT_MAX, work);
        drawn.ok_or_else(|| Failure::overloaded().because(format_args!("not drawn within {DRAWING_WAIT_MAX:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    const PATIENCE: Duration = Duration::from_secs(60);

    fn name() -> Option<String> {
        std::thread::current().name().map(str::to_owned)
    }

    #[test]
    fn one_thread_draws_for_everybody_and_outlives_a_panic() {
        let drawer = Queue::default();
        assert_eq!(drawer.run(PATIENCE, name), Some(name()));
        drawer.start("drawing", 1).unwrap();
        let fault = || drawer.run(PATIENCE, || -> () { panic!("a drawing with a fault") });
        assert!(catch_unwind(AssertUnwindSafe(fault)).is_err());
        assert_eq!(drawer.run(PATIENCE, name).flatten().as_deref(), Some("drawing"));
    }

    #[test]
    fn a_request_behind_a_drawing_that_hangs_times_out_and_its_own_drawing_is_not_begun() {
        let drawer = Queue::default();
        drawer.start("drawing", 1).unwrap();
        let (go_on, hangs) = bounded::<()>(0);
        let (begun, at_work) = bounded(0);
        let hang = move || {
            begun.send(()).unwrap();
            _ = hangs.recv();
        };
        std::thread::scope(|scope| {
            let first = scope.spawn(|| drawer.run(PATIENCE, hang));
            at_work.recv().unwrap();
            assert_eq!(drawer.run(Duration::from_millis(1), || unreachable!("nobody waits for it")), None::<()>);
            drop(go_on);
            assert_eq!(first.join().unwrap(), Some(()));
        });
        assert_eq!(drawer.run(PATIENCE, name).flatten().as_deref(), Some("drawing"));
    }

    #[test]
    fn one_thread_never_draws_two_at_once() {
        let (drawer, at_work, begun) = (Queue::default(), Arc::new(AtomicUsize::new(0)), Barrier::new(4));
        drawer.start("drawing", 1).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let at_work = at_work.clone();
                scope.spawn(|| {
                    begun.wait();
                    drawer.run(PATIENCE, move || {
                        assert_eq!(at_work.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        at_work.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
    }

    #[test]
    fn two_documents_are_drawn_at_once_and_one_picture() {
        let drawer = Drawer::default();
        drawer.start().unwrap();
        for (queue, at_once) in [(&drawer.documents, 2), (&drawer.pictures, 1)] {
            // Each drawing waits for its neighbours, which only drawings of the same time can meet.
            let meet = Arc::new(Barrier::new(at_once));
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    let meet = meet.clone();
                    scope.spawn(move || assert!(queue.run(PATIENCE, move || meet.wait()).is_some()));
                }
            });
        }
    }
}
