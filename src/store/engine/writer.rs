//! The one writer, and how many transactions share one flush of the disk.
//!
//! Callers queue for the connection. Each runs its own statements in a savepoint; the last in line commits for all of
//! them, then all return. A failing caller rolls back to its own savepoint and takes nobody down; a failing commit
//! fails everybody in the group, and nobody has been told "done" yet. A caller who is alone commits at once.

use super::capture::Capture;
use super::changes::Changes;
use super::condition::{Condition, Watched};
use super::connection::{checkpoint_if_due, move_log};
use super::log_mark::LogMark;
use super::reader::Readers;
use super::statements::{Sql, WithStatements};
use super::writer_held::Held;
use crate::domain::audit::ChainKey;
use crate::http::failure::{DiskFault, Failure};
use http::StatusCode;
use rusqlite::{Connection, ErrorCode};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// How far time may run before the file remembers it again.
const CLOCK_MARK_SECONDS: i64 = 60;

static BEGIN: Sql = Sql::new("BEGIN IMMEDIATE");
static COMMIT: Sql = Sql::new("COMMIT");
static SAVEPOINT: Sql = Sql::new("SAVEPOINT one");
static RELEASE: Sql = Sql::new("RELEASE one");
static ROLLBACK_TO: Sql = Sql::new("ROLLBACK TO one");

pub struct Writer {
    line: Mutex<Line>,
    /// Callers that want the connection and do not have it.
    waiting: AtomicUsize,
    grouped: bool,
    readers: Arc<Readers>,
    pub(crate) watched: Watched,
    /// The commits that changed what the desk's pages show.
    pub(crate) changes: Arc<Changes>,
    /// The commits that the off-site copy has to send.
    pub(crate) capture: Capture,
    /// The audit log's.
    pub(crate) chain_key: OnceLock<ChainKey>,
    pub commits: AtomicU64,
    pub transactions: AtomicU64,
}

struct Line {
    conn: WithStatements,
    /// The group whose transaction is open.
    group: Option<Arc<Group>>,
    clock_mark: i64,
    /// The latest of all transactions so far, in Unix seconds.
    moment: i64,
    mark: LogMark,
}

/// Transactions that are committed together.
#[derive(Default)]
struct Group {
    /// Everybody waits for it and nobody locks it: those who wake together would only stand in line once more.
    fate: OnceLock<Fate>,
}

#[derive(Clone)]
enum Fate {
    /// In the commit of this number.
    Kept(u64),
    Lost {
        full: bool,
        cause: String,
    },
}

impl Writer {
    pub(crate) fn new(mut conn: Connection, grouped: bool, readers: Arc<Readers>, condition: Condition) -> Writer {
        Writer {
            changes: Changes::of(&mut conn),
            line: Mutex::new(Line {
                mark: LogMark::of(&conn),
                conn: WithStatements::of(conn),
                group: None,
                clock_mark: 0,
                moment: 0,
            }),
            waiting: AtomicUsize::new(0),
            grouped,
            readers,
            watched: Watched::new(condition),
            capture: Capture::default(),
            chain_key: OnceLock::new(),
            commits: AtomicU64::new(0),
            transactions: AtomicU64::new(0),
        }
    }

    /// Whether the file takes writes, and if it does not, why.
    pub fn condition(&self) -> Condition {
        self.watched.get()
    }

    /// Whether a flush failed: the process must end and open the file anew.
    pub fn is_stopped(&self) -> bool {
        self.condition() == Condition::Stopped
    }

    /// Callers waiting for the connection now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Runs `change` in the open group, then `before_flush`, and returns once the group is on the disk.
    pub fn write<T>(
        &self,
        now: i64,
        change: impl FnOnce(&WithStatements) -> Result<T, Failure>,
        before_flush: impl FnOnce(),
    ) -> Result<T, Failure> {
        let mut line = self.take_connection();
        if let Some(refusal) = self.watched.refusal().or_else(|| self.capture.refusal()) {
            line.lose_group(&refusal);
            return Err(refusal);
        }
        if line.group.is_none() && self.watched.takes_stale_caches() {
            _ = line.conn.execute_batch("PRAGMA shrink_memory");
        }
        let group = line.join_group(now).inspect_err(|failure| self.watched.hear(failure))?;
        let held = Held::mark();
        let outcome = catch_unwind(AssertUnwindSafe(|| in_savepoint(&line.conn, change)));
        drop(held);
        before_flush();
        let failure = outcome.as_ref().ok().and_then(|outcome| outcome.as_ref().err());
        failure.inspect(|failure| self.watched.hear(failure));
        let full = failure.is_some_and(|failure| failure.status() == StatusCode::INSUFFICIENT_STORAGE);
        self.settle(line, &group, full);
        let value = outcome.unwrap_or_else(|panic| resume_unwind(panic))?;
        let commit = group.wait()?;
        // Others write meanwhile: nobody holds the connection while the standby is waited for.
        self.capture.wait(commit).map(|()| value)
    }

