//! The waiver page of a member: state, signing at the desk, decisions, guardians, emergency contact and consents.

use super::PART;
use super::heading::{self, Heading};
use super::status::{self, NextBooking};
use super::waiver_papers::{self, ConsentRow, Paper};
use crate::app::waivers::consents as app_consents;
use crate::app::waivers::paper::relation_key;
use crate::app::waivers::{self as app_waivers, Signing, WORD_CHARS_MAX};
use crate::app::{self, bookings, family, flights};
use crate::auth::Clerk;
use crate::domain::ids::{MemberId, SignatureId};
use crate::domain::local_time::TimeZone;
use crate::domain::role::Role;
use crate::domain::waiver::{Reason, SigningPlace};
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::emergency_contacts::{self, Emergency};
use crate::store::tables::guardianships::{self, Guardianship};
use crate::store::tables::site_texts::Kind;
use crate::store::tables::{briefs, members, tunnels, waivers};
use crate::web::badge::Badge;
use crate::web::waiver_form::{self, WaiverForm};
use crate::web::{
    Frame, check_waivers_required, client_error_text, field_error_text, form, form_status, path_id, read_form, show,
};
use askama::Template;

const DONE: [(&str, &str); 10] = [
    ("before", "desk.done_before"),
    ("booked", "papers.done_booked"),
    ("signed", "papers.done_signed"),
    ("decided", "papers.done_decided"),
    ("error", "papers.done_error"),
    ("overridden", "papers.done_overridden"),
    ("emergency", "papers.done_emergency"),
    ("withdrawn", "papers.done_withdrawn"),
    ("guardian", "family.done_added"),
    ("guardian-ended", "family.done_ended"),
];

#[derive(Template)]
#[template(path = "desk/waiver.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    state: Badge,
    /// The booking of today that can be checked in now.
    check_in: Option<NextBooking>,
    /// Whether children for whom the member acts wait for the check-in too.
    family_waits: bool,
    /// By whom and why the member may fly without a waiver today.
    allowed: Option<String>,
    /// Whether staff may let the member fly without a waiver today.
    may_override: bool,
    /// Whether the clerk may mark a waiver as signed in error.
    may_mark_errors: bool,
    kept: String,
    sheet: Option<WaiverForm>,
    /// Whether nobody on the sheet has to sign; the sheet is folded then.
    is_signed: bool,
    papers: Vec<Paper>,
    /// The member's guardians, and the children whose guardian the member is: ID, name and relation.
    guardians: Vec<(MemberId, String, String)>,
    wards: Vec<(MemberId, String, String)>,
    emergency: Emergency,
    /// The mark of the stored contact.
    seen_emergency: String,
    /// When the member last read the safety brief, in words.
    brief: Option<String>,
    consents: Vec<ConsentRow>,
    /// The form that adds a guardian.
    added: GuardianForm,
    /// Why one of these forms was refused. The waiver and the decisions have their own.
    guardian_problem: Option<String>,
    emergency_problem: Option<String>,
    override_problem: Option<String>,
}

