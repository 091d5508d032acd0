//! Backoff: how long the sync waits after a failed attempt.

use crate::keys::random;
use crate::moment::Moment;
use std::time::Duration;

/// The bound of the wait after the first failure, in milliseconds; the bound doubles with each further failure up to
/// the last.
const FIRST_MILLIS: u64 = 2_000;
const LAST_MILLIS: u64 = 15 * 60_000;
/// The longest wait for room: sending goes on within 10 seconds after there is some.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(8);
/// The longest wait that a receiver may request.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);

/// A random wait up to the bound (full jitter), so that many sites do not return at the same time, plus the wait that the
/// receiver requested.
pub(super) fn wait(failed_tries: i64, asked: Option<Duration>) -> Duration {
    let jitter = Duration::from_millis(below(bound(failed_tries)));
    asked.map_or(jitter, |asked| asked.min(RETRY_AFTER_MAX) + jitter)
}

/// The wait before a receiver that has no room is asked again.
pub(super) fn wait_for_room(failed_tries: i64) -> Duration {
    wait(failed_tries, None).min(ROOM_WAIT_MAX)
}

fn bound(failed_tries: i64) -> u64 {
    let times = failed_tries.clamp(1, 30) - 1;
    (FIRST_MILLIS << times).min(LAST_MILLIS)
}

fn below(end: u64) -> u64 {
    ((u128::from(u64::from_be_bytes(random::<8>())) * u128::from(end)) >> 64) as u64
}

/// Parses `Retry-After`: seconds, or a date, which is compared with the `Date` of the answer, because clocks differ.
pub(super) fn retry_after(value: &str, date: Option<&str>, now: Moment) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| jiff::fmt::rfc2822::parse(text.trim()).ok().map(|at| Moment(at.timestamp().as_second()));
    let from = date.and_then(moment).unwrap_or(now);
    Some(Duration::from_secs((moment(value)? - from).max(0).unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_fill_the_whole_range() {
        for failed_tries in 1..80 {
            let bound = bound(failed_tries);
            assert!(bound <= LAST_MILLIS && (failed_tries > 9 || bound == FIRST_MILLIS << (failed_tries - 1)));
            let waits: Vec<_> = (0..200).map(|_| wait(failed_tries, None).as_millis() as u64).collect();
            assert!(waits.iter().all(|wait| *wait < bound));
            assert!(waits.iter().any(|wait| *wait < bound / 4) && waits.iter().any(|wait| *wait > bound / 4 * 3));
        }
    }

    #[test]
    fn a_receiver_without_room_is_asked_again_within_seconds() {
        assert!((1..80).all(|failed_tries| wait_for_room(failed_tries) <= Duration::from_secs(8)));
        assert!((0..200).any(|_| wait_for_room(30) == Duration::from_secs(8)), "and not without a pause");
    }

    #[test]
    fn a_wait_that_the_receiver_asks_for_is_kept() {
        let asked = Duration::from_secs(120);
        assert!((0..100).all(|_| wait(1, Some(asked)) >= asked));
        assert!(wait(1, Some(Duration::MAX)) <= RETRY_AFTER_MAX + Duration::from_secs(2));
        assert_eq!(retry_after("120", None, Moment(0)), Some(asked));
        let date = "Sat, 21 Nov 2026 12:00:00 GMT";
        assert_eq!(retry_after("Sat, 21 Nov 2026 12:02:00 GMT", Some(date), Moment(5)), Some(asked));
        assert_eq!(retry_after("Sat, 21 Nov 2026 11:00:00 GMT", Some(date), Moment(5)), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", Some(date), Moment(5)), None);
    }
}
