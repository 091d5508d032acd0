//! The one source of time.
//!
//! Boards without a battery boot in 1970. The file remembers the latest moment it has seen; while the machine's clock
//! is behind that, the site goes on from there by the monotonic clock, so that no timestamp ever goes back, and counts
//! its clock as *suspect*: proofs by the time of day (authenticator codes, signed timestamps) are not accepted. The
//! site's clock then runs at half the pace: nothing that waits for a moment waits for ever, and the machine's clock
//! catches up.
//!
//! Pauses within a process are of no time of day: [`Clock::running`] measures them, whatever the machine's clock does.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A machine's clock may be this far behind the file before it counts as suspect: a small step back by NTP is not.
const TOLERANCE_SECONDS: i64 = 120;
/// A machine's clock that comes to be this far ahead of the seconds that ran has jumped; a machine that was off for the
/// night has not.
const JUMP_SECONDS: i64 = 86_400;
/// A moment that the clock jumped to is taken for right when it has gone on from there for so long.
const JUMP_DOUBT: Duration = Duration::from_secs(86_400);

/// The time of day: never goes back, and says when it cannot be right.
pub struct Clock {
    source: Source,
    /// The latest moment handed out or read from the file.
    high_water: AtomicI64,
    /// The latest moment that did not come from here, and the seconds that the clock had run by then.
    anchor: Mutex<(i64, u64)>,
    /// The latest moment that the clock jumped ahead to, and the seconds that the clock had run by then.
    jump: Mutex<Option<(i64, Duration)>>,
}

enum Source {
    /// With the moment from which it runs, by the monotonic clock.
    Machine(Instant),
    /// The moment, and the seconds that it was moved on.
    Frozen(AtomicI64, AtomicU64),
}

/// A moment in Unix seconds as other people's code wants it.
pub(crate) fn system_time(moment: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(moment.max(0).unsigned_abs())
}

