//! The commits that the off-site copy and the standby have to get. The WAL itself is the queue: a checkpoint lets the
//! next write overwrite the WAL, so none runs before every follower has confirmed all of its frames, or is abandoned.

mod standby;
mod unconfirmed;

use super::wal_format::FRAME_BYTES;
pub(crate) use super::wal_format::Position;
use crate::moment::Moment;
use standby::Standby;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use unconfirmed::Unconfirmed;

/// The frames that a commit appended to the WAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    /// There was no commit, or it changed nothing.
    Nothing,
    To(Position),
    /// The WAL could not be read.
    Unreadable,
}

/// The last commit of a second, with which a tick ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub position: Position,
    /// The moment of the commit's transactions (Unix seconds).
    pub moment: Moment,
}

/// The purpose for which the WAL is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowerKind {
    /// The off-site copy.
    OffSite,
    Standby,
}

/// A chain of ticks that is made from the WAL.
struct Follower {
    number: u64,
    kind: FollowerKind,
    confirmed: Position,
    /// The ends of the ticks that the target has not confirmed, oldest first, each with the number of its last commit.
    ends: VecDeque<(End, u64)>,
    /// Whether the first of `ends` is being sent, so that no later commit joins its tick.
    is_sent: bool,
    /// The number of the last commit that the target has confirmed.
    replicated: u64,
}

/// How far a follower is behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lag {
    pub bytes: u64,
    /// The moment of the oldest unconfirmed commit; `None`: all are confirmed.
    pub since: Option<Moment>,
}

/// The followers of one writer's commits.
#[derive(Default)]
pub(crate) struct Capture {
    state: Mutex<State>,
    /// Notified after a commit that the standby has to get.
    noted: Condvar,
    /// Notified when a follower confirmed a commit, or was abandoned.
    confirmed: Condvar,
    /// Whether answers wait for the standby.
    waits: AtomicBool,
}

/// Commits are sent without waiting for a tick until this is dropped: see [`Capture::expedite`].
pub(crate) struct Expedited<'c>(&'c Capture);

impl Drop for Expedited<'_> {
    fn drop(&mut self) {
        self.0.lock().expedited -= 1;
    }
}

impl Capture {
    /// Lets checkpoints run without a confirmation. The disk loss tests use this as a control: they must find a loss.
    /// Not in release builds.
    #[cfg(debug_assertions)]
    pub(crate) fn disable_gate(&self) {
        self.lock().gate_disabled = true;
    }
}

#[derive(Default)]
struct State {
    newest: Position,
    moment: Moment,
    followers: Vec<Follower>,
    /// The number of the last follower.
    numbers: u64,
    /// Bytes of frames that may be unconfirmed.
    unconfirmed_bytes_max: u64,
    /// Whether writers wait for an off-site copy that is far behind: the copy has confirmed something since writers
    /// last waited in vain.
    is_waited_for: bool,
    /// Why the last chain of the off-site copy was abandoned.
    broken: Option<String>,
    /// The number of commits that changed something.
    commits: u64,
    standby: Standby,
    /// What each kind of copy has not confirmed; `None`: nobody asked to count it.
    unconfirmed: [Option<Unconfirmed>; 2],
    /// Callers of [`Capture::expedite`] under way.
    expedited: u32,
    /// See [`Capture::disable_gate`].
    gate_disabled: bool,
}

impl Capture {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a commit, under the writer's lock. `moment`: the latest of its transactions. Returns the number of the
    /// commit; 0: it changed nothing.
    pub(crate) fn note(&self, noted: Appended, moment: Moment) -> u64 {
        let mut state = self.lock();
        let was_in_step = state.standby.is_in_step;
        match noted {
            Appended::Nothing => return 0,
            Appended::Unreadable => {
                state.count_unconfirmed(moment, 0);
                state.give_up("the write-ahead log could not be read");
            }
            Appended::To(position) => state.note(position, moment),
        }
        state.give_up_lagging();
        if state.has(FollowerKind::Standby) {
            self.noted.notify_all();
        }
        if was_in_step && !state.standby.is_in_step {
            self.confirmed.notify_all();
        }
        state.commits
    }

    /// Waits until a chain of the off-site copy, where there is one, and a standby that keeps up have all commits that
    /// were made before the call. Returns whether they have. May be called under the writer's lock.
    pub(crate) fn wait_until_replicated(&self, time_max: Duration) -> bool {
        let state = self.lock();
        let newest = state.commits;
        let waited = self.confirmed.wait_timeout_while(state, time_max, |state| !state.has_replicated(newest));
        waited.unwrap_or_else(PoisonError::into_inner).0.has_replicated(newest)
    }

    /// Waits while the off-site copy is close to its limit of unconfirmed bytes, so that many writes are slowed down to
    /// the rate of the copy. After a wait in which the copy confirmed nothing, the next one begins once it has. To be
    /// called under the writer's lock, so that all writers wait.
    pub(crate) fn wait_for_off_site_copy(&self, time_max: Duration) {
        let waited = self.confirmed.wait_timeout_while(self.lock(), time_max, |state| state.is_pressed());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_waited_for &= !state.is_pressed();
    }

