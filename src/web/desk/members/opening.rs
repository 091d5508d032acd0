//! An opening balance: what a member brought along from another tunnel, entered by the desk and signed by an instructor.

use super::PART;
use super::person::{self, Heading};
use crate::app;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::opening::{self, Balance, MINUTES_MAX};
use crate::auth::Clerk;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::logbook;
use crate::store::tables::signers::{self, EligibleSigner};
use crate::web::desk::proof;
use crate::web::{Frame, form, show};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/opening.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    levels: Vec<Level>,
    signers: Vec<EligibleSigner>,
    today: String,
    sent: Sent,
    problem: Option<String>,
}

/// A level that may be ticked as a whole, and its skills.
struct Level {
    /// Programme, number and track, with a slash between two.
    key: String,
    name: String,
    ticked: bool,
    skills: Vec<(String, String, bool)>,
}

/// The form as it was sent.
#[derive(Default)]
struct Sent {
    time: String,
    date: String,
    comment: String,
    signer: Option<i64>,
    levels: Vec<String>,
    skills: Vec<String>,
}

impl Sent {
    fn is_signer(&self, member_id: &i64) -> bool {
        self.signer == Some(*member_id)
    }
}

/// `GET /desk/members/{member_id}/opening`
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, Sent::default(), None)
}

/// `POST /desk/members/{member_id}/opening`: the balance waits for the signature of the instructor who was chosen; the next
/// page takes it.
pub(crate) fn enter(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = form(call)?;
    let (time, date) = (body.optional("time", fields::line(20)), body.optional("date", fields::line(40)));
    let comment = body.optional("comment", fields::lines(COMMENT_CHARS_MAX));
    let signer = body.optional("signer", fields::id);
    let ok = body.finish()?;
    let (zone, now) = (site.time_zone()?, site.now());
    let sent = Sent {
        time: time.get(&ok).unwrap_or_default(),
        date: date.get(&ok).unwrap_or_else(|| zone.date(now)),
        comment: comment.get(&ok).unwrap_or_default(),
        signer: signer.get(&ok),
        levels: proof::values(call, "level")?,
        skills: proof::values(call, "skill")?,
    };
    let length = if sent.time.is_empty() { Some(0) } else { minutes::parse(&sent.time) };
    let length = length.filter(|length| (0..=MINUTES_MAX).contains(length));
    let (length, entry_date, instructor_id) = match (length, zone.on_date(now, &sent.date), sent.signer) {
        (Some(length), Some(entry_date), Some(signer_id)) => (length, entry_date, signer_id),
        (None, ..) => return page(site, call, clerk, sent, Some(call.say("card.opening_time"))),
        (_, None, _) => return page(site, call, clerk, sent, Some(call.say("desk.time_date"))),
        (.., None) => return page(site, call, clerk, sent, Some(call.say("card.opening_signer"))),
    };
    let skills = site.store.read(|tx| all_skills(site, tx, member_id, &sent))?;
    let comment = sent.comment.clone();
    let balance = Balance { instructor_id, entry_date, tunnel_id: site.tunnel_id, comment, minutes: length, skills };
    match app::change(site, clerk, call.language(), |cx| opening::enter(cx, member_id, &balance)) {
        Ok(entry_id) => Ok(reply::see_other(&format!("/desk/sign-offs/{entry_id}"))),
        Err(failure) if [409, 422].contains(&failure.status().as_u16()) => {
            let text = failure.problems().first().map_or(failure.text(), |problem| &problem.text);
            let problem = call.language().say(text);
            page(site, call, clerk, sent, Some(problem))
        }
        Err(failure) => Err(failure),
    }
}

/// The skills that were ticked, and those of whole levels that the member has not yet.
fn all_skills(site: &Site, tx: &Read, member_id: i64, sent: &Sent) -> Result<Vec<String>, Failure> {
    let states = logbook::list_skill_states(tx, member_id)?;
    let has = |skill: &str| states.iter().any(|(one, status)| one == skill && status.takes_the_skill());
    let mut skills = sent.skills.clone();
    for level in site.catalogue.levels().filter(|level| sent.levels.contains(&key(level))) {
        skills.extend(level.skills.iter().map(|one| one.skill.clone()).filter(|skill| !has(skill)));
    }
    skills.sort_unstable();
    skills.dedup();
    Ok(skills)
}

fn key(level: &crate::domain::catalogue::Level) -> String {
    format!("{}/{}/{}", level.cat_group, level.cat_id, level.track)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, mut sent: Sent, problem: Option<String>) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let flyer = site.catalogue.find_programme("Flyer").and_then(|programme| programme.levels.first());
    let (heading, states, mut able) = site.store.read(|tx| {
        let heading = person::heading(site, tx, call, member_id)?;
        let able = flyer.map(|level| signers::list_able(tx, site.catalogue, level, site.tunnel_id, site.now()));
        Ok((heading, logbook::list_skill_states(tx, member_id)?, able.transpose()?.unwrap_or_default()))
    })?;
    able.retain(|one| one.member_id != member_id);
    let has = |skill: &str| states.iter().any(|(one, status)| one == skill && status.takes_the_skill());
    let mut levels = Vec::new();
    for level in site.catalogue.levels() {
        let open = level.skills.iter().filter(|one| !has(&one.skill));
        let ticked = |skill: &String| sent.skills.contains(skill);
        let skills: Vec<_> = open.map(|one| (one.skill.clone(), one.name.clone(), ticked(&one.skill))).collect();
        if !skills.is_empty() {
            let key = key(level);
            levels.push(Level { ticked: sent.levels.contains(&key), key, name: level.name.clone(), skills });
        }
    }
    let today = site.time_zone()?.date(site.now());
    if sent.date.is_empty() {
        sent.date.clone_from(&today);
    }
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(show(status, call.language(), &Page { frame, heading, levels, signers: able, today, sent, problem }))
}
