//! The states as a table; eligibility; and that only another, qualified, current and listed person can open an entry.

use super::*;
use crate::domain::currency::{self, Currency, Standing};
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::signoff::{self, Signer};
use crate::moment::Moment;
use proptest::prelude::*;

fn key(cat_group: &'static str, cat_id: &'static str, track: &'static str) -> LevelKey<'static> {
    LevelKey { cat_group, cat_id, track }
}

/// The authority of signer 1 to sign Flyer Level 1 for holder 2.
fn authority() -> Authority {
    let (held, listed) = ([key("Instructor", "1", "")], ["Instructor".to_owned()]);
    let current = Currency { current: true, renewal: Some(Moment(1)) };
    let currency = Currencies { instructor: current, ..Currencies::default() };
    let signer = Signer { member_id: MemberId(1), held: &held, currency, listed: &listed, in_good_standing: true };
    signoff::authority(&signer, MemberId(2), Catalogue::built_in().levels().next().unwrap()).unwrap()
}

#[test]
fn the_transitions_are_those_of_the_table_and_no_others() {
    let proof = authority();
    let actions = [Action::Ask, Action::Sign(&proof), Action::Deny, Action::Cancel, Action::Suspend, Action::Reinstate];
    use Status::*;
    for (from, to) in [
        (None, [Some(Pending), Some(Open), None, None, None, None]),
        (Some(Pending), [None, Some(Open), Some(Denied), Some(Cancelled), None, None]),
        (Some(Open), [None, None, None, None, Some(Suspended), None]),
        (Some(Denied), [Some(Pending), None, None, None, None, None]),
        (Some(Suspended), [None, None, None, None, None, Some(Open)]),
        (Some(Cancelled), [None; 6]),
    ] {
        assert_eq!(actions.map(|action| transition(from, action)), to, "from {from:?}");
    }
}

#[test]
fn each_action_is_open_to_its_relations_only() {
    let proof = authority();
    let nobody = Relation::default();
    let (holder, named) = (Relation { holder: true, ..nobody }, Relation { named: true, ..nobody });
    let (staff, admin) = (Relation { staff: true, ..nobody }, Relation { staff: true, admin: true, ..nobody });
    for (action, who) in [
        (Action::Ask, [false, true, false, true, true]),
        (Action::Sign(&proof), [true, false, true, true, true]),
        (Action::Deny, [false, false, true, false, false]),
        (Action::Cancel, [false, true, false, true, true]),
        (Action::Suspend, [false, false, false, false, true]),
        (Action::Reinstate, [false, false, false, false, true]),
    ] {
        assert_eq!([nobody, holder, named, staff, admin].map(|actor| is_allowed(actor, action)), who, "{action:?}");
    }
}

#[test]
fn states_have_names_both_ways() {
    for status in Status::ALL {
        assert_eq!(Status::parse(status.name()), Some(status));
    }
    assert_eq!(Status::parse(NOT_CURRENT), None, "it is derived and never stored");
}

#[test]
fn only_what_is_held_can_lapse() {
    let flyer = [key("Flyer", "1", "")];
    let coming = [key("Flyer", "2", "Formation")];
    assert_eq!(lapsed(&flyer, &Currencies::default()), ["Flyer"]);
    assert!(lapsed(&coming, &Currencies::default()).is_empty() && lapsed(&[], &Currencies::default()).is_empty());
    let all = [key("Flyer", "1", ""), key("AFC", "1", ""), key("Instructor", "1", ""), key("Military", "1", "")];
    let standing = Standing {
        held: &all,
        last_flight: Some(Moment(0)),
        trained: &[("Military", Moment(0))],
        zone: &TimeZone::UTC,
    };
    assert_eq!(lapsed(&all, &currency::of(&standing, Moment(1))), ["Instructor"]);
}

#[test]
fn a_brief_comes_first_and_then_the_levels_in_their_order() {
    let catalogue = Catalogue::built_in();
    let ask = |skill: &str, held: &[LevelKey], briefed: &[&str]| {
        let briefed: Vec<String> = briefed.iter().map(|one| (*one).to_owned()).collect();
        missing_prerequisite(catalogue, skill, held, &briefed)
    };
    let level = |name: &str| Some(MissingPrerequisite::Level(name.to_owned()));
    let brief = |name: &str| {
        let mut records = catalogue.programmes().iter().flat_map(|programme| &programme.safety);
        records.find(|record| record.name == name).map(MissingPrerequisite::Brief)
    };
    let first = key("Flyer", "1", "");
    assert_eq!(ask("10101", &[], &[]), brief("Flyer safety brief before the first flight"));
    assert_eq!(ask("10101", &[], &["Flyer"]), None);
    assert_eq!(ask("10201", &[], &["Flyer"]), level("Flyer Level 1"));
    assert_eq!(ask("10201", &[first], &["Flyer"]), None);
    assert_eq!(ask("11301", &[first, key("Flyer", "2", "Formation")], &["Flyer"]), level("Backflying Level 2"));
    assert_eq!(ask("60101", &[first], &["Coach"]), level("Flyer Level 3"));
    assert_eq!(ask("30101", &[key("AFC", "1", "")], &["Flyer"]), brief("Instructor safety induction"));
    assert_eq!(ask("10001", &[], &[]), None);
    assert_eq!(ask("10002", &[], &[]), brief("Flyer safety brief before the first flight"));
    assert_eq!(ask("10002", &[], &["Flyer"]), None);
    // Assistants share the instructors' safety logbook, so being admitted as an assistant is enough.
    assert_eq!(ask("30001", &[key("Flyer", "2", "Backflying")], &[]), None);
    for skill in ["30001", "30002", "20101", "30101"] {
        assert_eq!(
            ask(skill, &[first], &[]),
            level("Backflying Level 2"),
            "{skill}: the programme begins with assistants"
        );
    }
    assert_eq!(ask("20101", &[key("Flyer", "2", "Backflying")], &[]), brief("Instructor safety induction"));
    assert_eq!(ask("70001", &[], &[]), None);
}

#[test]
fn following_what_is_named_first_leads_to_every_skill() {
    let catalogue = Catalogue::built_in();
    let records = catalogue.programmes().iter().flat_map(|programme| &programme.safety);
    let all = catalogue.skills().map(|(_, skill)| &skill.skill).chain(records.map(|record| &record.skill));
    for skill in all {
        let (mut held, mut briefed, mut wanted) = (Vec::new(), Vec::new(), vec![skill.clone()]);
        while let Some(next) = wanted.pop() {
            let Some(missing) = missing_prerequisite(catalogue, &next, &held, &briefed) else {
                match (catalogue.find_skill(&next), catalogue.find_safety(&next)) {
                    (Some((level, _)), _) => held.push(level.key()),
                    (None, found) => briefed.push(found.unwrap().0.safety_logbook.clone()),
                }
                continue;
            };
            let first = match missing {
                MissingPrerequisite::Brief(record) => record.skill.clone(),
                MissingPrerequisite::Level(name) => {
                    // Any track of the third level of a flyer is enough for a coach.
                    let named = |level: &&Level| {
                        level.name == name || name == format!("{} Level {}", level.cat_group, level.cat_id)
                    };
                    catalogue.levels().find(named).unwrap().skills[0].skill.clone()
                }
            };
            assert!(
                !wanted.contains(&first) && first != next,
                "{skill}: {first} needs {next}, and {next} needs {first}"
            );
            wanted.extend([next, first]);
        }
    }
}

/// A person in some state at the moment of an action.
#[derive(Debug, Clone)]
struct Person {
    held: Vec<usize>,
    flown: bool,
    trained: Vec<&'static str>,
    listed: Vec<String>,
    good: bool,
}

#[derive(Debug, Clone, Copy)]
enum Try {
    Ask,
    Sign,
    Deny,
    Cancel,
    Suspend,
    Reinstate,
}

fn person() -> impl Strategy<Value = Person> {
    let levels = Catalogue::built_in().levels().count();
    let programmes = || prop::sample::subsequence(PROGRAMMES.to_vec(), 0..=PROGRAMMES.len());
    let held = prop::collection::vec(0..levels, 0..4);
    (held, any::<bool>(), programmes(), programmes(), any::<bool>()).prop_map(|(held, flown, trained, listed, good)| {
        let listed = listed.into_iter().map(str::to_owned).collect();
        Person { held, flown, trained, listed, good }
    })
}

fn tries() -> impl Strategy<Value = Vec<(usize, Try)>> {
    let actions = [Try::Ask, Try::Sign, Try::Deny, Try::Cancel, Try::Suspend, Try::Reinstate];
    prop::collection::vec((0_usize..4, prop::sample::select(actions.to_vec())), 1..40)
}

const NOW: Moment = Moment(1_780_000_000);

/// The rule book's rule on sign-off, written a second time, level by level, without the product's code.
fn naive(person: &Person, level: &Level) -> bool {
    let catalogue = Catalogue::built_in();
    let counts = |group: &str, from: &str| {
        let holds = person.held.iter().filter_map(|n| catalogue.levels().nth(*n));
        let highest = holds.filter(|one| one.cat_group == group).map(|one| one.cat_id.as_str()).max();
        let logbook = if group == "Examiner" { "Trainer" } else { group };
        let current = person.trained.contains(&logbook);
        highest.is_some_and(|highest| highest >= from) && current && person.listed.iter().any(|one| one == group)
    };
    let n = level.cat_id.as_str();
    person.good
        && match level.cat_group.as_str() {
            "Flyer" => counts("Instructor", n.min("4")),
            "AFC" => counts("Trainer", "1") || counts("Examiner", "1"),
            "Instructor" => counts("Trainer", n) || counts("Examiner", "1"),
            "Trainer" | "Coach" => counts("Trainer", "4") || counts("Examiner", "1"),
            "Examiner" => counts("Examiner", "1"),
            _ => counts("Trainer", "1") && counts("Military", "1"),
        }
}

proptest! {
    /// Four people (the first is the holder, the second the named signer, the fourth an admin) try any actions in any
    /// order.
    #[test]
    fn nothing_opens_an_entry_but_a_qualified_current_listed_other_person(
        people in prop::collection::vec(person(), 4), skill in 0_usize..20, tries in tries()
    ) {
        let catalogue = Catalogue::built_in();
        let level = catalogue.levels().nth(skill % catalogue.levels().count()).unwrap();
        let (mut status, mut signed): (Option<Status>, bool) = (None, false);
        for (who, attempt) in tries {
            let person = &people[who];
            let held: Vec<LevelKey> = person.held.iter().map(|n| catalogue.levels().nth(*n).unwrap().key()).collect();
            let trained: Vec<(&str, Moment)> = person.trained.iter().map(|logbook| (*logbook, NOW - 1)).collect();
            let standing = Standing { held: &held, last_flight: person.flown.then_some(NOW - 1), trained: &trained, zone: &TimeZone::UTC };
            let signer = Signer {
                member_id: MemberId(who as i64), held: &held, currency: currency::of(&standing, NOW),
                listed: &person.listed, in_good_standing: person.good,
            };
            let proof = signoff::authority(&signer, MemberId(0), level);
            prop_assert_eq!(proof.is_ok(), who != 0 && naive(person, level), "{} by {:?}", level, person);
            let action = match (attempt, &proof) {
                (Try::Sign, Ok(proof)) => Action::Sign(proof),
                (Try::Sign, Err(_)) => continue,
                (Try::Ask, _) => Action::Ask,
                (Try::Deny, _) => Action::Deny,
                (Try::Cancel, _) => Action::Cancel,
                (Try::Suspend, _) => Action::Suspend,
                (Try::Reinstate, _) => Action::Reinstate,
            };
            let actor = Relation { holder: who == 0, named: who == 1, staff: who == 3, admin: who == 3 };
            let Some(next) = transition(status, action).filter(|_| is_allowed(actor, action)) else { continue };
            signed |= matches!(action, Action::Sign(_)) && who != 0 && naive(person, level);
            status = Some(next);
            prop_assert!(signed || !next.is_signed(), "{:?} by {} made it {:?}", attempt, who, next);
        }
    }
}
