//! The continuous off-site copy: each second's commits go to the off-site target as a tick, behind the last base there.
//!
//! The writer notes where each commit ends in the WAL ([`crate::store::engine::capture`]). A thread reads the changed pages,
//! puts them into a tick on the off-site target, and confirms the commits once the tick is flushed there. No checkpoint runs
//! before that, so that the WAL itself is the queue. Where too much is unconfirmed, or the target lost a file, the chain is
//! abandoned and a new base begins another: the site never stops for a copy that fails.

mod base;
pub(crate) mod chain;
#[cfg(debug_assertions)]
mod fault;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod s3;
pub(crate) mod sequence;
mod status;
mod stranger;
pub(crate) mod target;
pub(crate) mod tick;
mod verify;

use crate::moment::Moment;
use crate::ops::backup::off_site::OffSite;
use crate::site::Site;
use crate::site::priority::Priority;
use crate::store::engine::capture::FollowerKind;
use crate::store::engine::connection::{KEPT_WAL_PAGES_MIN, WAL_PAGES_MAX};
use crate::store::engine::wal_read::WalReader;
use crate::store::queries::erasure;
use chain::{Chain, Unconfirmed, check_there};
#[cfg(debug_assertions)]
pub(crate) use fault::Fault;
use status::Report;
pub(crate) use status::status;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
pub(crate) use stranger::note_stranger;

const TICK_INTERVAL: Duration = Duration::from_secs(1);
/// Checks between two ticks whether so much was written that a tick is due before its second is over.
const CHECKS_PER_TICK: u32 = 10;
/// A tick is due before its second is over when an eighth of the unconfirmed bytes that are allowed waits.
const PARTS_OF_UNCONFIRMED: u64 = 8;
/// A restarted WAL of this many frames is read into the page cache. After a minute without writes the system may have dropped
/// the file's old pages, and overwriting a part of one then waits for its read: without this, the first second of a busy
/// site took half as many writes.
const FRAMES_TO_FETCH: u32 = 250;
/// A tick runs at low priority until it is this late.
const LOW_PRIORITY_SECONDS_MAX: i64 = 1;
/// A tick runs at normal priority also when a quarter of the unconfirmed bytes that are allowed waits: writes without a pause
/// would fill the rest before it is done.
const PARTS_AT_LOW_PRIORITY: u64 = 4;
/// How long the off-site target may take for a tick.
const TICK_TIME_MAX: Duration = Duration::from_secs(10);
/// The same while writers wait.
const HELD_TICK_TIME_MAX: Duration = Duration::from_millis(200);
/// How long a shutdown waits for the last tick.
const LAST_TICK_TIME_MAX: Duration = Duration::from_secs(5);
/// Rounds between two checks that the off-site target still has the last tick.
const ROUNDS_BETWEEN_CHECKS: u64 = 5;
/// Rounds until a failing target is tried again, at most; they double after each failure.
const ROUNDS_TO_TRY_MAX: u64 = 8;

/// The state of the off-site copy that all threads share.
#[derive(Default)]
pub(crate) struct Replica {
    is_on: AtomicBool,
    /// A chain whose base was copied off site, for the thread to continue.
    next: Mutex<Option<Chain>>,
    /// What the start found behind the last tick, for the thread to go on with.
    rest: Mutex<Option<resume::Rest>>,
    report: Mutex<Report>,
    /// The number of an epoch that a machine wrote off site whose key is not known here; 0: there is none.
    strange_epoch: AtomicU64,
    /// See [`Fault::Confirmation`].
    confirms_unsent: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many bytes of the WAL may be unconfirmed in the chain that a backup made now begins. `None`: it begins none.
pub(crate) fn unconfirmed_bytes_max(site: &Site) -> Option<u64> {
    let is_on = site.state::<Replica>().is_on.load(Ordering::Acquire);
    is_on.then_some(site.config.backup.unconfirmed_bytes_max)
}

/// Continues with the chain of a base that was copied off site.
pub(crate) fn continue_from(site: &Site, chain: Chain) {
    *lock(&site.state::<Replica>().next) = Some(chain);
}

/// The thread of the off-site copy.
pub(crate) struct ReplicationThread {
    stop: Sender<()>,
    ended: Receiver<()>,
}

/// Makes the base of a chain, and logs what came of it.
pub(crate) type MakeBase = fn(&Site);

/// Starts the off-site copy. `None`: the settings name no off-site target.
pub(crate) fn start(site: &Site, make_base: MakeBase) -> io::Result<Option<ReplicationThread>> {
    let Some(off_site) = OffSite::of(site) else { return Ok(None) };
    let ((stop, stopped), (end, ended)) = (channel(), channel());
    let replica = site.state::<Replica>();
    *lock(&replica.report) = Report::default();
    site.store.writer().capture.begin_counting(FollowerKind::OffSite, site.now());
    replica.is_on.store(true, Ordering::Release);
    let site = site.for_another_thread();
    std::thread::Builder::new().name("replication".to_owned()).spawn(move || {
        // A panic drops the chain, so that checkpoints no longer wait for it.
        let is_faulty = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Replicator::new(&site, off_site, make_base).run(&stopped);
        }));
        site.state::<Replica>().is_on.store(false, Ordering::Release);
        lock(&site.state::<Replica>().next).take();
        site.store.release();
        if is_faulty.is_err() {
            site.stats.panics.fetch_add(1, Ordering::Relaxed);
            tracing::error!("the off-site copy has ended by a fault; the next start of the server starts it again");
        }
        _ = end.send(());
    })?;
    Ok(Some(ReplicationThread { stop, ended }))
}