    /// While the result lives, commits are sent without waiting for a tick, and replication runs no checkpoint of a long WAL.
    pub(crate) fn expedite(&self) -> Expedited<'_> {
        self.lock().expedited += 1;
        self.noted.notify_all();
        Expedited(self)
    }

    pub(crate) fn is_expedited(&self) -> bool {
        self.lock().expedited > 0
    }

    /// Follows the WAL from its present end on. To be called under the writer's lock. Returns the follower's number
    /// and the end at which it begins.
    pub(crate) fn follow(&self, kind: FollowerKind, unconfirmed_bytes_max: u64) -> (u64, End) {
        let mut state = self.lock();
        state.numbers += 1;
        state.unconfirmed_bytes_max = unconfirmed_bytes_max;
        let (number, confirmed) = (state.numbers, state.newest);
        let replicated = state.commits;
        state.followers.push(Follower { number, kind, confirmed, ends: VecDeque::new(), is_sent: false, replicated });
        (number, End { position: confirmed, moment: state.moment })
    }

    /// As [`Capture::follow`], from the begin of the WAL on. What this process has written until now is the first tick, also where
    /// it is nothing: until that is confirmed, no checkpoint runs.
    pub(crate) fn follow_from_begin(&self, kind: FollowerKind, unconfirmed_bytes_max: u64) -> (u64, End) {
        let (number, end) = self.follow(kind, unconfirmed_bytes_max);
        let mut state = self.lock();
        let commits = state.commits;
        if let Some(follower) = state.followers.iter_mut().find(|follower| follower.number == number) {
            (follower.confirmed, follower.replicated) = (Position::default(), 0);
            follower.ends.push_front((end, commits));
        }
        (number, end)
    }

    /// Removes a follower. Where it was the last standby, answers stop waiting for the standby.
    pub(crate) fn leave(&self, number: u64) {
        let mut state = self.lock();
        state.followers.retain(|follower| follower.number != number);
        if state.standby.is_in_step && !state.has(FollowerKind::Standby) {
            state.fall_out("it needs a new base");
        }
        self.confirmed.notify_all();
    }

    /// Whether the WAL is still kept for a follower.
    pub(crate) fn follows(&self, number: u64) -> bool {
        self.lock().followers.iter().any(|follower| follower.number == number)
    }

    /// The end of the follower's next tick, which no later commit joins from now on. The error: why the follower was
    /// given up.
    pub(crate) fn next_end(&self, number: u64) -> Result<Option<End>, String> {
        let mut state = self.lock();
        let broken = state.broken.clone();
        let found = state.followers.iter_mut().find(|follower| follower.number == number);
        let follower = found.ok_or_else(|| broken.unwrap_or_default())?;
        follower.is_sent = !follower.ends.is_empty();
        Ok(follower.ends.front().map(|(end, _)| *end))
    }

    /// How many ticks the follower is behind. A tick has the commits of a second.
    pub(crate) fn waiting(&self, number: u64) -> usize {
        self.lock().follower(number).map_or(0, |follower| follower.ends.len())
    }

    /// Records that the follower's next tick is on the disk of the off-site store, or of the standby.
    pub(crate) fn confirm(&self, number: u64) {
        let mut state = self.lock();
        let Some(follower) = state.followers.iter_mut().find(|follower| follower.number == number) else { return };
        let kind = follower.kind;
        let is_chain = kind == FollowerKind::OffSite;
        follower.is_sent = false;
        if let Some((end, commit)) = follower.ends.pop_front() {
            (follower.confirmed, follower.replicated) = (end.position, commit);
            if kind == FollowerKind::Standby {
                state.standby.confirmed = commit;
            }
            state.confirm(kind, commit);
        }
        state.is_waited_for |= is_chain;
        state.update_in_step(number);
        drop(state);
        self.confirmed.notify_all();
    }

    /// Gives up every follower, so that checkpoints may run. Each then needs a new base.
    #[cfg(test)]
    pub(crate) fn give_up(&self, cause: &str) {
        self.lock().give_up(cause);
        self.confirmed.notify_all();
    }

    /// Gives up every follower with unconfirmed commits, before the WAL is truncated. A follower that has everything
    /// stays.
    pub(crate) fn allow_checkpoints(&self, cause: &str) {
        self.lock().allow_checkpoints(cause);
        self.confirmed.notify_all();
    }

    /// Whether a checkpoint may run: no follower has unconfirmed frames.
    pub(crate) fn allows_checkpoint(&self) -> bool {
        self.lock().allows_checkpoint()
    }

    /// Whether all followers of a kind have confirmed every frame.
    pub(crate) fn is_confirmed(&self, kind: FollowerKind) -> bool {
        self.lock().is_confirmed(kind)
    }

    /// The lag in the WAL of the follower of a kind that is the least behind, which a restore would use.
    pub(crate) fn lag(&self, kind: FollowerKind) -> Lag {
        self.lock().lags(kind).min_by_key(|lag| lag.bytes).unwrap_or_default()
    }

    /// Frames in the WAL now.
    pub(crate) fn frames(&self) -> u32 {
        self.lock().newest.frames
    }
}

