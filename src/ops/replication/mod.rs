//! The continuous off-site copy: each second's commits go to the second place, behind the last base there.
//!
//! The writer notes where each commit ends in its log ([`crate::store::engine::capture`]). A thread reads what was changed,
//! puts it into a tick in the second place, and says so once that is flushed there; until then no checkpoint runs, so that
//! the log itself is the queue. Where too much waits, or the second place lost something, the chain is given up, and a new
//! base begins another: the site never stops for a copy that does not get on.

mod base;
pub(crate) mod chain;
#[cfg(debug_assertions)]
mod fault;
pub(crate) mod replay;
pub(crate) mod s3;
pub(crate) mod target;
pub(crate) mod tick;

use crate::ops::backup::off_site::{OffSite, no_answer};
use crate::site::Site;
use crate::site::priority::Priority;
use crate::store::engine::capture::{FollowerKind, Lag};
use crate::store::engine::connection::{KEPT_WAL_PAGES_MIN, WAL_PAGES_MAX};
use crate::store::engine::wal_read::WalReader;
use crate::store::queries::erasure;
use chain::{Chain, Unconfirmed, is_there};
#[cfg(debug_assertions)]
pub(crate) use fault::Fault;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use target::Target;

const TICK_INTERVAL: Duration = Duration::from_secs(1);
/// How often it is looked meanwhile whether much is written.
const LOOKS_PER_TICK: u32 = 10;
/// A tick is due at such a part of what may be unconfirmed.
const PARTS_OF_UNCONFIRMED: u64 = 8;
/// From so many frames on the file of a log that began anew is fetched. Where nobody wrote for a minute the system may have let go
/// of what the file had before, and a frame that is written over a part of a page has that page read while its writer waits:
/// the first second of a busy site took half as many writes.
const FRAMES_TO_FETCH: u32 = 250;
/// A tick has less than its share of a core for so long behind its second, and all of it after that.
const GIVES_WAY_SECONDS_MAX: i64 = 1;
/// And all of it where so great a part of what may be unconfirmed is: whoever writes without a pause would have the rest full
/// before a tick that gives way is done.
const PARTS_TO_GIVE_WAY: u64 = 4;
/// How long the second place may take for a tick before nobody waits for it any more.
const TICK_TIME_MAX: Duration = Duration::from_secs(10);
/// The same while nobody can write.
const HELD_TICK_TIME_MAX: Duration = Duration::from_millis(200);
/// How long the end of a server waits for the last tick.
const LAST_TICK_TIME_MAX: Duration = Duration::from_secs(5);
/// Rounds between two looks whether a second place that has nothing new still has the last tick.
const ROUNDS_BETWEEN_LOOKS: u64 = 5;
/// Rounds until a place in trouble is asked again: twice as many after each try in vain.
const ROUNDS_TO_TRY_MAX: u64 = 8;
/// The state of the off-site copy that all threads share.
#[derive(Default)]
pub(crate) struct Replica {
    is_on: AtomicBool,
    /// A chain whose base came to the second place, for the thread to go on with.
    next: Mutex<Option<Chain>>,
    told: Mutex<Told>,
    /// See [`Fault::Confirmation`].
    confirms_unsent: AtomicBool,
}

#[derive(Default, Clone)]
struct Told {
    /// Since when there is no chain (Unix seconds); `None`: there is one.
    chainless_since: Option<i64>,
    /// Why the last try failed.
    trouble: Option<String>,
    /// Where another machine was seen to write as this site, until the server ends.
    stranger: Option<String>,
}

/// How the off-site copy is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Status {
    /// Whether a restore finds a base and ticks of this process.
    pub has_chain: bool,
    /// Seconds since the oldest commit that the second place has not confirmed.
    pub behind_seconds: i64,
    pub behind_bytes: u64,
    pub trouble: Option<String>,
    /// Another machine writes to the second place as this site.
    pub stranger: Option<String>,
    /// Whether the second place may replace a file that another machine has put there.
    pub replaces: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `None`: there is no off-site copy, for want of a second place or of a running server.
pub(crate) fn status(site: &Site) -> Option<Status> {
    let replica = site.state::<Replica>();
    if !replica.is_on.load(Ordering::Acquire) {
        return None;
    }
    let told = lock(&replica.told).clone();
    let Lag { bytes, since } = site.store.writer().capture.lag(FollowerKind::OffSite);
    // A commit of a process that has written nothing by the clock yet has no moment.
    let since = told.chainless_since.or(since.filter(|since| *since > 0));
    Some(Status {
        has_chain: told.chainless_since.is_none(),
        behind_seconds: since.map_or(0, |since| (site.now() - since).max(0)),
        behind_bytes: bytes,
        trouble: told.trouble,
        stranger: told.stranger,
        replaces: OffSite::target_of(site).is_some_and(|second| second.replaces()),
    })
}

