//! What a standby asks of this site, and what it is told: a base first, then tick after tick, each once the one before is on its
//! disk. One standby at a time: a newer request ends the wait of the one before.

use super::chain::{StandbyChain, part};
use super::{Status, epoch};
use crate::site::{Site, priority};
use crate::store::Condition;
use crate::store::engine::capture::{FollowerKind, Lag};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a request waits for something to tell.
const NEWS_WAIT_MAX: Duration = Duration::from_secs(20);
/// Where no answer waits for the standby, commits are gathered for so long.
const GATHER_TIME: Duration = Duration::from_millis(250);
/// A base that the standby does not ask for so long goes, and with it the room that the base takes on the disk.
pub(super) const BASE_IDLE_SECONDS_MAX: i64 = 600;
/// Between the beginnings of two bases, each a copy of the whole file: where no base can be made, or two machines ask by turns.
const BASE_INTERVAL_SECONDS: i64 = 30;

/// What a standby asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// The base, from an offset on.
    Base,
    /// The tick behind the one that it has, from an offset on.
    Tick,
    /// Nothing: it says that it was promoted.
    Promoted,
}

#[derive(Debug)]
pub(crate) struct Request {
    pub kind: RequestKind,
    /// In hex; empty: none.
    pub lineage: String,
    /// Of the last tick that is on the standby's disk.
    pub number: u64,
    pub offset: u64,
    /// The highest epoch that it knows.
    pub epoch: u64,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// This machine was replaced.
    Replaced,
    /// Its copy is none that this process goes on from.
    BaseNeeded,
    /// The base is being made.
    BaseUnderWay,
    /// Nothing was committed meanwhile.
    Nothing,
    /// Some bytes, of so many in all.
    Part(Vec<u8>, u64),
}

/// The state of the standby that all threads share.
#[derive(Default)]
pub(crate) struct Feed {
    pub(super) is_on: AtomicBool,
    is_ending: AtomicBool,
    turns: AtomicU64,
    stage: Mutex<Stage>,
    /// When the last base was begun (Unix seconds); 0: never.
    base_begun: AtomicI64,
    /// Since when no standby has a copy that goes on (Unix seconds); 0: one has.
    away_since: AtomicI64,
}

#[derive(Default)]
enum Stage {
    #[default]
    Nothing,
    BaseUnderWay,
    Chain(Box<StandbyChain>),
}

