//! The database: every SQL statement of the product, and the engine that runs them.
//!
//! A [`Store`] is one thread's handle on the database: a read snapshot of its own and the shared [`Writer`].
//! Functions of [`tables`] and [`queries`] take a transaction and never open one, so that they compose.

pub(crate) use crate::store::engine::condition::Condition;
pub(crate) use crate::store::engine::writer::Writer;
pub use crate::store::transaction::{Read, Write};

use crate::domain::audit::ChainKey;
use crate::http::failure::{DiskFault, Failure};
use crate::store::engine::change_feed::ChangeFeed;
use crate::store::engine::connection::{note_wal_pages, open_writer};
use crate::store::engine::outbox_signal::OutboxSignal;
use crate::store::engine::reader::{Reader, Readers};
use crate::store::engine::reserve::Reserve;
use crate::store::engine::statements::WithStatements;
use crate::store::engine::writer::{CommitMode, Group};
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;
use transaction::Conditions;

/// The first version of SQLite that cannot lose a commit when a second connection checkpoints.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// The version of SQLite in this binary.
pub(crate) fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Turns off SQLite's memory statistics, which it keeps under one lock for all threads. To be called before any
/// other use of SQLite.
pub fn configure_sqlite() {
    // SAFETY: called first in `main`, while no other thread runs and SQLite is not initialized.
    unsafe { rusqlite::ffi::sqlite3_config(rusqlite::ffi::SQLITE_CONFIG_MEMSTATUS, 0) };
}

/// One thread's handle on the database.
pub struct Store {
    writer: Arc<Writer>,
    outbox_signal: OutboxSignal,
    readers: Arc<Readers>,
    /// The thread's snapshot: from its first read until it writes or releases it.
    reader: RefCell<Option<Reader>>,
    /// Whether a write returns before it is on the disk; see [`Store::deferring_last_flush`].
    defers_flush: Cell<bool>,
    /// The last write, where it returned before it was on the disk.
    pending_flush: RefCell<Option<PendingFlush>>,
}

/// A write that is not on the disk yet. It must not be acknowledged before [`Store::flush`].
#[must_use]
#[derive(Clone)]
pub(crate) struct PendingFlush(Arc<Group>);

impl Store {
    /// Opens the database for writing. The caller has the lock of its
    /// [data directory](crate::store::engine::data_dir::DataDir).
    pub(crate) fn open(path: &Path, grouped: bool) -> Result<Store, String> {
        check_version(rusqlite::version_number())?;
        let opened = open_writer(path).and_then(|mut conn| conn.wal_hook(Some(note_wal_pages)).map(|()| conn));
        let conn = opened.map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        Ok(Store::over(conn, grouped, Readers::of(path), Condition::Healthy))
    }

    /// Opens a database on a read-only file system; every write is refused. The error is one line.
    pub(crate) fn open_read_only(path: &Path) -> Result<Store, String> {
        check_version(rusqlite::version_number())?;
        let readers = Readers::of_read_only(path)?;
        let conn = readers.open().map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        Ok(Store::over(conn, true, readers, Condition::ReadOnly))
    }

    fn over(conn: Connection, grouped: bool, readers: Readers, condition: Condition) -> Store {
        let readers = Arc::new(readers);
        let writer = Arc::new(Writer::new(conn, grouped, readers.clone(), condition));
        Store::of(writer, OutboxSignal::default(), readers)
    }

    fn of(writer: Arc<Writer>, outbox_signal: OutboxSignal, readers: Arc<Readers>) -> Store {
        Store {
            writer,
            outbox_signal,
            readers,
            reader: RefCell::default(),
            defers_flush: Cell::new(false),
            pending_flush: RefCell::default(),
        }
    }

    /// Sets the emergency reserve, which is released when the disk is full.
    pub fn set_reserve(&self, reserve: Reserve) {
        self.writer.monitor.set_reserve(reserve);
    }

    /// Restores the emergency reserve where the disk has room for it, and then allows writes again. To be called
    /// periodically.
    pub(crate) fn check_free_space(&self) {
        self.writer.monitor.check_free_space();
    }

