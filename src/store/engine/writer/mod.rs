//! The writer: the one connection that changes the database, and its group commit.
//!
//! Callers queue for the connection. Each runs its statements in a savepoint; the last one in the queue commits for the
//! whole group, then all return. A caller that fails rolls back to its own savepoint and does not affect the others. A
//! commit that fails fails every caller of the group, none of which has acknowledged its change yet. Without a queue a
//! caller commits at once. A caller may also defer the commit, and must then not acknowledge before [`Writer::flush`].

mod group;
#[cfg(test)]
mod tests;

use super::capture::Capture;
use super::change_feed::ChangeFeed;
use super::condition::{Condition, ConditionMonitor};
use super::connection::{checkpoint_if_due, checkpoint_wal};
use super::reader::Readers;
use super::statements::{Sql, WithStatements};
use super::wal_mark::WalMark;
use super::write_scope::WriteScope;
use crate::domain::audit::ChainKey;
use crate::http::failure::{DiskFault, Failure};
pub(crate) use group::Group;
use group::GroupOutcome;
use http::StatusCode;
use rusqlite::{Connection, ErrorCode};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often the database stores the present moment.
const STORE_MOMENT_SECONDS: i64 = 60;
/// How long writers wait for an off-site copy that is close to its limit of unconfirmed bytes.
const CATCH_UP_TIME_MAX: Duration = Duration::from_millis(500);
/// The time that a commit may wait for the disk before the database counts as not taking writes: far more than a busy
/// disk takes, and less than the watchdog of the service manager.
const DISK_WAIT_MAX: Duration = Duration::from_secs(10);

static BEGIN: Sql = Sql::new("BEGIN IMMEDIATE");
static COMMIT: Sql = Sql::new("COMMIT");
static SAVEPOINT: Sql = Sql::new("SAVEPOINT one");
static RELEASE: Sql = Sql::new("RELEASE one");
static ROLLBACK_TO: Sql = Sql::new("ROLLBACK TO one");

/// How a transaction shares its flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitMode {
    /// In a group: the last caller in the queue commits.
    Grouped,
    /// In a group, and the caller flushes later: see [`Writer::flush`].
    Deferred,
    /// As the first of a group, without a savepoint, for a change of very many rows: for a savepoint SQLite keeps a
    /// copy of each changed page in memory, and walks through all of them at the end of each statement.
    StartsGroup,
}

/// The one connection that changes the database. Transactions queue for it.
pub struct Writer {
    state: Mutex<State>,
    /// Callers in the queue for the connection.
    waiting: AtomicUsize,
    grouped: bool,
    readers: Arc<Readers>,
    pub(crate) monitor: ConditionMonitor,
    pub(crate) change_feed: Arc<ChangeFeed>,
    pub(crate) capture: Capture,
    /// The key of the audit log's hashes.
    pub(crate) chain_key: OnceLock<ChainKey>,
    /// When the commit that is under way began.
    commit_began: Mutex<Option<Instant>>,
    /// Flushes since the start.
    pub commits: AtomicU64,
    /// Transactions since the start, several to a flush.
    pub transactions: AtomicU64,
}

struct State {
    conn: WithStatements,
    /// The group whose transaction is open.
    group: Option<Arc<Group>>,
    /// The moment that the database stored last, in Unix seconds.
    stored_moment: i64,
    /// The latest moment of all transactions so far, in Unix seconds.
    moment: i64,
    wal_mark: WalMark,
}

impl Writer {
    pub(crate) fn new(mut conn: Connection, grouped: bool, readers: Arc<Readers>, condition: Condition) -> Writer {
        Writer {
            change_feed: ChangeFeed::of(&mut conn),
            state: Mutex::new(State {
                wal_mark: WalMark::of(readers.path()),
                conn: WithStatements::of(conn),
                group: None,
                stored_moment: 0,
                moment: 0,
            }),
            waiting: AtomicUsize::new(0),
            grouped,
            readers,
            monitor: ConditionMonitor::new(condition),
            capture: Capture::default(),
            chain_key: OnceLock::new(),
            commit_began: Mutex::default(),
            commits: AtomicU64::new(0),
            transactions: AtomicU64::new(0),
        }
    }

    /// Whether the database takes writes, and if not, why.
    pub(crate) fn condition(&self) -> Condition {
        self.monitor.get()
    }

    /// Whether a flush failed: the process must end, and the next one opens the database again.
    pub(crate) fn is_stopped(&self) -> bool {
        self.condition() == Condition::Stopped
    }

