//! The thread pool that runs operations: a limited number of threads behind queues of limited length.
//!
//! Writes wait for the disk, so many threads share each flush. Reads need few threads, which saves context switches, and
//! never wait behind a flush. Operations that end with their only write run one after the other on one thread, see
//! [`group_commit`].
//!
//! Operations that hash a password have threads and a queue of their own, so that a flood of sign-ins does not delay others;
//! [`Hashers`] makes the hashes. Pictures, documents and long tables have two threads and a short queue, and are drawn by
//! [`crate::site::drawing::Drawer`].

mod group_commit;

use super::long_answer::{DRAWN_ANSWER_TIME_MAX, LONG_ANSWERS_MAX, NextChunk, RemainingChunks};
use super::queue::{Limits, Queue, Usage, Work};
use crate::auth::{self, Access};
use crate::http::Answer;
use crate::http::call::{AuthOutcome, Call, PrincipalId};
use crate::http::chunks::Chunks;
use crate::http::failure::Failure;
use crate::http::gzip;
use crate::http::reply::{self, Reply};
use crate::http::row::CallerKind;
use crate::site::Site;
use crate::site::hashing::Hashers;
use crate::store::ChangeFeed;
use crate::store::Writer;
use crate::web::{self, Frame};
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot};

/// How long a request may wait for a thread before it is refused. Hashing is slow by design.
const QUEUE_WAIT_MAX: Duration = Duration::from_secs(2);
const HASHING_QUEUE_WAIT_MAX: Duration = Duration::from_secs(8);
/// More than one, because some threads wait for a page of the database.
const READING_THREADS_PER_CORE: usize = 2;
/// While one thread's hash is made, the other reads and writes.
const HASHING_THREADS_PER_CORE: usize = 2;
/// While one thread's document is drawn, the other reads and writes.
const DRAWING_THREADS: usize = 2;
const DRAWING_QUEUE_MAX: usize = 64;
const DRAWING_QUEUE_WAIT_MAX: Duration = Duration::from_secs(8);
/// A core hashes about 70 passwords a second, so more than this would wait too long anyway.
const HASHING_QUEUE_PER_CORE: usize = 256;
/// While one thread waits for news for the standby, the other handles the request that ends the wait. The standby has its own
/// threads, because the writing ones may all wait for the standby.
const STANDBY_THREADS: usize = 2;
const STANDBY_QUEUE_MAX: usize = 16;
/// How often a call that may write looks whether the disk answers.
const HANG_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// After this time a read is answered with a failure: much longer than it may wait for a thread and a connection, and may run.
const READ_ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// After this time a write that waits behind others, a long import for example, is answered with a failure. Its thread goes on.
const WRITE_ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

pub(super) struct Pool {
    writer: Arc<Writer>,
    hashers: Arc<Hashers>,
    changes: Arc<ChangeFeed>,
    reading: Queue<Job>,
    writing: Queue<Job>,
    /// `None` where answers wait for a standby.
    entering: Option<Queue<Job>>,
    hashing: Queue<Job>,
    drawing: Queue<Job>,
    /// `None` without a standby in the settings.
    standby: Option<Queue<Job>>,
    /// See [`LONG_ANSWERS_MAX`].
    long_answers: Arc<Semaphore>,
}

/// Asks questions of the server's own, on the reading threads.
pub(super) struct Asker(Queue<Job>);

impl Asker {
    /// Asks on a reading thread; `None` where none is free for that, or the disk does not answer.
    pub(super) async fn ask<T: Send + 'static>(&self, question: impl FnOnce(&Site) -> T + Send + 'static) -> Option<T> {
        let (done, answer) = oneshot::channel();
        let question = move |site: &Site| {
            _ = done.send(question(site));
            site.store.release();
        };
        self.0.push(Job::Question(Box::new(question))).ok()?;
        tokio::time::timeout(READ_ANSWER_TIME_MAX, answer).await.ok()?.ok()
    }
}

#[expect(clippy::large_enum_variant, reason = "nearly all are calls, and none should cost an allocation")]
pub(super) enum Job {
    Call(QueuedCall),
    /// The next chunk of a long answer.
    Chunk {
        chunks: Chunks,
        done: oneshot::Sender<NextChunk>,
    },
    /// A question of the server's own.
    Question(Box<dyn FnOnce(&Site) + Send>),
}

