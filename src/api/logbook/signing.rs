//! The moves of an entry as effects: signed, refused, paused, given back; each with its move, the levels that follow from
//! it, and word to whom it concerns.

use crate::auth::{Clerk, Member};
use crate::domain::audit::{By, Detail, Whom};
use crate::domain::catalogue::Level;
use crate::domain::entry::{self, Act, Actor, Status};
use crate::domain::role::Role;
use crate::domain::signoff::{self, Bar};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::queries::holdings;
use crate::store::tables::skills::{self, SkillEntry};
use crate::store::tables::{audit, members, notices, signers};
use crate::store::{Read, Write};
use serde_json::json;

/// Who makes a move: a member by a call, or a clerk at the desk.
#[derive(Debug, Clone, Copy)]
pub struct Mover<'a> {
    pub id: i64,
    pub role: Role,
    /// The same, from where, for the audit log.
    pub by: &'a By,
}

impl<'a> From<&'a Member> for Mover<'a> {
    fn from(member: &'a Member) -> Mover<'a> {
        Mover { id: member.id(), role: member.role(), by: member.by() }
    }
}

impl<'a> From<&'a Clerk> for Mover<'a> {
    fn from(clerk: &'a Clerk) -> Mover<'a> {
        Mover { id: clerk.id(), role: clerk.role(), by: clerk.by() }
    }
}

/// What a signer was shown of an entry: its version, or, by a client that knows the contract alone, the fields that it
/// sends back. Without both a signer can only mean what the notice spoke of.
#[derive(Debug, Default)]
pub struct Seen {
    pub version: Option<i64>,
    pub skill: Option<String>,
    /// Unix seconds.
    pub entry_date: Option<i64>,
    pub minutes: Option<i64>,
    pub tunnel_id: Option<i64>,
    pub comment: Option<String>,
}

impl Seen {
    /// A client of ours, or one that says nothing.
    pub fn version(version: Option<i64>) -> Seen {
        Seen { version, ..Seen::default() }
    }

    /// Refuses an entry that waits and is not the one that was shown. Fields decide only where the entry was ever
    /// changed: existing clients fill them as they like, and of an entry with one version nobody saw another.
    fn check(&self, entry: &SkillEntry) -> Result<(), Failure> {
        let fields = [
            self.skill.as_ref().map(|skill| *skill == entry.skill),
            self.entry_date.map(|date| date == entry.entry_date),
            self.minutes.map(|minutes| minutes == entry.minutes),
            self.tunnel_id.map(|tunnel| tunnel == entry.tunnel_id),
            self.comment.as_ref().map(|comment| *comment == entry.comment),
        ];
        let same = match self.version {
            Some(version) => version == entry.version,
            None if entry.version == 1 => true,
            None if entry.version == entry.asked_version => !fields.contains(&Some(false)),
            None => fields.iter().all(|field| *field == Some(true)),
        };
        if same || entry.status != Status::Pending { Ok(()) } else { Err(Failure::entry_changed()) }
    }
}

/// What somebody is to the entry.
pub fn actor<'a>(by: impl Into<Mover<'a>>, entry: &SkillEntry) -> Actor {
    let by = by.into();
    Actor {
        holder: entry.member_id == by.id,
        named: entry.instructor_id == Some(by.id),
        staff: by.role.is_staff(),
        admin: by.role == Role::Admin,
    }
}

/// Whoever may sign this signs the flight time of an opening balance: any instructor.
pub fn first_level(site: &Site) -> Option<&Level> {
    site.catalogue.find_programme("Flyer")?.levels.first()
}

/// Signs an entry as it was shown, and with it its whole opening balance, if it is of one: that is one paper with one
/// signature, and its entries change together or not at all.
pub fn sign_entry<'a>(
    site: &Site,
    tx: &Write,
    entry: &SkillEntry,
    signer: impl Into<Mover<'a>>,
    seen: &Seen,
    comment: Option<&str>,
) -> Result<Status, Failure> {
    let signer = signer.into();
    let (mut to, signer_id) = (entry.status, signer.id);
    for one in &whole(tx, entry)? {
        let level = match one.kind.as_str() {
            "time" => first_level(site),
            _ => signoff::level_of(site.catalogue, &one.skill),
        };
        // Nobody signs what has left the catalogue.
        let level = level.ok_or_else(Failure::not_allowed)?;
        let (holder_id, tunnel_id) = (one.member_id, one.tunnel_id);
        let authority = signers::find_authority(tx, site.catalogue, signer_id, holder_id, level, tunnel_id, tx.now())?;
        let authority = authority.map_err(refusal)?;
        to = entry::step(Some(one.status), Act::Sign(&authority)).ok_or_else(Failure::entry_state)?;
        seen.check(entry)?;
        check_holder(tx, holder_id)?;
        skills::sign(tx, one, &authority, comment)?;
    }
    let subject = if entry.opening.is_some() { "notice.opening_signed" } else { "notice.signed" };
    settle(site, tx, entry, signer_id, subject)?;
    record(tx, signer, "entry.signed", entry)?;
    Ok(to)
}

/// Refuses an entry as it was shown, and with it its whole opening balance.
pub fn deny_entry<'a>(
    site: &Site,
    tx: &Write,
    entry: &SkillEntry,
    by: impl Into<Mover<'a>>,
    seen: &Seen,
    reason: &str,
) -> Result<Status, Failure> {
    let by = by.into();
    if !entry::may(actor(by, entry), Act::Deny) {
        return Err(Failure::not_allowed());
    }
    seen.check(entry)?;
    let mut to = entry.status;
    for one in &whole(tx, entry)? {
        to = entry::step(Some(one.status), Act::Deny).ok_or_else(Failure::entry_state)?;
        skills::deny(tx, one, by.id, reason)?;
    }
    // Whoever entered an opening balance mends it; the member asked for the rest.
    match entry.opening {
        Some(_) => tell(site, tx, entry.author_id, "notice.opening_denied", entry, by.id, reason)?,
        None => tell(site, tx, entry.member_id, "notice.denied", entry, by.id, reason)?,
    }
    record(tx, by, "entry.denied", entry)?;
    Ok(to)
}

