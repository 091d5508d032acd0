//! The path of levels that leads to a goal, and the persons who may sign for a level.

use super::data::{LevelEnd, Person, Staff};
use super::people::ADMIN;
use super::rng::Rng;
use crate::domain::catalogue::{Catalogue, Level, LevelKey, Skill};
use std::collections::HashMap;

/// The levels that the founders stand in for until they hold their own: enough that each can sign all for another.
pub(super) const FOUNDERS_LEVELS: [(&str, &str); 4] =
    [("Instructor", "4"), ("Trainer", "4"), ("Examiner", "1"), ("Military", "1")];

/// A level that a person climbs: half of its skills on the first day, the others on the second.
#[derive(Clone)]
pub(super) struct Climb {
    pub level: &'static Level,
    pub days: [i64; 2],
    pub end: LevelEnd,
    /// Whether the optional skills are learnt too.
    pub optional: bool,
}

impl Climb {
    /// The skills that are learnt, each with its day and how its entry ends.
    pub(super) fn skills(&self) -> Vec<(&'static Skill, i64, LevelEnd)> {
        let (required, optional): (Vec<_>, Vec<_>) = self.level.skills.iter().partition(|skill| skill.required);
        let (first, second) = required.split_at(required.len() / 2);
        let mut skills: Vec<_> = first.iter().map(|skill| (*skill, self.days[0], LevelEnd::Held)).collect();
        if self.end != LevelEnd::Training {
            let optional = optional.iter().filter(|_| self.optional);
            for (n, skill) in second.iter().chain(optional).enumerate() {
                // Of the skills of the second day, the first ends like the level; open requests are for all.
                let end = if n == 0 || self.end == LevelEnd::Pending { self.end } else { LevelEnd::Held };
                skills.push((*skill, self.days[1], end));
            }
        }
        skills
    }
}

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

/// The persons who may sign.
pub(super) struct Signers {
    founders: Vec<usize>,
    by_level: HashMap<LevelKey<'static>, Vec<usize>>,
}

impl Signers {
    pub(super) fn among(people: &[Person], catalogue: &'static Catalogue) -> Signers {
        let of = |may: &dyn Fn(&Person) -> bool| {
            people.iter().enumerate().filter(|(_, person)| may(person)).map(|(who, _)| who).collect::<Vec<usize>>()
        };
        let in_force = |person: &Person| matches!(person.staff, Some(Staff::Regular | Staff::Founder));
        let may_sign = |person: &Person, level: &Level| {
            level.signable_by(&person.held().map(|(level, _)| level.key()).collect::<Vec<_>>())
        };
        let of_level = |level: &'static Level| (level.key(), of(&|person| in_force(person) && may_sign(person, level)));
        Signers {
            founders: of(&|person| person.staff == Some(Staff::Founder)),
            by_level: catalogue.levels().map(of_level).collect(),
        }
    }

    /// A random signer for the level other than the member; the admin if there is none. `founded`: whether the founders
    /// have ceased to stand in for all levels.
    pub(super) fn pick(&self, level: &Level, founded: bool, member: usize, rng: &mut Rng) -> usize {
        let all = if founded { &self.by_level[&level.key()] } else { &self.founders };
        let others: Vec<usize> = all.iter().copied().filter(|who| *who != member).collect();
        if others.is_empty() { ADMIN } else { *rng.pick(&others) }
    }
}

/// The programmes in which the tunnel lists a signer. Military is signed by trainers, so only trainers are listed for it.
pub(super) fn listed(person: &Person) -> impl Iterator<Item = &'static str> {
    let holds = |programme: &str| person.held().any(|(level, _)| level.cat_group == programme);
    let programmes = FOUNDERS_LEVELS.into_iter().map(|(programme, _)| programme);
    programmes.filter(move |programme| holds(programme) && (*programme != "Military" || holds("Trainer")))
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
