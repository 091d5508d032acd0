//! Answers that go on: a stream of events which says that something changed, and never what. The page that listens asks for
//! itself again.

use super::long_answer::{Aborted, RemainingChunks};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::Instant;

/// Streams at once: each holds a connection and a task, and no thread.
pub(super) const STREAMS_MAX: usize = 64;
/// After so long a stream ends, and whoever still listens has to be let in anew: a session may have ended.
const STREAM_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// A word now and then, so that what lies between keeps the connection and one that broke is noticed.
const WORD_EVERY: Duration = Duration::from_secs(15);
/// Between two events: a list that is taken in changes something a thousand times a second.
const EVENT_GAP: Duration = Duration::from_millis(400);

const CHANGED: &[u8] = b"event: changed\ndata:\n\n";
const WORD: &[u8] = b":\n\n";

/// The body of an answer: whole, in pieces, or a stream of events.
pub(super) enum Answer {
    Whole(Full<Bytes>),
    /// The first piece until it is sent, and the rest.
    Long(Bytes, Box<RemainingChunks>),
    /// Its place among the streams is given back with it.
    Live(
        mpsc::Receiver<Bytes>,
        #[expect(dead_code, reason = "held for as long as the stream goes on")] OwnedSemaphorePermit,
    ),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut *self {
            Answer::Whole(whole) => {
                Pin::new(whole).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
            }
            Answer::Long(first, _) if !first.is_empty() => Poll::Ready(Some(Ok(Frame::data(std::mem::take(first))))),
            Answer::Long(_, rest) => rest.poll_next(cx).map(|piece| piece.map(|piece| piece.map(Frame::data))),
            Answer::Live(events, _) => events.poll_recv(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Answer::Whole(whole) => whole.is_end_stream(),
            Answer::Long(first, rest) => first.is_empty() && rest.is_ended(),
            Answer::Live(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Whole(whole) => whole.size_hint(),
            Answer::Long(..) | Answer::Live(..) => SizeHint::default(),
        }
    }
}

/// The open event streams of a server.
pub(super) struct Streams {
    places: Arc<Semaphore>,
    /// The count of changes; `None`: the server is to stop.
    changes: watch::Sender<Option<u64>>,
}

impl Streams {
    pub(super) fn new() -> Arc<Streams> {
        Arc::new(Streams { places: Arc::new(Semaphore::new(STREAMS_MAX)), changes: watch::channel(Some(0)).0 })
    }

    /// Tells all streams of a change; `false` once they have ended.
    pub(super) fn tell(&self, count: u64) -> bool {
        self.changes.send_if_modified(|known| {
            let goes_on = known.is_some();
            *known = known.and(Some(count));
            goes_on
        })
    }

    /// Ends all streams, and those to come at once.
    pub(super) fn end(&self) {
        self.changes.send_replace(None);
    }

    /// Begins a stream with `first`; `None`: there are too many.
    pub(super) fn begin(&self, first: Bytes) -> Option<Answer> {
        let place = self.places.clone().try_acquire_owned().ok()?;
        let (events, sent) = mpsc::channel(1);
        tokio::spawn(run(self.changes.subscribe(), events, first));
        Some(Answer::Live(sent, place))
    }
}

async fn run(mut changes: watch::Receiver<Option<u64>>, events: mpsc::Sender<Bytes>, first: Bytes) {
    let end = Instant::now() + STREAM_TIME_MAX;
    let (mut next, mut quiet_until) = (first, Instant::now());
    while changes.borrow_and_update().is_some() && events.send(next).await.is_ok() {
        let changed = async {
            tokio::time::sleep_until(quiet_until).await;
            changes.changed().await
        };
        next = tokio::select! {
            changed = changed => match changed {
                Ok(()) => Bytes::from_static(CHANGED),
                Err(_) => return,
            },
            () = tokio::time::sleep(WORD_EVERY) => Bytes::from_static(WORD),
            () = tokio::time::sleep_until(end) => return,
            () = events.closed() => return,
        };
        quiet_until = Instant::now() + EVENT_GAP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    async fn next(answer: &mut Answer) -> Option<Bytes> {
        Some(answer.frame().await?.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_tells_of_changes_at_once_and_seldom_and_ends_with_its_time_and_with_the_server() {
        let streams = Streams::new();
        let mut answer = streams.begin(Bytes::from_static(b"retry: 1000\n\n")).unwrap();
        assert_eq!(next(&mut answer).await.unwrap(), "retry: 1000\n\n");
        let start = Instant::now();
        streams.tell(1);
        assert_eq!(next(&mut answer).await.unwrap(), CHANGED);
        assert_eq!(start.elapsed(), Duration::ZERO, "the first is told at once");
        (2..100).for_each(|count| _ = streams.tell(count));
        assert_eq!(next(&mut answer).await.unwrap(), CHANGED);
        assert_eq!(start.elapsed(), EVENT_GAP, "many are told as one");
        assert_eq!(next(&mut answer).await.unwrap(), WORD);
        while next(&mut answer).await.is_some() {}
        assert_eq!(start.elapsed(), STREAM_TIME_MAX);
        let mut another = streams.begin(Bytes::from_static(WORD)).unwrap();
        next(&mut another).await.unwrap();
        streams.end();
        assert!(next(&mut another).await.is_none() && !streams.tell(1));
    }

    #[tokio::test]
    async fn one_stream_too_many_is_refused_and_a_place_is_given_back() {
        let streams = Streams::new();
        let mut all: Vec<Answer> = (0..STREAMS_MAX).map(|_| streams.begin(Bytes::new()).unwrap()).collect();
        assert!(streams.begin(Bytes::new()).is_none());
        all.pop();
        assert!(streams.begin(Bytes::new()).is_some());
    }
}
