//! Promotions of two machines with one site as a checked model: each may be promoted again and again, in every order, with a
//! network that is cut between any two steps. The second machine followed the first one, and asks it from its promotion on.

use stateright::{Checker, HasDiscoveries, Model, Property};

const PROMOTIONS_MAX: u8 = 4;
const CUTS_MAX: u8 = 2;
const DEPTH_MAX: usize = 18;
/// The machine that was the main one first, and the one that followed it.
const FIRST: usize = 0;
const SECOND: usize = 1;

/// The guard that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Nothing,
    /// The second machine asks the first no more once that knows of the promotion.
    Asking,
    /// Of two machines that took one epoch independently, none has the greater claim.
    Mark,
}

struct Rivals(Without);

/// An epoch, and what distinguishes two machines that took it independently.
type Claim = (u8, u8);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Machine {
    claim: Claim,
    /// The greatest claim of another machine that this one has heard of.
    heard: Claim,
    serves: bool,
    asks: bool,
    /// Whether this machine knows that the other one writes nothing.
    knows_loser: bool,
}

impl Machine {
    fn known(&self) -> Claim {
        self.claim.max(self.heard)
    }

    fn is_replaced(&self) -> bool {
        self.heard > self.claim
    }

    fn writes(&self) -> bool {
        self.serves && !self.is_replaced()
    }

    /// Takes the greatest claim that the other machine knows.
    fn hear(&mut self, claim: Claim) {
        self.heard = self.heard.max(claim);
        self.knows_loser |= self.claim.0 > 0 && !self.is_replaced() && claim == self.claim;
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct State {
    machines: [Machine; 2],
    /// The answer on its way to the second machine, and whether it is older than the last promotion.
    answer: Option<Claim>,
    is_answer_old: bool,
    is_cut: bool,
    cuts: u8,
    promotions: u8,
    /// Questions that were answered since the last promotion.
    meetings: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Promote(usize),
    Ask,
    Answer,
    Cut,
    Heal,
}

impl Model for Rivals {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = State::default();
        state.machines[FIRST].serves = true;
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut may = |action, is_possible: bool| actions.extend(is_possible.then_some(action));
        for machine in [FIRST, SECOND] {
            may(Action::Promote(machine), state.promotions < PROMOTIONS_MAX);
        }
        may(Action::Ask, state.machines[SECOND].asks && !state.is_cut && state.answer.is_none());
        may(Action::Answer, state.answer.is_some());
        may(Action::Cut, !state.is_cut && state.cuts < CUTS_MAX);
        may(Action::Heal, state.is_cut);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Promote(number) => {
                let mark = if self.0 == Without::Mark { 0 } else { number as u8 };
                let machine = &mut state.machines[number];
                machine.claim = (machine.known().0 + 1, mark);
                (machine.serves, machine.knows_loser) = (true, false);
                machine.asks = number == SECOND;
                // The answer to a process that has ended is lost.
                state.answer = state.answer.filter(|_| number != SECOND);
                state.is_answer_old = state.answer.is_some();
                (state.promotions, state.meetings) = (state.promotions + 1, 0);
            }
            Action::Ask => {
                let asks = last.machines[SECOND].known();
                state.machines[FIRST].hear(asks);
                (state.answer, state.is_answer_old) = (Some(state.machines[FIRST].known()), false);
            }
            Action::Answer => {
                let second = &mut state.machines[SECOND];
                second.hear(state.answer.take()?);
                second.asks &= self.0 != Without::Asking || !second.knows_loser;
                state.meetings = (state.meetings + u8::from(!state.is_answer_old)).min(2);
                state.is_answer_old = false;
            }
            Action::Cut => {
                (state.is_cut, state.cuts) = (true, state.cuts + 1);
                (state.answer, state.is_answer_old) = (None, false);
            }
            Action::Heal => state.is_cut = false,
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            // At the first meeting the one hears of the other's claim, and at the second the other hears that it is known.
            Property::always(ONE, |_, state: &State| {
                state.meetings < 2 || state.machines.iter().filter(|machine| machine.writes()).count() == 1
            }),
            Property::always(SAID, |_, state: &State| {
                let says = |machine: &Machine| machine.is_replaced() || machine.knows_loser;
                state.meetings < 2 || state.machines.iter().all(says)
            }),
            Property::always(ASKED, |_, state: &State| {
                !state.machines.iter().all(Machine::writes) || state.machines[SECOND].asks
            }),
            Property::always(GOES_ON, |_, state: &State| state.machines.iter().any(Machine::writes)),
            // Without these properties those above could hold because nothing happens.
            Property::sometimes("the first machine takes its place back", |_, state: &State| {
                state.meetings == 2 && state.machines[FIRST].writes() && state.machines[SECOND].serves
            }),
            Property::sometimes("two machines took one epoch and met", |_, state: &State| {
                let [first, second] = &state.machines;
                state.meetings == 2 && first.claim.0 == second.claim.0
            }),
            Property::sometimes("each machine was promoted twice", |_, state: &State| {
                state.promotions == PROMOTIONS_MAX && state.meetings == 2 && state.machines[SECOND].claim.0 > 3
            }),
        ]
    }
}

const ONE: &str = "of two machines that have met one writes";
const SAID: &str = "both say so";
const ASKED: &str = "two machines that write meet once they can";
const GOES_ON: &str = "one machine goes on";

/// The properties that do not hold, each with an order of events that shows it.
fn broken(without: Without) -> Vec<(&'static str, String)> {
    let enough = if without == Without::Nothing { HasDiscoveries::All } else { HasDiscoveries::AnyFailures };
    let checker = Rivals(without).checker().target_max_depth(DEPTH_MAX).finish_when(enough).spawn_bfs().join();
    let states = checker.unique_state_count();
    println!("{without:?}: {states} states, {} deep", checker.max_depth());
    let found = checker.discoveries();
    let always = [ONE, SAID, ASKED, GOES_ON];
    for property in checker.model().properties().iter().skip(always.len()).filter(|_| without == Without::Nothing) {
        assert!(found.contains_key(property.name), "nowhere in {states} states: {}", property.name);
    }
    let failures = found.into_iter().filter(|(name, _)| always.contains(name));
    failures.map(|(name, path)| (name, format!("{:?}", path.into_actions()))).collect()
}

#[test]
fn of_two_machines_that_were_promoted_in_any_order_one_writes_once_they_met_and_both_say_so() {
    assert_eq!(broken(Without::Nothing), []);
}

#[test]
fn a_machine_that_asks_no_more_writes_on_beside_the_one_that_took_its_place_back() {
    let found = broken(Without::Asking);
    assert!(found.iter().any(|(name, _)| *name == ASKED), "{found:?}");
}

#[test]
fn two_machines_that_took_one_epoch_write_on_where_nothing_distinguishes_them() {
    let found = broken(Without::Mark);
    assert!(found.iter().any(|(name, _)| [ONE, SAID].contains(name)), "{found:?}");
}
