//! Rate limits: token buckets in memory, by the monotonic clock.

use crate::domain::role::Role;
use crate::http::call::{Call, Network, PrincipalId};
use crate::http::failure::Failure;
use crate::site::Site;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// From this many buckets on the full ones are dropped: a full bucket is as good as none.
const BUCKETS_MAX: usize = 10_000;
/// Where too few are full, the least used buckets are dropped too, this many at once, so that the search for them is rare.
const DROPPED_AT_ONCE: usize = BUCKETS_MAX / 10;

/// Records that one partner makes: many more than customers come, and few enough that a fault or a thief does not fill the
/// disk.
const RECORDS_PER_MINUTE: i64 = 600;
/// Pictures and documents for one member: each takes up to a second of work.
const DOCUMENTS_PER_HOUR: i64 = 120;

/// The requests that one bucket counts: their kind, and their caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateLimitKey {
    /// By the partner's number.
    Partner(i64),
    /// Records of customers that a partner makes, by its number.
    RecordsOf(i64),
    /// Sign-ups, by the client's network.
    SignupFrom(Network),
    /// Sign-ups, by the number of the kiosk.
    SignupAt(i64),
    /// Cards read at a kiosk, by its number.
    CardsAt(i64),
    /// Passkey challenges.
    PasskeysFrom(Network),
    /// Messages of the contact form.
    ContactFrom(Network),
    /// Messages of the contact form, over all clients.
    Contacts,
    /// Outcomes that are stored for a member or a partner under an idempotency key.
    KeysOf(PrincipalId),
    /// The kilobytes of these outcomes.
    KeyBytesOf(PrincipalId),
    /// Outcomes that are stored for strangers.
    KeysFrom(Network),
    /// Those of strangers of all networks.
    Keys,
    /// Requests about a lost password or username.
    RecoveryFrom(Network),
    /// Tokens that confirm an e-mail address, used or requested again.
    ConfirmationFrom(Network),
    /// Requests that may send a message: sign-ups, recoveries, passcodes.
    MessagesFrom(Network),
    /// Changes by a signed-in member.
    ChangesOf(i64),
    /// Requests of a standby without its token.
    StandbyMissesFrom(Network),
    /// Pictures and documents for a signed-in member.
    DocumentsOf(i64),
}

/// A number of requests at once, which refills evenly over a period.
#[derive(Debug, Clone, Copy)]
pub struct RateLimit {
    /// The size of the bucket.
    pub requests: i64,
    /// How long an empty bucket takes to refill.
    pub within: Duration,
}

impl RateLimit {
    pub(crate) fn per_minute(requests: i64) -> RateLimit {
        RateLimit { requests, within: Duration::from_secs(60) }
    }

    pub(crate) fn per_hour(requests: i64) -> RateLimit {
        RateLimit { requests, within: Duration::from_secs(3600) }
    }

    pub(crate) fn per_day(requests: i64) -> RateLimit {
        RateLimit { requests, within: Duration::from_secs(86_400) }
    }

    fn per_second(self) -> f64 {
        self.requests as f64 / self.within.as_secs_f64()
    }
}

/// The buckets of all callers. A restart empties the map, so every caller then begins with a full bucket.
#[derive(Default)]
pub struct RateLimiter {
    buckets: Mutex<HashMap<RateLimitKey, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
    limit: RateLimit,
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

/// Counts one change by a signed-in member; 429 above the daily limit. Reads and signing out are not counted.
pub(crate) fn count_change(site: &Site, call: &Call) -> Result<(), Failure> {
    let member_id = match call.principal.get() {
        PrincipalId::Member(member_id) | PrincipalId::Booking(member_id) if !call.reads() && !call.row.when_full => {
            member_id
        }
        _ => return Ok(()),
    };
    site.state::<RateLimiter>()
        .take(RateLimitKey::ChangesOf(member_id), RateLimit::per_day(site.config.limits.changes_per_day_per_member))
}

/// Counts one request that may cause a message; 429 above the daily limit of the client's network. Call this before the
/// account is looked up, so that the answer does not tell whether there is one.
pub(crate) fn count_message_request(site: &Site, call: &Call) -> Result<(), Failure> {
    let limit = RateLimit::per_day(site.config.limits.messages_per_day_per_address);
    site.state::<RateLimiter>().take(RateLimitKey::MessagesFrom(call.network()), limit)
}

/// Counts one record that a partner makes; 429 above the pace.
pub(crate) fn count_record(site: &Site, partner_id: i64) -> Result<(), Failure> {
    site.state::<RateLimiter>().take(RateLimitKey::RecordsOf(partner_id), RateLimit::per_minute(RECORDS_PER_MINUTE))
}

/// Counts one picture or document for a signed-in member; 429 above the hourly limit. Staff are not limited, because they
/// make documents for members.
pub(crate) fn count_document(site: &Site, member_id: i64, role: Role) -> Result<(), Failure> {
    if role.is_staff() {
        return Ok(());
    }
    site.state::<RateLimiter>().take(RateLimitKey::DocumentsOf(member_id), RateLimit::per_hour(DOCUMENTS_PER_HOUR))
}

impl RateLimiter {
    /// Counts one request; 429 with the seconds until the next one is allowed.
    pub fn take(&self, caller: RateLimitKey, limit: RateLimit) -> Result<(), Failure> {
        self.take_several(caller, limit, 1)
    }

