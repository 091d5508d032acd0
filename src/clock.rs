//! The one source of time.
//!
//! Boards without a battery boot in 1970. The database stores the latest moment it has seen (the high-water mark). While
//! the machine's clock is behind it, the site's clock continues from there by the monotonic clock, so that no timestamp
//! goes back, and is *suspect*: proofs by the time of day (authenticator codes, signed timestamps) are refused. A suspect
//! clock runs at half speed, so that waiting ends and the machine's clock catches up.
//!
//! [`Clock::running`] measures durations within a process, independent of the machine's clock.

use crate::moment::Moment;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A clock further behind the high-water mark is suspect; NTP may set a clock back by less.
const TOLERANCE_SECONDS: i64 = 120;
/// A clock that advances this much more than the elapsed time has jumped. A night without power is no jump.
const JUMP_SECONDS: i64 = 86_400;
/// How long after a jump the new time is doubted.
const JUMP_DOUBT: Duration = Duration::from_secs(86_400);

/// The time of day: never goes back, and says when it cannot be right.
pub struct Clock {
    source: Source,
    /// The latest moment that was returned or read from the database.
    high_water: AtomicI64,
    /// The latest moment of the machine's clock or the database, and the value of [`Clock::running`] at it, in seconds.
    anchor: Mutex<(Moment, u64)>,
    /// The last jump ahead, and the value of [`Clock::running`] at it.
    jump: Mutex<Option<(Jump, Duration)>>,
}

/// A jump of the machine's clock ahead, from one moment to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Jump {
    pub from: Moment,
    pub to: Moment,
}

enum Source {
    /// The machine's clock, and its start on the monotonic clock.
    Machine(Instant),
    /// A moment, and the seconds by which the clock was advanced.
    Frozen(AtomicI64, AtomicU64),
}

/// A moment in Unix seconds as a [`SystemTime`], for libraries.
pub(crate) fn system_time(moment: Moment) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(moment.max(Moment(0)).0.unsigned_abs())
}

