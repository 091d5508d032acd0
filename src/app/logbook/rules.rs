//! The rules of an entry, checked against the catalogue, the logbook and the signers.

use crate::domain::catalogue::{Level, LevelKey, SafetyKind, Skill};
use crate::domain::entry::{self, Kind, MissingPrerequisite, Status};
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::domain::signoff;
use crate::http::failure::Failure;
use crate::http::fields::{Fields, MOMENT_MIN};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{holdings, logbook};
use crate::store::tables::members::{self, Holder};
use crate::store::tables::{signers, skills, tunnels};

/// The greatest number of entries in one logbook: about seven a day for twenty years.
const ENTRIES_MAX: i64 = 50_000;
const UNCONFIRMED_ENTRIES_MAX: i64 = 1_000;
/// Seconds by which a kiosk's clock may be ahead of the server's.
const AHEAD_SECONDS_MAX: i64 = 120;

/// A complete request for a skill entry. Moments in Unix seconds.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub skill: String,
    pub entry_date: Moment,
    pub minutes: i64,
    pub tunnel_id: TunnelId,
    pub comment: String,
}

/// The fields of a request that can be checked, as far as they are known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PartialRequest<'a> {
    pub entry_date: Option<Moment>,
    pub tunnel_id: Option<TunnelId>,
    pub skill: Option<&'a str>,
    pub instructor_id: Option<MemberId>,
}

/// A skill or safety record of the catalogue, as an entry names it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// `skill` or `safety`.
    pub kind: Kind,
    pub cat_group: &'static str,
    pub cat_id: &'static str,
    /// The level whose signers sign the entry.
    pub level: &'static Level,
    /// Whether a member may have several entries of the item: a recurrent training.
    pub recurrent: bool,
}

/// The skill or safety record of that number; `None` where the catalogue has none.
pub(crate) fn find_item(site: &Site, skill: &str) -> Option<Item> {
    let level = signoff::level_of(site.catalogue, skill)?;
    if let Some((own, _)) = site.catalogue.find_skill(skill) {
        let (cat_group, cat_id) = (own.cat_group.as_str(), own.cat_id.as_str());
        return Some(Item { kind: Kind::Skill, cat_group, cat_id, level, recurrent: false });
    }
    let (programme, safety) = site.catalogue.find_safety(skill)?;
    let recurrent = safety.kind == SafetyKind::Recurrent;
    Some(Item { kind: Kind::Safety, cat_group: &programme.cat_group, cat_id: "", level, recurrent })
}

/// Checks a request for the logbook of a member. `edited` is the entry that the request changes, with its former date,
/// which is accepted as it was. 422 with every mistake; then 409 where the member has an entry of the skill.
pub(crate) fn check(
    site: &Site,
    tx: &Read,
    holder_id: MemberId,
    request: &Request,
    edited: Option<(EntryId, Moment)>,
    instructor_id: Option<MemberId>,
    now: Moment,
) -> Result<Item, Failure> {
    let mut problems = Fields::new(Default::default());
    let (entry_date, tunnel_id) = (Some(request.entry_date), Some(request.tunnel_id));
    let partial = PartialRequest { entry_date, tunnel_id, skill: Some(&request.skill), instructor_id };
    judge(site, tx, holder_id, partial, edited.map(|(_, date)| date), now, &mut problems)?;
    problems.finish()?;
    let subject = find_item(site, &request.skill).ok_or_else(Failure::invalid_fields)?;
    match find_taking(tx, holder_id, &request.skill, &subject, edited.map_or(EntryId(0), |(entry_id, _)| entry_id))? {
        None => Ok(subject),
        Some(Status::Suspended) => Err(Failure::skill_taken().saying(Text::new("skill_suspended"))),
        Some(_) => Err(Failure::skill_taken()),
    }
}

/// Adds the mistakes of a request to `problems`, as far as the request is known.
pub(crate) fn judge(
    site: &Site,
    tx: &Read,
    holder_id: MemberId,
    request: PartialRequest,
    known_date: Option<Moment>,
    now: Moment,
    problems: &mut Fields,
) -> Result<(), Failure> {
    check_place(tx, holder_id, (request.entry_date, request.tunnel_id), known_date, now, problems)?;
    let Some(skill) = request.skill else { return Ok(()) };
    let Some(subject) = find_item(site, skill) else {
        problems.refuse("skill", Text::new("field.unknown_skill"));
        return Ok(());
    };
    if let Some(text) = missing_prerequisite(site, tx, holder_id, skill, now)? {
        problems.refuse("skill", text);
    }
    if let (Some(instructor_id), Some(tunnel_id)) = (request.instructor_id, request.tunnel_id) {
        let denial = signer_denial(site, tx, holder_id, instructor_id, subject.level, tunnel_id, now)?;
        denial.into_iter().for_each(|text| problems.refuse("instructor", text));
    }
    Ok(())
}

