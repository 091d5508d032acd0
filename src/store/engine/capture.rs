//! The commits that the off-site copy has to send, and the gate that every checkpoint passes. A checkpoint lets the
//! next write overwrite the write-ahead log, so none runs before all frames of it are read and confirmed off the site:
//! until then the log is the only queue.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A frame in the log: its header, and a page.
const FRAME_BYTES: u64 = 24 + 4096;

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

/// A chain that the log is followed for.
struct Follower {
    number: u64,
    confirmed: Position,
    /// The ends of commits that the target has not confirmed, oldest first.
    ends: VecDeque<End>,
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
pub(crate) struct Capture(Mutex<State>);

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
    /// Why the last chain was given up.
    broken: Option<String>,
    /// See [`Capture::leave_gate_open`].
    has_no_gate: bool,
}

impl Capture {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After each commit, under the writer's lock. `moment`: the latest of its transactions.
    pub(crate) fn note(&self, noted: Noted, moment: i64) {
        let mut state = self.lock();
        match noted {
            Noted::Nothing => return,
            Noted::Unreadable => state.give_up("the write-ahead log could not be read"),
            Noted::To(position) => state.note(position, moment),
        }
        state.give_up_those_behind();
    }

    /// Follows the log from its present end on; to be called while nobody writes. The number by which the chain is known
    /// here, and its begin.
    pub(crate) fn follow(&self, unconfirmed_bytes_max: u64) -> (u64, End) {
        let mut state = self.lock();
        state.numbers += 1;
        state.unconfirmed_bytes_max = unconfirmed_bytes_max;
        let (number, confirmed) = (state.numbers, state.newest);
        state.followers.push(Follower { number, confirmed, ends: VecDeque::new(), is_sent: false });
        (number, End { position: confirmed, moment: state.moment })
    }

    /// Nobody wants the frames of a chain any more.
    pub(crate) fn leave(&self, number: u64) {
        self.lock().followers.retain(|follower| follower.number != number);
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
        Ok(follower.ends.front().copied())
    }

    /// How many ticks the chain is behind, a second of commits each.
    pub(crate) fn waiting(&self, number: u64) -> usize {
        let state = self.lock();
        state.followers.iter().find(|follower| follower.number == number).map_or(0, |follower| follower.ends.len())
    }

    /// The chain's next tick is on the disk of the second place.
    pub(crate) fn confirm(&self, number: u64) {
        let mut state = self.lock();
        if let Some(follower) = state.followers.iter_mut().find(|follower| follower.number == number) {
            follower.is_sent = false;
            if let Some(end) = follower.ends.pop_front() {
                follower.confirmed = end.position;
            }
        }
    }

    /// Gives up every chain, so that checkpoints may run: a new base is needed.
    pub(crate) fn give_up(&self, cause: &str) {
        self.lock().give_up(cause);
    }

    /// Gives up every chain that still waits for a confirmation, before the log is emptied.
    pub(crate) fn open_gate(&self, cause: &str) {
        let mut state = self.lock();
        if !state.is_open() {
            state.give_up(cause);
        }
    }

    /// Whether a checkpoint may run: every frame is confirmed, or nobody wants them.
    pub(crate) fn is_open(&self) -> bool {
        self.lock().is_open()
    }

    /// Of the chain that is the least behind: the one that a restore would take.
    pub(crate) fn behind(&self) -> Behind {
        self.lock().behinds().min_by_key(|behind| behind.bytes).unwrap_or_default()
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
        self.moment = self.moment.max(moment);
        self.newest = position;
        let end = End { position, moment: self.moment };
        for follower in &mut self.followers {
            let joins = |last: &End| last.moment == end.moment && last.position.salt == position.salt;
            let may_join = follower.ends.len() > usize::from(follower.is_sent);
            match follower.ends.back_mut().filter(|last| may_join && joins(last)) {
                Some(last) => *last = end,
                None => follower.ends.push_back(end),
            }
        }
    }

    fn is_open(&self) -> bool {
        self.has_no_gate || self.followers.iter().all(|follower| follower.ends.is_empty())
    }