pub(super) struct QueuedCall {
    access: &'static Access,
    call: Call,
    queued: Instant,
    /// When a thread began with the call.
    begun: OnceCell<Instant>,
    /// The call is sent back too, to be freed by the thread that made it: freeing the memory of another thread contends for
    /// the allocator's locks.
    done: oneshot::Sender<(FinishedCall, Call)>,
}

/// An answer, with the values for its log line.
pub(super) struct FinishedCall {
    pub reply: Reply,
    /// The remaining chunks of a long reply, with the queue that makes them.
    pub rest: Option<RemainingChunks>,
    pub principal: PrincipalId,
    /// When a thread began with the call, if one did.
    pub begun: Option<Instant>,
    /// See [`Call::delayed`].
    pub delayed: bool,
    /// See [`Call::outcome`].
    pub outcome: AuthOutcome,
    pub code: Option<&'static str>,
    pub cause: Option<String>,
}

/// How long the answer of a call is awaited.
#[derive(Clone, Copy)]
enum Patience {
    /// Up to [`WRITE_ANSWER_TIME_MAX`], and until the disk does not answer a write.
    WhileWritesEnd,
    /// A read that hangs has no other sign than its time.
    For(Duration),
    /// The standby awaits news.
    Endless,
}

impl Patience {
    fn of(call: &Call) -> Patience {
        match call.row {
            route if route.caller_kind == CallerKind::Standby => Patience::Endless,
            _ if !call.reads() => Patience::WhileWritesEnd,
            route if route.draws || route.hashes => Patience::For(DRAWN_ANSWER_TIME_MAX),
            _ => Patience::For(READ_ANSWER_TIME_MAX),
        }
    }
}

impl Pool {
    pub(super) fn start(site: &Site) -> Result<Pool, String> {
        let limits = &site.config.limits;
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        site.hashers.start().map_err(|e| format!("cannot start the threads that hash: {e}"))?;
        site.drawer.start().map_err(|e| format!("cannot start the thread that draws: {e}"))?;
        let reading = limits.pool_threads.min(cores * READING_THREADS_PER_CORE);
        let brief = |name, threads_max| Limits { name, threads_max, jobs_max: limits.queue_max };
        let hashing = Limits {
            name: "sign-in",
            threads_max: cores * HASHING_THREADS_PER_CORE,
            jobs_max: cores * HASHING_QUEUE_PER_CORE,
        };
        let drawing = Limits { name: "documents", threads_max: DRAWING_THREADS, jobs_max: DRAWING_QUEUE_MAX };
        let standby = Limits { name: "standby", threads_max: STANDBY_THREADS, jobs_max: STANDBY_QUEUE_MAX };
        let answers_at_once = !site.config.replica.answers_wait();
        let has_standby = site.config.replica.token.is_some();
        Ok(Pool {
            reading: start(site, brief("reading", reading), QUEUE_WAIT_MAX)?,
            writing: start(site, brief("writing", limits.pool_threads), QUEUE_WAIT_MAX)?,
            entering: answers_at_once.then(|| group_commit::start(site, brief("entering", 1))).transpose()?,
            hashing: start(site, hashing, HASHING_QUEUE_WAIT_MAX)?,
            drawing: start(site, drawing, DRAWING_QUEUE_WAIT_MAX)?,
            standby: has_standby.then(|| start(site, standby, QUEUE_WAIT_MAX)).transpose()?,
            long_answers: Arc::new(Semaphore::new(LONG_ANSWERS_MAX)),
            writer: site.store.shared_writer(),
            hashers: site.hashers.clone(),
            changes: site.store.change_feed(),
        })
    }

