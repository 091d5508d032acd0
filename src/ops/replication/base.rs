//! New bases of the off-site copy: when one is due, and how it is made. A round of the replicator is a second long.

use super::{Replicator, TICK_TIME_MAX};
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::off_site::mount;
use crate::site::priority;
use crate::store::engine::data_dir;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

/// A chain gets a new base after an hour, unless the hourly backup begins one before.
const CHAIN_SECONDS_MAX: i64 = 3_600 + 300;
/// Rounds between the beginnings of two bases, at least. The number doubles with each base, up to [`rounds_to_base_max`],
/// until a chain has lasted.
pub(super) const ROUNDS_TO_BASE_MIN: u64 = 8;
/// A small database is cheap to copy: its bases may follow each other sooner. Those of a large one are never rarer than
/// chains that just last.
const BYTES_PER_ROUND_TO_BASE: u64 = 170_000;
const ROUNDS_TO_BASE_MAX: RangeInclusive<u64> = 30..=LASTING_SECONDS.cast_unsigned();
/// A chain of this age has lasted.
const LASTING_SECONDS: i64 = 600;

impl Replicator<'_> {
    /// Makes a base where there is no chain, or the chain is long. On a thread of its own, because it takes long.
    pub(super) fn make_base_where_due(&mut self) {
        let age = self.chain.as_ref().map(|_| self.site.now() - self.chain_since);
        if age.is_some_and(|age| age > LASTING_SECONDS) {
            self.next_rounds_to_base = ROUNDS_TO_BASE_MIN;
        }
        let is_due = age.is_none_or(|age| age > CHAIN_SECONDS_MAX) && self.rounds_to_base == 0;
        if !is_due || self.is_making_base.load(Ordering::Acquire) {
            return;
        }
        if let Err(cause) = self.probe() {
            return self.report(Some(cause));
        }
        self.rounds_to_base = self.next_rounds_to_base;
        self.next_rounds_to_base = (2 * self.next_rounds_to_base).min(rounds_to_base_max(self.bytes()));
        self.is_making_base.store(true, Ordering::Release);
        let (site, is_making, make_base) =
            (self.site.for_another_thread(), self.is_making_base.clone(), self.make_base);
        let begun = std::thread::Builder::new().name("base".to_owned()).spawn(move || {
            priority::lower();
            let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| make_base(&site)));
            is_making.store(false, Ordering::Release);
            if made.is_err() {
                site.stats.panics.fetch_add(1, Ordering::Relaxed);
            }
        });
        if begun.is_err() {
            self.is_making_base.store(false, Ordering::Release);
        }
    }

    /// The size of the database.
    fn bytes(&self) -> u64 {
        std::fs::metadata(data_dir::database(&self.site.config.data)).map_or(0, |file| file.len())
    }

    /// Checks that the off-site target takes a base. Local backups must not pile up for one that does not.
    fn probe(&self) -> Result<(), String> {
        let (target, bytes) = (self.off_site.target().clone(), self.bytes());
        let local_store = local_store(&self.site.config.data).dir().to_owned();
        let probe = move || {
            target.path().map_or(Ok(()), |dir| mount::check(&local_store, &dir))?;
            target.probe(bytes)
        };
        let probed = self.off_site.send(TICK_TIME_MAX, probe);
        probed.unwrap_or_else(|| Err(self.off_site.no_answer()))
    }
}

/// The most rounds between two bases of a database of `bytes` bytes.
fn rounds_to_base_max(bytes: u64) -> u64 {
    (bytes / BYTES_PER_ROUND_TO_BASE).clamp(*ROUNDS_TO_BASE_MAX.start(), *ROUNDS_TO_BASE_MAX.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_database_waits_for_its_next_base_for_seconds_and_a_large_one_no_longer_than_a_chain_has_to_last() {
        let rounds = [0, 1_000_000, 20_000_000, 3_000_000_000].map(rounds_to_base_max);
        assert_eq!(rounds, [30, 30, 117, 600]);
    }
}
