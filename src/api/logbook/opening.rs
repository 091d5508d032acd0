//! Opening balances: what somebody brought along from before, on one paper with one signature.

use super::signing;
use super::skills::WrittenReply;
use super::skills::ask::{self, COMMENT_CHARS_MAX, Subject};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::domain::minutes::MINUTES;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members;
use crate::store::tables::skills::{self, New};
use serde_json::Value;

/// A thousand hours.
const MINUTES_MAX: i64 = 60_000;
/// More than the catalogue has.
const SKILLS_MAX: usize = 400;

/// What the desk enters.
struct Balance {
    holder_id: i64,
    author_id: i64,
    instructor_id: i64,
    entry_date: i64,
    tunnel_id: i64,
    comment: String,
    minutes: i64,
    skills: Vec<String>,
}

/// `POST /account/logbook/opening-balance/{member_id}`: by the desk; it counts once the named instructor has signed it,
/// who must be one that may sign all of it.
pub fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    if !member.role().is_staff() {
        return Err(Failure::not_allowed());
    }
    let holder_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = call.fields()?;
    let minutes = body.optional("time", fields::minutes_up_to(MINUTES_MAX));
    let known = body.optional("skills", skill_list);
    let entry_date = body.required("entry_date", fields::moment);
    let tunnel = body.optional("tunnel", fields::id);
    let instructor = body.required("instructor", fields::id);
    let comment = body.optional("comment", fields::lines(COMMENT_CHARS_MAX));
    if !body.has("time") && !body.has("skills") {
        body.refuse("time", Text::new("field.time_or_skills"));
    }
    let ok = body.finish()?;
    let balance = Balance {
        holder_id,
        author_id: member.id(),
        instructor_id: instructor.get(&ok),
        entry_date: entry_date.get(&ok),
        tunnel_id: tunnel.get(&ok).unwrap_or(site.tunnel_id),
        comment: comment.get(&ok).unwrap_or_default(),
        minutes: minutes.get(&ok).unwrap_or(0),
        skills: known.get(&ok).unwrap_or_default(),
    };
    if balance.minutes == 0 && balance.skills.is_empty() {
        return Err(Failure::field("time", Text::new("field.time_or_skills")));
    }
    site.once(call, |tx| {
        if !members::exists(tx, holder_id)? {
            return Err(Failure::not_found());
        }
        let subjects = check(site, tx, &balance)?;
        let entry_id = enter(tx, &balance, &subjects)?;
        let entry = skills::find(tx, entry_id)?.ok_or_else(Failure::broken)?;
        signing::tell_asked(site, tx, &entry)?;
        signing::record(tx, member, "opening.entered", &entry)?;
        Ok(reply::created(&WrittenReply::new(call.say("done.saved"), entry_id, Status::Pending)))
    })
}

/// Numbers of skills: as a list, or as text with commas.
fn skill_list(value: &Value) -> Result<Vec<String>, Text> {
    let mut skills = match value {
        Value::Array(all) if all.len() <= SKILLS_MAX => {
            all.iter().map(fields::line(20)).collect::<Result<Vec<_>, _>>()?
        }
        Value::String(_) | Value::Number(_) => {
            let text = fields::line(20 * SKILLS_MAX)(value)?;
            text.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
        }
        _ => return Err(Text::new("field.skill_list")),
    };
    skills.sort_unstable();
    skills.dedup();
    Ok(skills)
}

/// What a level requires is not asked here: whoever comes from elsewhere begins where they are.
fn check<'c>(site: &'c Site, tx: &Write, balance: &Balance) -> Result<Vec<Subject<'c>>, Failure> {
    let mut problems = Fields::new(Default::default());
    let place = (Some(balance.entry_date), Some(balance.tunnel_id));
    ask::check_place(tx, balance.holder_id, place, None, tx.now(), &mut problems)?;
    let mut subjects = Vec::new();
    for skill in &balance.skills {
        match ask::subject(site, skill) {
            None => problems.refuse("skills", Text::new("field.unknown_skill_in").with("skill", skill)),
            Some(subject) if ask::is_taken(tx, balance.holder_id, skill, &subject, 0)? => {
                problems.refuse("skills", Text::new("field.skill_taken").with("skill", skill));
            }
            Some(subject) => subjects.push(subject),
        }
    }
    let time = signing::first_level(site).filter(|_| balance.minutes > 0);
    for level in subjects.iter().map(|subject| subject.level).chain(time) {
        let (holder_id, signer_id) = (balance.holder_id, balance.instructor_id);
        if let Some(text) = ask::bar(site, tx, holder_id, signer_id, level, balance.tunnel_id, tx.now())? {
            problems.refuse("instructor", text);
            break;
        }
    }
    problems.finish()?;
    Ok(subjects)
}

/// The entries of a balance, all waiting; returns the first one's number, which is the balance's.
fn enter(tx: &Write, balance: &Balance, subjects: &[Subject]) -> Result<i64, Failure> {
    ask::check_room(&members::find_holder(tx, balance.holder_id)?)?;
    let mut opening = None;
    let mut insert = |kind, cat_group, cat_id, skill, minutes| -> Result<(), Failure> {
        let new = New {
            member_id: balance.holder_id,
            kind,
            author_id: balance.author_id,
            cat_group,
            cat_id,
            skill,
            entry_date: balance.entry_date,
            minutes,
            tunnel_id: balance.tunnel_id,
            comment: &balance.comment,
            instructor_id: balance.instructor_id,
            opening,
        };
        let entry_id = skills::insert(tx, &new)?;
        if opening.is_none() {
            skills::set_opening(tx, entry_id)?;
            opening = Some(entry_id);
        }
        Ok(())
    };
    // A flight-time entry has its longest; a longer balance becomes several.
    let mut left = balance.minutes;
    while left > 0 {
        let minutes = left.min(*MINUTES.end());
        insert("time", "", "", "", minutes)?;
        left -= minutes;
    }
    for (skill, subject) in balance.skills.iter().zip(subjects) {
        insert(subject.kind, subject.cat_group, subject.cat_id, skill, 0)?;
    }
    opening.ok_or_else(Failure::invalid_fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn skills_come_as_a_list_or_as_text_and_each_once() {
        assert_eq!(skill_list(&json!(["10102", 10101, "10102"])).unwrap(), ["10101", "10102"]);
        assert_eq!(skill_list(&json!(" 10102,10101 ,")).unwrap(), ["10101", "10102"]);
        assert_eq!(skill_list(&json!(10101)).unwrap(), ["10101"]);
        assert!(skill_list(&json!({"a": 1})).is_err() && skill_list(&json!([["10101"]])).is_err());
        assert!(skill_list(&json!(vec!["1"; SKILLS_MAX + 1])).is_err());
    }
}
