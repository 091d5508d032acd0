//! Requests a minute of each partner, by the monotonic clock.

use crate::failure::Failure;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A bucket a partner: as many requests as a minute allows, refilled evenly.
#[derive(Default)]
pub struct Rates {
    buckets: Mutex<HashMap<i64, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    /// Takes one request, or says when the next will do.
    pub fn take(&self, partner_id: i64, per_minute: i64) -> Result<(), Failure> {
        self.take_at(partner_id, per_minute, Instant::now())
    }

    fn take_at(&self, partner_id: i64, per_minute: i64, now: Instant) -> Result<(), Failure> {
        let most = per_minute as f64;
        let per_second = most / 60.0;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(partner_id).or_insert(Bucket { left: most, at: now });
        bucket.left = (bucket.left + now.duration_since(bucket.at).as_secs_f64() * per_second).min(most);
        bucket.at = now;
        if bucket.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - bucket.left) / per_second);
            return Err(Failure::too_fast().retry_after(wait));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_holds_so_many_and_refills_evenly() {
        let (rates, start) = (Rates::default(), Instant::now());
        for _ in 0..60 {
            rates.take_at(1, 60, start).unwrap();
        }
        assert_eq!(rates.take_at(1, 60, start).unwrap_err().retry_after_seconds(), Some(1));
        rates.take_at(2, 60, start).unwrap();
        rates.take_at(1, 60, start + Duration::from_secs(1)).unwrap();
        assert!(rates.take_at(1, 60, start + Duration::from_secs(1)).is_err());
    }
}
