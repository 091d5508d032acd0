//! Flight time: entered, and edited.

use super::rules::{self, check_place};
use super::{actor_id, no_change, reads_every_logbook, record_for_other};
use crate::app::Change;
use crate::auth::Bearer;
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::store::tables::entries::{self, NewTime, TimeEntry};
use crate::store::tables::members::{self, Holder};

/// What an edit replaces; `None` leaves a value as it is.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    /// Unix seconds.
    pub entry_date: Option<i64>,
    pub minutes: Option<i64>,
    pub tunnel_id: Option<i64>,
    pub comment: Option<String>,
}

/// Enters flight time in the logbook of a member, open at once. Audited, unless the logbook is the actor's own. Returns the
/// number of the entry.
pub(crate) fn enter(cx: &Change, member_id: i64, time: &NewTime) -> Result<i64, Failure> {
    if cx.member_id() != Some(member_id) && !members::exists(cx.tx, member_id)? {
        return Err(Failure::not_found());
    }
    if let Some(holder) = check(cx, member_id, time, None)? {
        rules::check_room(&holder)?;
    }
    let entry_id = entries::insert_time(cx.tx, member_id, actor_id(cx)?, None, time)?;
    record_for_other(cx, "entry.entered", member_id, entry_id)?;
    Ok(entry_id)
}

/// Edits flight time: by the holder, the desk and the admins; by a booking token the entry that the booking made. Audited,
/// unless the logbook is the actor's own.
pub(crate) fn edit(cx: &Change, bearer: &Bearer, entry_id: i64, patch: &Patch) -> Result<(), Failure> {
    let known = entries::find_time(cx.tx, entry_id)?.ok_or_else(Failure::not_found)?;
    if !may_edit(bearer, &known) {
        let may_read = match bearer {
            Bearer::Member(_) => reads_every_logbook(cx.tx, cx.actor.rank, cx.now())?,
            // A booking token reads the whole logbook and edits one entry of it.
            Bearer::Booking { member_id, .. } => *member_id == known.member_id,
        };
        return Err(no_change(may_read));
    }
    if known.opening {
        // Part of a signed paper, or of one that waits for its signature.
        return Err(Failure::entry_signed());
    }
    let time = NewTime {
        entry_date: patch.entry_date.unwrap_or(known.entry_date),
        minutes: patch.minutes.unwrap_or(known.minutes),
        tunnel_id: patch.tunnel_id.unwrap_or(known.tunnel_id),
        comment: patch.comment.clone().unwrap_or(known.comment),
    };
    check(cx, known.member_id, &time, Some(known.entry_date))?;
    entries::update_time(cx.tx, entry_id, &time)?;
    record_for_other(cx, "entry.edited", known.member_id, entry_id)
}

/// Whether this caller edits the entry.
pub(crate) fn may_edit(bearer: &Bearer, entry: &TimeEntry) -> bool {
    match bearer {
        Bearer::Member(member) => member.id() == entry.member_id || member.role().is_staff(),
        Bearer::Booking { member_id, booking_id } => {
            *member_id == entry.member_id && booking_id.is_some() && *booking_id == entry.booking_id
        }
    }
}

/// A booked flight keeps its date, which may be to come.
fn check(cx: &Change, member_id: i64, time: &NewTime, known_date: Option<i64>) -> Result<Option<Holder>, Failure> {
    let mut problems = Fields::new(Default::default());
    let place = (Some(time.entry_date), Some(time.tunnel_id));
    let holder = check_place(cx.tx, member_id, place, known_date, cx.now(), &mut problems)?;
    problems.finish()?;
    Ok(holder)
}
