//! The skills that a member may request next.

use super::readable_member;
use crate::app::logbook::rules;
use crate::auth::Bearer;
use crate::domain::catalogue::{Level, PROGRAMMES, Skill};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;

crate::answer! {
    struct OpenSkill<'a> {
        /// The programme.
        cat_group: &'a str = "Flyer",
        /// The level, as text.
        cat_id: &'a str = "3",
        cat_name: &'a str = "Static Level 3",
        /// `Static`, `Dynamic` or `Formation`; empty where the level has none.
        track: &'a str = "Static",
        /// The value for `skill` of an entry.
        skill: &'a str = "11301",
        skill_name: &'a str = "Neutral sit position",
        /// Whether the level is held only with it.
        required: bool = true,
    }
}

crate::answer! {
    /// In the catalogue's order.
    struct OpenSkillList = Vec<OpenSkill<'static>>;
}

crate::operation! {
    /// Skills that a member may ask for
    ///
    /// Of one programme, on levels that the member may enter: without those that wait for a signer or have one. None
    /// while the programme's safety brief is missing.
    LIST = "filterSkills"
        .answers::<OpenSkillList>("The skills.")
}

pub(crate) fn list(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    let asked = call.param(1);
    // AFC is accepted beyond the contract's names, because its skills could not be listed otherwise.
    let cat_group = PROGRAMMES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(asked))
        .ok_or_else(|| Failure::field("category", Text::new("field.one_of").with("values", PROGRAMMES.join(", "))))?;
    let page = call.page()?;
    site.store.read(|tx| {
        let open =
            rules::list_next_skills(site, tx, member_id)?.into_iter().filter(|(level, _)| level.cat_group == cat_group);
        Ok(reply::part(call, page, open.map(|(level, skill)| row(level, skill)).collect()))
    })
}

fn row<'a>(level: &'a Level, skill: &'a Skill) -> OpenSkill<'a> {
    OpenSkill {
        cat_group: &level.cat_group,
        cat_id: &level.cat_id,
        cat_name: &level.name,
        track: &level.track,
        skill: &skill.skill,
        skill_name: &skill.name,
        required: skill.required,
    }
}