/// Adds the mistakes in the date and the tunnel of an entry to `problems`, as far as the two are known. The date must
/// not be in the future or before [`MOMENT_MIN`], unless it equals `known_date`, and not before the birth of the member; the tunnel
/// must exist.
/// Returns the owner of the logbook where the date was known.
pub(crate) fn check_place(
    tx: &Read,
    holder_id: MemberId,
    (entry_date, tunnel_id): (Option<Moment>, Option<TunnelId>),
    known_date: Option<Moment>,
    now: Moment,
    problems: &mut Fields,
) -> Result<Option<Holder>, Failure> {
    let mut holder = None;
    if let Some(date) = entry_date {
        if date > now + AHEAD_SECONDS_MAX && entry_date != known_date {
            problems.refuse("entry_date", Text::new("field.in_future"));
        }
        // A form names a day of any year; an entry that an earlier version took keeps its date.
        if date.0 < MOMENT_MIN && entry_date != known_date {
            problems.refuse("entry_date", Text::new("field.not_moment"));
        }
        let found = members::find_holder(tx, holder_id)?;
        if found.dob.is_some_and(|dob| date < dob) {
            problems.refuse("entry_date", Text::new("field.before_birth"));
        }
        holder = Some(found);
    }
    if let Some(tunnel_id) = tunnel_id
        && !tunnels::exists(tx, tunnel_id)?
    {
        problems.refuse("tunnel", Text::new("field.unknown_tunnel"));
    }
    Ok(holder)
}

/// Refuses a new entry in a full logbook. The limit is lower for a member without a confirmed e-mail address, because
/// anyone can create such accounts in any number.
pub(crate) fn check_room(holder: &Holder) -> Result<(), Failure> {
    let most = if holder.email_confirmed { ENTRIES_MAX } else { UNCONFIRMED_ENTRIES_MAX };
    if holder.entries < most {
        return Ok(());
    }
    let key = if holder.email_confirmed { "logbook_full" } else { "logbook_full.unconfirmed" };
    Err(Failure::logbook_full().saying(Text::new(key).with_count("max", most)))
}

/// Why this signer may not sign; `None` where the signer may sign.
pub(crate) fn signer_denial(
    site: &Site,
    tx: &Read,
    holder_id: MemberId,
    signer_id: MemberId,
    level: &Level,
    tunnel_id: TunnelId,
    now: Moment,
) -> Result<Option<Text>, Failure> {
    match signers::find_authority(tx, site.catalogue, signer_id, holder_id, level, tunnel_id, now) {
        Ok(_) => Ok(None),
        Err(stop) => Ok(Some(Text::new(stop.denial()?.key()))),
    }
}

/// Whether the member has another entry than `except` that excludes a second entry of the skill. A recurrent training
/// may repeat, but only one request for it may be pending.
pub(crate) fn is_taken(
    tx: &Read,
    holder_id: MemberId,
    skill: &str,
    item: &Item,
    except: EntryId,
) -> Result<bool, Failure> {
    Ok(find_taking(tx, holder_id, skill, item, except)?.is_some())
}

/// The state of the entry for which [`is_taken`] is true.
fn find_taking(
    tx: &Read,
    holder_id: MemberId,
    skill: &str,
    item: &Item,
    except: EntryId,
) -> Result<Option<Status>, Failure> {
    let statuses = skills::list_statuses(tx, holder_id, item.kind, skill, except)?;
    let takes = |status: &Status| match item.recurrent {
        true => *status == Status::Pending,
        false => status.blocks_same_skill(),
    };
    Ok(statuses.into_iter().find(takes))
}

/// The skills that the member may request next, of every programme, in the order of the catalogue.
pub(crate) fn list_next_skills(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
) -> Result<Vec<(&'static Level, &'static Skill)>, Failure> {
    let holdings = holdings::list(tx, member_id)?;
    let (held, briefed) = (keys(&holdings), list_briefed(tx, member_id, site.now())?);
    Ok(list_open_skills(site, &held, &briefed, &logbook::list_taken_skills(tx, member_id)?))
}

/// The skills of the levels that are open to a holder of `held` with the safety records `briefed`, except `taken`,
/// which is sorted.
fn list_open_skills(
    site: &Site,
    held: &[LevelKey],
    briefed: &[String],
    taken: &[String],
) -> Vec<(&'static Level, &'static Skill)> {
    let is_taken = |skill: &Skill| taken.binary_search(&skill.skill).is_ok();
    let open = |level: &&Level| entry::missing_level_prerequisite(site.catalogue, level, held, briefed).is_none();
    let skills = site.catalogue.levels().filter(open);
    let skills = skills.flat_map(|level| level.skills.iter().map(move |skill| (level, skill)));
    skills.filter(|(_, skill)| !is_taken(skill)).collect()
}

/// A brief, a training or a skill that can be recorded for a member next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recordable {
    pub skill: &'static str,
    pub name: &'static str,
    /// `None` for a brief or a training.
    pub level: Option<&'static Level>,
}