    /// The connection outside any transaction, for checkpoints, backups and closing.
    pub fn alone<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        let mut line = self.take_connection();
        if let Some(group) = line.group.take() {
            self.commit(&line, &group);
        }
        let _change = self.readers.change();
        let _held = Held::mark();
        let value = work(&line.conn);
        self.changes.tell();
        self.capture.note(line.mark.follow(&line.conn), line.moment);
        self.checkpoint(&line.conn);
        value
    }

    fn take_connection(&self) -> MutexGuard<'_, Line> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        line
    }

    /// Commits if nobody is in line behind, else leaves that to them. A disk error (`full`: for want of room) may have
    /// made SQLite roll everything back; then the group ends here.
    fn settle(&self, mut line: MutexGuard<'_, Line>, group: &Group, full: bool) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        if line.conn.is_autocommit() {
            line.group = None;
            group
                .decide(Fate::Lost { full, cause: "the disk failed another transaction of the same flush".to_owned() });
        } else if !self.grouped || self.waiting.load(Ordering::SeqCst) == 0 {
            line.group = None;
            self.commit(&line, group);
        }
    }

    fn commit(&self, line: &Line, group: &Group) {
        let conn = &line.conn;
        let change = self.readers.change();
        let fate = match conn.run(&COMMIT, []) {
            Ok(_) => {
                let commit = self.capture.note(line.mark.follow(conn), line.moment);
                self.changes.tell();
                Fate::Kept(commit)
            }
            Err(error) => {
                let fault = DiskFault::of(&error);
                match error.sqlite_error_code() {
                    Some(ErrorCode::ConstraintViolation) => {}
                    // Any other cause that makes a commit fail would make the next one fail too.
                    _ => self.watched.hear_fault(fault.or(Some(DiskFault::Unwritable)), &error),
                }
                if !conn.is_autocommit() {
                    _ = conn.execute_batch("ROLLBACK");
                }
                Fate::Lost { full: fault == Some(DiskFault::Full), cause: error.to_string() }
            }
        };
        self.commits.fetch_add(1, Ordering::Relaxed);
        // The frames of the log are on the disk: nobody need wait for the database file.
        group.decide(fate);
        self.checkpoint(conn);
        drop(change);
    }

    /// Moves the pages of the log into the file where this thread's last commit left many there, and the off-site copy has
    /// them all. Otherwise a later one does, or whoever confirms them.
    fn checkpoint(&self, conn: &Connection) {
        if self.capture.is_open() {
            self.hear_checkpoint(checkpoint_if_due(conn));
        }
    }

    /// Runs `confirm` while nobody writes, then moves the pages of the log into the file where all of them are confirmed.
    pub(crate) fn checkpoint_confirmed(&self, confirm: impl FnOnce()) {
        self.alone(|conn| {
            confirm();
            if self.capture.is_open() {
                self.hear_checkpoint(move_log(conn));
            }
        });
    }

    /// An error that is none of the disk's passes: the next commit tries again.
    fn hear_checkpoint(&self, moved: rusqlite::Result<()>) {
        if let Err(error) = moved {
            let fault = match error.sqlite_error_code() {
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Some(DiskFault::Unwritable),
                _ => DiskFault::of(&error),
            };
            tracing::warn!(cause = %error, "the pages of the write-ahead log did not get into the file");
            self.watched.hear_fault(fault, &error);
        }
    }
}

impl Line {
    /// The callers who left their flush to the one that is refused now are refused with it: nothing they wrote is kept.
    fn lose_group(&mut self, refusal: &Failure) {
        if let Some(group) = self.group.take() {
            _ = self.conn.execute_batch("ROLLBACK");
            group.decide(Fate::Lost { full: false, cause: refusal.to_string() });
        }
    }

    /// The open group, or a new one with its transaction begun and the clock's mark moved on.
    fn join_group(&mut self, now: i64) -> Result<Arc<Group>, Failure> {
        self.moment = self.moment.max(now);
        if let Some(group) = &self.group {
            return Ok(group.clone());
        }
        self.conn.run(&BEGIN, [])?;
        if now >= self.clock_mark + CLOCK_MARK_SECONDS {
            // Not there yet while the first migrations run; the mark can wait for the next group then.
            let sql = "UPDATE site SET clock_high_water = max(clock_high_water, ?1)";
            _ = self.conn.prepare_cached(sql).and_then(|mut s| s.execute([now]));
            self.clock_mark = now;
        }
        if self.conn.is_autocommit() {
            return Err(Failure::disk_full().because("the transaction was rolled back as it began"));
        }
        Ok(self.group.insert(Arc::default()).clone())
    }
}

impl Group {
    fn decide(&self, fate: Fate) {
        _ = self.fate.set(fate);
    }

    /// The number of the commit.
    fn wait(&self) -> Result<u64, Failure> {
        match self.fate.wait() {
            Fate::Kept(commit) => Ok(*commit),
            Fate::Lost { full: true, cause } => Err(Failure::disk_full().because(cause)),
            Fate::Lost { full: false, cause } => Err(Failure::broken().because(cause)),
        }
    }
}

