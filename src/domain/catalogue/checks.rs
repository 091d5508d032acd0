//! The checks of a catalogue.

use super::{Catalogue, Level, LevelKey, PROGRAMMES, Programme, Requirement, SafetyKind};
use crate::domain::unicode::{as_meant, breaks_line};
use std::collections::HashSet;

/// The greatest number of digits of a skill id. Ids have no meaning, and an id is never reused.
const SKILL_DIGITS_MAX: usize = 9;
const NAME_CHARS_MAX: usize = 100;

/// The result of a check, and the text of the mistake where it failed.
pub(super) type Check = (bool, String);

impl Catalogue {
    /// The catalogue, if these checks and its own all pass.
    pub(super) fn checked(mut self, checks: Vec<Check>) -> Result<Catalogue, String> {
        for programme in &mut self.programmes {
            programme.levels.iter_mut().for_each(|level| level.cat_group.clone_from(&programme.cat_group));
        }
        let checks = [checks, self.check_parts(), self.check_links()].concat();
        let mistakes: Vec<_> = checks.into_iter().filter(|(right, _)| !right).map(|(_, mistake)| mistake).collect();
        if mistakes.is_empty() { Ok(self) } else { Err(mistakes.join("\n")) }
    }

    /// The checks of each programme, level and skill by itself.
    fn check_parts(&self) -> Vec<Check> {
        let times = |name| self.programmes.iter().filter(|programme| programme.cat_group == name).count();
        let once = |name| (times(name) == 1, format!("programme {name}: is there {} times", times(name)));
        let mut checks = Vec::from(PROGRAMMES.map(once));
        let (mut skills, mut keys) = (HashSet::new(), HashSet::new());
        for programme in &self.programmes {
            let name = &programme.cat_group;
            checks.push((PROGRAMMES.contains(&name.as_str()), format!("programme {name:?}: is not known")));
            checks.push((!programme.levels.is_empty(), format!("programme {name}: has no level")));
            checks.extend(programme.safety.iter().flat_map(|one| check_skill(&mut skills, &one.skill, &one.name)));
            for level in &programme.levels {
                checks.push((keys.insert(level.key()), format!("{level}: is there twice")));
                checks.extend(level.checks());
                checks.extend(level.skills.iter().flat_map(|one| check_skill(&mut skills, &one.skill, &one.name)));
            }
        }
        checks
    }

    /// The checks between levels: a beginner can reach every level, and those who reached the levels can sign every
    /// level.
    fn check_links(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        for Programme { cat_group, safety_logbook, safety, .. } in &self.programmes {
            let has = |kind| self.safety(cat_group).iter().any(|one| one.kind == kind);
            let complete = has(SafetyKind::Initial) && has(SafetyKind::Recurrent);
            checks.push((complete, format!("programme {cat_group}: safety needs an initial and a recurrent record")));
            let apart = cat_group == safety_logbook || safety.is_empty();
            checks.push((apart, format!("programme {cat_group}: has safety records and another's logbook")));
        }
        let all: Vec<LevelKey> = self.levels().map(Level::key).collect();
        let reachable = self.reachable();
        for level in self.levels() {
            for Requirement { cat_group, cat_id, .. } in level.missing(&all) {
                checks.push((false, format!("{level}: requires {cat_group} {cat_id}, which is not there")));
            }
            checks.push((reachable.contains(&level.key()), format!("{level}: what it requires cannot be reached")));
            checks.push((level.signable_by(&reachable), format!("{level}: nobody can sign it")));
        }
        checks
    }

    /// All levels that can be held by entering level after level.
    fn reachable(&self) -> Vec<LevelKey<'_>> {
        let mut held = Vec::new();
        loop {
            let next: Vec<LevelKey> = self.next_levels(&held).into_iter().map(Level::key).collect();
            if next.is_empty() {
                return held;
            }
            held.extend(next);
        }
    }
}

impl Level {
    fn checks(&self) -> Vec<Check> {
        let numbers = self.requires.iter().map(|required| &required.cat_id);
        let numbers = numbers.chain(self.signed_by.iter().map(|signer| &signer.cat_id_min)).chain([&self.cat_id]);
        let is_level = |number: &String| matches!(number.as_bytes(), [b'1'..=b'9']);
        let digit = |number| (is_level(number), format!("{self}: {number:?} is not a level from 1 to 9"));
        let mut checks: Vec<Check> = numbers.map(digit).collect();
        checks.push((is_name(&self.name), format!("{self}: {:?} is not a name", self.name)));
        let track = &self.track;
        checks.push((track.is_empty() || is_name(track), format!("{self}: {track:?} is not a track")));
        // Without a required skill, every member would hold the level.
        checks.push((self.skills.iter().any(|skill| skill.required), format!("{self}: has no required skill")));
        checks
    }
}

fn check_skill<'a>(seen: &mut HashSet<&'a str>, skill: &'a str, name: &str) -> [Check; 3] {
    let digits = (1..=SKILL_DIGITS_MAX).contains(&skill.len()) && skill.bytes().all(|b| b.is_ascii_digit());
    let numeric = digits && !skill.starts_with('0');
    [
        (numeric, format!("skill {skill:?}: is not a number of at most {SKILL_DIGITS_MAX} digits")),
        (seen.insert(skill), format!("skill {skill:?}: is there twice")),
        (is_name(name), format!("skill {skill:?}: {name:?} is not a name")),
    ]
}

fn is_name(name: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && as_meant(name) == name && !name.chars().any(breaks_line)
}