/// How many bytes of the log may wait for a chain that a backup made now would begin; `None`: it begins none.
pub(crate) fn unconfirmed_bytes_max(site: &Site) -> Option<u64> {
    let is_on = site.state::<Replica>().is_on.load(Ordering::Acquire);
    is_on.then_some(site.config.backup.unconfirmed_bytes_max)
}

/// A base is in the second place: its chain is the one that goes on.
pub(crate) fn go_on_from(site: &Site, chain: Chain) {
    *lock(&site.state::<Replica>().next) = Some(chain);
}

/// The thread of the off-site copy.
pub(crate) struct ReplicationThread {
    stop: Sender<()>,
    ended: Receiver<()>,
}

/// Begins the off-site copy, where a second place is named.
pub(crate) fn start(site: &Site) -> io::Result<Option<ReplicationThread>> {
    let Some(second) = OffSite::target_of(site) else { return Ok(None) };
    let ((stop, stopped), (end, ended)) = (channel(), channel());
    let replica = site.state::<Replica>();
    *lock(&replica.told) = Told { chainless_since: Some(site.now()), ..Told::default() };
    replica.is_on.store(true, Ordering::Release);
    let site = site.for_another_thread();
    std::thread::Builder::new().name("replication".to_owned()).spawn(move || {
        // A fault ends the chain, and with it the wish that checkpoints wait.
        let is_faulty = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Replicator::new(&site, second).run(&stopped);
        }));
        site.state::<Replica>().is_on.store(false, Ordering::Release);
        lock(&site.state::<Replica>().next).take();
        site.store.release();
        if is_faulty.is_err() {
            site.stats.panics.fetch_add(1, Ordering::Relaxed);
            tracing::error!("the off-site copy has ended by a fault; the next start of the server begins it again");
        }
        _ = end.send(());
    })?;
    Ok(Some(ReplicationThread { stop, ended }))
}

impl ReplicationThread {
    /// Ships what is there, if the second place takes it in time, and ends.
    pub(crate) fn stop(self) {
        drop(self.stop);
        _ = self.ended.recv_timeout(LAST_TICK_TIME_MAX);
    }
}

struct Replicator<'s> {
    site: &'s Site,
    replica: Arc<Replica>,
    second: Target,
    wal: Option<Arc<WalReader>>,
    /// Frames that the log had at the last look.
    seen_frames: u32,
    is_fetched: bool,
    chain: Option<Chain>,
    /// When the chain's base was taken over (Unix seconds).
    chain_since: i64,
    rounds: u64,
    rounds_to_base: u64,
    next_rounds_to_base: u64,
    is_making_base: Arc<AtomicBool>,
    /// How many erased people the second place knows of.
    erased: Option<usize>,
    /// While the second place is in trouble: the round of the next try, and how many it is after this one.
    next_try: u64,
    rounds_to_try: u64,
}

