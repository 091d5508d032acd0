//! An edit of a skill entry: what it means depends on who sends it.

use super::WrittenReply;
use super::ask::{self, Asked, Common, SoFar};
use crate::api::logbook::signing::{self, Seen};
use crate::api::logbook::{may_see, no_change};
use crate::auth::Member;
use crate::domain::entry::{self, Act, Status};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::skills::{self, SkillEntry, Wish};

/// The fields as they were given; what was not given stays as it is.
struct Given {
    entry_date: Option<i64>,
    minutes: Option<i64>,
    tunnel_id: Option<i64>,
    comment: Option<String>,
    instructor_id: Option<i64>,
    skill: Option<String>,
    comments_instructor: Option<String>,
    comment_denial: Option<String>,
    status: Option<Status>,
    version: Option<i64>,
}

impl Given {
    /// What a signer says of the entry that was shown.
    fn seen(&self) -> Seen {
        Seen {
            version: self.version,
            skill: self.skill.clone(),
            entry_date: self.entry_date,
            minutes: self.minutes,
            tunnel_id: self.tunnel_id,
            comment: self.comment.clone(),
        }
    }
}

/// `PUT /account/logbook/skills/{entry_id}`: by the member, what is given replaces what was while nobody has signed, and
/// a refused entry is asked for again; `status: "cancelled"` (ours) withdraws it. By the named signer, `comment_denial`
/// refuses, and `comments_instructor` or `status: "open"` (ours) signs: the entry of that `version` (ours), or with these
/// fields. The desk may do what the member may, and refuse.
pub fn edit(site: &Site, call: &Call, member: &Member) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = call.fields()?;
    let common = Common::read(&mut body);
    let version = body.optional("version", fields::id);
    let named = ["entry_id", "id"].map(|field| body.optional(field, |value| fields::same_entry(value, entry_id)));
    // `not_current` is how an open entry may have been listed.
    let status = |name: &String| if name == entry::NOT_CURRENT { Some(Status::Open) } else { Status::parse(name) };
    let known = common.status.peek().and_then(Option::as_ref).is_none_or(|name| status(name).is_some());
    if !known {
        let values = Status::ALL.map(Status::name).join(", ");
        body.refuse("status", Text::new("field.one_of").with("values", values));
    }
    let wanted = common.status.peek().and_then(Option::as_ref).and_then(status);
    let asks = !matches!(wanted, Some(Status::Cancelled | Status::Open | Status::Suspended));
    if body.is_refused() && asks {
        judge_wish(site, member, entry_id, &common, &mut body)?;
    }
    let ok = body.finish()?;
    _ = named.map(|unjudged| unjudged.get(&ok));
    let given = Given {
        entry_date: common.entry_date.get(&ok),
        minutes: common.minutes.get(&ok),
        tunnel_id: common.tunnel.get(&ok),
        comment: common.comment.get(&ok),
        instructor_id: common.instructor.get(&ok),
        skill: common.skill.get(&ok),
        comments_instructor: common.comments_instructor.get(&ok),
        comment_denial: common.comment_denial.get(&ok),
        status: common.status.get(&ok).as_ref().and_then(status),
        version: version.get(&ok),
    };
    site.once(call, |tx| {
        let entry = skills::find(tx, entry_id)?.ok_or_else(Failure::not_found)?;
        let actor = signing::actor(member, &entry);
        let to = if actor.holder {
            as_member(site, tx, &entry, member, &given)?
        } else if actor.named {
            as_signer(site, tx, &entry, member, &given)?
        } else if actor.staff {
            as_desk(site, tx, &entry, member, &given)?
        } else {
            return Err(no_change(may_see(tx, member, &entry, tx.now())?));
        };
        Ok(reply::ok(&WrittenReply::new(call.say("done.saved"), entry_id, to)))
    })
}

/// Names what is wrong with the new values, as far as they could be read, to whoever may ask for a signature with them.
fn judge_wish(site: &Site, member: &Member, entry_id: i64, common: &Common, body: &mut Fields) -> Result<(), Failure> {
    site.store.read(|tx| {
        let Some(entry) = skills::find(tx, entry_id)? else { return Ok(()) };
        let actor = signing::actor(member, &entry);
        let may_ask = actor.holder || (actor.staff && !actor.named && !body.has("comment_denial"));
        if !may_ask || entry.status.is_signed() || entry.opening.is_some() {
            return Ok(());
        }
        let known = SoFar {
            entry_date: Some(entry.entry_date),
            tunnel_id: Some(entry.tunnel_id),
            skill: Some(&entry.skill),
            instructor_id: entry.instructor_id,
        };
        let wish = common.so_far(known);
        ask::judge(site, tx, entry.member_id, wish, Some(entry.entry_date), site.now(), body)
    })
}

