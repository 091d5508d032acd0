//! The feed of a standby: a base first, then tick after tick, each once the one before is on the standby's disk. One standby at
//! a time: a newer request ends the wait of the one before.

use super::chain::{StandbyChain, part};
use super::protocol::{Reply, Request, RequestKind};
use super::{Status, claim};
use crate::moment::Moment;
use crate::site::{Site, priority};
use crate::store::Condition;
use crate::store::engine::capture::{FollowerKind, Lag};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a request waits for a new commit.
const COMMIT_WAIT_MAX: Duration = Duration::from_secs(20);
/// How long commits are gathered into one tick, where no write waits for the standby.
const GATHER_TIME: Duration = Duration::from_millis(250);
/// A base that the standby has not requested for so long is removed, because it takes room on the disk.
pub(super) const BASE_IDLE_SECONDS_MAX: i64 = 600;
/// So long a second standby is named after it was refused.
const REFUSED_NAMED_SECONDS: i64 = 60;
/// Between the starts of two bases: each copies the whole database, also when it fails, or two machines request one by turns.
const BASE_INTERVAL_SECONDS: i64 = 30;

/// The feed, which all threads share.
#[derive(Default)]
pub(crate) struct Feed {
    pub(super) is_on: AtomicBool,
    is_ending: AtomicBool,
    /// The number of the newest request for a tick.
    newest_request: AtomicU64,
    state: Mutex<State>,
    /// When the last base was started (Unix seconds); 0: never.
    base_begun: AtomicI64,
    /// Since when no standby follows (Unix seconds); 0: one does.
    away_since: AtomicI64,
    /// When a second standby was last refused (Unix seconds); 0: never.
    refused_at: AtomicI64,
}

#[derive(Default)]
enum State {
    #[default]
    Nothing,
    BaseInProgress,
    Chain(Box<StandbyChain>),
}

