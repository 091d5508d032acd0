//! The commits that the off-site copy has to send, and the gate that every checkpoint passes. A checkpoint lets the
//! next write overwrite the write-ahead log, so none runs before all frames of it are read and confirmed off the site:
//! until then the log is the only queue.

use crate::domain::standby::Wait;
use crate::http::failure::Failure;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A frame in the log: its header, and a page.
const FRAME_BYTES: u64 = 24 + 4096;
/// How long an answer waits for the standby.
const STANDBY_WAIT_MAX: Duration = Duration::from_millis(200);
/// A standby that has so many ticks to fetch, or fewer, keeps up: commits that were made while the last one was on its way.
const TICKS_IN_STEP_MAX: usize = 2;

/// The end of a commit in the write-ahead log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// Of the log, made anew each time that it begins. Zeros: before the first commit of this process.
    pub salt: [u8; 8],
    /// Frames up to there.
    pub frames: u32,
}

/// How far a commit brought the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noted {
    /// There was none, or it changed nothing.
    Nothing,
    To(Position),
    /// The log could not be read.
    Unreadable,
}

/// The last commit of a second, which a tick ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    pub position: Position,
    /// The second, by the moments that the commit's transactions carry (Unix seconds).
    pub moment: i64,
}

/// Whom the log is followed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The off-site copy.
    Chain,
    Standby,
}

/// A chain that the log is followed for.
struct Follower {
    number: u64,
    whose: Whose,
    confirmed: Position,
    /// The ends of commits that the target has not confirmed, oldest first, with the number of the last commit in each.
    ends: VecDeque<(End, u64)>,
    /// Whether the first of them is on its way, so that no later commit joins it.
    is_sent: bool,
}

/// How far the off-site copy is behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Behind {
    pub bytes: u64,
    /// The moment of the oldest commit that is not confirmed; `None`: all are.
    pub since: Option<i64>,
}

/// Of one writer.
#[derive(Default)]
pub(crate) struct Capture {
    state: Mutex<State>,
    /// Something was committed that the standby is to have.
    noted: Condvar,
    /// The standby confirmed something, or does not keep up any more.
    confirmed: Condvar,
    /// Whether answers wait at all.
    waits: AtomicBool,
}

impl Capture {
    /// Checkpoints wait for nobody any more: for the campaign that must lose something, so that the others show something.
    /// Not in a product.
    #[cfg(debug_assertions)]
    pub(crate) fn leave_gate_open(&self) {
        self.lock().has_no_gate = true;
    }
}

#[derive(Default)]
struct State {
    newest: Position,
    moment: i64,
    /// None: every checkpoint may run.
    followers: Vec<Follower>,
    numbers: u64,
    /// Bytes of frames that may wait for their confirmation.
    unconfirmed_bytes_max: u64,
    /// Why the last chain of the off-site copy was given up.
    broken: Option<String>,
    /// Of all commits that changed something.
    commits: u64,
    standby: Standby,
    /// See [`Capture::leave_gate_open`].
    has_no_gate: bool,
}

/// How answers wait for the standby.
#[derive(Default)]
struct Standby {
    wait: Wait,
    /// Whether the standby has all but the latest commits.
    is_in_step: bool,
    /// The number of the last commit that the standby has on its disk.
    confirmed: u64,
    /// Somebody waits for the standby while nobody can write.
    is_hurried: bool,
}

impl Capture {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After each commit, under the writer's lock. `moment`: the latest of its transactions. The number of the commit; 0: the
    /// commit changed nothing.
    pub(crate) fn note(&self, noted: Noted, moment: i64) -> u64 {
        let mut state = self.lock();
        let was_in_step = state.standby.is_in_step;
        match noted {
            Noted::Nothing => return 0,
            Noted::Unreadable => state.give_up("the write-ahead log could not be read"),
            Noted::To(position) => state.note(position, moment),
        }
        state.give_up_those_behind();
        if state.has(Whose::Standby) {
            self.noted.notify_all();
        }
        if was_in_step && !state.standby.is_in_step {
            self.confirmed.notify_all();
        }
        state.commits
    }

    /// From now on answers wait in this way.
    pub(crate) fn set_wait(&self, wait: Wait) {
        self.lock().standby.wait = wait;
        self.waits.store(wait != Wait::Never, Ordering::Release);
    }

    /// Whether the standby keeps up.
    pub(crate) fn is_in_step(&self) -> bool {
        self.lock().standby.is_in_step
    }

