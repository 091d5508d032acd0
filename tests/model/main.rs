//! The continuous off-site copy as a checked model: every order of writes, checkpoints, copies, ticks, flushes,
//! confirmations, crashes, losses of the disk and restores, up to a depth. The model has no checksums; in the product
//! they are an additional safeguard.
//!
//! Each guard of the design can be left out, and then the checker must find an order of events that loses data.

#![allow(unreachable_pub, reason = "nothing imports from here")]

mod standby;
mod state;
mod takeover;

use state::{Copying, File, PAGES, Pages, Process, State, Without, apply};
use stateright::{Checker, HasDiscoveries, Model, Property};

const WRITES_MAX: usize = 4;
const DEPTH_MAX: usize = 16;

struct OffSiteCopy(Without);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Write(usize),
    Checkpoint,
    BeginCopy,
    EndCopy,
    Send,
    Flush,
    Confirm,
    Look,
    Crash,
    Start,
    LoseDiskAndRestore,
    TargetLosesItsMemory,
    TargetIsPutBack,
}

impl Model for OffSiteCopy {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            writes: Vec::new(),
            file: Pages::default(),
            wal: Vec::new(),
            salt: 0,
            is_moved: false,
            process: Some(Process::default()),
            lineages: 0,
            flushed: Vec::new(),
            cached: None,
            promised: 0,
            is_put_back: false,
            put_backs: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut may = |action, is_possible: bool| actions.extend(is_possible.then_some(action));
        may(Action::TargetLosesItsMemory, state.cached.is_some());
        may(Action::TargetIsPutBack, state.put_backs == 0 && state.promised > 0);
        may(Action::LoseDiskAndRestore, state.promised > 0);
        let Some(process) = &state.process else {
            may(Action::Start, true);
            return;
        };
        for page in 0..PAGES {
            may(Action::Write(page), state.writes.len() < WRITES_MAX);
        }
        let waits = !state.wal.is_empty() && !state.is_moved;
        may(Action::Checkpoint, waits && (self.0 == Without::CheckpointGate || state.gate_is_open()));
        let has_base_under_way = process.chain.as_ref().is_some_and(|chain| chain.base.is_some());
        may(Action::BeginCopy, process.copying.is_none() && !has_base_under_way);
        may(Action::EndCopy, process.copying.is_some());
        may(Action::Send, process.chain.is_some() && process.sent.is_none());
        may(Action::Flush, state.cached.is_some() && process.sent.is_some());
        let early = self.0 == Without::Flush;
        may(Action::Confirm, process.sent.is_some_and(|sent| sent.is_flushed || early));
        may(Action::Look, process.sent.is_none() && state.is_put_back);
        may(Action::Crash, true);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let process = state.process.as_mut();
        match action {
            Action::Write(page) => state.write(page),
            Action::Checkpoint => (state.file, state.is_moved) = (apply(state.file, &state.wal), true),
            Action::BeginCopy => {
                let (first_page, begun_at) = (apply(last.file, &last.wal)[0], last.end());
                process?.copying = Some(Copying { first_page, begun_at, begun_writes: last.writes() });
            }
            Action::EndCopy => state.end_copy(self.0),
            Action::Send => state.send()?,
            Action::Flush => {
                process?.sent.as_mut()?.is_flushed = true;
                state.flushed.extend(state.cached.take());
            }
            Action::Confirm => state.confirm(self.0)?,
            Action::Look => {
                let chain = process?.chain.as_ref()?;
                let has_last = chain.last.is_none_or(|last| state.flushed.contains(&last));
                if !has_last && self.0 != Without::LookAtTheTarget {
                    state.process.as_mut()?.give_up();
                    (state.promised, state.is_put_back) = (0, false);
                }
            }
            Action::Crash => (state.process, state.cached) = (None, None),
            Action::Start => {
                // A start moves the whole WAL into the database, and does not continue the chain of the last process.
                state.file = apply(state.file, &state.wal);
                (state.wal, state.is_moved, state.salt) = (Vec::new(), false, state.salt + 1);
                state.process = Some(Process::default());
            }
            Action::LoseDiskAndRestore => state.lose_disk_and_restore(),
            Action::TargetLosesItsMemory => {
                state.cached = None;
                // The write fails and is tried again: its content is still in the WAL.
                if let Some(sent) = process.and_then(|process| process.sent) {
                    state.cached = (!sent.is_flushed).then_some(sent.file).filter(|_| self.0 != Without::Flush);
                }
            }
            Action::TargetIsPutBack => {
                state.flushed.pop();
                (state.is_put_back, state.put_backs) = (true, 1);
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(WHOLE, |_, state: &State| {
                state.restorable().into_iter().all(|(pages, writes)| pages == state.oracle(writes))
            }),
            Property::always(KEPT, |_, state: &State| {
                state.is_put_back || state.restorable().last().map_or(0, |(_, writes)| *writes) >= state.promised
            }),
            // Without these properties the two above could hold because nothing happens.
            Property::sometimes("a chain goes on over a log that began anew", |_, state: &State| {
                state.flushed.iter().any(|tick| {
                    let is_before = |base: &File| base.is_base && base.lineage == tick.lineage && base.salt < tick.salt;
                    !tick.is_base && state.flushed.iter().any(is_before)
                })
            }),
            Property::sometimes("a second base stands in the middle of a chain", |_, state: &State| {
                state.flushed.iter().any(|file| file.is_base && file.number > 0)
            }),
            Property::sometimes("the next lineage has a base", |_, state: &State| {
                state.flushed.iter().any(|file| file.is_base && file.lineage > 1)
            }),
        ]
    }
}