impl ReplicationThread {
    /// Ships the last commits, if the off-site target takes them in time, and ends the thread.
    pub(crate) fn stop(self) {
        drop(self.stop);
        _ = self.ended.recv_timeout(LAST_TICK_TIME_MAX);
    }
}

struct Replicator<'s> {
    site: &'s Site,
    replica: Arc<Replica>,
    off_site: Arc<OffSite>,
    make_base: MakeBase,
    wal: Option<Arc<WalReader>>,
    /// Frames of the WAL at the last check.
    seen_frames: u32,
    is_cached: bool,
    chain: Option<Chain>,
    /// When the chain was begun (Unix seconds).
    chain_since: Moment,
    rounds: u64,
    rounds_to_base: u64,
    next_rounds_to_base: u64,
    is_making_base: Arc<AtomicBool>,
    /// How many tombstones the off-site target has.
    erased: Option<usize>,
    /// While the off-site target fails: the round of the next try, and the number of rounds until the one after it.
    next_try: u64,
    rounds_to_try: u64,
    looks: verify::Looks,
}

impl<'s> Replicator<'s> {
    fn new(site: &'s Site, off_site: Arc<OffSite>, make_base: MakeBase) -> Replicator<'s> {
        Replicator {
            site,
            replica: site.state::<Replica>(),
            off_site,
            make_base,
            wal: None,
            seen_frames: 0,
            is_cached: false,
            chain: None,
            chain_since: Moment(0),
            rounds: 0,
            rounds_to_base: 0,
            next_rounds_to_base: base::ROUNDS_TO_BASE_MIN,
            is_making_base: Arc::default(),
            erased: None,
            next_try: 0,
            rounds_to_try: 1,
            looks: verify::Looks::beginning(site.now()),
        }
    }

    fn run(mut self, stop: &Receiver<()>) {
        let rest = lock(&self.replica.rest).take();
        if let Some(rest) = rest {
            self.resume(rest);
        }
        loop {
            self.round();
            if self.waits_until_stopped(stop) {
                return self.ship(LAST_TICK_TIME_MAX, false);
            }
        }
    }

    /// Waits for a second, or less where so much is written that the WAL would grow too long. Whether the thread is to stop.
    fn waits_until_stopped(&mut self, stop: &Receiver<()>) -> bool {
        let bytes_max = self.site.config.backup.unconfirmed_bytes_max / PARTS_OF_UNCONFIRMED;
        for _ in 0..CHECKS_PER_TICK {
            if !self.site.rest(stop, TICK_INTERVAL / CHECKS_PER_TICK) {
                return true;
            }
            self.cache_log();
            let capture = &self.site.store.writer().capture;
            let is_due = || capture.is_expedited() || capture.lag(FollowerKind::OffSite).bytes > bytes_max;
            if self.chain.is_some() && self.next_try == 0 && is_due() {
                return false;
            }
        }
        false
    }

    /// See [`FRAMES_TO_FETCH`].
    fn cache_log(&mut self) {
        let frames = self.site.store.writer().capture.frames();
        let restarted = frames < std::mem::replace(&mut self.seen_frames, frames);
        self.is_cached &= !restarted;
        if let Some(wal) = self.wal.as_ref().filter(|_| !self.is_cached && frames >= FRAMES_TO_FETCH) {
            wal.fetch_behind(frames);
            self.is_cached = true;
        }
    }

    fn round(&mut self) {
        self.rounds += 1;
        let next = lock(&self.replica.next).take();
        if let Some(next) = next {
            self.take_over(next);
        }
        self.rounds_to_base = self.rounds_to_base.saturating_sub(1);
        let strange = self.replica.strange_epoch.load(Ordering::Acquire);
        if strange > 0 {
            return self.stop_for_stranger(strange);
        }
        if self.rounds < self.next_try {
            return;
        }
        self.ship(TICK_TIME_MAX, false);
        self.check_last();
        self.look_back();
        self.checkpoint_long_log();
        self.make_base_where_due();
        self.back_off();
    }

    /// Continues with a chain whose base was copied off site, unless more was written meanwhile than may be unconfirmed.
    fn take_over(&mut self, next: Chain) {
        match self.site.store.writer().capture.next_end(next.ticks.follower()) {
            Ok(_) => {
                // A restore uses this chain up to the beginning of the next one.
                self.ship(TICK_TIME_MAX, false);
                self.site.store.writer().capture.attach(next.ticks.follower());
                resume::Reached::of(&next).note(&self.site.config.data);
                (self.chain, self.chain_since) = (Some(next), self.site.now());
                self.report(None);
                (self.next_try, self.rounds_to_try) = (0, 1);
            }
            Err(cause) if self.chain.is_none() => {
                self.report(Some(format!("a backup was copied off site, but by then {cause}")));
            }
            Err(_) => {}
        }
    }

    /// Tries a failing target less and less often.
    fn back_off(&mut self) {
        match lock(&self.replica.report).trouble {
            Some(_) => {
                self.next_try = self.rounds + self.rounds_to_try;
                self.rounds_to_try = (2 * self.rounds_to_try).min(ROUNDS_TO_TRY_MAX);
            }
            None => (self.next_try, self.rounds_to_try) = (0, 1),
        }
    }

    fn report(&self, trouble: Option<String>) {
        let mut report = lock(&self.replica.report);
        report.has_chain = self.chain.is_some();
        if let Some(trouble) = trouble.as_ref().filter(|trouble| report.trouble.as_ref() != Some(*trouble)) {
            tracing::error!(trouble, "the off-site copy fails");
        }
        report.trouble = trouble;
    }

    /// Ships all commits, one tick for each second of them, until the off-site target fails. Commits made meanwhile are for the
    /// next round, or a round would never end on a busy site.
    ///
    /// `is_held`: writers wait, so nothing reads on another connection, and the ticks run at normal priority.
    fn ship(&mut self, timeout: Duration, is_held: bool) {
        let mut has_tombstones = is_held;
        let capture = &self.site.store.writer().capture;
        // At least one, to notice that the chain was abandoned.
        let ticks = self.chain.as_ref().map_or(0, |chain| capture.waiting(chain.ticks.follower()).max(1));
        for _ in 0..ticks {
            let Some(chain) = &mut self.chain else { return };
            let capture = &self.site.store.writer().capture;
            let end = match capture.next_end(chain.ticks.follower()) {
                Ok(None) => return,
                Ok(Some(end)) => end,
                Err(cause) => return self.give_up_chain(cause),
            };
            if self.wal.is_none() {
                self.wal = WalReader::open(&self.site.config.data).map(Arc::new).ok();
            }
            let Some(wal) = self.wal.clone() else { return self.report(Some("cannot read the log".to_owned())) };
            let priority = if is_held { Priority::Normal } else { priority(self.site, end.moment) };
            let pending_tick = match priority.run(|| chain.ticks.next(&end, &wal)) {
                Ok(tick) => chain.pending(tick),
                Err(cause) => return self.give_up_chain(cause),
            };
            // Read after the end of the tick is fixed, so that the tombstones of all erasures in it are there.
            if !has_tombstones && let Err(cause) = self.send_tombstones() {
                return self.report(Some(cause));
            }
            has_tombstones = true;
            let recipient = self.site.config.backup.recipient.clone();
            let is_unsent = self.replica.confirms_unsent.load(Ordering::Relaxed);
            let put = move || {
                priority.apply();
                if is_unsent { Ok(pending_tick.last()) } else { pending_tick.put(&wal, recipient.as_ref()) }
            };
            match self.off_site.send(timeout, put) {
                Some(Ok(file)) => {
                    let Some(chain) = &mut self.chain else { return };
                    chain.confirm(file);
                    resume::Reached::of(chain).note(&self.site.config.data);
                    self.report(None);
                }
                Some(Err(Unconfirmed::Lost(cause))) => return self.give_up_lost_chain(cause),
                Some(Err(Unconfirmed::Foreign(cause))) => {
                    lock(&self.replica.report).other_machine = Some(cause.clone());
                    return self.give_up_chain(cause);
                }
                Some(Err(Unconfirmed::Failed(cause))) => return self.report(Some(cause)),
                None => return self.report(Some(self.off_site.no_answer())),
            }
        }
    }

    /// Gives up this chain. A base that is on its way begins another, without a gap.
    fn give_up_chain(&mut self, cause: String) {
        self.chain = None;
        resume::forget(&self.site.config.data);
        self.report(Some(cause));
    }

    /// Gives up this chain, of which the target has lost a file.
    fn give_up_lost_chain(&mut self, cause: String) {
        self.site.store.writer().capture.note_loss(None);
        self.give_up_chain(cause);
    }

    /// Adds the tombstones off site that are not there yet.
    fn send_tombstones(&mut self) -> Result<(), String> {
        let all =
            self.site.store.read(|tx| Ok(erasure::list(tx)?)).map_err(|e| format!("cannot read the file: {e}"))?;
        self.site.store.release();
        if !all.is_empty() && self.erased != Some(all.len()) {
            self.off_site.add_erased(&self.site.site_id, &all)?;
        }
        self.erased = Some(all.len());
        Ok(())
    }

    /// Checks that the off-site target still has the last tick, also while there are no writes.
    fn check_last(&mut self) {
        let due = self.rounds.is_multiple_of(ROUNDS_BETWEEN_CHECKS);
        let Some(last) = self.chain.as_ref().filter(|_| due).map(Chain::last) else { return };
        match self.off_site.send(TICK_TIME_MAX, move || check_there(&last)) {
            Some(Ok(())) if self.site.store.writer().capture.is_confirmed(FollowerKind::OffSite) => self.report(None),
            Some(Ok(())) => {}
            Some(Err(Unconfirmed::Lost(cause) | Unconfirmed::Foreign(cause))) => self.give_up_lost_chain(cause),
            Some(Err(Unconfirmed::Failed(cause))) => self.report(Some(cause)),
            None => self.report(Some(self.off_site.no_answer())),
        }
    }

    /// Checkpoints a long WAL once all of it is confirmed. On a site that always writes, writers then wait a short time for the
    /// last tick; a slow off-site target cannot make that longer.
    fn checkpoint_long_log(&mut self) {
        let (site, is_well) = (self.site, lock(&self.replica.report).trouble.is_none());
        let writer = site.store.writer();
        let frames = writer.capture.frames();
        // A caller of `expedite` holds the writer, and restarts the WAL by its own work.
        let is_long = frames >= WAL_PAGES_MAX.cast_unsigned() && !writer.capture.is_expedited();
        if self.chain.is_none() || !is_long || !is_well {
            return;
        }
        if writer.capture.allows_checkpoint() || frames >= KEPT_WAL_PAGES_MIN {
            // Commits made while the round shipped go first, so that little is left to wait for.
            self.ship(TICK_TIME_MAX, false);
            writer.checkpoint_confirmed(|| {
                self.ship(HELD_TICK_TIME_MAX, true);
                writer.capture.wait_for_standby(HELD_TICK_TIME_MAX);
            });
        }
    }
}

/// The priority of a tick of commits up to that moment.
fn priority(site: &Site, moment: Moment) -> Priority {
    let is_late = site.now() > moment + LOW_PRIORITY_SECONDS_MAX;
    let bytes_max = site.config.backup.unconfirmed_bytes_max / PARTS_AT_LOW_PRIORITY;
    let is_large = site.store.writer().capture.lag(FollowerKind::OffSite).bytes > bytes_max;
    if is_late || is_large { Priority::Preemptible } else { Priority::Low }
}

#[cfg(test)]
mod tests;
