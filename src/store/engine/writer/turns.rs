//! The protocol of the page at the head of [`super`], without the database. Imports nothing of the product but `sync`, so that
//! `tests/shuttle` runs these very lines under a scheduler of its own.

use super::sync::atomic::{AtomicUsize, Ordering};
use super::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use crate::moment::Moment;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// The connection, as the protocol sees it.
pub(super) trait Transaction {
    /// Why a change, or the commit of a group, failed.
    type Failure: Clone;

    /// The failure of every change and every commit at present; `None`: the database takes writes.
    fn refusal(&self) -> Option<Self::Failure>;

    /// Begins a transaction at the moment `now` (Unix seconds).
    fn begin(&mut self, now: Moment) -> Result<(), Self::Failure>;

    /// Whether a transaction is open. After a disk error SQLite may have rolled it back by itself.
    fn is_open(&self) -> bool;

    fn begin_savepoint(&mut self) -> Result<(), Self::Failure>;

    /// Ends the savepoint. Unless `keep`, what was done since its begin is undone.
    fn end_savepoint(&mut self, keep: bool) -> Result<(), Self::Failure>;

    fn roll_back(&mut self);

    /// Commits the open transaction or rolls it back, and tells `decided` the number of the commit, or why there is none,
    /// before anything that nobody of the group waits for.
    fn commit(&mut self, decided: impl FnOnce(Result<u64, Self::Failure>));

    /// The failure of a group whose transaction was rolled back before its commit.
    fn lost(&self) -> Self::Failure;
}

/// On which terms a change takes its turn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Terms {
    /// As the first of a group, and without a savepoint, for a change of very many rows: for a savepoint SQLite keeps a copy
    /// of each changed page in memory, and walks through all of them at the end of each statement.
    pub alone: bool,
    /// Nobody waits for the commit yet: see [`Pending::claim`].
    pub defers: bool,
}

/// The queue for the connection.
pub(super) struct Turns<T: Transaction> {
    pub(super) state: Mutex<State<T>>,
    /// Callers in the queue. Whoever is in it takes a turn.
    queued: AtomicUsize,
}

pub(super) struct State<T: Transaction> {
    transaction: T,
    /// The group whose transaction is open.
    open: Option<Arc<Group<T::Failure>>>,
    /// Whether somebody waits for the open group, or is about to.
    awaited: bool,
}

/// Changes that are committed together: the number of their commit, or why there was none.
struct Group<F> {
    outcome: Mutex<Option<Result<u64, F>>>,
    decided: Condvar,
}

/// Why a change was undone.
enum Undone<E> {
    Failed(E),
    Panicked(Box<dyn Any + Send>),
}

/// One caller's time with the connection. Its drop ends the turn, however the caller leaves.
pub(super) struct Turn<'w, T: Transaction> {
    turns: &'w Turns<T>,
    state: MutexGuard<'w, State<T>>,
    defers: bool,
}

/// A change that was made and is perhaps not on the disk yet. Not to be acknowledged before [`Pending::wait`].
#[must_use]
pub(super) struct Pending<T: Transaction> {
    turns: Arc<Turns<T>>,
    group: Arc<Group<T::Failure>>,
    is_claimed: bool,
}

impl<T: Transaction> Turns<T> {
    pub(super) fn new(transaction: T) -> Turns<T> {
        Turns { state: Mutex::new(State { transaction, open: None, awaited: false }), queued: AtomicUsize::new(0) }
    }

    /// Callers in the queue now.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Waits for the connection, without a limit: whoever has left the commit to this caller counts on its turn.
    pub(super) fn turn(&self) -> Turn<'_, T> {
        self.queued.fetch_add(1, Ordering::SeqCst);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.queued.fetch_sub(1, Ordering::SeqCst);
        Turn { turns: self, state, defers: false }
    }

    /// Runs `change` in the open group, and `before_wait` before the commit that may follow.
    pub(super) fn write<V, E: From<T::Failure>>(
        self: &Arc<Self>,
        now: Moment,
        terms: Terms,
        change: impl FnOnce(&mut T) -> Result<V, E>,
        before_wait: impl FnOnce(),
    ) -> Result<(V, Pending<T>), E> {
        let mut turn = self.turn();
        if let Some(refusal) = turn.state.transaction.refusal() {
            return Err(refusal.into());
        }
        if terms.alone {
            turn.commit_open();
        }
        let group = turn.join(now)?;
        let outcome = turn.run(terms, change);
        before_wait();
        drop(turn);
        match outcome {
            Ok(value) => Ok((value, Pending { turns: self.clone(), group, is_claimed: !terms.defers })),
            Err(Undone::Failed(error)) => Err(error),
            Err(Undone::Panicked(panic)) => resume_unwind(panic),
        }
    }

    /// Runs `work` outside any transaction.
    pub(super) fn exclusive<V>(&self, work: impl FnOnce(&mut T) -> V) -> V {
        let mut turn = self.turn();
        turn.commit_open();
        work(&mut turn.state.transaction)
    }
}

