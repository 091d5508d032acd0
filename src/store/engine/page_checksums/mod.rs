//! A checksum of each page of a database and of its WAL, so that a damaged page is never used. The checksums of the
//! database are kept in a file beside it. Those of the WAL are kept in memory: its frames carry SQLite's own checksums,
//! which are verified when a process opens the WAL.
//!
//! The checksum file is flushed before a WAL restarts. A crash before that leaves pages in the database whose stored
//! checksums are older; each of those pages is still in the WAL, from which it is read, and moved again by the next
//! checkpoint. A page without a checksum is accepted at its first read: in a file of an earlier version, or in one that
//! a backup replaced.

mod table;
#[cfg(test)]
mod tests;

use super::data_dir;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use table::{BLOCK_SUMS, ChecksumTable, ENTRY_BYTES, UNKNOWN};

pub(crate) const PAGE_BYTES: usize = 4096;

/// The file that a page is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Database,
    Wal,
}

impl Part {
    /// A page in words.
    pub(super) fn named(self, index: usize) -> String {
        match self {
            Part::Database => format!("page {} of the file", index + 1),
            Part::Wal => format!("page {} of the write-ahead log", index + 1),
        }
    }
}

/// The page checksums of one database that this process has open.
pub(super) struct PageChecksums {
    path: PathBuf,
    database: Table,
    wal: Table,
    /// The checksum file; `None`: it cannot be opened.
    file: Option<File>,
    /// Locked while checksums are written to the file, so that older ones never overwrite newer ones.
    saving: Mutex<()>,
    /// Pages (from 0) that failed their checksum twice.
    bad: Mutex<BTreeSet<(Part, usize)>>,
    /// Whether the WAL was empty, or was restarted, since the database was opened: then no page of the database is older
    /// than its checksum.
    is_settled: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// Locked while a page is written and its checksum is recorded.
    writing: Mutex<()>,
    table: Mutex<ChecksumTable>,
}

thread_local! {
    /// Whether bad pages are accepted on this thread.
    static ACCEPTS_BAD: Cell<bool> = const { Cell::new(false) };
}

static OPEN: Mutex<BTreeMap<PathBuf, Weak<PageChecksums>>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the database was not written since this program closed it, by its modification time: see
/// [`PageChecksums::release`].
pub(super) fn is_dated(database: &Path) -> bool {
    let date = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified());
    matches!((date(database), date(&data_dir::page_checksums_of(database))), (Ok(one), Ok(other)) if one == other)
}

fn wal_bytes(database: &Path) -> u64 {
    std::fs::metadata(data_dir::beside(database, "-wal")).map_or(0, |wal| wal.len())
}

/// The checksum of a page (CRC-32), never 0.
pub(crate) fn sum(page: &[u8]) -> u32 {
    crc32fast::hash(page).max(1)
}

/// The bit in which two pages with these checksums differ, if they may differ in a single one. Pages that differ in two or
/// three bits never have such checksums; other pages by chance in one case in 130,000.
pub(super) fn flipped_bit(a: u32, b: u32) -> Option<usize> {
    // By CRC-32's linearity one flipped bit changes the checksum in a way that does not depend on the other bits.
    static BITS: LazyLock<HashMap<u32, u16>> = LazyLock::new(|| {
        let mut page = [0; PAGE_BYTES];
        let zeros = crc32fast::hash(&page);
        let difference = |bit: u16| {
            let (at, mask) = place_of(usize::from(bit));
            page[at] = mask;
            let difference = crc32fast::hash(&page) ^ zeros;
            page[at] = 0;
            (difference, bit)
        };
        (0..(PAGE_BYTES * 8) as u16).map(difference).collect()
    });
    BITS.get(&(a ^ b)).map(|bit| usize::from(*bit))
}

/// The byte of a bit, and the bit's mask there.
pub(super) fn place_of(bit: usize) -> (usize, u8) {
    (bit / 8, 1 << (bit % 8))
}

