//! The page of one entry: request, status, history, and the actions that are open to clerk and signer.

use super::{DONE, PART, signer, subject};
use crate::app::RankedActor;
use crate::app::logbook::relation;
use crate::auth::Clerk;
use crate::domain::entry::{self, Action, Status};
use crate::domain::ids::{EntryId, MemberId};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{member_search, standing};
use crate::store::tables::skills::{self, SkillEntry};
use crate::store::tables::{entry_events, members};
use crate::web::badge::{self, Badge};
use crate::web::desk::members::list_tabs::{ViewContext, entry_badge};
use crate::web::desk::signer_proof::ProofForm;
use crate::web::{Frame, initials, path_id, show as shown};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/sign_off.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    entry: EntryView,
    form: SignForm,
    signing: ProofForm,
    /// The proof with which the requested signer denies.
    proof: ProofForm,
    may_sign: bool,
    may_deny: bool,
    may_withdraw: bool,
    may_delete: bool,
    may_suspend: bool,
    may_reinstate: bool,
}

impl Page {
    /// Whether the entry has no open action and no comment.
    fn is_settled(&self) -> bool {
        let actions = [self.may_sign, self.may_deny, self.may_withdraw, self.may_delete, self.may_suspend];
        let entry = &self.entry;
        let comments = [&entry.comment, &entry.comments_instructor, &entry.comment_denial];
        !actions.contains(&true) && !self.may_reinstate && comments.iter().all(|text| text.is_empty())
    }
}

struct EntryView {
    entry_id: EntryId,
    member_id: MemberId,
    name: String,
    initials: String,
    has_photo: bool,
    standing: String,
    badges: Vec<Badge>,
    skill: String,
    level: String,
    day: String,
    tunnel: String,
    signer: String,
    comment: String,
    comments_instructor: String,
    comment_denial: String,
    state: Badge,
    /// Time, name and new status of each change.
    events: Vec<(String, String, Badge)>,
}

/// Fields that the proof for a denial covers.
pub(crate) const DENIAL_BOUND: &str = "version";

/// The forms for signing and denying, where one was refused or a code is due.
#[derive(Default)]
pub(crate) struct SignForm {
    pub comment: String,
    pub reason: String,
    /// Why it was not denied.
    pub denial_problem: Option<String>,
    /// Version of the entry that the page showed; `None` to use the present one.
    pub version: Option<i64>,
    /// The proof for signing where it is shown again.
    pub signing: Option<ProofForm>,
    /// The proof for a denial where it is shown again.
    pub denial: Option<ProofForm>,
    /// Status of the reply; `None`: 422.
    pub status: Option<StatusCode>,
}

impl SignForm {
    /// Shown again after a proof. An entry that has changed is shown in its new version.
    pub(crate) fn again(status: StatusCode, version: Option<i64>) -> SignForm {
        let version = version.filter(|_| status != StatusCode::CONFLICT);
        SignForm { version, status: Some(status), ..SignForm::default() }
    }
}

/// `GET /desk/sign-offs/{entry_id}`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// The page, with a form that is shown again.
pub(crate) fn page(site: &Site, call: &Call, clerk: &Clerk, sent: Option<SignForm>) -> Answer {
    let entry_id = path_id(call, 0)?;
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let zone = site.time_zone()?;
    let view = ViewContext { site, zone: &zone, language: call.language(), now: site.now() };
    let status = sent.as_ref().map_or(StatusCode::OK, |form| form.status.unwrap_or(StatusCode::UNPROCESSABLE_ENTITY));
    let empty = ProofForm::new(site, format!("{PART}/{entry_id}/deny"), DENIAL_BOUND, String::new())?;
    let page = site.store.read(|tx| {
        let found = skills::find(tx, entry_id)?.ok_or_else(Failure::not_found)?;
        let relation = relation(RankedActor::from(clerk).rank, &found);
        let may = |action, from| found.status == from && entry::is_allowed(relation, action);
        let mut form = sent.unwrap_or_default();
        form.version = form.version.or(Some(found.version));
        let signer = signer_username(tx, &found)?;
        let mut signing = form.signing.take().unwrap_or_default();
        if signing.username.is_empty() {
            signing.username.clone_from(&signer);
        }
        let proof = form.denial.take().unwrap_or(ProofForm { username: signer, ..empty });
        Ok(Page {
            may_sign: found.status == Status::Pending,
            // The proof establishes that the requested signer denies.
            may_deny: found.status == Status::Pending && found.instructor_id.is_some(),
            may_withdraw: may(Action::Cancel, Status::Pending) && found.opening.is_none(),
            may_delete: !found.status.is_signed() && (found.status != Status::Pending || found.opening.is_some()),
            may_suspend: may(Action::Suspend, Status::Open),
            may_reinstate: may(Action::Reinstate, Status::Suspended),
            entry: entry_view(tx, &view, found)?,
            form,
            signing,
            proof,
            frame,
        })
    })?;
    Ok(shown(status, call.language(), &page))
}

/// The username of the requested signer; empty where none was requested.
fn signer_username(tx: &Read, entry: &SkillEntry) -> Result<String, Failure> {
    let account = entry.instructor_id.map(|id| members::find_account_by_id(tx, id)).transpose()?.flatten();
    Ok(account.map(|account| account.username).unwrap_or_default())
}

fn entry_view(tx: &Read, view: &ViewContext, entry: SkillEntry) -> Result<EntryView, Failure> {
    let member = member_search::find(tx, entry.member_id)?.ok_or_else(Failure::not_found)?;
    let status = badge::member_status(view.site, tx, entry.member_id, view.now, view.language)?;
    let name = member.display_name().to_owned();
    let (level, skill) = subject(view, &entry);
    let steps = entry_events::list(tx, entry.entry_id)?.into_iter();
    let lapsed = standing::lapsed(tx, entry.member_id, view.now)?;
    Ok(EntryView {
        entry_id: entry.entry_id,
        member_id: entry.member_id,
        initials: initials(&name),
        name,
        has_photo: member.has_photo,
        standing: status.level,
        badges: status.badges,
        skill,
        level,
        day: view.day(entry.entry_date),
        signer: signer(tx, &entry)?,
        state: entry_badge(view, entry::displayed_status(entry.kind, &entry.cat_group, entry.status, &lapsed)),
        events: steps.map(|one| (view.moment(one.at), one.name, entry_badge(view, &one.to))).collect(),
        tunnel: entry.tunnel_name,
        comment: entry.comment,
        comments_instructor: entry.comments_instructor,
        comment_denial: entry.comment_denial,
    })
}
