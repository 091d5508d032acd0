//! What happens to a person besides flying: briefs, trainings, halves of a level; all of it in the order of the days.

use super::ladder::Ladder;
use super::people::{End, Person};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// The safety brief before anything else.
    Brief,
    /// A safety training: its place among the person's trainings.
    Training(usize),
    /// A half of a level: the climb's place, and which half.
    Half(usize, usize),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    pub day: i64,
    pub who: usize,
    pub what: What,
}

pub(super) fn of_all(people: &[Person]) -> Vec<Event> {
    let mut events: Vec<Event> = people
        .iter()
        .enumerate()
        .flat_map(|(who, person)| of_one(person).into_iter().map(move |(day, what)| Event { day, who, what }))
        .collect();
    events.sort_unstable();
    events
}

fn of_one(person: &Person) -> Vec<(i64, What)> {
    let flown = person.flies.map(|(first, _)| first);
    let climbed = person.climbs.iter().map(|climb| climb.days[0]).min();
    let mut events: Vec<(i64, What)> =
        flown.into_iter().chain(climbed).min().map(|day| (day, What::Brief)).into_iter().collect();
    events.extend(person.trainings.iter().enumerate().map(|(n, (_, day))| (*day, What::Training(n))));
    for (n, climb) in person.climbs.iter().enumerate() {
        events.push((climb.days[0], What::Half(n, 0)));
        if climb.end != End::Training {
            events.push((climb.days[1], What::Half(n, 1)));
        }
    }
    events
}

/// How many logbook rows they make.
pub(super) fn count_entries(people: &[Person], ladder: &Ladder) -> u64 {
    let one = |person: &Person| -> usize {
        let rows = |(_, what): &(i64, What)| match what {
            What::Half(n, half) => ladder.skills(&person.climbs[*n], *half).len(),
            _ => 1,
        };
        of_one(person).iter().map(rows).sum()
    };
    people.iter().map(|person| one(person) as u64).sum()
}