impl Feed {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, site: &Site) {
        // What a process left that was cut off.
        _ = std::fs::remove_dir_all(super::base::dir_in(&site.config.data));
        self.away_since.store(site.now(), Ordering::Release);
        self.is_on.store(true, Ordering::Release);
        site.store.writer().capture.set_wait(site.config.replica.wait);
    }

    pub(super) fn end(&self, site: &Site) {
        self.is_ending.store(true, Ordering::Release);
        site.store.writer().capture.wake();
    }

    pub(super) fn status(&self, site: &Site) -> Status {
        let Lag { bytes, since } = site.store.writer().capture.lag(FollowerKind::Standby);
        let away = Some(self.away_since.load(Ordering::Acquire)).filter(|since| *since > 0);
        let since = away.or(since.filter(|since| *since > 0));
        Status {
            is_attached: away.is_none(),
            is_in_step: site.store.writer().capture.is_in_step(),
            behind_seconds: since.map_or(0, |since| (site.now() - since).max(0)),
            behind_bytes: bytes,
        }
    }

    /// The answer to a request whose token was right.
    pub(crate) fn answer(&self, site: &Site, request: &Request) -> Reply {
        let is_known = site.store.writer().condition() == Condition::Replaced;
        if is_known || request.epoch > 0 && epoch::fence_if_higher(site, request.epoch, "the standby") {
            return Reply::Replaced;
        }
        match request.kind {
            RequestKind::Promoted => Reply::Nothing,
            RequestKind::Base => self.base(site, request),
            RequestKind::Tick => self.tick(site, request),
        }
    }

    fn base(&self, site: &Site, request: &Request) -> Reply {
        let mut stage = self.stage();
        match &mut *stage {
            Stage::BaseUnderWay => return Reply::BaseUnderWay,
            Stage::Chain(line) if line.is_followed(site) => {
                let asks_for_it = request.offset == 0 || request.lineage == line.lineage;
                if let Some(payload) = line.base.payload.as_ref().filter(|_| asks_for_it) {
                    line.asked = site.now();
                    return part(payload, request.offset);
                }
                if request.offset > 0 {
                    return Reply::BaseNeeded;
                }
            }
            _ if request.offset > 0 => return Reply::BaseNeeded,
            _ => {}
        }
        if site.now() - self.base_begun.load(Ordering::Acquire) < BASE_INTERVAL_SECONDS {
            return Reply::BaseUnderWay;
        }
        self.base_begun.store(site.now(), Ordering::Release);
        if matches!(&*stage, Stage::Chain(line) if line.is_attached) {
            tracing::warn!("a standby asks for a base, and the copy that was followed until now is followed no more");
        }
        // The line before is let go of first: the base of the next one lies where its base did.
        *stage = Stage::Nothing;
        self.note_away(site);
        *stage = Stage::BaseUnderWay;
        drop(stage);
        let for_base = site.for_another_thread();
        let begun = std::thread::Builder::new().name("standby base".to_owned()).spawn(move || {
            priority::lower();
            for_base.state::<Feed>().make_base(&for_base);
        });
        if begun.is_err() {
            *self.stage() = Stage::Nothing;
        }
        Reply::BaseUnderWay
    }

    fn make_base(&self, site: &Site) {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| StandbyChain::new(site)));
        site.store.release();
        let made = made.unwrap_or_else(|_| {
            site.stats.panics.fetch_add(1, Ordering::Relaxed);
            Err("a fault; the line before says where".to_owned())
        });
        *self.stage() = match made {
            Ok(line) => Stage::Chain(Box::new(line)),
            Err(cause) => {
                tracing::error!(cause, "no base was made for the standby; its next request tries again");
                Stage::Nothing
            }
        };
    }

    /// Lets go of a line whose log is kept no more, and of a base that was made and that nobody asked for in `idle_seconds_max`.
    pub(super) fn let_go(&self, site: &Site, idle_seconds_max: i64) {
        let mut stage = self.stage();
        let Stage::Chain(line) = &*stage else { return };
        let is_idle = !line.is_attached && site.now() - line.asked >= idle_seconds_max;
        if !line.is_followed(site) || is_idle {
            tracing::warn!(is_idle, "the standby needs a new base");
            *stage = Stage::Nothing;
            drop(stage);
            self.note_away(site);
        }
    }

    fn note_away(&self, site: &Site) {
        _ = self.away_since.compare_exchange(0, site.now(), Ordering::AcqRel, Ordering::Relaxed);
    }

    fn tick(&self, site: &Site, request: &Request) -> Reply {
        let capture = &site.store.writer().capture;
        let turn = self.turns.fetch_add(1, Ordering::AcqRel) + 1;
        capture.wake();
        let follower = {
            let mut stage = self.stage();
            let Some(line) = line_of(&mut stage, site, request) else {
                return self.base_needed(site, request, stage);
            };
            if request.offset > 0 {
                let pending = line.pending.as_ref().filter(|_| request.number == line.number);
                return pending.map_or(Reply::BaseNeeded, |(_, _, payload)| part(payload, request.offset));
            }
            if !line.acknowledge(site, request.number) {
                return self.base_needed(site, request, stage);
            }
            line.base.follower
        };
        self.away_since.store(0, Ordering::Release);
        let is_over = || self.turns.load(Ordering::Acquire) != turn || self.is_ending.load(Ordering::Acquire);
        capture.wait_for_news(follower, NEWS_WAIT_MAX, GATHER_TIME, is_over);
        if self.turns.load(Ordering::Acquire) != turn {
            return Reply::Nothing;
        }
        let mut stage = self.stage();
        let next = line_of(&mut stage, site, request).map(|line| line.next(site));
        match next {
            Some(Ok(said)) => said,
            None => self.base_needed(site, request, stage),
            Some(Err(cause)) => {
                tracing::error!(cause, "the standby needs a new base");
                self.base_needed(site, request, stage)
            }
        }
    }

    /// The line has ended, and with it the wish that checkpoints wait. The line of another copy goes on until a base is begun.
    fn base_needed(&self, site: &Site, request: &Request, mut stage: MutexGuard<'_, Stage>) -> Reply {
        let is_over =
            |line: &StandbyChain| line.is_attached && line.lineage == request.lineage || !line.is_followed(site);
        if matches!(&*stage, Stage::Chain(line) if is_over(line)) {
            *stage = Stage::Nothing;
        }
        let goes_on = matches!(&*stage, Stage::Chain(line) if line.is_attached);
        drop(stage);
        if !goes_on {
            self.note_away(site);
        }
        Reply::BaseNeeded
    }
}

