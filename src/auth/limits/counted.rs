//! What the database counts for the table of limits: failed attempts, which cause delays and pauses, and messages and requests
//! within a span. Keys are hashed, so that the counts name nobody.

use super::{Limit, Over};
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::throttles;
use crate::store::{Read, Write};

/// The count of failed attempts is halved each time this span passes without one.
const HALVED_AFTER_SECONDS: i64 = 15 * 60;

/// One count, and the limits on it.
#[derive(Debug, Clone)]
pub(crate) struct Counter {
    key: Vec<u8>,
    /// The key that all counters of one account share; `None`: the counter is not of an account.
    account_key: Option<[u8; 32]>,
    /// The amount of each limit, and what follows beyond it.
    limits: Vec<(i64, Over)>,
}

impl Counter {
    /// `whose`: words that only this counter has.
    pub(crate) fn new(site: &Site, limit: Limit, whose: &[&[u8]]) -> Counter {
        let key = site.keys.hash(Purpose::Throttle, whose).to_vec();
        Counter { key, account_key: None, limits: vec![(limit.amount(site), limit.over)] }
    }

    /// The same counter with another limit on it.
    pub(crate) fn and(mut self, site: &Site, limit: Limit) -> Counter {
        self.limits.push((limit.amount(site), limit.over));
        self
    }

    /// The counter as one of an account's, which [`forget_account`] forgets.
    pub(crate) fn of_account(self, site: &Site, member_id: MemberId) -> Counter {
        Counter { account_key: Some(account_key(site, member_id)), ..self }
    }

    pub(crate) fn is_of_account(&self) -> bool {
        self.account_key.is_some()
    }

    /// The counter of a part of what this one counts. [`Counter::forget`] forgets the parts too.
    pub(crate) fn part(&self, site: &Site, limit: Limit, part: &[u8; 32]) -> Counter {
        let key = [&self.key, &part[..]].concat();
        Counter { key, account_key: None, limits: vec![(limit.amount(site), limit.over)] }
    }

    /// The moment at which one more is allowed; `None`: it is now.
    pub(crate) fn full_until(&self, tx: &Read, now: Moment) -> Result<Option<Moment>, Failure> {
        let mut latest = None;
        for (amount, over) in &self.limits {
            latest = latest.max(match over {
                Over::Within(seconds) => throttles::full_until(tx, &self.key, *amount, *seconds, now)?,
                _ => throttles::find(tx, &self.key)?.map(|found| found.closed_until).filter(|until| now < *until),
            });
        }
        Ok(latest)
    }

    /// Counts one more. Returns the seconds of the delay or pause that begins; 0: none does.
    pub(crate) fn count(&self, tx: &Write) -> Result<i64, Failure> {
        let Some((free, over)) = self.limits.iter().find(|(_, over)| !matches!(over, Over::Within(_))) else {
            throttles::insert_counted(tx, &self.key)?;
            return Ok(0);
        };
        let before = throttles::find(tx, &self.key)?.map_or((0, tx.now()), |found| (found.misses, found.missed_at));
        let after = over.after_miss(*free, before, tx.now());
        let until = tx.now() + after.closed_seconds;
        throttles::set(tx, &self.key, self.account_key.as_ref(), after.misses, after.missed_at, until)?;
        Ok(after.closed_seconds)
    }

    /// Begins the count anew.
    pub(crate) fn forget(&self, tx: &Write) -> Result<(), Failure> {
        throttles::forget(tx, &self.key)?;
        Ok(())
    }

    /// Whether a part of this counter has used up its limit.
    pub(crate) fn is_part_full(&self, site: &Site, tx: &Write, limit: Limit) -> Result<bool, Failure> {
        Ok(throttles::is_part_full(tx, &self.key, limit.amount(site), limit.seconds())?)
    }
}

/// The moment at which all of these have room for one more; `None`: they have.
pub(crate) fn full_until<'a>(
    tx: &Read,
    now: Moment,
    counters: impl IntoIterator<Item = &'a Counter>,
) -> Result<Option<Moment>, Failure> {
    counters.into_iter().try_fold(None, |latest: Option<Moment>, counter| Ok(latest.max(counter.full_until(tx, now)?)))
}

/// Counts one more in each of these. `Some`: one of them is full until this moment, and nothing was counted.
pub(crate) fn take(tx: &Write, counters: &[Counter]) -> Result<Option<Moment>, Failure> {
    let full = full_until(tx, tx.now(), counters)?;
    if full.is_none() {
        for counter in counters {
            counter.count(tx)?;
        }
    }
    Ok(full)
}

