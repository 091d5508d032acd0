//! Every statement of the product, one file a table, and the way they run.
//!
//! A [`Store`] is one thread's way to the file: its own read connection, and the door to the one [`writer`].
//! Store functions take the transaction and never open one, so they compose.

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

/// The first SQLite that cannot lose a commit when a second connection checkpoints.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// The SQLite that this binary carries.
pub(crate) fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Has SQLite not count its memory, which it does under one lock for all threads. Only before its first use.
pub fn configure_sqlite() {
    // SAFETY: called first thing, while no other thread runs and nothing of SQLite was used.
    unsafe { rusqlite::ffi::sqlite3_config(rusqlite::ffi::SQLITE_CONFIG_MEMSTATUS, 0) };
}

/// One thread's way to the file.
pub struct Store {
    writer: Arc<Writer>,
    outbox_signal: OutboxSignal,
    readers: Arc<Readers>,
    /// The thread's snapshot: from its first read until it writes or rests.
    reader: RefCell<Option<Reader>>,
    /// Whether a write returns before it is on the disk; see [`Store::deferring_last_flush`].
    defers_flush: Cell<bool>,
    /// The write that did.
    pending_flush: RefCell<Option<PendingFlush>>,
}

/// A write that is not on the disk yet: nobody may be told of it before [`Store::flush`].
#[must_use]
#[derive(Clone)]
pub(crate) struct PendingFlush(Arc<Group>);

impl Store {
    /// Opens the file's writer. The caller holds the directory ([`crate::store::engine::data_dir::DataDir`]).
    pub(crate) fn open(path: &Path, grouped: bool) -> Result<Store, String> {
        check_version(rusqlite::version_number())?;
        let opened = open_writer(path).and_then(|mut conn| conn.wal_hook(Some(note_wal_pages)).map(|()| conn));
        let conn = opened.map_err(|e| format!("cannot open {}: {e}", path.display()))?;
        Ok(Store::over(conn, grouped, Readers::of(path), Condition::Healthy))
    }

    /// Opens a file on a file system that takes no writes, as it is; every write is refused. The error is one line.
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

    /// Keeps a ballast from now on, to be given up when the disk is full.
    pub fn set_reserve(&self, reserve: Reserve) {
        self.writer.monitor.set_reserve(reserve);
    }

    /// Makes the ballast again where there is room for it; then writes go on. To be called every now and then.
    pub(crate) fn check_free_space(&self) {
        self.writer.monitor.check_free_space();
    }

    /// The file was found damaged: nothing is written any more.
    pub(crate) fn mark_damaged(&self, cause: &dyn std::fmt::Display) {
        self.writer.monitor.mark_damaged(cause);
    }

    /// Moves all pages of the write-ahead log into the file.
    pub(crate) fn truncate_wal(&self) -> rusqlite::Result<()> {
        self.writer.capture.allow_checkpoints("the write-ahead log is emptied");
        crate::store::engine::wal_mark::begin_to_empty(self.path());
        let emptied = self.writer.exclusive(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        emptied.inspect_err(|e| self.writer.monitor.note_fault(DiskFault::of(e), e))
    }

    /// Commits without a flush, as others do: for the power cuts that must lose something, so that the others show
    /// something. Not in a product.
    #[cfg(debug_assertions)]
    pub(crate) fn flush_seldom(&self) -> rusqlite::Result<()> {
        self.writer.exclusive(|conn| conn.pragma_update(None, "synchronous", "normal"))
    }

    /// The same file for another thread.
    pub fn for_another_thread(&self) -> Store {
        Store::of(self.writer.clone(), self.outbox_signal.clone(), self.readers.clone())
    }

    /// Adds to the audit log under this key from now on, for all threads. Only the first one counts.
    pub(crate) fn set_chain_key(&self, key: Option<&ChainKey>) {
        _ = key.map(|key| self.writer.chain_key.set(key.clone()));
    }

    /// The audit log's key; `None`: its rows carry plain hashes.
    pub(crate) fn chain_key(&self) -> Option<&ChainKey> {
        self.writer.chain_key.get()
    }

    /// The one writer.
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// The commits that changed what the desk watches.
    pub(crate) fn change_feed(&self) -> Arc<ChangeFeed> {
        self.writer.change_feed.clone()
    }

    /// Rings when messages wait for sending.
    pub(crate) fn outbox_signal(&self) -> &OutboxSignal {
        &self.outbox_signal
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        self.readers.path()
    }

    /// Runs `question` on this thread's snapshot of the file. Reads share one snapshot until the thread writes or rests,
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

    /// Runs `change` as one transaction at the moment `now`, together with those of other threads, and returns when it
    /// is on the disk. An error leaves nothing of it. Other writers wait while `change` runs, so it reads by its own
    /// transaction alone, and neither renders nor hashes.
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
        // A caller that waits for the flush gives its snapshot back: the next in line may need that connection to get
        // there.
        let written = self.writer.write(now, mode, in_transaction, || self.release());
        let (value, group) = written.inspect_err(|_| self.check_if_due())?;
        if mode != CommitMode::Deferred {
            self.writer.wait(&group).inspect_err(|_| self.check_if_due())?;
        } else if queued {
            // Whoever sends messages looks for what is committed.
            self.flush(&PendingFlush(group))?;
        } else {
            self.pending_flush.replace(Some(PendingFlush(group)));
        }
        if queued {
            self.outbox_signal.notify();
        }
        Ok(value)
    }

    /// Runs an operation that need not wait for its last write to be on the disk, because its caller will
    /// ([`Store::flush`]). What the operation reads or writes after a write waits for that write, as ever.
    pub(crate) fn deferring_last_flush<T>(&self, operation: impl FnOnce() -> T) -> (T, Option<PendingFlush>) {
        self.defers_flush.set(true);
        let value = operation();
        self.defers_flush.set(false);
        (value, self.pending_flush.take())
    }

    /// Returns once a write is on the disk. An error: nothing of it is kept.
    pub(crate) fn flush(&self, pending_flush: &PendingFlush) -> Result<(), Failure> {
        self.writer.flush(&pending_flush.0).inspect_err(|_| self.check_if_due())
    }

    /// A write that failed stays, so that the operation cannot be told as done.
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

    /// Has the file looked through, on a thread of its own, where a page could not be read as it must be.
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

    /// The same for very many rows. Everybody who writes waits meanwhile, so it has a cache that holds what it changes:
    /// otherwise each page of an index goes to the disk again and again.
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

    /// Lets go of the snapshot.
    pub fn release(&self) {
        if let Some(reader) = self.reader.take() {
            self.readers.put_back(reader);
        }
    }
}

/// A thread that ends gives its snapshot back, however it ends: the connections are few.
impl Drop for Store {
    fn drop(&mut self) {
        self.release();
    }
}

/// Whether an insert or update failed because a row with that key is there already.
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

pub mod queries;
pub mod tables;
#[cfg(test)]
mod tests;
mod transaction;
