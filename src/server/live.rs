//! Response bodies, and the event streams that tell pages of changes. An event says only that something has changed; the page
//! then reloads itself.

use super::long_answer::{Aborted, RemainingChunks};
use crate::domain::ids::MemberId;
use crate::http::reply::Listener;
use crate::store::tables::sessions::TokenHash;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// Simultaneous streams: each has a connection and a task, and no thread.
pub(super) const STREAMS_MAX: usize = 64;
/// Simultaneous streams of one session; another ends the oldest. The screens of a site may share a session, twenty of them in
/// the load test, and the server notices late that a page was left.
const STREAMS_PER_SESSION_MAX: usize = 24;
/// A stream ends after this time, and the client must authenticate again.
const STREAM_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// The interval of keep-alive comments, by which proxies keep the connection and a broken one is noticed.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// The least time between two events: an import makes a thousand changes a second.
const EVENT_GAP: Duration = Duration::from_millis(400);

const CHANGED: &[u8] = b"event: changed\ndata:\n\n";
const KEEP_ALIVE: &[u8] = b":\n\n";

/// The body of an answer: in one piece, in chunks, or an event stream.
pub(super) enum ResponseBody {
    Whole(Full<Bytes>),
    /// The first chunk until it is sent, and the remaining chunks.
    Long(Bytes, Box<RemainingChunks>),
    /// An event stream, with its place.
    Live(mpsc::Receiver<Bytes>, #[expect(dead_code, reason = "held until the stream ends")] StreamPlace),
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

/// The event streams of a server.
pub(super) struct Streams {
    /// The open ones, the oldest first.
    open: Mutex<Vec<OpenStream>>,
    begun: AtomicU64,
    /// The count of changes; `None`: the server stops.
    changes: watch::Sender<Option<u64>>,
}

struct OpenStream {
    number: u64,
    listener: Listener,
    /// Dropped to end the stream.
    _order: oneshot::Sender<()>,
}

/// The place of a stream among the open ones, given back on drop.
pub(super) struct StreamPlace {
    streams: Arc<Streams>,
    number: u64,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.streams.open().retain(|one| one.number != self.number);
    }
}

impl Streams {
    /// The sessions of those who opened streams.
    pub(super) fn sessions(&self) -> Vec<TokenHash> {
        let mut sessions: Vec<_> = self.open().iter().map(|one| one.listener.session).collect();
        sessions.dedup();
        sessions
    }

    /// Ends the streams of these sessions.
    pub(super) fn end_those_of(&self, sessions: &[TokenHash]) {
        self.open().retain(|one| !sessions.contains(&one.listener.session));
    }

    pub(super) fn new() -> Arc<Streams> {
        Arc::new(Streams { open: Mutex::default(), begun: AtomicU64::new(0), changes: watch::channel(Some(0)).0 })
    }

    fn open(&self) -> MutexGuard<'_, Vec<OpenStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(super) fn begin(self: &Arc<Streams>, first: Bytes, listener: Listener) -> Option<ResponseBody> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let (order, ended) = oneshot::channel();
        let mut open = self.open();
        make_room(&mut open, listener)?;
        open.push(OpenStream { number, listener, _order: order });
        drop(open);
        let (events, sent) = mpsc::channel(1);
        tokio::spawn(run(self.changes.subscribe(), events, first, ended));
        Some(ResponseBody::Live(sent, StreamPlace { streams: self.clone(), number }))
    }
}

/// Makes room for a stream by ending at most one: the oldest of the same session, if that has its share; where all places are
/// taken, the oldest of the member with the most streams, if that leaves this member no fewer than the newcomer then has.
/// `None`: there is no room.
fn make_room(open: &mut Vec<OpenStream>, newcomer: Listener) -> Option<()> {
    let of_member = |open: &[OpenStream], id: MemberId| open.iter().filter(|one| one.listener.member_id == id).count();
    let is_same = |one: &OpenStream| one.listener.session == newcomer.session;
    if open.iter().filter(|one| is_same(one)).count() >= STREAMS_PER_SESSION_MAX {
        let oldest = open.iter().position(is_same)?;
        open.remove(oldest);
    } else if open.len() >= STREAMS_MAX {
        let own = of_member(open, newcomer.member_id);
        let counts = open.iter().map(|one| (of_member(open, one.listener.member_id), one.listener.member_id));
        let (most, member_id) = counts.max()?;
        let oldest = open.iter().position(|one| most > own + 1 && one.listener.member_id == member_id)?;
        open.remove(oldest);
    }
    Some(())
}

async fn run(
    mut changes: watch::Receiver<Option<u64>>,
    events: mpsc::Sender<Bytes>,
    first: Bytes,
    mut ended: oneshot::Receiver<()>,
) {
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
            _ = &mut ended => return,
        };
        quiet_until = Instant::now() + EVENT_GAP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;

    fn listener(member_id: MemberId, session: u8) -> Listener {
        Listener { member_id, session: [session; 32] }
    }

    async fn next(answer: &mut ResponseBody) -> Option<Bytes> {
        Some(answer.frame().await?.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_sends_events_at_once_but_not_often_and_ends_after_its_time_or_with_the_server() {
        let streams = Streams::new();
        let mut answer = streams.begin(Bytes::from_static(b"retry: 1000\n\n"), listener(MemberId(1), 1)).unwrap();
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
        let mut another = streams.begin(Bytes::from_static(KEEP_ALIVE), listener(MemberId(1), 1)).unwrap();
        next(&mut another).await.unwrap();
        streams.end();
        assert!(next(&mut another).await.is_none() && !streams.send(1));
    }

    #[tokio::test]
    async fn another_stream_of_a_session_ends_its_oldest() {
        let streams = Streams::new();
        let begin =
            |member_id, session| streams.begin(Bytes::from_static(KEEP_ALIVE), listener(member_id, session)).unwrap();
        let mut other = begin(MemberId(2), 2);
        let mut own: Vec<ResponseBody> = (0..=STREAMS_PER_SESSION_MAX).map(|_| begin(MemberId(1), 1)).collect();
        assert!(next(&mut own[0]).await.is_none() || next(&mut own[0]).await.is_none());
        for kept in own[1..].iter_mut().chain([&mut other]) {
            assert!(next(kept).await.is_some());
        }
        assert_eq!(streams.open().len(), 1 + STREAMS_PER_SESSION_MAX);
        drop((own, other));
        assert_eq!(streams.open().len(), 0, "a stream that its client left gives its place back");
    }

    #[tokio::test]
    async fn where_all_places_are_taken_the_member_with_the_most_gives_one_to_a_member_with_fewer() {
        let streams = Streams::new();
        let begin = |member_id, session: usize| streams.begin(Bytes::new(), listener(member_id, session as u8));
        let all: Vec<ResponseBody> = (0..STREAMS_MAX).map(|session| begin(MemberId(1), session).unwrap()).collect();
        assert!(begin(MemberId(1), STREAMS_MAX).is_none(), "nobody has more");
        let others: Vec<ResponseBody> =
            (0..STREAMS_MAX / 2).map(|session| begin(MemberId(2), 100 + session).unwrap()).collect();
        assert!(begin(MemberId(2), 99).is_none(), "both have as many");
        assert!(begin(MemberId(3), 98).is_some());
        drop((all, others));
    }
}