impl State {
    fn note(&mut self, position: Position, moment: Moment) {
        // Before the first commit of this process nothing is in the WAL.
        let began_anew = position.salt != self.newest.salt && self.newest != Position::default();
        if began_anew && !self.allows_checkpoint() {
            self.give_up("the write-ahead log was emptied before all of it was off the site");
        }
        let frames = position.frames.saturating_sub(if began_anew { 0 } else { self.newest.frames });
        self.commits += 1;
        self.moment = self.moment.max(moment);
        self.newest = position;
        self.count_unconfirmed(self.moment, u64::from(frames) * FRAME_BYTES);
        let (end, commit) = (End { position, moment: self.moment }, self.commits);
        for follower in &mut self.followers {
            let joins = |last: &End| last.moment == end.moment && last.position.salt == position.salt;
            let may_join = follower.ends.len() > usize::from(follower.is_sent);
            match follower.ends.back_mut().filter(|(last, _)| may_join && joins(last)) {
                Some(last) => *last = (end, commit),
                None => follower.ends.push_back((end, commit)),
            }
        }
    }

    fn follower(&self, number: u64) -> Option<&Follower> {
        self.followers.iter().find(|follower| follower.number == number)
    }

    fn has(&self, kind: FollowerKind) -> bool {
        self.followers.iter().any(|follower| follower.kind == kind)
    }

    fn allows_checkpoint(&self) -> bool {
        self.gate_disabled || self.followers.iter().all(|follower| follower.ends.is_empty())
    }

    fn is_confirmed(&self, kind: FollowerKind) -> bool {
        self.followers.iter().filter(|follower| follower.kind == kind).all(|follower| follower.ends.is_empty())
    }

    /// Whether the off-site copy is close to its limit of unconfirmed bytes.
    fn is_pressed(&self) -> bool {
        let least = self.lags(FollowerKind::OffSite).map(|lag| lag.bytes).min();
        self.is_waited_for && least.is_some_and(|bytes| bytes > self.unconfirmed_bytes_max / 4 * 3)
    }

    fn has_replicated(&self, commit: u64) -> bool {
        let has_commit = |kind: FollowerKind| {
            let mut all = self.followers.iter().filter(|follower| follower.kind == kind).peekable();
            all.peek().is_none() || all.any(|follower| follower.replicated >= commit)
        };
        has_commit(FollowerKind::OffSite) && (!self.standby.is_in_step || has_commit(FollowerKind::Standby))
    }

    fn allow_checkpoints(&mut self, cause: &str) {
        if self.gate_disabled {
            return;
        }
        for kind in [FollowerKind::OffSite, FollowerKind::Standby] {
            let has_all = |follower: &Follower| follower.kind == kind && follower.ends.is_empty();
            if self.followers.iter().any(has_all) {
                self.followers.retain(|follower| follower.kind != kind || follower.ends.is_empty());
            } else {
                self.give_up_kind(kind, cause);
            }
        }
    }

    /// The lag of each follower of a kind.
    fn lags(&self, kind: FollowerKind) -> impl Iterator<Item = Lag> {
        let frames = move |follower: &Follower| match follower.confirmed.salt == self.newest.salt {
            true => self.newest.frames.saturating_sub(follower.confirmed.frames),
            false => self.newest.frames,
        };
        let lag = move |follower: &Follower| match follower.ends.front() {
            Some((end, _)) => Lag { bytes: u64::from(frames(follower)) * FRAME_BYTES, since: Some(end.moment) },
            None => Lag::default(),
        };
        self.followers.iter().filter(move |follower| follower.kind == kind).map(lag)
    }

    /// Gives up the followers beyond the limit of unconfirmed bytes. Where another one of the kind is within it, only a
    /// base that takes too long is abandoned, and the chain goes on.
    fn give_up_lagging(&mut self) {
        for kind in [FollowerKind::OffSite, FollowerKind::Standby] {
            let is_within: Vec<bool> = self.lags(kind).map(|lag| lag.bytes <= self.unconfirmed_bytes_max).collect();
            if is_within.contains(&true) {
                let mut is_within = is_within.into_iter();
                self.followers.retain(|follower| follower.kind != kind || is_within.next().unwrap_or_default());
            } else if !is_within.is_empty() {
                self.give_up_kind(kind, "more writes waited for the off-site copy than backup.unconfirmed_mib allows (raise it if this recurs)");
            }
        }
    }

    fn give_up(&mut self, cause: &str) {
        self.give_up_kind(FollowerKind::OffSite, cause);
        self.give_up_kind(FollowerKind::Standby, cause);
    }

    fn give_up_kind(&mut self, kind: FollowerKind, cause: &str) {
        if !self.has(kind) {
            return;
        }
        self.followers.retain(|follower| follower.kind != kind);
        if kind == FollowerKind::Standby {
            return self.fall_out(cause);
        }
        self.broken = Some(cause.to_owned());
        tracing::error!(
            cause,
            "the off-site copy has a gap: a new backup is made as soon as the directory for off-site backups takes one"
        );
    }
}

#[cfg(test)]
mod tests;
