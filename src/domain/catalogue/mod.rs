//! The catalogue of programmes, levels and skills: what can be learnt, what it requires and who may sign it. The
//! catalogue has no member data: the levels that a member holds are arguments.

use crate::moment::Moment;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

mod checks;
mod extension;
pub(crate) mod names;

/// Every `cat_group`. A catalogue has each exactly once.
pub(crate) const PROGRAMMES: [&str; 7] = ["Flyer", "AFC", "Instructor", "Trainer", "Examiner", "Coach", "Military"];
static BUILT_IN: LazyLock<Catalogue> = LazyLock::new(|| {
    let json = include_str!("../../../assets/catalogue/catalogue.json");
    Catalogue::parse(json).expect("the built-in catalogue is sound, which a test holds")
});

/// The whole catalogue, checked. Unknown fields are refused, because a misspelt field could extend who may sign.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    programmes: Vec<Programme>,
}

/// A programme: `Flyer`, `Instructor`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programme {
    /// The programme's name, as the API has it.
    pub cat_group: String,
    /// A comment for people who read or extend the file.
    #[serde(default)]
    pub comment: String,
    /// The `cat_group` of the safety logbook with this programme's briefs and trainings: its own or a shared one.
    pub safety_logbook: String,
    /// The briefs and trainings; empty where the logbook is shared.
    pub safety: Vec<Safety>,
    /// The levels, from the lowest to the highest.
    pub levels: Vec<Level>,
}

/// A safety brief or training, with an id of its own among the skills.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Safety {
    /// The id: numeric text, unique in the whole catalogue.
    pub skill: String,
    /// The name that people use.
    pub name: String,
    /// A brief or a training.
    pub kind: SafetyKind,
}

/// The kinds of safety records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SafetyKind {
    /// The initial brief, which precedes everything else.
    Initial,
    /// The training that keeps a programme current.
    Recurrent,
}

/// A level of a programme.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The `cat_group` of its programme.
    #[serde(skip)]
    pub cat_group: String,
    /// The level's number as text: `"1"` to `"9"`.
    pub cat_id: String,
    /// The track: `Backflying`, `Static`, `Dynamic`, `Formation`, or empty where a programme has no tracks.
    pub track: String,
    /// The name that people use: `Static Level 3`.
    pub name: String,
    /// The requirements to enter the level, all of which must be met.
    pub requires: Vec<Requirement>,
    /// The signers of its skills, any of whom may sign.
    pub signed_by: Vec<Signer>,
    /// Required and optional skills.
    pub skills: Vec<Skill>,
}

/// One skill of a level.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// The id: numeric text, unique in the whole catalogue, safety records included.
    pub skill: String,
    /// The name that people use.
    pub name: String,
    /// Whether the level requires the skill.
    pub required: bool,
}

/// A level that must be held: this one or a higher one of the same programme and track; of any track where none is
/// named.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The programme's name.
    pub cat_group: String,
    /// The number of the lowest sufficient level.
    pub cat_id: String,
    /// The track; `None`: any track.
    pub track: Option<String>,
}

/// A class of signers: holders of the programme at this level or a higher one, and of the second programme at any level
/// where one is named.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signer {
    /// The programme's name.
    pub cat_group: String,
    /// The number of the lowest sufficient level.
    pub cat_id_min: String,
    /// A second programme that the signer must hold.
    pub and_holds: Option<String>,
}

/// The key of a level. A list of keys states which levels a member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LevelKey<'a> {
    /// The programme's name.
    pub cat_group: &'a str,
    /// The level's number as text.
    pub cat_id: &'a str,
    /// Empty where a programme has no tracks.
    pub track: &'a str,
}

/// A level that a member holds, and since when.
#[derive(Debug, Clone, Copy)]
pub struct HeldLevel<'a> {
    /// The level that is held.
    pub level: &'a Level,
    /// Unix seconds of the signature that completed the level.
    pub since: Moment,
}

