//! The database: every SQL statement of the product, and the engine that runs them.
//!
//! A [`Store`] is one thread's handle on the database: a read snapshot of its own and the shared [`Writer`].
//! Functions of [`tables`] and [`queries`] take a transaction and never open one, so that they compose.
//!
//! What keeps data through faults (pages, log, checks, captures) lies in `engine`, which only the copies of `ops` use
//! directly. Everybody else uses what stands here: [`Store`] with its transactions, the [data directory](data_dir),
//! [alarms](alarm), the checks of the file, and how a database is made and brought up to date.

pub(crate) use crate::store::copy_check::CheckSpeed;
pub(crate) use crate::store::engine::change_feed::ChangeFeed;
pub(crate) use crate::store::engine::condition::Condition;
#[cfg(debug_assertions)]
pub use crate::store::engine::prepared;
pub(crate) use crate::store::engine::rewrite::rewrite;
pub(crate) use crate::store::engine::writer::{PendingWrite, Writer};
pub use crate::store::engine::{alarm, data_dir};
pub(crate) use crate::store::engine::{hot_journal, integrity, migrate, reserve, scrub, write_scope};
pub use crate::store::transaction::{Read, Write};

use crate::domain::audit::ChainKey;
use crate::http::failure::{DiskFault, Failure, Stop};
use crate::moment::Moment;
use crate::store::db_error::disk_fault;
use crate::store::engine::change_feed::Watched;
use crate::store::engine::connection::{note_wal_pages, open_writer};
use crate::store::engine::outbox_signal::OutboxSignal;
use crate::store::engine::reader::{Reader, Readers};
use crate::store::engine::reserve::Reserve;
use crate::store::engine::statements::WithStatements;
use crate::store::engine::writer::Terms;
use crate::store::personal::Seen;
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
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
    /// Whether a write returns before it is on the disk; see [`Store::defer_waits`].
    defers: bool,
    /// How many writes this handle has made.
    writes: Cell<u64>,
    /// The last write, where it returned before it was on the disk.
    pending: RefCell<Option<PendingWrite>>,
}

impl Store {
    /// Opens the database for writing. The caller has the lock of its
    /// [data directory](crate::store::engine::data_dir::DataDir).
    pub(crate) fn open(path: &Path) -> Result<Store, String> {
        check_version(rusqlite::version_number())?;
        let opened = open_writer(path).and_then(|mut conn| conn.wal_hook(Some(note_wal_pages)).map(|()| conn));
        let conn = opened.map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        Ok(Store::over(conn, Readers::of(path), Condition::Healthy))
    }

    /// Opens a database on a read-only file system; every write is refused. The error is one line.
    pub(crate) fn open_read_only(path: &Path) -> Result<Store, String> {
        check_version(rusqlite::version_number())?;
        let readers = Readers::of_read_only(path)?;
        let conn = readers.open().map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        Ok(Store::over(conn, readers, Condition::ReadOnly))
    }

    fn over(conn: Connection, readers: Readers, condition: Condition) -> Store {
        let readers = Arc::new(readers);
        let watched =
            Watched { pages: tables::seen(Seen::OnPages), reports: tables::seen(Seen::InReports), events: "events" };
        let writer = Arc::new(Writer::new(conn, readers.clone(), condition, watched));
        Store::of(writer, OutboxSignal::default(), readers)
    }

