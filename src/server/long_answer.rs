//! The chunks of a long answer after the first: the thread pool makes each chunk once the one before is on its way to the
//! client, so that a slow client keeps no thread and no database connection busy.

use super::limiter::{ConnectionState, Progress};
use crate::http::chunks::Chunks;
use crate::http::failure::Failure;
use bytes::Bytes;
use std::fmt::{self, Display, Formatter};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::{Timeout, timeout};

/// Simultaneous long answers of the server, a limit on memory: each has a chunk or two there.
pub(super) const LONG_ANSWERS_MAX: usize = 16;

/// How long the pages and documents of one answer, or one of its chunks, may take.
pub(super) const DRAWN_ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// A chunk, and those after it: `None` after the last one.
pub(super) type NextChunk = Result<(Bytes, Option<Chunks>), Failure>;

/// Lets a thread of the pool make the next chunk; `false`: the server stops.
pub(super) type QueueChunk = Box<dyn Fn(Chunks, oneshot::Sender<NextChunk>) -> bool + Send + Sync>;

/// The chunks of one answer that the connection has not taken yet.
pub(super) struct RemainingChunks {
    queue: QueueChunk,
    state: State,
    request_id: String,
    /// The state of the connection that sends the answer.
    progress: Option<Arc<Progress>>,
    #[expect(dead_code, reason = "one of LONG_ANSWERS_MAX, held until the last chunk")]
    permit: OwnedSemaphorePermit,
}

enum State {
    Waiting(Chunks),
    Making(Pin<Box<Timeout<oneshot::Receiver<NextChunk>>>>),
    Ended,
}

/// The error for a chunk that cannot be made. The server then closes the connection before the end of the answer, so that
/// the client sees that the answer is incomplete.
#[derive(Debug)]
pub(super) struct Aborted;

impl Display for Aborted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the rest of the answer could not be made")
    }
}

impl std::error::Error for Aborted {}

impl RemainingChunks {
    pub(super) fn new(
        queue: QueueChunk,
        chunks: Chunks,
        request_id: &str,
        permit: OwnedSemaphorePermit,
    ) -> RemainingChunks {
        RemainingChunks {
            queue,
            state: State::Waiting(chunks),
            request_id: request_id.to_owned(),
            progress: None,
            permit,
        }
    }

    /// With the state of the connection that sends the answer. [`RemainingChunks::poll_next`] sets it: processing while a
    /// chunk is made, sending while the client is to receive one.
    pub(super) fn with_progress(self, progress: Arc<Progress>) -> RemainingChunks {
        RemainingChunks { progress: Some(progress), ..self }
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Polls for the next chunk: the first poll queues the job that makes the chunk. `None` after the last chunk and after an
    /// error. Fails if the server stops, if making the chunk fails, or takes too long.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Aborted>>> {
        let mut waiting = match std::mem::replace(&mut self.state, State::Ended) {
            State::Ended => return Poll::Ready(None),
            State::Making(made) => made,
            State::Waiting(chunks) => {
                self.set_state(ConnectionState::Processing);
                let (done, made) = oneshot::channel();
                if !(self.queue)(chunks, done) {
                    return Poll::Ready(Some(self.abort("the server stops")));
                }
                Box::pin(timeout(DRAWN_ANSWER_TIME_MAX, made))
            }
        };
        let Poll::Ready(made) = waiting.as_mut().poll(cx) else {
            self.state = State::Making(waiting);
            return Poll::Pending;
        };
        self.set_state(ConnectionState::Sending);
        Poll::Ready(Some(match made {
            Ok(Ok(Ok((piece, rest)))) => {
                self.state = rest.map_or(State::Ended, State::Waiting);
                Ok(piece)
            }
            Ok(Ok(Err(failure))) => self.abort(failure.cause().unwrap_or(failure.code())),
            Ok(Err(_)) => self.abort("a thread for requests ended early"),
            Err(_) => self.abort("the disk does not answer"),
        }))
    }

    fn set_state(&self, state: ConnectionState) {
        if let Some(progress) = &self.progress {
            progress.set(state);
        }
    }

    /// Logs the cause, which the client does not see.
    fn abort(&self, cause: &str) -> Result<Bytes, Aborted> {
        tracing::warn!(id = self.request_id, cause, "a long answer was cut off");
        Err(Aborted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::ops::ControlFlow;
    use tokio::sync::Semaphore;

    /// A long answer whose remaining chunks have one letter each, and the semaphore of its permit. Making a chunk fails after
    /// `sound` ones.
    fn rest(sound: usize, chunks: usize) -> (RemainingChunks, Arc<Semaphore>) {
        let queue: QueueChunk = Box::new(|chunks, done| {
            std::thread::spawn(move || done.send(chunks.make()));
            true
        });
        let mut made = 0;
        let next = move |text: &mut String| {
            made += 1;
            match made {
                1 => text.push_str(&"-".repeat(1024 * 1024)),
                _ if made > sound + 1 => return Err(Failure::broken().because("a fault of the disk")),
                _ => text.push('x'),
            }
            Ok(if made == chunks + 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let (_, chunks) = Chunks::begin(String::new(), next).unwrap();
        let places = Arc::new(Semaphore::new(1));
        let place = places.clone().try_acquire_owned().unwrap();
        (RemainingChunks::new(queue, chunks.unwrap(), "request-1", place), places)
    }

    async fn next(rest: &mut RemainingChunks) -> Option<Result<Bytes, Aborted>> {
        poll_fn(|cx| rest.poll_next(cx)).await
    }

    #[tokio::test]
    async fn chunks_come_one_by_one_and_the_permit_is_released_at_the_end() {
        let (mut rest, places) = rest(3, 3);
        for _ in 0..3 {
            assert!(!rest.is_ended() && places.available_permits() == 0);
            assert_eq!(next(&mut rest).await.unwrap().unwrap(), "x");
        }
        assert!(rest.is_ended() && next(&mut rest).await.is_none());
        drop(rest);
        assert_eq!(places.available_permits(), 1);
    }

    #[tokio::test]
    async fn a_chunk_that_fails_or_a_server_that_stops_aborts_the_answer() {
        let (mut rest, _places) = rest(1, 3);
        assert_eq!(next(&mut rest).await.unwrap().unwrap(), "x");
        assert!(next(&mut rest).await.unwrap().is_err() && next(&mut rest).await.is_none());
        let (mut stopped, _places) = self::rest(3, 3);
        stopped.queue = Box::new(|_, _| false);
        assert!(next(&mut stopped).await.unwrap().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_chunk_that_never_comes_aborts_the_answer() {
        let (mut rest, _places) = rest(3, 3);
        rest.queue = Box::new(|chunks, done| {
            std::mem::forget((chunks, done));
            true
        });
        let never = timeout(2 * DRAWN_ANSWER_TIME_MAX, next(&mut rest)).await.unwrap();
        assert!(never.unwrap().is_err() && next(&mut rest).await.is_none());
    }

    #[tokio::test]
    async fn the_connection_state_tells_whether_it_waits_for_this_server() {
        let (rest, _places) = rest(3, 3);
        let progress = Arc::<Progress>::default();
        let mut rest = rest.with_progress(progress.clone());
        let is_pending = poll_fn(|cx| Poll::Ready(rest.poll_next(cx).is_pending())).await;
        assert_eq!(progress.state(), if is_pending { ConnectionState::Processing } else { ConnectionState::Sending });
        next(&mut rest).await.unwrap().unwrap();
        assert_eq!(progress.state(), ConnectionState::Sending);
    }
}
