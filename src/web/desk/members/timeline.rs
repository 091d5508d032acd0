//! The whole of a member in one list by year: flights, sign-offs, bookings, check-ins, payments, notes and bans.

use super::lines::{LINES_READ, Line, Place, entry_mark, joined, of_booking, of_entry, of_payment};
use super::years::Year;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::Read;
use crate::store::queries::timeline::{self, Event, What};
use crate::store::queries::{logbook as entries, standing};
use crate::store::tables::bookings::{self, BookingRow, Ending, Filter};
use crate::store::tables::{entry_events, payments};
use crate::web::desk::today::name_of;
use crate::web::mark::Mark;

/// Events that years are made of: more than anybody has.
const EVENTS_MAX: i64 = 100_000;
/// Bookings of one member for one moment.
const BOOKINGS_MAX: i64 = 100;

/// The latest events, from the one after `skip` newer ones on; one more than is shown.
pub(crate) fn list(tx: &Read, place: &Place, member_id: i64, skip: i64) -> Result<Vec<Line>, Failure> {
    let lapsed = standing::lapsed(tx, member_id, place.now)?;
    let events = timeline::list(tx, member_id, LINES_READ, skip)?;
    events.into_iter().map(|event| line(tx, place, member_id, event, &lapsed)).collect()
}

/// The years in which something happened, the latest first; and how many events there are in all.
pub(crate) fn years(tx: &Read, place: &Place, member_id: i64) -> Result<(Vec<Year>, i64), Failure> {
    let moments = timeline::list_moments(tx, member_id, EVENTS_MAX)?;
    let mut years: Vec<Year> = Vec::new();
    for (skip, at) in (0..).zip(&moments) {
        let year = place.zone.year(*at);
        match years.last_mut() {
            Some(last) if last.year == year => last.entries += 1,
            _ => years.push(Year { year, entries: 1, flown: String::new(), skip }),
        }
    }
    Ok((years, moments.len() as i64))
}

fn line(tx: &Read, place: &Place, member_id: i64, event: Event, lapsed: &[&str]) -> Result<Line, Failure> {
    let found = match event.what {
        What::Entry => entries::find_listed(tx, event.id)?.map(|entry| of_entry(place, member_id, entry, lapsed)),
        What::Move => of_move(tx, place, event)?,
        What::Booking => find_booking(tx, member_id, event)?.map(|row| of_booking(place, row)),
        What::CheckIn => find_booking(tx, member_id, event)?.map(|row| {
            let mark = Mark::new("good", place.say("desk.mark_here"));
            Line { when: place.moment(event.at), mark: Some(mark), ..of_booking(place, row) }
        }),
        What::Ending => find_booking(tx, member_id, event)?.map(|row| {
            let key =
                if row.ending == Some(Ending::NoShow) { "deed.booking.no_show" } else { "deed.booking.cancelled" };
            Line { when: place.moment(event.at), what: place.say(key), ..of_booking(place, row) }
        }),
        What::Payment => payments::find_listed(tx, event.id)?.map(|row| of_payment(place, row)),
        What::Deed => of_deed(tx, place, event)?,
    };
    // Every row is there: the events were read from it, in the same snapshot.
    let line = found.ok_or_else(Failure::broken)?;
    Ok(Line { year: Some(place.zone.year(event.at)), ..line })
}

/// A booking is found by its member and its flight, whatever tunnel it is for.
fn find_booking(tx: &Read, member_id: i64, event: Event) -> Result<Option<BookingRow>, Failure> {
    let filter =
        Filter { member_id: Some(member_id), from: Some(event.more), to: Some(event.more + 1), ..Filter::default() };
    let found = bookings::list(tx, &filter, BOOKINGS_MAX, 0)?;
    Ok(found.into_iter().find(|row| row.booking_id == event.id))
}

fn of_move(tx: &Read, place: &Place, event: Event) -> Result<Option<Line>, Failure> {
    let Some(entry) = entries::find(tx, event.id)? else { return Ok(None) };
    let (level, skill) = place.site.catalogue.names(&entry.cat_group, &entry.cat_id, &entry.skill);
    let step = entry_events::list(tx, event.id)?.into_iter().find(|one| one.step == event.more);
    Ok(step.map(|step| Line {
        when: place.moment(event.at),
        what: skill,
        about: joined(&[level, step.name]),
        mark: Some(entry_mark(place, &step.to)),
        path: format!("/desk/sign-offs/{}", event.id),
        ..Line::default()
    }))
}

fn of_deed(tx: &Read, place: &Place, event: Event) -> Result<Option<Line>, Failure> {
    let Some((deed, who)) = timeline::find_deed(tx, event.id)? else { return Ok(None) };
    let by = who.strip_prefix("member:").and_then(|id| id.parse().ok());
    let name = by.map(|member_id| name_of(tx, member_id)).transpose()?.flatten();
    let words = Text::find(&format!("deed.{deed}"), |_| None);
    Ok(Some(Line {
        when: place.moment(event.at),
        what: words.map_or(deed, |words| place.language.say(&words)),
        about: name.unwrap_or_default(),
        ..Line::default()
    }))
}
