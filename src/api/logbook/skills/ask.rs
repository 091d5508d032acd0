//! What a member asks for: read from a body, and checked against the catalogue, the logbook and the signers.

use crate::domain::catalogue::{Level, LevelKey, SafetyKind};
use crate::domain::entry::{self, Obstacle, Status};
use crate::domain::minutes::MINUTES;
use crate::domain::signoff;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields, Unjudged};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::holdings;
use crate::store::tables::members::{self, Holder};
use crate::store::tables::{signers, skills, tunnels};

pub const COMMENT_CHARS_MAX: usize = 1000;
/// Entries in one logbook: six a day for twenty years.
const ENTRIES_MAX: i64 = 50_000;
const UNCONFIRMED_ENTRIES_MAX: i64 = 1_000;
/// A kiosk's clock may be this far ahead of ours.
const AHEAD_SECONDS_MAX: i64 = 120;
/// Longer than the longest name of a skill, a level or a person.
const ECHO_CHARS_MAX: usize = 200;

/// Fields that only repeat what others say.
///
/// Not shown in the contract: what a number means as `cat_group` or `cat_id` (text on create, numbers on edit). `skill`
/// alone says which skill is meant, and with it programme and level, because no two levels share one; so clients may
/// count their programmes as they like.
const ECHOES: [&str; 5] = ["cat_group", "cat_id", "cat_name", "skill_name", "tunnel_name"];

/// What is asked for, complete.
#[derive(Debug, Clone)]
pub struct Asked {
    pub skill: String,
    pub entry_date: i64,
    pub minutes: i64,
    pub tunnel_id: i64,
    pub comment: String,
}

/// A skill or safety record of the catalogue, as an entry names it.
#[derive(Debug, Clone)]
pub struct Subject<'c> {
    pub kind: &'static str,
    pub cat_group: &'c str,
    pub cat_id: &'c str,
    pub name: &'c str,
    /// Whose signers sign it.
    pub level: &'c Level,
    /// May be there again: a recurrent training.
    pub recurrent: bool,
}

/// The fields that create and edit have in common, each as it was given.
pub struct Common {
    pub entry_date: Unjudged<Option<i64>>,
    pub minutes: Unjudged<Option<i64>>,
    pub tunnel: Unjudged<Option<i64>>,
    pub comment: Unjudged<Option<String>>,
    pub instructor: Unjudged<Option<i64>>,
    pub skill: Unjudged<Option<String>>,
    pub comments_instructor: Unjudged<Option<String>>,
    pub comment_denial: Unjudged<Option<String>>,
    pub status: Unjudged<Option<String>>,
}

impl Common {
    pub fn read(body: &mut Fields) -> Common {
        for echo in ECHOES.into_iter().chain(["instructor_name", "author_id"]) {
            _ = body.optional(echo, fields::line(ECHO_CHARS_MAX));
        }
        Common {
            entry_date: body.optional("entry_date", fields::moment),
            minutes: body.optional("time", fields::minutes_up_to(*MINUTES.end())),
            tunnel: body.optional("tunnel", fields::id),
            comment: body.optional_even_empty("comment", fields::lines(COMMENT_CHARS_MAX)),
            instructor: body.optional("instructor", fields::id),
            skill: body.optional("skill", fields::line(ECHO_CHARS_MAX)),
            comments_instructor: body.optional("comments_instructor", fields::lines(COMMENT_CHARS_MAX)),
            comment_denial: body.optional("comment_denial", fields::lines(COMMENT_CHARS_MAX)),
            status: body.optional("status", fields::line(ECHO_CHARS_MAX)),
        }
    }

    /// What could be read; what was not given is as in `known`.
    pub fn so_far<'a>(&'a self, known: SoFar<'a>) -> SoFar<'a> {
        SoFar {
            entry_date: self.entry_date.peek().and_then(|date| date.or(known.entry_date)),
            tunnel_id: self.tunnel.peek().and_then(|id| id.or(known.tunnel_id)),
            skill: self.skill.peek().and_then(|skill| skill.as_deref().or(known.skill)),
            instructor_id: self.instructor.peek().and_then(|id| id.or(known.instructor_id)),
        }
    }
}

/// Of a wish, what is known before everything was judged.
#[derive(Debug, Clone, Copy, Default)]
pub struct SoFar<'a> {
    pub entry_date: Option<i64>,
    pub tunnel_id: Option<i64>,
    pub skill: Option<&'a str>,
    pub instructor_id: Option<i64>,
}

/// The skill as the catalogue has it.
pub fn subject<'c>(site: &'c Site, skill: &str) -> Option<Subject<'c>> {
    let level = signoff::level_of(site.catalogue, skill)?;
    if let Some((own, skill)) = site.catalogue.find_skill(skill) {
        let (cat_group, cat_id) = (own.cat_group.as_str(), own.cat_id.as_str());
        return Some(Subject { kind: "skill", cat_group, cat_id, name: &skill.name, level, recurrent: false });
    }
    let (programme, safety) = site.catalogue.find_safety(skill)?;
    let recurrent = safety.kind == SafetyKind::Recurrent;
    Some(Subject { kind: "safety", cat_group: &programme.cat_group, cat_id: "", name: &safety.name, level, recurrent })
}

