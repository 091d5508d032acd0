//! A sum of each page of a database and of its log, so that a page which is not what was written is never taken for what it
//! says. The sums of the database lie in a file beside it, those of the log in memory: its frames carry sums of SQLite's own,
//! which are looked at when a process begins with it.
//!
//! The file of the sums is on the disk before a log is begun anew. A crash before that leaves pages in the database whose
//! sums are older; each of them is in the log, whence it is read and moved once more. A page without a sum is believed the
//! first time it is read: in a file of an earlier version, or one that a backup took the place of.

mod table;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use table::{BLOCK_SUMS, ChecksumTable, ENTRY_BYTES, UNKNOWN};

pub(super) const PAGE_BYTES: usize = 4096;

/// Where a page lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Database,
    Wal,
}

/// The sums of one database that this process has open.
pub(super) struct PageChecksums {
    path: PathBuf,
    database: Table,
    wal: Table,
    kept: Option<File>,
    /// Held while sums go to the file, so that no older ones follow newer ones there.
    keeping: Mutex<()>,
    /// Pages that were read twice and are not what was written, from 0.
    bad: Mutex<BTreeSet<(Part, usize)>>,
    /// Whether the log was begun anew, or was empty, since the database was opened: then no page of the database is older
    /// than its sum.
    is_settled: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// Held while a page is written and its sum is noted.
    writing: Mutex<()>,
    table: Mutex<ChecksumTable>,
}

thread_local! {
    /// Whether pages that are known to be bad are believed on this thread.
    static BELIEVES_BAD: Cell<bool> = const { Cell::new(false) };
}

static OPEN: Mutex<BTreeMap<PathBuf, Weak<PageChecksums>>> = Mutex::new(BTreeMap::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file of a database's sums.
pub(super) fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-sums");
    name.into()
}

/// Whether nobody wrote to the database since whoever had it open last closed it, as far as its date tells.
pub(super) fn is_dated(database: &Path) -> bool {
    let date = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified());
    matches!((date(database), date(&beside(database))), (Ok(one), Ok(other)) if one == other)
}

fn wal_bytes(database: &Path) -> u64 {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(name).map_or(0, |wal| wal.len())
}

/// The sum of what a page holds.
pub(super) fn sum(page: &[u8]) -> u32 {
    crc32fast::hash(page).max(1)
}

/// Whether two pages with these sums may differ in a single bit, which others do once in 130,000 times.
pub(super) fn is_one_bit(a: u32, b: u32) -> bool {
    // The change that one flipped bit makes to the checksum does not depend on the other bits.
    static BITS: LazyLock<HashSet<u32>> = LazyLock::new(|| {
        let mut page = [0; PAGE_BYTES];
        let zeros = crc32fast::hash(&page);
        let difference = |bit: usize| {
            page[bit / 8] = 1 << (bit % 8);
            let difference = crc32fast::hash(&page) ^ zeros;
            page[bit / 8] = 0;
            difference
        };
        (0..PAGE_BYTES * 8).map(difference).collect()
    });
    BITS.contains(&(a ^ b))
}

impl PageChecksums {
    /// Of a database with that many pages, as SQLite names it.
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

    /// Of a database that this process has open.
    pub(super) fn of_open(database: &Path) -> Option<Arc<PageChecksums>> {
        let database = database.canonicalize().ok()?;
        lock(&OPEN).get(&database).and_then(Weak::upgrade)
    }

    /// Lets go of what [`Sums::of`] gave. The last one leaves what it knows in the file, before anybody can open it again.
    pub(super) fn release(this: Arc<PageChecksums>) {
        let _open = lock(&OPEN);
        if let Some(checksums) = Arc::into_inner(this) {
            let agrees = checksums.is_settled() && lock(&checksums.bad).is_empty();
            _ = checksums.write_changed().and_then(|()| if agrees { checksums.date() } else { Ok(()) });
        }
    }

