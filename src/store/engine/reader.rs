//! The pool of read connections. All threads share a few: a thread has one from its first read until it releases it,
//! and most threads of a busy server wait for the disk, not for a read. Each connection has the parsed schema, prepared
//! statements and a page cache, so that one per thread would be most of the server's memory.
//!
//! An idle connection keeps its snapshot open while the database does not change: to end and begin a snapshot costs a
//! good part of a short read. Every change ends the idle snapshots, so that a reader sees every acknowledged write, and
//! no idle snapshot pins the WAL.

use super::connection::{open_checked, open_without_index, open_without_wal, prepare_connection};
use super::data_dir;
use super::statements::{Sql, WithStatements};
use crate::files;
use crate::http::failure::Failure;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::cell::Cell;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest read: a longer transaction would pin the WAL.
pub(crate) const READ_TIME_MAX: Duration = Duration::from_secs(2);
/// SQLite's virtual machine steps between two checks of the deadline (about a millisecond).
const STEPS_BETWEEN_LOOKS: i32 = 50_000;
/// The longest wait for a connection.
const WAIT_TIME_MAX: Duration = Duration::from_secs(2);
pub(crate) const CACHE_KIB: i64 = 480;
/// Connections for each core.
const OPEN_PER_CORE: usize = 1;
/// Connections in addition, for the short reads of threads that write afterwards.
const OPEN_BESIDE: usize = 2;

/// The pool of read connections.
pub(crate) struct Readers {
    path: PathBuf,
    source: Source,
    pool: Mutex<Pool>,
    /// Notified when a connection is returned.
    returned: Condvar,
    open_max: usize,
    /// Incremented at the begin and at the end of each change of the database: odd while one is under way.
    generation: AtomicU64,
}

/// How the connections open the database.
#[derive(Clone, Copy)]
enum Source {
    Live,
    /// On a read-only file system, with a WAL that SQLite reads without writing its index.
    ReadOnly,
    /// On a read-only file system without a WAL: SQLite must not look for one, because it could not create its files.
    Immutable,
}

/// The idle connections, and the count of all.
#[derive(Default)]
struct Pool {
    idle: Vec<Reader>,
    open: usize,
    /// Threads that wait for a connection. With none, the condition variable is not notified, which is a system call.
    waiting: usize,
}

/// A change of the database under way; see [`Readers::change`].
pub(crate) struct Change<'r> {
    generation: &'r AtomicU64,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }
}

/// A connection with a snapshot of the database.
pub(crate) struct Reader {
    conn: WithStatements,
    opened: Instant,
    /// The deadline of statements, in milliseconds after `opened`.
    stop_at: Arc<AtomicU64>,
    /// The value of [`Readers::generation`] before the snapshot was begun.
    begun_at: Cell<u64>,
    distrusted: Cell<bool>,
}

impl Readers {
    pub(crate) fn of(path: &Path) -> Readers {
        Readers::from(path, Source::Live)
    }

    /// The pool of a database on a read-only file system. The error is one line.
    pub(crate) fn of_read_only(path: &Path) -> Result<Readers, String> {
        let wal_bytes = std::fs::metadata(data_dir::beside(path, "-wal")).map_or(0, |wal| wal.len());
        // On a disk that is full and not read-only, an index can be created and stays empty.
        let index = data_dir::beside(path, "-shm");
        let made = files::open_with(OpenOptions::new().append(true).create(true), &index);
        match (wal_bytes, made.is_ok() || index.exists()) {
            (0, _) => Ok(Readers::from(path, Source::Immutable)),
            (_, true) => Ok(Readers::from(path, Source::ReadOnly)),
            (_, false) => Err(format!(
                "{} has a write-ahead log without its index, which cannot be read where nothing can be written: make the disk writable",
                path.display()
            )),
        }
    }

