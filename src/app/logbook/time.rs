//! Flight time: entering and editing.

use super::rules::{self, check_place};
use super::{actor_id, no_change, reads_every_logbook, record_for_other};
use crate::app::seen::{self, Seen};
use crate::app::{Change, events, flights};
use crate::auth::Bearer;
use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::domain::role::Rank;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::http::fields::Fields;
use crate::i18n::language::Text;
use crate::keys::Purpose;
use crate::moment::Moment;
use crate::store::tables::entries::{self, NewTime, TimeEntry};
use crate::store::tables::events::Event;
use crate::store::tables::members::Holder;
use crate::store::tables::tunnels;

/// The values that an edit replaces; `None` leaves a value as it is.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    /// Unix seconds.
    pub entry_date: Option<Moment>,
    pub minutes: Option<i64>,
    pub tunnel_id: Option<TunnelId>,
    pub comment: Option<String>,
    /// The entry as the form showed it.
    pub seen: Seen,
}

/// The right by which a caller edits flight time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Editor {
    /// An account: it edits its own entries, or every entry for the staff.
    Account(Rank),
    /// The token of a booking: it edits the entry that the booking made.
    Booking { member_id: MemberId, booking_id: Option<BookingId> },
}

impl From<&Bearer> for Editor {
    fn from(bearer: &Bearer) -> Editor {
        match bearer {
            Bearer::Member(member) => Editor::Account(Rank::Account { member_id: member.id(), role: member.role() }),
            Bearer::Booking { member_id, booking_id } => {
                Editor::Booking { member_id: *member_id, booking_id: *booking_id }
            }
        }
    }
}

/// Enters flight time in the logbook of a member; the entry is open from the beginning. Audited, unless the logbook is the actor's
/// own. Returns the number of the entry. 409 where the member has signed no waiver that is in force here.
pub(crate) fn enter(cx: &Change, member_id: MemberId, time: &NewTime) -> Result<EntryId, Failure> {
    if cx.member_id() != Some(member_id) {
        cx.check_here(member_id)?;
    }
    if let Some(holder) = check(cx, member_id, time, None)? {
        rules::check_room(&holder)?;
    }
    let entry_id = flights::enter_time(cx, member_id, actor_id(cx)?, time)?;
    record_for_other(cx, "entry.entered", member_id, entry_id)?;
    Ok(entry_id)
}

/// [`enter`] in the actor's own logbook, for a form that comes once or, filled in without network, as often as its answer is lost and
/// however much later: the number stays with the entry. 409 where the number came before with other content.
pub(crate) fn enter_once(cx: &Change, time: &NewTime, number: i64, content: &str) -> Result<(), Failure> {
    let member_id = cx.own()?.member_id;
    let hash = cx.site.keys.hash(Purpose::Replay, &[b"typed without network", content.as_bytes()]);
    let mark = hash.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes));
    match entries::find_form(cx.tx, member_id, number)? {
        Some(known) if known == mark => Ok(()),
        Some(_) => Err(Failure::exists().saying(Text::new("me.sent_otherwise"))),
        None => {
            let entry_id = enter(cx, member_id, time)?;
            entries::set_form(cx.tx, entry_id, number, mark)?;
            Ok(())
        }
    }
}

/// The mark of flight time, for the form that corrects it.
pub(crate) fn mark(entry: &TimeEntry) -> String {
    seen::mark(&[&entry.minutes.to_string(), &entry.entry_date.to_string(), &entry.comment])
}