fn as_member(site: &Site, tx: &Write, entry: &SkillEntry, member: &Member, given: &Given) -> Result<Status, Failure> {
    if given.status == Some(Status::Cancelled) {
        return signing::cancel(site, tx, entry, member);
    }
    if entry.status.is_signed() {
        return Err(Failure::entry_signed());
    }
    match given.status {
        // An opening balance is the desk's paper; and nobody signs for themselves.
        _ if entry.opening.is_some() => Err(Failure::not_allowed()),
        Some(Status::Open | Status::Suspended) => Err(signing::refusal(crate::domain::signoff::Bar::Oneself)),
        _ => ask_again(site, tx, entry, member, given),
    }
}

fn as_signer(site: &Site, tx: &Write, entry: &SkillEntry, member: &Member, given: &Given) -> Result<Status, Failure> {
    let seen = given.seen();
    if let Some(reason) = &given.comment_denial {
        return signing::deny_entry(site, tx, entry, member, &seen, reason);
    }
    match (given.status, &given.comments_instructor) {
        (Some(Status::Denied), _) => Err(Failure::field("comment_denial", Text::new("field.missing"))),
        (Some(Status::Open), comment) => signing::sign_entry(site, tx, entry, member, &seen, comment.as_deref()),
        // No signer's move, whatever words come with it.
        (Some(Status::Suspended | Status::Cancelled), _) => {
            Err(Failure::field("status", Text::new("field.sign_or_deny")))
        }
        (_, Some(comment)) => signing::sign_entry(site, tx, entry, member, &seen, Some(comment)),
        _ => Err(Failure::field("status", Text::new("field.sign_or_deny"))),
    }
}

/// The desk helps the member; whoever works there and may sign does it by the same rules as everybody.
fn as_desk(site: &Site, tx: &Write, entry: &SkillEntry, member: &Member, given: &Given) -> Result<Status, Failure> {
    if let Some(reason) = &given.comment_denial {
        return signing::deny_entry(site, tx, entry, member, &given.seen(), reason);
    }
    match given.status {
        Some(Status::Cancelled) => signing::cancel(site, tx, entry, member),
        Some(Status::Open) if entry.status == Status::Pending => {
            signing::sign_entry(site, tx, entry, member, &given.seen(), given.comments_instructor.as_deref())
        }
        _ if entry.status.is_signed() => Err(Failure::entry_signed()),
        _ if entry.opening.is_some() => Err(Failure::not_allowed()),
        _ => ask_again(site, tx, entry, member, given),
    }
}

/// New values, judged like a new entry; a refused one waits for its signer again.
fn ask_again(site: &Site, tx: &Write, entry: &SkillEntry, member: &Member, given: &Given) -> Result<Status, Failure> {
    let to = match entry.status {
        Status::Pending => Status::Pending,
        from => entry::step(Some(from), Act::Ask).ok_or_else(Failure::entry_state)?,
    };
    let asked = Asked {
        skill: given.skill.clone().unwrap_or_else(|| entry.skill.clone()),
        entry_date: given.entry_date.unwrap_or(entry.entry_date),
        minutes: given.minutes.unwrap_or(entry.minutes),
        tunnel_id: given.tunnel_id.unwrap_or(entry.tunnel_id),
        comment: given.comment.clone().unwrap_or_else(|| entry.comment.clone()),
    };
    let instructor_id = given.instructor_id.or(entry.instructor_id);
    let instructor_id = instructor_id.ok_or_else(|| Failure::field("instructor", Text::new("field.missing")))?;
    let edited = Some((entry.entry_id, entry.entry_date));
    let subject = ask::check(site, tx, entry.member_id, &asked, edited, Some(instructor_id), tx.now())?;
    let wish = Wish {
        kind: subject.kind,
        cat_group: subject.cat_group,
        cat_id: subject.cat_id,
        skill: &asked.skill,
        entry_date: asked.entry_date,
        minutes: asked.minutes,
        tunnel_id: asked.tunnel_id,
        comment: &asked.comment,
        instructor_id,
    };
    skills::update_wish(tx, entry.entry_id, &wish)?;
    signing::record_for_other(tx, member, "entry.edited", entry)?;
    if to != entry.status {
        skills::step(tx, entry, member.id(), to)?;
    }
    if to != entry.status || Some(instructor_id) != entry.instructor_id {
        let asked = skills::find(tx, entry.entry_id)?.ok_or_else(Failure::broken)?;
        signing::tell_asked(site, tx, &asked)?;
    }
    Ok(to)
}
