//! Reading every page of a database that is served, a few at a time, so that one which the disk spoiled is told of before
//! somebody needs it; and what another program changed while nobody served it.

use super::checked_file::Handle;
use super::connection::open_checked;
use super::page_checksums::{self, PAGE_BYTES, PageChecksums, Part};
use super::{wal_mark, wal_match};
use crate::store::Store;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};
use std::path::Path;

/// The outcome of a look at some pages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There are more.
    Goes,
    /// All were read.
    Passed,
    /// A page cannot be read, or is not what was written, in words.
    Bad(String),
}

/// A walk over the database and its log, again and again.
pub(crate) struct Scrub {
    conn: Connection,
    /// Of the next page: those of the database first, then the log's.
    next: usize,
}

impl Scrub {
    pub(crate) fn of(store: &Store) -> rusqlite::Result<Scrub> {
        let conn = store.readers.open_bare()?;
        // The log is opened by the first read, whatever comes of it.
        _ = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        Ok(Scrub { conn, next: 0 })
    }

    /// Reads up to so many pages.
    pub(crate) fn step(&mut self, pages: usize) -> Step {
        let Some(database) = Handle::of(&self.conn, Part::Database) else { return Step::Passed };
        let wal = Handle::of(&self.conn, Part::Wal);
        let checksums = database.checksums();
        // After a crash a page may be older than its sum as long as it is in the log.
        let of_database = if checksums.is_settled() { database.pages() } else { 0 };
        let of_log = wal.as_ref().map_or(0, |_| checksums.count(Part::Wal));
        let mut page = [0; PAGE_BYTES];
        for _ in 0..pages {
            let (part, index) = match self.next.checked_sub(of_database) {
                None => (Part::Database, self.next),
                Some(index) if index < of_log => (Part::Wal, index),
                Some(_) => {
                    self.next = 0;
                    _ = checksums
                        .keep()
                        .inspect_err(|e| tracing::warn!(cause = %e, "the sums of the pages were not kept"));
                    return Step::Passed;
                }
            };
            self.next += 1;
            let handle = if part == Part::Database { Some(&database) } else { wal.as_ref() };
            if let Some(cause) = handle.and_then(|handle| fault(handle, part, index, &mut page)) {
                self.next -= 1;
                return Step::Bad(cause);
            }
        }
        Step::Goes
    }
}

/// Says what is wrong with a page; `None`: it matches its checksum.
fn fault(handle: &Handle, part: Part, index: usize, page: &mut [u8; PAGE_BYTES]) -> Option<String> {
    let named = match part {
        Part::Database => format!("page {} of the file", index + 1),
        Part::Wal => format!("page {} of the write-ahead log", index + 1),
    };
    match handle.read(part, index, page) {
        // The file was cut meanwhile.
        Ok(()) | Err(ffi::SQLITE_IOERR_SHORT_READ) => None,
        Err(ffi::SQLITE_IOERR_DATA) => Some(format!("{named} is not what was written there")),
        Err(code) => Some(format!("{named} cannot be read (SQLite's code {code})")),
    }
}

/// Of the pages that were found bad while the store was read, one that still is, in words.
pub(super) fn find_bad(store: &Store) -> Option<String> {
    let bad = PageChecksums::of_open(store.path())?.bad();
    if bad.is_empty() {
        return None;
    }
    let conn = Scrub::of(store).ok()?.conn;
    let mut page = [0; PAGE_BYTES];
    bad.into_iter().find_map(|(part, index)| fault(&Handle::of(&conn, part)?, part, index, &mut page))
}

