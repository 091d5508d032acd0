//! A new skill entry.

use super::SkillWritten;
use super::ask::{ECHO_CHARS_MAX, Echoes};
use crate::app;
use crate::app::logbook::rules::{self, PartialRequest, Request};
use crate::app::logbook::{COMMENT_CHARS_MAX, requests};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::domain::ids::{MemberId, TunnelId};
use crate::http::Answer;
use crate::http::body::{Flattened, Ignored, ParsedBody};
use crate::http::call::Call;
use crate::http::field_types::{EntryMinutes, Line, Lines};
use crate::http::reply;
use crate::moment::Moment;
use crate::site::Site;
use serde_json::json;

crate::body! {
    pub(crate) struct SkillNew {
        /// The client's echo: a new entry gets a number of its own.
        entry_id: Option<Line<ECHO_CHARS_MAX>>,
        /// Like `entry_id`.
        id: Option<Line<ECHO_CHARS_MAX>>,
        echoes: Flattened<Echoes>,
        /// The moment of the flight: not in the future, not before the member's birth.
        entry_date: Moment,
        /// Minutes in the air, 0 to 600, or `H:MM`.
        minutes as "time": Option<EntryMinutes>,
        /// By default this site's.
        tunnel_id as "tunnel": Option<TunnelId>,
        comment: Option<Lines<COMMENT_CHARS_MAX>>,
        /// The requested signer; required unless the skill is recorded for another member.
        instructor: Option<MemberId>,
        /// The skill's number in the catalogue (`GET /public/skills`).
        skill: Line<ECHO_CHARS_MAX>,
        /// The signer's comment.
        comments_instructor: Option<Lines<COMMENT_CHARS_MAX>>,
        comment_denial: Option<Lines<COMMENT_CHARS_MAX>>,
        /// Ignored: a request waits for its signer, a recorded skill is open.
        status: Ignored,
        /// Ours: the member for whom a signer records an observed skill.
        member_id: Option<MemberId>,
    }
}

crate::operation! {
    /// Ask for a skill, or record one
    ///
    /// A member asks the named `instructor` for a signature: `pending` until then. With another member's `member_id`
    /// a qualified signer records an observed skill, which is `open` at once. The same holds for safety briefs and
    /// trainings. Level, prerequisites and the signer's authority are checked, and named in `errors`.
    CREATE = "createSkill"
        .body(|| json!({
            "cat_group": "Flyer", "cat_id": "3", "cat_name": "Static Level 3", "entry_date": 1779913600,
            "entry_id": "", "comment": "", "instructor": "17", "instructor_name": "Mark Vogt",
            "comments_instructor": "", "comment_denial": "", "time": "10", "skill": "11301",
            "skill_name": "Neutral sit position", "tunnel_name": "Windwerk", "tunnel": "1", "status": "pending",
        }))
        .refuses(&["EntryConflict"])
        .creates::<SkillWritten>("The new entry.")
}

pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut fields = call.fields()?;
    ["skill", "entry_date"].into_iter().for_each(|field| fields.demand(field));
    let ParsedBody { read, mut fields } = call.parse_body_from::<SkillNew>(fields);
    let recorded = read.member_id.flatten().is_some_and(|id| id != member.id());
    if !recorded {
        fields.demand("instructor");
    }
    // A caller who may not sign learns nothing about the member, so a recorded skill is checked after the authority.
    if fields.is_refused() && !recorded {
        let request = PartialRequest {
            entry_date: read.entry_date,
            tunnel_id: read.tunnel_id.map(|id| id.unwrap_or(site.tunnel_id)),
            skill: read.skill.as_deref(),
            instructor_id: read.instructor.flatten(),
        };
        site.store.read(|tx| rules::judge(site, tx, member.id(), request, None, site.now(), &mut fields))?;
    }
    let body = ParsedBody::<SkillNew> { read, fields }.finish()?;
    let request = Request {
        skill: body.skill,
        entry_date: body.entry_date,
        minutes: body.minutes.unwrap_or(0),
        tunnel_id: body.tunnel_id.unwrap_or(site.tunnel_id),
        comment: body.comment.unwrap_or_default(),
    };
    let (instructor_id, comment) = (body.instructor, body.comments_instructor.unwrap_or_default());
    let holder_id = body.member_id.unwrap_or(member.id());
    let (entry_id, status) = app::change_once(site, call, member, |cx| {
        Ok(if recorded {
            (requests::record_seen(cx, holder_id, &request, instructor_id, &comment)?, Status::Open)
        } else {
            (requests::ask(cx, &request, instructor_id)?, Status::Pending)
        })
    })?;
    Ok(reply::created(&SkillWritten::new(call.say("done.saved"), entry_id, status)))
}
