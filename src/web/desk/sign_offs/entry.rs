//! One entry: what was asked for and what became of it, and the moves that are open to whoever is there.

use super::{DONE, PART, signer, subject};
use crate::app::Actor;
use crate::app::logbook::relation;
use crate::auth::Clerk;
use crate::domain::entry::{self, Act, Status};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{member_search, standing};
use crate::store::tables::skills::{self, SkillEntry};
use crate::store::tables::{entry_events, members};
use crate::web::desk::members::lines::{Place, entry_mark};
use crate::web::desk::proof::ProofForm;
use crate::web::mark::{self, Mark};
use crate::web::{Frame, called, done, initials, show as shown};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/sign_off.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    entry: Shown,
    form: SignForm,
    /// By which the signer who was asked denies.
    proof: ProofForm,
    may_sign: bool,
    may_deny: bool,
    may_withdraw: bool,
    may_delete: bool,
    may_suspend: bool,
    may_reinstate: bool,
}

impl Page {
    /// Whether there is nothing to be done or to be read beside the facts.
    fn is_settled(&self) -> bool {
        let acts = [self.may_sign, self.may_deny, self.may_withdraw, self.may_delete, self.may_suspend];
        let entry = &self.entry;
        let said = [&entry.comment, &entry.comments_instructor, &entry.comment_denial];
        !acts.contains(&true) && !self.may_reinstate && said.iter().all(|text| text.is_empty())
    }
}

struct Shown {
    entry_id: i64,
    member_id: i64,
    name: String,
    initials: String,
    has_photo: bool,
    standing: String,
    marks: Vec<Mark>,
    skill: String,
    level: String,
    day: String,
    tunnel: String,
    signer: String,
    comment: String,
    comments_instructor: String,
    comment_denial: String,
    state: Mark,
    /// When, who and to what.
    moves: Vec<(String, String, Mark)>,
}

/// The fields that the proof for a denial is bound to.
pub(crate) const DENIAL_BOUND: &str = "version";

/// The form as it was sent, where it was refused or has a second part.
#[derive(Default)]
pub(crate) struct SignForm {
    pub username: String,
    pub comment: String,
    pub reason: String,
    /// Stands for the password that was right, where a code is due.
    pub step: Option<String>,
    /// Whether the code comes from an app; else it was sent.
    pub by_app: bool,
    /// Why it was not signed.
    pub problem: Option<String>,
    /// Why it was not denied.
    pub denial_problem: Option<String>,
    /// Of the entry as the page showed it; none where the page shows it anew.
    pub version: Option<i64>,
    /// Whether the entry had changed since it was shown.
    pub changed: bool,
    /// The proof for a denial where it goes on, and what the answer is then.
    pub(crate) denial: Option<(StatusCode, ProofForm)>,
}

/// `GET /desk/sign-offs/{entry_id}`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// The page, with the form as it was sent where it goes on.
pub(crate) fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Option<SignForm>) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut frame = Frame::of(site, call, clerk, PART)?;
    frame.done = done(call, &DONE);
    let zone = site.time_zone()?;
    let place = Place { site, zone: &zone, language: call.language(), now: site.now() };
    let status = match &sent {
        Some(SignForm { denial: Some((status, _)), .. }) => *status,
        Some(form) if form.changed => StatusCode::CONFLICT,
        Some(form) if form.step.is_none() || form.problem.is_some() => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::OK,
    };
    let empty = ProofForm::new(site, format!("{PART}/{entry_id}/deny"), DENIAL_BOUND, String::new())?;
    let page = site.store.read(|tx| {
        let found = skills::find(tx, entry_id)?.ok_or_else(Failure::not_found)?;
        let relation = relation(Actor::from(clerk).rank, &found);
        let may = |act, from| found.status == from && entry::may(relation, act);
        let mut form = sent.unwrap_or_default();
        form.version = form.version.or(Some(found.version));
        let asked = asked_username(tx, &found)?;
        if form.username.is_empty() {
            form.username.clone_from(&asked);
        }
        let mut proof = empty;
        match form.denial.take() {
            Some((_, sent)) => proof = sent,
            None => proof.username = asked,
        }
        Ok(Page {
            may_sign: found.status == Status::Pending,
            // The signer who was asked may be here: the proof says who denies.
            may_deny: found.status == Status::Pending && found.instructor_id.is_some(),
            may_withdraw: may(Act::Cancel, Status::Pending) && found.opening.is_none(),
            may_delete: !found.status.is_signed() && (found.status != Status::Pending || found.opening.is_some()),
            may_suspend: may(Act::Suspend, Status::Open),
            may_reinstate: may(Act::Reinstate, Status::Suspended),
            entry: look_at(tx, &place, found)?,
            form,
            proof,
            frame,
        })
    })?;
    Ok(shown(status, call.language(), &page))
}

/// Under which name the signer who was asked proves who they are.
fn asked_username(tx: &Read, entry: &SkillEntry) -> Result<String, Failure> {
    let asked = entry.instructor_id.map(|id| members::find_account_by_id(tx, id)).transpose()?.flatten();
    Ok(asked.map(|account| account.username).unwrap_or_default())
}

fn look_at(tx: &Read, place: &Place, entry: SkillEntry) -> Result<Shown, Failure> {
    let member = member_search::find(tx, entry.member_id)?.ok_or_else(Failure::not_found)?;
    let stand = mark::of(place.site, tx, entry.member_id, place.now, place.language)?;
    let name = called(&member.real_name, &member.screen_name, &member.username).to_owned();
    let (level, skill) = subject(place, &entry);
    let steps = entry_events::list(tx, entry.entry_id)?.into_iter();
    let lapsed = standing::lapsed(tx, entry.member_id, place.now)?;
    Ok(Shown {
        entry_id: entry.entry_id,
        member_id: entry.member_id,
        initials: initials(&name),
        name,
        has_photo: member.has_photo,
        standing: stand.level,
        marks: stand.marks,
        skill,
        level,
        day: place.day(entry.entry_date),
        signer: signer(tx, &entry)?,
        state: entry_mark(place, entry::shown(entry.kind, &entry.cat_group, entry.status, &lapsed)),
        moves: steps.map(|one| (place.moment(one.at), one.name, entry_mark(place, &one.to))).collect(),
        tunnel: entry.tunnel_name,
        comment: entry.comment,
        comments_instructor: entry.comments_instructor,
        comment_denial: entry.comment_denial,
    })
}