    /// Why nothing is written, where nothing is: the standby is away, and nothing may be written without it.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        if !self.waits.load(Ordering::Acquire) {
            return None;
        }
        let standby = &self.lock().standby;
        (standby.wait == Wait::Refuse && !standby.is_in_step).then(|| Failure::standby_away().because("no standby"))
    }

    /// Until the standby has a commit on its disk; no longer than it may take. Not to be called by whoever holds the writer.
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

    /// Waits until the standby has something to fetch, and then `gather` longer for more of it, where no answer waits.
    /// `ends`: whether nobody is to wait any more.
    pub(crate) fn wait_for_news(&self, number: u64, time_max: Duration, gather: Duration, ends: impl Fn() -> bool) {
        let is_idle =
            |state: &mut State| !ends() && state.follower(number).is_some_and(|follower| follower.ends.is_empty());
        let waited = self.noted.wait_timeout_while(self.lock(), time_max, is_idle);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let gathers = |state: &mut State| !ends() && !state.standby.is_hurried && state.standby.wait == Wait::Never;
        drop(self.noted.wait_timeout_while(state, gather, gathers));
    }

    /// Has whoever waits for news look whether to go on.
    pub(crate) fn wake(&self) {
        drop(self.lock());
        self.noted.notify_all();
    }

    /// Waits until the standby has everything; where there is none, or it does not keep up, for nothing.
    pub(crate) fn wait_for_standby(&self, time_max: Duration) {
        let mut state = self.lock();
        state.standby.is_hurried = true;
        self.noted.notify_all();
        let is_waiting = |state: &mut State| state.standby.is_in_step && !state.is_confirmed(Whose::Standby);
        let waited = self.confirmed.wait_timeout_while(state, time_max, is_waiting);
        waited.unwrap_or_else(PoisonError::into_inner).0.standby.is_hurried = false;
    }

    /// Follows the log from its present end on; to be called while nobody writes. The number by which the chain is known
    /// here, and its begin.
    pub(crate) fn follow(&self, whose: Whose, unconfirmed_bytes_max: u64) -> (u64, End) {
        let mut state = self.lock();
        state.numbers += 1;
        state.unconfirmed_bytes_max = unconfirmed_bytes_max;
        let (number, confirmed) = (state.numbers, state.newest);
        state.followers.push(Follower { number, whose, confirmed, ends: VecDeque::new(), is_sent: false });
        (number, End { position: confirmed, moment: state.moment })
    }

    /// Nobody wants the frames of a chain any more.
    pub(crate) fn leave(&self, number: u64) {
        let mut state = self.lock();
        state.followers.retain(|follower| follower.number != number);
        if state.standby.is_in_step && !state.has(Whose::Standby) {
            state.fall_out("it needs a new base");
        }
        self.confirmed.notify_all();
    }

    /// Whether the log is still kept for a chain.
    pub(crate) fn follows(&self, number: u64) -> bool {
        self.lock().followers.iter().any(|follower| follower.number == number)
    }

    /// The next end that a tick of the chain is to reach; from then on it stays as it is. The error: the chain was given up,
    /// and why.
    pub(crate) fn next_end(&self, number: u64) -> Result<Option<End>, String> {
        let mut state = self.lock();
        let broken = state.broken.clone();
        let found = state.followers.iter_mut().find(|follower| follower.number == number);
        let follower = found.ok_or_else(|| broken.unwrap_or_default())?;
        follower.is_sent = !follower.ends.is_empty();
        Ok(follower.ends.front().map(|(end, _)| *end))
    }

    /// How many ticks the chain is behind, a second of commits each.
    pub(crate) fn waiting(&self, number: u64) -> usize {
        self.lock().follower(number).map_or(0, |follower| follower.ends.len())
    }

    /// The chain's next tick is on the disk of the second place, or of the standby.
    pub(crate) fn confirm(&self, number: u64) {
        let mut state = self.lock();
        let Some(follower) = state.followers.iter_mut().find(|follower| follower.number == number) else { return };
        follower.is_sent = false;
        if let Some((end, commit)) = follower.ends.pop_front() {
            follower.confirmed = end.position;
            if follower.whose == Whose::Standby {
                state.standby.confirmed = commit;
            }
        }
        state.look_at_the_step(number);
        drop(state);
        self.confirmed.notify_all();
    }

    /// The standby has the base that the chain begins with.
    pub(crate) fn attach(&self, number: u64) {
        self.lock().look_at_the_step(number);
    }

    /// Gives up every chain, so that checkpoints may run: a new base is needed.
    pub(crate) fn give_up(&self, cause: &str) {
        self.lock().give_up(cause);
        self.confirmed.notify_all();
    }

    /// The same for those of one kind.
    pub(crate) fn give_up_those_of(&self, whose: Whose, cause: &str) {
        self.lock().give_up_those_of(whose, cause);
        self.confirmed.notify_all();
    }

    /// Gives up every chain that still waits for a confirmation, before the log is emptied.
    pub(crate) fn open_gate(&self, cause: &str) {
        let mut state = self.lock();
        if !state.is_open() {
            state.give_up(cause);
        }
        drop(state);
        self.confirmed.notify_all();
    }

    /// Whether a checkpoint may run: every frame is confirmed, or nobody wants them.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().is_open()
    }

    /// Whether every frame is confirmed that those of a kind want.
    pub(crate) fn is_confirmed(&self, whose: Whose) -> bool {
        self.lock().is_confirmed(whose)
    }

    /// Of the chain that is the least behind: the one that a restore would take.
    pub(crate) fn behind(&self, whose: Whose) -> Behind {
        self.lock().behinds(whose).min_by_key(|behind| behind.bytes).unwrap_or_default()
    }

    /// Frames in the log now.
    pub(crate) fn frames(&self) -> u32 {
        self.lock().newest.frames
    }
}

