//! Corrects pages in which the memory or the disk flipped a single bit: the stored checksum of a page tells which bit it is.
//! Two or three flipped bits are never taken for one, and other damage in one page of 130,000. Each correction raises an alarm.

use super::{Change, Scrub, change, open_unread, page_checksums, wal_mark, wal_match};
use crate::clock::Clock;
use crate::store::Store;
use crate::store::engine::alarm;
use crate::store::engine::checked_file::Handle;
use crate::store::engine::page_checksums::{PAGE_BYTES, PageChecksums, Part};
use std::path::Path;

/// Corrects the database that a stopped process left, if each page that is not as it was written has one flipped bit. Returns
/// whether it was corrected.
///
/// The checksums must be those of the pages: not so where the WAL was lost, and for pages that are in the WAL.
pub(in crate::store::engine) fn correct_closed(path: &Path) -> rusqlite::Result<bool> {
    let is_as_left = page_checksums::beside(path).exists() && wal_match::wal_of(path).exists();
    if !is_as_left || wal_mark::find_loss(path).is_some() {
        return Ok(false);
    }
    let conn = open_unread(path)?;
    let Some(database) = Handle::of(&conn, Part::Database) else { return Ok(false) };
    let (in_wal, mut page) = (wal_mark::pages_in_wal(path), [0; PAGE_BYTES]);
    let pages = (0..database.pages()).filter(|index| !in_wal.contains(index));
    let changes: Vec<Change> = pages.filter_map(|index| change(&database, index, &mut page)).collect();
    let is_corrected = !changes.is_empty()
        && changes.iter().all(|change| change.is_one_bit)
        && changes.iter().all(|change| database.flip_back(Part::Database, change.index) == Ok(true));
    if is_corrected {
        report(path, &named(Part::Database, changes[0].index), changes.len());
    }
    Ok(is_corrected)
}

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
        report(store.path(), &named(part, index), corrected.len());
    }
    !corrected.is_empty()
}

/// A page in words.
pub(super) fn named(part: Part, index: usize) -> String {
    match part {
        Part::Database => format!("page {} of the file", index + 1),
        Part::Wal => format!("page {} of the write-ahead log", index + 1),
    }
}

/// Raises the alarm about a number of corrections, and logs it.
pub(in crate::store::engine) fn report(database: &Path, first: &str, count: usize) {
    let what = match count {
        1 => format!("a bit had flipped in {first}, and was flipped back"),
        _ => format!("bits had flipped in {first} and {} more places, and were flipped back", count - 1),
    };
    tracing::error!(cause = what, "damage was corrected: check the memory and the disk");
    alarm::raise(database.parent().unwrap_or(database), alarm::Kind::Corrected, Clock::machine(0).now(), &what);
}

#[cfg(test)]
mod tests;