    fn of(writer: Arc<Writer>, outbox_signal: OutboxSignal, readers: Arc<Readers>) -> Store {
        Store {
            writer,
            outbox_signal,
            readers,
            reader: RefCell::default(),
            defers: false,
            writes: Cell::default(),
            pending: RefCell::default(),
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
        emptied.inspect_err(|e| self.writer.monitor.note_fault(disk_fault(e), e))
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
            self.settle()?;
            self.reader.replace(Some(self.readers.take()?));
        }
        let reader = self.reader.borrow();
        let answer = question(&Read::of(reader.as_ref().expect("it was taken").conn(), self.chain_key()));
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
    pub fn write<T>(&self, now: Moment, change: impl FnOnce(&Write) -> Result<T, Failure>) -> Result<T, Failure> {
        self.try_write(now, |tx| change(tx).map_err(Stop::Failed)).map_err(failure)
    }

    /// As [`Store::write`], for a change that may be denied: a denial takes back what was written before it.
    #[track_caller]
    pub(crate) fn try_write<T, D>(
        &self,
        now: Moment,
        change: impl FnOnce(&Write) -> Result<T, Stop<D>>,
    ) -> Result<T, Stop<D>> {
        self.change(Terms { alone: false, defers: self.defers }, now, change)
    }

    #[track_caller]
    fn change<T, D>(
        &self,
        terms: Terms,
        now: Moment,
        change: impl FnOnce(&Write) -> Result<T, Stop<D>>,
    ) -> Result<T, Stop<D>> {
        crate::store::engine::write_scope::forbid("another write");
        self.release();
        self.settle()?;
        let mut queued = false;
        let in_transaction = |conn: &WithStatements| {
            let tx = Write { read: Read::of(conn, self.chain_key()), now, queued: Cell::new(false) };
            let value = change(&tx)?;
            queued = tx.queued.get();
            Ok(value)
        };
        // The snapshot is released before the wait for the flush: the next writer in the queue may need that
        // connection, and it is the one that flushes.
        let written = self.writer.write(now, terms, in_transaction, || self.release());
        let (value, pending) = written.inspect_err(|_| self.check_if_due())?;
        self.writes.set(self.writes.get() + 1);
        self.pending.replace(Some(pending));
        // The sender must find the message committed when it is woken.
        if queued || !terms.defers {
            self.settle()?;
        }
        if queued {
            self.outbox_signal.notify();
        }
        Ok(value)
    }

    /// Lets every write of this handle return before it is on the disk: the caller takes the last write of each operation
    /// by [`Store::take_pending`] and waits for it. Reads and writes after a write still wait for that write.
    pub(crate) fn defer_waits(&mut self) {
        self.defers = true;
    }

    /// How many writes this handle has made, to see whether an operation made any.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.get()
    }

    /// The last write, where it returned before it was on the disk.
    pub(crate) fn take_pending(&self) -> Option<PendingWrite> {
        self.pending.take()
    }

    /// Returns once a write is on the disk. After an error the write is lost, or its failure says that it may be there.
    pub(crate) fn wait(&self, pending: &mut PendingWrite) -> Result<(), Failure> {
        self.writer.wait(pending).inspect_err(|_| self.check_if_due())
    }

    /// Waits for the last write, if it is pending. In a handle that defers its waits a write that failed stays pending, so
    /// that every later call of the operation fails too.
    fn settle(&self) -> Result<(), Failure> {
        let Some(mut pending) = self.take_pending() else { return Ok(()) };
        self.wait(&mut pending).inspect_err(|_| {
            if self.defers {
                self.pending.replace(Some(pending));
            }
        })
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
        now: Moment,
        change: impl FnOnce(&Write) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let resized = |tx: &Write| {
            let resize = |kib: i64| tx.conn.pragma_update(None, "cache_size", -kib);
            resize(crate::store::engine::connection::MANY_CACHE_KIB)?;
            let outcome = change(tx);
            resize(crate::store::engine::connection::WRITER_CACHE_KIB)?;
            outcome.map_err(Stop::Failed)
        };
        self.change(Terms { alone: true, defers: self.defers }, now, resized).map_err(failure)
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

/// Why a change without denials did not take place.
fn failure(stop: Stop<Infallible>) -> Failure {
    let Stop::Failed(failure) = stop;
    failure
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
pub(crate) mod engine;

pub(crate) mod bulk;
pub(crate) mod clock;
pub(crate) mod copy_check;
pub(crate) mod db_error;
mod joining;
#[macro_use]
pub mod personal;
pub mod personal_columns;
pub mod queries;
pub mod tables;
#[cfg(test)]
mod tests;
mod transaction;
