//! The standby as a checked model: writes whose answers wait for the standby, its flush and its confirmation, crashes
//! of either machine, a network that is cut, a promotion, and the news of it. Each guard can be left out, and then the
//! checker must find an order of events that breaks the promise.

use stateright::{Checker, HasDiscoveries, Model, Property};

const WRITES_MAX: u8 = 3;
const CUTS_MAX: u8 = 2;
const DEPTH_MAX: usize = 14;

/// The guard that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// The standby confirms a tick before it is on its disk.
    Flush,
    /// A promotion leaves the epoch as it is.
    Fence,
    /// An answer does not wait for the standby.
    Wait,
}

struct Pair(Without);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Main {
    Serves,
    /// Another machine was promoted, and this one knows.
    Replaced,
    /// The disk of the machine is lost.
    Gone,
}

/// The state of both machines. Writes are numbered, and a machine has all writes up to a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    main: Main,
    main_epoch: u8,
    written: u8,
    /// The last write that was acknowledged while the standby kept up.
    acknowledged: u8,
    is_cut: bool,
    cuts: u8,
    /// The last write on its way to the standby, in its memory, and on its disk.
    sent: Option<u8>,
    cached: Option<u8>,
    flushed: u8,
    /// Whether answers of the main machine wait for the standby.
    is_in_step: bool,
    /// The epoch of the standby, once it is promoted.
    promoted: Option<u8>,
    /// Writes of the main machine after the promotion.
    second_history: u8,
    /// Whether the main machine wrote after the two machines had met.
    wrote_on: bool,
    has_met: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Write,
    Send,
    Arrive,
    Flush,
    Confirm,
    TimeOut,
    Cut,
    Heal,
    LoseMain,
    CrashStandby,
    Promote,
    Meet,
}

impl State {
    fn confirm(&mut self, number: u8) {
        self.acknowledged = self.acknowledged.max(number);
        self.sent = None;
    }
}

impl Model for Pair {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            main: Main::Serves,
            main_epoch: 0,
            written: 0,
            acknowledged: 0,
            is_cut: false,
            cuts: 0,
            sent: None,
            cached: None,
            flushed: 0,
            is_in_step: true,
            promoted: None,
            second_history: 0,
            wrote_on: false,
            has_met: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut may = |action, is_possible: bool| actions.extend(is_possible.then_some(action));
        let (serves, follows) = (state.main == Main::Serves, state.promoted.is_none());
        may(Action::Write, serves && state.written < WRITES_MAX);
        may(Action::Send, serves && follows && !state.is_cut && state.sent.is_none() && state.written > state.flushed);
        may(Action::Arrive, follows && !state.is_cut && state.sent.is_some() && state.cached.is_none());
        may(Action::Flush, state.cached.is_some());
        let has_it = |number: u8| state.flushed >= number || self.0 == Without::Flush && state.cached == Some(number);
        may(Action::Confirm, serves && follows && !state.is_cut && state.sent.is_some_and(has_it));
        may(Action::TimeOut, serves && state.is_in_step && state.written > state.acknowledged);
        may(Action::Cut, !state.is_cut && state.cuts < CUTS_MAX);
        may(Action::Heal, state.is_cut);
        may(Action::LoseMain, serves);
        may(Action::CrashStandby, state.cached.is_some());
        may(Action::Promote, follows);
        may(Action::Meet, serves && !follows && !state.is_cut);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Write => {
                state.written += 1;
                if self.0 == Without::Wait && state.is_in_step {
                    state.acknowledged = state.written;
                }
                if state.promoted.is_some() {
                    state.second_history += 1;
                    state.wrote_on |= state.has_met;
                }
            }
            Action::Send => state.sent = Some(state.written),
            Action::Arrive => state.cached = state.sent,
            Action::Flush => state.flushed = state.flushed.max(state.cached.take()?),
            Action::Confirm => {
                let number = state.sent?;
                state.confirm(number);
            }
            // From here on answers do not wait for the standby, and the operator is told.
            Action::TimeOut => state.is_in_step = false,
            Action::Cut => (state.is_cut, state.cuts, state.sent) = (true, state.cuts + 1, None),
            Action::Heal => state.is_cut = false,
            Action::LoseMain => state.main = Main::Gone,
            Action::CrashStandby => (state.cached, state.sent) = (None, None),
            Action::Promote => {
                let raised = state.main_epoch + u8::from(self.0 != Without::Fence);
                (state.promoted, state.cached, state.sent) = (Some(raised), None, None);
            }
            Action::Meet => {
                state.has_met = true;
                if state.promoted? > state.main_epoch {
                    state.main = Main::Replaced;
                }
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            // A promoted machine serves every write that was acknowledged while the standby kept up.
            Property::always(KEPT, |_, state: &State| state.promoted.is_none() || state.flushed >= state.acknowledged),
            Property::always(ONE, |_, state: &State| !state.wrote_on),
            // Without these properties the two above could hold because nothing happens.
            Property::sometimes("a promoted machine has what was acknowledged", |_, state: &State| {
                state.promoted.is_some() && state.acknowledged > 1 && state.main == Main::Gone
            }),
            Property::sometimes("a machine that is cut off writes a second history", |_, state: &State| {
                state.second_history > 1 && state.is_cut
            }),
            Property::sometimes("the loser knows", |_, state: &State| {
                state.main == Main::Replaced && state.second_history > 0
            }),
        ]
    }
}

const KEPT: &str = "what was acknowledged is on the standby";
const ONE: &str = "whoever was replaced and met the other writes nothing";

/// The properties that do not hold, each with an order of events that shows it.
fn broken(without: Without) -> Vec<(&'static str, String)> {
    let enough = if without == Without::Nothing { HasDiscoveries::All } else { HasDiscoveries::AnyFailures };
    let checker = Pair(without).checker().target_max_depth(DEPTH_MAX).finish_when(enough).spawn_bfs().join();
    let states = checker.unique_state_count();
    println!("{without:?}: {states} states, {} deep", checker.max_depth());
    let found = checker.discoveries();
    for property in checker.model().properties().iter().skip(2).filter(|_| without == Without::Nothing) {
        assert!(found.contains_key(property.name), "nowhere in {states} states: {}", property.name);
    }
    let failures = found.into_iter().filter(|(name, _)| [KEPT, ONE].contains(name));
    failures.map(|(name, path)| (name, format!("{:?}", path.into_actions()))).collect()
}

#[test]
fn what_was_acknowledged_is_promoted_and_the_loser_stops_once_it_hears() {
    assert_eq!(broken(Without::Nothing), []);
}

#[test]
fn a_standby_that_confirms_before_its_flush_loses_what_was_acknowledged() {
    let found = broken(Without::Flush);
    assert!(found.iter().any(|(name, _)| *name == KEPT), "{found:?}");
}

#[test]
fn an_answer_that_waits_for_nobody_is_lost_with_the_main_machine() {
    let found = broken(Without::Wait);
    assert!(found.iter().any(|(name, _)| *name == KEPT), "{found:?}");
}

#[test]
fn without_a_fence_two_machines_write_after_they_met() {
    let found = broken(Without::Fence);
    assert!(found.iter().any(|(name, _)| *name == ONE), "{found:?}");
}
