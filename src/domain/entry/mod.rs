//! A skill or safety entry: its states, the moves between them, who may make them, and who may begin one.
//! Knows no clock and no row.

use super::catalogue::{Catalogue, Level, LevelKey, PROGRAMMES, Programme, SafetyKind};
use super::currency::Currencies;
use super::signoff::Authority;
use serde::{Deserialize, Serialize};

/// What an entry is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Flight time.
    Time,
    /// A skill that a level has.
    Skill,
    /// A safety brief or training.
    Safety,
}

/// What is stored. `not_current` is no state: an open entry shows as that while its programme's currency has lapsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// Asked for, waits for the named signer.
    Pending,
    /// Signed off, in force, counts.
    Open,
    /// Refused, with a reason.
    Denied,
    /// Paused by an admin.
    Suspended,
    /// Withdrawn.
    Cancelled,
}

/// What an open entry of a lapsed programme shows as.
pub(crate) const NOT_CURRENT: &str = "not_current";

/// An action on an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action<'a> {
    /// For the first time, or anew after a refusal.
    Ask,
    /// Only whoever has the authority for it can even say this.
    Sign(#[allow(dead_code, reason = "to have it is the proof")] &'a Authority),
    Deny,
    Cancel,
    Suspend,
    Reinstate,
}

/// What somebody is to an entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Relation {
    pub holder: bool,
    /// The signer whom the entry names.
    pub named: bool,
    /// Works at the desk, or is an admin.
    pub staff: bool,
    pub admin: bool,
}

/// What a member must have before asking for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MissingPrerequisite {
    /// The programme's safety brief comes first: its name.
    Brief(String),
    /// Another level comes first: its name.
    Level(String),
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Time, Kind::Skill, Kind::Safety];

    /// As it is stored, and as the API has it.
    pub fn name(self) -> &'static str {
        ["time", "skill", "safety"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Status {
    pub(crate) const ALL: [Status; 5] =
        [Status::Pending, Status::Open, Status::Denied, Status::Suspended, Status::Cancelled];

    pub(crate) fn name(self) -> &'static str {
        ["pending", "open", "denied", "suspended", "cancelled"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether it was signed: such an entry is part of the record.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Status::Open | Status::Suspended)
    }

    /// Whether there cannot be a second entry of the same skill beside it.
    pub(crate) fn takes_the_skill(self) -> bool {
        matches!(self, Status::Pending | Status::Open | Status::Suspended)
    }
}

/// The state after an act; `None` where the act does not go from this state. An entry that is to be begins from none.
pub(crate) fn step(from: Option<Status>, action: Action) -> Option<Status> {
    match (from, action) {
        (None | Some(Status::Denied), Action::Ask) => Some(Status::Pending),
        (None | Some(Status::Pending), Action::Sign(_)) => Some(Status::Open),
        (Some(Status::Pending), Action::Deny) => Some(Status::Denied),
        (Some(Status::Pending), Action::Cancel) => Some(Status::Cancelled),
        (Some(Status::Open), Action::Suspend) => Some(Status::Suspended),
        (Some(Status::Suspended), Action::Reinstate) => Some(Status::Open),
        _ => None,
    }
}

/// Whether somebody may do this to an entry at all.
pub(crate) fn may(relation: Relation, action: Action) -> bool {
    match action {
        Action::Ask | Action::Cancel => relation.holder || relation.staff,
        Action::Sign(_) => !relation.holder,
        Action::Deny => relation.named,
        Action::Suspend | Action::Reinstate => relation.admin,
    }
}

/// The programmes whose currency has lapsed: of each a level is held (of the flyers' the first), and it is not current.
/// Whoever is still on the way to a programme has nothing that could lapse.
pub(crate) fn lapsed(held: &[LevelKey], currencies: &Currencies) -> Vec<&'static str> {
    let holds = |programme: &str| {
        held.iter().any(|level| level.cat_group == programme && (programme != "Flyer" || level.cat_id == "1"))
    };
    let lapsed =
        |programme: &&str| holds(programme) && currencies.find(programme).is_some_and(|currency| !currency.current);
    PROGRAMMES.into_iter().filter(lapsed).collect()
}

/// The state as it is shown, everywhere: an open skill of a programme that has lapsed is not current.
pub(crate) fn shown(kind: Kind, cat_group: &str, status: Status, lapsed: &[&str]) -> &'static str {
    let not_current = kind == Kind::Skill && status == Status::Open && lapsed.contains(&cat_group);
    if not_current { NOT_CURRENT } else { status.name() }
}

/// What keeps somebody who holds these levels, and has open safety records in these logbooks, from this skill or safety
/// record; `None` also for a skill that the catalogue does not have.
pub(crate) fn missing_prerequisite(
    catalogue: &Catalogue,
    skill: &str,
    held: &[LevelKey],
    briefed: &[String],
) -> Option<MissingPrerequisite> {
    if let Some((level, _)) = catalogue.find_skill(skill) {
        return missing_level_prerequisite(catalogue, level, held, briefed);
    }
    let (programme, safety) = catalogue.find_safety(skill)?;
    if safety.kind == SafetyKind::Recurrent && !briefed.contains(&programme.safety_logbook) {
        return Some(brief_of(catalogue, programme));
    }
    // The brief is for whoever holds, or may enter, a programme that keeps its records there.
    let served = catalogue.programmes().iter().filter(|one| one.safety_logbook == programme.cat_group);
    let mut levels = served.flat_map(|one| &one.levels);
    if levels.any(|level| held.contains(&level.key()) || level.admits(held)) {
        return None;
    }
    missing(catalogue, programme.levels.first()?, held)
}

/// The same for each skill of a level.
pub(crate) fn missing_level_prerequisite(
    catalogue: &Catalogue,
    level: &Level,
    held: &[LevelKey],
    briefed: &[String],
) -> Option<MissingPrerequisite> {
    let programme = catalogue.find_programme(&level.cat_group)?;
    if !briefed.contains(&programme.safety_logbook) {
        return Some(brief_of(catalogue, programme));
    }
    missing(catalogue, level, held)
}

fn brief_of(catalogue: &Catalogue, programme: &Programme) -> MissingPrerequisite {
    let initial = catalogue.safety(&programme.cat_group).iter().find(|one| one.kind == SafetyKind::Initial);
    MissingPrerequisite::Brief(initial.map(|one| one.name.clone()).unwrap_or_default())
}

fn missing(catalogue: &Catalogue, level: &Level, held: &[LevelKey]) -> Option<MissingPrerequisite> {
    let required = level.missing(held).next()?;
    let meant = |one: &&Level| {
        (&one.cat_group, &one.cat_id) == (&required.cat_group, &required.cat_id)
            && required.track.as_ref().is_none_or(|track| *track == one.track)
    };
    let name = match catalogue.levels().find(meant) {
        // Any track will do where none is named, so the first one's name would mislead.
        Some(one) if required.track.is_some() || one.track.is_empty() => one.name.clone(),
        _ => format!("{} Level {}", required.cat_group, required.cat_id),
    };
    Some(MissingPrerequisite::Level(name))
}

#[cfg(test)]
mod tests;