    /// Of each chain.
    fn behinds(&self) -> impl Iterator<Item = Behind> {
        let frames = move |follower: &Follower| match follower.confirmed.salt == self.newest.salt {
            true => self.newest.frames.saturating_sub(follower.confirmed.frames),
            false => self.newest.frames,
        };
        let behind = move |follower: &Follower| match follower.ends.front() {
            Some(end) => Behind { bytes: u64::from(frames(follower)) * FRAME_BYTES, since: Some(end.moment) },
            None => Behind::default(),
        };
        self.followers.iter().map(behind)
    }

    /// A base that is on its way for too long is no reason to give up the chain that goes on meanwhile.
    fn give_up_those_behind(&mut self) {
        let behinds: Vec<Behind> = self.behinds().collect();
        let is_close = |behind: &Behind| behind.bytes <= self.unconfirmed_bytes_max;
        match behinds.iter().filter(|behind| is_close(behind)).count() {
            0 => self.give_up("more writes wait for the off-site copy than backup.unconfirmed_mib"),
            close if close < behinds.len() => {
                let mut close = behinds.iter().map(is_close).collect::<Vec<_>>().into_iter();
                self.followers.retain(|_| close.next().unwrap_or_default());
            }
            _ => {}
        }
    }

    fn give_up(&mut self, cause: &str) {
        if !self.followers.is_empty() {
            self.followers.clear();
            self.broken = Some(cause.to_owned());
            tracing::error!(
                cause,
                "the off-site copy has a gap: a new backup is made as soon as the directory for off-site backups takes one"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(salt: u8, frames: u32) -> Noted {
        Noted::To(Position { salt: [salt; 8], frames })
    }

    #[test]
    fn the_gate_opens_when_every_frame_is_confirmed_and_not_before() {
        let capture = Capture::default();
        capture.note(to(1, 3), 10);
        assert!(capture.is_open(), "nobody wants the frames");
        let (number, begin) = capture.follow(1_000_000);
        assert_eq!(begin, End { position: Position { salt: [1; 8], frames: 3 }, moment: 10 });
        assert!(capture.is_open(), "all of them are in the base");
        capture.note(to(1, 5), 10);
        capture.note(to(1, 6), 10);
        let first = capture.next_end(number).unwrap().unwrap();
        assert_eq!((first.position.frames, capture.behind().bytes), (6, 3 * FRAME_BYTES));
        // Commits that are on their way to the target are not merged with later ones.
        capture.note(to(1, 8), 10);
        assert_eq!(capture.next_end(number).unwrap(), Some(first));
        capture.confirm(number);
        assert!(!capture.is_open());
        assert_eq!(capture.next_end(number).unwrap().unwrap().position.frames, 8);
        capture.confirm(number);
        assert_eq!(
            (capture.is_open(), capture.behind(), capture.next_end(number)),
            (true, Behind::default(), Ok(None))
        );
        // The log begins anew behind a checkpoint.
        capture.note(to(2, 1), 11);
        assert_eq!(capture.behind(), Behind { bytes: FRAME_BYTES, since: Some(11) });
    }

    #[test]
    fn a_chain_ends_at_its_cap_and_where_the_log_was_emptied_before_its_time() {
        let capture = Capture::default();
        let (number, _) = capture.follow(10 * FRAME_BYTES);
        capture.note(to(1, 10), 10);
        assert!(!capture.is_open());
        capture.note(to(1, 11), 10);
        assert!(capture.is_open() && capture.next_end(number).unwrap_err().contains("unconfirmed_mib"));
        let (number, _) = capture.follow(10 * FRAME_BYTES);
        capture.note(to(1, 12), 10);
        capture.note(to(2, 1), 10);
        assert!(capture.next_end(number).unwrap_err().contains("emptied before"));
    }

    #[test]
    fn a_base_that_takes_too_long_is_given_up_alone() {
        let capture = Capture::default();
        let ((chain, _), (base, _)) = (capture.follow(10 * FRAME_BYTES), capture.follow(10 * FRAME_BYTES));
        for frames in [5, 10, 15] {
            capture.note(to(1, frames), i64::from(frames));
            capture.next_end(chain).unwrap().unwrap();
            capture.confirm(chain);
        }
        assert_eq!([capture.follows(chain), capture.follows(base), capture.is_open()], [true, false, true]);
    }
}
