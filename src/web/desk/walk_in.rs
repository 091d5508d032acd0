//! Bookings made at the desk, for walk-ins and by telephone.

use super::bookings::{full_quarter_of, to_day};
use super::members::search::{self, NotOne};
use super::members::waiver;
use super::today::{self, BookingInput};
use crate::app::bookings::{self, DeskBooking, NotBooked};
use crate::app::{self, flights};
use crate::auth::Clerk;
use crate::domain::booking::{Denial, may_be_booked_for};
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{read_form, read_form_number};

/// `POST /desk/bookings`: books a flight at a day and time, or with `here` now and checked in. The same form sent twice
/// makes one booking.
pub(crate) fn book(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (sent, here) = read(call)?;
    let (zone, now) = (site.time_zone()?, site.now());
    let length = match sent.minutes.is_empty() {
        true => Some(sent.usual),
        false => minutes::parse(&sent.minutes),
    };
    let Some(length) = length.filter(|length| minutes::MINUTES.contains(length)) else {
        return again(site, call, clerk, sent, "desk.walk_in_minutes");
    };
    let day = if sent.day.is_empty() { Some(now) } else { zone.start_of_date(&sent.day) };
    let flight_date = match here {
        true => Some(now),
        false => day.and_then(|day| zone.at_clock(day, &sent.clock)),
    };
    let Some(flight_date) = flight_date else {
        let key = if sent.day.is_empty() { "desk.walk_in_clock" } else { "desk.move_when" };
        return again(site, call, clerk, sent, key);
    };
    // Flight time of past days is entered on the member's card.
    if flight_date < zone.day(now, 0).from {
        return again(site, call, clerk, sent, "desk.move_past");
    }
    if !may_be_booked_for(flight_date, now) {
        return again(site, call, clerk, sent, "desk.move_far");
    }
    let member_id = match search::find_one(site, &sent.member) {
        Ok(member_id) => member_id,
        Err(stop) => {
            let key = match stop.denial()? {
                NotOne::TwoAccounts => "desk.member_two",
                NotOne::Nobody => "desk.walk_in_nobody",
                NotOne::Similar(_) => "desk.book_similar",
                NotOne::Several(_) => "desk.book_several",
            };
            return again(site, call, clerk, sent, key);
        }
    };
    let BookingInput { number, beside, full_quarter, .. } = sent;
    let wanted = DeskBooking { member_id, minutes_booked: length, number, beside, full_quarter };
    let booked = app::try_change(site, clerk, call.language(), |cx| match here {
        true => bookings::book_here_now(cx, &wanted),
        false => bookings::book_at_desk(cx, &wanted, flight_date),
    });
    match booked {
        Ok(booking_id) => {
            if here && site.store.read(|tx| flights::find_denial(site, tx, member_id, site.now()))?.is_some() {
                return waiver::back(member_id, "booked");
            }
            let word = if here { "here" } else { "booked" };
            Ok(reply::see_other(&to_day(site, &zone, booking_id, word)?))
        }
        Err(Stop::Denied(why)) => {
            let full_quarter = if let NotBooked::Full(begins) = why { Some(begins) } else { full_quarter };
            let sent = BookingInput { member: member_id.to_string(), full_quarter, ..sent };
            again(site, call, clerk, sent, problem_key(why))
        }
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// The values of the form, and whether the member is here.
fn read(call: &Call) -> Result<(BookingInput, bool), Failure> {
    read_form(call, |form| {
        let sent = BookingInput {
            member: form.line("member", 254),
            minutes: form.line("minutes", 254),
            usual: form.optional("usual", fields::whole_in(0..=i64::MAX)).unwrap_or(0),
            day: form.line("day", 254),
            clock: form.line("clock", 254),
            number: form.required("number", read_form_number),
            beside: form.optional("beside", fields::id),
            full_quarter: full_quarter_of(form),
            problem: None,
        };
        (sent, !form.line("here", 5).is_empty())
    })
}

fn again(site: &Site, call: &Call, clerk: &Clerk, sent: BookingInput, key: &'static str) -> Answer {
    today::refuse(site, call, clerk, BookingInput { problem: Some(key), ..sent })
}

pub(super) fn problem_key(why: NotBooked) -> &'static str {
    match why {
        NotBooked::Denied(Denial::Banned) => "desk.walk_in_banned",
        NotBooked::Denied(Denial::EmailNotConfirmed) => "desk.walk_in_unconfirmed",
        NotBooked::Denied(Denial::Unpaid) => "desk.walk_in_unpaid",
        NotBooked::HasOne => "desk.walk_in_has_one",
        NotBooked::Full(_) => "desk.walk_in_full",
    }
}
