//! Waivers: signing for a flyer, the staff's decision where a question was answered with yes, and the staff's override
//! for a day. The gate that requires them is [`super::flights`].

pub(crate) mod brief;
pub(crate) mod consents;
pub(crate) mod links;
pub(crate) mod paper;
#[cfg(test)]
mod tests;
pub(crate) mod texts;

use super::person::AGE_SECONDS_MAX;
use super::seen::{self, Seen};
use super::{Change, family, flights};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::{MemberId, SignatureId};
use crate::domain::waiver::{self, Reason, Relation, SigningPlace};
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::emergency_contacts::Emergency;
use crate::store::tables::guardianships::{self, Guardianship};
use crate::store::tables::members::{self, Profile};
use crate::store::tables::site_texts::{self, Kind, SiteText};
use crate::store::tables::waivers::{self, Decision, Signature, Undecided};
use crate::store::tables::{notices, tunnels};
use serde_json::json;
use std::time::Duration;

/// Greatest length of a typed name, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 100;
/// Greatest length of the comment on a decision, and of the reason for an override, in characters.
pub(crate) const WORD_CHARS_MAX: usize = 300;
/// The greatest number of signatures for one flyer in 24 hours.
const SIGNATURES_PER_DAY: i64 = 20;
/// How long after a signature the same form is taken for the same signing, sent again.
const REPEAT_SECONDS: i64 = 10 * 60;
const DAY: Duration = Duration::from_secs(86_400);
/// The greatest number of flyers for whom one adult signs together.
pub(crate) const FLYERS_MAX: usize = 12;
const YEAR_SECONDS: i64 = 365 * 86_400 + 6 * 3_600;

/// One flyer of a signing.
#[derive(Debug, Clone)]
pub(crate) struct Flyer {
    pub(crate) member_id: MemberId,
    /// Midnight UTC of the day of birth; used where the account has none.
    pub(crate) dob: Option<Moment>,
    /// The signer's relation to the flyer.
    pub(crate) relation: Relation,
    /// `y` or `n` for each question.
    pub(crate) answers: String,
}

/// A signing, with the text as it was shown.
#[derive(Debug, Clone)]
pub(crate) struct Signing {
    pub(crate) version: i64,
    /// ISO 639-1.
    pub(crate) language: String,
    pub(crate) signer_name: String,
    /// Empty: the typed name is the signature.
    pub(crate) strokes: String,
    pub(crate) place: SigningPlace,
    pub(crate) flyers: Vec<Flyer>,
    /// The answers to the consents on the same page.
    pub(crate) consents: Vec<consents::ConsentAnswer>,
    /// The emergency contact of the flyers; empty: unchanged.
    pub(crate) emergency: Emergency,
}

/// Signs for each flyer: by the flyer, by a guardian, or at the desk. All flyers or none. 422 names every mistake,
/// under the field and the number of the flyer; 409 where the text is no longer in force. Audited; each flyer is
/// notified. Returns the numbers of the signatures; the same form sent again returns the same.
pub(crate) fn sign(cx: &Change, signing: &Signing) -> Result<Vec<SignatureId>, Failure> {
    let text = find_text(cx, signing)?;
    let mut problems = Fields::new(Default::default());
    if signing.signer_name.trim().is_empty() {
        problems.refuse("signer_name", Text::new("waiver.signer_missing"));
    }
    if !signing.strokes.is_empty() && !waiver::are_strokes(&signing.strokes) {
        problems.refuse("strokes", Text::new("waiver.strokes_wrong"));
    }
    if signing.flyers.is_empty() || signing.flyers.len() > FLYERS_MAX {
        problems.refuse("flyers", Text::new("waiver.nobody_flies"));
    }
    let mut ids: Vec<MemberId> = signing.flyers.iter().map(|flyer| flyer.member_id).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|two| two[0] == two[1]) {
        problems.refuse("flyers", Text::new("waiver.flyers_wrong"));
    }
    let mut papers = Vec::new();
    for flyer in &signing.flyers {
        papers.extend(judge(cx, signing, &text, flyer, &mut problems)?);
    }
    problems.finish()?;
    consents::keep(cx, signing)?;
    let record = |(paper, knows_dob): (Signature, bool)| match find_repeated(cx, &paper)? {
        Some(signature_id) => Ok(signature_id),
        None => record_signature(cx, &paper, knows_dob),
    };
    papers.into_iter().map(record).collect()
}