/// Opens the checksum file, or makes it, and reads it. One that cannot be written, such as a copy that root made, is replaced.
/// Without a file on a read-only file system, where the database cannot change either.
fn open(path: &Path) -> io::Result<(Option<File>, Vec<u8>)> {
    let create = || {
        crate::files::open_with(File::options().read(true).write(true).create(true).truncate(false).mode(0o600), path)
    };
    let known = crate::files::read(path).unwrap_or_default();
    match create() {
        Ok(file) => Ok((Some(file), known)),
        Err(e) if e.kind() == io::ErrorKind::ReadOnlyFilesystem => Ok((None, known)),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            std::fs::remove_file(path).map_err(|_| e)?;
            let file = create()?;
            file.write_all_at(&known, 0)?;
            Ok((Some(file), known))
        }
        Err(e) => Err(e),
    }
}

impl PageChecksums {
    /// The checksums of a database with that many pages, by the path that SQLite uses.
    pub(super) fn of(database: &Path, pages: usize) -> Arc<PageChecksums> {
        let mut open = lock(&OPEN);
        if let Some(checksums) = open.get(database).and_then(Weak::upgrade) {
            return checksums;
        }
        open.retain(|_, checksums| checksums.strong_count() > 0);
        let checksums = Arc::new(PageChecksums::load(database, pages));
        open.insert(database.to_owned(), Arc::downgrade(&checksums));
        checksums
    }

    /// The checksums of a database that this process has open.
    pub(super) fn of_open(database: &Path) -> Option<Arc<PageChecksums>> {
        let database = database.canonicalize().ok()?;
        lock(&OPEN).get(&database).and_then(Weak::upgrade)
    }

    /// Releases what [`PageChecksums::of`] returned. The last release saves all checksums to the file before the
    /// database can be opened again, and gives the file the database's modification time where every page is known to
    /// match.
    pub(super) fn release(this: Arc<PageChecksums>) {
        let _open = lock(&OPEN);
        if let Some(checksums) = Arc::into_inner(this) {
            let agrees = checksums.is_settled() && lock(&checksums.bad).is_empty();
            _ = checksums.write_changed().and_then(|()| if agrees { checksums.date() } else { Ok(()) });
        }
    }

    fn load(database: &Path, pages: usize) -> PageChecksums {
        let path = data_dir::page_checksums_of(database);
        let (file, bytes) = open(&path).unwrap_or_else(|e| {
            tracing::warn!(cause = %e, path = %path.display(), "the page checksums are not kept");
            (None, Vec::new())
        });
        let entries = bytes.chunks_exact(ENTRY_BYTES).map(|entry| {
            let half = |at: usize| u32::from_be_bytes(entry[at..at + 4].try_into().expect("four bytes"));
            // A damaged entry counts as unknown.
            if half(0) == !half(4) { half(0) } else { UNKNOWN }
        });
        let table = ChecksumTable {
            checksums: entries.take(pages).collect(),
            changed: BTreeSet::new(),
            is_cut: bytes.len() > pages * ENTRY_BYTES,
        };
        PageChecksums {
            path: database.to_owned(),
            database: Table { writing: Mutex::default(), table: Mutex::new(table) },
            wal: Table::default(),
            file,
            saving: Mutex::default(),
            bad: Mutex::default(),
            is_settled: AtomicBool::new(wal_bytes(database) == 0),
        }
    }

    fn table(&self, part: Part) -> &Table {
        match part {
            Part::Database => &self.database,
            Part::Wal => &self.wal,
        }
    }

