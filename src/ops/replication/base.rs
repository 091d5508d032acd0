//! When the off-site copy needs another base, and its making.

use super::{Replicator, TICK_TIME_MAX};
use crate::domain::audit::By;
use crate::ops::backup;
use crate::ops::backup::off_site::{OffSite, no_answer};
use crate::site::priority;
use crate::store::engine::data_dir;
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;

/// A chain has no more ticks than those of an hour, and somewhat longer: the hourly backup begins another.
const CHAIN_SECONDS_MAX: i64 = 3_600 + 300;
/// Rounds until another base is tried: twice as many after each whose chain did not last.
pub(super) const ROUNDS_TO_BASE_MIN: u64 = 8;
/// But no more than a file of that size is worth: a small one costs little, and bases are no rarer than those behind chains that
/// just last.
const BYTES_PER_ROUND_TO_BASE: u64 = 170_000;
const ROUNDS_TO_BASE_MAX: RangeInclusive<u64> = 30..=LASTING_SECONDS.cast_unsigned();
/// A chain that lives so long lasts.
const LASTING_SECONDS: i64 = 600;

impl Replicator<'_> {
    /// Begins a base where there is no chain, or the chain is long; on a thread of its own, since it takes its time.
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
            return self.tell(Some(cause));
        }
        self.rounds_to_base = self.next_rounds_to_base;
        self.next_rounds_to_base = (2 * self.next_rounds_to_base).min(rounds_to_base_max(self.bytes()));
        self.is_making_base.store(true, Ordering::Release);
        let (site, is_making) = (self.site.for_another_thread(), self.is_making_base.clone());
        let begun = std::thread::Builder::new().name("base".to_owned()).spawn(move || {
            priority::lower();
            let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                backup::log(&backup::make(&site, &By::job("backup"), &mut |_, _, _| ()));
            }));
            is_making.store(false, Ordering::Release);
            if made.is_err() {
                site.stats.panics.fetch_add(1, Ordering::Relaxed);
            }
        });
        if begun.is_err() {
            self.is_making_base.store(false, Ordering::Release);
        }
    }

    /// Of the file.
    fn bytes(&self) -> u64 {
        std::fs::metadata(data_dir::database(&self.site.config.data)).map_or(0, |file| file.len())
    }

    /// Whether the second place would take a base: the backups beside the site must not pile up for one that does not.
    fn probe(&self) -> Result<(), String> {
        let (second, bytes) = (self.second.clone(), self.bytes());
        let probed = self.site.state::<OffSite>().send(TICK_TIME_MAX, move || second.probe(bytes));
        probed.unwrap_or_else(|| Err(no_answer(&self.second)))
    }
}

/// The longest pause between two bases of a file of so many bytes.
fn rounds_to_base_max(bytes: u64) -> u64 {
    (bytes / BYTES_PER_ROUND_TO_BASE).clamp(*ROUNDS_TO_BASE_MAX.start(), *ROUNDS_TO_BASE_MAX.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_waits_for_its_next_base_for_seconds_and_a_large_one_no_longer_than_a_chain_has_to_last() {
        let rounds = [0, 1_000_000, 20_000_000, 3_000_000_000].map(rounds_to_base_max);
        assert_eq!(rounds, [30, 30, 117, 600]);
    }
}