impl State {
    fn note(&mut self, position: Position, moment: i64) {
        let began_anew = position.salt != self.newest.salt;
        if began_anew && !self.is_open() {
            self.give_up("the write-ahead log was emptied before all of it was off the site");
        }
        self.commits += 1;
        self.moment = self.moment.max(moment);
        self.newest = position;
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

    fn has(&self, whose: Whose) -> bool {
        self.followers.iter().any(|follower| follower.whose == whose)
    }

    fn is_open(&self) -> bool {
        self.has_no_gate || self.followers.iter().all(|follower| follower.ends.is_empty())
    }

    fn is_confirmed(&self, whose: Whose) -> bool {
        self.followers.iter().filter(|follower| follower.whose == whose).all(|follower| follower.ends.is_empty())
    }

    /// The standby keeps up from here on, where only the latest commits are missing there.
    fn look_at_the_step(&mut self, number: u64) {
        let standby = self.follower(number).filter(|follower| follower.whose == Whose::Standby);
        let Some(waiting) = standby.map(|follower| follower.ends.len()) else { return };
        if waiting <= TICKS_IN_STEP_MAX && !self.standby.is_in_step {
            self.standby.is_in_step = true;
            tracing::info!("the standby has all but the latest writes");
        }
    }

    /// The standby does not keep up any more: nobody waits for it until it does.
    fn fall_out(&mut self, cause: &str) {
        self.standby.is_in_step = false;
        tracing::error!(cause, "the standby does not keep up");
    }

    /// Of each chain of a kind.
    fn behinds(&self, whose: Whose) -> impl Iterator<Item = Behind> {
        let frames = move |follower: &Follower| match follower.confirmed.salt == self.newest.salt {
            true => self.newest.frames.saturating_sub(follower.confirmed.frames),
            false => self.newest.frames,
        };
        let behind = move |follower: &Follower| match follower.ends.front() {
            Some((end, _)) => Behind { bytes: u64::from(frames(follower)) * FRAME_BYTES, since: Some(end.moment) },
            None => Behind::default(),
        };
        self.followers.iter().filter(move |follower| follower.whose == whose).map(behind)
    }

    /// A base that is on its way for too long is no reason to give up the chain that goes on meanwhile.
    fn give_up_those_behind(&mut self) {
        for whose in [Whose::Chain, Whose::Standby] {
            let is_close: Vec<bool> =
                self.behinds(whose).map(|behind| behind.bytes <= self.unconfirmed_bytes_max).collect();
            if is_close.iter().any(|is_close| *is_close) {
                let mut is_close = is_close.into_iter();
                self.followers.retain(|follower| follower.whose != whose || is_close.next().unwrap_or_default());
            } else if !is_close.is_empty() {
                self.give_up_those_of(whose, "more writes wait for the off-site copy than backup.unconfirmed_mib");
            }
        }
    }

    fn give_up(&mut self, cause: &str) {
        self.give_up_those_of(Whose::Chain, cause);
        self.give_up_those_of(Whose::Standby, cause);
    }

    fn give_up_those_of(&mut self, whose: Whose, cause: &str) {
        if !self.has(whose) {
            return;
        }
        self.followers.retain(|follower| follower.whose != whose);
        if whose == Whose::Standby {
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
