//! The member's bookings: to come and before, each as a calendar file, and cancelled until the hall's hours before.

use super::frame::Shell;
use super::show;
use crate::app;
use crate::app::bookings as effect;
use crate::auth::Member;
use crate::documents::calendar;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::bookings::{self, BookingRow, Ending, Filter};
use crate::web::badge::Badge;
use crate::web::{form_status, pages_beside, path_id, read_form, refused_form, skipped};
use askama::Template;

pub(crate) const PATH: &str = "/me/bookings";
const LINES_MAX: i64 = 50;
/// Bookings to come that are shown; nobody has more.
const COMING_MAX: i64 = 200;
const DONE: [(&str, &str); 1] = [("cancelled", "me.done_cancelled")];

#[derive(Template)]
#[template(path = "member/bookings.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    coming: Vec<Coming>,
    before: Vec<Before>,
    newer: Option<i64>,
    older: Option<i64>,
    problem: Option<String>,
}

/// A booking to come.
pub(super) struct Coming {
    pub booking_id: BookingId,
    pub when: String,
    pub minutes: i64,
    pub about: String,
    pub badge: Option<Badge>,
    /// Until when the member may cancel it; `None`: no more.
    pub until: Option<String>,
    pub seen: String,
}

/// A booking of the past.
struct Before {
    when: String,
    minutes: i64,
    about: String,
    badge: Option<Badge>,
}

/// `GET /me/bookings`
pub(crate) fn show_list(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None)
}

fn page(site: &Site, call: &Call, member: &Member, problem: Option<String>) -> Answer {
    let shell = Shell::after_action(site, call, member, PATH, &DONE)?;
    let (zone, language, now, skip) = (site.time_zone()?, call.language(), site.now(), skipped(call));
    let own = || Filter { member_id: Some(member.id()), ..Filter::default() };
    let (coming, mut before) = site.store.read(|tx| {
        let coming = match skip {
            0 => bookings::list(tx, &Filter { from: Some(now), ..own() }, COMING_MAX, 0)?,
            _ => Vec::new(),
        };
        Ok((coming, bookings::list(tx, &Filter { to: Some(now), ..own() }, LINES_MAX + 1, skip)?))
    })?;
    let (newer, older) = pages_beside(&mut before, LINES_MAX, skip);
    let status = form_status(problem.is_some());
    let page = Page {
        shell,
        // The next one first.
        coming: coming.into_iter().rev().map(|row| of_coming(site, row, &zone, language)).collect(),
        before: before.into_iter().map(|row| of_before(row, &zone, language)).collect(),
        newer,
        older,
        problem,
    };
    Ok(show(status, language, &page))
}

fn badge(row: &BookingRow, language: Language) -> Option<Badge> {
    let (tone, key) = match (row.ending, row.arrived_at) {
        (Some(Ending::Cancelled), _) => ("plain", "me.cancelled"),
        (Some(Ending::NoShow), _) => ("bad", "me.missed"),
        (None, Some(_)) => ("good", "me.came"),
        (None, None) => return None,
    };
    Some(Badge::new(tone, language.say(&Text::new(key))))
}

/// The bookings to come of a child: to be seen, not to be cancelled.
pub(super) fn list_of_child(site: &Site, call: &Call, tx: &Read, child_id: MemberId) -> Result<Vec<Coming>, Failure> {
    let zone = site.time_zone()?;
    let filter = Filter { member_id: Some(child_id), from: Some(site.now()), ..Filter::default() };
    let rows = bookings::list(tx, &filter, COMING_MAX, 0)?.into_iter().rev();
    Ok(rows.map(|row| Coming { until: None, ..of_coming(site, row, &zone, call.language()) }).collect())
}

fn of_coming(site: &Site, row: BookingRow, zone: &TimeZone, language: Language) -> Coming {
    let until = effect::cancelled_until(site, &row).filter(|until| site.now() <= *until);
    let until = until
        .map(|until| language.say(&Text::new("me.cancel_until").with("when", when::moment(language, zone, until))));
    Coming {
        booking_id: row.booking_id,
        when: when::moment(language, zone, row.booking.flight_date),
        minutes: row.booking.minutes_booked,
        badge: badge(&row, language),
        until,
        seen: effect::mark(&row.booking),
        about: row.tunnel_name,
    }
}

fn of_before(row: BookingRow, zone: &TimeZone, language: Language) -> Before {
    Before {
        when: when::moment(language, zone, row.booking.flight_date),
        minutes: row.booking.minutes_booked,
        badge: badge(&row, language),
        about: row.tunnel_name,
    }
}

/// `POST /me/bookings/{booking_id}/cancel`
pub(crate) fn cancel(site: &Site, call: &Call, member: &Member) -> Answer {
    let booking_id = path_id(call, 0)?;
    let seen = read_form(call, |form| form.seen())?;
    match app::change(site, member, call.language(), |cx| effect::cancel_own(cx, booking_id, &seen)) {
        Ok(_) => Ok(reply::see_other(&format!("{PATH}?done=cancelled"))),
        Err(failure) if failure.status() == http::StatusCode::NOT_FOUND => Err(failure),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, Some(problem))),
    }
}

/// `GET /me/bookings/{booking_id}/calendar.ics`
pub(crate) fn calendar(site: &Site, call: &Call, member: &Member) -> Answer {
    let booking_id = path_id(call, 0)?;
    let found = site.store.read(|tx| Ok(bookings::find_by_id(tx, booking_id)?))?;
    let row = found.filter(|row| row.member_id == member.id()).ok_or_else(Failure::not_found)?;
    let minutes = row.booking.minutes_booked;
    let file = calendar::file(&calendar::Event {
        uid: &format!("booking-{booking_id}@{}", site.site_id),
        sequence: (row.updated_at - row.created_at).max(0),
        made_at: row.updated_at,
        from: row.booking.flight_date,
        to: row.booking.flight_date + minutes * 60,
        title: &call.language().say(&Text::new("me.flight").with("minutes", minutes)),
        place: &row.tunnel_name,
        is_cancelled: row.ending.is_some(),
    });
    let reply = reply::file("text/calendar; charset=utf-8", "attachment", &format!("booking-{booking_id}.ics"), file);
    Ok(reply.unstored())
}
