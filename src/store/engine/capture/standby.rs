//! How answers and checkpoints wait for the standby, and when they stop waiting.

use super::{Capture, FollowerKind, State};
use crate::domain::standby::Wait;
use crate::http::failure::Failure;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The longest wait of an answer for the standby.
const STANDBY_WAIT_MAX: Duration = Duration::from_millis(200);
/// A standby keeps up while it is at most this many ticks behind: they hold the commits made while the last tick was
/// sent.
const TICKS_IN_STEP_MAX: usize = 2;

/// How answers wait for the standby.
#[derive(Default)]
pub(super) struct Standby {
    pub(super) wait: Wait,
    /// Whether the standby keeps up: it has all but the latest commits.
    pub(super) is_in_step: bool,
    /// The number of the last commit that the standby has on its disk.
    pub(super) confirmed: u64,
}

impl Capture {
    /// Sets how answers wait.
    pub(crate) fn set_wait(&self, wait: Wait) {
        self.lock().standby.wait = wait;
        self.waits.store(wait != Wait::Never, Ordering::Release);
    }

    /// Whether the standby keeps up.
    pub(crate) fn is_in_step(&self) -> bool {
        self.lock().standby.is_in_step
    }

    /// The failure of every write while the standby is away and the settings refuse writes without it.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        if !self.waits.load(Ordering::Acquire) {
            return None;
        }
        let standby = &self.lock().standby;
        (standby.wait == Wait::Refuse && !standby.is_in_step).then(|| Failure::standby_away().because("no standby"))
    }

    /// Waits until the standby has a commit on its disk, up to [`STANDBY_WAIT_MAX`]. Not to be called under the
    /// writer's lock.
    pub(crate) fn wait(&self, commit: u64) -> Result<(), Failure> {
        if commit == 0 || !self.waits.load(Ordering::Acquire) {
            return Ok(());
        }
        let is_waiting = |state: &mut State| state.standby.is_in_step && state.standby.confirmed < commit;
        let waited = self.confirmed.wait_timeout_while(self.lock(), STANDBY_WAIT_MAX, is_waiting);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.standby.confirmed >= commit {
            return Ok(());
        }
        if state.standby.is_in_step {
            state.fall_out("it did not confirm a write in time");
            self.confirmed.notify_all();
        }
        match state.standby.wait {
            Wait::Refuse => Err(Failure::standby_away().because("the standby did not confirm the write in time")),
            Wait::Never | Wait::InStep => Ok(()),
        }
    }

    /// Waits up to `time_max` until the standby has a tick to fetch. Where no answer waits for the standby, waits up
    /// to `gather` longer, so that the tick takes more commits. Both waits end early when `ends` returns true.
    pub(crate) fn wait_for_news(&self, number: u64, time_max: Duration, gather: Duration, ends: impl Fn() -> bool) {
        let is_idle =
            |state: &mut State| !ends() && state.follower(number).is_some_and(|follower| follower.ends.is_empty());
        let waited = self.noted.wait_timeout_while(self.lock(), time_max, is_idle);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let gathers = |state: &mut State| !ends() && state.expedited == 0 && state.standby.wait == Wait::Never;
        drop(self.noted.wait_timeout_while(state, gather, gathers));
    }

    /// Wakes the threads in [`Capture::wait_for_news`].
    pub(crate) fn wake(&self) {
        drop(self.lock());
        self.noted.notify_all();
    }

    /// Waits until a standby that keeps up has every commit. A standby that does not confirm them in time does not keep
    /// up any more. May be called under the writer's lock.
    pub(crate) fn wait_for_standby(&self, time_max: Duration) {
        let _expedited = self.expedite();
        let is_waiting = |state: &mut State| state.standby.is_in_step && !state.is_confirmed(FollowerKind::Standby);
        let waited = self.confirmed.wait_timeout_while(self.lock(), time_max, is_waiting);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if is_waiting(&mut state) {
            // Writers must not wait again before the standby has confirmed a commit.
            state.fall_out("it did not confirm the last writes while a checkpoint waited for it");
            self.confirmed.notify_all();
        }
    }
}

impl State {
    /// Marks the standby as keeping up where only the latest commits are unconfirmed ([`TICKS_IN_STEP_MAX`]).
    pub(super) fn update_in_step(&mut self, number: u64) {
        let standby = self.follower(number).filter(|follower| follower.kind == FollowerKind::Standby);
        let Some(waiting) = standby.map(|follower| follower.ends.len()) else { return };
        if waiting <= TICKS_IN_STEP_MAX && !self.standby.is_in_step {
            self.standby.is_in_step = true;
            tracing::info!("the standby has all but the latest writes");
        }
    }

    /// Marks the standby as not keeping up: answers and checkpoints do not wait for it until it keeps up again.
    pub(super) fn fall_out(&mut self, cause: &str) {
        self.standby.is_in_step = false;
        tracing::error!(cause, "the standby does not keep up");
    }
}