    /// Marks the database as damaged: every write is refused from now on.
    pub(crate) fn mark_damaged(&self, cause: &dyn std::fmt::Display) {
        self.writer.monitor.mark_damaged(cause);
    }

    /// Moves all pages of the WAL into the database file, and truncates the WAL.
    pub(crate) fn truncate_wal(&self) -> rusqlite::Result<()> {
        self.writer.capture.allow_checkpoints("the write-ahead log is emptied");
        crate::store::engine::wal_mark::clear(self.path());
        let emptied = self.writer.exclusive(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        emptied.inspect_err(|e| self.writer.monitor.note_fault(DiskFault::of(e), e))
    }

    /// Commits without a flush from now on. The power cut tests use this as a control: they must find a loss. Not in
    /// release builds.
    #[cfg(debug_assertions)]
    pub(crate) fn flush_seldom(&self) -> rusqlite::Result<()> {
        self.writer.exclusive(|conn| conn.pragma_update(None, "synchronous", "normal"))
    }

    /// A handle on the same database for another thread.
    pub fn for_another_thread(&self) -> Store {
        Store::of(self.writer.clone(), self.outbox_signal.clone(), self.readers.clone())
    }

    /// Sets the key of the audit log's hashes for all threads. Only the first call has an effect.
    pub(crate) fn set_chain_key(&self, key: Option<&ChainKey>) {
        _ = key.map(|key| self.writer.chain_key.set(key.clone()));
    }

    /// The key of the audit log's hashes; `None`: its rows carry hashes without a key.
    pub(crate) fn chain_key(&self) -> Option<&ChainKey> {
        self.writer.chain_key.get()
    }

    /// The one writer.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// The writer, for a thread without a store of its own.
    pub(crate) fn shared_writer(&self) -> Arc<Writer> {
        self.writer.clone()
    }

    /// The feed that counts the commits that changed what the desk's pages show.
    pub(crate) fn change_feed(&self) -> Arc<ChangeFeed> {
        self.writer.change_feed.clone()
    }

    /// The signal that messages wait in the outbox.
    pub(crate) fn outbox_signal(&self) -> &OutboxSignal {
        &self.outbox_signal
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        self.readers.path()
    }

    /// Runs `question` on this thread's snapshot. All reads share one snapshot until the thread writes or releases it,
    /// so that one request sees one state.
    #[track_caller]
    pub fn read<T>(&self, question: impl FnOnce(&Read) -> Result<T, Failure>) -> Result<T, Failure> {
        crate::store::engine::write_scope::forbid("a read by another connection");
        let none = self.reader.borrow().is_none();
        if none {
            self.flush_last()?;
            self.reader.replace(Some(self.readers.take()?));
        }
        let reader = self.reader.borrow();
        let answer = question(&Read::of(reader.as_ref().expect("it was taken").conn()));
        answer.inspect_err(|failure| {
            if failure.disk_fault() == Some(DiskFault::Unreadable) {
                reader.as_ref().expect("it was taken").distrust();
            }
            self.note_failure(failure);
        })
    }

    /// Runs `change` as one transaction at the moment `now`, and returns when it is on the disk. Transactions of
    /// several threads share a flush. An error rolls the change back. Other writers wait while `change` runs, so it
    /// must read by its own transaction, and neither render nor hash.
    #[track_caller]
    pub fn write<T>(&self, now: i64, change: impl FnOnce(&Write) -> Result<T, Failure>) -> Result<T, Failure> {
        self.write_by(if self.defers_flush.get() { CommitMode::Deferred } else { CommitMode::Grouped }, now, change)
    }

    #[track_caller]
    fn write_by<T>(
        &self,
        mode: CommitMode,
        now: i64,
        change: impl FnOnce(&Write) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        crate::store::engine::write_scope::forbid("another write");
        self.release();
        self.flush_last()?;
        let mut queued = false;
        let in_transaction = |conn: &WithStatements| {
            let tx = Write { read: Read::of(conn), now, chain_key: self.chain_key(), queued: Cell::new(false) };
            let value = change(&tx)?;
            queued = tx.queued.get();
            Ok(value)
        };
        // The snapshot is released before the wait for the flush: the next writer in the queue may need that
        // connection, and it is the one that flushes.
        let written = self.writer.write(now, mode, in_transaction, || self.release());
        let (value, group) = written.inspect_err(|_| self.check_if_due())?;
        if mode != CommitMode::Deferred {
            self.writer.wait(&group).inspect_err(|_| self.check_if_due())?;
        } else if queued {
            // The sender must find the message committed when it is woken.
            self.flush(&PendingFlush(group))?;
        } else {
            self.pending_flush.replace(Some(PendingFlush(group)));
        }
        if queued {
            self.outbox_signal.notify();
        }
        Ok(value)
    }

    /// Runs an operation without waiting for the flush of its last write: the caller flushes that write later by
    /// [`Store::flush`]. Reads and writes of the operation after a write still wait for that write.
    pub(crate) fn deferring_last_flush<T>(&self, operation: impl FnOnce() -> T) -> (T, Option<PendingFlush>) {
        self.defers_flush.set(true);
        let value = operation();
        self.defers_flush.set(false);
        (value, self.pending_flush.take())
    }

    /// Returns once a write is on the disk. After an error the write is lost.
    pub(crate) fn flush(&self, pending_flush: &PendingFlush) -> Result<(), Failure> {
        self.writer.flush(&pending_flush.0).inspect_err(|_| self.check_if_due())
    }

    /// Flushes the last write, if it is pending. A write that failed stays pending, so that every later call of the
    /// operation fails too.
    fn flush_last(&self) -> Result<(), Failure> {
        let pending_flush = self.pending_flush.borrow().clone();
        if let Some(pending_flush) = pending_flush {
            self.flush(&pending_flush)?;
            self.pending_flush.take();
        }
        Ok(())
    }

    fn note_failure(&self, failure: &Failure) {
        self.writer.monitor.note_failure(failure);
        self.check_if_due();
    }

    /// Starts a check of the whole database on a thread of its own, where a bad page was read.
    fn check_if_due(&self) {
        if self.writer.monitor.take_check_due() {
            let store = self.for_another_thread();
            let looking = std::thread::Builder::new()
                .name("look".to_owned())
                .spawn(move || crate::store::engine::integrity::recheck(&store));
            if let Err(cause) = looking {
                self.writer.monitor.mark_damaged(&cause);
            }
        }
    }

    /// Like [`Store::write`], for very many rows, with a page cache that holds all that is changed: with a small one
    /// each page of an index is written to the disk again and again. All other writers wait meanwhile.
    pub(crate) fn write_many<T>(
        &self,
        now: i64,
        change: impl FnOnce(&Write) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.write_by(CommitMode::StartsGroup, now, |tx| {
            let resize = |kib: i64| tx.conn.pragma_update(None, "cache_size", -kib);
            resize(crate::store::engine::connection::MANY_CACHE_KIB)?;
            let outcome = change(tx);
            resize(crate::store::engine::connection::WRITER_CACHE_KIB)?;
            outcome
        })
    }

    /// Whether this thread reads from a snapshot, which keeps the WAL from being truncated.
    #[cfg(test)]
    pub(crate) fn has_snapshot(&self) -> bool {
        self.reader.borrow().is_some()
    }

    /// Ends the snapshot and returns its connection to the pool.
    pub fn release(&self) {
        if let Some(reader) = self.reader.take() {
            self.readers.put_back(reader);
        }
    }
}

/// A thread that ends, also by a panic, returns its connection to the pool.
impl Drop for Store {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether an insert or update failed because another row has that key.
pub(crate) fn is_taken(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    let code = error.sqlite_error().map(|e| e.extended_code);
    matches!(code, Some(SQLITE_CONSTRAINT_UNIQUE | SQLITE_CONSTRAINT_PRIMARYKEY))
}

fn check_version(version: i32) -> Result<(), String> {
    if version >= SQLITE_VERSION_MIN {
        return Ok(());
    }
    Err(format!(
        "this binary carries SQLite {version}, which can lose a commit; it needs {SQLITE_VERSION_MIN} or later: install a sound build"
    ))
}

#[macro_use]
pub mod engine;

#[macro_use]
pub mod personal;
pub mod queries;
pub mod tables;
#[cfg(test)]
mod tests;
mod transaction;
