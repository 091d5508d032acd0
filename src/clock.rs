//! The one source of time.
//!
//! Boards without a battery boot in 1970. The file remembers the latest moment it has seen; while the machine's clock
//! is behind that, the site goes on from there by the monotonic clock, so that no timestamp ever goes back, and counts
//! its clock as *suspect*: what proves something by the time of day (authenticator codes, signed timestamps) is off.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A machine's clock may be this far behind the file before it counts as suspect: a small step back by NTP is not.
const TOLERANCE_SECONDS: i64 = 120;

pub struct Clock {
    source: Source,
    /// The latest moment handed out or read from the file.
    high_water: AtomicI64,
    /// The mark as it was when the clock was made, and when that was by the monotonic clock.
    start: (AtomicI64, Instant),
}

enum Source {
    Machine,
    Frozen(AtomicI64),
}

/// A moment in Unix seconds as other people's code wants it.
pub fn system_time(moment: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(moment.max(0).unsigned_abs())
}

impl Clock {
    /// The machine's clock, never behind `high_water` (Unix seconds).
    pub fn machine(high_water: i64) -> Clock {
        Clock::new(Source::Machine, high_water)
    }

    /// A clock that stands at `moment` (Unix seconds) until it is set: for tests.
    pub fn frozen(moment: i64) -> Clock {
        Clock::new(Source::Frozen(AtomicI64::new(moment)), 0)
    }

    fn new(source: Source, high_water: i64) -> Clock {
        Clock { source, high_water: AtomicI64::new(high_water), start: (AtomicI64::new(high_water), Instant::now()) }
    }

    fn reading(&self) -> i64 {
        match &self.source {
            Source::Machine => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |past| past.as_secs() as i64),
            Source::Frozen(moment) => moment.load(Ordering::Relaxed),
        }
    }

    /// Now, in Unix seconds. Never less than an earlier answer.
    pub fn now(&self) -> i64 {
        let reading = self.reading();
        let mark = self.high_water.load(Ordering::Relaxed);
        if reading >= mark {
            self.high_water.fetch_max(reading, Ordering::Relaxed);
            return reading;
        }
        let carried = match self.source {
            Source::Machine => self.start.0.load(Ordering::Relaxed) + self.start.1.elapsed().as_secs() as i64,
            Source::Frozen(_) => mark,
        };
        self.high_water.fetch_max(carried, Ordering::Relaxed).max(carried)
    }

    /// Whether the machine's clock is behind what the file has seen.
    pub fn is_suspect(&self) -> bool {
        self.reading() + TOLERANCE_SECONDS < self.high_water.load(Ordering::Relaxed)
    }

    /// Takes over the mark that the file remembers.
    pub fn remember(&self, high_water: i64) {
        self.high_water.fetch_max(high_water, Ordering::Relaxed);
        self.start.0.fetch_max(high_water, Ordering::Relaxed);
    }

    /// Moves a frozen clock; a machine's clock stays as it is.
    pub fn set(&self, moment: i64) {
        if let Source::Frozen(now) = &self.source {
            now.store(moment, Ordering::Relaxed);
        }
    }

    pub fn advance(&self, by: Duration) {
        self.set(self.reading() + by.as_secs() as i64);
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
}