    /// Runs a call on its queue. A full queue refuses the call immediately. While the disk does not answer, a call is answered with a failure.
    pub(super) async fn run(&self, fallback: &Fallback<'_>, access: &'static Access, mut call: Call) -> FinishedCall {
        let queued = Instant::now();
        // The one thread of these calls waits for the disk itself, and could not even refuse them.
        if call.row.ends_in_write && self.writer.hangs_for().is_some() {
            return refused_without_call(fallback, None, Failure::disk_hangs().because("an earlier write hangs"));
        }
        let patience = Patience::of(&call);
        let page = call.row.is_page().then(|| call.path.clone());
        call.changes_before = self.changes.count();
        let queue = match call.row {
            route if route.hashes => &self.hashing,
            route if route.draws => &self.drawing,
            route if route.caller_kind == CallerKind::Standby => self.standby.as_ref().unwrap_or(&self.reading),
            _ if call.reads() => {
                self.hashers.note_read(queued);
                &self.reading
            }
            route if route.ends_in_write => self.entering.as_ref().unwrap_or(&self.writing),
            _ => &self.writing,
        };
        let (done, answer) = oneshot::channel();
        if let Err(Job::Call(job)) =
            queue.push(Job::Call(QueuedCall { access, call, queued, begun: OnceCell::new(), done }))
        {
            fallback.stats.queue_full.fetch_add(1, Ordering::Relaxed);
            let failure = Failure::overloaded().because("the queue is full");
            return refused(&job.call, failure, || Frame::named(fallback.site_name.get(), fallback.language));
        }
        match self.await_patiently(answer, patience).await {
            Ok((finished, call)) if finished.reply.rest.is_some() => {
                self.attach_remaining_chunks(fallback, finished, &call)
            }
            Ok((finished, _)) => finished,
            Err(failure) => refused_without_call(fallback, page.as_deref(), failure),
        }
    }

    /// The failure for a call that took too long, whose writes may be there later all the same, or whose thread ended.
    async fn await_patiently<T>(&self, mut answer: oneshot::Receiver<T>, patience: Patience) -> Result<T, Failure> {
        let ended = |_| Failure::broken().because("a thread for requests ended early");
        let given_up_at = tokio::time::Instant::now() + WRITE_ANSWER_TIME_MAX;
        loop {
            let time = match patience {
                Patience::WhileWritesEnd => HANG_CHECK_INTERVAL,
                Patience::For(time) => time,
                Patience::Endless => return answer.await.map_err(ended),
            };
            let is_write = matches!(patience, Patience::WhileWritesEnd);
            match tokio::time::timeout(time, &mut answer).await {
                Ok(answer) => return answer.map_err(ended),
                Err(_) if !is_write || self.writer.hangs_for().is_some() => {
                    return Err(Failure::disk_hangs().because("the disk does not answer"));
                }
                Err(_) if tokio::time::Instant::now() >= given_up_at => {
                    return Err(Failure::outcome_unknown().because("the call waited too long behind other writes"));
                }
                Err(_) => {}
            }
        }
    }

    /// Attaches the remaining chunks to a long answer, within the limit of long answers.
    fn attach_remaining_chunks(
        &self,
        fallback: &Fallback<'_>,
        mut finished: FinishedCall,
        call: &Call,
    ) -> FinishedCall {
        let Some(chunks) = finished.reply.rest.take() else { return finished };
        match self.long_answers.clone().try_acquire_owned() {
            Ok(permit) => {
                let drawing = self.drawing.clone();
                let queue = move |chunks, done| drawing.push_continuation(Job::Chunk { chunks, done }).is_ok();
                finished.rest = Some(RemainingChunks::new(Box::new(queue), chunks, fallback.request_id, permit));
                finished
            }
            Err(_) => {
                let failure = Failure::overloaded().because("as many long answers are under way as may be");
                refused(call, failure, || Frame::named(fallback.site_name.get(), fallback.language))
            }
        }
    }

    /// The handle through which the server asks questions of its own.
    pub(super) fn asker(&self) -> Asker {
        Asker(self.reading.clone())
    }

    /// How much of each queue for requests is used now.
    pub(super) fn usage(&self) -> impl Iterator<Item = Usage> {
        let all = [&self.reading, &self.writing, &self.hashing, &self.drawing];
        all.into_iter().chain(&self.entering).map(Queue::usage)
    }

    /// Ends the threads after the queued jobs. Threads that hang are abandoned.
    pub(super) fn stop(&self, time_max: Duration) {
        let deadline = Instant::now() + time_max;
        let queues = [&self.reading, &self.writing, &self.hashing, &self.drawing];
        let queues: Vec<&Queue<Job>> = queues.into_iter().chain(&self.entering).chain(&self.standby).collect();
        queues.iter().for_each(|queue| queue.close());
        let ended: Vec<bool> = queues.iter().map(|queue| queue.ends_by(deadline)).collect();
        if !ended.iter().all(|ended| *ended) {
            tracing::warn!("some threads for requests did not end in time");
        }
    }
}