    /// Callers in the queue for the connection now.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Runs `change` in the open group, then `before_flush`. The change is durable once [`Writer::wait`] returns for
    /// the group.
    pub(crate) fn write<T>(
        &self,
        now: i64,
        mode: CommitMode,
        change: impl FnOnce(&WithStatements) -> Result<T, Failure>,
        before_flush: impl FnOnce(),
    ) -> Result<(T, Arc<Group>), Failure> {
        // Without this each writer would wait for as long as the disk does not answer.
        if self.hangs_for().is_some() {
            return Err(Failure::disk_hangs().because("a write before this one waits for the disk"));
        }
        let mut state = self.lock_state();
        if let Some(refusal) = self.monitor.refusal().or_else(|| self.capture.refusal()) {
            state.fail_group(&refusal);
            return Err(refusal);
        }
        if state.group.is_none() && self.monitor.take_caches_stale() {
            _ = state.conn.execute_batch("PRAGMA shrink_memory");
        }
        if mode == CommitMode::StartsGroup {
            self.commit_open(&mut state);
        }
        let group = state.join_group(now).inspect_err(|failure| self.monitor.note_failure(failure))?;
        let scope = WriteScope::enter();
        let outcome = catch_unwind(AssertUnwindSafe(|| match mode {
            CommitMode::StartsGroup => or_roll_back(&state.conn, change),
            CommitMode::Grouped | CommitMode::Deferred => in_savepoint(&state.conn, change),
        }));
        drop(scope);
        before_flush();
        let failure = outcome.as_ref().ok().and_then(|outcome| outcome.as_ref().err());
        failure.inspect(|failure| self.monitor.note_failure(failure));
        let full = failure.is_some_and(|failure| failure.status() == StatusCode::INSUFFICIENT_STORAGE);
        // A change that failed has nothing to flush.
        let defers_flush = mode == CommitMode::Deferred && matches!(outcome, Ok(Ok(_)));
        self.end_change(state, &group, full, defers_flush);
        let value = outcome.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok((value, group))
    }

    /// Waits until a group is on the disk, and on the standby's where answers wait for the standby.
    pub(crate) fn wait(&self, group: &Group) -> Result<(), Failure> {
        let commit = group.wait()?;
        // Waits for the standby without the lock of the connection, so that others write meanwhile.
        self.capture.wait(commit)
    }

    /// Like [`Writer::wait`], and commits the group where it is still open.
    pub(crate) fn flush(&self, group: &Arc<Group>) -> Result<(), Failure> {
        if group.is_open() {
            let mut state = self.lock_state();
            if let Some(left) = state.group.take_if(|open| Arc::ptr_eq(open, group)) {
                self.commit(&state, &left);
                self.capture.wait_for_off_site_copy(CATCH_UP_TIME_MAX);
            }
        }
        self.wait(group)
    }

