//! The scrub: reads every page of a served database, a few at a time, so that damage by the disk is reported before
//! the page is needed. Also detects changes that another program made while the site was stopped.

use super::checked_file::Handle;
use super::connection::open_checked;
use super::page_checksums::{self, PAGE_BYTES, PageChecksums, Part};
use super::{data_dir, quick_check};
use crate::store::Store;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};
use std::path::Path;

/// The outcome of a step of the scrub.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More pages are left.
    Goes,
    /// All pages were read.
    Passed,
    /// A page cannot be read, or failed its checksum; described in one line.
    Bad(String),
}

/// Walks over the pages of the database and its WAL, in rounds.
pub(crate) struct Scrub {
    conn: Connection,
    /// The index of the next page: first those of the database, then those of the WAL.
    next: usize,
}

impl Scrub {
    pub(crate) fn of(store: &Store) -> rusqlite::Result<Scrub> {
        let conn = store.readers.open_bare()?;
        // The first read opens the WAL, also where it fails.
        _ = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        Ok(Scrub { conn, next: 0 })
    }

    /// Reads at most this number of pages.
    pub(crate) fn step(&mut self, pages: usize) -> Step {
        let Some(database) = Handle::of(&self.conn, Part::Database) else { return Step::Passed };
        let wal = Handle::of(&self.conn, Part::Wal);
        let checksums = database.checksums();
        // After a crash a page in the database may not match its checksum as long as it is in the WAL.
        let database_pages = if checksums.is_settled() { database.pages() } else { 0 };
        let wal_pages = wal.as_ref().map_or(0, |_| checksums.count(Part::Wal));
        let mut page = [0; PAGE_BYTES];
        for _ in 0..pages {
            let (part, index) = match self.next.checked_sub(database_pages) {
                None => (Part::Database, self.next),
                Some(index) if index < wal_pages => (Part::Wal, index),
                Some(_) => {
                    self.next = 0;
                    save(checksums);
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

fn save(checksums: &PageChecksums) {
    _ = checksums.save().inspect_err(|e| tracing::warn!(cause = %e, "the page checksums were not saved"));
}

/// Reads every page of the database file, without its WAL: the number (from 1) and the bytes.
pub(crate) fn read_pages(store: &Store, mut each: impl FnMut(u32, &[u8; PAGE_BYTES])) -> Result<(), String> {
    let conn = Scrub::of(store).map_err(|e| format!("cannot read the file: {e}"))?.conn;
    let database = Handle::of(&conn, Part::Database).ok_or("the file cannot be read page by page")?;
    let mut page = [0; PAGE_BYTES];
    (0..database.pages()).try_for_each(|index| {
        let read = database.read_unchecked(Part::Database, index, &mut page);
        read.map_err(|code| format!("{} cannot be read (SQLite's code {code})", Part::Database.named(index)))?;
        each(index as u32 + 1, &page);
        Ok(())
    })
}

/// Describes the fault of a page; `None`: the page matches its checksum.
fn fault(handle: &Handle, part: Part, index: usize, page: &mut [u8; PAGE_BYTES]) -> Option<String> {
    let named = part.named(index);
    match handle.read(part, index, page) {
        // The file was truncated meanwhile.
        Ok(()) | Err(ffi::SQLITE_IOERR_SHORT_READ) => None,
        Err(ffi::SQLITE_IOERR_DATA) => Some(format!("{named} is not what was written there")),
        Err(code) => Some(format!("{named} cannot be read (SQLite's code {code})")),
    }
}

/// Reads the pages again that were found bad, and describes the first that still is.
pub(super) fn find_bad(store: &Store) -> Option<String> {
    let bad = PageChecksums::of_open(store.path())?.bad();
    if bad.is_empty() {
        return None;
    }
    let conn = Scrub::of(store).ok()?.conn;
    let mut page = [0; PAGE_BYTES];
    bad.into_iter().find_map(|(part, index)| fault(&Handle::of(&conn, part)?, part, index, &mut page))
}

/// Opens a database without reading of it.
fn open_unread(path: &Path) -> rusqlite::Result<Connection> {
    let conn = open_checked(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // The option is set by the C interface: a statement or a pragma would read the first page.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(conn)
}

/// Accepts what changed in a database while this program did not have it open, and returns one line for the operator
/// where the change is suspicious.
///
/// Whether the WAL file exists tells who changed the database. Another SQLite program removes the WAL file that a
/// stopped site leaves: its changes are the owner's, and go to the server's log alone, except for single flipped bits,
/// which may be the disk's. Where the WAL file is still there, flipped bits are the disk's: the pages stay bad. Every
/// other change is reported, such as a database that was replaced by hand. A database with the modification time of
/// its checksum file was not changed.
pub(super) fn take_change(path: &Path) -> rusqlite::Result<Option<String>> {
    let wal_was_left = data_dir::wal_of(path).exists();
    if !data_dir::page_checksums_of(path).exists() || !quick_check::wal_is_empty(path) || page_checksums::is_dated(path)
    {
        return Ok(None);
    }
    let conn = open_unread(path)?;
    let Some(database) = Handle::of(&conn, Part::Database) else { return Ok(None) };
    let checksums = database.checksums();
    let mut page = [0; PAGE_BYTES];
    let mut page_change = |index: usize| change(&database, index, &mut page);
    let changes: Vec<Change> = (0..database.pages()).filter_map(&mut page_change).collect();
    if wal_was_left && is_damage_by_disk(path, &changes) {
        return Ok(None);
    }
    accept(checksums, &changes);
    if !changes.is_empty() {
        tracing::warn!(pages = changes.len(), "the file was changed by another program, and is accepted as it is");
    }
    let suspicious: Vec<usize> =
        changes.iter().filter(|change| change.is_one_bit || wal_was_left).map(|change| change.index + 1).collect();
    Ok(match &*suspicious {
        [] => None,
        [page] => Some(format!("page {page} is not what this program wrote")),
        [page, others @ ..] => Some(format!("page {page} and {} more are not what this program wrote", others.len())),
    })
}

/// Whether the database file, without its WAL, is the complete state in which this program last closed it: not written
/// since, and each page matches its checksum. `conn` has it open.
pub(super) fn is_as_closed(path: &Path, conn: &Connection) -> bool {
    page_checksums::is_dated(path) && Handle::of(conn, Part::Database).is_some_and(|database| is_unchanged(&database))
}

/// Whether each page of the database file, without its WAL, is as this program wrote it last. `false` also where it has no
/// checksums.
pub(super) fn is_as_written(path: &Path) -> rusqlite::Result<bool> {
    if !data_dir::page_checksums_of(path).exists() {
        return Ok(false);
    }
    let conn = open_unread(path)?;
    Ok(Handle::of(&conn, Part::Database).is_some_and(|database| is_unchanged(&database)))
}

fn is_unchanged(database: &Handle) -> bool {
    let mut page = [0; PAGE_BYTES];
    (0..database.pages()).all(|index| change(database, index, &mut page).is_none())
}

fn accept(checksums: &PageChecksums, changes: &[Change]) {
    changes.iter().for_each(|change| checksums.accept(change.index, change.found));
    save(checksums);
}

/// Whether the changes are damage by the disk, and not those of a program or of a file that was put in this one's
/// place: a single bit in each page, or one page without which the database is not sound.
fn is_damage_by_disk(path: &Path, changes: &[Change]) -> bool {
    match changes {
        [] => false,
        bits if bits.iter().all(|change| change.is_one_bit) => true,
        [_] => !quick_check::is_sound_alone(path),
        _ => false,
    }
}

/// The change of a page of the database; `None`: the page matches its checksum, or has none.
fn change(database: &Handle, index: usize, page: &mut [u8; PAGE_BYTES]) -> Option<Change> {
    database.read_unchecked(Part::Database, index, page).ok()?;
    let (known, found) = (database.checksums().known(Part::Database, index)?, page_checksums::sum(page));
    let is_one_bit = page_checksums::flipped_bit(known, found).is_some();
    (known != found).then_some(Change { index, found, is_one_bit })
}

/// A page of the database that does not match its checksum.
struct Change {
    index: usize,
    found: u32,
    is_one_bit: bool,
}

pub(crate) mod flips;
#[cfg(test)]
mod tests;
