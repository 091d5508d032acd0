//! The crowd: some come every week, some once a year, some came once.

use super::Plan;
use super::ladder::{Ladder, Target};
use super::names::Names;
use super::people::{End, OPENING, Person, climb};
use super::rng::Rng;
use crate::domain::role::Role;

/// How often somebody flies, how many of a hundred do, and how far they want to come.
struct Habit {
    flights_a_year: u64,
    weight: u64,
    /// Of a hundred of them, how many work towards a level.
    ambition: u64,
    /// How many days the last flight of those who still come is ago, at the most.
    pause_days_max: i64,
    goals: &'static [&'static [Target]],
}

const FIRST: &[Target] = &[("Flyer", "1", "")];
const SECOND: &[Target] = &[("Flyer", "2", "Backflying")];
const FORMATION_2: &[Target] = &[("Flyer", "2", "Formation")];
const HIGH: &[&[Target]] = &[
    &[("Flyer", "3", "Static")],
    &[("Flyer", "4", "Static")],
    &[("Flyer", "3", "Dynamic")],
    &[("Flyer", "5", "Dynamic")],
    &[("Flyer", "3", "Formation")],
    &[("Flyer", "4", "Formation"), ("Flyer", "2", "Backflying")],
    SECOND,
];

const HABITS: [Habit; 6] = [
    Habit { flights_a_year: 50, weight: 6, ambition: 100, pause_days_max: 9, goals: HIGH },
    Habit { flights_a_year: 24, weight: 10, ambition: 95, pause_days_max: 25, goals: HIGH },
    Habit { flights_a_year: 12, weight: 20, ambition: 85, pause_days_max: 50, goals: &[FIRST, SECOND, FORMATION_2] },
    Habit { flights_a_year: 4, weight: 24, ambition: 60, pause_days_max: 170, goals: &[FIRST, FIRST, SECOND] },
    Habit { flights_a_year: 1, weight: 25, ambition: 20, pause_days_max: 420, goals: &[FIRST] },
    // Once, and never again.
    Habit { flights_a_year: 0, weight: 15, ambition: 0, pause_days_max: 0, goals: &[] },
];
/// Entries a member from which on everybody may climb as they like; below, signed skills would leave no room for flights.
const ENTRIES_FOR_ALL_AMBITIONS: u64 = 36;
/// Entries a member below which not everybody has flown.
const ENTRIES_FOR_ALL_TO_FLY: u64 = 5;

pub(super) fn make(count: u64, plan: &Plan, ladder: &Ladder, names: &mut Names, rng: &mut Rng) -> Vec<Person> {
    let mut joined: Vec<i64> = (0..count).map(|_| joining_day(rng)).collect();
    joined.sort_unstable();
    let each = plan.entries / plan.members.max(1);
    let ambitious = (100 * each / ENTRIES_FOR_ALL_AMBITIONS).min(100);
    let flying = (100 * each / ENTRIES_FOR_ALL_TO_FLY).min(100);
    let weights = HABITS.each_ref().map(|habit| habit.weight);
    joined
        .into_iter()
        .map(|joined| {
            let habit = &HABITS[rng.weighted(&weights)];
            let mut person = stranger(joined, habit, names, rng);
            if !rng.percent(flying) {
                person.flies = None;
            }
            if rng.percent(ambitious) && rng.percent(habit.ambition) {
                set_goal(&mut person, habit, ladder, rng);
            }
            settle(&mut person, rng);
            person
        })
        .collect()
}

/// A third came in the first months, the others ever since.
fn joining_day(rng: &mut Rng) -> i64 {
    if rng.percent(33) { OPENING + rng.between(0, 75) } else { rng.between(OPENING + 40, -2) }
}

fn stranger(joined: i64, habit: &Habit, names: &mut Names, rng: &mut Rng) -> Person {
    let first = (joined + rng.between(0, 9)).min(-1);
    let dropped_out = rng.percent(14);
    let last = match habit.flights_a_year {
        0 => first,
        _ if dropped_out => rng.between(first, -1),
        _ => -rng.between(1, habit.pause_days_max),
    };
    Person {
        name: names.draw(rng, None),
        role: Role::Member,
        joined,
        flies: Some((first, last.max(first))),
        comes_again: !dropped_out && habit.flights_a_year > 0,
        flights_a_year: habit.flights_a_year.max(1),
        weekday: *rng.pick(&[0, 1, 2, 2, 3, 4, 4, 5, 5, 5, 6, 6]),
        climbs: Vec::new(),
        trainings: Vec::new(),
        trained_until: i64::MAX,
        staff: false,
        founder: false,
        confirmed: true,
        paid_until: None,
        banned: None,
        born: joined - if rng.percent(15) { rng.between(8 * 365, 16 * 365) } else { rng.between(16 * 365, 62 * 365) },
    }
}

/// As much of the way as the time allows: a level takes three weeks at the least.
fn set_goal(person: &mut Person, habit: &Habit, ladder: &Ladder, rng: &mut Rng) {
    let Some((first, last)) = person.flies else { return };
    let goal = *rng.pick::<&[Target]>(habit.goals);
    let mut way = ladder.way(goal);
    way.truncate(((last - first) / 21) as usize);
    let recent = last > -12;
    let end = match rng.below(100) {
        0..=13 => End::Training,
        14..=19 if recent => End::Pending,
        20..=21 => End::Denied,
        22 => End::Suspended,
        23 => End::Cancelled,
        _ => End::Held,
    };
    person.climbs = climb(&way, first, last, end, rng);
}

/// What the desk knows of somebody: the address, the fee.
fn settle(person: &mut Person, rng: &mut Rng) {
    let beginner = person.climbs.is_empty();
    person.confirmed = !beginner || !rng.percent(if person.joined > -25 { 50 } else { 6 });
    let Some((_, last)) = person.flies.filter(|_| !beginner) else { return };
    let year_ends = person.joined.rem_euclid(365) + 1;
    let owes = !person.comes_again || rng.percent(9);
    person.paid_until = if owes { Some((last + rng.between(1, 60)).min(-1)) } else { Some(year_ends) };
}