impl<'s> Replicator<'s> {
    fn new(site: &'s Site, second: Target) -> Replicator<'s> {
        Replicator {
            site,
            replica: site.state::<Replica>(),
            second,
            wal: None,
            seen_frames: 0,
            is_fetched: false,
            chain: None,
            chain_since: 0,
            rounds: 0,
            rounds_to_base: 0,
            next_rounds_to_base: base::ROUNDS_TO_BASE_MIN,
            is_making_base: Arc::default(),
            erased: None,
            next_try: 0,
            rounds_to_try: 1,
        }
    }

    fn run(mut self, stop: &Receiver<()>) {
        loop {
            self.round();
            self.site.store.release();
            if self.waits_until_stopped(stop) {
                return self.ship(LAST_TICK_TIME_MAX, false);
            }
        }
    }

    /// Until the next tick is due: after a second, or sooner where so much is written that the log would grow too long.
    fn waits_until_stopped(&mut self, stop: &Receiver<()>) -> bool {
        let bytes_max = self.site.config.backup.unconfirmed_bytes_max / PARTS_OF_UNCONFIRMED;
        for _ in 0..LOOKS_PER_TICK {
            if stop.recv_timeout(TICK_INTERVAL / LOOKS_PER_TICK) != Err(RecvTimeoutError::Timeout) {
                return true;
            }
            self.fetch_log();
            let capture = &self.site.store.writer().capture;
            let is_due = || capture.is_expedited() || capture.lag(FollowerKind::OffSite).bytes > bytes_max;
            if self.chain.is_some() && self.next_try == 0 && is_due() {
                return false;
            }
        }
        false
    }

    /// See [`FRAMES_TO_FETCH`].
    fn fetch_log(&mut self) {
        let frames = self.site.store.writer().capture.frames();
        let began_anew = frames < std::mem::replace(&mut self.seen_frames, frames);
        self.is_fetched &= !began_anew;
        if let Some(wal) = self.wal.as_ref().filter(|_| !self.is_fetched && frames >= FRAMES_TO_FETCH) {
            wal.fetch_behind(frames);
            self.is_fetched = true;
        }
    }

    fn round(&mut self) {
        self.rounds += 1;
        let next = lock(&self.replica.next).take();
        if let Some(next) = next {
            self.take_over(next);
        }
        self.rounds_to_base = self.rounds_to_base.saturating_sub(1);
        if self.rounds < self.next_try {
            return;
        }
        self.ship(TICK_TIME_MAX, false);
        self.look();
        self.begin_log_anew();
        self.make_base_where_due();
        self.be_patient();
    }

    /// Goes on behind a base that has come to the second place, unless more was written meanwhile than may wait.
    fn take_over(&mut self, next: Chain) {
        match self.site.store.writer().capture.next_end(next.follower()) {
            Ok(_) => {
                // Up to the begin of the next chain this one is what a restore goes by.
                self.ship(TICK_TIME_MAX, false);
                (self.chain, self.chain_since) = (Some(next), self.site.now());
                self.tell(None);
                (self.next_try, self.rounds_to_try) = (0, 1);
            }
            Err(cause) if self.chain.is_none() => {
                self.tell(Some(format!("a backup came to the second place, but by then {cause}")));
            }
            Err(_) => {}
        }
    }

    /// A place in trouble is asked less and less often.
    fn be_patient(&mut self) {
        match lock(&self.replica.told).trouble {
            Some(_) => {
                self.next_try = self.rounds + self.rounds_to_try;
                self.rounds_to_try = (2 * self.rounds_to_try).min(ROUNDS_TO_TRY_MAX);
            }
            None => (self.next_try, self.rounds_to_try) = (0, 1),
        }
    }

    fn tell(&self, trouble: Option<String>) {
        let mut told = lock(&self.replica.told);
        let since = told.chainless_since.unwrap_or(self.site.now());
        told.chainless_since = if self.chain.is_some() { None } else { Some(since) };
        if let Some(trouble) = trouble.as_ref().filter(|trouble| told.trouble.as_ref() != Some(*trouble)) {
            tracing::error!(trouble, "the off-site copy does not get on");
        }
        told.trouble = trouble;
    }

    /// Ships all that is committed, a tick a second of it, until the second place takes no more. Commits made meanwhile
    /// are for the next round, which otherwise would never end on a busy site.
    ///
    /// `is_held`: nobody can write meanwhile, so the writer's connection is the only one that reads, and it is done at once.
    fn ship(&mut self, patience: Duration, is_held: bool) {
        let mut knows_erased = is_held;
        let capture = &self.site.store.writer().capture;
        // At least one look, which hears that the chain was given up.
        let ticks = self.chain.as_ref().map_or(0, |chain| capture.waiting(chain.follower()).max(1));
        for _ in 0..ticks {
            let Some(chain) = &mut self.chain else { return };
            let capture = &self.site.store.writer().capture;
            let end = match capture.next_end(chain.follower()) {
                Ok(None) => return,
                Ok(Some(end)) => end,
                Err(cause) => return self.lose_chain(cause),
            };
            if self.wal.is_none() {
                self.wal = WalReader::open(&self.site.config.data).map(Arc::new).ok();
            }
            let Some(wal) = self.wal.clone() else { return self.tell(Some("cannot read the log".to_owned())) };
            let priority = if is_held { Priority::Normal } else { priority(self.site, end.moment) };
            let pending_tick = match priority.run(|| chain.next_tick(&end, &wal)) {
                Ok(pending_tick) => pending_tick,
                Err(cause) => return self.lose_chain(cause),
            };
            // Read after the end of the tick is fixed: whoever is erased in it is on the list.
            if !knows_erased && let Err(cause) = self.tell_erased() {
                return self.tell(Some(cause));
            }
            knows_erased = true;
            let recipient = self.site.config.backup.recipient.clone();
            let is_unsent = self.replica.confirms_unsent.load(Ordering::Relaxed);
            let put = move || {
                priority.apply();
                if is_unsent { Ok(pending_tick.last()) } else { pending_tick.put(&wal, recipient.as_ref()) }
            };
            match self.site.state::<OffSite>().send(patience, put) {
                Some(Ok(file)) => {
                    let Some(chain) = &mut self.chain else { return };
                    chain.confirm(file);
                    self.site.store.writer().capture.confirm(chain.follower());
                    self.tell(None);
                }
                Some(Err(Unconfirmed::Lost(cause))) => return self.lose_chain(cause),
                Some(Err(Unconfirmed::Foreign(cause))) => {
                    lock(&self.replica.told).stranger = Some(cause.clone());
                    return self.lose_chain(cause);
                }
                Some(Err(Unconfirmed::Failed(cause))) => return self.tell(Some(cause)),
                None => return self.tell(Some(no_answer(&self.second))),
            }
        }
    }

    /// Gives up this chain alone: a base that is on its way begins another, which has no gap.
    fn lose_chain(&mut self, cause: String) {
        self.chain = None;
        self.tell(Some(cause));
    }

    /// Has the second place know who was erased, where it does not.
    fn tell_erased(&mut self) -> Result<(), String> {
        let all =
            self.site.store.read(|tx| Ok(erasure::list(tx)?)).map_err(|e| format!("cannot read the file: {e}"))?;
        self.site.store.release();
        if !all.is_empty() && self.erased != Some(all.len()) {
            self.site.state::<OffSite>().keep_erased(&self.second, &self.site.site_id, &all)?;
        }
        self.erased = Some(all.len());
        Ok(())
    }

    /// Whether the second place still has what it confirmed, also while nobody writes.
    fn look(&mut self) {
        let due = self.rounds.is_multiple_of(ROUNDS_BETWEEN_LOOKS);
        let Some(last) = self.chain.as_ref().filter(|_| due).map(Chain::last) else { return };
        match self.site.state::<OffSite>().send(TICK_TIME_MAX, move || is_there(&last)) {
            Some(Ok(())) if self.site.store.writer().capture.is_confirmed(FollowerKind::OffSite) => self.tell(None),
            Some(Ok(())) => {}
            Some(Err(Unconfirmed::Lost(cause) | Unconfirmed::Foreign(cause))) => self.lose_chain(cause),
            Some(Err(Unconfirmed::Failed(cause))) => self.tell(Some(cause)),
            None => self.tell(Some(no_answer(&self.second))),
        }
    }

    /// Moves the log into the file where it is long, once all of it is confirmed. While somebody always writes, that is
    /// never so by itself: then writers wait for the last tick, for a moment that no second place can make longer.
    fn begin_log_anew(&mut self) {
        let (site, is_well) = (self.site, lock(&self.replica.told).trouble.is_none());
        let writer = site.store.writer();
        let frames = writer.capture.frames();
        // A caller of `hurry` holds the writer, and begins the log anew by its own work.
        let is_long = frames >= WAL_PAGES_MAX.cast_unsigned() && !writer.capture.is_expedited();
        if self.chain.is_none() || !is_long || !is_well {
            return;
        }
        if writer.capture.allows_checkpoint() || frames >= KEPT_WAL_PAGES_MIN {
            // Commits made while the round shipped go first, so that little is left to wait for.
            self.ship(TICK_TIME_MAX, false);
            // Nothing is read by another connection while the writer is held.
            writer.checkpoint_confirmed(|| {
                self.ship(HELD_TICK_TIME_MAX, true);
                writer.capture.wait_for_standby(HELD_TICK_TIME_MAX);
            });
        }
    }
}

/// Of a tick of commits up to that moment, beside requests.
fn priority(site: &Site, moment: i64) -> Priority {
    let is_late = site.now() > moment + GIVES_WAY_SECONDS_MAX;
    let bytes_max = site.config.backup.unconfirmed_bytes_max / PARTS_TO_GIVE_WAY;
    let is_large = site.store.writer().capture.lag(FollowerKind::OffSite).bytes > bytes_max;
    if is_late || is_large { Priority::Preemptible } else { Priority::Low }
}

#[cfg(test)]
mod tests;
