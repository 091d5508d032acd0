//! An opening balance: flight time and skills from another tunnel, entered by the desk and signed by an instructor.

use super::PART;
use super::heading::{self, Heading};
use crate::app;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::opening::{self, Balance, MINUTES_MAX};
use crate::auth::Clerk;
use crate::domain::catalogue::names;
use crate::domain::ids::MemberId;
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
use crate::web::desk::signer_proof;
use crate::web::{Frame, form_error_text, form_status, path_id, read_form, show};
use askama::Template;

#[derive(Template)]
#[template(path = "desk/opening_balance.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    levels: Vec<Level>,
    signers: Vec<EligibleSigner>,
    today: String,
    sent: OpeningInput,
    problem: Option<String>,
}

/// A level, which can be ticked as a whole, and its skills.
struct Level {
    /// Programme, number and track, separated by slashes.
    key: String,
    name: String,
    ticked: bool,
    /// The number of required skills that the member does not have yet.
    missing: usize,
    skills: Vec<(String, String, bool)>,
}

/// The values of the form, as typed.
#[derive(Debug, Default)]
struct OpeningInput {
    time: String,
    date: String,
    comment: String,
    signer: Option<MemberId>,
    levels: Vec<String>,
    skills: Vec<String>,
}

impl OpeningInput {
    fn is_signer(&self, member_id: &MemberId) -> bool {
        self.signer == Some(*member_id)
    }
}

/// `GET /desk/members/{member_id}/opening`
pub(crate) fn show_form(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, OpeningInput::default(), None)
}

/// `POST /desk/members/{member_id}/opening`: enters the balance, which waits for the chosen instructor's signature, and leads
/// to the page that takes it. Where a browser sends the form again, nothing is entered, and the member's card shows what is.
pub(crate) fn enter(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let (zone, now) = (site.time_zone()?, site.now());
    let (levels, skills) = (signer_proof::values(call, "level")?, signer_proof::values(call, "skill")?);
    let (sent, number) = read_form(call, |form| {
        let sent = OpeningInput {
            time: form.line("time", 20),
            date: form.optional("date", fields::line(40)).unwrap_or_else(|| zone.date(now)),
            comment: form.lines("comment", COMMENT_CHARS_MAX),
            signer: form.optional("signer", fields::id),
            levels,
            skills,
        };
        (sent, form.number())
    })?;
    let length = if sent.time.is_empty() { Some(0) } else { minutes::parse(&sent.time) };
    let length = length.filter(|length| (0..=MINUTES_MAX).contains(length));
    let (length, entry_date, instructor_id) = match (length, zone.entry_moment(now, &sent.date), sent.signer) {
        (Some(length), Some(entry_date), Some(signer_id)) => (length, entry_date, signer_id),
        (None, ..) => return page(site, call, clerk, sent, Some(call.say("card.opening_time"))),
        (_, None, _) => return page(site, call, clerk, sent, Some(call.say("desk.time_date"))),
        (.., None) => return page(site, call, clerk, sent, Some(call.say("card.opening_signer"))),
    };
    let skills = site.store.read(|tx| all_skills(site, tx, member_id, &sent))?;
    let comment = sent.comment.clone();
    let balance = Balance { instructor_id, entry_date, tunnel_id: site.tunnel_id, comment, minutes: length, skills };
    let content = format!("{member_id} {sent:?}");
    let entered = app::change(site, clerk, call.language(), |cx| match cx.is_first_sending_of(number, &content)? {
        true => opening::enter(cx, member_id, &balance).map(Some),
        false => Ok(None),
    });
    match entered {
        Ok(None) => Ok(reply::see_other(&format!("/desk/members/{member_id}"))),
        Ok(Some(entry_id)) => Ok(reply::see_other(&format!("/desk/sign-offs/{entry_id}"))),
        Err(failure) => {
            let problem = form_error_text(failure, call.language())?;
            page(site, call, clerk, sent, Some(problem))
        }
    }
}

/// The ticked skills, and those that ticked levels require and the member does not have yet.
fn all_skills(site: &Site, tx: &Read, member_id: MemberId, sent: &OpeningInput) -> Result<Vec<String>, Failure> {
    let states = logbook::list_skill_states(tx, member_id)?;
    let has = |skill: &str| states.iter().any(|(one, status)| one == skill && status.blocks_same_skill());
    let mut skills = sent.skills.clone();
    for level in site.catalogue.levels().filter(|level| sent.levels.contains(&key(level))) {
        skills.extend(level.required().map(|one| one.skill.clone()).filter(|skill| !has(skill)));
    }
    skills.sort_unstable();
    skills.dedup();
    Ok(skills)
}

fn key(level: &crate::domain::catalogue::Level) -> String {
    format!("{}/{}/{}", level.cat_group, level.cat_id, level.track)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, mut sent: OpeningInput, problem: Option<String>) -> Answer {
    let member_id = path_id(call, 0)?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let flyer = site.catalogue.find_programme("Flyer").and_then(|programme| programme.levels.first());
    let (heading, states, mut able) = site.store.read(|tx| {
        let heading = heading::read(site, tx, call, member_id)?;
        let able = flyer.map(|level| signers::list_able(tx, site.catalogue, level, site.tunnel_id, site.now()));
        Ok((heading, logbook::list_skill_states(tx, member_id)?, able.transpose()?.unwrap_or_default()))
    })?;
    able.retain(|one| one.member_id != member_id);
    let has = |skill: &str| states.iter().any(|(one, status)| one == skill && status.blocks_same_skill());
    let say = |english: &str| names::say(call.language(), english).to_owned();
    let mut levels = Vec::new();
    for level in site.catalogue.levels() {
        let open = level.skills.iter().filter(|one| !has(&one.skill));
        let ticked = |skill: &String| sent.skills.contains(skill);
        let skills: Vec<_> = open.map(|one| (one.skill.clone(), say(&one.name), ticked(&one.skill))).collect();
        if !skills.is_empty() {
            let key = key(level);
            let missing = level.required().filter(|one| !has(&one.skill)).count();
            levels.push(Level { ticked: sent.levels.contains(&key), key, name: say(&level.name), missing, skills });
        }
    }
    let today = site.time_zone()?.date(site.now());
    if sent.date.is_empty() {
        sent.date.clone_from(&today);
    }
    let status = form_status(problem.is_some());
    Ok(show(status, call.language(), &Page { frame, heading, levels, signers: able, today, sent, problem }))
}
