//! Rates: token buckets in memory, by the monotonic clock.

use super::Key;
use crate::http::failure::Failure;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From this many buckets on the full ones are dropped: a full bucket is as good as none.
const BUCKETS_MAX: usize = 10_000;
/// Where too few are full, the least used buckets are dropped too, this many at once, so that the search for them is rare.
const DROPPED_AT_ONCE: usize = BUCKETS_MAX / 10;

/// A number of requests at once, which refills evenly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) requests: i64,
    pub(super) seconds: i64,
}

impl Size {
    fn per_second(self) -> f64 {
        self.requests as f64 / self.seconds as f64
    }
}

/// The buckets of all callers. A restart empties the map, so every caller then begins with a full bucket.
pub struct RateLimiter {
    buckets: Mutex<HashMap<Key, Bucket>>,
    /// What one request takes.
    cost: i64,
}

impl Default for RateLimiter {
    fn default() -> RateLimiter {
        RateLimiter { buckets: Mutex::default(), cost: 1 }
    }
}

struct Bucket {
    left: f64,
    at: Instant,
    limit: Size,
}

impl Bucket {
    fn refill(&mut self, now: Instant) {
        let refilled = now.duration_since(self.at).as_secs_f64() * self.limit.per_second();
        self.left = (self.left + refilled).min(self.limit.requests as f64);
        self.at = now;
    }

    /// The used part, from 0 to 1.
    fn used(&self) -> f64 {
        1.0 - self.left / self.limit.requests as f64
    }
}

impl RateLimiter {
    /// Counts each request as `cost` requests, so that a test reaches the end of a high limit.
    #[cfg(debug_assertions)]
    pub fn costing(cost: i64) -> RateLimiter {
        RateLimiter { cost, ..RateLimiter::default() }
    }

    /// How many requests the caller may send now, and the seconds until it may send all of its limit again. `None`: the caller
    /// was not counted yet.
    pub(super) fn find_left(&self, caller: Key) -> Option<(i64, u64)> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.get_mut(&caller)?;
        bucket.refill(Instant::now());
        let missing = bucket.limit.requests as f64 - bucket.left;
        Some((bucket.left as i64, (missing / bucket.limit.per_second()).ceil() as u64))
    }

    /// Counts a call that costs as much as `requests` calls; 429 with the seconds until it is allowed.
    pub(super) fn take(&self, caller: Key, limit: Size, requests: i64) -> Result<(), Failure> {
        self.take_at(caller, limit, requests, Instant::now())
    }

    fn take_at(&self, caller: Key, limit: Size, requests: i64, now: Instant) -> Result<(), Failure> {
        let cost = (requests * self.cost) as f64;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX {
            make_room(&mut buckets, now);
        }
        let bucket = buckets.entry(caller).or_insert(Bucket { left: limit.requests as f64, at: now, limit });
        bucket.limit = limit;
        bucket.refill(now);
        if bucket.left < cost {
            let wait = Duration::from_secs_f64((cost - bucket.left) / limit.per_second());
            return Err(Failure::too_fast().retry_after(wait));
        }
        bucket.left -= cost;
        Ok(())
    }
}

fn make_room(buckets: &mut HashMap<Key, Bucket>, now: Instant) {
    buckets.values_mut().for_each(|bucket| bucket.refill(now));
    buckets.retain(|_, bucket| bucket.used() > 0.0);
    if buckets.len() + DROPPED_AT_ONCE <= BUCKETS_MAX {
        return;
    }
    let mut used: Vec<(f64, Key)> = buckets.iter().map(|(caller, bucket)| (bucket.used(), *caller)).collect();
    used.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    used.iter().take(DROPPED_AT_ONCE).for_each(|(_, caller)| _ = buckets.remove(caller));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::limits::Whose;
    use crate::http::call::Network;
    use std::net::IpAddr;

    const ONE: Key = ("requests", "partner", Whose::Number(1));
    const PER_HOUR: Size = Size { requests: 60, seconds: 3600 };

    fn per_minute(requests: i64) -> Size {
        Size { requests, seconds: 60 }
    }

    fn from_network(n: u32) -> Key {
        ("sign-ups", "network", Network::from(IpAddr::from(n.to_be_bytes())).into())
    }

    #[test]
    fn a_bucket_allows_a_burst_and_refills_evenly() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), per_minute(60));
        for _ in 0..60 {
            rates.take_at(ONE, limit, 1, start).unwrap();
        }
        assert_eq!(rates.take_at(ONE, limit, 1, start).unwrap_err().retry_after_seconds(), Some(1));
        rates.take_at(("requests", "partner", Whose::Number(2)), limit, 1, start).unwrap();
        rates.take_at(ONE, limit, 1, start + Duration::from_secs(1)).unwrap();
        assert!(rates.take_at(ONE, limit, 1, start + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn a_request_may_cost_as_much_as_several() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), per_minute(6));
        rates.take_at(ONE, limit, 4, start).unwrap();
        assert_eq!(rates.take_at(ONE, limit, 4, start).unwrap_err().retry_after_seconds(), Some(20));
        rates.take_at(ONE, limit, 2, start).unwrap();
        assert!(rates.take_at(ONE, limit, 1, start).is_err());
    }

    #[test]
    fn buckets_of_many_callers_do_not_fill_the_memory() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), PER_HOUR);
        for n in 0..2 * BUCKETS_MAX as u32 {
            let later = start + Duration::from_secs(120 * u64::from(n));
            rates.take_at(from_network(n), limit, 1, later).unwrap();
        }
        assert!(rates.buckets.lock().unwrap().len() <= BUCKETS_MAX);
    }

    #[test]
    fn when_many_callers_come_at_once_the_most_used_buckets_are_kept() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), PER_HOUR);
        (0..60).for_each(|_| rates.take_at(ONE, limit, 1, start).unwrap());
        for n in 0..2 * BUCKETS_MAX as u32 {
            rates.take_at(from_network(n), limit, 1, start).unwrap();
        }
        assert!(rates.buckets.lock().unwrap().len() <= BUCKETS_MAX);
        assert!(rates.take_at(ONE, limit, 1, start).is_err());
    }
}