/// The flyer's latest signature, where it says the same, was made within [`REPEAT_SECONDS`], and no decision followed it:
/// a form that is sent twice makes one paper.
fn find_repeated(cx: &Change, paper: &Signature) -> Result<Option<SignatureId>, Failure> {
    let latest = waivers::list(cx.tx, paper.member_id, 1)?.into_iter().next();
    let Some((signature_id, known)) = latest.filter(|(_, known)| cx.now() - known.signed_at < REPEAT_SECONDS) else {
        return Ok(None);
    };
    let same = Signature { signed_at: known.signed_at, kept_until: known.kept_until, ..paper.clone() } == known;
    Ok((same && waivers::list_decisions(cx.tx, signature_id)?.is_empty()).then_some(signature_id))
}

/// The text that was shown, if it is in force.
fn find_text(cx: &Change, signing: &Signing) -> Result<SiteText, Failure> {
    let in_force = site_texts::find_in_force(cx.tx, Kind::Waiver)?.filter(|_| cx.site.config.waiver.required);
    let in_force = in_force.ok_or_else(Failure::not_found)?;
    let known = match signing.version == in_force.version {
        true => site_texts::find(cx.tx, Kind::Waiver, signing.version, &signing.language)?,
        false => None,
    };
    known.ok_or_else(Failure::waiver_changed)
}

/// The signature of one flyer, and whether the account has the day of birth; mistakes are added to `problems`.
fn judge(
    cx: &Change,
    signing: &Signing,
    text: &SiteText,
    flyer: &Flyer,
    problems: &mut Fields,
) -> Result<Option<(Signature, bool)>, Failure> {
    let profile = members::find(cx.tx, flyer.member_id)?.ok_or_else(Failure::not_found)?;
    let guardianship = find_right(cx, &profile)?;
    check_pace(cx, flyer.member_id)?;
    let mut refuse = |field: &str, key| problems.refuse(&format!("{field}_{}", flyer.member_id), Text::new(key));
    // A flyer who answered a question with yes cannot answer again before the staff has decided, so that no flyer signs
    // around a decision: neither does a clerk about the clerk's own flying.
    let open =
        waivers::find_latest(cx.tx, flyer.member_id)?.filter(|known| known.has_yes && known.decision != Some(true));
    let decides = cx.rank.is_staff() && cx.member_id() != Some(flyer.member_id);
    if open.is_some() && !decides {
        refuse("answers", "waiver.staff_first");
        return Ok(None);
    }
    let asked = waiver::questions(&text.questions).count();
    if flyer.answers.len() != asked || flyer.answers.bytes().any(|answer| !b"yn".contains(&answer)) {
        refuse("answers", "waiver.answers_missing");
        return Ok(None);
    }
    let now = cx.now();
    let sound = flyer.dob.filter(|dob| (now - AGE_SECONDS_MAX + 1..=now).contains(dob));
    let Some(born) = profile.dob.or(sound) else {
        refuse("dob", "waiver.dob_missing");
        return Ok(None);
    };
    // The relation that the staff recorded outranks the one that the guardian states here.
    let relation = guardianship.as_ref().map_or(flyer.relation, |known| known.relation);
    let is_minor = flights::is_minor(cx.site, cx.tx, born)?;
    match relation {
        Relation::Own if is_minor => refuse("relation", "waiver.guardian_needed"),
        Relation::Own => {}
        _ if !is_minor => refuse("relation", "waiver.adult_signs"),
        Relation::Permission if guardianship.is_none() && !cx.rank.is_staff() => {
            refuse("relation", "waiver.permission_at_desk");
        }
        _ => {}
    }
    let keep_years = cx.site.config.waiver.keep_years;
    let paper = Signature {
        member_id: flyer.member_id,
        version: text.version,
        language: text.language.clone(),
        text_hash: text.text_hash,
        signed_at: now,
        place: signing.place,
        flyer_name: name_of(&profile),
        born,
        relation,
        signer_name: signing.signer_name.trim().to_owned(),
        signer_id: guardianship.map(|known| known.guardian_id),
        strokes: signing.strokes.clone(),
        answers: flyer.answers.clone(),
        witness_id: cx.member_id().filter(|_| signing.place == SigningPlace::Desk),
        kept: keep_years > 0,
        kept_until: (keep_years > 0).then(|| now + keep_years * YEAR_SECONDS),
    };
    Ok(Some((paper, profile.dob.is_some())))
}

/// Each signature is kept for years: 429 above [`SIGNATURES_PER_DAY`] for one flyer, except for staff.
fn check_pace(cx: &Change, member_id: MemberId) -> Result<(), Failure> {
    let of_today = waivers::count_since(cx.tx, member_id, cx.now() - DAY.as_secs().cast_signed())?;
    match of_today < SIGNATURES_PER_DAY || cx.rank.is_staff() {
        true => Ok(()),
        false => Err(Failure::too_fast().retry_after(DAY)),
    }
}

