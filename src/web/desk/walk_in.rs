//! Somebody is at the desk and wants to fly: a booking that no partner made.

use super::today::{self, WalkIn};
use crate::app::{self, bookings};
use crate::auth::Clerk;
use crate::domain::booking::Denial;
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members;
use crate::web::form;

/// `POST /desk/bookings`: today, at a time of the hall's clock. The same form sent twice is the same booking.
pub(crate) fn book(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let member = body.optional("member", fields::line(254));
    let minutes = body.optional("minutes", fields::line(254));
    let clock = body.optional("clock", fields::line(254));
    let number = body.required("number", fields::whole_in(1..=i64::from(u32::MAX) + 1));
    let ok = body.finish()?;
    let mut sent = WalkIn {
        member: member.get(&ok).unwrap_or_default(),
        minutes: minutes.get(&ok).unwrap_or_default(),
        clock: clock.get(&ok).unwrap_or_default(),
        number: number.get(&ok),
        problem: None,
    };
    let (hall, now) = (site.hall()?, site.now());
    let length = minutes::parse(&sent.minutes).filter(|length| minutes::MINUTES.contains(length));
    let (length, flight_date) = match (length, hall.at_clock(now, &sent.clock)) {
        (Some(length), Some(at)) => (length, at),
        (None, _) => return again(site, call, clerk, sent, "desk.walk_in_minutes"),
        (_, None) => return again(site, call, clerk, sent, "desk.walk_in_clock"),
    };
    let booked = app::change(site, clerk, call.language(), |cx| {
        let member_id = match find_member(cx.tx, &sent.member)? {
            Ok(member_id) => member_id,
            Err(Unclear::Nobody) => return Ok(Err("desk.walk_in_nobody")),
            Err(Unclear::Two) => return Ok(Err("desk.member_two")),
        };
        let booked = bookings::book_at_desk(cx, member_id, flight_date, length, sent.number)?;
        Ok(booked.map_err(denial_key))
    })?;
    match booked {
        Ok(booking_id) => Ok(reply::see_other(&format!("/desk?done=booked#b{booking_id}"))),
        Err(key) => {
            sent.problem = Some(call.say(key));
            today::page(site, call, clerk, Some(sent))
        }
    }
}

fn again(site: &Site, call: &Call, clerk: &Clerk, mut sent: WalkIn, key: &'static str) -> Answer {
    sent.problem = Some(call.say(key));
    today::page(site, call, clerk, Some(sent))
}

/// Why it is not clear whom a clerk means.
pub(crate) enum Unclear {
    Nobody,
    /// A username may be another member's number.
    Two,
}

/// The member that a clerk means by a number, a username or an e-mail address.
pub(crate) fn find_member(tx: &Read, typed: &str) -> Result<Result<i64, Unclear>, Failure> {
    let number = typed.parse::<i64>().ok();
    let by_number = number.map(|id| members::find_account_by_id(tx, id)).transpose()?.flatten();
    let by_name = members::find_account(tx, typed)?;
    Ok(match (by_number.map(|one| one.member_id), by_name.map(|one| one.member_id)) {
        (Some(one), Some(other)) if one != other => Err(Unclear::Two),
        (Some(member_id), _) | (None, Some(member_id)) => Ok(member_id),
        (None, None) => Err(Unclear::Nobody),
    })
}

fn denial_key(denial: Denial) -> &'static str {
    match denial {
        Denial::Banned => "desk.walk_in_banned",
        Denial::EmailNotConfirmed => "desk.walk_in_unconfirmed",
        Denial::Unpaid => "desk.walk_in_unpaid",
    }
}