/// The machine's own time since 1970, for the lines of the log; a time before 1970 counts as 1970.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Clock {
    /// The machine's clock, never behind `high_water` (Unix seconds).
    pub fn machine(high_water: Moment) -> Clock {
        Clock::new(Source::Machine(Instant::now()), high_water)
    }

    /// A clock that stands at `moment` (Unix seconds) until it is set: for tests.
    pub fn frozen(moment: Moment) -> Clock {
        Clock::new(Source::Frozen(AtomicI64::new(moment.0), AtomicU64::new(0)), Moment(0))
    }

    fn new(source: Source, high_water: Moment) -> Clock {
        let anchor = Mutex::new((high_water, 0));
        Clock { source, high_water: AtomicI64::new(high_water.0), anchor, jump: Mutex::default() }
    }

    fn reading(&self) -> Moment {
        match &self.source {
            Source::Machine(_) => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(Moment(0), |past| Moment(past.as_secs() as i64))
            }
            Source::Frozen(moment, _) => Moment(moment.load(Ordering::Relaxed)),
        }
    }

    /// The time since the clock was made, without jumps.
    pub fn running(&self) -> Duration {
        match &self.source {
            Source::Machine(since) => since.elapsed(),
            Source::Frozen(_, seconds) => Duration::from_secs(seconds.load(Ordering::Relaxed)),
        }
    }

    /// Now, in Unix seconds. Never less than an earlier answer.
    pub fn now(&self) -> Moment {
        let reading = self.reading();
        if reading == self.mark() {
            return reading;
        }
        // The lock keeps both parts of the anchor consistent: a mixed anchor could give a future moment.
        let mut anchor = self.anchor();
        let mark = self.mark();
        if reading > mark {
            self.look_for_jump(mark, reading, anchor.1);
            self.high_water.fetch_max(reading.0, Ordering::Relaxed);
            *anchor = (reading, self.running().as_secs());
            return reading;
        }
        let since = self.running().as_secs().saturating_sub(anchor.1);
        let carried = anchor.0 + (since / 2) as i64;
        Moment(self.high_water.fetch_max(carried.0, Ordering::Relaxed)).max(carried)
    }

    fn mark(&self) -> Moment {
        Moment(self.high_water.load(Ordering::Relaxed))
    }

    fn anchor(&self) -> MutexGuard<'_, (Moment, u64)> {
        self.anchor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a jump, where the clock advanced from `mark` to `reading` by much more than the time since `anchored`.
    fn look_for_jump(&self, mark: Moment, reading: Moment, anchored: u64) {
        let ran = self.running().as_secs().saturating_sub(anchored);
        if mark > Moment(0) && reading - mark - ran as i64 > JUMP_SECONDS {
            // Of two jumps within a day both are doubted.
            let from = self.without_jump().unwrap_or(mark + ran as i64);
            self.doubt(Jump { from, to: reading });
        }
    }

    /// The last jump ahead and the value of [`Clock::running`] at it, for a day of running time.
    fn recent_jump(&self) -> Option<(Jump, Duration)> {
        let jump = *self.jump.lock().unwrap_or_else(PoisonError::into_inner);
        jump.filter(|(_, since)| self.running() < *since + JUMP_DOUBT)
    }

    /// The time of day as it would be without a jump that is doubted.
    fn without_jump(&self) -> Option<Moment> {
        self.recent_jump().map(|(jump, since)| jump.from + self.running().saturating_sub(since).as_secs() as i64)
    }

    /// The last jump ahead, for a day of running time. A machine that was off for more than a day looks the same.
    pub(crate) fn doubted_jump(&self) -> Option<Jump> {
        self.now();
        self.recent_jump().map(|(jump, _)| jump)
    }

    /// Doubts a jump from now on, also one that an earlier process saw.
    pub(crate) fn doubt(&self, jump: Jump) {
        *self.jump.lock().unwrap_or_else(PoisonError::into_inner) = Some((jump, self.running()));
    }

    /// The earliest moment (Unix seconds) that it can be: the time of day without a doubted jump, and the machine's clock
    /// while it is behind. By it expires what cannot be brought back.
    pub(crate) fn earliest(&self) -> Moment {
        let now = self.now();
        let shown = if self.is_suspect() { self.reading() } else { now };
        self.without_jump().map_or(shown, |moment| moment.min(shown))
    }

    /// The moment (Unix seconds) before which nothing may be deleted for its age, because the clock may be wrong: it jumped
    /// ahead less than a day ago, or is suspect. [`Moment::FIRST`] while the clock is trusted.
    pub(crate) fn judged_from(&self) -> Moment {
        let now = self.now();
        if self.is_suspect() {
            return self.reading();
        }
        self.recent_jump().map_or(Moment::FIRST, |(jump, _)| jump.to.min(now))
    }

    /// Whether the machine's clock is behind the high-water mark.
    pub(crate) fn is_suspect(&self) -> bool {
        self.reading() + TOLERANCE_SECONDS < self.mark()
    }

    /// Takes over the high-water mark of the database.
    pub(crate) fn remember(&self, high_water: Moment) {
        let reading = self.reading();
        let mut anchor = self.anchor();
        if reading > high_water {
            self.look_for_jump(high_water, reading, anchor.1);
        }
        if self.high_water.fetch_max(high_water.0, Ordering::Relaxed) < high_water.0 {
            *anchor = (high_water, self.running().as_secs());
        }
    }

    /// Sets a frozen clock, as a jump without elapsed time. No effect on a machine's clock.
    pub fn set(&self, moment: Moment) {
        if let Source::Frozen(now, _) = &self.source {
            now.store(moment.0, Ordering::Relaxed);
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
        let clock = Clock::machine(Moment(0));
        let honest = clock.now();
        assert!(!clock.is_suspect());

        let clock = Clock::machine(honest + 1_000_000);
        assert!(clock.is_suspect());
        assert!(clock.now() >= honest + 1_000_000);
    }

    #[test]
    fn a_small_step_back_stops_the_clock_without_suspicion() {
        let clock = Clock::frozen(Moment(1_000_000));
        assert_eq!(clock.now(), Moment(1_000_000));
        clock.set(Moment(999_950));
        assert_eq!(clock.now(), Moment(1_000_000));
        assert!(!clock.is_suspect());
        clock.set(Moment(990_000));
        assert_eq!(clock.now(), Moment(1_000_000));
        assert!(clock.is_suspect());
        clock.set(Moment(1_000_001));
        assert_eq!(clock.now(), Moment(1_000_001));
        assert!(!clock.is_suspect());
    }

    #[test]
    fn after_a_jump_back_time_continues_until_the_machine_has_caught_up() {
        let clock = Clock::frozen(Moment(1_000_000));
        clock.advance(Duration::from_secs(500));
        assert_eq!(clock.now(), Moment(1_000_500));
        clock.set(Moment(999_500));
        assert_eq!(clock.now(), Moment(1_000_500));
        clock.advance(Duration::from_secs(400));
        assert_eq!((clock.now(), clock.is_suspect()), (Moment(1_000_700), true));
        clock.advance(Duration::from_secs(300));
        assert_eq!((clock.now(), clock.is_suspect()), (Moment(1_000_850), true));
        clock.advance(Duration::from_secs(1_000));
        assert_eq!((clock.now(), clock.is_suspect()), (Moment(1_001_200), false));
        assert_eq!(clock.running(), Duration::from_secs(2_200), "jumps do not count");
    }

    #[test]
    fn a_clock_that_jumped_ahead_is_not_trusted_with_ages_for_a_day_nor_while_it_is_behind_again() {
        const DAY: Duration = Duration::from_secs(86_400);
        let clock = Clock::frozen(Moment(1_000_000_000));
        clock.remember(Moment(1_000_000_000 - 3_600));
        assert_eq!(clock.judged_from(), Moment::FIRST, "an hour's pause is no jump");
        clock.advance(40 * DAY);
        assert_eq!(clock.judged_from(), Moment::FIRST, "time that ran is no jump");
        assert_eq!(clock.earliest(), clock.now());
        let ahead = clock.now() + 40 * 86_400;
        clock.set(ahead);
        assert_eq!((clock.judged_from(), clock.earliest()), (ahead, ahead - 40 * 86_400));
        clock.advance(DAY / 2);
        assert_eq!((clock.judged_from(), clock.earliest()), (ahead, ahead - 40 * 86_400 + 43_200));
        clock.set(ahead + 10 * 86_400);
        let from = ahead - 40 * 86_400 + 43_200;
        assert_eq!((clock.judged_from(), clock.earliest()), (ahead + 10 * 86_400, from), "two jumps within a day");
        clock.set(ahead - 40 * 86_400);
        let behind = ahead - 40 * 86_400;
        assert_eq!((clock.judged_from(), clock.earliest()), (behind, behind), "behind what was seen");
        clock.set(ahead + 9 * 86_400);
        assert_eq!((clock.judged_from(), clock.earliest()), (ahead + 9 * 86_400, from), "a part of the way back");
        clock.set(ahead + 10 * 86_400);
        clock.advance(DAY);
        assert_eq!((clock.judged_from(), clock.earliest()), (Moment::FIRST, clock.now()));

        let started = Clock::frozen(Moment(2_000_000_000));
        started.remember(Moment(2_000_000_000 - 40 * 86_400));
        assert_eq!(started.judged_from(), Moment(2_000_000_000), "as it starts");
        let new = Clock::frozen(Moment(2_000_000_000));
        new.remember(Moment(0));
        assert_eq!(
            (new.now(), new.judged_from()),
            (Moment(2_000_000_000), Moment::FIRST),
            "a new site has seen nothing"
        );
    }

    #[test]
    fn the_clock_continues_from_the_high_water_mark() {
        let clock = Clock::frozen(Moment(1_000));
        clock.advance(Duration::from_secs(60));
        clock.remember(Moment(1_000_000));
        clock.advance(Duration::from_secs(60));
        assert_eq!((clock.now(), clock.is_suspect()), (Moment(1_000_030), true));
        clock.remember(Moment(999_999));
        assert_eq!(clock.now(), Moment(1_000_030));
    }
}
