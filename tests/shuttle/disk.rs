//! A connection that is a list of numbers, and a standby that confirms commits.

use crate::turns::Transaction;
use shuttle::sync::{Condvar, Mutex as ScheduledMutex};
use shuttle::thread;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use tunneldesk::moment::Moment;

/// Why a change or a commit failed.
#[derive(Debug, Clone)]
pub struct Failure;

/// What a change that panics throws.
pub struct Fault;

/// What the test sees of the disk. Its locks are never kept while another thread runs.
#[derive(Default)]
pub struct Seen {
    durable: Mutex<Vec<u32>>,
    failed: Mutex<Vec<u32>>,
    is_in_transaction: AtomicBool,
    refuses: AtomicBool,
}

pub struct Disk {
    seen: Arc<Seen>,
    standby: Arc<Standby>,
    /// The rows of the open transaction.
    rows: Option<Vec<u32>>,
    /// How many of them were there when the savepoint began.
    savepoint: Option<usize>,
    undo_fails: bool,
    commits: u64,
}

/// Confirms commits from time to time, until it is away.
#[derive(Default)]
pub struct Standby {
    state: ScheduledMutex<StandbyState>,
    changed: Condvar,
}

#[derive(Default)]
struct StandbyState {
    newest: u64,
    confirmed: u64,
    is_there: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Seen {
    pub fn is_durable(&self, id: u32) -> bool {
        lock(&self.durable).contains(&id)
    }

    pub fn note_failed<T>(&self, id: u32) -> Option<T> {
        lock(&self.failed).push(id);
        None
    }

    /// As while a page is suspect.
    pub fn refuse_for_a_while(&self) {
        for refuses in [true, false] {
            self.refuses.store(refuses, Ordering::SeqCst);
            thread::yield_now();
        }
    }

    /// To be called after every caller has left.
    pub fn audit(&self) {
        assert!(!self.is_in_transaction.load(Ordering::SeqCst), "a group is left open");
        lock(&self.failed).iter().for_each(|id| assert!(!self.is_durable(*id), "{id} failed and is on the disk"));
    }
}

impl Disk {
    pub fn new(seen: Arc<Seen>, standby: Arc<Standby>) -> Disk {
        Disk { seen, standby, rows: None, savepoint: None, undo_fails: false, commits: 0 }
    }

    fn set_rows(&mut self, rows: Option<Vec<u32>>) -> Option<Vec<u32>> {
        self.savepoint = None;
        self.seen.is_in_transaction.store(rows.is_some(), Ordering::SeqCst);
        std::mem::replace(&mut self.rows, rows)
    }

    pub fn insert(&mut self, id: u32) {
        self.rows.as_mut().expect("a transaction").push(id);
    }

    /// SQLite rolls back the transaction.
    pub fn is_full(&mut self) {
        self.set_rows(None);
    }

    /// The savepoint of this change cannot be rolled back.
    pub fn undo_fails(&mut self) {
        self.undo_fails = true;
    }

    /// What checkpoints and backups do, and sometimes a transaction that they do not end.
    pub fn work_alone(&mut self, leaves_a_transaction: bool) {
        assert!(self.rows.is_none(), "exclusive work meets a transaction");
        thread::yield_now();
        if leaves_a_transaction {
            self.set_rows(Some(vec![999]));
        }
    }
}

impl Transaction for Disk {
    type Failure = Failure;

    fn refusal(&self) -> Option<Failure> {
        self.seen.refuses.load(Ordering::SeqCst).then_some(Failure)
    }

    fn begin(&mut self, _: Moment) -> Result<(), Failure> {
        assert!(self.rows.is_none(), "a transaction within a transaction");
        self.set_rows(Some(Vec::new()));
        Ok(())
    }

    fn is_open(&self) -> bool {
        self.rows.is_some()
    }

    fn begin_savepoint(&mut self) -> Result<(), Failure> {
        assert!(self.savepoint.is_none());
        self.savepoint = Some(self.rows.as_ref().expect("a transaction").len());
        Ok(())
    }

    fn end_savepoint(&mut self, keep: bool) -> Result<(), Failure> {
        let rows = self.savepoint.take().expect("a savepoint");
        if std::mem::take(&mut self.undo_fails) {
            return Err(Failure);
        }
        if !keep {
            self.rows.as_mut().expect("a transaction").truncate(rows);
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        self.set_rows(None);
    }

    fn commit(&mut self, decided: impl FnOnce(Result<u64, Failure>)) {
        assert!(self.savepoint.is_none());
        thread::yield_now();
        let refuses = self.refusal().is_some();
        let rows = self.set_rows(None).expect("a transaction");
        if refuses {
            return decided(Err(Failure));
        }
        assert!(!rows.contains(&999), "what exclusive work left is committed");
        lock(&self.seen.durable).extend(rows);
        self.commits += 1;
        self.standby.note(self.commits);
        decided(Ok(self.commits));
        // The checkpoint.
        thread::yield_now();
    }

    fn lost(&self) -> Failure {
        Failure
    }
}

impl Standby {
    fn note(&self, commit: u64) {
        self.state.lock().unwrap().newest = commit;
    }

    /// To be called before any caller begins.
    pub fn join(&self) {
        self.state.lock().unwrap().is_there = true;
    }

    /// Confirms what there is, three times, and is away.
    pub fn follow(&self) {
        for rounds_left in (0..3).rev() {
            thread::yield_now();
            let mut state = self.state.lock().unwrap();
            state.confirmed = state.newest;
            state.is_there = rounds_left > 0;
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for the standby without the connection, as long as it is there.
    pub fn wait(&self, commit: u64) {
        let waits = |state: &mut StandbyState| state.is_there && state.confirmed < commit;
        drop(self.changed.wait_while(self.state.lock().unwrap(), waits).unwrap());
    }
}
