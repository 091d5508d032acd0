//! An edit of a skill entry: what it means depends on who sends it.

use super::WrittenReply;
use super::ask::Common;
use crate::app::logbook::edit::Patch;
use crate::app::logbook::rules::{self, PartialRequest};
use crate::app::{self, Actor, logbook};
use crate::auth::Member;
use crate::domain::entry::{self, Status};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::skills;

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
        judge_request(site, member, entry_id, &common, &mut body)?;
    }
    let ok = body.finish()?;
    _ = named.map(|unjudged| unjudged.get(&ok));
    let patch = Patch {
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
    app::change_once(site, call, member, |cx| {
        let to = logbook::edit::edit(cx, entry_id, &patch)?;
        Ok(reply::ok(&WrittenReply::new(call.say("done.saved"), entry_id, to)))
    })
}

/// Names what is wrong with the new values, as far as they could be read, to whoever may ask for a signature with them.
fn judge_request(
    site: &Site,
    member: &Member,
    entry_id: i64,
    common: &Common,
    body: &mut Fields,
) -> Result<(), Failure> {
    site.store.read(|tx| {
        let Some(entry) = skills::find(tx, entry_id)? else { return Ok(()) };
        let relation = logbook::relation(Actor::from(member).rank, &entry);
        let may_ask = relation.holder || (relation.staff && !relation.named && !body.has("comment_denial"));
        if !may_ask || entry.status.is_signed() || entry.opening.is_some() {
            return Ok(());
        }
        let known = PartialRequest {
            entry_date: Some(entry.entry_date),
            tunnel_id: Some(entry.tunnel_id),
            skill: Some(&entry.skill),
            instructor_id: entry.instructor_id,
        };
        let request = common.partial(known);
        rules::judge(site, tx, entry.member_id, request, Some(entry.entry_date), site.now(), body)
    })
}
