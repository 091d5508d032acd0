//! Sign-off: signing, denying, suspending, reinstating and cancelling an entry; each with its event, the derived
//! levels, its audit row and its notices.

use super::{actor_id, record, record_for_other, relation, rules};
use crate::app::{Change, events};
use crate::domain::catalogue::Level;
use crate::domain::entry::{self, Action, Kind, Status};
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::signoff::{self, Denial};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::holdings;
use crate::store::tables::events::Event;
use crate::store::tables::skills::{self, SkillEntry};
use crate::store::tables::{members, notices, signers};
use serde_json::json;

/// How long a request waits before its signer is reminded, and how many one transaction reminds of.
const REMINDED_AFTER_SECONDS: i64 = 3 * 86_400;
const REMINDED_AT_ONCE: i64 = 200;

/// The entry as the signer saw it: its version, or the fields that a client of the bare contract sends back. A request
/// with neither refers to the entry as the notice described it.
#[derive(Debug, Default)]
pub(crate) struct SeenEntry {
    pub version: Option<i64>,
    pub skill: Option<String>,
    /// Unix seconds.
    pub entry_date: Option<Moment>,
    pub minutes: Option<i64>,
    pub tunnel_id: Option<TunnelId>,
    pub comment: Option<String>,
}

impl SeenEntry {
    /// The version that one of our clients sends; `None` from a client that sends none.
    pub(crate) fn version(version: Option<i64>) -> SeenEntry {
        SeenEntry { version, ..SeenEntry::default() }
    }

    /// Refuses to sign a pending entry that differs from the one the signer saw. Without a version, the fields are
    /// compared only where the entry was ever changed: existing clients fill them arbitrarily, and an entry with a single
    /// version cannot have been seen otherwise.
    fn check_signature(&self, entry: &SkillEntry) -> Result<(), Failure> {
        let fields = self.compare(entry);
        let same = match self.version {
            Some(version) => version == entry.version,
            None if entry.version == 1 => true,
            None if entry.version == entry.asked_version => !fields.contains(&Some(false)),
            None => fields.iter().all(|field| *field == Some(true)),
        };
        unless_changed(same, entry)
    }

    /// Refuses to deny a pending entry that differs from what the signer sent of it. A denial that says nothing of the
    /// entry holds for every version: the member reads it, and may ask again.
    fn check_denial(&self, entry: &SkillEntry) -> Result<(), Failure> {
        let same = match self.version {
            Some(version) => version == entry.version,
            None => entry.version == 1 || !self.compare(entry).contains(&Some(false)),
        };
        unless_changed(same, entry)
    }

    /// Whether each field is that of the entry; `None` for a field that was not sent.
    fn compare(&self, entry: &SkillEntry) -> [Option<bool>; 5] {
        [
            self.skill.as_ref().map(|skill| *skill == entry.skill),
            self.entry_date.map(|date| date == entry.entry_date),
            self.minutes.map(|minutes| minutes == entry.minutes),
            self.tunnel_id.map(|tunnel| tunnel == entry.tunnel_id),
            self.comment.as_ref().map(|comment| *comment == entry.comment),
        ]
    }
}

fn unless_changed(same: bool, entry: &SkillEntry) -> Result<(), Failure> {
    if same || entry.status != Status::Pending { Ok(()) } else { Err(Failure::entry_changed()) }
}

/// The level whose signers sign the flight time of an opening balance: the lowest, which every instructor may sign.
pub(super) fn first_level(site: &Site) -> Option<&'static Level> {
    site.catalogue.find_programme("Flyer")?.levels.first()
}

/// Signs an entry as the signer saw it, together with the whole opening balance that it belongs to: the balance is one
/// document with one signature, so its entries change together or not at all. 422 where the member lacks a prerequisite
/// by now; a balance has none. Audited; the member is notified.
pub(crate) fn sign(
    cx: &Change,
    entry: &SkillEntry,
    seen: &SeenEntry,
    comment: Option<&str>,
) -> Result<Status, Failure> {
    let (mut to, signer_id) = (entry.status, actor_id(cx)?);
    for one in &signed_together(cx.tx, entry)? {
        let level = match one.kind {
            Kind::Time => first_level(cx.site),
            _ => signoff::level_of(cx.site.catalogue, &one.skill),
        };
        // A skill that was removed from the catalogue cannot be signed.
        let level = level.ok_or_else(Failure::not_allowed)?;
        let (holder_id, tunnel_id) = (one.member_id, one.tunnel_id);
        let authority =
            signers::find_authority(cx.tx, cx.site.catalogue, signer_id, holder_id, level, tunnel_id, cx.now());
        let authority = authority.map_err(|stop| stop.into_failure(refusal))?;
        to = entry::transition(Some(one.status), Action::Sign(&authority)).ok_or_else(Failure::entry_state)?;
        seen.check_signature(entry)?;
        check_holder(cx.tx, holder_id)?;
        if one.opening.is_none() {
            rules::check_prerequisite(cx.site, cx.tx, holder_id, &one.skill, cx.now())?;
        }
        skills::sign(cx.tx, one, &authority, comment)?;
        events::tell_of_entry_now(cx.tx, Event::EntrySigned, one.entry_id)?;
    }
    let subject = if entry.opening.is_some() { "notice.opening_signed" } else { "notice.signed" };
    apply(cx, entry, subject)?;
    record(cx, "entry.signed", entry.member_id, entry.entry_id)?;
    Ok(to)
}

