//! The writer: the one connection that changes the database, and the one rule for who commits.
//!
//! # Turns
//!
//! Callers queue for the connection, and each takes one *turn* with it. A change that finds no transaction open begins one, and
//! with it a *group*; the next changes join that group, each in a savepoint of its own, so that one that fails or panics takes
//! back nothing but itself. All changes of a group share one commit, which is one flush of the disk, and nobody acknowledges a
//! change before the outcome of its group is known.
//!
//! **Whoever ends a turn and sees nobody queued commits the open group, unless nobody waits for it yet.** Whoever sees others
//! queued leaves the group to them. That is all: the drop of [`turns::Turn`] does it, so a turn ends alike by a return, an
//! error and a panic, and whatever the turn was for.
//!
//! | A turn | |
//! |---|---|
//! | change | joins the group; the caller waits for the outcome |
//! | deferred change | joins the group, and lets others join while nobody waits; whoever needs the outcome later claims it, in another turn |
//! | change alone | commits the open group first, and begins one without a savepoint: if it fails, its group fails |
//! | exclusive work | commits the open group first, and works outside any transaction |
//! | claim | says of a deferred change that somebody waits now |
//!
//! The invariant: *while the lock is free and a group is open for which somebody waits, somebody is queued.* Whoever is queued
//! takes a turn, and the last of them commits. The invariant holds because entering the queue cannot be taken back. So the wait
//! for the lock has no limit, and a request that waits for too long is answered without its thread (`server::pool`); the waits
//! for a group and for the standby have limits, and then the answer is a 503 that says that the change may have been made.
//!
//! A group fails as a whole where the commit fails, where SQLite rolled the transaction back (a full disk), where a change
//! could not be undone alone, and where the database takes no writes any more. `tests/shuttle` runs [`turns`] under thousands
//! of schedules, and `tests/bursts` the server with a slow disk.

mod database;
#[cfg(test)]
mod tests;
mod turns;

/// What [`turns`] is built from; the tests put a scheduler in its place.
mod sync {
    pub(super) use std::sync::*;
}

use super::capture::Capture;
use super::change_feed::{ChangeFeed, Watched};
use super::condition::{Condition, ConditionMonitor};
use super::connection::checkpoint_wal;
use super::reader::Readers;
use super::statements::WithStatements;
use super::write_scope::WriteScope;
use crate::domain::audit::ChainKey;
use crate::http::failure::{Failure, Stop};
use crate::moment::Moment;
use database::{CommitUnderWay, Database, Told, hear_checkpoint};
use rusqlite::Connection;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
pub(crate) use turns::Terms;
use turns::{Pending, Turns};

/// The time that a commit may wait for the disk before the database counts as not taking writes: far more than a busy
/// disk takes, and less than the watchdog of the service manager.
const DISK_WAIT_MAX: Duration = Duration::from_secs(10);
/// How long a change waits for the outcome of its group: longer than it takes until the disk counts as not answering.
const GROUP_WAIT_MAX: Duration = Duration::from_secs(12);

/// The one connection that changes the database. Transactions queue for it.
pub struct Writer {
    turns: Arc<Turns<Database>>,
    under_way: Arc<CommitUnderWay>,
    pub(crate) monitor: Arc<ConditionMonitor>,
    pub(crate) change_feed: Arc<ChangeFeed>,
    pub(crate) capture: Arc<Capture>,
    /// The key of the audit log's hashes.
    pub(crate) chain_key: OnceLock<ChainKey>,
    /// Flushes since the start.
    pub commits: Arc<AtomicU64>,
    /// Microseconds that they took.
    pub(crate) commit_micros: Arc<AtomicU64>,
    /// Transactions since the start, several to a flush.
    pub transactions: AtomicU64,
}

/// A change that is perhaps not on the disk yet, and must not be acknowledged before [`Writer::wait`].
#[must_use]
pub(crate) struct PendingWrite(Pending<Database>);

impl Writer {
    pub(crate) fn new(mut conn: Connection, readers: Arc<Readers>, condition: Condition, watched: Watched) -> Writer {
        let change_feed = ChangeFeed::of(&mut conn, watched);
        let monitor = Arc::new(ConditionMonitor::new(condition));
        let (capture, under_way) = <(Arc<Capture>, Arc<CommitUnderWay>)>::default();
        let (commits, commit_micros) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
        let told = Told {
            readers,
            monitor: monitor.clone(),
            change_feed: change_feed.clone(),
            capture: capture.clone(),
            commits: commits.clone(),
            commit_micros: commit_micros.clone(),
            under_way: under_way.clone(),
        };
        Writer {
            turns: Arc::new(Turns::new(Database::new(conn, told))),
            under_way,
            monitor,
            change_feed,
            capture,
            chain_key: OnceLock::new(),
            commits,
            commit_micros,
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
        self.turns.queued()
    }

    /// How long a commit has been waiting for a disk that does not answer; `None`: none waits for longer than a busy
    /// disk takes. Waits for nothing itself.
    pub(crate) fn hangs_for(&self) -> Option<Duration> {
        self.under_way.hangs_for()
    }

    /// Runs `change` in the open group, then `before_wait`. The change is durable once [`Writer::wait`] returns.
    pub(crate) fn write<T, D>(
        &self,
        now: Moment,
        terms: Terms,
        change: impl FnOnce(&WithStatements) -> Result<T, Stop<D>>,
        before_wait: impl FnOnce(),
    ) -> Result<(T, PendingWrite), Stop<D>> {
        // Without this each writer would wait for as long as the disk does not answer.
        if self.hangs_for().is_some() {
            return Err(Failure::disk_hangs().because("a write before this one waits for the disk").into());
        }
        let counted = |database: &mut Database| {
            self.transactions.fetch_add(1, Ordering::Relaxed);
            database.note_moment(now);
            let _scope = WriteScope::enter();
            change(&database.conn).inspect_err(|stop| {
                if let Stop::Failed(failure) = stop {
                    self.monitor.note_failure(failure);
                }
            })
        };
        let written = self.turns.write(now, terms, counted, before_wait);
        written.map(|(value, pending)| (value, PendingWrite(pending)))
    }

    /// Waits until a change is on the disk, and on the standby's where answers wait for the standby. Commits the group
    /// where it is still open.
    pub(crate) fn wait(&self, write: &mut PendingWrite) -> Result<(), Failure> {
        match write.0.wait(GROUP_WAIT_MAX) {
            // Waits for the standby without the lock of the connection, so that others write meanwhile.
            Some(commit) => self.capture.wait(commit?),
            None if self.hangs_for().is_some() => Err(Failure::disk_hangs().because("the flush of the write hangs")),
            None => Err(Failure::outcome_unknown().because("the flush of the write did not end in time")),
        }
    }

    /// Runs `work` on the connection outside any transaction, for checkpoints, backups and closing.
    pub(crate) fn exclusive<T>(&self, work: impl FnOnce(&Connection) -> T) -> T {
        self.turns.exclusive(|database| {
            let _scope = WriteScope::enter();
            database.work_outside(work)
        })
    }

    /// Runs `confirm` while no transaction writes, then a checkpoint where no follower needs the WAL.
    pub(crate) fn checkpoint_confirmed(&self, confirm: impl FnOnce()) {
        self.exclusive(|conn| {
            confirm();
            if self.capture.allows_checkpoint() {
                hear_checkpoint(&self.monitor, checkpoint_wal(conn));
            }
        });
    }
}