impl Feed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, site: &Site) {
        // An interrupted process may have left a base.
        _ = std::fs::remove_dir_all(super::base::dir_in(&site.config.data));
        self.away_since.store(site.now().0, Ordering::Release);
        self.is_on.store(true, Ordering::Release);
        site.store.writer().capture.begin_counting(FollowerKind::Standby, site.now());
        site.store.writer().capture.set_wait(site.config.replica.wait);
    }

    pub(super) fn end(&self, site: &Site) {
        self.is_ending.store(true, Ordering::Release);
        site.store.writer().capture.wake();
    }

    pub(super) fn status(&self, site: &Site) -> Status {
        let Lag { bytes, since } = site.store.writer().capture.behind(FollowerKind::Standby);
        let away = Some(self.away_since.load(Ordering::Acquire)).filter(|since| *since > 0).map(Moment);
        let since = away.into_iter().chain(since).min();
        Status {
            is_attached: away.is_none(),
            is_in_step: site.store.writer().capture.is_in_step(),
            behind_seconds: since.map_or(0, |since| (site.now() - since).max(0)),
            behind_bytes: bytes,
            has_second: site.now() - Moment(self.refused_at.load(Ordering::Acquire)) < REFUSED_NAMED_SECONDS,
        }
    }

    /// Refuses a standby while another one follows: each would take the chain from the other.
    fn refuse_second(&self, site: &Site, request: &Request) -> Reply {
        let before = Moment(self.refused_at.swap(site.now().0, Ordering::AcqRel));
        if site.now() - before >= REFUSED_NAMED_SECONDS {
            tracing::warn!(
                from = request.peer,
                "a second standby asks for a copy and is refused: one follows already; stop the one or the other"
            );
            site.forget_health();
        }
        Reply::Taken
    }

    /// The reply to an authenticated request.
    pub(crate) fn answer(&self, site: &Site, request: &Request) -> Reply {
        if !request.site.is_empty() && *request.site != *site.site_id {
            return Reply::OtherSite;
        }
        let url = request.url.as_deref();
        let is_greater =
            request.claim.epoch > 0 && claim::hear(site, &request.claim, url.unwrap_or("the standby"), url);
        if is_greater || site.store.writer().condition() == Condition::Replaced {
            return Reply::Replaced;
        }
        match request.kind {
            RequestKind::Promoted => {
                claim::hear_follower(site, &request.claim, url);
                Reply::Nothing
            }
            RequestKind::Base => self.base(site, request),
            RequestKind::Tick => self.tick(site, request),
        }
    }

    fn base(&self, site: &Site, request: &Request) -> Reply {
        let mut state = self.state();
        match &mut *state {
            State::BaseInProgress => return Reply::BaseInProgress,
            State::Chain(chain) if chain.is_followed(site) => {
                if chain.is_of_another(site, request) {
                    return self.refuse_second(site, request);
                }
                chain.note_request(site, request);
                let is_this_base = request.offset == 0 || request.lineage == chain.lineage;
                if let Some(payload) = chain.base.payload.as_ref().filter(|_| is_this_base) {
                    return part(payload, request.offset);
                }
                if request.offset > 0 {
                    return Reply::BaseNeeded;
                }
            }
            _ if request.offset > 0 => return Reply::BaseNeeded,
            _ => {}
        }
        if site.now() - Moment(self.base_begun.load(Ordering::Acquire)) < BASE_INTERVAL_SECONDS {
            return Reply::BaseInProgress;
        }
        self.base_begun.store(site.now().0, Ordering::Release);
        if matches!(&*state, State::Chain(chain) if chain.is_attached) {
            tracing::warn!("a standby requests a base; the copy that was continued until now ends");
        }
        // The earlier chain is dropped first: the new base is made in the same directory.
        *state = State::Nothing;
        self.note_detached(site);
        *state = State::BaseInProgress;
        drop(state);
        let for_base = site.for_another_thread();
        let begun = std::thread::Builder::new().name("standby base".to_owned()).spawn(move || {
            priority::lower();
            for_base.state::<Feed>().make_base(&for_base);
        });
        if begun.is_err() {
            *self.state() = State::Nothing;
        }
        Reply::BaseInProgress
    }

    fn make_base(&self, site: &Site) {
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| StandbyChain::new(site)));
        site.store.release();
        let made = made.unwrap_or_else(|_| {
            site.stats.panics.fetch_add(1, Ordering::Relaxed);
            Err("a fault; the log line before says where".to_owned())
        });
        *self.state() = match made {
            Ok(chain) => State::Chain(Box::new(chain)),
            Err(cause) => {
                tracing::error!(cause, "no base was made for the standby; its next request tries again");
                State::Nothing
            }
        };
    }

    /// Drops a chain whose WAL is no longer kept, and a base that was not requested for `idle_seconds_max`.
    pub(super) fn drop_idle(&self, site: &Site, idle_seconds_max: i64) {
        let mut state = self.state();
        let State::Chain(chain) = &*state else { return };
        let is_idle = !chain.is_attached && site.now() - chain.requested_at >= idle_seconds_max;
        if !chain.is_followed(site) || is_idle {
            tracing::warn!(is_idle, "the standby needs a new base");
            *state = State::Nothing;
            drop(state);
            self.note_detached(site);
        }
    }

    fn note_detached(&self, site: &Site) {
        _ = self.away_since.compare_exchange(0, site.now().0, Ordering::AcqRel, Ordering::Relaxed);
    }

    fn tick(&self, site: &Site, request: &Request) -> Reply {
        let capture = &site.store.writer().capture;
        let request_number = self.newest_request.fetch_add(1, Ordering::AcqRel) + 1;
        capture.wake();
        let follower = {
            let mut state = self.state();
            let Some(chain) = chain_of(&mut state, site, request) else {
                return self.base_needed(site, request, state);
            };
            if chain.is_of_another(site, request) {
                return self.refuse_second(site, request);
            }
            chain.note_request(site, request);
            if request.offset > 0 {
                let pending = chain.pending.as_ref().filter(|_| request.number == chain.base.ticks.number);
                return pending.map_or(Reply::BaseNeeded, |payload| part(payload, request.offset));
            }
            if !chain.acknowledge(site, request.number) {
                return self.base_needed(site, request, state);
            }
            chain.base.ticks.follower()
        };
        self.away_since.store(0, Ordering::Release);
        let is_over =
            || self.newest_request.load(Ordering::Acquire) != request_number || self.is_ending.load(Ordering::Acquire);
        capture.wait_for_news(follower, COMMIT_WAIT_MAX, GATHER_TIME, is_over);
        if self.newest_request.load(Ordering::Acquire) != request_number {
            return Reply::Nothing;
        }
        let mut state = self.state();
        let next = chain_of(&mut state, site, request).map(|chain| {
            chain.note_request(site, request);
            chain.next(site)
        });
        match next {
            Some(Ok(said)) => said,
            None => self.base_needed(site, request, state),
            Some(Err(cause)) => {
                tracing::error!(cause, "the standby needs a new base");
                self.base_needed(site, request, state)
            }
        }
    }

    /// Drops the chain of this copy, so that checkpoints no longer wait for it. The chain of another copy stays until a base is
    /// started.
    fn base_needed(&self, site: &Site, request: &Request, mut state: MutexGuard<'_, State>) -> Reply {
        let is_over =
            |chain: &StandbyChain| chain.is_attached && chain.lineage == request.lineage || !chain.is_followed(site);
        if matches!(&*state, State::Chain(chain) if is_over(chain)) {
            *state = State::Nothing;
        }
        let goes_on = matches!(&*state, State::Chain(chain) if chain.is_attached);
        drop(state);
        if !goes_on {
            self.note_detached(site);
        }
        Reply::BaseNeeded
    }
}