    fn from(path: &Path, source: Source) -> Readers {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Readers {
            path: path.to_owned(),
            source,
            pool: Mutex::default(),
            returned: Condvar::new(),
            open_max: cores * OPEN_PER_CORE + OPEN_BESIDE,
            generation: AtomicU64::new(0),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A connection with a snapshot of the present state; 503 where none was returned in time.
    pub(crate) fn take(&self) -> Result<Reader, Failure> {
        let reader = match self.next()? {
            Some(reader) => reader,
            None => self.open().and_then(Reader::over).inspect_err(|_| self.close(&mut self.pool(), 1))?,
        };
        reader.stop_at(Instant::now() + READ_TIME_MAX);
        if reader.conn.is_autocommit() {
            reader.begun_at.set(self.generation.load(Ordering::SeqCst));
            reader.begin().inspect_err(|_| self.close(&mut self.pool(), 1))?;
        }
        Ok(reader)
    }

    #[cfg(test)]
    pub(crate) fn open_max(&self) -> usize {
        self.open_max
    }

    /// Returns a connection to the pool.
    pub(crate) fn put_back(&self, reader: Reader) {
        let mut pool = self.pool();
        // Read under the lock: a change that begins later finds the snapshot among the idle ones.
        let generation = self.generation.load(Ordering::SeqCst);
        let may_stay = generation.is_multiple_of(2) && generation == reader.begun_at.get();
        if !reader.distrusted.get() && (may_stay || reader.ends()) {
            pool.idle.push(reader);
            self.wake(&pool, 1);
        } else {
            self.close(&mut pool, 1);
        }
    }

    /// A new connection that cannot write.
    pub(crate) fn open(&self) -> rusqlite::Result<Connection> {
        let conn = self.open_bare()?;
        prepare_connection(&conn, CACHE_KIB)?;
        conn.pragma_update(None, "query_only", true)?;
        Ok(conn)
    }

    /// A new connection without any statement run, for raw page reads.
    pub(crate) fn open_bare(&self) -> rusqlite::Result<Connection> {
        let conn = match self.source {
            Source::Live => {
                open_checked(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?
            }
            Source::ReadOnly => open_without_index(&self.path)?,
            Source::Immutable => open_without_wal(&self.path)?,
        };
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(conn)
    }

    /// An idle connection; `None`: the caller may open another.
    fn next(&self) -> Result<Option<Reader>, Failure> {
        let mut pool = self.pool();
        let mut until = None;
        loop {
            if let Some(reader) = pool.idle.pop() {
                return Ok(Some(reader));
            }
            if pool.open < self.open_max {
                pool.open += 1;
                return Ok(None);
            }
            let now = Instant::now();
            let left = until.get_or_insert(now + WAIT_TIME_MAX).saturating_duration_since(now);
            if left.is_zero() {
                return Err(Failure::overloaded().because("no connection that reads was given back in time"));
            }
            pool.waiting += 1;
            pool = self.returned.wait_timeout(pool, left).unwrap_or_else(PoisonError::into_inner).0;
            pool.waiting -= 1;
        }
    }

    fn close(&self, pool: &mut Pool, count: usize) {
        pool.open -= count;
        self.wake(pool, count);
    }

    /// Wakes as many waiting threads as there are free connections, or as may be opened.
    fn wake(&self, pool: &Pool, places: usize) {
        (0..places.min(pool.waiting)).for_each(|_| self.returned.notify_one());
    }

    /// Declares a change of the database until the result is dropped: idle snapshots end now, those in use when they
    /// are returned.
    pub(crate) fn change(&self) -> Change<'_> {
        self.generation.fetch_add(1, Ordering::SeqCst);
        let mut pool = self.pool();
        let before = pool.idle.len();
        pool.idle.retain(Reader::ends);
        let closed = before - pool.idle.len();
        self.close(&mut pool, closed);
        Change { generation: &self.generation }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    fn over(mut conn: Connection) -> rusqlite::Result<Reader> {
        let opened = Instant::now();
        let stop_at = Arc::new(AtomicU64::new(u64::MAX));
        let deadline = stop_at.clone();
        let late = move || opened.elapsed().as_millis() as u64 > deadline.load(Ordering::Relaxed);
        conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(late))?;
        Ok(Reader {
            conn: WithStatements::of(conn),
            opened,
            stop_at,
            begun_at: Cell::new(0),
            distrusted: Cell::new(false),
        })
    }

    pub(crate) fn conn(&self) -> &WithStatements {
        &self.conn
    }

    /// Sets the deadline of statements.
    pub(crate) fn stop_at(&self, moment: Instant) {
        let millis = moment.duration_since(self.opened).as_millis() as u64;
        self.stop_at.store(millis, Ordering::Relaxed);
    }

    /// Marks the connection to be closed instead of reused, because its page cache may hold bad pages.
    pub(crate) fn distrust(&self) {
        self.distrusted.set(true);
    }

    fn begin(&self) -> rusqlite::Result<()> {
        static BEGIN: Sql = Sql::new("BEGIN");
        self.conn.run(&BEGIN, []).map(drop)
    }

    /// Ends the snapshot. Returns false where that failed: then the connection must be closed.
    fn ends(&self) -> bool {
        static COMMIT: Sql = Sql::new("COMMIT");
        let outcome = if self.conn.is_autocommit() { Ok(0) } else { self.conn.run(&COMMIT, []) };
        outcome.inspect_err(|e| tracing::warn!(cause = %e, "a read transaction did not end")).is_ok()
    }
}
