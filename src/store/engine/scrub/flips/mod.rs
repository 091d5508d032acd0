//! Corrects pages in which the memory or the disk flipped a single bit: the stored checksum of a page tells which bit it is.
//! Two or three flipped bits are never taken for one, and other damage in one page of 130,000. Each correction raises an alarm.

use super::Scrub;
use crate::clock::Clock;
use crate::moment::Moment;
use crate::store::Store;
use crate::store::engine::alarm;
use crate::store::engine::checked_file::Handle;
use crate::store::engine::page_checksums::{PAGE_BYTES, PageChecksums, Part};
use std::path::Path;

/// Corrects the pages that were found bad while the database is served. Returns whether one was corrected.
pub(crate) fn correct_served(store: &Store) -> bool {
    let Some(checksums) = PageChecksums::of_open(store.path()) else { return false };
    let bad = checksums.bad();
    if bad.is_empty() {
        return false;
    }
    let Ok(Scrub { conn, .. }) = Scrub::of(store) else { return false };
    let mut page = [0; PAGE_BYTES];
    // After a crash a page in the database may not match its checksum as long as it is in the WAL.
    let pages = bad.into_iter().filter(|(part, _)| *part == Part::Wal || checksums.is_settled());
    let mut flip_back = |(part, index): &(Part, usize)| {
        Handle::of(&conn, *part).is_some_and(|file| {
            file.read(*part, *index, &mut page).is_err() && file.flip_back(*part, *index) == Ok(true)
        })
    };
    let corrected: Vec<_> = pages.filter(&mut flip_back).collect();
    if let [(part, index), ..] = *corrected {
        report(store.path(), &part.named(index), corrected.len());
    }
    !corrected.is_empty()
}

/// Raises the alarm about a number of corrections, and logs it.
fn report(database: &Path, first: &str, count: usize) {
    let what = match count {
        1 => format!("a bit had flipped in {first}, and was flipped back"),
        _ => format!("bits had flipped in {first} and {} more places, and were flipped back", count - 1),
    };
    tracing::error!(cause = what, "damage was corrected: check the memory and the disk");
    alarm::raise(database.parent().unwrap_or(database), alarm::Kind::Corrected, Clock::machine(Moment(0)).now(), &what);
}

#[cfg(test)]
mod tests;