/// The guardianship by which the actor acts for a flyer; `None` for the flyer's own account, and for staff. 404 for
/// others, and for an erased flyer.
fn find_right(cx: &Change, flyer: &Profile) -> Result<Option<Guardianship>, Failure> {
    cx.check_here(flyer.member_id)?;
    if cx.member_id() == Some(flyer.member_id) {
        return Ok(None);
    }
    let guardian_id = cx.member_id().unwrap_or_default();
    match guardianships::find(cx.tx, flyer.member_id, guardian_id)? {
        _ if cx.rank.is_staff() => Ok(None),
        Some(known) if family::may_act(cx.site, cx.tx, guardian_id)? => Ok(Some(known)),
        _ => Err(Failure::not_found()),
    }
}

/// Stores a signature, with the day of birth where the profile has none, the notice and the audit row. Returns its number.
fn record_signature(cx: &Change, paper: &Signature, knows_dob: bool) -> Result<SignatureId, Failure> {
    let signature_id = waivers::insert(cx.tx, paper)?;
    if !knows_dob {
        members::set_dob(cx.tx, paper.member_id, paper.born)?;
    }
    let waits = paper.answers.contains('y');
    let subject = if waits { "notice.waiver_waits" } else { "notice.waiver_signed" };
    notices::insert(cx.tx, paper.member_id, subject, &json!({ "signature_id": signature_id }).to_string())?;
    let detail = Detail::none().number("signature_id", signature_id).word("place", paper.place.name());
    cx.record("waiver.signed", &Subject::Member(paper.member_id), &detail)?;
    Ok(signature_id)
}

/// A flyer, and the state of the flyer's waiver.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) member_id: MemberId,
    pub(crate) name: String,
    /// Midnight UTC of the day of birth, in Unix seconds.
    pub(crate) dob: Option<Moment>,
    /// Why the flyer may not fly; `None` where the waiver is in force.
    pub(crate) reason: Option<Reason>,
    /// The relation by which the member signs for this flyer; `None`: the member is the flyer.
    pub(crate) relation: Option<Relation>,
    /// Whether the signer may be another person than the flyer: a flyer known to be an adult signs in person.
    pub(crate) asks_relation: bool,
}

/// A member, followed by the children for whom the member acts.
pub(crate) fn list_due(site: &Site, tx: &Read, member_id: MemberId) -> Result<Vec<Due>, Failure> {
    let mut due = vec![find_due(site, tx, member_id)?];
    for ward in family::list_wards(site, tx, member_id)?.into_iter().take(FLYERS_MAX - 1) {
        due.push(Due { relation: Some(ward.relation), asks_relation: false, ..find_due(site, tx, ward.child_id)? });
    }
    Ok(due)
}

/// The flyers whom one signature at the desk is for: a member, and the children for whom the member acts who must sign. A member who
/// must not is left out where children must.
pub(crate) fn list_due_at_desk(site: &Site, tx: &Read, member_id: MemberId) -> Result<Vec<Due>, Failure> {
    let mut due = list_due(site, tx, member_id)?;
    let wants = |one: &Due| one.reason.is_some_and(|reason| reason.wants_signature());
    let first = due.remove(0);
    due.retain(wants);
    if due.is_empty() || wants(&first) {
        due.insert(0, first);
    }
    Ok(due)
}

/// The state of one flyer's waiver.
pub(crate) fn find_due(site: &Site, tx: &Read, member_id: MemberId) -> Result<Due, Failure> {
    let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let reason = flights::find_denial(site, tx, member_id, site.now())?;
    let asks_relation = profile.dob.map_or(Ok(true), |dob| flights::is_minor(site, tx, dob))?;
    Ok(Due { member_id, name: name_of(&profile), dob: profile.dob, reason, relation: None, asks_relation })
}

/// A member's name on a signature.
fn name_of(profile: &Profile) -> String {
    let names = [&profile.real_name, &profile.screen_name];
    names.into_iter().find(|name| !name.trim().is_empty()).unwrap_or(&profile.username).clone()
}

/// 403 where a clerk would decide about the clerk's own flying: a colleague must.
fn check_other(cx: &Change, member_id: MemberId) -> Result<(), Failure> {
    cx.check_staff()?;
    match cx.member_id() == Some(member_id) {
        true => Err(Failure::not_allowed().saying(Text::new("waiver.not_own"))),
        false => Ok(()),
    }
}

/// The mark of the decisions on a waiver, for the form of the next.
pub(crate) fn mark(decided: &[Decision]) -> String {
    let last = decided.first().map(|last| [last.may_fly.to_string(), last.word.clone(), last.decided_at.to_string()]);
    seen::mark(&last.iter().flatten().map(String::as_str).collect::<Vec<_>>())
}

