//! Flight time.

use super::readable_member;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::rules::check_place;
use crate::app::logbook::time::{self, Patch};
use crate::app::{self, Change, RankedActor};
use crate::auth::{Bearer, Member};
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::body::{Clearable, Ignored, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{FlightMinutes, Lines, StoredMoment, Whole};
use crate::http::fields::Fields;
use crate::http::reply::{self, Rows};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::entries::{self, NewTime};
use serde_json::json;

crate::body! {
    pub(crate) struct TimeNew {
        /// The moment of the flight: not in the future, not before the member's birth.
        entry_date: Moment,
        minutes as "time": FlightMinutes,
        /// By default this site's.
        tunnel_id as "tunnel": Option<TunnelId>,
        comment: Option<Lines<COMMENT_CHARS_MAX>>,
        /// Ignored: flight time is in the logbook at once.
        status: Ignored,
    }
}

crate::body! {
    pub(crate) struct TimeEdit {
        entry_date: Option<StoredMoment>,
        minutes as "time": Option<FlightMinutes>,
        tunnel_id as "tunnel": Option<TunnelId>,
        comment: Clearable<Lines<COMMENT_CHARS_MAX>>,
        /// The number in the path, or absent.
        entry_id: Option<Whole>,
        /// The number in the path, or absent.
        id: Option<Whole>,
    }
}

crate::answer! {
    /// Flight time.
    struct TimeEntry {
        /// The same as `entry_id`.
        id: EntryId = 5102,
        entry_id: EntryId = 5102,
        /// The member who flew.
        member_id: MemberId = 1204,
        /// `open`; `pending` for an opening balance that waits for its signature.
        status: &'static str ["open", "pending", "denied", "suspended", "cancelled"] = "open",
        /// When it was flown.
        entry_date: Moment = 1779996400,
        /// The tunnel's number, as text.
        tunnel: String = "1",
        tunnel_name: String = "Windwerk",
        comment: String = "",
        /// Minutes, as text.
        time: String { "pattern": "^[0-9]+$" } = "15",
        /// The member who entered it.
        author_id: MemberId = 1204,
        /// The booking that made it.
        booking_id: Option<BookingId>,
        /// Whether it is part of an opening balance.
        opening: bool = false,
        /// When it was entered.
        created_at: Moment = 1779996500,
    }
}

crate::answer! {
    struct Written {
        status: True,
        message: String = "Saved.",
        /// The entry.
        entry_id: EntryId = 5102,
    }
}

impl From<entries::TimeEntry> for TimeEntry {
    fn from(entry: entries::TimeEntry) -> TimeEntry {
        TimeEntry {
            id: entry.entry_id,
            entry_id: entry.entry_id,
            member_id: entry.member_id,
            status: entry.status.name(),
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

crate::answer! {
    /// Flight time, latest flight first.
    struct TimeList = Vec<TimeEntry>;
}

crate::operation! {
    /// Record flight time
    ///
    /// The caller's own flight time, in the logbook at once.
    CREATE = "createTime"
        .body(|| json!({
            "entry_date": 1779996400, "time": "15", "tunnel": "1", "comment": "", "status": "open",
        }))
        .refuses(&["EntryConflict"])
        .creates::<Written>("The new entry.")
}

crate::operation! {
    /// Record flight time
    ///
    /// The same as `POST /account/logbook/time/`, under the path that existing clients call.
    CREATE_MEMBER = "createMemberTime"
        .body(|| json!({ "entry_date": 1779996400, "time": "15", "tunnel": "1", "comment": "" }))
        .refuses(&["EntryConflict"])
        .creates::<Written>("The new entry.")
}

pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let ParsedBody { read, mut fields } = call.parse_body::<TimeNew>()?;
    if fields.is_refused() {
        let place = (read.entry_date, read.tunnel_id.map(|id| id.unwrap_or(site.tunnel_id)));
        _ = site.store.read(|tx| check_place(tx, member.id(), place, None, site.now(), &mut fields))?;
    }
    let body = ParsedBody::<TimeNew> { read, fields }.finish()?;
    let new = NewTime {
        entry_date: body.entry_date,
        minutes: body.minutes,
        tunnel_id: body.tunnel_id.unwrap_or(site.tunnel_id),
        comment: body.comment.unwrap_or_default(),
    };
    let entry_id = app::change_once(site, call, member, |cx| time::enter(cx, member.id(), &new))?;
    Ok(reply::created(&Written { status: true, message: call.say("done.saved"), entry_id }))
}

crate::operation! {
    /// Change flight time
    ///
    /// Given fields replace the old values. The caller's own entry; for the desk and admins every entry; with a
    /// booking token the entry of its booking.
    EDIT = "editTime"
        .body(|| json!({
            "entry_date": 1779996400, "time": "20", "tunnel": "1", "comment": "four rotations",
            "entry_id": 5102, "id": 5102,
        }))
        .refuses(&["EntryConflict"])
        .answers::<Written>("The entry as it is now.")
}

pub(crate) fn edit(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let entry_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let ParsedBody { read, mut fields } = call.parse_body::<TimeEdit>()?;
    check_number(entry_id, read.entry_id, read.id, &mut fields);
    if fields.is_refused() {
        check_edit(site, bearer, entry_id, (read.entry_date, read.tunnel_id), &mut fields)?;
    }
    let TimeEdit { entry_date, minutes, tunnel_id, comment, .. } = ParsedBody { read, fields }.finish()?;
    let patch = Patch { entry_date, minutes, tunnel_id, comment, ..Patch::default() };
    let edit = |cx: &Change| time::edit(cx, bearer.into(), entry_id, &patch);
    app::change(site, actor(call, bearer), call.language(), edit)?;
    Ok(reply::ok(&Written { status: true, message: call.say("done.saved"), entry_id }))
}

fn actor(call: &Call, bearer: &Bearer) -> RankedActor {
    match bearer {
        Bearer::Member(member) => RankedActor::from(member),
        Bearer::Booking { member_id, .. } => RankedActor::account(*member_id, Role::Member, &call.actor(*member_id)),
    }
}

/// Refuses a body that names another entry than the path.
pub(crate) fn check_number(
    entry_id: EntryId,
    named: Option<Option<i64>>,
    named_again: Option<Option<i64>>,
    fields: &mut Fields,
) {
    for (field, number) in [("entry_id", named), ("id", named_again)] {
        if number.flatten().is_some_and(|number| number != entry_id.0) {
            fields.refuse(field, Text::new("field.other_entry"));
        }
    }
}

/// Adds the problems of date and tunnel, for callers who may edit the entry.
fn check_edit(
    site: &Site,
    bearer: &Bearer,
    entry_id: EntryId,
    (entry_date, tunnel): (Option<Option<Moment>>, Option<Option<TunnelId>>),
    fields: &mut Fields,
) -> Result<(), Failure> {
    site.store.read(|tx| {
        let known =
            entries::find_time(tx, entry_id)?.filter(|entry| time::may_edit(bearer.into(), entry) && !entry.opening);
        let Some(known) = known else { return Ok(()) };
        let place = (entry_date.map(|d| d.unwrap_or(known.entry_date)), tunnel.map(|id| id.unwrap_or(known.tunnel_id)));
        check_place(tx, known.member_id, place, Some(known.entry_date), site.now(), fields).map(drop)
    })
}

crate::operation! {
    /// A member's flight time
    ///
    /// Latest flight first.
    LIST = "listTime"
        .answers::<TimeList>("The entries.")
}

pub(crate) fn list(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    let page = call.page()?;
    site.store.read(|tx| {
        let mut rows = Rows::begin();
        entries::each_time(tx, member_id, (page.limit, page.offset), |entry| rows.push(&TimeEntry::from(entry)))?;
        Ok(rows.finish(call, page, entries::count_time(tx, member_id)?))
    })
}
