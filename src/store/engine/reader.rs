//! The connections that read. All threads share a few: each holds one from its first question until it rests, and most
//! threads of a busy server wait for the disk, not in the middle of a read. A connection has the whole schema, its
//! statements and a cache of its own, so one for each thread would be most of the server's memory.
//!
//! A connection keeps its snapshot for whoever takes it next, for as long as the file does not change: to end one and begin
//! the same again costs a good part of a brief read. No snapshot is kept over a change, so that whoever takes one sees
//! every write that was acknowledged, and none pins the write-ahead log.

use super::connection::{open_checked, open_without_index, open_without_wal, prepare_connection};
use super::statements::{Sql, WithStatements};
use crate::http::failure::Failure;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A read transaction over this would pin the write-ahead log.
pub(crate) const READ_TIME_MAX: Duration = Duration::from_secs(2);
/// How often a running statement looks at the time, in SQLite's own steps (about a millisecond).
const STEPS_BETWEEN_LOOKS: i32 = 50_000;
/// A read that waited so long for a connection is refused.
const WAIT_TIME_MAX: Duration = Duration::from_secs(2);
pub(crate) const CACHE_KIB: i64 = 480;
/// So many read at once for each core, and some for writers' short looks; others wait for one of them, no longer than a
/// read may take. Each is some memory.
const OPEN_PER_CORE: usize = 1;
const OPEN_BESIDE: usize = 2;

/// All connections that read.
pub(crate) struct Readers {
    path: PathBuf,
    source: Source,
    pool: Mutex<Pool>,
    /// Rings when one is given back.
    returned: Condvar,
    open_max: usize,
    /// One more when the file begins to change, and one more when that is done: odd meanwhile.
    generation: AtomicU64,
}

/// How the file is opened.
#[derive(Clone, Copy)]
enum Source {
    Live,
    /// Where nothing can be written, with a write-ahead log that SQLite reads without writing its index.
    ReadOnly,
    /// The same without a log: SQLite must not look for one, since it could not make its files.
    Immutable,
}

/// The connections that nobody holds, and how many there are with the others.
#[derive(Default)]
struct Pool {
    idle: Vec<Reader>,
    open: usize,
    /// Threads that wait for one: without any, the bell is not rung, which is a system call even if nobody hears it.
    waiting: usize,
}

/// See [`Readers::change`].
pub(crate) struct Change<'r> {
    generation: &'r AtomicU64,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }
}

/// A connection with a snapshot of the file.
pub(crate) struct Reader {
    conn: WithStatements,
    opened: Instant,
    /// Milliseconds after `opened` at which a statement is stopped.
    stop_at: Arc<AtomicU64>,
    /// [`Readers::generation`] before its snapshot was begun.
    begun_at: Cell<u64>,
    distrusted: Cell<bool>,
}

impl Readers {
    pub(crate) fn of(path: &Path) -> Readers {
        Readers::from(path, Source::Live)
    }

    /// Of a file on a file system that takes no writes. The error is one line.
    pub(crate) fn of_read_only(path: &Path) -> Result<Readers, String> {
        let wal_bytes = std::fs::metadata(path.with_extension("sqlite-wal")).map_or(0, |wal| wal.len());
        // On a disk that is only full an index can be begun, and is not written to.
        let index = std::fs::OpenOptions::new().append(true).create(true).open(path.with_extension("sqlite-shm"));
        match (wal_bytes, index.is_ok() || path.with_extension("sqlite-shm").exists()) {
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

    /// One with a snapshot of the file as it is; 503 where none was given back in time.
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

    /// For whoever reads next.
    pub(crate) fn put_back(&self, reader: Reader) {
        let mut pool = self.pool();
        // Looked at behind the lock: a change that begins later finds the snapshot among the idle ones.
        let generation = self.generation.load(Ordering::SeqCst);
        let may_stay = generation.is_multiple_of(2) && generation == reader.begun_at.get();
        if !reader.distrusted.get() && (may_stay || reader.ends()) {
            pool.idle.push(reader);
            self.wake(&pool, 1);
        } else {
            self.close(&mut pool, 1);
        }
    }

    /// A connection that cannot write.
    pub(crate) fn open(&self) -> rusqlite::Result<Connection> {
        let conn = self.open_bare()?;
        prepare_connection(&conn, CACHE_KIB)?;
        conn.pragma_update(None, "query_only", true)?;
        Ok(conn)
    }

    /// A connection that has read nothing yet, for whoever reads without statements.
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

    /// An idle one, or leave to open another.
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

    /// Wakes as many of those who wait as there are places now.
    fn wake(&self, pool: &Pool, places: usize) {
        (0..places.min(pool.waiting)).for_each(|_| self.returned.notify_one());
    }

    /// The file changes for as long as what this returns lives: idle snapshots end now, the others when they are given back.
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

    /// Statements are stopped from then on.
    pub(crate) fn stop_at(&self, moment: Instant) {
        let millis = moment.duration_since(self.opened).as_millis() as u64;
        self.stop_at.store(millis, Ordering::Relaxed);
    }

    /// Has the connection closed instead of reused, because pages in its cache may be wrong.
    pub(crate) fn distrust(&self) {
        self.distrusted.set(true);
    }

    fn begin(&self) -> rusqlite::Result<()> {
        static BEGIN: Sql = Sql::new("BEGIN");
        self.conn.run(&BEGIN, []).map(drop)
    }

    /// Whether its snapshot could be let go of; if not, the connection must be closed.
    fn ends(&self) -> bool {
        static COMMIT: Sql = Sql::new("COMMIT");
        let outcome = if self.conn.is_autocommit() { Ok(0) } else { self.conn.run(&COMMIT, []) };
        outcome.inspect_err(|e| tracing::warn!(cause = %e, "a read transaction did not end")).is_ok()
    }
}