/// Decides on a waiver in which a question was answered with yes, with a comment. By staff other than the flyer. A
/// later decision replaces an earlier one, if the clerk has `seen` it. 409 where nothing awaits a decision. Audited
/// without the comment; the flyer is notified.
pub(crate) fn decide(
    cx: &Change,
    signature_id: SignatureId,
    may_fly: bool,
    word: &str,
    seen: &Seen,
) -> Result<MemberId, Failure> {
    cx.check_staff()?;
    let known = waivers::find(cx.tx, signature_id)?.ok_or_else(Failure::not_found)?;
    check_other(cx, known.member_id)?;
    if word.trim().is_empty() {
        return Err(Failure::field("word", Text::new("field.missing")));
    }
    if !known.answers.contains('y') {
        return Err(Failure::entry_state());
    }
    let decided = waivers::list_decisions(cx.tx, signature_id)?;
    if decided.iter().any(|one| one.in_error) {
        return Err(Failure::entry_state());
    }
    if let Some(last) = decided.first() {
        if last.may_fly == may_fly && last.word == word && last.decided_by == cx.member_id() {
            return Ok(known.member_id);
        }
        if !seen.is_mark(&mark(&decided)) {
            let by = members::find_clerk_name(cx.tx, last.decided_by)?;
            let key = if last.may_fly { "papers.decided_meanwhile_yes" } else { "papers.decided_meanwhile_no" };
            return Err(Failure::field(seen::FIELD, Text::new(key).with("by", by).with("word", &last.word)));
        }
    }
    waivers::insert_decision(cx.tx, signature_id, may_fly, word, cx.member_id())?;
    let subject = if may_fly { "notice.waiver_cleared" } else { "notice.waiver_refused" };
    // A guardian who signed for a child is notified too.
    for member_id in [Some(known.member_id), known.signer_id].into_iter().flatten() {
        notices::insert(cx.tx, member_id, subject, &json!({ "signature_id": signature_id }).to_string())?;
    }
    let detail = Detail::none().number("signature_id", signature_id).flag("may_fly", may_fly);
    cx.record("waiver.decided", &Subject::Member(known.member_id), &detail)?;
    Ok(known.member_id)
}

/// Marks a waiver as signed in error, by another person or on another's card, for a reason: it is kept, and no longer counts.
/// The one before it, if any, counts again. By an admin other than the flyer. Audited without the reason. Returns the flyer.
pub(crate) fn mark_error(cx: &Change, signature_id: SignatureId, reason: &str) -> Result<MemberId, Failure> {
    cx.check_admin()?;
    let known = waivers::find(cx.tx, signature_id)?.ok_or_else(Failure::not_found)?;
    check_other(cx, known.member_id)?;
    if reason.trim().is_empty() {
        return Err(Failure::field("reason", Text::new("field.missing")));
    }
    if !waivers::list_decisions(cx.tx, signature_id)?.iter().any(|one| one.in_error) {
        waivers::insert_error(cx.tx, signature_id, reason, cx.member_id())?;
        let detail = Detail::none().number("signature_id", signature_id);
        cx.record("waiver.marked_in_error", &Subject::Member(known.member_id), &detail)?;
    }
    Ok(known.member_id)
}

/// Seconds for which an undecided waiver stays on the desk's list; after that, only the check-in reports it.
const WAITING_SECONDS: i64 = 30 * 86_400;

/// The number of waivers that await a decision; 0 on a site that requires no waiver.
pub(crate) fn count_undecided(site: &Site, tx: &Read) -> Result<i64, Failure> {
    match site.config.waiver.required {
        true => Ok(waivers::count_undecided(tx, site.now() - WAITING_SECONDS)?),
        false => Ok(0),
    }
}

/// The waivers that await a decision, the longest first.
pub(crate) fn list_undecided(site: &Site, tx: &Read, limit: i64) -> Result<Vec<Undecided>, Failure> {
    Ok(waivers::list_undecided(tx, site.now() - WAITING_SECONDS, limit)?)
}

/// Lets a member fly today without a waiver in force, for a reason. By staff other than the flyer. Audited without the
/// reason, which is on the member's card.
pub(crate) fn override_today(cx: &Change, member_id: MemberId, reason: &str) -> Result<(), Failure> {
    check_other(cx, member_id)?;
    if reason.trim().is_empty() {
        return Err(Failure::field("reason", Text::new("field.missing")));
    }
    cx.check_here(member_id)?;
    if flights::find_demand(cx.site, cx.tx)?.is_none() {
        return Err(Failure::not_found());
    }
    let ends_at = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?.day(cx.now(), 0).to;
    let override_id = waivers::insert_override(cx.tx, member_id, reason, cx.member_id(), ends_at)?;
    cx.record("waiver.overridden", &Subject::Member(member_id), &Detail::none().number("override_id", override_id))
}