/// Whether the holder may have an entry like this now, beside the one that is edited: every mistake is named; then a
/// second entry of the same skill is refused. `known_date` was right when it was entered.
pub fn check<'c>(
    site: &'c Site,
    tx: &Read,
    holder_id: i64,
    asked: &Asked,
    edited: Option<(i64, i64)>,
    instructor_id: Option<i64>,
    now: i64,
) -> Result<Subject<'c>, Failure> {
    let mut problems = Fields::new(Default::default());
    let (entry_date, tunnel_id) = (Some(asked.entry_date), Some(asked.tunnel_id));
    let wish = SoFar { entry_date, tunnel_id, skill: Some(&asked.skill), instructor_id };
    judge(site, tx, holder_id, wish, edited.map(|(_, date)| date), now, &mut problems)?;
    problems.finish()?;
    let subject = subject(site, &asked.skill).ok_or_else(Failure::invalid_fields)?;
    if is_taken(tx, holder_id, &asked.skill, &subject, edited.map_or(0, |(entry_id, _)| entry_id))? {
        return Err(Failure::skill_taken());
    }
    Ok(subject)
}

/// Names what is wrong with a wish, as far as it is known.
pub fn judge(
    site: &Site,
    tx: &Read,
    holder_id: i64,
    wish: SoFar,
    known_date: Option<i64>,
    now: i64,
    problems: &mut Fields,
) -> Result<(), Failure> {
    check_place(tx, holder_id, (wish.entry_date, wish.tunnel_id), known_date, now, problems)?;
    let Some(skill) = wish.skill else { return Ok(()) };
    let Some(subject) = subject(site, skill) else {
        problems.refuse("skill", Text::new("field.unknown_skill"));
        return Ok(());
    };
    if let Some(text) = obstacle(site, tx, holder_id, skill, now)? {
        problems.refuse("skill", text);
    }
    if let (Some(instructor_id), Some(tunnel_id)) = (wish.instructor_id, wish.tunnel_id) {
        let bar = bar(site, tx, holder_id, instructor_id, subject.level, tunnel_id, now)?;
        bar.into_iter().for_each(|text| problems.refuse("instructor", text));
    }
    Ok(())
}

/// Of an entry, its date and tunnel, as far as they are known: not in the future, unless that was its date before; not
/// before the member's birth; in a tunnel that is known. Returns whose logbook it is, where the date was known.
pub fn check_place(
    tx: &Read,
    holder_id: i64,
    (entry_date, tunnel_id): (Option<i64>, Option<i64>),
    known_date: Option<i64>,
    now: i64,
    problems: &mut Fields,
) -> Result<Option<Holder>, Failure> {
    let mut holder = None;
    if let Some(date) = entry_date {
        if date > now + AHEAD_SECONDS_MAX && entry_date != known_date {
            problems.refuse("entry_date", Text::new("field.in_future"));
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

/// Refuses a new entry in a logbook that is full. Whoever has not confirmed an e-mail address may be anybody, in any number.
pub fn check_room(holder: &Holder) -> Result<(), Failure> {
    let most = if holder.email_confirmed { ENTRIES_MAX } else { UNCONFIRMED_ENTRIES_MAX };
    if holder.entries < most {
        return Ok(());
    }
    let key = if holder.email_confirmed { "logbook_full" } else { "logbook_full.unconfirmed" };
    Err(Failure::logbook_full().saying(Text::new(key).with("max", most)))
}

/// What is against this signer; none where the signer may sign.
pub fn bar(
    site: &Site,
    tx: &Read,
    holder_id: i64,
    signer_id: i64,
    level: &Level,
    tunnel_id: i64,
    now: i64,
) -> Result<Option<Text>, Failure> {
    let authority = signers::find_authority(tx, site.catalogue, signer_id, holder_id, level, tunnel_id, now)?;
    Ok(authority.err().map(|bar| Text::new(bar.key())))
}

fn obstacle(site: &Site, tx: &Read, holder_id: i64, skill: &str, now: i64) -> Result<Option<Text>, Failure> {
    let holdings = holdings::list(tx, holder_id)?;
    let held: Vec<LevelKey> = holdings.iter().map(holdings::Holding::key).collect();
    let briefed: Vec<String> =
        holdings::list_trained(tx, holder_id, now)?.into_iter().map(|(logbook, _)| logbook).collect();
    Ok(entry::obstacle(site.catalogue, skill, &held, &briefed).map(|obstacle| match obstacle {
        Obstacle::Brief(name) => Text::new("field.brief_first").with("brief", name),
        Obstacle::Level(name) => Text::new("field.level_first").with("level", name),
    }))
}

/// A skill is asked for once; a recurrent training may be there before, but not asked for twice at a time.
pub fn is_taken(tx: &Read, holder_id: i64, skill: &str, subject: &Subject, except: i64) -> Result<bool, Failure> {
    let statuses = skills::list_statuses(tx, holder_id, subject.kind, skill, except)?;
    let takes = |status: Status| match subject.recurrent {
        true => status == Status::Pending,
        false => status.takes_the_skill(),
    };
    Ok(statuses.iter().filter_map(|name| Status::parse(name)).any(takes))
}