/// `GET /desk/members/{member_id}/waiver`
pub(crate) fn show_page(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

/// `POST /desk/members/{member_id}/waiver`: signed at the desk, by the flyer or for a child.
pub(crate) fn sign(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let sent = form(call)?;
    let mut due = site.store.read(|tx| app_waivers::list_due_at_desk(site, tx, member_id))?;
    // A form without ticks was made for the member alone, before there was anybody to sign with.
    if !due.iter().any(|one| sent.has(&format!("flies_{}", one.member_id))) {
        due = vec![site.store.read(|tx| app_waivers::find_due(site, tx, member_id))?];
    }
    let signing = waiver_form::read(sent, &due, SigningPlace::Desk)?;
    match app::change(site, clerk, call.language(), |cx| app_waivers::sign(cx, &signing)) {
        Ok(_) => back(member_id, "signed"),
        Err(failure) => {
            let problem = client_error_text(failure, call.language())?;
            page(site, call, clerk, Some((Sent::Signing(signing), problem)))
        }
    }
}

/// `POST /desk/members/{member_id}/waiver/decide`: decides whether a member who answered a question with yes may fly.
pub(crate) fn decide(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let (signature_id, may_fly, word, seen) = read_form(call, |form| {
        (
            form.required("signature", fields::id),
            form.required("may_fly", fields::line(5)) == "yes",
            form.line("word", WORD_CHARS_MAX),
            form.seen(),
        )
    })?;
    check_signature(site, member_id, signature_id)?;
    match app::change(site, clerk, call.language(), |cx| app_waivers::decide(cx, signature_id, may_fly, &word, &seen)) {
        Ok(_) => back(member_id, "decided"),
        Err(failure) if !failure.problems().is_empty() => {
            let problem = match word.is_empty() {
                true => call.say("papers.word_missing"),
                false => field_error_text(failure, call.language())?,
            };
            page(site, call, clerk, Some((Sent::Decision(signature_id, word), problem)))
        }
        Err(failure) => Err(failure),
    }
}

/// `POST /desk/members/{member_id}/waiver/error`: marks a waiver as signed in error.
pub(crate) fn mark_error(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let (signature_id, reason) =
        read_form(call, |form| (form.required("signature", fields::id), form.line("reason", WORD_CHARS_MAX)))?;
    check_signature(site, member_id, signature_id)?;
    match app::change(site, clerk, call.language(), |cx| app_waivers::mark_error(cx, signature_id, &reason)) {
        Ok(_) => back(member_id, "error"),
        Err(failure) if !failure.problems().is_empty() => {
            page(site, call, clerk, Some((Sent::Error(signature_id), call.say("papers.reason_missing"))))
        }
        Err(failure) => Err(failure),
    }
}

/// 404 unless the waiver is the member's.
fn check_signature(site: &Site, member_id: MemberId, signature_id: SignatureId) -> Result<(), Failure> {
    let signed = site.store.read(|tx| Ok(waivers::find(tx, signature_id)?))?;
    if signed.is_some_and(|signed| signed.member_id == member_id) { Ok(()) } else { Err(Failure::not_found()) }
}

/// `POST /desk/members/{member_id}/waiver/override`: lets the member fly today without a waiver.
pub(crate) fn override_today(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let reason = read_form(call, |form| form.line("reason", WORD_CHARS_MAX))?;
    match app::change(site, clerk, call.language(), |cx| app_waivers::override_today(cx, member_id, &reason)) {
        Ok(()) => back(member_id, "overridden"),
        Err(failure) if !failure.problems().is_empty() => {
            page(site, call, clerk, Some((Sent::Override, call.say("papers.reason_missing"))))
        }
        Err(failure) => Err(failure),
    }
}

/// `POST /desk/members/{member_id}/emergency`: sets the emergency contact; an empty one removes it.
pub(crate) fn set_emergency(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let (contact, seen) = read_form(call, |form| (waiver_form::read_emergency(form), form.seen()))?;
    match app::change(site, clerk, call.language(), |cx| app_consents::set_emergency(cx, member_id, &contact, &seen)) {
        Ok(_) => back(member_id, "emergency"),
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            page(site, call, clerk, Some((Sent::Emergency(contact), problem)))
        }
    }
}

/// `POST /desk/members/{member_id}/consents/withdraw`: records that the member withdrew a consent.
pub(crate) fn withdraw(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let kind = read_form(call, |form| form.required("kind", fields::line(20)))?;
    let kind = Kind::parse(&kind).ok_or_else(Failure::not_found)?;
    _ = app::change(site, clerk, call.language(), |cx| app_consents::withdraw(cx, member_id, kind))?;
    back(member_id, "withdrawn")
}

/// The member ID of the path; 404 on a site that requires no waivers.
pub(super) fn find_id(site: &Site, call: &Call) -> Result<MemberId, Failure> {
    check_waivers_required(site)?;
    path_id(call, 0)
}

/// The path of a member's waiver page.
pub(crate) fn path(member_id: MemberId) -> String {
    format!("{PART}/{member_id}/waiver")
}

