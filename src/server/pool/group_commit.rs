//! The queue of operations that end with a write: one thread runs all waiting operations one after the other, flushes the
//! disk once for all of them, and then answers them.
//!
//! With threads that share a flush, each write has three context switches: to the thread, to the connection, and back from
//! the flush. These took more time than the writes.

use super::{Job, QUEUE_WAIT_MAX, QueuedCall, begin, make_chunk, perform, run};
use crate::http::Answer;
use crate::server::queue::{Limits, Queue, Worker};
use crate::site::Site;
use crate::store::PendingWrite;

/// The most operations that share a flush: with more, the first would wait longer than the flush takes.
pub(super) const PENDING_ANSWERS_MAX: usize = 64;

/// The state of the thread.
pub(super) struct GroupCommitWorker {
    site: Site,
    pending: Vec<PendingAnswer>,
}

/// An answer whose write is not flushed yet.
struct PendingAnswer {
    call: QueuedCall,
    answer: Answer,
    write: PendingWrite,
}

/// Starts the thread.
pub(super) fn start(site: &Site, limits: Limits) -> Result<Queue<Job>, String> {
    let site = site.for_another_thread();
    begin(limits, move || Box::new(GroupCommitWorker::new(&site)) as _)
}

impl GroupCommitWorker {
    pub(super) fn new(site: &Site) -> GroupCommitWorker {
        let mut site = site.for_another_thread();
        site.store.defer_waits();
        GroupCommitWorker { site, pending: Vec::new() }
    }
}

impl Worker<Job> for GroupCommitWorker {
    fn work(&mut self, job: Job) {
        let site = &self.site;
        match job {
            Job::Call(call) if call.queued.elapsed() > QUEUE_WAIT_MAX => run(site, call, QUEUE_WAIT_MAX),
            Job::Call(call) => {
                let answer = perform(site, &call);
                match site.store.take_pending() {
                    None => call.finish(site, answer),
                    Some(write) => self.pending.push(PendingAnswer { call, answer, write }),
                }
            }
            Job::Chunk { chunks, done } => make_chunk(chunks, done),
            Job::Question(question) => question(site),
        }
        if self.pending.len() >= PENDING_ANSWERS_MAX {
            self.pause();
        }
    }

    fn pause(&mut self) {
        for PendingAnswer { call, answer, mut write } in self.pending.drain(..) {
            let flushed = self.site.store.wait(&mut write);
            call.finish(&self.site, answer.and_then(|reply| flushed.map(|()| reply)));
        }
    }
}

/// Flushes and answers on the end of the thread.
impl Drop for GroupCommitWorker {
    fn drop(&mut self) {
        self.pause();
    }
}
