//! The catalogue of programmes, for clients.

use crate::domain::catalogue::{Level, Programme, Safety, Skill};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde::Serialize;

#[derive(Serialize)]
struct ProgrammeReply<'a> {
    cat_group: &'a str,
    safety_logbook: &'a str,
    safety: Vec<SafetyReply<'a>>,
    levels: Vec<LevelReply<'a>>,
}

#[derive(Serialize)]
struct SafetyReply<'a> {
    skill: &'a str,
    skill_name: &'a str,
    /// `initial` or `recurrent`.
    kind: &'static str,
}

#[derive(Serialize)]
struct LevelReply<'a> {
    cat_id: &'a str,
    cat_name: &'a str,
    track: &'a str,
    requires: Vec<RequirementReply<'a>>,
    skills: Vec<SkillReply<'a>>,
}

/// A required level: the named one or a higher one; of any track where `track` is null.
#[derive(Serialize)]
struct RequirementReply<'a> {
    cat_group: &'a str,
    cat_id: &'a str,
    track: Option<&'a str>,
}

#[derive(Serialize)]
struct SkillReply<'a> {
    skill: &'a str,
    skill_name: &'a str,
    required: bool,
}

/// `GET /public/skills`: every programme with its levels, skills and safety records, this site's own among them.
pub(crate) fn list(site: &Site, call: &Call) -> Answer {
    let page = call.page()?;
    Ok(reply::part(call, page, site.catalogue.programmes().iter().map(programme).collect()))
}

fn programme(programme: &Programme) -> ProgrammeReply<'_> {
    ProgrammeReply {
        cat_group: &programme.cat_group,
        safety_logbook: &programme.safety_logbook,
        safety: programme.safety.iter().map(safety).collect(),
        levels: programme.levels.iter().map(level).collect(),
    }
}

fn safety(record: &Safety) -> SafetyReply<'_> {
    SafetyReply { skill: &record.skill, skill_name: &record.name, kind: record.kind.name() }
}

fn level(level: &Level) -> LevelReply<'_> {
    let requires = level.requires.iter().map(|one| RequirementReply {
        cat_group: &one.cat_group,
        cat_id: &one.cat_id,
        track: one.track.as_deref(),
    });
    LevelReply {
        cat_id: &level.cat_id,
        cat_name: &level.name,
        track: &level.track,
        requires: requires.collect(),
        skills: level.skills.iter().map(skill).collect(),
    }
}

fn skill(one: &Skill) -> SkillReply<'_> {
    SkillReply { skill: &one.skill, skill_name: &one.name, required: one.required }
}