/// Denies an entry as the signer saw it, together with its whole opening balance. Only the named signer may deny; the desk
/// cancels instead. Audited; the member, or the author of an opening balance, is notified of the reason.
pub(crate) fn deny(cx: &Change, entry: &SkillEntry, seen: &SeenEntry, reason: &str) -> Result<Status, Failure> {
    if !entry::is_allowed(relation(cx.rank, entry), Action::Deny) {
        return Err(Failure::not_allowed());
    }
    seen.check_denial(entry)?;
    let (mut to, by) = (entry.status, actor_id(cx)?);
    for one in &signed_together(cx.tx, entry)? {
        to = entry::transition(Some(one.status), Action::Deny).ok_or_else(Failure::entry_state)?;
        skills::deny(cx.tx, one, by, reason)?;
        events::tell_of_entry_now(cx.tx, Event::EntryDenied, one.entry_id)?;
    }
    // The author corrects an opening balance; the member asked for every other entry.
    match entry.opening {
        Some(_) => notify(cx, entry.author_id, "notice.opening_denied", entry, by, reason)?,
        None => notify(cx, entry.member_id, "notice.denied", entry, by, reason)?,
    }
    record(cx, "entry.denied", entry.member_id, entry.entry_id)?;
    Ok(to)
}

/// Suspends an open entry. Admins only. Audited; the member is notified.
pub(crate) fn suspend(cx: &Change, entry: &SkillEntry) -> Result<Status, Failure> {
    pause(cx, entry, Action::Suspend, "notice.suspended", "entry.suspended")
}

/// Reinstates a suspended entry. Admins only. Audited; the member is notified.
pub(crate) fn reinstate(cx: &Change, entry: &SkillEntry) -> Result<Status, Failure> {
    pause(cx, entry, Action::Reinstate, "notice.reinstated", "entry.reinstated")
}

fn pause(
    cx: &Change,
    entry: &SkillEntry,
    action: Action,
    subject: &'static str,
    audit_action: &'static str,
) -> Result<Status, Failure> {
    if !entry::is_allowed(relation(cx.rank, entry), action) {
        return Err(Failure::not_allowed());
    }
    let to = entry::transition(Some(entry.status), action).ok_or_else(Failure::entry_state)?;
    skills::set_status(cx.tx, entry, actor_id(cx)?, to)?;
    let event = if to == Status::Suspended { Event::EntrySuspended } else { Event::EntryReinstated };
    events::tell_of_entry_now(cx.tx, event, entry.entry_id)?;
    apply(cx, entry, subject)?;
    record(cx, audit_action, entry.member_id, entry.entry_id)?;
    Ok(to)
}

/// Cancels a request: by its holder, the desk or an admin. The signer is notified, and so is the holder if another person
/// cancels. Audited, unless the logbook is the actor's own.
pub(crate) fn cancel(cx: &Change, entry: &SkillEntry) -> Result<Status, Failure> {
    if !entry::is_allowed(relation(cx.rank, entry), Action::Cancel) {
        return Err(Failure::not_allowed());
    }
    if entry.opening.is_some() {
        return Err(if entry.status.is_signed() { Failure::not_allowed() } else { opening_is_indivisible(cx, entry) });
    }
    let to = entry::transition(Some(entry.status), Action::Cancel).ok_or_else(Failure::entry_state)?;
    skills::set_status(cx.tx, entry, actor_id(cx)?, to)?;
    events::tell_of_entry_now(cx.tx, Event::EntryWithdrawn, entry.entry_id)?;
    notify_withdrawn(cx, entry)?;
    record_for_other(cx, "entry.cancelled", entry.member_id, entry.entry_id)?;
    Ok(to)
}

/// The entries to change together: the entry alone, or the whole opening balance that it belongs to.
pub(super) fn signed_together(tx: &Read, entry: &SkillEntry) -> Result<Vec<SkillEntry>, Failure> {
    match entry.opening {
        Some(opening) => Ok(skills::list_opening(tx, opening)?),
        None => Ok(skills::find(tx, entry.entry_id)?.into_iter().collect()),
    }
}