/// Suspends or reinstates.
pub fn pause<'a>(
    site: &Site,
    tx: &Write,
    entry: &SkillEntry,
    by: impl Into<Mover<'a>>,
    act: Act,
) -> Result<Status, Failure> {
    let by = by.into();
    if !entry::may(actor(by, entry), act) {
        return Err(Failure::not_allowed());
    }
    let to = entry::step(Some(entry.status), act).ok_or_else(Failure::entry_state)?;
    skills::step(tx, entry, by.id, to)?;
    let (subject, deed) = match to {
        Status::Open => ("notice.reinstated", "entry.reinstated"),
        _ => ("notice.suspended", "entry.suspended"),
    };
    settle(site, tx, entry, by.id, subject)?;
    record(tx, by, deed, entry)?;
    Ok(to)
}

/// Withdraws what was asked for, and tells the signer.
pub fn cancel(site: &Site, tx: &Write, entry: &SkillEntry, member: &Member) -> Result<Status, Failure> {
    if !entry::may(actor(member, entry), Act::Cancel) || entry.opening.is_some() {
        return Err(Failure::not_allowed());
    }
    let to = entry::step(Some(entry.status), Act::Cancel).ok_or_else(Failure::entry_state)?;
    skills::step(tx, entry, member.id(), to)?;
    if let Some(signer_id) = entry.instructor_id {
        tell(site, tx, signer_id, "notice.signoff_withdrawn", entry, entry.member_id, "")?;
    }
    record_for_other(tx, member, "entry.cancelled", entry)?;
    Ok(to)
}

/// What was done to an entry, in the audit log.
pub fn record<'a>(tx: &Write, by: impl Into<Mover<'a>>, deed: &'static str, entry: &SkillEntry) -> Result<(), Failure> {
    record_entry(tx, by, deed, entry.member_id, entry.entry_id)
}

/// The same for what members do with their own entries too: the log has it only where one did it for another.
pub fn record_for_other(tx: &Write, member: &Member, deed: &'static str, entry: &SkillEntry) -> Result<(), Failure> {
    if member.id() == entry.member_id { Ok(()) } else { record(tx, member, deed, entry) }
}

/// By numbers.
pub fn record_entry<'a>(
    tx: &Write,
    by: impl Into<Mover<'a>>,
    deed: &'static str,
    holder_id: i64,
    entry_id: i64,
) -> Result<(), Failure> {
    let (by, detail) = (by.into().by, Detail::none().number("entry_id", entry_id));
    audit::insert(tx, &by.who, deed, &Whom::Member(holder_id), &by.origin, &detail)?;
    Ok(())
}

/// An entry, or all of the opening balance that it is part of.
pub fn whole(tx: &Read, entry: &SkillEntry) -> Result<Vec<SkillEntry>, Failure> {
    match entry.opening {
        Some(opening) => Ok(skills::list_opening(tx, opening)?),
        None => Ok(skills::find(tx, entry.entry_id)?.into_iter().collect()),
    }
}

/// Sign-off waits until the member's address is confirmed.
pub fn check_holder(tx: &Read, holder_id: i64) -> Result<(), Failure> {
    let profile = members::find(tx, holder_id)?.ok_or_else(Failure::not_found)?;
    if profile.email_verified { Ok(()) } else { Err(Failure::email_not_confirmed()) }
}

/// The reason in the words of a refusal.
pub fn refusal(bar: Bar) -> Failure {
    let key = match bar {
        Bar::Oneself => "signing.oneself",
        Bar::Level => "signing.level",
        Bar::NotListed => "signing.not_listed",
        Bar::NotCurrent => "signing.not_current",
        Bar::Account => "signing.account",
    };
    Failure::not_allowed().saying(Text::new(key))
}

/// Derives the member's levels anew after a move and tells the member of it.
pub fn settle(site: &Site, tx: &Write, entry: &SkillEntry, by: i64, subject: &str) -> Result<(), Failure> {
    holdings::refresh(tx, entry.member_id, site.catalogue)?;
    tell(site, tx, entry.member_id, subject, entry, by, "")
}

/// Tells the named signer that an entry waits.
pub fn tell_asked(site: &Site, tx: &Write, entry: &SkillEntry) -> Result<(), Failure> {
    let subject = if entry.opening.is_some() { "notice.opening_asked" } else { "notice.signoff_asked" };
    skills::set_asked(tx, entry.entry_id)?;
    match entry.instructor_id {
        Some(signer_id) => tell(site, tx, signer_id, subject, entry, entry.member_id, ""),
        None => Ok(()),
    }
}

/// `by`: the person whom the text names.
fn tell(
    site: &Site,
    tx: &Write,
    whom: i64,
    subject: &str,
    entry: &SkillEntry,
    by: i64,
    reason: &str,
) -> Result<(), Failure> {
    let name = members::find(tx, by)?.map(|profile| profile.screen_name).unwrap_or_default();
    let skill = match (site.catalogue.find_skill(&entry.skill), site.catalogue.find_safety(&entry.skill)) {
        (Some((_, skill)), _) => &skill.name,
        (None, Some((_, safety))) => &safety.name,
        (None, None) => &entry.skill,
    };
    let detail = json!({ "entry_id": entry.entry_id, "skill": skill, "name": name, "reason": reason });
    notices::insert(tx, whom, subject, &detail.to_string())?;
    Ok(())
}