/// The chain that a request continues.
fn chain_of<'s>(state: &'s mut State, site: &Site, request: &Request) -> Option<&'s mut StandbyChain> {
    match state {
        State::Chain(chain) if chain.lineage == request.lineage && chain.is_followed(site) => Some(chain),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ops::standby::epoch::Claim;
    use crate::ops::tests::new_site;
    use crate::store::engine::data_dir::DataDir;
    use std::time::Instant;

    /// The lineage of another machine's copy.
    const OTHER: &str = "00";
    const TIME_MAX: Duration = Duration::from_secs(60);

    fn request(kind: RequestKind, lineage: &str) -> Request {
        let follower = if lineage == OTHER { "b" } else { "a" };
        Request {
            kind,
            lineage: lineage.to_owned(),
            number: 0,
            offset: 0,
            claim: Claim::default(),
            url: None,
            site: String::new(),
            follower: follower.to_owned(),
            peer: "a test".to_owned(),
        }
    }

    /// Requests a base until it is made, and returns its lineage.
    fn fetch(site: &Site, feed: &Feed) -> String {
        let until = Instant::now() + TIME_MAX;
        while !matches!(feed.answer(site, &request(RequestKind::Base, "")), Reply::Part { .. }) {
            assert!(Instant::now() < until, "no base is made");
            std::thread::yield_now();
        }
        let State::Chain(chain) = &*feed.state() else { panic!("there is no chain") };
        chain.lineage.clone()
    }

    #[test]
    fn an_unused_base_is_removed_and_another_machine_does_not_end_the_chain_of_a_standby() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let config = Config { data: dir.path().to_owned(), ..Config::defaults() };
        let site = new_site(&data_dir, config);
        let (feed, base) = (site.state::<Feed>(), super::super::base::dir_in(dir.path()));
        feed.begin(&site);
        let lineage = fetch(&site, &feed);
        feed.drop_idle(&site, BASE_IDLE_SECONDS_MAX);
        assert!(base.exists(), "a base that is being fetched is gone");
        feed.drop_idle(&site, 0);
        assert!(!base.exists() && !feed.status(&site).is_attached, "an unused base takes room on the disk");
        assert_eq!(feed.answer(&site, &request(RequestKind::Tick, &lineage)), Reply::BaseNeeded);
        // The whole database is not copied for each request.
        assert_eq!(feed.answer(&site, &request(RequestKind::Base, "")), Reply::BaseInProgress);
        assert!(!base.exists(), "a base is started right after another");
        feed.base_begun.store(0, Ordering::Release);
        let lineage = fetch(&site, &feed);
        feed.end(&site);
        let said = feed.answer(&site, &request(RequestKind::Tick, &lineage));
        assert!(matches!(said, Reply::Part { .. }), "the record of the copy is the first tick: {said:?}");
        assert!(feed.status(&site).is_attached && !base.exists());
        feed.base_begun.store(0, Ordering::Release);
        for (kind, reply) in [(RequestKind::Tick, Reply::BaseNeeded), (RequestKind::Base, Reply::Taken)] {
            assert_eq!(feed.answer(&site, &request(kind, OTHER)), reply);
            feed.drop_idle(&site, 0);
            assert!(feed.status(&site).is_attached, "another machine ended the chain");
        }
        assert!(feed.status(&site).has_second);
        site.store.writer().capture.give_up("a test");
        feed.drop_idle(&site, BASE_IDLE_SECONDS_MAX);
        assert!(!feed.status(&site).is_attached, "a chain whose WAL is gone counts as attached");
        assert_eq!(
            feed.answer(&site, &request(RequestKind::Base, OTHER)),
            Reply::BaseInProgress,
            "the first one is gone"
        );
    }
}