/// The line that a request goes on with.
fn line_of<'s>(stage: &'s mut Stage, site: &Site, request: &Request) -> Option<&'s mut StandbyChain> {
    match stage {
        Stage::Chain(line) if line.lineage == request.lineage && line.is_followed(site) => Some(line),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::Config;
    use crate::ops::lifecycle::Identity;
    use crate::store::engine::data_dir::DataDir;
    use std::time::Instant;

    const TIME_MAX: Duration = Duration::from_secs(60);

    fn request(kind: RequestKind, lineage: &str) -> Request {
        Request { kind, lineage: lineage.to_owned(), number: 0, offset: 0, epoch: 0 }
    }

    /// Asks until there is a base; its lineage.
    fn fetch(site: &Site, feed: &Feed) -> String {
        let until = Instant::now() + TIME_MAX;
        while !matches!(feed.answer(site, &request(RequestKind::Base, "")), Reply::Part(..)) {
            assert!(Instant::now() < until, "no base is made");
            std::thread::yield_now();
        }
        let Stage::Chain(line) = &*feed.stage() else { panic!("there is no line") };
        line.lineage.clone()
    }

    #[test]
    fn a_base_that_nobody_comes_for_goes_and_another_machine_does_not_end_a_copy_that_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let identity = Identity { tunnel_id: 1, name: "T".to_owned(), city: String::new(), country: "CH".to_owned() };
        let config = Config { data: dir.path().to_owned(), ..Config::defaults() };
        let site = Site::create(&data_dir, config, Clock::frozen(1_800_000_000), &identity).unwrap();
        let (feed, base) = (site.state::<Feed>(), super::super::base::dir_in(dir.path()));
        feed.begin(&site);
        let lineage = fetch(&site, &feed);
        feed.let_go(&site, BASE_IDLE_SECONDS_MAX);
        assert!(base.exists(), "a base that is being fetched is gone");
        feed.let_go(&site, 0);
        assert!(!base.exists() && !feed.status(&site).is_attached, "a base that nobody fetches takes room on the disk");
        assert_eq!(feed.answer(&site, &request(RequestKind::Tick, &lineage)), Reply::BaseNeeded);
        // Not a copy of the whole file for each request.
        assert_eq!(feed.answer(&site, &request(RequestKind::Base, "")), Reply::BaseUnderWay);
        assert!(!base.exists(), "a base is begun right behind another");
        feed.base_begun.store(0, Ordering::Release);
        let lineage = fetch(&site, &feed);
        feed.end(&site);
        let said = feed.answer(&site, &request(RequestKind::Tick, &lineage));
        assert!(matches!(said, Reply::Part(..)), "the record of the copy is the first tick: {said:?}");
        assert!(feed.status(&site).is_attached && !base.exists());
        for kind in [RequestKind::Tick, RequestKind::Base] {
            _ = feed.answer(&site, &request(kind, &"0".repeat(32)));
            feed.let_go(&site, 0);
            assert!(feed.status(&site).is_attached, "another machine ended the copy that goes on");
        }
        site.store.writer().capture.give_up("a test");
        feed.let_go(&site, BASE_IDLE_SECONDS_MAX);
        assert!(!feed.status(&site).is_attached, "a copy is told of that is kept up no more");
    }
}
