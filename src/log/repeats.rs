//! Warnings and errors that anybody can cause again and again: one line a minute for each cause, with the number of those
//! that were left out.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(60);
/// With this many causes in a minute all are forgotten, and each gets a line again.
const CAUSES_MAX: usize = 1_000;

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static LINES: LazyLock<Mutex<Lines>> = LazyLock::new(Mutex::default);

/// The last line of each cause, by the hash of the cause.
#[derive(Default)]
struct Lines(HashMap<u64, Last>);

struct Last {
    at: Instant,
    left_out: u64,
}

/// Whether a line about this cause is due, with the number of those that were left out since the last one.
pub(crate) fn due(cause: impl Hash) -> Option<u64> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner).due(HASHER.hash_one(cause), Instant::now())
}

impl Lines {
    fn due(&mut self, cause: u64, now: Instant) -> Option<u64> {
        if self.0.len() >= CAUSES_MAX && !self.0.contains_key(&cause) {
            self.0.clear();
        }
        match self.0.entry(cause) {
            Entry::Vacant(place) => {
                place.insert(Last { at: now, left_out: 0 });
                Some(0)
            }
            Entry::Occupied(mut last) if now.duration_since(last.get().at) >= INTERVAL => {
                Some(last.insert(Last { at: now, left_out: 0 }).left_out)
            }
            Entry::Occupied(mut last) => {
                last.get_mut().left_out += 1;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_has_one_line_a_minute_and_the_next_line_counts_what_was_left_out() {
        let (mut lines, start) = (Lines::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!([0, 1, 59].map(|seconds| lines.due(7, at(seconds))), [Some(0), None, None]);
        assert_eq!(lines.due(8, at(59)), Some(0), "another cause");
        assert_eq!([60, 61, 120, 180].map(|seconds| lines.due(7, at(seconds))), [Some(2), None, Some(1), Some(0)]);
    }

    #[test]
    fn many_causes_do_not_fill_the_memory() {
        let (mut lines, now) = (Lines::default(), Instant::now());
        (0..10 * CAUSES_MAX as u64).for_each(|cause| assert_eq!(lines.due(cause, now), Some(0)));
        assert!(lines.0.len() <= CAUSES_MAX);
    }
}