    /// Runs `work` on the connection outside any transaction, for checkpoints, backups and closing.
    pub(crate) fn exclusive<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        let mut state = self.lock_state();
        self.commit_open(&mut state);
        let _change = self.readers.change();
        let _scope = WriteScope::enter();
        let value = work(&state.conn);
        self.change_feed.publish();
        self.capture.note(state.wal_mark.follow(&state.conn, state.moment), state.moment);
        self.checkpoint(&state.conn);
        value
    }

    fn commit_open(&self, state: &mut State) {
        if let Some(group) = state.group.take() {
            self.commit(state, &group);
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        state
    }

    /// Commits the group where the queue is empty and the caller does not defer the flush. After a disk error (`full`:
    /// the disk is full) SQLite may have rolled back the whole transaction; then the group fails.
    fn end_change(&self, mut state: MutexGuard<'_, State>, group: &Group, full: bool, defers_flush: bool) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        if state.conn.is_autocommit() {
            state.group = None;
            group.decide(GroupOutcome::Failed {
                full,
                cause: "the disk failed another transaction of the same flush".to_owned(),
            });
        } else if !self.grouped || (!defers_flush && self.waiting.load(Ordering::SeqCst) == 0) {
            state.group = None;
            self.commit(&state, group);
            self.capture.wait_for_off_site_copy(CATCH_UP_TIME_MAX);
        }
    }

    /// How long a commit has been waiting for a disk that does not answer; `None`: none waits for longer than a busy
    /// disk takes. Waits for nothing itself.
    pub(crate) fn hangs_for(&self) -> Option<Duration> {
        let began = *self.commit_began.lock().unwrap_or_else(PoisonError::into_inner);
        began.map(|began| began.elapsed()).filter(|time| *time > DISK_WAIT_MAX)
    }

    fn note_commit(&self, began: Option<Instant>) {
        *self.commit_began.lock().unwrap_or_else(PoisonError::into_inner) = began;
    }

    fn commit(&self, state: &State, group: &Group) {
        let conn = &state.conn;
        self.note_commit(Some(Instant::now()));
        let change = self.readers.change();
        let outcome = match conn.run(&COMMIT, []) {
            Ok(_) => {
                let commit = self.capture.note(state.wal_mark.follow(conn, state.moment), state.moment);
                self.change_feed.publish();
                GroupOutcome::Committed(commit)
            }
            Err(error) => {
                let fault = DiskFault::of(&error);
                match error.sqlite_error_code() {
                    Some(ErrorCode::ConstraintViolation) => {}
                    // Any other cause that makes a commit fail would make the next one fail too.
                    _ => self.monitor.note_fault(fault.or(Some(DiskFault::Unwritable)), &error),
                }
                if !conn.is_autocommit() {
                    _ = conn.execute_batch("ROLLBACK");
                }
                GroupOutcome::Failed { full: fault == Some(DiskFault::Full), cause: error.to_string() }
            }
        };
        self.commits.fetch_add(1, Ordering::Relaxed);
        // The frames of the WAL are on the disk: the group need not wait for the checkpoint.
        group.decide(outcome);
        self.checkpoint(conn);
        self.note_commit(None);
        drop(change);
    }

    /// Runs a checkpoint where one is due and no follower needs the WAL. Otherwise a later commit does, or
    /// [`Writer::checkpoint_confirmed`].
    fn checkpoint(&self, conn: &Connection) {
        if self.capture.allows_checkpoint() {
            self.hear_checkpoint(checkpoint_if_due(conn));
        }
    }

    /// Runs `confirm` while no transaction writes, then a checkpoint where no follower needs the WAL.
    pub(crate) fn checkpoint_confirmed(&self, confirm: impl FnOnce()) {
        self.exclusive(|conn| {
            confirm();
            if self.capture.allows_checkpoint() {
                self.hear_checkpoint(checkpoint_wal(conn));
            }
        });
    }

    /// Records a disk error of a checkpoint. After any other error the next commit tries again.
    fn hear_checkpoint(&self, moved: rusqlite::Result<()>) {
        if let Err(error) = moved {
            let fault = match error.sqlite_error_code() {
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Some(DiskFault::Unwritable),
                _ => DiskFault::of(&error),
            };
            tracing::warn!(cause = %error, "the pages of the write-ahead log did not get into the file");
            self.monitor.note_fault(fault, &error);
        }
    }
}

impl State {
    /// Rolls back the open group: its callers deferred their flush, and no commit is possible any more.
    fn fail_group(&mut self, refusal: &Failure) {
        if let Some(group) = self.group.take() {
            _ = self.conn.execute_batch("ROLLBACK");
            group.decide(GroupOutcome::Failed { full: false, cause: refusal.to_string() });
        }
    }

    /// The open group, or a new one with its transaction begun and the present moment stored.
    fn join_group(&mut self, now: i64) -> Result<Arc<Group>, Failure> {
        self.moment = self.moment.max(now);
        if let Some(group) = &self.group {
            return Ok(group.clone());
        }
        self.conn.run(&BEGIN, [])?;
        if now >= self.stored_moment + STORE_MOMENT_SECONDS {
            // Fails while the first migrations run, before the table exists.
            let sql = "UPDATE site SET clock_high_water = max(clock_high_water, ?1)";
            _ = self.conn.prepare_cached(sql).and_then(|mut s| s.execute([now]));
            self.stored_moment = now;
        }
        if self.conn.is_autocommit() {
            return Err(Failure::disk_full().because("the transaction was rolled back as it began"));
        }
        Ok(self.group.insert(Arc::default()).clone())
    }
}

/// Runs `change` in a savepoint, and rolls that back where `change` fails or panics. A disk error may have rolled back
/// the whole transaction: then the connection is outside a transaction afterwards.
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

/// Runs `change`, the only one of the transaction, and rolls that back where `change` fails or panics.
fn or_roll_back<T>(
    conn: &WithStatements,
    change: impl FnOnce(&WithStatements) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let outcome = catch_unwind(AssertUnwindSafe(|| change(conn)));
    if !conn.is_autocommit() && !matches!(outcome, Ok(Ok(_))) {
        conn.execute_batch("ROLLBACK")?;
    }
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}
