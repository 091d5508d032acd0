//! Response bodies, and the places of event streams. What the streams say is in [`super::events`].

use super::departure;
use super::events::{EventStream, Hub, Order, STREAM_TIME_MAX};
use super::limiter::Progress;
use super::long_answer::{Aborted, RemainingChunks};
use crate::http::reply::{Hears, Holder, Listener};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::{mpsc, oneshot};

/// Simultaneous streams: each has a connection and a task, and no thread.
pub(super) const STREAMS_MAX: usize = 600;
/// Simultaneous streams of one session. Another one of a page ends the oldest: the screens of a site may share a session, twenty of
/// them in the load test, and the server notices late that a page was left. Other clients are refused.
const STREAMS_PER_SESSION_MAX: usize = 32;
const STREAMS_PER_PARTNER_MAX: usize = 3;

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
    /// The open ones, the oldest first; `None`: the server stops.
    open: Mutex<Option<Vec<OpenStream>>>,
    begun: AtomicU64,
}

struct OpenStream {
    number: u64,
    holder: Holder,
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
        self.streams.retain(|one| one.number != self.number);
    }
}

impl Streams {
    pub(super) fn new() -> Arc<Streams> {
        Arc::new(Streams { open: Mutex::new(Some(Vec::new())), begun: AtomicU64::new(0) })
    }

    fn open(&self) -> MutexGuard<'_, Option<Vec<OpenStream>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn retain(&self, goes_on: impl Fn(&OpenStream) -> bool) {
        if let Some(open) = self.open().as_mut() {
            open.retain(goes_on);
        }
    }

    /// Those who opened streams, each once.
    pub(super) fn holders(&self) -> Vec<Holder> {
        let holders: HashSet<Holder> = self.open().iter().flatten().map(|one| one.holder).collect();
        holders.into_iter().collect()
    }

    /// Ends the streams of these.
    pub(super) fn end_those_of(&self, holders: &[Holder]) {
        self.retain(|one| !holders.contains(&one.holder));
    }

    /// Ends all streams; no later one begins.
    pub(super) fn end(&self) {
        *self.open() = None;
    }

    /// Takes a place, and the order that ends it; `None`: too many streams are open.
    pub(super) fn enter(self: &Arc<Streams>, holder: Holder, is_page: bool) -> Option<(StreamPlace, Order)> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let (order, ended) = oneshot::channel();
        let mut places = self.open();
        let open = places.as_mut()?;
        make_room(open, holder, is_page)?;
        open.push(OpenStream { number, holder, _order: order });
        drop(places);
        Some((StreamPlace { streams: self.clone(), number }, ended))
    }

    /// Begins a stream; `None`: too many streams are open.
    pub(super) fn begin(
        self: &Arc<Streams>,
        hub: &Arc<Hub>,
        listener: Listener,
        client: Option<Arc<Progress>>,
    ) -> Option<ResponseBody> {
        let (place, ended) = self.enter(listener.holder, matches!(listener.hears, Hears::Changes { .. }))?;
        let (events, sent) = mpsc::channel(1);
        let end = End { events: events.clone(), ended, client };
        let stream = EventStream { hub: hub.clone(), events };
        _ = tokio::spawn(end.of(async move { stream.run(listener.hears).await }));
        Some(ResponseBody::Live(sent, place))
    }
}

/// Makes room for a stream by ending at most one: the oldest of the same holder, if that has its share and the newcomer is a page;
/// where all places are taken, the oldest of whoever has most streams, if that leaves them no fewer than the newcomer then has.
/// `None`: there is no room.
fn make_room(open: &mut Vec<OpenStream>, newcomer: Holder, is_page: bool) -> Option<()> {
    let share = match newcomer {
        Holder::Session { .. } => STREAMS_PER_SESSION_MAX,
        Holder::Partner { .. } | Holder::Board(_) | Holder::Guest { .. } => STREAMS_PER_PARTNER_MAX,
    };
    let of = |open: &[OpenStream], whose| open.iter().filter(|one| owner(one.holder) == whose).count();
    // A partner has one share, whichever of its secrets signed.
    let is_same = |one: &OpenStream| match newcomer {
        Holder::Partner { .. } => owner(one.holder) == owner(newcomer),
        _ => one.holder == newcomer,
    };
    if open.iter().filter(|one| is_same(one)).count() >= share {
        let oldest = open.iter().position(is_same).filter(|_| is_page)?;
        open.remove(oldest);
    } else if open.len() >= STREAMS_MAX {
        let own = of(open, owner(newcomer));
        let (most, whose) = open.iter().map(|one| (of(open, owner(one.holder)), owner(one.holder))).max()?;
        let oldest = open.iter().position(|one| most > own + 1 && owner(one.holder) == whose)?;
        open.remove(oldest);
    }
    Some(())
}

/// The member, the partner or the screen of a holder.
fn owner(holder: Holder) -> (u8, i64) {
    match holder {
        Holder::Session { member_id, .. } => (0, member_id.into()),
        Holder::Partner { partner_id, .. } => (1, partner_id.into()),
        Holder::Board(id) | Holder::Guest { kiosk_id: id, .. } => (2, id.into()),
    }
}

