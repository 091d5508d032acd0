//! Opening balances: flight time and skills from before, entered by the desk with one signature.

use super::skills::SkillWritten;
use crate::app;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::opening::{self, Balance, MINUTES_MAX};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::domain::ids::{MemberId, TunnelId};
use crate::http::Answer;
use crate::http::body::Field;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::Lines;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use serde_json::{Value, json};

/// More skills than the catalogue has.
const SKILLS_MAX: usize = 400;

crate::body! {
    pub(crate) struct OpeningBalance {
        /// Minutes, up to 60,000, or `H:MM`.
        minutes as "time": Option<BalanceMinutes>,
        /// Numbers of skills: a list, or text with commas.
        skills: Option<SkillList>,
        entry_date: Moment,
        tunnel: Option<TunnelId>,
        /// The signer.
        instructor: MemberId,
        comment: Option<Lines<COMMENT_CHARS_MAX>>,
    }
}

/// The minutes of all earlier flights.
pub(crate) struct BalanceMinutes;

impl Field for BalanceMinutes {
    type Value = i64;

    fn read(value: &Value) -> Result<i64, Text> {
        fields::minutes_up_to(MINUTES_MAX)(value)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": MINUTES_MAX },
            { "type": "string", "pattern": r"^\s*(\+?0*[0-9]{1,4}(\.0*)?|[0-9]{1,3}:[0-5][0-9])\s*$" },
        ] })
    }
}

/// Numbers of skills: as a list, or as text with commas.
pub(crate) struct SkillList;

impl Field for SkillList {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, Text> {
        skill_list(value)
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            {
                "type": "array",
                "maxItems": SKILLS_MAX,
                "items": { "anyOf": [
                    { "type": "string", "maxLength": 20, "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$" },
                    { "type": "integer", "minimum": 0, "maximum": 99_999_999 },
                ] },
            },
            { "type": "string", "maxLength": 20 * SKILLS_MAX, "pattern": r"^\s*[^\u0000-\u001f\u007f-\u009f]*\s*$" },
            { "type": "number" },
        ] })
    }
}

crate::operation! {
    /// Enter an opening balance
    ///
    /// By the desk: flight time and skills from elsewhere or before, as one entry with one signature. The balance
    /// counts once the named instructor, who must be allowed to sign all of it, has signed.
    CREATE = "createOpeningBalance"
        .body(|| json!({
            "entry_date": 1779913600, "instructor": 17, "time": "12:30", "skills": ["10101", "10102"],
            "comment": "From another tunnel's logbook.",
        }))
        .refuses(&["EntryConflict"])
        .creates::<SkillWritten>("It waits for its signature.")
}

pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    // Other callers do not learn the problems of a body that they may not send.
    if !member.role().is_staff() {
        return Err(Failure::not_allowed());
    }
    let holder_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = call.parse_body::<OpeningBalance>()?;
    if !body.fields.has("time") && !body.fields.has("skills") {
        body.fields.refuse("time", Text::new("field.time_or_skills"));
    }
    let body = body.finish()?;
    let balance = Balance {
        instructor_id: body.instructor,
        entry_date: body.entry_date,
        tunnel_id: body.tunnel.unwrap_or(site.tunnel_id),
        comment: body.comment.unwrap_or_default(),
        minutes: body.minutes.unwrap_or(0),
        skills: body.skills.unwrap_or_default(),
    };
    let entry_id = app::change_once(site, call, member, |cx| opening::enter(cx, holder_id, &balance))?;
    Ok(reply::created(&SkillWritten::new(call.say("done.saved"), entry_id, Status::Pending)))
}

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

    #[test]
    fn skills_come_as_a_list_or_as_text_and_each_once() {
        assert_eq!(skill_list(&json!(["10102", 10101, "10102"])).unwrap(), ["10101", "10102"]);
        assert_eq!(skill_list(&json!(" 10102,10101 ,")).unwrap(), ["10101", "10102"]);
        assert_eq!(skill_list(&json!(10101)).unwrap(), ["10101"]);
        assert!(skill_list(&json!({"a": 1})).is_err() && skill_list(&json!([["10101"]])).is_err());
        assert!(skill_list(&json!(vec!["1"; SKILLS_MAX + 1])).is_err());
    }
}
