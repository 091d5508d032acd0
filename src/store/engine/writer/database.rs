//! The connection that changes the database, and all that follows a commit.

use super::DISK_WAIT_MAX;
use super::turns::Transaction;
use crate::http::failure::{DiskFault, Failure};
use crate::moment::Moment;
use crate::store::db_error::disk_fault;
use crate::store::engine::capture::Capture;
use crate::store::engine::change_feed::ChangeFeed;
use crate::store::engine::condition::{Condition, ConditionMonitor};
use crate::store::engine::connection::checkpoint_if_due;
use crate::store::engine::reader::Readers;
use crate::store::engine::statements::{Sql, WithStatements};
use crate::store::engine::wal_mark::WalMark;
use rusqlite::{Connection, ErrorCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the database stores the present moment.
const STORE_MOMENT_SECONDS: i64 = 60;
/// How long writers wait for an off-site copy that is close to its limit of unconfirmed bytes.
const CATCH_UP_TIME_MAX: Duration = Duration::from_millis(500);

static BEGIN: Sql = Sql::new("BEGIN IMMEDIATE");
static COMMIT: Sql = Sql::new("COMMIT");
static SAVEPOINT: Sql = Sql::new("SAVEPOINT one");
static RELEASE: Sql = Sql::new("RELEASE one");
static ROLLBACK_TO: Sql = Sql::new("ROLLBACK TO one");

pub(super) struct Database {
    pub(super) conn: WithStatements,
    wal_mark: WalMark,
    /// The moment that the database stored last, in Unix seconds.
    stored_moment: Moment,
    /// The latest moment of all transactions so far, in Unix seconds.
    moment: Moment,
    told: Told,
}

/// Who is told of a commit.
pub(super) struct Told {
    pub(super) readers: Arc<Readers>,
    pub(super) monitor: Arc<ConditionMonitor>,
    pub(super) change_feed: Arc<ChangeFeed>,
    pub(super) capture: Arc<Capture>,
    pub(super) commits: Arc<AtomicU64>,
    pub(super) commit_micros: Arc<AtomicU64>,
    pub(super) under_way: Arc<CommitUnderWay>,
}

/// When the commit that is under way began.
#[derive(Default)]
pub(super) struct CommitUnderWay(Mutex<Option<Instant>>);

impl CommitUnderWay {
    pub(super) fn note(&self, began: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = began;
    }

    /// How long it has been waiting for a disk that does not answer; `None`: for no longer than a busy disk takes.
    pub(super) fn hangs_for(&self) -> Option<Duration> {
        let began = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        began.map(|began| began.elapsed()).filter(|time| *time > DISK_WAIT_MAX)
    }
}

impl Database {
    pub(super) fn new(conn: Connection, told: Told) -> Database {
        let wal_mark = WalMark::of(told.readers.path());
        Database { conn: WithStatements::of(conn), wal_mark, stored_moment: Moment(0), moment: Moment(0), told }
    }

    /// Notes that a transaction carries this moment (Unix seconds).
    pub(super) fn note_moment(&mut self, now: Moment) {
        self.moment = self.moment.max(now);
    }

    /// Runs `work` outside any transaction.
    pub(super) fn work_outside<V>(&self, work: impl FnOnce(&Connection) -> V) -> V {
        let _change = self.told.readers.change();
        let value = work(&self.conn);
        self.told.change_feed.publish();
        self.note_commit();
        self.checkpoint();
        value
    }

    /// Tells those who follow the WAL what was appended; the number of the commit.
    fn note_commit(&self) -> u64 {
        self.told.capture.note(self.wal_mark.follow(&self.conn, self.moment), self.moment)
    }

    /// Runs a checkpoint where one is due and no follower needs the WAL. Otherwise a later commit does, or
    /// [`super::Writer::checkpoint_confirmed`].
    fn checkpoint(&self) {
        if self.told.capture.allows_checkpoint() {
            hear_checkpoint(&self.told.monitor, checkpoint_if_due(&self.conn));
        }
    }

    fn undo(&self) {
        _ = self.conn.execute_batch("ROLLBACK");
    }

    fn try_commit(&self) -> Result<u64, Failure> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        match self.conn.run(&COMMIT, []) {
            Ok(_) => {
                let commit = self.note_commit();
                self.told.change_feed.publish();
                Ok(commit)
            }
            Err(error) => Err(self.hear_commit(&error)),
        }
    }

    fn hear_commit(&self, error: &rusqlite::Error) -> Failure {
        let fault = disk_fault(error);
        match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => {}
            // Any other cause that makes a commit fail would make the next one fail too.
            _ => self.told.monitor.note_fault(fault.or(Some(DiskFault::Unwritable)), error),
        }
        if fault == Some(DiskFault::Full) { Failure::disk_full() } else { Failure::broken() }.because(error)
    }
}

