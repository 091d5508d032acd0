//! The skills that a member may ask for next.

use super::read_member;
use crate::auth::Bearer;
use crate::domain::catalogue::{Level, PROGRAMMES, Skill};
use crate::domain::entry::{self, Status};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{holdings, logbook};
use serde::Serialize;

#[derive(Serialize)]
struct SkillReply<'a> {
    cat_group: &'a str,
    cat_id: &'a str,
    cat_name: &'a str,
    track: &'a str,
    skill: &'a str,
    skill_name: &'a str,
    /// Whether the level is held only with it.
    required: bool,
}

/// `GET /account/logbook/filter-skills/{member_id}/{category}`: the skills of a programme, in the catalogue's order, on
/// levels that the member may enter, without those that wait for a signer or have one. None while the programme's safety
/// brief is missing.
pub fn list(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = read_member(site, call, bearer, 0)?;
    let asked = call.param(1);
    // AFC is not among the contract's words here; its skills could not be asked for by any other.
    let cat_group = PROGRAMMES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(asked))
        .ok_or_else(|| Failure::field("category", Text::new("field.one_of").with("values", PROGRAMMES.join(", "))))?;
    let page = call.page()?;
    site.store.read(|tx| {
        let open = of_member(site, tx, member_id)?.into_iter().filter(|(level, _)| level.cat_group == cat_group);
        Ok(reply::part(call, page, open.map(|(level, skill)| row(level, skill)).collect()))
    })
}

/// The skills that the member may ask for next, of every programme.
pub fn of_member(site: &Site, tx: &Read, member_id: i64) -> Result<Vec<(&'static Level, &'static Skill)>, Failure> {
    let held = holdings::list(tx, member_id)?;
    let held: Vec<_> = held.iter().map(holdings::Holding::key).collect();
    let trained = holdings::list_trained(tx, member_id, site.now())?;
    let briefed: Vec<String> = trained.into_iter().map(|(logbook, _)| logbook).collect();
    let states = logbook::list_skill_states(tx, member_id)?;
    let takes = |status: &str| Status::parse(status).is_some_and(Status::takes_the_skill);
    let assigned = |skill: &Skill| states.iter().any(|(one, status)| *one == skill.skill && takes(status));
    let is_open = |skill: &Skill| entry::obstacle(site.catalogue, &skill.skill, &held, &briefed).is_none();
    Ok(site.catalogue.skills().filter(|(_, skill)| !assigned(skill) && is_open(skill)).collect())
}

fn row<'a>(level: &'a Level, skill: &'a Skill) -> SkillReply<'a> {
    SkillReply {
        cat_group: &level.cat_group,
        cat_id: &level.cat_id,
        cat_name: &level.name,
        track: &level.track,
        skill: &skill.skill,
        skill_name: &skill.name,
        required: skill.required,
    }
}
