//! Safety briefs and skills that an instructor records at the desk without a request of the member, all under one proof.

use super::PART;
use super::heading::{self, Heading};
use crate::app::logbook::rules::{Recordable, Request, list_recordable};
use crate::app::logbook::{COMMENT_CHARS_MAX, requests};
use crate::auth::Clerk;
use crate::domain::catalogue::names;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::desk::signer_proof::{self, Outcome, ProofForm};
use crate::web::{Frame, path_id, read_form, show};
use askama::Template;
use http::StatusCode;
use std::cell::RefCell;

/// Fields that the proof covers.
const BOUND: &str = "skill date";
/// Most skills under one proof.
const SKILLS_MAX: usize = 60;
const SKILL_CHARS_MAX: usize = 20;

#[derive(Template)]
#[template(path = "desk/record_skills.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    groups: Vec<Group>,
    date: String,
    today: String,
    comment: String,
    proof: ProofForm,
}

struct Group {
    name: String,
    ticks: Vec<Tick>,
}

struct Tick {
    skill: String,
    name: String,
    ticked: bool,
}

/// The values of the form, as typed.
#[derive(Default)]
struct RecordInput {
    skills: Vec<String>,
    date: Option<String>,
    comment: String,
}

/// `GET /desk/members/{member_id}/record`: what may be recorded next.
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, StatusCode::OK, RecordInput::default(), None)
}

/// `POST /desk/members/{member_id}/record`: records and signs everything that is ticked, or nothing.
pub(crate) fn record(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let skills = signer_proof::values(call, "skill")?;
    let sent = read_form(call, |form| RecordInput {
        skills,
        date: form.optional("date", fields::line(40)),
        comment: form.lines("comment", COMMENT_CHARS_MAX),
    })?;
    let (zone, now) = (site.time_zone()?, site.now());
    let moment = sent.date.as_deref().map_or(Some(now), |date| zone.entry_moment(now, date));
    let is_sound = sent.skills.len() <= SKILLS_MAX && sent.skills.iter().all(|one| one.len() <= SKILL_CHARS_MAX);
    let problem = match moment {
        _ if sent.skills.is_empty() || !is_sound => Some("card.record_none"),
        None => Some("desk.time_date"),
        Some(_) => None,
    };
    if let Some(key) = problem {
        let Outcome::Again(status, proof) = blank(site, member_id)?.sent(call)?.refused(call.say(key)) else {
            return Err(Failure::broken());
        };
        return page(site, call, clerk, status, sent, Some(*proof));
    }
    let at = RefCell::new(String::new());
    let outcome = signer_proof::carry_out(site, call, clerk, BOUND, &|| at.borrow().clone(), |cx| {
        for skill in in_order(site, &sent.skills) {
            *at.borrow_mut() = name_of(site, call, skill);
            let request = Request {
                skill: skill.to_owned(),
                entry_date: moment.unwrap_or(now),
                minutes: 0,
                tunnel_id: site.tunnel_id,
                comment: String::new(),
            };
            requests::record_seen(cx, member_id, &request, None, &sent.comment)?;
        }
        Ok(())
    })?;
    match outcome {
        Outcome::Done => Ok(reply::see_other(&format!("{PART}/{member_id}?done=recorded"))),
        Outcome::Again(status, proof) => page(site, call, clerk, status, sent, Some(*proof)),
    }
}

/// The ticked items, briefs first: skills depend on them.
fn in_order<'a>(site: &Site, skills: &'a [String]) -> Vec<&'a str> {
    let mut ordered: Vec<&str> = skills.iter().map(String::as_str).collect();
    ordered.sort_by_key(|skill| site.catalogue.find_safety(skill).is_none());
    ordered
}

fn name_of(site: &Site, call: &Call, skill: &str) -> String {
    let safety = site.catalogue.find_safety(skill).map(|(_, one)| &one.name);
    let name = site.catalogue.find_skill(skill).map(|(_, one)| &one.name).or(safety);
    names::say(call.language(), name.map_or(skill, String::as_str)).to_owned()
}

fn blank(site: &Site, member_id: MemberId) -> Result<ProofForm, Failure> {
    ProofForm::new(site, format!("{PART}/{member_id}/record"), BOUND, String::new())
}

fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    status: StatusCode,
    sent: RecordInput,
    proof: Option<ProofForm>,
) -> Answer {
    let member_id = path_id(call, 0)?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let (heading, recordable) = site.store.read(|tx| {
        let heading = heading::read(site, tx, call, member_id)?;
        Ok((heading, list_recordable(site, tx, member_id)?))
    })?;
    let today = site.time_zone()?.date(site.now());
    let proof = match proof {
        Some(proof) => proof,
        None => blank(site, member_id)?,
    };
    let page = Page {
        groups: groups(&recordable, &sent.skills, &frame),
        frame,
        heading,
        date: sent.date.unwrap_or_else(|| today.clone()),
        today,
        comment: sent.comment,
        proof,
    };
    Ok(show(status, call.language(), &page))
}

fn groups(recordable: &[Recordable], ticked: &[String], frame: &Frame) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for one in recordable {
        let name = one.level.map_or_else(
            || frame.say("card.record_safety"),
            |level| names::say(frame.language(), &level.name).to_owned(),
        );
        let tick = Tick {
            skill: one.skill.to_owned(),
            name: names::say(frame.language(), one.name).to_owned(),
            ticked: ticked.iter().any(|skill| skill == one.skill),
        };
        match groups.last_mut() {
            Some(last) if last.name == name => last.ticks.push(tick),
            _ => groups.push(Group { name, ticks: vec![tick] }),
        }
    }
    groups
}