/// Records a disk error of a checkpoint. After any other error the next commit tries again.
pub(super) fn hear_checkpoint(monitor: &ConditionMonitor, moved: rusqlite::Result<()>) {
    if let Err(error) = moved {
        let fault = match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Some(DiskFault::Unwritable),
            _ => disk_fault(&error),
        };
        tracing::warn!(cause = %error, "the pages of the write-ahead log did not get into the file");
        monitor.note_fault(fault, &error);
    }
}

impl Transaction for Database {
    type Failure = Failure;

    fn refusal(&self) -> Option<Failure> {
        self.told.monitor.refusal().or_else(|| self.told.capture.refusal())
    }

    fn begin(&mut self, now: Moment) -> Result<(), Failure> {
        self.told.capture.wait_for_off_site_copy(CATCH_UP_TIME_MAX);
        if self.told.monitor.take_caches_stale() {
            _ = self.conn.execute_batch("PRAGMA shrink_memory");
        }
        let begun = self.conn.run(&BEGIN, []).map_err(Failure::from);
        begun.inspect_err(|failure| self.told.monitor.note_failure(failure))?;
        if now >= self.stored_moment + STORE_MOMENT_SECONDS {
            // Fails while the first migrations run, before the table exists.
            let sql = "UPDATE site SET clock_high_water = max(clock_high_water, ?1)";
            _ = self.conn.prepare_cached(sql).and_then(|mut s| s.execute([now]));
            self.stored_moment = now;
        }
        if self.conn.is_autocommit() {
            let failure = Failure::disk_full().because("the transaction was rolled back as it began");
            self.told.monitor.note_failure(&failure);
            return Err(failure);
        }
        Ok(())
    }

    fn is_open(&self) -> bool {
        !self.conn.is_autocommit()
    }

    fn begin_savepoint(&mut self) -> Result<(), Failure> {
        Ok(self.conn.run(&SAVEPOINT, []).map(drop)?)
    }

    fn end_savepoint(&mut self, keep: bool) -> Result<(), Failure> {
        let undone = if keep { Ok(0) } else { self.conn.run(&ROLLBACK_TO, []) };
        let ended = undone.and_then(|_| self.conn.run(&RELEASE, [])).map(drop).map_err(Failure::from);
        ended.inspect_err(|failure| self.told.monitor.note_failure(failure))
    }

    fn roll_back(&mut self) {
        self.undo();
    }

    fn commit(&mut self, decided: impl FnOnce(Result<u64, Failure>)) {
        let told = &self.told;
        let began = Instant::now();
        told.under_way.note(Some(began));
        let change = told.readers.change();
        let outcome = self.try_commit();
        if self.is_open() {
            self.undo();
        }
        told.commits.fetch_add(1, Ordering::Relaxed);
        told.commit_micros.fetch_add(began.elapsed().as_micros() as u64, Ordering::Relaxed);
        // The frames of the WAL are on the disk: the group need not wait for the checkpoint.
        decided(outcome);
        self.checkpoint();
        told.under_way.note(None);
        drop(change);
    }

    fn lost(&self) -> Failure {
        let full = self.told.monitor.get() == Condition::Full;
        if full { Failure::disk_full() } else { Failure::broken() }
            .because("the transaction of its flush was rolled back")
    }
}