/// Refuses a sign-off until the member's e-mail address is confirmed; 404 where there is no such member.
pub(super) fn check_holder(tx: &Read, holder_id: MemberId) -> Result<(), Failure> {
    let profile = members::find(tx, holder_id)?.ok_or_else(Failure::not_found)?;
    if profile.email_verified { Ok(()) } else { Err(Failure::email_not_confirmed()) }
}

/// The refusal to change a part of an unsigned opening balance: the desk deletes all of it and enters it anew, and nobody
/// else may change anything.
pub(super) fn opening_is_indivisible(cx: &Change, entry: &SkillEntry) -> Failure {
    let failure = if relation(cx.rank, entry).staff { Failure::entry_state() } else { Failure::not_allowed() };
    failure.saying(Text::new("opening_is_whole"))
}

/// The refusal for a denial, with its text.
pub(super) fn refusal(denial: Denial) -> Failure {
    let key = match denial {
        Denial::Oneself => "signing.oneself",
        Denial::Level => "signing.level",
        Denial::NotListed => "signing.not_listed",
        Denial::NotCurrent => "signing.not_current",
        Denial::Account => "signing.account",
    };
    Failure::not_allowed().saying(Text::new(key))
}

/// Derives the member's levels again after an event, and notifies the member.
pub(super) fn apply(cx: &Change, entry: &SkillEntry, subject: &'static str) -> Result<(), Failure> {
    holdings::refresh(cx.tx, entry.member_id, cx.site.catalogue)?;
    notify(cx, entry.member_id, subject, entry, actor_id(cx)?, "")
}

/// Notifies the named signer of a pending entry.
pub(super) fn notify_requested_signer(cx: &Change, entry: &SkillEntry) -> Result<(), Failure> {
    let subject = if entry.opening.is_some() { "notice.opening_asked" } else { "notice.signoff_asked" };
    skills::set_notified(cx.tx, entry.entry_id)?;
    match entry.instructor_id {
        Some(signer_id) => notify(cx, signer_id, subject, entry, entry.member_id, ""),
        None => Ok(()),
    }
}

/// Reminds the signers of requests that have waited for three days, once. Returns how many requests.
pub(crate) fn remind_signers(cx: &Change) -> Result<usize, Failure> {
    let waiting = skills::list_unanswered(cx.tx, cx.now() - REMINDED_AFTER_SECONDS, REMINDED_AT_ONCE)?;
    for entry in &waiting {
        if let Some(signer_id) = entry.instructor_id {
            notify(cx, signer_id, "notice.signoff_waits", entry, entry.member_id, "")?;
        }
    }
    Ok(waiting.len())
}

/// Notifies the named signer of a pending entry, or of the opening balance that it belongs to, that no signature is
/// requested any more; and the holder, if another person withdrew the request. A balance is the desk's request.
pub(super) fn notify_withdrawn(cx: &Change, entry: &SkillEntry) -> Result<(), Failure> {
    notify_former_signer(cx, entry)?;
    if entry.opening.is_some() || cx.member_id() == Some(entry.member_id) {
        return Ok(());
    }
    notify(cx, entry.member_id, "notice.request_withdrawn", entry, entry.member_id, "")
}

/// Notifies the named signer of a pending entry that another signer, or none, is asked now; not the actor.
pub(super) fn notify_former_signer(cx: &Change, entry: &SkillEntry) -> Result<(), Failure> {
    let subject = if entry.opening.is_some() { "notice.opening_withdrawn" } else { "notice.signoff_withdrawn" };
    match entry.instructor_id.filter(|signer_id| cx.member_id() != Some(*signer_id)) {
        Some(signer_id) => notify(cx, signer_id, subject, entry, entry.member_id, ""),
        None => Ok(()),
    }
}

/// Inserts a notice to a member about an entry; `named` is the person whom the text names.
fn notify(
    cx: &Change,
    member_id: MemberId,
    subject: &'static str,
    entry: &SkillEntry,
    named: MemberId,
    reason: &str,
) -> Result<(), Failure> {
    let name = members::find(cx.tx, named)?.map(|profile| profile.screen_name).unwrap_or_default();
    let catalogue = cx.site.catalogue;
    let skill = match (catalogue.find_skill(&entry.skill), catalogue.find_safety(&entry.skill)) {
        (Some((_, skill)), _) => &skill.name,
        (None, Some((_, safety))) => &safety.name,
        (None, None) => &entry.skill,
    };
    let detail = json!({ "entry_id": entry.entry_id, "skill": skill, "name": name, "reason": reason });
    notices::insert(cx.tx, member_id, subject, &detail.to_string())?;
    Ok(())
}