const WHOLE: &str = "whatever is restored is what the site held after some write";
const KEPT: &str = "whatever was confirmed is restored";

/// The properties that do not hold, each with an order of events that shows it.
fn broken(without: Without) -> Vec<(&'static str, String)> {
    let enough = if without == Without::Nothing { HasDiscoveries::All } else { HasDiscoveries::AnyFailures };
    let checker = OffSiteCopy(without).checker().target_max_depth(DEPTH_MAX).finish_when(enough).spawn_bfs().join();
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{without:?}: {states} states, {depth} deep");
    let found = checker.discoveries();
    let never = ["a chain goes on", "a second base", "the next lineage"];
    for name in checker.model().properties().iter().map(|property| property.name) {
        let is_needed = without == Without::Nothing && never.iter().any(|begin| name.starts_with(begin));
        assert!(!is_needed || found.contains_key(name), "nowhere in {states} states: {name}");
    }
    let failures = found.into_iter().filter(|(name, _)| [WHOLE, KEPT].contains(name));
    failures.map(|(name, path)| (name, format!("{:?}", path.into_actions()))).collect()
}

#[test]
fn nothing_confirmed_is_lost_and_nothing_restored_is_torn() {
    assert_eq!(broken(Without::Nothing), []);
}

#[test]
fn without_the_checkpoint_gate_a_restore_is_torn() {
    let found = broken(Without::CheckpointGate);
    assert!(found.iter().any(|(name, _)| *name == WHOLE), "{found:?}");
}

#[test]
fn with_a_confirmation_before_the_flush_something_confirmed_is_lost() {
    let found = broken(Without::Flush);
    assert!(found.iter().any(|(name, _)| *name == KEPT), "{found:?}");
}

#[test]
fn with_the_position_of_its_begin_a_base_is_torn() {
    let found = broken(Without::PositionAtTheEnd);
    assert!(found.iter().any(|(name, _)| *name == WHOLE), "{found:?}");
}

#[test]
fn without_a_look_at_the_target_something_confirmed_is_lost() {
    let found = broken(Without::LookAtTheTarget);
    assert!(found.iter().any(|(name, _)| *name == KEPT), "{found:?}");
}
