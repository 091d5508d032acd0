//! The rules of logbook entries: the kinds of entries; for skill and safety entries the states, the actions that change
//! them, who may take an action, and what a member needs before a skill. These rules know neither clock nor database.

use super::catalogue::{Catalogue, Level, LevelKey, PROGRAMMES, Programme, Safety, SafetyKind};
use super::currency::Currencies;
use super::signoff::Authority;
use serde::{Deserialize, Serialize};

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Flight time, which needs no signature: open from the beginning.
    Time,
    /// A skill of a level.
    Skill,
    /// A safety brief or a safety training.
    Safety,
}

/// The stored state of an entry. Clients also see [`NOT_CURRENT`], which is derived: see [`displayed_status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// The member asked for a signature; the entry waits for the signer whom it names.
    Pending,
    /// Signed, and in force: the skill counts towards its level.
    Open,
    /// The signer refused, with a reason.
    Denied,
    /// Signed, but an admin suspended the entry: the skill does not count until an admin reinstates it.
    Suspended,
    /// The member or the desk withdrew the request.
    Cancelled,
}

/// The state that clients see in place of `open` while the currency of the entry's programme has lapsed.
pub(crate) const NOT_CURRENT: &str = "not_current";

/// An action on an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action<'a> {
    /// To ask for a signature: for the first time, or again after a refusal.
    Ask,
    /// To sign. The [`Authority`] proves that the signer may, so that code without the check does not compile.
    Sign(#[allow(dead_code, reason = "to have it is the proof")] &'a Authority),
    Deny,
    Cancel,
    Suspend,
    Reinstate,
}

/// The relation of an actor to an entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Relation {
    /// The actor is the member whose entry this is.
    pub holder: bool,
    /// The actor is the signer whom the entry names.
    pub named: bool,
    /// The actor works at the desk, or is an admin.
    pub staff: bool,
    pub admin: bool,
}

/// Something that a member lacks before a skill or safety entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MissingPrerequisite<'a> {
    /// The safety brief that must come first.
    Brief(&'a Safety),
    /// The name of the level that must be held first.
    Level(String),
}

impl Kind {
    pub(crate) const ALL: [Kind; 3] = [Kind::Time, Kind::Skill, Kind::Safety];

    /// The kind's name in the database and in the API.
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

    /// Whether the entry was signed and stays in the record: it can be suspended, not deleted.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Status::Open | Status::Suspended)
    }

    /// Whether an entry in this state excludes a second entry of the same skill.
    pub(crate) fn blocks_same_skill(self) -> bool {
        matches!(self, Status::Pending | Status::Open | Status::Suspended)
    }
}

/// The state after an action; `None` where this state does not allow the action. `from`: `None` for a new entry.
pub(crate) fn transition(from: Option<Status>, action: Action) -> Option<Status> {
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

/// Whether an actor of this relation may take the action on an entry, whatever the entry's state.
pub(crate) fn is_allowed(relation: Relation, action: Action) -> bool {
    match action {
        Action::Ask | Action::Cancel => relation.holder || relation.staff,
        Action::Sign(_) => !relation.holder,
        Action::Deny => relation.named,
        Action::Suspend | Action::Reinstate => relation.admin,
    }
}

/// The held programmes that are not current, as `cat_group`s. A programme is held with any of its levels, `Flyer` with
/// level 1 only. A member who still works on a first level has no currency that could lapse.
pub(crate) fn lapsed(held: &[LevelKey], currencies: &Currencies) -> Vec<&'static str> {
    let holds = |programme: &str| {
        held.iter().any(|level| level.cat_group == programme && (programme != "Flyer" || level.cat_id == "1"))
    };
    let lapsed =
        |programme: &&str| holds(programme) && currencies.find(programme).is_some_and(|currency| !currency.current);
    PROGRAMMES.into_iter().filter(lapsed).collect()
}

/// The name of the state that every client and page shows: [`NOT_CURRENT`] for an open skill of a programme in `lapsed`,
/// else the name of the stored state.
pub(crate) fn displayed_status(kind: Kind, cat_group: &str, status: Status, lapsed: &[&str]) -> &'static str {
    let not_current = kind == Kind::Skill && status == Status::Open && lapsed.contains(&cat_group);
    if not_current { NOT_CURRENT } else { status.name() }
}

/// The first thing that a member lacks before an entry of this skill, brief or training. `held`: the member's levels;
/// `briefed`: the safety logbooks in which the member has an open record. `None` also for a skill that the catalogue does
/// not have.
pub(crate) fn missing_prerequisite<'a>(
    catalogue: &'a Catalogue,
    skill: &str,
    held: &[LevelKey],
    briefed: &[String],
) -> Option<MissingPrerequisite<'a>> {
    if let Some((level, _)) = catalogue.find_skill(skill) {
        return missing_level_prerequisite(catalogue, level, held, briefed);
    }
    let (programme, safety) = catalogue.find_safety(skill)?;
    match safety.kind {
        SafetyKind::Recurrent if !briefed.contains(&programme.safety_logbook) => {
            missing_brief(catalogue, programme, held)
        }
        _ => missing_entry_level(catalogue, programme, held),
    }
}

/// Like [`missing_prerequisite`], for the skills of a level, which all have the same prerequisites.
pub(crate) fn missing_level_prerequisite<'a>(
    catalogue: &'a Catalogue,
    level: &Level,
    held: &[LevelKey],
    briefed: &[String],
) -> Option<MissingPrerequisite<'a>> {
    let programme = catalogue.find_programme(&level.cat_group)?;
    if !briefed.contains(&programme.safety_logbook) {
        return missing_brief(catalogue, programme, held);
    }
    missing_level(catalogue, level, held)
}

/// The brief of the programme; or the level without which the member cannot have the brief either.
fn missing_brief<'a>(
    catalogue: &'a Catalogue,
    programme: &Programme,
    held: &[LevelKey],
) -> Option<MissingPrerequisite<'a>> {
    missing_entry_level(catalogue, programme, held).or_else(|| {
        let initial = catalogue.safety(&programme.cat_group).iter().find(|one| one.kind == SafetyKind::Initial);
        initial.map(MissingPrerequisite::Brief)
    })
}

/// The level that a member needs to enter the first of the programmes that share the programme's safety logbook; `None`
/// for a member who holds or may enter a level of any of them.
fn missing_entry_level(
    catalogue: &Catalogue,
    programme: &Programme,
    held: &[LevelKey],
) -> Option<MissingPrerequisite<'static>> {
    let served = catalogue.programmes().iter().filter(|one| one.safety_logbook == programme.safety_logbook);
    let mut levels = served.flat_map(|one| &one.levels);
    let first = levels.clone().next()?;
    if levels.any(|level| held.contains(&level.key()) || level.admits(held)) {
        return None;
    }
    missing_level(catalogue, first, held)
}

/// The first required level that is not held.
fn missing_level(catalogue: &Catalogue, level: &Level, held: &[LevelKey]) -> Option<MissingPrerequisite<'static>> {
    let required = level.missing(held).next()?;
    let meant = |one: &&Level| {
        (&one.cat_group, &one.cat_id) == (&required.cat_group, &required.cat_id)
            && required.track.as_ref().is_none_or(|track| *track == one.track)
    };
    let name = match catalogue.levels().find(meant) {
        // A requirement without a track accepts every track, so the name of one track's level would mislead.
        Some(one) if required.track.is_some() || one.track.is_empty() => one.name.clone(),
        _ => format!("{} Level {}", required.cat_group, required.cat_id),
    };
    Some(MissingPrerequisite::Level(name))
}

#[cfg(test)]
mod tests;