/// A queue for the site. Jobs that waited longer than `wait_max` are refused.
fn start(site: &Site, limits: Limits, wait_max: Duration) -> Result<Queue<Job>, String> {
    let site = site.for_another_thread();
    let work = move || {
        let site = site.for_another_thread();
        Box::new(move |job| match job {
            Job::Call(call) => run(&site, call, wait_max),
            Job::Chunk { chunks, done } => make_chunk(chunks, done),
            Job::Question(question) => question(&site),
        }) as _
    };
    begin(limits, work)
}

fn begin(limits: Limits, work: impl Fn() -> Work<Job> + Send + 'static) -> Result<Queue<Job>, String> {
    Queue::start(limits, work).map_err(|e| format!("cannot start the threads for requests: {e}"))
}

fn make_chunk(chunks: Chunks, done: oneshot::Sender<NextChunk>) {
    // A client that has left needs no piece.
    if !done.is_closed() {
        _ = done.send(chunks.make());
    }
}

/// The context of an answer that no thread of the pool could make.
pub(super) struct Fallback<'a> {
    pub stats: &'a crate::stats::Stats,
    pub site_name: &'a crate::site::CachedName,
    pub language: crate::i18n::language::Language,
    pub request_id: &'a str,
}

fn run(site: &Site, job: QueuedCall, wait_max: Duration) {
    let answer = if job.queued.elapsed() > wait_max {
        site.stats.queue_too_long.fetch_add(1, Ordering::Relaxed);
        Err(Failure::overloaded().because("the request waited too long in the queue"))
    } else {
        perform(site, &job)
    };
    job.finish(site, answer);
}

/// Runs the operation. A panic is a 500 and the thread lives.
fn perform(site: &Site, QueuedCall { access, call, begun, .. }: &QueuedCall) -> Answer {
    _ = begun.set(Instant::now());
    let answer = catch_unwind(AssertUnwindSafe(|| auth::admit(site, call, access)));
    site.store.release();
    answer.unwrap_or_else(|_| {
        site.stats.panics.fetch_add(1, Ordering::Relaxed);
        Err(Failure::broken().because("the operation panicked; the log line before has the place"))
    })
}

impl QueuedCall {
    fn finish(self, site: &Site, answer: Answer) {
        let finished = FinishedCall { begun: self.begun.get().copied(), ..finish(site, &self.call, answer) };
        _ = self.done.send((finished, self.call));
    }
}

fn finish(site: &Site, call: &Call, answer: Result<Reply, Failure>) -> FinishedCall {
    let finished = match answer {
        Ok(reply) => finished(gzip::finish(reply, call), call.principal.get(), None),
        Err(failure) if call.row.is_page() => {
            finished(web::refusal_of_call(site, call, &failure), call.principal.get(), Some(failure))
        }
        Err(failure) => refused(call, failure, || Frame::of_refused_call(site, call)),
    };
    FinishedCall { delayed: call.delayed.get(), outcome: call.outcome.get(), ..finished }
}

fn refused(call: &Call, failure: Failure, frame: impl FnOnce() -> Frame) -> FinishedCall {
    let reply = match call.row.is_page() {
        true => web::refusal_of(&call.path).unwrap_or(web::refusal)(&failure, frame(), &call.request_id),
        false => reply::refusal(&failure, call.language(), &call.request_id),
    };
    finished(reply, call.principal.get(), Some(failure))
}

/// The refusal of a call that a thread still has; `page`: the path, where the answer is a page.
fn refused_without_call(fallback: &Fallback, page: Option<&str>, failure: Failure) -> FinishedCall {
    let reply = match page {
        Some(path) => {
            let frame = Frame::named(fallback.site_name.get(), fallback.language);
            web::refusal_of(path).unwrap_or(web::refusal)(&failure, frame, fallback.request_id)
        }
        None => reply::refusal(&failure, fallback.language, fallback.request_id),
    };
    finished(reply, PrincipalId::Anyone, Some(failure))
}

pub(super) fn finished(reply: Reply, principal: PrincipalId, failure: Option<Failure>) -> FinishedCall {
    let code = failure.as_ref().map(Failure::code);
    FinishedCall {
        reply,
        rest: None,
        principal,
        begun: None,
        delayed: false,
        outcome: AuthOutcome::Plain,
        code,
        cause: failure.and_then(|f| f.cause().map(str::to_owned)),
    }
}

#[cfg(test)]
mod tests;
