//! Asking for a signature: first the skill, then the signer. Only skills that may be asked for and signers who may sign them are
//! offered.

use super::frame::{LOGBOOK, Shell};
use super::show;
use crate::app;
use crate::app::logbook::rules::{Request, list_next_skills};
use crate::app::logbook::{COMMENT_CHARS_MAX, requests};
use crate::auth::Member;
use crate::domain::catalogue::names;
use crate::domain::ids::MemberId;
use crate::domain::signoff;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::signers::{self, EligibleSigner};
use crate::store::tables::{members, skills};
use crate::web::{client_error_text, form, form_status, refused_form};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "member/skills.html", config = "assets/templates/askama.toml")]
struct SkillsPage {
    shell: Shell,
    levels: Vec<OpenLevel>,
}

/// A level with the skills that may be asked for.
struct OpenLevel {
    name: &'static str,
    /// Number and name of each.
    skills: Vec<(&'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "member/signers.html", config = "assets/templates/askama.toml")]
struct SignersPage {
    shell: Shell,
    skill: &'static str,
    skill_name: &'static str,
    signers: Vec<EligibleSigner>,
    comment: String,
    problem: Option<String>,
}

/// `GET /me/logbook/sign-off`: the skills that the member may ask for next.
pub(crate) fn show_skills(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut levels: Vec<OpenLevel> = Vec::new();
    for (level, skill) in site.store.read(|tx| list_next_skills(site, tx, member.id()))? {
        let say = |english: &'static str| names::say(call.language(), english);
        let one = (skill.skill.as_str(), say(&skill.name));
        match levels.last_mut() {
            Some(last) if last.name == say(&level.name) => last.skills.push(one),
            _ => levels.push(OpenLevel { name: say(&level.name), skills: vec![one] }),
        }
    }
    let page = SkillsPage { shell: Shell::of(site, call, member, LOGBOOK)?, levels };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// The signers who may sign a skill for the member here now.
pub(super) fn list_able(
    site: &Site,
    tx: &Read,
    skill: &str,
    member_id: MemberId,
) -> Result<Vec<EligibleSigner>, Failure> {
    let level = signoff::level_of(site.catalogue, skill).ok_or_else(Failure::not_found)?;
    let mut able = signers::list_able(tx, site.catalogue, level, site.tunnel_id, site.now())?;
    able.retain(|one| one.member_id != member_id);
    Ok(able)
}

/// `GET /me/logbook/sign-off/{skill}`: the signers, one button each.
pub(crate) fn show_signers(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, String::new(), None)
}

fn page(site: &Site, call: &Call, member: &Member, comment: String, problem: Option<String>) -> Answer {
    let (_, skill) = site.catalogue.find_skill(call.param(0)).ok_or_else(Failure::not_found)?;
    let status = form_status(problem.is_some());
    let page = SignersPage {
        shell: Shell::of(site, call, member, LOGBOOK)?,
        skill: &skill.skill,
        skill_name: names::say(call.language(), &skill.name),
        signers: site.store.read(|tx| list_able(site, tx, &skill.skill, member.id()))?,
        comment,
        problem,
    };
    Ok(show(status, call.language(), &page))
}

/// `POST /me/logbook/sign-off/{skill}`: asks the chosen signer.
pub(crate) fn request(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut form = form(call)?;
    let (signer_id, comment) = (form.optional("signer", fields::id), form.lines("comment", COMMENT_CHARS_MAX));
    if let Err(failure) = form.finish() {
        return page(site, call, member, comment, Some(client_error_text(failure, call.language())?));
    }
    if signer_id.is_none() {
        return page(site, call, member, comment, Some(call.say("kiosk.signer_missing")));
    }
    let request = Request {
        skill: call.param(0).to_owned(),
        entry_date: site.now(),
        minutes: 0,
        tunnel_id: site.tunnel_id,
        comment,
    };
    let asked = app::change(site, member, call.language(), |cx| {
        // The same request, sent again, is sent.
        let waits = skills::find_waiting(cx.tx, member.id(), &request.skill, signer_id)?;
        match waits.is_some_and(|entry| entry.comment == request.comment) {
            true => Ok(()),
            false => requests::ask(cx, &request, signer_id).map(drop),
        }
    });
    match asked {
        Ok(()) => Ok(reply::see_other(&format!("{LOGBOOK}?done=asked"))),
        Err(failure) => {
            let failure = naming_signer(site, call, failure, signer_id)?;
            refused_form(failure, call, |problem| page(site, call, member, request.comment, Some(problem)))
        }
    }
}

/// A refusal that says why somebody may not sign begins with the name of a signer, and is a sentence. Nobody learns the name of
/// somebody who signs nothing.
pub(super) fn naming_signer(
    site: &Site,
    call: &Call,
    failure: Failure,
    signer_id: Option<MemberId>,
) -> Result<Failure, Failure> {
    let Some(problem) = failure.problems().iter().find(|problem| problem.text.key().starts_with("signer.")) else {
        return Ok(failure);
    };
    let name = site.store.read(|tx| match signer_id {
        Some(signer_id) if signers::is_signer(tx, signer_id)? => Ok(members::find(tx, signer_id)?),
        _ => Ok(None),
    })?;
    let name = name.map_or_else(|| call.say("me.this_person"), |profile| profile.screen_name);
    let why = call.language().say(&problem.text);
    Ok(Failure::field("signer", Text::new("me.signer_cannot").with("name", name).with("why", why)))
}
