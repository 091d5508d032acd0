//! How failed attempts delay a sign-in: not at first, then increasingly, never for long, and the attempts are forgotten
//! with time.

/// The count of failed attempts is halved each time this span passes without one.
const HALVED_AFTER_SECONDS: i64 = 15 * 60;

/// A kind of counter of failed attempts: how many are free of delay, and the greatest delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    pub free_attempts: i64,
    pub delay_seconds_max: i64,
}

impl Rule {
    /// The delay in seconds after this many failed attempts: 1, 2, 4, … from the last free one on.
    pub(crate) fn delay_seconds(self, misses: i64) -> i64 {
        match misses - self.free_attempts {
            ..0 => 0,
            over => (1_i64 << over.min(20)).min(self.delay_seconds_max),
        }
    }
}

/// A leaky bucket of failed attempts: they are forgiven one by one at an even pace. For a client that has some every day.
/// More than `free_attempts` in the bucket cause a pause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeakyBucket {
    pub free_attempts: i64,
    /// Seconds in which one failed attempt is forgiven.
    pub forgiven_seconds: i64,
    pub pause_seconds: i64,
}

impl LeakyBucket {
    /// The count of failed attempts, and the moment from which the next is forgiven, after one more at `now`.
    pub(crate) fn add(self, (misses, counted_at): (i64, i64), now: i64) -> (i64, i64) {
        let forgiven = (now - counted_at).max(0) / self.forgiven_seconds;
        match misses - forgiven {
            // The time that has already passed towards the next forgiven attempt counts.
            left @ 1.. => (left + 1, counted_at + forgiven * self.forgiven_seconds),
            _ => (1, now),
        }
    }

    /// The pause in seconds while this many failed attempts are in the bucket.
    pub(crate) fn pause_after(self, misses: i64) -> i64 {
        if misses > self.free_attempts { self.pause_seconds } else { 0 }
    }
}

/// The remaining count of failed attempts after so many seconds without one.
pub(crate) fn remaining(misses: i64, quiet_seconds: i64) -> i64 {
    misses >> (quiet_seconds / HALVED_AFTER_SECONDS).clamp(0, 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_begin_after_the_free_misses_and_have_an_end() {
        let rule = Rule { free_attempts: 5, delay_seconds_max: 15 * 60 };
        let delays: Vec<_> = [0, 4, 5, 6, 7, 8, 100].map(|misses| rule.delay_seconds(misses)).into();
        assert_eq!(delays, [0, 0, 1, 2, 4, 8, 900]);
    }

    #[test]
    fn drained_misses_go_one_by_one_also_while_others_come() {
        let bucket = LeakyBucket { free_attempts: 3, forgiven_seconds: 60, pause_seconds: 900 };
        let mut counted = (0, 0);
        for now in (0..6_000).step_by(61) {
            counted = bucket.add(counted, now);
            assert_eq!(bucket.pause_after(counted.0), 0, "one a minute is fine for ever: {counted:?}");
        }
        let now = 10_000;
        let misses: Vec<_> = (0..5)
            .map(|_| {
                counted = bucket.add(counted, now);
                bucket.pause_after(counted.0)
            })
            .collect();
        assert_eq!(misses, [0, 0, 0, 900, 900]);
        assert_eq!(bucket.add(counted, now + 120).0, 4, "two of five were forgiven");
        assert_eq!(bucket.add(counted, now - 500).0, 6, "a clock that is set back forgives nothing");
    }

    #[test]
    fn misses_are_forgotten() {
        assert_eq!(remaining(40, 0), 40);
        assert_eq!(remaining(40, 15 * 60), 20);
        assert_eq!(remaining(40, 2 * 60 * 60), 0);
        assert_eq!(remaining(i64::MAX, i64::MAX), 0);
    }
}