impl Catalogue {
    /// The built-in catalogue, parsed once.
    pub fn built_in() -> &'static Catalogue {
        &BUILT_IN
    }

    /// Parses a catalogue from JSON. The error names every mistake, one a line; for malformed JSON, the position.
    pub(crate) fn parse(json: &str) -> Result<Catalogue, String> {
        let catalogue: Catalogue = serde_json::from_str(json).map_err(|e| format!("not a catalogue: {e}"))?;
        catalogue.checked(Vec::new())
    }

    /// The catalogue with a site's extension (see `assets/catalogue/schema.json`). The error names every mistake, as in
    /// `parse`.
    pub fn extended(&self, json: &str) -> Result<Catalogue, String> {
        let extension = serde_json::from_str(json).map_err(|e| format!("not an extension of the catalogue: {e}"))?;
        let (catalogue, checks) = extension::merged(self, extension);
        catalogue.checked(checks)
    }

    pub(crate) fn programmes(&self) -> &[Programme] {
        &self.programmes
    }

    /// Every level, in the catalogue's order.
    pub fn levels(&self) -> impl Iterator<Item = &Level> {
        self.programmes.iter().flat_map(|programme| &programme.levels)
    }

    /// Every skill with its level, in the catalogue's order, without safety records.
    pub fn skills(&self) -> impl Iterator<Item = (&Level, &Skill)> {
        self.levels().flat_map(|level| level.skills.iter().map(move |skill| (level, skill)))
    }

    /// The names of the level and the skill of an entry; the numbers where the catalogue no longer has them.
    pub fn names(&self, cat_group: &str, cat_id: &str, skill: &str) -> (String, String) {
        if let Some((level, skill)) = self.find_skill(skill) {
            return (level.name.clone(), skill.name.clone());
        }
        match self.find_safety(skill) {
            Some((programme, safety)) => (programme.cat_group.clone(), safety.name.clone()),
            None => (format!("{cat_group} {cat_id}").trim().to_owned(), skill.to_owned()),
        }
    }

    pub(crate) fn find_programme(&self, cat_group: &str) -> Option<&Programme> {
        self.programmes.iter().find(|programme| programme.cat_group == cat_group)
    }

    /// The level with this key.
    pub fn find_level(&self, key: LevelKey) -> Option<&Level> {
        self.levels().find(|level| level.key() == key)
    }

    /// A skill by its id, with its level; not a safety record.
    pub fn find_skill(&self, skill: &str) -> Option<(&Level, &Skill)> {
        self.skills().find(|(_, one)| one.skill == skill)
    }

    /// A safety brief or training, with the programme in whose logbook it is kept.
    pub fn find_safety(&self, skill: &str) -> Option<(&Programme, &Safety)> {
        self.programmes.iter().find_map(|programme| {
            let found = programme.safety.iter().find(|one| one.skill == skill)?;
            Some((programme, found))
        })
    }

    /// The briefs and trainings of a programme, its own or the shared ones; empty for an unknown programme.
    pub(crate) fn safety(&self, cat_group: &str) -> &[Safety] {
        self.find_programme(self.safety_logbook(cat_group)).map_or(&[], |programme| &programme.safety)
    }

    /// The programme in whose logbook the briefs and trainings of a programme are kept; empty for an unknown programme.
    pub(crate) fn safety_logbook(&self, cat_group: &str) -> &str {
        self.find_programme(cat_group).map_or("", |programme| &programme.safety_logbook)
    }

    /// The levels that a member holds, derived from open skill entries in any order, each given as skill and moment of
    /// approval (Unix seconds). A level is held while all its required skills are open, since the latest of their
    /// approvals. For a skill that was signed twice, the first approval counts.
    ///
    /// The requirements of a level are checked when a member enters it (`Level::admits`), not here: an opening balance
    /// and the appointed first signers start at the top, and a suspension affects only its own level.
    pub fn held(&self, open_skills: &[(&str, Moment)]) -> Vec<HeldLevel<'_>> {
        let mut open: HashMap<&str, Moment> = HashMap::new();
        for (skill, approval) in open_skills {
            open.entry(skill).and_modify(|first| *first = (*approval).min(*first)).or_insert(*approval);
        }
        self.levels().filter_map(|level| level.since(&open).map(|since| HeldLevel { level, since })).collect()
    }

    /// The levels that a holder of `held` may enter now and does not hold yet. Whether the programme's safety brief was
    /// given is a separate check, in the safety logbook.
    pub(crate) fn next_levels(&self, held: &[LevelKey]) -> Vec<&Level> {
        self.levels().filter(|level| !held.contains(&level.key()) && level.admits(held)).collect()
    }
}

impl Level {
    /// The key of the level.
    pub fn key(&self) -> LevelKey<'_> {
        LevelKey { cat_group: &self.cat_group, cat_id: &self.cat_id, track: &self.track }
    }

    /// The requirements of the level that a holder of `held` does not meet.
    pub(crate) fn missing(&self, held: &[LevelKey]) -> impl Iterator<Item = &Requirement> {
        self.requires.iter().filter(|required| !held.iter().any(|one| required.met_by(one)))
    }

    /// Whether a holder of `held` may enter the level.
    pub(crate) fn admits(&self, held: &[LevelKey]) -> bool {
        self.missing(held).next().is_none()
    }

    /// Whether a holder of `held` may sign the level's skills. Pass only levels whose programme is current. The caller
    /// must check that the tunnel lists the signer, and that no member signs for oneself.
    pub(crate) fn signable_by(&self, held: &[LevelKey]) -> bool {
        self.signed_by.iter().any(|signer| signer.met_by(held))
    }

    /// The skills that the level requires.
    pub fn required(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.required)
    }

    fn since(&self, open: &HashMap<&str, Moment>) -> Option<Moment> {
        let approvals: Option<Vec<Moment>> =
            self.required().map(|skill| open.get(skill.skill.as_str()).copied()).collect();
        approvals?.into_iter().max()
    }
}

impl SafetyKind {
    /// The name in the catalogue file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SafetyKind::Initial => "initial",
            SafetyKind::Recurrent => "recurrent",
        }
    }
}

impl std::fmt::Display for Level {
    /// The level in messages about the file: `Flyer 3 Static`.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let space = if self.track.is_empty() { "" } else { " " };
        write!(f, "{} {}{space}{}", self.cat_group, self.cat_id, self.track)
    }
}

impl Requirement {
    /// Whether a held level meets the requirement.
    pub(crate) fn met_by(&self, held: &LevelKey) -> bool {
        held.reaches(&self.cat_group, &self.cat_id) && self.track.as_ref().is_none_or(|track| track == held.track)
    }
}

impl Signer {
    fn met_by(&self, held: &[LevelKey]) -> bool {
        held.iter().any(|one| one.reaches(&self.cat_group, &self.cat_id_min))
            && self.and_holds.as_ref().is_none_or(|programme| held.iter().any(|one| one.cat_group == programme))
    }
}

impl LevelKey<'_> {
    /// A `cat_id` is one digit, so text compares like numbers; a longer one reaches no level.
    fn reaches(&self, cat_group: &str, cat_id_min: &str) -> bool {
        self.cat_group == cat_group && self.cat_id.len() == 1 && self.cat_id >= cat_id_min
    }
}

#[cfg(test)]
mod tests;
