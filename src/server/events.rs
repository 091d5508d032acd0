//! Streams of events. A commit with an event wakes the [`Hub`], which reads the new events once and passes them to all streams; each
//! stream chooses what its listener may hear. A stream begins with what is in the table, goes on live, and reads the table again where
//! it fell behind: its listener hears each event once, in order, without a gap. An open page hears from the same hub only that something
//! changed, and reads itself anew. A stream that waits has a task, and neither a thread nor a connection to the database.

use super::pool::Asker;
use crate::domain::event::{Audience, Choice, Concerned};
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::http::reply::{self, Hears, Reply};
use crate::site::Site;
use crate::store::tables::events::{self, EventRow, Range, Step};
use bytes::Bytes;
use http::{HeaderName, StatusCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;

/// A stream ends after this time, and the client must authenticate again.
pub(super) const STREAM_TIME_MAX: Duration = Duration::from_secs(30 * 60);
/// The interval of keep-alive comments, by which proxies keep the connection and a broken one is noticed.
pub(super) const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";
/// Comes when a stream is to end.
pub(super) type Order = oneshot::Receiver<()>;
/// Events that wait for one stream. A stream that falls behind by more reads them from the table.
const WAITING_MAX: usize = 256;
/// Events of one read.
const STEP_ROWS: i64 = 128;
/// The pause after a read for which no thread was free.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// How soon a client comes back after a stream has ended.
const RETRY_MS: u32 = 3000;
/// What an open page hears.
pub(super) const CHANGED: &[u8] = b"event: changed\ndata:\n\n";
/// The least time between two of these: an import makes a thousand changes a second.
pub(super) const CHANGED_GAP: Duration = Duration::from_millis(400);
/// The number to read on after.
const SEQ: HeaderName = HeaderName::from_static("x-event-seq");

/// An event on its way to the streams.
struct Heard {
    seq: i64,
    name: String,
    concerned: Concerned,
    frame: Bytes,
}

/// Where an open page hears that something changed.
enum Changes {
    /// What the pages of the hall show.
    Hall(watch::Receiver<()>),
    /// What is about a member.
    Member(MemberId, broadcast::Receiver<Arc<Heard>>),
}

impl Changes {
    async fn next(&mut self) {
        match self {
            Changes::Hall(changes) => _ = changes.changed().await,
            Changes::Member(id, heard) => {
                let is_other = |event: &Heard| !Audience::Member(*id).hears(&event.name, &event.concerned);
                while heard.recv().await.is_ok_and(|event| is_other(&event)) {}
            }
        }
    }

    /// Passes over what has happened up to now.
    fn skip(&mut self) {
        match self {
            Changes::Hall(changes) => changes.mark_unchanged(),
            Changes::Member(_, heard) => *heard = heard.resubscribe(),
        }
    }
}

/// Reads new events once, and passes them to the streams.
pub(super) struct Hub {
    heard: broadcast::Sender<Arc<Heard>>,
    /// Sent to after each change of what the pages of the hall show.
    changes: watch::Sender<()>,
    /// The last event that was passed on; `None` while nobody listens.
    position: Mutex<Option<i64>>,
    woken: Notify,
    has_stopped: AtomicBool,
    /// `None` in a test without a site.
    asker: Option<Asker>,
    site_id: String,
}

impl Hub {
    pub(super) fn new(asker: Option<Asker>, site_id: &str) -> Arc<Hub> {
        Arc::new(Hub {
            heard: broadcast::channel(WAITING_MAX).0,
            changes: watch::channel(()).0,
            position: Mutex::new(None),
            woken: Notify::new(),
            has_stopped: AtomicBool::new(false),
            asker,
            site_id: site_id.to_owned(),
        })
    }

    /// A hub that passes on nothing.
    #[cfg(test)]
    pub(super) fn unheard() -> Arc<Hub> {
        Hub::new(None, "")
    }

    /// Called after a commit with an event; `false` once the server has stopped.
    pub(super) fn wake(&self) -> bool {
        self.woken.notify_one();
        !self.has_stopped.load(Ordering::Relaxed)
    }

    /// Called after a commit that changed what the pages of the hall show; `false` once the server has stopped.
    pub(super) fn change(&self) -> bool {
        self.changes.send_replace(());
        !self.has_stopped.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.has_stopped.store(true, Ordering::Relaxed);
    }

    fn position(&self) -> MutexGuard<'_, Option<i64>> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes events on, for as long as the server runs.
    pub(super) async fn run(self: Arc<Hub>) {
        loop {
            self.woken.notified().await;
            self.pass_on().await;
        }
    }

    async fn pass_on(&self) {
        loop {
            let from = {
                let mut position = self.position();
                if self.heard.receiver_count() == 0 {
                    *position = None;
                }
                *position
            };
            // A stream that begins says from where.
            let Some(from) = from else { return };
            let step = self.read(Audience::Staff, &Choice::default(), from).await;
            for row in &step.rows {
                // Fails where the last listener has left.
                _ = self.heard.send(Arc::new(self.heard(row)));
            }
            *self.position() = Some(step.looked_to);
            if step.looked_to >= step.range.last {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Ensures that events after this number are passed on; to be called by whoever subscribed before reading up to it.
    fn begin_at(&self, seq: i64) {
        let mut position = self.position();
        if position.is_none() {
            *position = Some(seq);
            self.woken.notify_one();
        }
    }

    /// The changes from now on.
    async fn changes(&self, of: Option<MemberId>) -> Changes {
        let Some(member_id) = of else { return Changes::Hall(self.changes.subscribe()) };
        let heard = self.heard.subscribe();
        self.begin_at(self.range().await.last);
        Changes::Member(member_id, heard)
    }

    /// The range of the events that there are.
    async fn range(&self) -> Range {
        self.read(Audience::Staff, &Choice::default(), i64::MAX - 1).await.range
    }

    /// The next events after a number, as soon as a thread is free to read them.
    async fn read(&self, audience: Audience, choice: &Choice, after: i64) -> Step {
        loop {
            let choice = choice.clone();
            let question =
                move |site: &Site| site.store.read(|tx| Ok(events::step(tx, audience, &choice, after, STEP_ROWS)?));
            let answer = match &self.asker {
                Some(asker) => asker.ask(question).await,
                None => std::future::pending().await,
            };
            match answer {
                Some(Ok(step)) => return step,
                Some(Err(failure)) => tracing::warn!(cause = failure.cause(), "events were not read"),
                None => {}
            }
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    fn heard(&self, row: &EventRow) -> Heard {
        Heard { seq: row.seq, name: row.name.clone(), concerned: row.concerned(), frame: self.frame(row).into() }
    }

    fn frame(&self, row: &EventRow) -> String {
        format!("id: {}\ndata: {}\n\n", row.seq, row.envelope(&self.site_id))
    }

    /// The next events as a JSON array: immediately where there are some, else as soon as there is one, or after the time without any.
    pub(super) async fn next(
        &self,
        audience: Audience,
        choice: &Choice,
        after: i64,
        limit: i64,
        within: Duration,
    ) -> Reply {
        let end = Instant::now() + within;
        let mut heard = self.heard.subscribe();
        let mut at = after;
        loop {
            let step = self.read(audience, choice, at).await;
            at = step.looked_to;
            if !step.rows.is_empty() {
                return array(&self.site_id, &step.rows, limit, at);
            }
            if at < step.range.last {
                continue;
            }
            self.begin_at(at);
            let is_one = |event: &Heard| {
                event.seq > at && audience.hears(&event.name, &event.concerned) && choice.has(&event.name)
            };
            let comes = async { while heard.recv().await.is_ok_and(|event| !is_one(&event)) {} };
            if tokio::time::timeout_at(end, comes).await.is_err() {
                return array(&self.site_id, &[], limit, at);
            }
        }
    }
}

/// A JSON array of at most `limit` events, with the number to read on after.
fn array(site_id: &str, rows: &[EventRow], limit: i64, looked_to: i64) -> Reply {
    let shown = &rows[..rows.len().min(limit as usize)];
    let next = if shown.len() < rows.len() { shown.last().map_or(looked_to, |row| row.seq) } else { looked_to };
    let rows: Vec<String> = shown.iter().map(|row| row.envelope(site_id)).collect();
    let body = format!("[{}]", rows.join(","));
    reply::json_again(StatusCode::OK, body.into_bytes()).unstored().with_header(SEQ, next.into())
}

/// A stream under way.
pub(super) struct EventStream {
    pub(super) hub: Arc<Hub>,
    pub(super) events: mpsc::Sender<Bytes>,
}

/// The client has left.
pub(super) struct Gone;

impl EventStream {
    async fn send(&self, bytes: impl Into<Bytes>) -> Result<(), Gone> {
        self.events.send(bytes.into()).await.map_err(|_| Gone)
    }

    /// Runs until the client leaves.
    pub(super) async fn run(&self, hears: Hears) -> Result<(), Gone> {
        match hears {
            Hears::Events { audience, choice, after } => self.follow(audience, &choice, after).await,
            Hears::Changes { of } => self.tell_changes(of).await,
            Hears::Next { .. } => Ok(()),
        }
    }

    /// Tells a page of changes, and no more; not often.
    async fn tell_changes(&self, of: Option<MemberId>) -> Result<(), Gone> {
        let mut changes = self.hub.changes(of).await;
        self.send(format!("retry: {RETRY_MS}\n\n")).await?;
        let mut quiet_until = Instant::now();
        loop {
            if tokio::time::timeout(KEEP_ALIVE_INTERVAL, changes.next()).await.is_err() {
                self.send(Bytes::from_static(KEEP_ALIVE)).await?;
                continue;
            }
            tokio::time::sleep_until(quiet_until).await;
            // The page that is told reads all of these.
            changes.skip();
            self.send(Bytes::from_static(CHANGED)).await?;
            quiet_until = Instant::now() + CHANGED_GAP;
        }
    }

    async fn follow(&self, audience: Audience, choice: &Choice, after: Option<i64>) -> Result<(), Gone> {
        // Before the first read, so that nothing happens between the table and the live events.
        let mut heard = self.hub.heard.subscribe();
        let mut at = self.begin(after).await?;
        loop {
            at = self.catch_up(audience, choice, at).await?;
            self.hub.begin_at(at);
            self.go_on_live(audience, choice, &mut heard, &mut at).await?;
        }
    }

    /// Says hello, and `reset` where events are missing after the one that the client has. Returns after which event the stream begins.
    async fn begin(&self, after: Option<i64>) -> Result<i64, Gone> {
        let range = self.hub.range().await;
        let has_gap = after.is_some_and(|after| !range.goes_on_after(after));
        let at = after.filter(|_| !has_gap).unwrap_or(range.last);
        let data =
            format!("{{\"site_id\":\"{}\",\"seq\":{},\"oldest\":{}}}", self.hub.site_id, range.last, range.oldest);
        let reset = if has_gap { format!("event: reset\ndata: {data}\n\n") } else { String::new() };
        self.send(format!("retry: {RETRY_MS}\nid: {at}\nevent: hello\ndata: {data}\n\n{reset}")).await?;
        Ok(at)
    }

    /// Sends what the table has after an event. Returns up to where.
    async fn catch_up(&self, audience: Audience, choice: &Choice, mut at: i64) -> Result<i64, Gone> {
        loop {
            let step = self.hub.read(audience, choice, at).await;
            if !step.rows.is_empty() {
                self.send(step.rows.iter().map(|row| self.hub.frame(row)).collect::<String>()).await?;
            }
            at = step.looked_to;
            if at >= step.range.last {
                return Ok(at);
            }
        }
    }

    /// Sends events as they happen, until the stream falls behind.
    async fn go_on_live(
        &self,
        audience: Audience,
        choice: &Choice,
        heard: &mut broadcast::Receiver<Arc<Heard>>,
        at: &mut i64,
    ) -> Result<(), Gone> {
        let mut quiet_since = Instant::now();
        loop {
            let event = tokio::select! {
                event = heard.recv() => event,
                () = tokio::time::sleep_until(quiet_since + KEEP_ALIVE_INTERVAL) => {
                    self.send(Bytes::from_static(KEEP_ALIVE)).await?;
                    quiet_since = Instant::now();
                    continue;
                }
            };
            let Ok(event) = event else { return Ok(()) };
            if event.seq <= *at {
                continue;
            }
            *at = event.seq;
            if audience.hears(&event.name, &event.concerned) && choice.has(&event.name) {
                self.send(event.frame.clone()).await?;
                quiet_since = Instant::now();
            }
        }
    }
}

/// The refusal of one more stream.
pub(super) fn too_many() -> Failure {
    Failure::too_fast().retry_after(Duration::from_secs(30)).because("as many streams are open as may be")
}
