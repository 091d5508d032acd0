//! Opening balances: what somebody brought along from before, on one paper with one signature.

use super::skills::WrittenReply;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::opening::{self, Balance, MINUTES_MAX};
use crate::app::{self, Actor};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use serde_json::Value;

/// More than the catalogue has.
const SKILLS_MAX: usize = 400;

/// `POST /account/logbook/opening-balance/{member_id}`: by the desk; it counts once the named instructor has signed it,
/// who must be one that may sign all of it.
pub fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    // Others do not learn what is wrong with a body that they may not send.
    Actor::from(member).check_staff()?;
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
        instructor_id: instructor.get(&ok),
        entry_date: entry_date.get(&ok),
        tunnel_id: tunnel.get(&ok).unwrap_or(site.tunnel_id),
        comment: comment.get(&ok).unwrap_or_default(),
        minutes: minutes.get(&ok).unwrap_or(0),
        skills: known.get(&ok).unwrap_or_default(),
    };
    app::change_once(site, call, member, |cx| {
        let entry_id = opening::enter(cx, holder_id, &balance)?;
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
