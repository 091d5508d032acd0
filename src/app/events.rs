//! The one place that writes what happened: each effect tells of itself in its own transaction. Data are numbers, moments, and words
//! of the product's own; never a name, an address or a text that somebody typed.

use crate::domain::ids::{BookingId, EntryId, MemberId, TunnelId};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Write;
use crate::store::queries::standing;
use crate::store::tables::bookings::BookingRow;
use crate::store::tables::entries::{self, NewTime};
use crate::store::tables::events::{self, About, Event};
use crate::store::tables::history;
use crate::store::tables::reminders;
use crate::store::tables::skills::{self, SkillEntry};
use serde::Serialize;
use serde_json::{Value, json};

/// Flight time as an event has it.
#[derive(Serialize)]
struct TimeData {
    entry_id: EntryId,
    entry_date: Moment,
    minutes: i64,
    tunnel_id: TunnelId,
}

/// Tells of an event.
pub(crate) fn tell(tx: &Write, event: Event, about: &About) -> Result<(), Failure> {
    events::insert(tx, event, about)?;
    Ok(())
}

/// Tells a member, and the staff, of an event with these data.
pub(crate) fn tell_member(tx: &Write, event: Event, member_id: MemberId, data: &Value) -> Result<(), Failure> {
    tell(tx, event, &About { data: Some(&data.to_string()), ..About::member(member_id) })
}

/// Tells what became of a booking, with its values as they stand after it.
pub(crate) fn tell_of_booking(tx: &Write, event: Event, row: &BookingRow) -> Result<(), Failure> {
    let mut about = About::partner(row.partner_id);
    about.concerned.member_id = Some(row.member_id);
    let data = history::booking_detail(row);
    tell(tx, event, &About { booking_id: Some(row.booking_id), data: Some(&data), ..about })
}

/// Tells of flight time as it is, or as it was where it was deleted.
pub(crate) fn tell_of_time(
    tx: &Write,
    event: Event,
    (member_id, entry_id, booking_id): (MemberId, EntryId, Option<BookingId>),
    time: &NewTime,
) -> Result<(), Failure> {
    let NewTime { entry_date, minutes, tunnel_id, .. } = *time;
    let data = serde_json::to_string(&TimeData { entry_id, entry_date, minutes, tunnel_id });
    let data = data.map_err(|e| Failure::broken().because(e))?;
    tell(tx, event, &About { booking_id, data: Some(&data), ..About::member(member_id) })?;
    if event == Event::TimeDeleted { Ok(()) } else { tell_of_return(tx, member_id) }
}

/// Tells that currencies are back whose lapse was told.
fn tell_of_return(tx: &Write, member_id: MemberId) -> Result<(), Failure> {
    let lapsed = reminders::list_lapsed(tx, member_id)?;
    if lapsed.is_empty() {
        return Ok(());
    }
    let currency = standing::read(tx, member_id, tx.now())?.currency;
    for programme in lapsed {
        if let Some(found) = currency.find(&programme).filter(|found| found.current) {
            reminders::delete_lapsed(tx, member_id, &programme)?;
            let data = json!({ "programme": programme, "renewal_date": found.renewal });
            tell_member(tx, Event::CurrencyRestored, member_id, &data)?;
        }
    }
    Ok(())
}

/// Tells of flight time as it stands now.
pub(crate) fn tell_of_time_now(tx: &Write, event: Event, entry_id: EntryId) -> Result<(), Failure> {
    let Some(entry) = entries::find_time(tx, entry_id)? else { return Ok(()) };
    let (entry_date, minutes, tunnel_id) = (entry.entry_date, entry.minutes, entry.tunnel_id);
    let time = NewTime { entry_date, minutes, tunnel_id, comment: String::new() };
    tell_of_time(tx, event, (entry.member_id, entry_id, entry.booking_id), &time)
}

/// Tells holder and signer of an entry as it is given.
pub(crate) fn tell_of_entry(tx: &Write, event: Event, entry: &SkillEntry) -> Result<(), Failure> {
    let SkillEntry { entry_id, kind, status, entry_date, minutes, tunnel_id, opening, version, .. } = entry;
    let data = json!({
        "entry_id": entry_id, "kind": kind.name(), "status": status.name(), "cat_group": entry.cat_group, "cat_id": entry.cat_id,
        "skill": entry.skill, "entry_date": entry_date, "minutes": minutes, "tunnel_id": tunnel_id, "opening": opening,
        "version": version,
    });
    let mut about = About::member(entry.member_id);
    about.concerned.signer_id = entry.instructor_id;
    tell(tx, event, &About { data: Some(&data.to_string()), ..about })?;
    match event {
        Event::EntrySigned | Event::EntryReinstated => tell_of_return(tx, entry.member_id),
        _ => Ok(()),
    }
}

/// Tells holder and signer of an entry as it stands now.
pub(crate) fn tell_of_entry_now(tx: &Write, event: Event, entry_id: EntryId) -> Result<(), Failure> {
    skills::find(tx, entry_id)?.map_or(Ok(()), |entry| tell_of_entry(tx, event, &entry))
}
