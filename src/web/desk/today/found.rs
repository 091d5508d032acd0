//! Members who fit what was typed on *Today*, each with the booking of the day or the way to one.

use crate::domain::local_time::{Day, TimeZone};
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::bookings;
use crate::web::Frame;
use crate::web::desk::members::{look, said};
use askama::Template;

/// Nobody flies more often in a day.
const BOOKINGS_MAX: i64 = 12;

/// The list, for the page and for the script that asks while somebody types.
#[derive(Template)]
#[template(path = "desk/today_found.html", config = "assets/templates/askama.toml")]
pub(super) struct Found {
    frame: Frame,
    hits: Vec<Hit>,
    said: String,
    /// The part before `book` in the query of a link.
    day: String,
}

struct Hit {
    who: look::Hit,
    /// The first booking of the day for which nobody came yet, and what it says.
    booking: Option<(i64, String)>,
}

/// The members who fit `typed`, for the day that the page shows; `day_query` names the day in links.
pub(super) fn of(
    site: &Site,
    zone: &TimeZone,
    day: Day,
    day_query: String,
    typed: &str,
    language: Language,
) -> Result<Found, Failure> {
    let found = look::up(site, typed)?;
    let said = said(language, typed, &found);
    let hits = site.store.read(|tx| {
        let hit = |who: look::Hit| {
            let own = bookings::list_own(tx, site.tunnel_id, who.member_id, day.from, day.to, BOOKINGS_MAX)?;
            let next = own.into_iter().find(|one| one.arrived_at.is_none());
            let say = |one: bookings::Own| {
                let clock = zone.clock(one.flight_date);
                let text = Text::new("desk.booked_today").with("clock", clock).with("minutes", one.minutes_booked);
                (one.booking_id, language.say(&text))
            };
            Ok(Hit { who, booking: next.map(say) })
        };
        found.hits.into_iter().map(hit).collect::<Result<Vec<_>, Failure>>()
    })?;
    Ok(Found { frame: Frame::bare(language), hits, said, day: day_query })
}