/// What ends a stream.
struct End {
    events: mpsc::Sender<Bytes>,
    ended: Order,
    client: Option<Arc<Progress>>,
}

impl End {
    /// Runs a stream until it ends by itself, its connection ends, the client has left, the order comes, or its time is over.
    async fn of<T>(self, stream: impl Future<Output = T>) {
        let left = async {
            match self.client {
                Some(client) => departure::left(client).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = stream => {}
            _ = self.ended => {}
            () = self.events.closed() => {}
            () = left => {}
            () = tokio::time::sleep(STREAM_TIME_MAX) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::events::{CHANGED, CHANGED_GAP, KEEP_ALIVE};
    use http_body_util::BodyExt;
    use tokio::time::Instant;

    fn holder(member_id: i64, session: usize) -> Holder {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&session.to_le_bytes());
        Holder::Session { member_id: member_id.into(), session: hash, staff: true }
    }

    fn page(streams: &Arc<Streams>, hub: &Arc<Hub>, holder: Holder) -> Option<ResponseBody> {
        streams.begin(hub, Listener { holder, ticket: None, hears: Hears::Changes { of: None } }, None)
    }

    async fn next(answer: &mut ResponseBody) -> Option<Bytes> {
        Some(answer.frame().await?.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_sends_events_at_once_but_not_often_and_ends_after_its_time_or_with_the_server() {
        let (streams, hub) = (Streams::new(), Hub::unheard());
        let mut answer = page(&streams, &hub, holder(1, 1)).unwrap();
        assert_eq!(next(&mut answer).await.unwrap(), "retry: 3000\n\n");
        let start = Instant::now();
        hub.change();
        assert_eq!(next(&mut answer).await.unwrap(), CHANGED);
        assert!(start.elapsed().is_zero(), "the first is told at once");
        (2..100).for_each(|_| _ = hub.change());
        assert_eq!(next(&mut answer).await.unwrap(), CHANGED);
        assert_eq!(start.elapsed(), CHANGED_GAP, "many are told as one");
        assert_eq!(next(&mut answer).await.unwrap(), KEEP_ALIVE);
        while next(&mut answer).await.is_some() {}
        assert_eq!(start.elapsed(), STREAM_TIME_MAX);
        let mut another = page(&streams, &hub, holder(1, 1)).unwrap();
        next(&mut another).await.unwrap();
        streams.end();
        hub.stop();
        assert!(next(&mut another).await.is_none() && page(&streams, &hub, holder(1, 2)).is_none() && !hub.change());
    }

    #[tokio::test]
    async fn another_stream_of_a_session_ends_its_oldest() {
        let streams = Streams::new();
        let hub = Hub::unheard();
        let begin = |member_id, session| page(&streams, &hub, holder(member_id, session)).unwrap();
        let mut other = begin(2, 2);
        let mut own: Vec<ResponseBody> = (0..=STREAMS_PER_SESSION_MAX).map(|_| begin(1, 1)).collect();
        assert!(next(&mut own[0]).await.is_none() || next(&mut own[0]).await.is_none());
        for kept in own[1..].iter_mut().chain([&mut other]) {
            assert!(next(kept).await.is_some());
        }
        let count = || streams.open().iter().flatten().count();
        assert_eq!(count(), 1 + STREAMS_PER_SESSION_MAX);
        drop((own, other));
        assert_eq!(count(), 0, "a stream that its client left gives its place back");
    }

    #[tokio::test]
    async fn where_all_places_are_taken_the_member_with_the_most_gives_one_to_a_member_with_fewer() {
        let streams = Streams::new();
        let hub = Hub::unheard();
        let begin = |member_id, session: usize| page(&streams, &hub, holder(member_id, session));
        let all: Vec<ResponseBody> = (0..STREAMS_MAX).map(|session| begin(1, session).unwrap()).collect();
        assert!(begin(1, STREAMS_MAX).is_none(), "nobody has more");
        let others: Vec<ResponseBody> = (0..STREAMS_MAX / 2).map(|session| begin(2, 1000 + session).unwrap()).collect();
        assert!(begin(2, 999).is_none(), "both have as many");
        assert!(begin(3, 998).is_some());
        drop((all, others));
    }

    #[tokio::test]
    async fn a_client_beyond_its_share_is_refused_and_keeps_the_streams_that_it_has() {
        let streams = Streams::new();
        for (whose, share) in [
            (holder(1, 1), STREAMS_PER_SESSION_MAX),
            (
                Holder::Partner { partner_id: 1.into(), secret_id: 1, peer: [127, 0, 0, 1].into() },
                STREAMS_PER_PARTNER_MAX,
            ),
        ] {
            let mut places: Vec<_> = (0..share).map(|_| streams.enter(whose, false).unwrap()).collect();
            assert!(streams.enter(whose, false).is_none());
            assert!(
                places[0].1.try_recv().is_err_and(|e| e == oneshot::error::TryRecvError::Empty),
                "ended for another"
            );
            places.pop();
            assert!(streams.enter(whose, false).is_some());
        }
        assert!(streams.enter(holder(1, 2), false).is_some(), "another session of the member");
    }
}
