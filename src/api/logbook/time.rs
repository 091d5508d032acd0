//! Flight time.

use super::read_member;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::rules::check_place;
use crate::app::logbook::time::{self, Patch};
use crate::app::{self, Actor};
use crate::auth::{Bearer, Member};
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields};
use crate::http::reply::{self, Rows};
use crate::site::Site;
use crate::store::tables::entries::{self, NewTime, TimeEntry};
use serde::Serialize;

/// A row of the list, in the contract's types: `tunnel` and `time` (minutes) are strings.
#[derive(Serialize)]
struct TimeReply {
    id: i64,
    entry_id: i64,
    member_id: i64,
    status: String,
    entry_date: i64,
    tunnel: String,
    tunnel_name: String,
    comment: String,
    time: String,
    author_id: i64,
    booking_id: Option<i64>,
    /// Whether it is part of an opening balance.
    opening: bool,
    created_at: i64,
}

#[derive(Serialize)]
struct WrittenReply {
    status: bool,
    message: String,
    entry_id: i64,
}

impl From<TimeEntry> for TimeReply {
    fn from(entry: TimeEntry) -> TimeReply {
        TimeReply {
            id: entry.entry_id,
            entry_id: entry.entry_id,
            member_id: entry.member_id,
            status: entry.status,
            entry_date: entry.entry_date,
            tunnel: entry.tunnel_id.to_string(),
            tunnel_name: entry.tunnel_name,
            comment: entry.comment,
            time: entry.minutes.to_string(),
            author_id: entry.author_id,
            booking_id: entry.booking_id,
            opening: entry.opening,
            created_at: entry.created_at,
        }
    }
}

/// `POST /account/logbook/time/`, and for existing clients `POST /account/logbook/member/time/`: the caller's flight time,
/// in the logbook at once.
pub fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let mut body = call.fields()?;
    let entry_date = body.required("entry_date", fields::moment);
    let minutes = body.required("time", fields::flight_minutes);
    let tunnel = body.optional("tunnel", fields::id);
    let comment = body.optional("comment", fields::lines(COMMENT_CHARS_MAX));
    if body.is_refused() {
        let place = (entry_date.peek().copied(), tunnel.peek().map(|id| id.unwrap_or(site.tunnel_id)));
        _ = site.store.read(|tx| check_place(tx, member.id(), place, None, site.now(), &mut body))?;
    }
    let ok = body.finish()?;
    let new = NewTime {
        entry_date: entry_date.get(&ok),
        minutes: minutes.get(&ok),
        tunnel_id: tunnel.get(&ok).unwrap_or(site.tunnel_id),
        comment: comment.get(&ok).unwrap_or_default(),
    };
    app::change_once(site, call, member, |cx| {
        let entry_id = time::enter(cx, member.id(), &new)?;
        Ok(reply::created(&WrittenReply { status: true, message: call.say("done.saved"), entry_id }))
    })
}

/// `PUT /account/logbook/time/{entry_id}`: what is given replaces what was. One's own entry; for the desk and the admins
/// anybody's; by a booking token the one that the booking made.
pub fn edit(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let mut body = call.fields()?;
    let entry_date = body.optional("entry_date", fields::moment);
    let minutes = body.optional("time", fields::flight_minutes);
    let tunnel = body.optional("tunnel", fields::id);
    let comment = body.optional_even_empty("comment", fields::lines(COMMENT_CHARS_MAX));
    let named = ["entry_id", "id"].map(|field| body.optional(field, |value| fields::same_entry(value, entry_id)));
    if body.is_refused() {
        judge_edit(site, bearer, entry_id, (entry_date.peek(), tunnel.peek()), &mut body)?;
    }
    let ok = body.finish()?;
    _ = named.map(|unjudged| unjudged.get(&ok));
    let patch = Patch {
        entry_date: entry_date.get(&ok),
        minutes: minutes.get(&ok),
        tunnel_id: tunnel.get(&ok),
        comment: comment.get(&ok),
    };
    app::change_once(site, call, actor(call, bearer), |cx| {
        time::edit(cx, bearer, entry_id, &patch)?;
        Ok(reply::ok(&WrittenReply { status: true, message: call.say("done.saved"), entry_id }))
    })
}

fn actor(call: &Call, bearer: &Bearer) -> Actor {
    match bearer {
        Bearer::Member(member) => Actor::from(member),
        Bearer::Booking { member_id, .. } => Actor::account(*member_id, Role::Member, &call.by(*member_id)),
    }
}

/// Names what is wrong with the date and the tunnel, as far as they could be read, to whoever may edit the entry.
fn judge_edit(
    site: &Site,
    bearer: &Bearer,
    entry_id: i64,
    (entry_date, tunnel): (Option<&Option<i64>>, Option<&Option<i64>>),
    body: &mut Fields,
) -> Result<(), Failure> {
    site.store.read(|tx| {
        let known = entries::find_time(tx, entry_id)?.filter(|entry| time::may_edit(bearer, entry) && !entry.opening);
        let Some(known) = known else { return Ok(()) };
        let place = (entry_date.map(|d| d.unwrap_or(known.entry_date)), tunnel.map(|id| id.unwrap_or(known.tunnel_id)));
        check_place(tx, known.member_id, place, Some(known.entry_date), site.now(), body).map(drop)
    })
}

/// `GET /account/logbook/time/{member_id}`: latest flight first.
pub fn list(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = read_member(site, call, bearer, 0)?;
    let page = call.page()?;
    site.store.read(|tx| {
        let mut rows = Rows::begin();
        entries::each_time(tx, member_id, (page.limit, page.offset), |entry| rows.push(&TimeReply::from(entry)))?;
        Ok(rows.finish(call, page, entries::count_time(tx, member_id)?))
    })
}