/// Edits flight time: by the holder, the desk or an admin; a booking token edits only the entry that the booking made.
/// Audited, unless the logbook is the actor's own. 422 where the entry is another than the patch has seen.
pub(crate) fn edit(cx: &Change, editor: Editor, entry_id: EntryId, patch: &Patch) -> Result<(), Failure> {
    let known = entries::find_time(cx.tx, entry_id)?.ok_or_else(Failure::not_found)?;
    if !may_edit(editor, &known) {
        let may_read = match editor {
            Editor::Account(rank) => reads_every_logbook(cx.tx, rank, cx.now())?,
            // A booking token may read the whole logbook, but edit only one entry.
            Editor::Booking { member_id, .. } => member_id == known.member_id,
        };
        return Err(no_change(may_read));
    }
    match known.opening {
        true if known.status.is_signed() => return Err(Failure::entry_signed()),
        true => return Err(Failure::entry_state().saying(Text::new("opening_is_whole"))),
        false => {}
    }
    let time = NewTime {
        entry_date: patch.entry_date.unwrap_or(known.entry_date),
        minutes: patch.minutes.unwrap_or(known.minutes),
        tunnel_id: patch.tunnel_id.unwrap_or(known.tunnel_id),
        comment: patch.comment.clone().unwrap_or_else(|| known.comment.clone()),
    };
    check_seen(cx, &known, &time, &patch.seen)?;
    check(cx, known.member_id, &time, Some(known.entry_date))?;
    let before = NewTime {
        entry_date: known.entry_date,
        minutes: known.minutes,
        tunnel_id: known.tunnel_id,
        comment: String::new(),
    };
    flights::check_edit(cx, known.member_id, &before, &time).map_err(|failure| match editor {
        // A partner must not learn the reason.
        Editor::Booking { .. } if failure.is(Failure::waiver_missing) => Failure::waiver_missing(),
        _ => failure,
    })?;
    entries::update_time(cx.tx, entry_id, &time)?;
    events::tell_of_time(cx.tx, Event::TimeChanged, (known.member_id, entry_id, known.booking_id), &time)?;
    record_for_other(cx, "entry.edited", known.member_id, entry_id)
}

/// Deletes flight time, as [`super::delete`]. 422 where the entry is another than was seen.
pub(crate) fn delete(cx: &Change, entry_id: EntryId, seen: &Seen) -> Result<(), Failure> {
    let known = entries::find_time(cx.tx, entry_id)?.ok_or_else(Failure::not_found)?;
    check_same(cx, &known, seen)?;
    super::delete(cx, entry_id)
}

fn check_seen(cx: &Change, known: &TimeEntry, time: &NewTime, seen: &Seen) -> Result<(), Failure> {
    match (known.minutes, known.entry_date, &known.comment) == (time.minutes, time.entry_date, &time.comment) {
        true => Ok(()),
        false => check_same(cx, known, seen),
    }
}

fn check_same(cx: &Change, known: &TimeEntry, seen: &Seen) -> Result<(), Failure> {
    let zone = tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?;
    let (minutes, date) = (known.minutes.to_string(), known.entry_date.to_string());
    seen.check(&[&minutes, &date, &known.comment], || {
        let day = when::day(cx.language, &zone, known.entry_date);
        let words = [format!("{minutes} min"), day, known.comment.clone()];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · ")
    })
}

/// Whether the editor may change the entry.
pub(crate) fn may_edit(editor: Editor, entry: &TimeEntry) -> bool {
    match editor {
        Editor::Account(rank) => rank.member_id() == Some(entry.member_id) || rank.is_staff(),
        Editor::Booking { member_id, booking_id } => {
            member_id == entry.member_id && booking_id.is_some() && booking_id == entry.booking_id
        }
    }
}

/// Checks the date and the tunnel of flight time. A booked flight keeps its date, which may be in the future.
fn check(
    cx: &Change,
    member_id: MemberId,
    time: &NewTime,
    known_date: Option<Moment>,
) -> Result<Option<Holder>, Failure> {
    let mut problems = Fields::new(Default::default());
    let place = (Some(time.entry_date), Some(time.tunnel_id));
    let holder = check_place(cx.tx, member_id, place, known_date, cx.now(), &mut problems)?;
    problems.finish()?;
    Ok(holder)
}
