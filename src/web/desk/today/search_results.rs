//! Search results on *Today*: members with their booking of the day, or a link to book.

use crate::domain::ids::BookingId;
use crate::domain::local_time::{Day, TimeZone};
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::bookings;
use crate::web::Frame;
use crate::web::desk::members::{found_text, search};
use askama::Template;

/// Bookings of one member that are read for a day.
const BOOKINGS_MAX: i64 = 12;

/// The list, for the page and for the script that searches while the clerk types.
#[derive(Template)]
#[template(path = "desk/today_search_results.html", config = "assets/templates/askama.toml")]
pub(super) struct SearchResults {
    frame: Frame,
    hits: Vec<Hit>,
    summary: String,
    /// Whether the members are guesses, on which Enter must not act.
    guessed: bool,
    /// Query prefix that names the day in links.
    day: String,
}

struct Hit {
    member: search::Hit,
    /// ID and text of the first booking of the day that is not checked in.
    booking: Option<(BookingId, String)>,
    may_check_in: bool,
}

/// Searches for members, for the day that the page shows; `day_query` names the day in links.
pub(super) fn search(
    site: &Site,
    zone: &TimeZone,
    day: Day,
    day_query: String,
    typed: &str,
    language: Language,
) -> Result<SearchResults, Failure> {
    let found = search::find(site, typed)?;
    let is_today = (day.from..day.to).contains(&site.now());
    let (summary, guessed) = (found_text(language, typed, &found), found.guessed);
    let mut hits = site.store.read(|tx| {
        let hit = |member: search::Hit| {
            let own = bookings::list_own(tx, site.tunnel_id, member.member_id, day.from, day.to, BOOKINGS_MAX)?;
            let next = own.into_iter().find(|one| one.arrived_at.is_none());
            let say = |one: bookings::OwnBooking| {
                let clock = zone.clock(one.flight_date);
                let text = Text::new("desk.booked_today").with("clock", clock).with("minutes", one.minutes_booked);
                (one.booking_id, language.say(&text))
            };
            let may_check_in = is_today && !member.banned;
            Ok(Hit { member, booking: next.map(say), may_check_in })
        };
        found.hits.into_iter().map(hit).collect::<Result<Vec<Hit>, Failure>>()
    })?;
    // Of people alike in name, those who are expected stand first; a number names one person.
    if !typed.contains(|c: char| c.is_ascii_digit()) {
        hits.sort_by_key(|hit| hit.booking.is_none());
    }
    Ok(SearchResults { frame: Frame::bare(language), hits, summary, guessed, day: day_query })
}
