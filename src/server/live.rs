//! Response bodies, and the event streams that tell pages of changes. An event says only that something has changed; the page
//! then reloads itself.

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

/// Simultaneous streams: each has a connection and a task, and no thread.
pub(super) const STREAMS_MAX: usize = 64;
/// A stream ends after this time, and the client must authenticate again: its session may have ended.
const STREAM_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// The interval of keep-alive comments, by which proxies keep the connection and a broken one is noticed.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// The least time between two events: an import makes a thousand changes a second.
const EVENT_GAP: Duration = Duration::from_millis(400);

const CHANGED: &[u8] = b"event: changed\ndata:\n\n";
const KEEP_ALIVE: &[u8] = b":\n\n";

/// The body of an answer: whole, in chunks, or an event stream.
pub(super) enum ResponseBody {
    Whole(Full<Bytes>),
    /// The first chunk until it is sent, and the remaining chunks.
    Long(Bytes, Box<RemainingChunks>),
    /// An event stream, with its permit.
    Live(mpsc::Receiver<Bytes>, #[expect(dead_code, reason = "held until the stream ends")] OwnedSemaphorePermit),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        match &mut *self {
            ResponseBody::Whole(whole) => {
                Pin::new(whole).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
            }
            ResponseBody::Long(first, _) if !first.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(first)))))
            }
            ResponseBody::Long(_, rest) => rest.poll_next(cx).map(|piece| piece.map(|piece| piece.map(Frame::data))),
            ResponseBody::Live(events, _) => {
                events.poll_recv(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ResponseBody::Whole(whole) => whole.is_end_stream(),
            ResponseBody::Long(first, rest) => first.is_empty() && rest.is_ended(),
            ResponseBody::Live(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            ResponseBody::Whole(whole) => whole.size_hint(),
            ResponseBody::Long(..) | ResponseBody::Live(..) => SizeHint::default(),
        }
    }
}

/// The open event streams of a server.
pub(super) struct Streams {
    permits: Arc<Semaphore>,
    /// The count of changes; `None`: the server stops.
    changes: watch::Sender<Option<u64>>,
}

impl Streams {
    pub(super) fn new() -> Arc<Streams> {
        Arc::new(Streams { permits: Arc::new(Semaphore::new(STREAMS_MAX)), changes: watch::channel(Some(0)).0 })
    }

    /// Sends an event to all streams; `false` once they have ended.
    pub(super) fn send(&self, count: u64) -> bool {
        self.changes.send_if_modified(|known| {
            let goes_on = known.is_some();
            *known = known.and(Some(count));
            goes_on
        })
    }

    /// Ends all streams, also later ones.
    pub(super) fn end(&self) {
        self.changes.send_replace(None);
    }

    /// Begins a stream with `first`; `None`: too many streams are open.
    pub(super) fn begin(&self, first: Bytes) -> Option<ResponseBody> {
        let permit = self.permits.clone().try_acquire_owned().ok()?;
        let (events, sent) = mpsc::channel(1);
        tokio::spawn(run(self.changes.subscribe(), events, first));
        Some(ResponseBody::Live(sent, permit))
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
            () = tokio::time::sleep(KEEP_ALIVE_INTERVAL) => Bytes::from_static(KEEP_ALIVE),
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

    async fn next(answer: &mut ResponseBody) -> Option<Bytes> {
        Some(answer.frame().await?.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_sends_events_at_once_but_not_often_and_ends_after_its_time_or_with_the_server() {
        let streams = Streams::new();
        let mut answer = streams.begin(Bytes::from_static(b"retry: 1000\n\n")).unwrap();
        assert_eq!(next(&mut answer).await.unwrap(), "retry: 1000\n\n");
        let start = Instant::now();
        streams.send(1);
        assert_eq!(next(&mut answer).await.unwrap(), CHANGED);
        assert_eq!(start.elapsed(), Duration::ZERO, "the first is told at once");
        (2..100).for_each(|count| _ = streams.send(count));
        assert_eq!(next(&mut answer).await.unwrap(), CHANGED);
        assert_eq!(start.elapsed(), EVENT_GAP, "many are told as one");
        assert_eq!(next(&mut answer).await.unwrap(), KEEP_ALIVE);
        while next(&mut answer).await.is_some() {}
        assert_eq!(start.elapsed(), STREAM_TIME_MAX);
        let mut another = streams.begin(Bytes::from_static(KEEP_ALIVE)).unwrap();
        next(&mut another).await.unwrap();
        streams.end();
        assert!(next(&mut another).await.is_none() && !streams.send(1));
    }

    #[tokio::test]
    async fn streams_over_the_limit_are_refused_until_another_ends() {
        let streams = Streams::new();
        let mut all: Vec<ResponseBody> = (0..STREAMS_MAX).map(|_| streams.begin(Bytes::new()).unwrap()).collect();
        assert!(streams.begin(Bytes::new()).is_none());
        all.pop();
        assert!(streams.begin(Bytes::new()).is_some());
    }
}
