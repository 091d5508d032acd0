//! The catalogue as something to climb: the way up to a level, and who may sign for it on which day.

use super::data::{End, Staff};
use super::people::{Climb, FOUNDED, FOUNDING, Person};
use super::rng::Rng;
use crate::domain::catalogue::{Catalogue, Level, LevelKey, Requirement, Safety, SafetyKind};

pub(super) struct Ladder {
    pub catalogue: &'static Catalogue,
    levels: Vec<&'static Level>,
}

/// Somebody who may sign for a level, from a day on and up to a day.
struct Authority {
    who: usize,
    from: i64,
    until: i64,
}

/// The levels that the founders stand in for until they hold their own: enough that each can sign all for another.
pub(super) const FOUNDERS_LEVELS: [(&str, &str); 4] =
    [("Instructor", "4"), ("Trainer", "4"), ("Examiner", "1"), ("Military", "1")];

/// Who may sign, by level.
pub(super) struct Signers(Vec<Vec<Authority>>);

impl Ladder {
    pub(super) fn new(catalogue: &'static Catalogue) -> Ladder {
        Ladder { catalogue, levels: catalogue.levels().collect() }
    }

    pub(super) fn level(&self, index: usize) -> &'static Level {
        self.levels[index]
    }

    /// Flyer Level 1.
    pub(super) fn first(&self) -> usize {
        self.way(&["Flyer 1"])[0]
    }

    /// The levels to climb for these ones, `Flyer 3 Static` each, in an order in which each follows what it requires. A level
    /// that the catalogue does not have is left out.
    pub(super) fn way(&self, names: &[impl AsRef<str>]) -> Vec<usize> {
        let mut way = Vec::new();
        for name in names {
            let mut words = name.as_ref().splitn(3, ' ').chain([""; 3]);
            let [cat_group, cat_id, track] = [(); 3].map(|()| words.next().unwrap_or(""));
            let key = LevelKey { cat_group, cat_id, track };
            if let Some(index) = self.levels.iter().position(|level| level.key() == key) {
                self.extend(&mut way, index);
            }
        }
        way
    }

    fn extend(&self, way: &mut Vec<usize>, index: usize) {
        if way.contains(&index) {
            return;
        }
        let held: Vec<LevelKey> = way.iter().map(|at| self.levels[*at].key()).collect();
        let missing: Vec<&Requirement> = self.levels[index].missing(&held).collect();
        for required in missing {
            let meets = |level: &&Level| {
                level.cat_group == required.cat_group
                    && level.cat_id >= required.cat_id
                    && required.track.as_ref().is_none_or(|track| *track == level.track)
            };
            if let Some(first) = self.levels.iter().position(meets) {
                self.extend(way, first);
            }
        }
        way.push(index);
    }

    /// The indexes of the skills of a level that are signed in the first half of a climb, and of those in the second half. The
    /// second half has the optional ones, if any.
    pub(super) fn skills(&self, climb: &Climb) -> [Vec<usize>; 2] {
        let skills = &self.levels[climb.level].skills;
        let (required, optional): (Vec<usize>, Vec<usize>) = (0..skills.len()).partition(|n| skills[*n].required);
        let (first, second) = required.split_at(required.len() / 2);
        let optional = if climb.optional { optional } else { Vec::new() };
        [first.to_vec(), [second, &optional].concat()]
    }

    /// The `cat_group` of the logbook where a level's safety records are kept, and the record of this kind.
    pub(super) fn safety(&self, level: usize, kind: SafetyKind) -> Option<(&'static str, &'static Safety)> {
        let cat_group = &self.levels[level].cat_group;
        let record = self.catalogue.safety(cat_group).iter().find(|record| record.kind == kind)?;
        Some((&self.catalogue.find_programme(cat_group)?.safety_logbook, record))
    }
}

impl Signers {
    pub(super) fn among(people: &[Person], ladder: &Ladder) -> Signers {
        let mut signers: Vec<Vec<Authority>> = ladder.levels.iter().map(|_| Vec::new()).collect();
        for (who, person) in people.iter().enumerate().filter(|(_, person)| person.staff.is_some()) {
            let mut climbs: Vec<&Climb> = person.climbs.iter().filter(|climb| climb.end == End::Held).collect();
            climbs.sort_by_key(|climb| climb.days[1]);
            let stand_in = FOUNDERS_LEVELS.map(|(cat_group, cat_id)| LevelKey { cat_group, cat_id, track: "" });
            let keys: Vec<LevelKey> = climbs.iter().map(|climb| ladder.level(climb.level).key()).collect();
            for (level, authorities) in ladder.levels.iter().zip(&mut signers) {
                if person.staff == Some(Staff::Founder) && level.signable_by(&stand_in) {
                    authorities.push(Authority { who, from: FOUNDING - 1, until: FOUNDED });
                }
                if let Some(last) = (0..keys.len()).find(|last| level.signable_by(&keys[..=*last])) {
                    authorities.push(Authority { who, from: climbs[last].days[1], until: person.trained_until });
                }
            }
        }
        Signers(signers)
    }

    /// Whom the tunnel lists, in which programme, from which day on: from the first level of it on that they hold. Military
    /// is signed by trainers, so the list has those alone.
    pub(super) fn listed<'a>(people: &'a [Person], ladder: &'a Ladder) -> Vec<(usize, &'a str, i64)> {
        let mut listed = Vec::new();
        for (who, person) in people.iter().enumerate().filter(|(_, person)| person.staff.is_some()) {
            let since = |programme: &str| {
                let held = person.climbs.iter().filter(|climb| climb.end == End::Held);
                held.filter(|climb| ladder.level(climb.level).cat_group == programme).map(|climb| climb.days[1]).min()
            };
            for (programme, _) in FOUNDERS_LEVELS {
                let as_trainer = if programme == "Military" { since("Trainer") } else { Some(i64::MIN) };
                let day = since(programme).and_then(|day| as_trainer.map(|trainer| day.max(trainer)));
                listed.extend(day.map(|day| (who, programme, day)));
            }
        }
        listed
    }

    /// Somebody other than `asker` who may sign for the level on that day.
    pub(super) fn pick(&self, level: usize, day: i64, asker: usize, rng: &mut Rng) -> Option<usize> {
        let may = |a: &&Authority| a.from < day && day < a.until && a.who != asker;
        let free: Vec<usize> = self.0[level].iter().filter(may).map(|authority| authority.who).collect();
        if free.is_empty() { None } else { Some(*rng.pick(&free)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_over_everything_that_is_required() {
        let ladder = Ladder::new(Catalogue::built_in());
        let names = |targets: &[&str]| -> Vec<&str> {
            ladder.way(targets).into_iter().map(|index| &*ladder.level(index).name).collect()
        };
        assert_eq!(
            names(&["Coach 1", "Flyer 3 Dynamic"]),
            ["Flyer Level 1", "Backflying Level 2", "Static Level 3", "Coach", "Dynamic Level 3"]
        );
        for level in Catalogue::built_in().levels() {
            let index = ladder.levels.iter().position(|one| one.key() == level.key()).unwrap();
            let mut way = Vec::new();
            ladder.extend(&mut way, index);
            let keys: Vec<LevelKey> = way.iter().map(|at| ladder.level(*at).key()).collect();
            assert!((0..keys.len()).all(|n| ladder.level(way[n]).admits(&keys[..n])), "{level}");
        }
    }
}
