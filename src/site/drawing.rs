//! Where pictures are decoded and documents are set: on one thread of its own at a lower priority, so that they neither hold
//! up a sign-in nor fill the memory. One picture at work is some fifty megabytes, and a long logbook is half a second.

use super::Site;
use crate::service::pace;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

type Job = Box<dyn FnOnce() + Send>;

/// The thread that draws, once a server has started it. Before that, whoever wants something drawn draws it.
#[derive(Default)]
pub struct Drawer {
    /// Each caller waits for its job, so there are never more jobs than threads that take such requests.
    jobs: OnceLock<Sender<Job>>,
}

impl Drawer {
    /// The thread ends when nobody holds the site any more.
    pub fn start(&self) -> io::Result<()> {
        let (jobs, taken) = unbounded();
        std::thread::Builder::new().name("drawing".to_owned()).spawn(move || {
            pace::give_way();
            draw_all(&taken);
        })?;
        _ = self.jobs.set(jobs);
        Ok(())
    }

    fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let Some(jobs) = self.jobs.get() else { return work() };
        let (done, result) = std::sync::mpsc::sync_channel(1);
        jobs.send(Box::new(move || _ = done.send(work()))).expect("the thread lives as long as the queue");
        result.recv().expect("the drawing panicked; the line before says where")
    }
}

fn draw_all(jobs: &Receiver<Job>) {
    for job in jobs {
        // The caller learns of a panic by the end of its channel.
        _ = catch_unwind(AssertUnwindSafe(job));
    }
}

impl Site {
    /// Draws a picture or a document. That takes its time, so the caller's snapshot is let go of first.
    pub fn draw<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.store.rest();
        self.drawer.run(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    fn name() -> Option<String> {
        std::thread::current().name().map(str::to_owned)
    }

    #[test]
    fn one_thread_draws_for_everybody_and_outlives_a_panic() {
        let drawer = Drawer::default();
        assert_eq!(drawer.run(name), name());
        drawer.start().unwrap();
        let fault = || drawer.run(|| -> () { panic!("a drawing with a fault") });
        assert!(catch_unwind(AssertUnwindSafe(fault)).is_err());
        assert_eq!(drawer.run(name).as_deref(), Some("drawing"));
    }

    #[test]
    fn never_two_are_drawn_at_once() {
        let (drawer, at_work, begun) = (Drawer::default(), Arc::new(AtomicUsize::new(0)), Barrier::new(4));
        drawer.start().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let at_work = at_work.clone();
                scope.spawn(|| {
                    begun.wait();
                    drawer.run(move || {
                        assert_eq!(at_work.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        at_work.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
    }
}