    /// Counts a request that costs as much as several.
    pub(crate) fn take_several(&self, caller: RateLimitKey, limit: RateLimit, requests: i64) -> Result<(), Failure> {
        self.take_at(caller, limit, requests, Instant::now())
    }

    /// How many requests the caller may send now, and the seconds until it may send all of its limit again. `None`: the caller
    /// was not counted yet.
    pub(crate) fn find_left(&self, caller: RateLimitKey) -> Option<(i64, u64)> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.get_mut(&caller)?;
        bucket.refill(Instant::now());
        let missing = bucket.limit.requests as f64 - bucket.left;
        Some((bucket.left as i64, (missing / bucket.limit.per_second()).ceil() as u64))
    }

    fn take_at(&self, caller: RateLimitKey, limit: RateLimit, requests: i64, now: Instant) -> Result<(), Failure> {
        let cost = requests as f64;
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

fn make_room(buckets: &mut HashMap<RateLimitKey, Bucket>, now: Instant) {
    buckets.values_mut().for_each(|bucket| bucket.refill(now));
    buckets.retain(|_, bucket| bucket.used() > 0.0);
    if buckets.len() + DROPPED_AT_ONCE <= BUCKETS_MAX {
        return;
    }
    let mut used: Vec<(f64, RateLimitKey)> = buckets.iter().map(|(caller, bucket)| (bucket.used(), *caller)).collect();
    used.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    used.iter().take(DROPPED_AT_ONCE).for_each(|(_, caller)| _ = buckets.remove(caller));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    const ONE: RateLimitKey = RateLimitKey::Partner(1);

    #[test]
    fn a_bucket_allows_a_burst_and_refills_evenly() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), RateLimit::per_minute(60));
        for _ in 0..60 {
            rates.take_at(ONE, limit, 1, start).unwrap();
        }
        assert_eq!(rates.take_at(ONE, limit, 1, start).unwrap_err().retry_after_seconds(), Some(1));
        rates.take_at(RateLimitKey::Partner(2), limit, 1, start).unwrap();
        rates.take_at(ONE, limit, 1, start + Duration::from_secs(1)).unwrap();
        assert!(rates.take_at(ONE, limit, 1, start + Duration::from_secs(1)).is_err());
    }

    #[test]
    fn a_request_may_cost_as_much_as_several() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), RateLimit::per_minute(6));
        rates.take_at(ONE, limit, 4, start).unwrap();
        assert_eq!(rates.take_at(ONE, limit, 4, start).unwrap_err().retry_after_seconds(), Some(20));
        rates.take_at(ONE, limit, 2, start).unwrap();
        assert!(rates.take_at(ONE, limit, 1, start).is_err());
    }

    #[test]
    fn buckets_of_many_callers_do_not_fill_the_memory() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), RateLimit::per_hour(60));
        for n in 0..2 * BUCKETS_MAX as u32 {
            let later = start + Duration::from_secs(120 * u64::from(n));
            rates.take_at(RateLimitKey::SignupFrom(IpAddr::from(n.to_be_bytes()).into()), limit, 1, later).unwrap();
        }
        assert!(rates.buckets.lock().unwrap().len() <= BUCKETS_MAX);
    }

    #[test]
    fn when_many_callers_come_at_once_the_most_used_buckets_are_kept() {
        let (rates, start, limit) = (RateLimiter::default(), Instant::now(), RateLimit::per_hour(60));
        (0..60).for_each(|_| rates.take_at(ONE, limit, 1, start).unwrap());
        for n in 0..2 * BUCKETS_MAX as u32 {
            rates.take_at(RateLimitKey::SignupFrom(IpAddr::from(n.to_be_bytes()).into()), limit, 1, start).unwrap();
        }
        assert!(rates.buckets.lock().unwrap().len() <= BUCKETS_MAX);
        assert!(rates.take_at(ONE, limit, 1, start).is_err());
    }
}
