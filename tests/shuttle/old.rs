//! The protocol that this one replaced, kept as the control: whoever flushes waits for the connection, and so lets another
//! caller leave its group open; then it finds its own group committed and goes, and nobody commits the open one.

use crate::disk::{Disk, Failure};
use crate::turns::Transaction;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
use shuttle::thread;
use tunneldesk::moment::Moment;

#[derive(Default)]
struct Group {
    outcome: Mutex<Option<bool>>,
    decided: Condvar,
}

struct State {
    disk: Disk,
    group: Option<Arc<Group>>,
}

struct Writer {
    state: Mutex<State>,
    waiting: AtomicUsize,
}

impl Group {
    fn is_open(&self) -> bool {
        self.outcome.lock().unwrap().is_none()
    }

    fn decide(&self, is_committed: bool) {
        self.outcome.lock().unwrap().get_or_insert(is_committed);
        self.decided.notify_all();
    }

    fn wait(&self) -> bool {
        let outcome = self.decided.wait_while(self.outcome.lock().unwrap(), |outcome| outcome.is_none()).unwrap();
        outcome.expect("it was awaited")
    }
}

impl Writer {
    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let state = self.state.lock().unwrap();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        state
    }

    fn write(&self, defers: bool, change: impl FnOnce(&mut Disk) -> Result<(), Failure>) -> Option<Arc<Group>> {
        let mut state = self.lock_state();
        if state.group.is_none() {
            state.disk.begin(Moment(0)).unwrap();
            state.group = Some(Arc::default());
        }
        let group = state.group.clone().expect("it was begun");
        state.disk.begin_savepoint().unwrap();
        let outcome = change(&mut state.disk);
        state.disk.end_savepoint(outcome.is_ok()).unwrap();
        let defers = defers && outcome.is_ok();
        if !defers && self.waiting.load(Ordering::SeqCst) == 0 {
            state.group = None;
            state.disk.commit(|outcome| group.decide(outcome.is_ok()));
        }
        outcome.is_ok().then_some(group)
    }

    fn flush(&self, group: &Arc<Group>) -> bool {
        if group.is_open() {
            let mut state = self.lock_state();
            if let Some(left) = state.group.take_if(|open| Arc::ptr_eq(open, group)) {
                state.disk.commit(|outcome| left.decide(outcome.is_ok()));
            }
        }
        group.wait()
    }
}

/// A booking token, a deferred write, and partner calls that are refused.
pub fn callers() {
    let disk = Disk::new(Default::default(), Default::default());
    let writer = Arc::new(Writer { state: Mutex::new(State { disk, group: None }), waiting: AtomicUsize::new(0) });
    let calls = |number: u32, defers: bool, fails: bool| {
        let writer = writer.clone();
        thread::spawn(move || {
            for id in [10 * number, 10 * number + 1] {
                let written = writer.write(defers, |disk| {
                    disk.insert(id);
                    thread::yield_now();
                    if fails { Err(Failure) } else { Ok(()) }
                });
                if let Some(group) = written {
                    assert!(if defers { writer.flush(&group) } else { group.wait() });
                }
            }
        })
    };
    let all = [calls(1, false, false), calls(2, true, false), calls(3, true, true), calls(4, false, false)];
    all.into_iter().for_each(|caller| caller.join().unwrap());
}
