//! Somebody is at the desk and wants to fly: a booking that no partner made.

use super::today::{self, WalkIn};
use crate::api::partner::booking::record;
use crate::auth::Clerk;
use crate::domain::audit::Detail;
use crate::domain::booking::{self, Booking};
use crate::domain::minutes;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::{bookings, members, partners};
use crate::store::{Read, Write};
use crate::web::form;

/// The client under which the desk's own bookings stand among the partners'.
pub(crate) const CLIENT_ID: &str = "front-desk";
const CLIENT_NAME: &str = "Front desk";

/// `POST /desk/bookings`: today, at a time of the hall's clock. The same form sent twice is the same booking.
pub fn book(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
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
    let booked = site.store.write(now, |tx| {
        let member_id = match find_member(tx, &sent.member)? {
            Ok(member_id) => member_id,
            Err(Unclear::Nobody) => return Ok(Err("desk.walk_in_nobody")),
            Err(Unclear::Two) => return Ok(Err("desk.member_two")),
        };
        let standing = members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?;
        if let Err(bar) = booking::admit(&standing, site.config.yearly_fee_cents, now) {
            return Ok(Err(bar_key(bar)));
        }
        let mut booking = Booking {
            registration_id: Some(sent.number),
            purchase_id: None,
            purchase_date: Some(now),
            flight_date,
            minutes_booked: length,
            product_id: None,
            tunnel_id: site.tunnel_id,
            checkin_time: None,
        };
        let own = own_client(tx)?;
        let known = bookings::find_same(tx, own, member_id, &booking)?;
        // It was bought when the form came first; and what changes nothing is nobody's deed.
        booking.purchase_date = known.as_ref().map_or(Some(now), |known| known.booking.purchase_date);
        let booking_id = record(tx, own, member_id, &booking)?;
        if known.is_none_or(|known| known.booking != booking) {
            let detail = Detail::none().number("booking_id", booking_id);
            crate::web::record(tx, clerk, "booking.made", member_id, &detail)?;
        }
        Ok(Ok(booking_id))
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

fn own_client(tx: &Write) -> Result<i64, Failure> {
    match partners::find(tx, CLIENT_ID)? {
        Some(own) => Ok(own.partner_id),
        None => partners::insert(tx, CLIENT_ID, CLIENT_NAME, false, None),
    }
}

fn bar_key(bar: booking::Bar) -> &'static str {
    match bar {
        booking::Bar::Banned => "desk.walk_in_banned",
        booking::Bar::EmailNotConfirmed => "desk.walk_in_unconfirmed",
        booking::Bar::Unpaid => "desk.walk_in_unpaid",
    }
}