/// Says in one line what changed in a database while no process of ours had it open, where the operator should know.
/// All of it is taken as it is from now on, but a single bit in a file that nobody else had open is the disk's doing,
/// and stays bad.
///
/// Another SQLite removes the log that a stopped site leaves, once its pages are in the file. A change by such a
/// program is the owner's business and goes to the server's log alone, though a single changed bit may still be the
/// disk's. Every other difference is told: for example, another file that was put in this one's place by hand. A file
/// with the date of its sums nobody wrote to.
pub(super) fn take_change(path: &Path) -> rusqlite::Result<Option<String>> {
    let log_was_left = wal_match::log_of(path).exists();
    if !page_checksums::beside(path).exists() || !wal_match::wal_is_empty(path) || page_checksums::is_dated(path) {
        return Ok(None);
    }
    let conn = open_checked(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // A statement, or a pragma, would read the first page.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let Some(database) = Handle::of(&conn, Part::Database) else { return Ok(None) };
    let checksums = database.checksums();
    let mut page = [0; PAGE_BYTES];
    let mut page_change = |index: usize| change(&database, index, &mut page);
    let changes: Vec<Change> = (0..database.pages()).filter_map(&mut page_change).collect();
    if log_was_left && is_disk_s(path, &changes) {
        return Ok(None);
    }
    changes.iter().for_each(|change| checksums.take(change.index, change.found));
    _ = checksums.keep().inspect_err(|e| tracing::warn!(cause = %e, "the sums of the pages were not kept"));
    if !changes.is_empty() {
        tracing::warn!(pages = changes.len(), "the file was changed by another program, and is taken as it is");
    }
    let told: Vec<usize> =
        changes.iter().filter(|change| change.is_one_bit || log_was_left).map(|change| change.index + 1).collect();
    Ok(match &*told {
        [] => None,
        [page] => Some(format!("page {page} is not what this program wrote")),
        [page, others @ ..] => Some(format!("page {page} and {} more are not what this program wrote", others.len())),
    })
}

/// The same beside a log with something in it, for a file that cannot be read as it should: a copy of the site, with its log,
/// was put in this one's place by hand. After a crash each page that is not what its sum says is in the log, and a disk
/// spoils a bit; so where other pages than those have changed, all of them are taken as they are.
pub(super) fn take_change_beside_log(path: &Path) -> rusqlite::Result<Option<String>> {
    if !page_checksums::beside(path).exists() || wal_match::wal_is_empty(path) {
        return Ok(None);
    }
    let conn = open_checked(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let Some(database) = Handle::of(&conn, Part::Database) else { return Ok(None) };
    let (checksums, in_log) = (database.checksums(), wal_mark::pages_in_wal(path));
    let mut page = [0; PAGE_BYTES];
    let changes: Vec<Change> = (0..database.pages())
        .filter(|index| !in_log.contains(index))
        .filter_map(|index| change(&database, index, &mut page))
        .collect();
    if changes.is_empty() || is_disk_s(path, &changes) {
        return Ok(None);
    }
    changes.iter().for_each(|change| checksums.take(change.index, change.found));
    _ = checksums.keep().inspect_err(|e| tracing::warn!(cause = %e, "the sums of the pages were not kept"));
    Ok(Some(format!("{} pages of the file are not what this program wrote", changes.len())))
}

/// Whether the disk changed the file rather than somebody who put another in its place: no more than a bit in any page, or
/// one page without which the file is not sound.
fn is_disk_s(path: &Path, changes: &[Change]) -> bool {
    match changes {
        [] => false,
        bits if bits.iter().all(|change| change.is_one_bit) => true,
        [_] => !wal_match::is_whole_alone(path),
        _ => false,
    }
}

/// How a page of the database differs from its sum, where it does.
fn change(database: &Handle, index: usize, page: &mut [u8; PAGE_BYTES]) -> Option<Change> {
    database.read_unchecked(index, page).ok()?;
    let (known, found) = (database.checksums().known(index)?, page_checksums::sum(page));
    (known != found).then_some(Change { index, found, is_one_bit: page_checksums::is_one_bit(known, found) })
}

/// A page of the database that is not what its sum says.
struct Change {
    index: usize,
    found: u32,
    is_one_bit: bool,
}

#[cfg(test)]
mod tests;