pub(in crate::web::desk) fn back(member_id: MemberId, word: &str) -> Answer {
    Ok(reply::see_other(&format!("{}?done={word}", path(member_id))))
}

/// A form of the page that was refused, as typed.
pub(super) enum Sent {
    Signing(Signing),
    Emergency(Emergency),
    /// The waiver that is decided on, and the word.
    Decision(SignatureId, String),
    /// The waiver that is marked as signed in error.
    Error(SignatureId),
    Guardian(GuardianForm),
    Override,
}

/// The form that was refused, as typed and with the reason; all others are empty.
#[derive(Default)]
struct Refused {
    signing: Option<(Signing, String)>,
    decision: Option<(SignatureId, String, String)>,
    error: Option<(SignatureId, String)>,
    contact: Option<(Emergency, String)>,
    guardian: Option<(GuardianForm, String)>,
    override_problem: Option<String>,
}

impl Refused {
    fn of(refused: Option<(Sent, String)>) -> Refused {
        let mut all = Refused::default();
        match refused {
            Some((Sent::Signing(sent), problem)) => all.signing = Some((sent, problem)),
            Some((Sent::Decision(signature_id, word), problem)) => all.decision = Some((signature_id, word, problem)),
            Some((Sent::Error(signature_id), problem)) => all.error = Some((signature_id, problem)),
            Some((Sent::Emergency(sent), problem)) => all.contact = Some((sent, problem)),
            Some((Sent::Guardian(sent), problem)) => all.guardian = Some((sent, problem)),
            Some((Sent::Override, problem)) => all.override_problem = Some(problem),
            None => {}
        }
        all
    }
}

/// The form that adds a guardian, as typed.
#[derive(Default)]
pub(super) struct GuardianForm {
    /// Number, username, e-mail address or name.
    pub(super) guardian: String,
    pub(super) relation: String,
    pub(super) permission: String,
}

pub(super) fn page(site: &Site, call: &Call, clerk: &Clerk, refused: Option<(Sent, String)>) -> Answer {
    let status = form_status(refused.is_some());
    let Refused { signing, decision, error, contact, guardian, override_problem } = Refused::of(refused);
    let (contact, emergency_problem) = contact.unzip();
    let (added, guardian_problem) = guardian.unzip();
    let member_id = find_id(site, call)?;
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let language = call.language();
    let page = site.store.read(|tx| {
        let heading = heading::read(site, tx, call, member_id)?;
        let due = app_waivers::find_due(site, tx, member_id)?;
        let found = flights::find_waiver(site, tx, member_id, site.now())?;
        let (is_published, state) = (found.is_some(), state(found, language));
        let may_override = is_published && due.reason.is_some() && clerk.id() != member_id;
        let sheet = match is_published {
            true => {
                let together = app_waivers::list_due_at_desk(site, tx, member_id)?;
                Some(WaiverForm::read(tx, &together, language, true, signing.as_ref())?)
            }
            false => None,
        };
        let is_signed = signing.is_none()
            && app_waivers::list_due_at_desk(site, tx, member_id)?.iter().all(|one| one.reason.is_none());
        let allowed = allowed(site, tx, member_id, language)?;
        let mut papers = waiver_papers::list(site, tx, member_id, language)?;
        show_refused(&mut papers, decision, error);
        let kept = match site.config.waiver.keep_years {
            0 => Text::new("papers.kept_as_account"),
            years => Text::new("papers.kept_years").with("years", years),
        };
        let right = |one: &Guardianship| {
            let relation = language.say(&Text::new(relation_key(one.relation)));
            if one.permission.is_empty() { relation } else { language.labelled(&relation, &one.permission) }
        };
        let guardians = guardianships::list_of_child(tx, member_id)?;
        let guardians = guardians.iter().map(|one| (one.guardian_id, one.guardian.clone(), right(one))).collect();
        let wards = family::list_wards(site, tx, member_id)?;
        let wards = wards.iter().map(|one| (one.child_id, one.child.clone(), right(one))).collect();
        let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
        let brief = briefs::find_last(tx, member_id)?.map(|(version, at)| {
            let text =
                Text::new("papers.brief_read").with("version", version).with("day", when::moment(language, &zone, at));
            language.say(&text)
        });
        let emergency = emergency_contacts::find(tx, member_id)?.unwrap_or_default();
        Ok(Page {
            seen_emergency: app_consents::mark(&emergency),
            emergency: contact.unwrap_or(emergency),
            added: added.unwrap_or_default(),
            brief,
            consents: waiver_papers::list_consents(tx, member_id, &zone, language)?,
            guardians,
            wards,
            frame,
            check_in: check_in(site, tx, member_id, &zone, language)?,
            family_waits: bookings::family_waits(site, tx, member_id)?,
            heading,
            state,
            allowed,
            may_override,
            may_mark_errors: clerk.role() == Role::Admin && clerk.id() != member_id,
            kept: language.say(&kept),
            sheet,
            is_signed,
            papers,
            guardian_problem,
            emergency_problem,
            override_problem,
        })
    })?;
    Ok(show(status, language, &page))
}

