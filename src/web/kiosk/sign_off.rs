//! Asking for a sign-off at a kiosk: first the skill, then the signer. Only skills that may be asked for and signers who may
//! sign them are offered.

use super::{Screen, show};
use crate::app;
use crate::app::logbook::requests;
use crate::app::logbook::rules::{Request, list_next_skills};
use crate::auth::Guest;
use crate::domain::catalogue::names;
use crate::domain::signoff;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::signers::{self, EligibleSigner};
use crate::web::{client_error_text, form, form_status};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "kiosk/skills.html", config = "assets/templates/askama.toml")]
struct SkillsPage {
    screen: Screen,
    levels: Vec<OpenLevel>,
}

/// A level with the skills that may be asked for.
struct OpenLevel {
    name: &'static str,
    /// ID and name of each.
    skills: Vec<(&'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "kiosk/signers.html", config = "assets/templates/askama.toml")]
struct SignersPage {
    screen: Screen,
    skill: &'static str,
    skill_name: &'static str,
    signers: Vec<EligibleSigner>,
    problem: Option<String>,
}

/// `GET /kiosk/sign-off`: the skills that the member may ask for next.
pub(crate) fn show_skills(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let mut levels: Vec<OpenLevel> = Vec::new();
    for (level, skill) in site.store.read(|tx| list_next_skills(site, tx, guest.member_id()))? {
        let say = |english: &'static str| names::say(call.language(), english);
        let one = (skill.skill.as_str(), say(&skill.name));
        match levels.last_mut() {
            Some(last) if last.name == say(&level.name) => last.skills.push(one),
            _ => levels.push(OpenLevel { name: say(&level.name), skills: vec![one] }),
        }
    }
    let page = SkillsPage { screen: Screen::of(site, call, guest)?, levels };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `GET /kiosk/sign-off/{skill}`: the signers who may sign the skill here now.
pub(crate) fn show_signers(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let level = signoff::level_of(site.catalogue, call.param(0)).ok_or_else(Failure::not_found)?;
    let (_, skill) = site.catalogue.find_skill(call.param(0)).ok_or_else(Failure::not_found)?;
    let mut able =
        site.store.read(|tx| Ok(signers::list_able(tx, site.catalogue, level, site.tunnel_id, site.now())?))?;
    able.retain(|one| one.member_id != guest.member_id());
    let status = form_status(problem.is_some());
    let page = SignersPage {
        screen: Screen::of(site, call, guest)?,
        skill: &skill.skill,
        skill_name: names::say(call.language(), &skill.name),
        signers: able,
        problem,
    };
    Ok(show(status, call.language(), &page))
}

/// `POST /kiosk/sign-off/{skill}`: asks the chosen signer.
pub(crate) fn request(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let Some(signer_id) = form(call)?.optional("signer", fields::id) else {
        return page(site, call, guest, Some(call.say("kiosk.signer_missing")));
    };
    let request = Request {
        skill: call.param(0).to_owned(),
        entry_date: site.now(),
        minutes: 0,
        tunnel_id: site.tunnel_id,
        comment: String::new(),
    };
    let actor = super::actor(call, guest);
    match app::change(site, actor, call.language(), |cx| requests::ask(cx, &request, Some(signer_id))) {
        Ok(_) => Ok(reply::see_other("/kiosk/home?done=asked")),
        Err(failure) => page(site, call, guest, Some(client_error_text(failure, call.language())?)),
    }
}