    /// The lock for writing a page and recording its checksum, and for a read that must not overlap with that.
    pub(super) fn lock_writes(&self, part: Part) -> MutexGuard<'_, ()> {
        lock(&self.table(part).writing)
    }

    /// Whether a page matches its checksum. The checksum of a page without one is recorded.
    pub(super) fn agrees(&self, part: Part, index: usize, page: &[u8]) -> bool {
        let found = sum(page);
        let mut table = lock(&self.table(part).table);
        match table.checksums.get(index).copied().unwrap_or(UNKNOWN) {
            UNKNOWN => table.set(index, found),
            known => return known == found,
        }
        true
    }

    /// Records the checksum of a page that was written; `None`: the page was written in part.
    pub(super) fn note(&self, part: Part, index: usize, page: Option<&[u8]>) {
        lock(&self.table(part).table).set(index, page.map_or(UNKNOWN, sum));
        self.note_good(part, index);
    }

    /// Accepts a page of the database with this checksum.
    pub(super) fn accept(&self, index: usize, sum: u32) {
        lock(&self.database.table).set(index, sum);
    }

    /// Forgets all pages from `pages` on, after the file was truncated.
    pub(super) fn cut(&self, part: Part, pages: usize) {
        let mut table = lock(&self.table(part).table);
        if table.checksums.len() > pages {
            table.checksums.truncate(pages);
            table.is_cut = true;
        }
        drop(table);
        lock(&self.bad).retain(|(of, index)| *of != part || *index < pages);
        if part == Part::Wal && pages == 0 {
            self.is_settled.store(true, Ordering::Release);
        }
    }

    pub(super) fn count(&self, part: Part) -> usize {
        lock(&self.table(part).table).checksums.len()
    }

    pub(super) fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Acquire)
    }

    /// The checksum of a page, where it is known.
    pub(super) fn known(&self, part: Part, index: usize) -> Option<u32> {
        lock(&self.table(part).table).checksums.get(index).copied().filter(|sum| *sum != UNKNOWN)
    }

    /// Records that a page failed its checksum twice.
    pub(super) fn note_bad(&self, part: Part, index: usize) {
        lock(&self.bad).insert((part, index));
    }

    pub(super) fn note_good(&self, part: Part, index: usize) {
        lock(&self.bad).remove(&(part, index));
    }

    pub(super) fn bad(&self) -> Vec<(Part, usize)> {
        lock(&self.bad).iter().copied().collect()
    }

    /// Whether a bad page is to be read as it is: see [`accepting_bad`].
    pub(super) fn is_accepted(&self, part: Part, index: usize) -> bool {
        ACCEPTS_BAD.get() && lock(&self.bad).contains(&(part, index))
    }

    /// Saves all checksums of the database to the file, and flushes it.
    pub(super) fn save(&self) -> io::Result<()> {
        self.write_changed()?;
        let flushed = self.file.as_ref().map_or(Ok(()), File::sync_data);
        if flushed.is_err() {
            // Writes since the last flush may be lost, and the kernel reports that once: writes them all again next
            // time.
            lock(&self.database.table).change_all();
        }
        flushed
    }

    /// Gives the checksum file the modification time of its database: see [`is_dated`].
    fn date(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.set_modified(std::fs::metadata(&self.path)?.modified()?)
    }

    fn write_changed(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let _saving = lock(&self.saving);
        let (blocks, cut_to) = lock(&self.database.table).take_changed();
        let written = blocks
            .iter()
            .try_for_each(|(block, bytes)| file.write_all_at(bytes, (block * BLOCK_SUMS * ENTRY_BYTES) as u64));
        let written =
            written.and_then(|()| cut_to.map_or(Ok(()), |checksums| file.set_len((checksums * ENTRY_BYTES) as u64)));
        if written.is_err() {
            let mut table = lock(&self.database.table);
            table.changed.extend(blocks.iter().map(|(block, _)| *block));
            table.is_cut |= cut_to.is_some();
        }
        written
    }
}

/// Runs `work` with bad pages accepted on this thread: to rebuild indexes from their rows, whatever is in the indexes.
pub(super) fn accepting_bad<T>(work: impl FnOnce() -> T) -> T {
    struct Accepting;
    impl Drop for Accepting {
        fn drop(&mut self) {
            ACCEPTS_BAD.set(false);
        }
    }
    ACCEPTS_BAD.set(true);
    let _accepting = Accepting;
    work()
}