    fn load(database: &Path, pages: usize) -> PageChecksums {
        let path = beside(database);
        let open = |writes| File::options().read(true).write(writes).create(writes).mode(0o600).open(&path);
        let kept = open(true).or_else(|e| if path.exists() { open(false) } else { Err(e) });
        let kept = kept
            .inspect_err(|e| tracing::warn!(cause = %e, path = %path.display(), "the sums of the pages are not kept"))
            .ok();
        let bytes = if kept.is_some() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let entries = bytes.chunks_exact(ENTRY_BYTES).map(|entry| {
            let half = |at: usize| u32::from_be_bytes(entry[at..at + 4].try_into().expect("four bytes"));
            // One that is damaged itself says nothing.
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
            kept,
            keeping: Mutex::default(),
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

    /// To be held while a page is written and noted, and while one is read that may be in the middle of that.
    pub(super) fn hold_writes(&self, part: Part) -> MutexGuard<'_, ()> {
        lock(&self.table(part).writing)
    }

    /// Whether this is the page that was written there last, as far as anybody knows.
    pub(super) fn agrees(&self, part: Part, index: usize, page: &[u8]) -> bool {
        let found = sum(page);
        let mut table = lock(&self.table(part).table);
        match table.checksums.get(index).copied().unwrap_or(UNKNOWN) {
            UNKNOWN => table.set(index, found),
            known => return known == found,
        }
        true
    }

    /// The page that was written there; `None`: something that is no whole page.
    pub(super) fn note(&self, part: Part, index: usize, page: Option<&[u8]>) {
        lock(&self.table(part).table).set(index, page.map_or(UNKNOWN, sum));
        self.note_good(part, index);
    }

    /// A page of the database is taken for what it is.
    pub(super) fn take(&self, index: usize, sum: u32) {
        lock(&self.database.table).set(index, sum);
    }

    /// So many pages are left.
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

    /// The sum of a page of the database, where it is known.
    pub(super) fn known(&self, index: usize) -> Option<u32> {
        lock(&self.database.table).checksums.get(index).copied().filter(|sum| *sum != UNKNOWN)
    }

    /// A page that was read twice and is not what was written.
    pub(super) fn note_bad(&self, part: Part, index: usize) {
        lock(&self.bad).insert((part, index));
    }

    pub(super) fn note_good(&self, part: Part, index: usize) {
        lock(&self.bad).remove(&(part, index));
    }

    pub(super) fn bad(&self) -> Vec<(Part, usize)> {
        lock(&self.bad).iter().copied().collect()
    }

    /// Whether a page that is known to be bad is to be read as it is: see [`believing_bad`].
    pub(super) fn is_believed(&self, part: Part, index: usize) -> bool {
        BELIEVES_BAD.get() && lock(&self.bad).contains(&(part, index))
    }

    /// All that is known of the database is in the file, and on the disk.
    pub(super) fn keep(&self) -> io::Result<()> {
        self.write_changed()?;
        let flushed = self.kept.as_ref().map_or(Ok(()), File::sync_data);
        if flushed.is_err() {
            // Writes since the last flush may be lost, and the system reports that only once.
            lock(&self.database.table).change_all();
        }
        flushed
    }

    /// Gives the file of the sums the date of its database: see [`is_dated`].
    fn date(&self) -> io::Result<()> {
        let Some(file) = &self.kept else { return Ok(()) };
        file.set_modified(std::fs::metadata(&self.path)?.modified()?)
    }

    fn write_changed(&self) -> io::Result<()> {
        let Some(file) = &self.kept else { return Ok(()) };
        let _keeping = lock(&self.keeping);
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

/// While indexes are built anew from their rows on this thread, what the pages that are known to be bad hold does not count.
pub(super) fn believing_bad<T>(work: impl FnOnce() -> T) -> T {
    struct Believing;
    impl Drop for Believing {
        fn drop(&mut self) {
            BELIEVES_BAD.set(false);
        }
    }
    BELIEVES_BAD.set(true);
    let _believing = Believing;
    work()
}
