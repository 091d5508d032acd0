//! How misses turn into delays: none at first, then growing, never for long, and forgotten with time.

/// Misses are halved each time this passes without one.
const HALVED_AFTER_SECONDS: i64 = 15 * 60;

/// A kind of counter: what it counts misses of, when it begins to delay and how far that goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    pub free_misses: i64,
    pub delay_seconds_max: i64,
}

impl Rule {
    /// One account from one address: the person who mistypes, or the one who guesses at one account.
    pub(crate) const ACCOUNT_FROM_ADDRESS: Rule = Rule { free_misses: 5, delay_seconds_max: 15 * 60 };
    /// One account from a device that somebody signed in on: only who has that device can close it.
    pub(crate) const ACCOUNT_FROM_DEVICE: Rule = Rule::ACCOUNT_FROM_ADDRESS;
    /// One account at one kiosk, by its PIN: whoever stands there can close it, so never for long.
    pub(crate) const ACCOUNT_AT_KIOSK: Rule = Rule { free_misses: 5, delay_seconds_max: 5 * 60 };
    /// One account from anywhere: slows down many guessing together, and can keep its owner out for a minute at most.
    pub(crate) const ACCOUNT: Rule = Rule { free_misses: 20, delay_seconds_max: 60 };

    /// One address over all accounts, or the devices that one member brought: a site may share it, so it is patient and
    /// short.
    pub(crate) fn address(free_misses: i64) -> Rule {
        Rule { free_misses, delay_seconds_max: 60 }
    }

    /// Seconds to wait after this many misses: 1, 2, 4, … from the last free one on.
    pub(crate) fn delay_seconds(self, misses: i64) -> i64 {
        match misses - self.free_misses {
            ..0 => 0,
            over => (1_i64 << over.min(20)).min(self.delay_seconds_max),
        }
    }
}

/// Misses that are forgiven one by one at an even pace, for somebody who has some every day; more than that close for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drained {
    pub free_misses: i64,
    /// One is forgiven each time so many seconds pass.
    pub forgiven_seconds: i64,
    pub pause_seconds: i64,
}

impl Drained {
    /// Wrong PINs by one partner, over all members: of a hundred thousand bookings a year one in ten may be mistyped.
    pub(crate) const PARTNER_PINS: Drained = Drained { free_misses: 30, forgiven_seconds: 60, pause_seconds: 15 * 60 };

    /// Misses and the moment to count on from, after one more miss at `now`.
    pub(crate) fn miss(self, (misses, counted_at): (i64, i64), now: i64) -> (i64, i64) {
        let forgiven = (now - counted_at).max(0) / self.forgiven_seconds;
        match misses - forgiven {
            // What has passed of the next one's time counts.
            left @ 1.. => (left + 1, counted_at + forgiven * self.forgiven_seconds),
            _ => (1, now),
        }
    }

    /// Seconds to wait after this many misses.
    pub(crate) fn pause(self, misses: i64) -> i64 {
        if misses > self.free_misses { self.pause_seconds } else { 0 }
    }
}

/// What is left of misses after some seconds of peace.
pub(crate) fn remaining(misses: i64, quiet_seconds: i64) -> i64 {
    misses >> (quiet_seconds / HALVED_AFTER_SECONDS).clamp(0, 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_begin_after_the_free_misses_and_have_an_end() {
        let rule = Rule::ACCOUNT_FROM_ADDRESS;
        let delays: Vec<_> = [0, 4, 5, 6, 7, 8, 100].map(|misses| rule.delay_seconds(misses)).into();
        assert_eq!(delays, [0, 0, 1, 2, 4, 8, 900]);
    }

    #[test]
    fn drained_misses_go_one_by_one_also_while_others_come() {
        let rule = Drained { free_misses: 3, forgiven_seconds: 60, pause_seconds: 900 };
        let mut counted = (0, 0);
        for now in (0..6_000).step_by(61) {
            counted = rule.miss(counted, now);
            assert_eq!(rule.pause(counted.0), 0, "one a minute is fine for ever: {counted:?}");
        }
        let now = 10_000;
        let misses: Vec<_> = (0..5)
            .map(|_| {
                counted = rule.miss(counted, now);
                rule.pause(counted.0)
            })
            .collect();
        assert_eq!(misses, [0, 0, 0, 900, 900]);
        assert_eq!(rule.miss(counted, now + 120).0, 4, "two of five were forgiven");
        assert_eq!(rule.miss(counted, now - 500).0, 6, "a clock that is set back forgives nothing");
    }

    #[test]
    fn misses_are_forgotten() {
        assert_eq!(remaining(40, 0), 40);
        assert_eq!(remaining(40, 15 * 60), 20);
        assert_eq!(remaining(40, 2 * 60 * 60), 0);
        assert_eq!(remaining(i64::MAX, i64::MAX), 0);
    }
}
