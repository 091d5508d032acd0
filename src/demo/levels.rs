//! The path of levels that leads to a goal, and the persons who may sign for a level on a day.

use super::data::Staff;
use super::people::{FOUNDED, FOUNDING, Person};
use super::rng::Rng;
use crate::domain::catalogue::{Catalogue, Level, LevelKey};
use std::collections::HashMap;

/// The levels that the founders stand in for until they hold their own: enough that each can sign all for another.
pub(super) const FOUNDERS_LEVELS: [(&str, &str); 4] =
    [("Instructor", "4"), ("Trainer", "4"), ("Examiner", "1"), ("Military", "1")];

/// The goals (`Flyer 3 Static`) with everything that they require, in an order in which each level follows what it requires.
/// A goal that the catalogue does not have is left out.
pub(super) fn path_to(catalogue: &'static Catalogue, goals: &[String]) -> Vec<&'static Level> {
    let mut path = Vec::new();
    for goal in goals {
        let mut words = goal.splitn(3, ' ').chain([""; 3]);
        let [cat_group, cat_id, track] = [(); 3].map(|()| words.next().unwrap_or(""));
        if let Some(level) = catalogue.find_level(LevelKey { cat_group, cat_id, track }) {
            extend(&mut path, catalogue, level);
        }
    }
    path
}

fn extend(path: &mut Vec<&'static Level>, catalogue: &'static Catalogue, level: &'static Level) {
    let held: Vec<LevelKey> = path.iter().map(|level| level.key()).collect();
    if held.contains(&level.key()) {
        return;
    }
    for requirement in level.missing(&held) {
        if let Some(lowest) = catalogue.levels().find(|level| requirement.met_by(&level.key())) {
            extend(path, catalogue, lowest);
        }
    }
    path.push(level);
}

/// A person who may sign for a level, between two days.
struct Authority {
    who: usize,
    from: i64,
    until: i64,
}

/// The persons who may sign, by level.
pub(super) struct Signers(HashMap<LevelKey<'static>, Vec<Authority>>);

impl Signers {
    pub(super) fn among(people: &[Person], catalogue: &'static Catalogue) -> Signers {
        let mut signers: HashMap<_, Vec<Authority>> = HashMap::new();
        let stand_in = FOUNDERS_LEVELS.map(|(cat_group, cat_id)| LevelKey { cat_group, cat_id, track: "" });
        for (who, person) in people.iter().enumerate() {
            if !matches!(person.staff, Some(Staff::Regular | Staff::Founder)) {
                continue;
            }
            let mut held: Vec<_> = person.held().collect();
            held.sort_by_key(|(_, day)| *day);
            let keys: Vec<LevelKey> = held.iter().map(|(level, _)| level.key()).collect();
            for level in catalogue.levels() {
                let authorities = signers.entry(level.key()).or_default();
                if person.staff == Some(Staff::Founder) && level.signable_by(&stand_in) {
                    authorities.push(Authority { who, from: FOUNDING - 1, until: FOUNDED });
                }
                if let Some(last) = (0..keys.len()).find(|last| level.signable_by(&keys[..=*last])) {
                    authorities.push(Authority { who, from: held[last].1, until: i64::MAX });
                }
            }
        }
        Signers(signers)
    }

    /// A random signer other than the member, who may sign for the level on that day.
    pub(super) fn pick(&self, level: &Level, day: i64, member: usize, rng: &mut Rng) -> Option<usize> {
        let may = |a: &&Authority| a.from < day && day < a.until && a.who != member;
        let free: Vec<usize> = self.0.get(&level.key())?.iter().filter(may).map(|authority| authority.who).collect();
        if free.is_empty() { None } else { Some(*rng.pick(&free)) }
    }
}

/// The programmes in which the tunnel lists a signer, each with the day of the signer's first level of it. Military is
/// signed by trainers, so only trainers are listed for it.
pub(super) fn listed(person: &Person) -> Vec<(&'static str, i64)> {
    let since =
        |programme: &str| person.held().filter(|(level, _)| level.cat_group == programme).map(|(_, day)| day).min();
    let day = |programme| match programme {
        "Military" => since(programme).zip(since("Trainer")).map(|(military, trainer)| military.max(trainer)),
        _ => since(programme),
    };
    FOUNDERS_LEVELS.iter().filter_map(|(programme, _)| Some((*programme, day(programme)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_over_everything_that_is_required() {
        let catalogue = Catalogue::built_in();
        let goals = ["Coach 1", "Flyer 3 Dynamic"].map(str::to_owned);
        let names: Vec<&str> = path_to(catalogue, &goals).into_iter().map(|level| &*level.name).collect();
        assert_eq!(names, ["Flyer Level 1", "Backflying Level 2", "Static Level 3", "Coach", "Dynamic Level 3"]);
        for goal in catalogue.levels() {
            let mut path = Vec::new();
            extend(&mut path, catalogue, goal);
            let keys: Vec<LevelKey> = path.iter().map(|level| level.key()).collect();
            assert!((0..keys.len()).all(|n| path[n].admits(&keys[..n])), "{goal}");
        }
    }
}
