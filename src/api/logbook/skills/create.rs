//! A new skill entry.

use super::WrittenReply;
use super::ask::Common;
use crate::app;
use crate::app::logbook::requests;
use crate::app::logbook::rules::{self, PartialRequest, Request};
use crate::auth::Member;
use crate::domain::entry::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;

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
        let known = PartialRequest { tunnel_id: Some(site.tunnel_id), ..PartialRequest::default() };
        let request = common.partial(known);
        site.store.read(|tx| rules::judge(site, tx, member.id(), request, None, site.now(), &mut body))?;
    }
    let ok = body.finish()?;
    let request = Request {
        skill: common.skill.get(&ok).unwrap_or_default(),
        entry_date: common.entry_date.get(&ok).unwrap_or_default(),
        minutes: common.minutes.get(&ok).unwrap_or(0),
        tunnel_id: common.tunnel.get(&ok).unwrap_or(site.tunnel_id),
        comment: common.comment.get(&ok).unwrap_or_default(),
    };
    let (instructor_id, comment) =
        (common.instructor.get(&ok), common.comments_instructor.get(&ok).unwrap_or_default());
    let holder_id = holder.get(&ok).unwrap_or(member.id());
    app::change_once(site, call, member, |cx| {
        let (entry_id, status) = if recorded {
            (requests::record_seen(cx, holder_id, &request, instructor_id, &comment)?, Status::Open)
        } else {
            (requests::ask(cx, &request, instructor_id)?, Status::Pending)
        };
        Ok(reply::created(&WrittenReply::new(call.say("done.saved"), entry_id, status)))
    })
}
