//! The timeline of a member by year: flights, sign-offs, bookings, check-ins, payments, notes and bans.

use super::list_tabs::{LINES_READ, Line, ViewContext, entry_badge, joined, of_booking, of_entry, of_payment};
use crate::domain::ids::{EntryId, MemberId, PaymentId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::queries::timeline::{self, Event, What};
use crate::store::queries::{logbook as entries, standing};
use crate::store::tables::bookings::{self, BookingRow, Ending, Filter};
use crate::store::tables::{entry_events, payments};
use crate::web::badge::Badge;
use crate::web::desk::members::lookup::name_of;
use crate::web::years::Year;

/// Events that are counted by year; nobody has more.
const EVENTS_MAX: i64 = 100_000;
/// Bookings of one member at one moment that are read.
const BOOKINGS_MAX: i64 = 100;

/// The latest events after `skip` others; one more than is shown.
pub(crate) fn list(tx: &Read, view: &ViewContext, member_id: MemberId, skip: i64) -> Result<Vec<Line>, Failure> {
    let lapsed = standing::lapsed(tx, member_id, view.now)?;
    let events = timeline::list(tx, member_id, LINES_READ, skip)?;
    events.into_iter().map(|event| line(tx, view, member_id, event, &lapsed)).collect()
}

/// The years with events, the latest first; and the total number of events.
pub(crate) fn years(tx: &Read, view: &ViewContext, member_id: MemberId) -> Result<(Vec<Year>, i64), Failure> {
    let moments = timeline::list_moments(tx, member_id, EVENTS_MAX)?;
    let mut years: Vec<Year> = Vec::new();
    for (skip, at) in (0..).zip(&moments) {
        let year = view.zone.year(*at);
        match years.last_mut() {
            Some(last) if last.year == year => last.entries += 1,
            _ => years.push(Year { year, entries: 1, flown: String::new(), skip }),
        }
    }
    Ok((years, moments.len() as i64))
}

fn line(tx: &Read, view: &ViewContext, member_id: MemberId, event: Event, lapsed: &[&str]) -> Result<Line, Failure> {
    let found = match event.what {
        What::Entry => {
            entries::find_listed(tx, EntryId(event.id))?.map(|entry| of_entry(view, member_id, entry, lapsed))
        }
        What::Move => of_move(tx, view, event)?,
        What::Booking => find_booking(tx, member_id, event)?.map(|row| of_booking(view, row)),
        What::CheckIn => find_booking(tx, member_id, event)?.map(|row| {
            let badge = Badge::new("good", view.say("desk.mark_here"));
            Line { when: view.moment(event.at), badge: Some(badge), ..of_booking(view, row) }
        }),
        What::Ending => find_booking(tx, member_id, event)?.map(|row| {
            let key =
                if row.ending == Some(Ending::NoShow) { "action.booking.no_show" } else { "action.booking.cancelled" };
            Line { when: view.moment(event.at), what: view.say(key), ..of_booking(view, row) }
        }),
        What::Payment => payments::find_listed(tx, PaymentId(event.id))?.map(|row| of_payment(view, row)),
        What::Action => of_action(tx, view, event)?,
    };
    // The row exists: the event was read from it in the same snapshot.
    let line = found.ok_or_else(Failure::broken)?;
    Ok(Line { year: Some(view.zone.year(event.at)), ..line })
}

/// A booking of any tunnel, by member and time of flight.
fn find_booking(tx: &Read, member_id: MemberId, event: Event) -> Result<Option<BookingRow>, Failure> {
    let filter = Filter {
        member_id: Some(member_id),
        from: Some(Moment(event.more)),
        to: Some(Moment(event.more + 1)),
        ..Filter::default()
    };
    let found = bookings::list(tx, &filter, BOOKINGS_MAX, 0)?;
    Ok(found.into_iter().find(|row| row.booking_id.0 == event.id))
}

fn of_move(tx: &Read, view: &ViewContext, event: Event) -> Result<Option<Line>, Failure> {
    let Some(entry) = entries::find(tx, EntryId(event.id))? else { return Ok(None) };
    let (level, skill) = view.names(&entry.cat_group, &entry.cat_id, &entry.skill);
    let step = entry_events::list(tx, EntryId(event.id))?.into_iter().find(|one| one.step == event.more);
    Ok(step.map(|step| Line {
        when: view.moment(event.at),
        what: skill,
        about: joined(&[level, step.name]),
        badge: Some(entry_badge(view, &step.to)),
        path: format!("/desk/sign-offs/{}", event.id),
        ..Line::default()
    }))
}

fn of_action(tx: &Read, view: &ViewContext, event: Event) -> Result<Option<Line>, Failure> {
    let Some((action, actor)) = timeline::find_action(tx, event.id)? else { return Ok(None) };
    let by = actor.strip_prefix("member:").and_then(|id| id.parse().ok());
    let name = by.map(|member_id| name_of(tx, member_id)).transpose()?.flatten();
    let words = Text::find(&format!("action.{action}"), |_| None);
    Ok(Some(Line {
        when: view.moment(event.at),
        what: words.map_or(action, |words| view.language.say(&words)),
        about: name.unwrap_or_default(),
        ..Line::default()
    }))
}
