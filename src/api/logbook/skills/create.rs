//! A new skill entry.

use super::WrittenReply;
use super::ask::{self, Asked, Common, SoFar, Subject};
use crate::api::logbook::signing;
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::skills::{self, New};
use crate::store::tables::{members, signers};

/// What the body says beside the skill itself.
struct Told {
    asked: Asked,
    instructor_id: Option<i64>,
    comments_instructor: String,
}

/// `POST /account/logbook/skills/`: the caller asks the named instructor for a signature. With another's `member_id`
/// (ours) a signer records what he saw, and it is open at once.
pub fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.fields()?;
    // Existing clients send "" or the number of nothing.
    for echo in ["entry_id", "id"] {
        _ = body.optional(echo, fields::line(20));
    }
    let common = Common::read(&mut body);
    let holder = body.optional("member_id", fields::id);
    for field in ["skill", "entry_date"] {
        if !body.has(field) {
            body.refuse(field, Text::new("field.missing"));
        }
    }
    let recorded = holder.peek().copied().flatten().is_some_and(|id| id != member.id());
    if !recorded && !body.has("instructor") {
        body.refuse("instructor", Text::new("field.missing"));
    }
    // A signer who may not sign learns nothing about the member, so what he records is judged when that is known.
    if body.is_refused() && !recorded {
        let wish = common.so_far(SoFar { tunnel_id: Some(site.tunnel_id), ..SoFar::default() });
        site.store.read(|tx| ask::judge(site, tx, member.id(), wish, None, site.now(), &mut body))?;
    }
    let ok = body.finish()?;
    let told = Told {
        asked: Asked {
            skill: common.skill.get(&ok).unwrap_or_default(),
            entry_date: common.entry_date.get(&ok).unwrap_or_default(),
            minutes: common.minutes.get(&ok).unwrap_or(0),
            tunnel_id: common.tunnel.get(&ok).unwrap_or(site.tunnel_id),
            comment: common.comment.get(&ok).unwrap_or_default(),
        },
        instructor_id: common.instructor.get(&ok),
        comments_instructor: common.comments_instructor.get(&ok).unwrap_or_default(),
    };
    let holder_id = holder.get(&ok).unwrap_or(member.id());
    site.once(call, |tx| {
        let (entry_id, status) = if recorded {
            (record(site, tx, member, holder_id, &told)?, Status::Open)
        } else {
            (ask(site, tx, member.id(), &told.asked, told.instructor_id)?, Status::Pending)
        };
        Ok(reply::created(&WrittenReply::new(call.say("done.saved"), entry_id, status)))
    })
}

/// The member asks the named signer for a signature.
pub fn ask(site: &Site, tx: &Write, member_id: i64, asked: &Asked, instructor_id: Option<i64>) -> Result<i64, Failure> {
    let subject = ask::check(site, tx, member_id, asked, None, instructor_id, tx.now())?;
    let instructor_id = instructor_id.ok_or_else(Failure::invalid_fields)?;
    ask::check_room(&members::find_holder(tx, member_id)?)?;
    let entry_id = skills::insert(tx, &new(member_id, member_id, instructor_id, asked, &subject))?;
    let entry = skills::find(tx, entry_id)?.ok_or_else(Failure::broken)?;
    signing::tell_asked(site, tx, &entry)?;
    Ok(entry_id)
}

/// Whoever may not sign this learns nothing about the member.
fn record(site: &Site, tx: &Write, member: &Member, holder_id: i64, told: &Told) -> Result<i64, Failure> {
    let (signer_id, Asked { skill, tunnel_id, .. }) = (member.id(), &told.asked);
    let subject = ask::subject(site, skill).ok_or_else(|| Failure::field("skill", Text::new("field.unknown_skill")))?;
    let level = subject.level;
    let authority = signers::find_authority(tx, site.catalogue, signer_id, holder_id, level, *tunnel_id, tx.now())?;
    let authority = authority.map_err(signing::refusal)?;
    if told.instructor_id.is_some_and(|id| id != signer_id) {
        return Err(Failure::field("instructor", Text::new("field.recorded_by_oneself")));
    }
    if !members::exists(tx, holder_id)? {
        return Err(Failure::field("member_id", Text::new("field.unknown_member")));
    }
    let subject = ask::check(site, tx, holder_id, &told.asked, None, None, tx.now())?;
    signing::check_holder(tx, holder_id)?;
    ask::check_room(&members::find_holder(tx, holder_id)?)?;
    let new = new(holder_id, signer_id, signer_id, &told.asked, &subject);
    let entry_id = skills::insert_signed(tx, &new, &authority, &told.comments_instructor)?;
    let entry = skills::find(tx, entry_id)?.ok_or_else(Failure::broken)?;
    signing::settle(site, tx, &entry, signer_id, "notice.signed")?;
    signing::record(tx, member, "entry.signed", &entry)?;
    Ok(entry_id)
}

fn new<'a>(member_id: i64, author_id: i64, instructor_id: i64, asked: &'a Asked, subject: &Subject<'a>) -> New<'a> {
    New {
        member_id,
        kind: subject.kind,
        author_id,
        cat_group: subject.cat_group,
        cat_id: subject.cat_id,
        skill: &asked.skill,
        entry_date: asked.entry_date,
        minutes: asked.minutes,
        tunnel_id: asked.tunnel_id,
        comment: &asked.comment,
        instructor_id,
        opening: None,
    }
}