/// The machine's own time since 1970, for the lines of the log; a time before 1970 counts as 1970.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Clock {
    /// The machine's clock, never behind `high_water` (Unix seconds).
    pub fn machine(high_water: i64) -> Clock {
        Clock::new(Source::Machine(Instant::now()), high_water)
    }

    /// A clock that stands at `moment` (Unix seconds) until it is set: for tests.
    pub fn frozen(moment: i64) -> Clock {
        Clock::new(Source::Frozen(AtomicI64::new(moment), AtomicU64::new(0)), 0)
    }

    fn new(source: Source, high_water: i64) -> Clock {
        let anchor = Mutex::new((high_water, 0));
        Clock { source, high_water: AtomicI64::new(high_water), anchor, jump: Mutex::default() }
    }

    fn reading(&self) -> i64 {
        match &self.source {
            Source::Machine(_) => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs() as i64),
            Source::Frozen(moment, _) => moment.load(Ordering::Relaxed),
        }
    }

    /// Since the clock was made, without jumps: for what waits within this process.
    pub fn running(&self) -> Duration {
        match &self.source {
            Source::Machine(since) => since.elapsed(),
            Source::Frozen(_, seconds) => Duration::from_secs(seconds.load(Ordering::Relaxed)),
        }
    }

    /// Now, in Unix seconds. Never less than an earlier answer.
    pub fn now(&self) -> i64 {
        let reading = self.reading();
        if reading == self.high_water.load(Ordering::Relaxed) {
            return reading;
        }
        // One at a time: half of an anchor would give a moment that is still to come.
        let mut anchor = self.anchor();
        let mark = self.high_water.load(Ordering::Relaxed);
        if reading > mark {
            self.look_for_jump(mark, reading, anchor.1);
            self.high_water.fetch_max(reading, Ordering::Relaxed);
            *anchor = (reading, self.running().as_secs());
            return reading;
        }
        let since = self.running().as_secs().saturating_sub(anchor.1);
        let carried = anchor.0 + (since / 2) as i64;
        self.high_water.fetch_max(carried, Ordering::Relaxed).max(carried)
    }

    /// From there on the site would go on by itself.
    fn anchor(&self) -> MutexGuard<'_, (i64, u64)> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the clock came from `mark` to `reading` faster than seconds ran since it had run for `anchored`.
    fn look_for_jump(&self, mark: i64, reading: i64, anchored: u64) {
        let ran = self.running().as_secs().saturating_sub(anchored);
        if mark > 0 && reading - mark - ran as i64 > JUMP_SECONDS {
            *self.jump.lock().unwrap_or_else(PoisonError::into_inner) = Some((reading, self.running()));
        }
    }

    /// The moment (Unix seconds) before which nothing may be deleted for its age, because the clock may be wrong about it:
    /// it jumped ahead less than a day ago, or is behind what the file has seen. The beginning of time where it is right.
    pub(crate) fn judged_from(&self) -> i64 {
        let now = self.now();
        if self.is_suspect() {
            return self.reading();
        }
        match *self.jump.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((to, since)) if self.running() < since + JUMP_DOUBT => to.min(now),
            _ => i64::MIN,
        }
    }

    /// Whether the machine's clock is behind what the file has seen.
    pub(crate) fn is_suspect(&self) -> bool {
        self.reading() + TOLERANCE_SECONDS < self.high_water.load(Ordering::Relaxed)
    }

    /// Takes over the mark that the file remembers.
    pub(crate) fn remember(&self, high_water: i64) {
        let reading = self.reading();
        let mut anchor = self.anchor();
        if reading > high_water {
            self.look_for_jump(high_water, reading, anchor.1);
        }
        if self.high_water.fetch_max(high_water, Ordering::Relaxed) < high_water {
            *anchor = (high_water, self.running().as_secs());
        }
    }

    /// Moves a frozen clock, as a jump: nothing has waited meanwhile. A machine's clock stays as it is.
    pub fn set(&self, moment: i64) {
        if let Source::Frozen(now, _) = &self.source {
            now.store(moment, Ordering::Relaxed);
        }
    }

    /// Lets time pass on a frozen clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Frozen(now, seconds) = &self.source {
            now.fetch_add(by.as_secs() as i64, Ordering::Relaxed);
            seconds.fetch_add(by.as_secs(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_behind_the_file_is_suspect_and_time_does_not_go_back() {
        let clock = Clock::machine(0);
        let honest = clock.now();
        assert!(!clock.is_suspect());

        let clock = Clock::machine(honest + 1_000_000);
        assert!(clock.is_suspect());
        assert!(clock.now() >= honest + 1_000_000);
    }

    #[test]
    fn a_small_step_back_holds_time_without_suspicion() {
        let clock = Clock::frozen(1_000_000);
        assert_eq!(clock.now(), 1_000_000);
        clock.set(999_950);
        assert_eq!(clock.now(), 1_000_000);
        assert!(!clock.is_suspect());
        clock.set(990_000);
        assert_eq!(clock.now(), 1_000_000);
        assert!(clock.is_suspect());
        clock.set(1_000_001);
        assert_eq!(clock.now(), 1_000_001);
        assert!(!clock.is_suspect());
    }

    #[test]
    fn after_a_jump_back_time_goes_on_until_the_machine_has_caught_up() {
        let clock = Clock::frozen(1_000_000);
        clock.advance(Duration::from_secs(500));
        assert_eq!(clock.now(), 1_000_500);
        clock.set(999_500);
        assert_eq!(clock.now(), 1_000_500);
        clock.advance(Duration::from_secs(400));
        assert_eq!((clock.now(), clock.is_suspect()), (1_000_700, true));
        clock.advance(Duration::from_secs(300));
        assert_eq!((clock.now(), clock.is_suspect()), (1_000_850, true));
        clock.advance(Duration::from_secs(1_000));
        assert_eq!((clock.now(), clock.is_suspect()), (1_001_200, false));
        assert_eq!(clock.running(), Duration::from_secs(2_200), "jumps do not count");
    }

    #[test]
    fn a_clock_that_jumped_ahead_is_not_trusted_with_ages_for_a_day_nor_while_it_is_behind_again() {
        const DAY: Duration = Duration::from_secs(86_400);
        let clock = Clock::frozen(1_000_000_000);
        clock.remember(1_000_000_000 - 3_600);
        assert_eq!(clock.judged_from(), i64::MIN, "an hour's pause is no jump");
        clock.advance(40 * DAY);
        assert_eq!(clock.judged_from(), i64::MIN, "time that ran is no jump");
        let ahead = clock.now() + 40 * 86_400;
        clock.set(ahead);
        assert_eq!(clock.judged_from(), ahead);
        clock.advance(DAY / 2);
        assert_eq!(clock.judged_from(), ahead);
        clock.set(ahead - 40 * 86_400);
        assert_eq!(clock.judged_from(), ahead - 40 * 86_400, "behind what was seen");
        clock.set(ahead + 86_400);
        clock.advance(DAY);
        assert_eq!(clock.judged_from(), i64::MIN);

        let started = Clock::frozen(2_000_000_000);
        started.remember(2_000_000_000 - 40 * 86_400);
        assert_eq!(started.judged_from(), 2_000_000_000, "as it starts");
        let new = Clock::frozen(2_000_000_000);
        new.remember(0);
        assert_eq!((new.now(), new.judged_from()), (2_000_000_000, i64::MIN), "a new site has seen nothing");
    }

    #[test]
    fn a_mark_of_the_file_is_gone_on_from() {
        let clock = Clock::frozen(1_000);
        clock.advance(Duration::from_secs(60));
        clock.remember(1_000_000);
        clock.advance(Duration::from_secs(60));
        assert_eq!((clock.now(), clock.is_suspect()), (1_000_030, true));
        clock.remember(999_999);
        assert_eq!(clock.now(), 1_000_030);
    }
}