impl<T: Transaction> Turn<'_, T> {
    /// The open group, or a new one.
    fn join(&mut self, now: Moment) -> Result<Arc<Group<T::Failure>>, T::Failure> {
        if let Some(group) = &self.state.open {
            return Ok(group.clone());
        }
        self.state.transaction.begin(now)?;
        self.state.awaited = false;
        Ok(self.state.open.insert(Arc::new(Group::new())).clone())
    }

    /// Runs `change`, and undoes it where it fails or panics.
    fn run<V, E: From<T::Failure>>(
        &mut self,
        terms: Terms,
        change: impl FnOnce(&mut T) -> Result<V, E>,
    ) -> Result<V, Undone<E>> {
        let transaction = &mut self.state.transaction;
        if !terms.alone {
            transaction.begin_savepoint().map_err(|failure| Undone::Failed(failure.into()))?;
        }
        let outcome = match catch_unwind(AssertUnwindSafe(|| change(transaction))) {
            Ok(outcome) => outcome.map_err(Undone::Failed),
            Err(panic) => Err(Undone::Panicked(panic)),
        };
        let is_done = outcome.is_ok();
        let is_settled = match terms.alone {
            _ if !transaction.is_open() => true,
            true => is_done,
            false => transaction.end_savepoint(is_done).is_ok(),
        };
        // What could not be undone alone must not be committed with the rest.
        if !is_settled {
            transaction.roll_back();
        }
        if is_done && terms.defers {
            self.defers = true;
        } else if is_done {
            self.state.awaited = true;
        }
        outcome
    }

    /// Ends the open group. A transaction without a group is one that exclusive work left: nobody waits for it.
    fn commit_open(&mut self) {
        let State { transaction, open, awaited } = &mut *self.state;
        *awaited = false;
        match open.take() {
            Some(group) if transaction.is_open() => transaction.commit(|outcome| group.decide(outcome)),
            Some(group) => group.decide(Err(transaction.lost())),
            None if transaction.is_open() => transaction.roll_back(),
            None => {}
        }
    }

    /// Whether the open group is left to somebody else: to the next in the queue, or to whoever deferred the commit.
    fn leaves_group(&self) -> bool {
        let State { transaction, open, awaited } = &*self.state;
        let is_left = self.turns.queued.load(Ordering::SeqCst) > 0 || (self.defers && !awaited);
        open.is_some() && transaction.is_open() && is_left
    }
}

impl<T: Transaction> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        if !self.leaves_group() {
            self.commit_open();
        }
    }
}

impl<F: Clone> Group<F> {
    fn new() -> Group<F> {
        Group { outcome: Mutex::new(None), decided: Condvar::new() }
    }

    fn outcome(&self) -> MutexGuard<'_, Option<Result<u64, F>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, outcome: Result<u64, F>) {
        self.outcome().get_or_insert(outcome);
        self.decided.notify_all();
    }
}

impl<T: Transaction> Pending<T> {
    /// Says that somebody waits, so that this or the next turn with an empty queue commits.
    pub(super) fn claim(&mut self) {
        if std::mem::replace(&mut self.is_claimed, true) || self.group.outcome().is_some() {
            return;
        }
        let mut turn = self.turns.turn();
        if turn.state.open.as_ref().is_some_and(|open| Arc::ptr_eq(open, &self.group)) {
            turn.state.awaited = true;
        }
    }

    /// The outcome; `None`: not decided within the limit, the change may or may not be on the disk later.
    pub(super) fn wait(&mut self, limit: Duration) -> Option<Result<u64, T::Failure>> {
        self.claim();
        let waited = self.group.decided.wait_timeout_while(self.group.outcome(), limit, |outcome| outcome.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

/// A change that nobody waits for is committed all the same.
impl<T: Transaction> Drop for Pending<T> {
    fn drop(&mut self) {
        self.claim();
    }
}