/// Begins the counts of an account's failed attempts anew; returns how many of them delayed it.
pub(crate) fn forget_account(site: &Site, tx: &Write, member_id: MemberId) -> Result<usize, Failure> {
    Ok(throttles::forget_account(tx, &account_key(site, member_id))?)
}

/// A keyed hash, so that the table does not name accounts.
fn account_key(site: &Site, member_id: MemberId) -> [u8; 32] {
    site.keys.hash(Purpose::Throttle, &[b"all of account", &member_id.0.to_be_bytes()])
}

/// A count of failed attempts after one more.
#[derive(Debug, PartialEq, Eq)]
struct Missed {
    misses: i64,
    /// The moment from which misses are forgotten.
    missed_at: Moment,
    /// The delay or pause that begins; 0: none does.
    closed_seconds: i64,
}

impl Over {
    fn after_miss(self, free: i64, (misses, missed_at): (i64, Moment), now: Moment) -> Missed {
        match self {
            Over::Delays(longest) => {
                let misses = 1 + remaining(misses, now - missed_at);
                Missed { misses, missed_at: now, closed_seconds: delay_seconds(misses - free, longest) }
            }
            Over::Pauses(pause) if misses + 1 >= free => Missed { misses: 0, missed_at: now, closed_seconds: pause },
            Over::Drains { forgiven, pause } => {
                let drained = (now - missed_at).max(0) / forgiven;
                let (misses, missed_at) = match misses - drained {
                    // The time that has already passed towards the next forgiven attempt counts.
                    left @ 1.. => (left + 1, missed_at + drained * forgiven),
                    _ => (1, now),
                };
                Missed { misses, missed_at, closed_seconds: if misses > free { pause } else { 0 } }
            }
            Over::Pauses(_) | Over::Refills(_) | Over::Within(_) | Over::Ends => {
                Missed { misses: misses + 1, missed_at: now, closed_seconds: 0 }
            }
        }
    }
}

/// The delay in seconds: 1, 2, 4, … from the last free attempt on.
fn delay_seconds(over: i64, longest: i64) -> i64 {
    if over < 0 { 0 } else { (1_i64 << over.min(20)).min(longest) }
}

/// The remaining count of failed attempts after seconds without one.
fn remaining(misses: i64, quiet_seconds: i64) -> i64 {
    misses >> (quiet_seconds / HALVED_AFTER_SECONDS).clamp(0, 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_begin_after_the_free_misses_and_have_an_end() {
        let delays = [-5, -1, 0, 1, 2, 3, 95].map(|over| delay_seconds(over, 15 * 60));
        assert_eq!(delays, [0, 0, 1, 2, 4, 8, 900]);
    }

    #[test]
    fn drained_misses_go_one_by_one_also_while_others_come() {
        let bucket = Over::Drains { forgiven: 60, pause: 900 };
        let after = |counted: &Missed, now| bucket.after_miss(3, (counted.misses, counted.missed_at), now);
        let mut counted = Missed { misses: 0, missed_at: Moment(0), closed_seconds: 0 };
        for now in (0..6_000).step_by(61) {
            counted = after(&counted, Moment(now));
            assert_eq!(counted.closed_seconds, 0, "one a minute is fine for ever: {counted:?}");
        }
        let now = 10_000;
        let pauses: Vec<_> = (0..5)
            .map(|_| {
                counted = after(&counted, Moment(now));
                counted.closed_seconds
            })
            .collect();
        assert_eq!(pauses, [0, 0, 0, 900, 900]);
        assert_eq!(after(&counted, Moment(now + 120)).misses, 4, "two of five were forgiven");
        assert_eq!(after(&counted, Moment(now - 500)).misses, 6, "a clock that is set back forgives nothing");
    }

    #[test]
    fn a_pause_begins_after_misses_in_a_row_which_begin_anew_then() {
        let pauses = Over::Pauses(900);
        assert_eq!(
            pauses.after_miss(5, (3, Moment(0)), Moment(40)),
            Missed { misses: 4, missed_at: Moment(40), closed_seconds: 0 }
        );
        assert_eq!(
            pauses.after_miss(5, (4, Moment(40)), Moment(50)),
            Missed { misses: 0, missed_at: Moment(50), closed_seconds: 900 }
        );
    }

    #[test]
    fn misses_are_forgotten() {
        assert_eq!(remaining(40, 0), 40);
        assert_eq!(remaining(40, 15 * 60), 20);
        assert_eq!(remaining(40, 2 * 60 * 60), 0);
        assert_eq!(remaining(i64::MAX, i64::MAX), 0);
    }
}