/// All of `change` or nothing of it, whether it fails or panics. A disk error may have rolled back more than the
/// savepoint; the caller sees that by the connection being outside a transaction.
fn in_savepoint<T>(
    conn: &WithStatements,
    change: impl FnOnce(&WithStatements) -> Result<T, Failure>,
) -> Result<T, Failure> {
    conn.run(&SAVEPOINT, [])?;
    let outcome = catch_unwind(AssertUnwindSafe(|| change(conn)));
    if !conn.is_autocommit() {
        if !matches!(outcome, Ok(Ok(_))) {
            conn.run(&ROLLBACK_TO, [])?;
        }
        conn.run(&RELEASE, [])?;
    }
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn numbers() -> (tempfile::TempDir, Writer) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("numbers");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT").unwrap();
        (dir, Writer::new(conn, true, Arc::new(Readers::of(&path)), Condition::Sound))
    }

    fn write<T>(writer: &Writer, change: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
        writer.write(0, |conn| change(conn), || ())
    }

    fn insert(writer: &Writer, n: i64) -> Result<(), Failure> {
        write(writer, |conn| Ok(conn.execute("INSERT INTO numbers VALUES (?1)", [n]).map(|_| ())?))
    }

    fn held(writer: &Writer) -> Vec<i64> {
        writer.alone(|conn| {
            let mut statement = conn.prepare("SELECT n FROM numbers ORDER BY n").unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        })
    }

    #[test]
    fn one_flush_serves_those_who_wait_and_a_failing_one_takes_nobody_down() {
        let (_dir, writer) = numbers();
        insert(&writer, 0).unwrap();
        let before = writer.commits.load(Ordering::Relaxed);
        let outcomes: Vec<bool> = std::thread::scope(|scope| {
            // While the first holds the connection, nine more get in line; number 5 meets the 0 that is there.
            let first = scope.spawn(|| {
                write(&writer, |conn| {
                    while writer.waiting() < 9 {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Ok(conn.execute("INSERT INTO numbers VALUES (100)", []).map(|_| ())?)
                })
            });
            while writer.line.try_lock().is_ok() {
                std::thread::yield_now();
            }
            let others: Vec<_> = (1..=9)
                .map(|n| {
                    scope.spawn({
                        let writer = &writer;
                        move || insert(writer, if n == 5 { 0 } else { n })
                    })
                })
                .collect();
            assert!(first.join().unwrap().is_ok());
            others.into_iter().map(|other| other.join().unwrap().is_ok()).collect()
        });
        assert_eq!(outcomes.iter().filter(|ok| **ok).count(), 8);
        assert!(!outcomes[4]);
        assert_eq!(held(&writer), [0, 1, 2, 3, 4, 6, 7, 8, 9, 100]);
        assert_eq!(writer.commits.load(Ordering::Relaxed) - before, 1);
    }

    #[test]
    fn nobody_waits_for_a_flush_that_was_left_to_somebody_who_is_refused() {
        const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
        let (_dir, writer) = numbers();
        let writer = Arc::new(writer);
        let (tell, told) = std::sync::mpsc::channel();
        let (first, telling) = (writer.clone(), tell.clone());
        std::thread::spawn(move || {
            let outcome = write(&first, |conn| {
                while first.waiting() == 0 {
                    std::thread::yield_now();
                }
                // A read finds a damaged page while this one leaves its flush to the next in line.
                first.watched.damage(&"test");
                Ok(conn.execute("INSERT INTO numbers VALUES (1)", []).map(|_| ())?)
            });
            telling.send(outcome.is_err())
        });
        while writer.line.try_lock().is_ok() {
            std::thread::yield_now();
        }
        let second = writer.clone();
        std::thread::spawn(move || tell.send(insert(&second, 2).is_err()));
        for _ in 0..2 {
            assert!(told.recv_timeout(ANSWER_TIME_MAX).expect("everybody is answered"), "it was told as done");
        }
        assert_eq!(held(&writer), [0; 0]);
    }

    #[test]
    fn a_panic_rolls_back_its_own_work_only() {
        let (_dir, writer) = numbers();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            write(&writer, |conn| -> Result<(), Failure> {
                conn.execute("INSERT INTO numbers VALUES (1)", [])?;
                panic!("half way")
            })
        }));
        assert!(panicked.is_err());
        insert(&writer, 2).unwrap();
        assert_eq!(held(&writer), [2]);
    }

    #[test]
    fn a_transaction_that_sqlite_rolled_back_fails_its_group_and_the_next_one_works() {
        let (_dir, writer) = numbers();
        let lost = write(&writer, |conn| {
            conn.execute("INSERT INTO numbers VALUES (1)", [])?;
            Ok(conn.execute_batch("ROLLBACK")?)
        });
        assert!(lost.is_err());
        insert(&writer, 2).unwrap();
        assert_eq!(held(&writer), [2]);
    }
}
