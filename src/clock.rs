//! The one source of time.
//!
//! Boards without a battery boot in 1970. The file remembers the latest moment it has seen; while the machine's clock
//! is behind that, the site goes on from there by the monotonic clock, so that no timestamp ever goes back, and counts
//! its clock as *suspect*: what proves something by the time of day (authenticator codes, signed timestamps) is off. It goes
//! on at half the pace: nothing that waits for a moment waits for ever, and the machine's clock catches up.
//!
//! Pauses within a process are of no time of day: [`Clock::running`] measures them, whatever the machine's clock does.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A machine's clock may be this far behind the file before it counts as suspect: a small step back by NTP is not.
const TOLERANCE_SECONDS: i64 = 120;

pub struct Clock {
    source: Source,
    /// The latest moment handed out or read from the file.
    high_water: AtomicI64,
    /// The latest moment that did not come from here, and the seconds that the clock had run by then.
    anchor: (AtomicI64, AtomicU64),
}

enum Source {
    /// With the moment from which it runs, by the monotonic clock.
    Machine(Instant),
    /// The moment, and the seconds that it was moved on.
    Frozen(AtomicI64, AtomicU64),
}

/// A moment in Unix seconds as other people's code wants it.
pub fn system_time(moment: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(moment.max(0).unsigned_abs())
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
        let anchor = (AtomicI64::new(high_water), AtomicU64::new(0));
        Clock { source, high_water: AtomicI64::new(high_water), anchor }
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
        let mark = self.high_water.load(Ordering::Relaxed);
        if reading == mark {
            return reading;
        }
        if reading > mark {
            self.high_water.fetch_max(reading, Ordering::Relaxed);
            self.anchor_at(reading);
            return reading;
        }
        let since = self.running().as_secs().saturating_sub(self.anchor.1.load(Ordering::Relaxed));
        let carried = self.anchor.0.load(Ordering::Relaxed) + (since / 2) as i64;
        self.high_water.fetch_max(carried, Ordering::Relaxed).max(carried)
    }

    /// From here on the site would go on by itself. Two threads at once may mix their seconds, which lie side by side.
    fn anchor_at(&self, moment: i64) {
        self.anchor.0.store(moment, Ordering::Relaxed);
        self.anchor.1.store(self.running().as_secs(), Ordering::Relaxed);
    }

    /// Whether the machine's clock is behind what the file has seen.
    pub fn is_suspect(&self) -> bool {
        self.reading() + TOLERANCE_SECONDS < self.high_water.load(Ordering::Relaxed)
    }

    /// Takes over the mark that the file remembers.
    pub fn remember(&self, high_water: i64) {
        if self.high_water.fetch_max(high_water, Ordering::Relaxed) < high_water {
            self.anchor_at(high_water);
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
