//! The truth about a copy: the commits that are on this machine's disk alone, whether a chain of them is under way, broken, or
//! about to begin.

use super::{Capture, FollowerKind, Lag, State};
use crate::moment::Moment;
use std::collections::VecDeque;

/// Seconds with commits that are counted apart. Beyond that two are counted as one, from the older on.
const SECONDS_MAX: usize = 4_096;

/// The commits that a copy has not confirmed, by second, oldest first.
pub(super) struct Unconfirmed {
    seconds: VecDeque<Second>,
    bytes: u64,
    /// No commit counts as older: before the first write the moment of a commit is not known.
    begun: Moment,
    /// The moment of the newest commit that the copy had.
    confirmed: Moment,
}

struct Second {
    /// The moment of its first commit.
    moment: Moment,
    /// The number of its last commit.
    commit: u64,
    bytes: u64,
}

impl Unconfirmed {
    /// Nothing counts as confirmed before the copy has a base with all commits up to `commit`.
    pub(super) fn since(begun: Moment, commit: u64) -> Unconfirmed {
        let all = Second { moment: begun, commit, bytes: 0 };
        Unconfirmed { seconds: VecDeque::from([all]), bytes: 0, begun, confirmed: begun }
    }

    /// Adds a commit with the bytes that it appended to the WAL.
    pub(super) fn add(&mut self, commit: u64, moment: Moment, bytes: u64) {
        self.bytes += bytes;
        let moment = moment.max(self.begun);
        match self.seconds.back_mut().filter(|second| second.moment >= moment) {
            Some(second) => (second.commit, second.bytes) = (second.commit.max(commit), second.bytes + bytes),
            None => self.seconds.push_back(Second { moment, commit, bytes }),
        }
        if self.seconds.len() > SECONDS_MAX {
            self.merge();
        }
    }

    fn merge(&mut self) {
        let mut merged = VecDeque::with_capacity(SECONDS_MAX);
        while let Some(Second { moment, commit, bytes }) = self.seconds.pop_front() {
            let next = self.seconds.pop_front().unwrap_or(Second { moment, commit, bytes: 0 });
            merged.push_back(Second { moment, commit: next.commit, bytes: bytes + next.bytes });
        }
        self.seconds = merged;
    }

    /// Records that the copy has all commits up to this one.
    pub(super) fn confirm(&mut self, commit: u64) {
        while let Some(second) = self.seconds.pop_front_if(|second| second.commit <= commit) {
            self.bytes -= second.bytes;
            self.confirmed = second.moment;
        }
    }

    /// Records that the copy has lost what it had from this moment on (`None`: its newest), up to the commit `newest`: only a
    /// new base brings that back.
    pub(super) fn lose(&mut self, moment: Option<Moment>, newest: u64) {
        let moment = moment.map_or(self.confirmed, |moment| moment.max(self.begun));
        let oldest = self.seconds.front().map_or(moment, |second| second.moment.min(moment));
        self.seconds.push_front(Second { moment: oldest, commit: newest, bytes: 0 });
    }

    pub(super) fn lag(&self) -> Lag {
        Lag { bytes: self.bytes, since: self.seconds.front().map(|second| second.moment) }
    }
}

impl Capture {
    /// Counts what the copy of a kind lacks from now (Unix seconds) on. Until its first base it has nothing.
    pub(crate) fn begin_counting(&self, kind: FollowerKind, now: Moment) {
        let mut state = self.lock();
        let commits = state.commits;
        state.unconfirmed[kind as usize] = Some(Unconfirmed::since(now, commits));
    }

    /// Records that the copy has the base with which the follower's chain begins.
    pub(crate) fn attach(&self, number: u64) {
        let mut state = self.lock();
        let has = state.follower(number).map(|follower| (follower.kind, follower.replicated));
        if let Some((kind, commit)) = has {
            state.confirm(kind, commit);
        }
        state.update_in_step(number);
    }

    /// Records that the off-site copy has lost what it had from this moment on (`None`: its newest).
    pub(crate) fn note_loss(&self, moment: Option<Moment>) {
        let mut state = self.lock();
        let newest = state.commits;
        if let Some(unconfirmed) = &mut state.unconfirmed[FollowerKind::OffSite as usize] {
            unconfirmed.lose(moment, newest);
        }
    }

    /// What the copy of a kind has not confirmed, through gaps and new bases.
    pub(crate) fn behind(&self, kind: FollowerKind) -> Lag {
        self.lock().unconfirmed[kind as usize].as_ref().map_or_else(Lag::default, Unconfirmed::lag)
    }
}

impl State {
    pub(super) fn count_unconfirmed(&mut self, moment: Moment, bytes: u64) {
        self.unconfirmed.iter_mut().flatten().for_each(|unconfirmed| unconfirmed.add(self.commits, moment, bytes));
    }

    pub(super) fn confirm(&mut self, kind: FollowerKind, commit: u64) {
        if let Some(unconfirmed) = &mut self.unconfirmed[kind as usize] {
            unconfirmed.confirm(commit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_commit_counts_until_it_is_confirmed() {
        let mut all = Unconfirmed::since(Moment(100), 3);
        assert_eq!(all.lag(), Lag { bytes: 0, since: Some(Moment(100)) }, "nothing is known before the first base");
        all.add(4, Moment(105), 10);
        all.add(5, Moment(105), 10);
        all.add(6, Moment(107), 5);
        all.confirm(2);
        assert_eq!(all.lag(), Lag { bytes: 25, since: Some(Moment(100)) });
        all.confirm(4);
        assert_eq!(all.lag(), Lag { bytes: 25, since: Some(Moment(105)) }, "half of a second is none");
        all.confirm(5);
        assert_eq!(all.lag(), Lag { bytes: 5, since: Some(Moment(107)) });
        all.confirm(6);
        assert_eq!(all.lag(), Lag::default());
        all.lose(None, 6);
        all.add(7, Moment(120), 1);
        assert_eq!(all.lag(), Lag { bytes: 1, since: Some(Moment(107)) });
        all.confirm(5);
        assert_eq!(all.lag().since, Some(Moment(107)), "an older base does not bring it back");
        all.confirm(7);
        assert_eq!(all.lag(), Lag::default());
    }

    #[test]
    fn an_outage_of_days_takes_little_memory_and_stays_as_old_as_it_is() {
        let mut all = Unconfirmed::since(Moment(0), 0);
        let commits = 10 * SECONDS_MAX as u64;
        (1..=commits).for_each(|n| all.add(n, Moment(n as i64), 1));
        assert!(all.seconds.len() <= SECONDS_MAX);
        assert_eq!(all.lag(), Lag { bytes: commits, since: Some(Moment(0)) });
        all.confirm(commits - 1);
        let left = all.lag();
        assert!(left.bytes >= 1 && left.since.is_some_and(|since| since <= Moment(commits as i64)), "{left:?}");
        all.confirm(commits);
        assert_eq!(all.lag(), Lag::default());
    }
}