/// Shows beside its waiver a decision, or a mark of an error, that was refused.
fn show_refused(
    papers: &mut [Paper],
    decision: Option<(SignatureId, String, String)>,
    error: Option<(SignatureId, String)>,
) {
    if let Some((signature_id, word, problem)) = decision
        && let Some(paper) = papers.iter_mut().find(|paper| paper.signature_id == signature_id)
    {
        (paper.word, paper.problem, paper.is_open) = (word, Some(problem), true);
    }
    if let Some((signature_id, problem)) = error
        && let Some(paper) = papers.iter_mut().find(|paper| paper.signature_id == signature_id)
    {
        paper.error_problem = Some(problem);
    }
}

/// The member's booking of today that is not checked in, where the member may fly.
fn check_in(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    zone: &TimeZone,
    language: Language,
) -> Result<Option<NextBooking>, Failure> {
    if flights::find_denial(site, tx, member_id, site.now())?.is_some() {
        return Ok(None);
    }
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    Ok(status::next_booking(site, tx, &profile, zone, language)?.filter(|next| next.open))
}

/// The badge of the waiver page: the reason in full.
fn state(found: Option<(Option<Reason>, bool)>, language: Language) -> Badge {
    let say = |tone, key| Badge::new(tone, language.say(&Text::new(key)));
    match found {
        None => say("soon", "papers.no_text"),
        Some((None, _)) => say("good", "papers.in_force"),
        Some((Some(reason), _)) => say("bad", reason.key()),
    }
}

/// The badge of a member's waiver; `None` on a site that requires none.
pub(super) fn find_badge(site: &Site, member_id: MemberId, language: Language) -> Result<Option<Badge>, Failure> {
    if !site.config.waiver.required {
        return Ok(None);
    }
    let found = site.store.read(|tx| flights::find_waiver(site, tx, member_id, site.now()))?;
    let (tone, key) = match found {
        None => ("soon", "papers.no_text"),
        Some((None, _)) => ("good", "papers.in_force"),
        Some((Some(_), true)) => ("soon", "papers.allowed_today"),
        Some((Some(Reason::Unsigned), false)) => ("bad", "papers.missing"),
        Some((Some(Reason::Undecided), false)) => ("bad", "papers.undecided"),
        Some((Some(Reason::Refused), false)) => ("bad", "papers.flies_not"),
        Some((Some(_), false)) => ("bad", "papers.sign_again"),
    };
    Ok(Some(Badge::new(tone, language.say(&Text::new(key)))))
}

fn allowed(site: &Site, tx: &Read, member_id: MemberId, language: Language) -> Result<Option<String>, Failure> {
    let Some(known) = waivers::find_override(tx, member_id, site.now())? else { return Ok(None) };
    let by = members::find_clerk_name(tx, known.made_by)?;
    Ok(Some(language.say(&Text::new("papers.allowed").with("by", by).with("reason", known.reason))))
}