/// The entries that a signer may record for a member: briefs and trainings first, then skills in the order of the
/// catalogue. A brief that is recorded on the same form opens its programme's skills, so the list includes them.
pub(crate) fn list_recordable(site: &Site, tx: &Read, member_id: MemberId) -> Result<Vec<Recordable>, Failure> {
    let holdings = holdings::list(tx, member_id)?;
    let (held, mut briefed) = (keys(&holdings), list_briefed(tx, member_id, site.now())?);
    let mut recordable = Vec::new();
    for programme in site.catalogue.programmes() {
        let known = briefed.contains(&programme.safety_logbook);
        for safety in &programme.safety {
            let Some(item) = find_item(site, &safety.skill) else { continue };
            let is_next = match safety.kind {
                SafetyKind::Initial => !known,
                SafetyKind::Recurrent => known,
            };
            if !is_next
                || entry::missing_prerequisite(site.catalogue, &safety.skill, &held, &briefed).is_some()
                || is_taken(tx, member_id, &safety.skill, &item, EntryId(0))?
            {
                continue;
            }
            recordable.push(Recordable { skill: &safety.skill, name: &safety.name, level: None });
            briefed.push(programme.safety_logbook.clone());
        }
    }
    let skills = list_open_skills(site, &held, &briefed, &logbook::list_taken_skills(tx, member_id)?);
    recordable.extend(skills.into_iter().map(|(level, skill)| Recordable {
        skill: &skill.skill,
        name: &skill.name,
        level: Some(level),
    }));
    Ok(recordable)
}

/// Every entry that some signer may sign: briefs and trainings first, then skills in the order of the catalogue.
pub(crate) fn list_all(site: &Site) -> Vec<Recordable> {
    let safety = site.catalogue.programmes().iter().flat_map(|programme| &programme.safety);
    let safety = safety.map(|one| Recordable { skill: &one.skill, name: &one.name, level: None });
    let skills = site.catalogue.skills();
    safety
        .chain(skills.map(|(level, one)| Recordable { skill: &one.skill, name: &one.name, level: Some(level) }))
        .collect()
}

/// The entries that a signer may sign here now for other members: briefs and trainings first, then skills in the order of the
/// catalogue.
pub(crate) fn list_signable(
    site: &Site,
    tx: &Read,
    signer_id: MemberId,
    now: Moment,
) -> Result<Vec<Recordable>, Failure> {
    let mut judged: Vec<(&Level, bool)> = Vec::new();
    let mut may_sign = |level: &'static Level| -> Result<bool, Failure> {
        if let Some((_, known)) = judged.iter().find(|(one, _)| std::ptr::eq(*one, level)) {
            return Ok(*known);
        }
        // No member has the number 0, so the holder is any member other than the signer.
        let may = match signers::find_authority(tx, site.catalogue, signer_id, MemberId(0), level, site.tunnel_id, now)
        {
            Ok(_) => true,
            Err(stop) => stop.denial().map(|_| false)?,
        };
        judged.push((level, may));
        Ok(may)
    };
    let mut signable = Vec::new();
    for one in list_all(site) {
        if let Some(item) = find_item(site, one.skill)
            && may_sign(item.level)?
        {
            signable.push(one);
        }
    }
    Ok(signable)
}

/// Refuses with 422 a skill, brief or training for which the member lacks something.
pub(super) fn check_prerequisite(
    site: &Site,
    tx: &Read,
    holder_id: MemberId,
    skill: &str,
    now: Moment,
) -> Result<(), Failure> {
    let missing = missing_prerequisite(site, tx, holder_id, skill, now)?;
    missing.map_or(Ok(()), |text| Err(Failure::field("skill", text)))
}

fn missing_prerequisite(
    site: &Site,
    tx: &Read,
    holder_id: MemberId,
    skill: &str,
    now: Moment,
) -> Result<Option<Text>, Failure> {
    let holdings = holdings::list(tx, holder_id)?;
    let briefed = list_briefed(tx, holder_id, now)?;
    Ok(match entry::missing_prerequisite(site.catalogue, skill, &keys(&holdings), &briefed) {
        None => None,
        Some(MissingPrerequisite::Level(name)) => Some(Text::new("field.level_first").with("level", name)),
        Some(MissingPrerequisite::Brief(brief)) => {
            let suspended = logbook::list_suspended_records(tx, holder_id)?.contains(&brief.skill);
            let key = if suspended { "field.brief_suspended" } else { "field.brief_first" };
            Some(Text::new(key).with("brief", &brief.name))
        }
    })
}

fn keys(holdings: &[holdings::Holding]) -> Vec<LevelKey<'_>> {
    holdings.iter().map(holdings::Holding::key).collect()
}

/// The safety logbooks in which the member has an open record.
pub(crate) fn list_briefed(tx: &Read, member_id: MemberId, now: Moment) -> Result<Vec<String>, Failure> {
    Ok(holdings::list_trained(tx, member_id, now)?.into_iter().map(|(logbook, _)| logbook).collect())
}
