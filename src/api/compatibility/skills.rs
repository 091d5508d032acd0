//! The catalogue of programmes, for clients.

use crate::domain::catalogue::{self, Level, Safety, Skill};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde_json::json;

crate::answer! {
    struct Programme<'a> {
        cat_group: &'a str = "Flyer",
        /// Whose safety logbook its records are in.
        safety_logbook: &'a str = "Flyer",
        safety: Vec<SafetyReply<'a>>,
        levels: Vec<LevelReply<'a>>,
    }
}

crate::answer! {
    inline struct SafetyReply<'a> {
        /// The value for `skill` of an entry.
        skill: &'a str = "10001",
        skill_name: &'a str = "Flyer safety brief",
        kind: &'static str ["initial", "recurrent"] = "initial",
    }
}

crate::answer! {
    inline struct LevelReply<'a> {
        /// The level, as text.
        cat_id: &'a str = "1",
        cat_name: &'a str = "Flyer Level 1",
        /// Empty where the level has none.
        track: &'a str = "",
        /// Each of them, or a higher level.
        requires: Vec<RequirementReply<'a>>,
        skills: Vec<SkillReply<'a>>,
    }
}

crate::answer! {
    inline struct RequirementReply<'a> {
        cat_group: &'a str,
        cat_id: &'a str,
        /// Null: of any track.
        track: Option<&'a str>,
    }
}

crate::answer! {
    inline struct SkillReply<'a> {
        /// The value for `skill` of an entry.
        skill: &'a str = "10101",
        skill_name: &'a str = "Belly, neutral",
        /// Whether the level is held only with it.
        required: bool = true,
    }
}

crate::answer! {
    /// The catalogue.
    struct ProgrammeList = Vec<Programme<'static>>;
}

crate::operation! {
    /// The catalogue of skills
    ///
    /// Every programme with its levels, skills and safety records, this site's own among them.
    LIST = "listProgrammes"
        .answers::<ProgrammeList>("The catalogue.")
        .example(|| json!([{ "levels": [{ "requires": [] }] }]))
}

pub(crate) fn list(site: &Site, call: &Call) -> Answer {
    let page = call.page()?;
    Ok(reply::part(call, page, site.catalogue.programmes().iter().map(programme).collect()))
}

fn programme(programme: &catalogue::Programme) -> Programme<'_> {
    Programme {
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
