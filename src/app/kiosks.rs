//! Kiosks and boards: pairing, revoking, and the bookings that guests make there for themselves.

use super::bookings::{self, Address, Placed};
use super::{Change, Outcome, family};
use crate::auth::kiosk;
use crate::domain::audit::{Detail, Subject};
use crate::domain::booking::Denial;
use crate::domain::ids::{BookingId, KioskId, MemberId};
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::store::tables::kiosks::{self, Kind};
use crate::store::tables::{bookings as booked, members, tunnels};

pub(crate) const NAME_CHARS_MAX: usize = 60;

/// Creates a code that pairs one browser as a kiosk or board of this name. Audited. 422 at `name` where the name is empty,
/// longer than [`NAME_CHARS_MAX`] or more than one line.
pub(crate) fn pair(cx: &Change, kind: Kind, name: &str) -> Result<String, Failure> {
    let name = fields::name("name", name, NAME_CHARS_MAX)?;
    cx.record("kiosk.code_made", &Subject::Site, &Detail::none())?;
    kiosk::new_pairing(cx.site, cx.tx, (kind, &name), cx.member_id())
}

/// Revokes a kiosk, and signs its guest out. Audited. Unchanged where no such kiosk is in use.
pub(crate) fn revoke(cx: &Change, kiosk_id: KioskId) -> Result<Outcome, Failure> {
    if kiosks::revoke(cx.tx, kiosk_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("kiosk.revoked", &Subject::Site, &Detail::none().number("kiosk_id", kiosk_id))?;
    Ok(Outcome::Done)
}

/// The bits of a booking's number that hold the number of its form; those above hold the member's, so that each flyer on one form has another number.
const FORM_NUMBER_BITS: u32 = 33;

fn registration_of(flyer: MemberId, number: i64) -> i64 {
    number + (flyer.0 << FORM_NUMBER_BITS)
}

/// The greatest number of a flyer's bookings of one day that a kiosk shows and accepts.
pub(crate) const DAY_BOOKINGS_MAX: i64 = 12;

/// Books on behalf of the desk for a flight now, for the actor and children for whom the actor acts: all or none. Each
/// flyer whose waiver allows it is checked in. `number` is the form's; a form that is sent again makes no new bookings.
/// 422 where the minutes are not offered at a kiosk or the quarter of an hour has no room for them, where a flyer may not book, or where a flyer has reached
/// [`DAY_BOOKINGS_MAX`]. Returns whether all flyers are checked in.
pub(crate) fn book(cx: &Change, flyers: &[MemberId], minutes_booked: i64, number: i64) -> Result<bool, Failure> {
    let member_id = cx.member_id().ok_or_else(Failure::not_found)?;
    if !cx.site.config.kiosk_minutes.contains(&minutes_booked) {
        return Err(Failure::field("minutes", Text::new("kiosk.book_denied")));
    }
    let is_repeat = flyers.iter().try_fold(true, |all, flyer| {
        Ok::<_, Failure>(all && bookings::find_of_desk(cx, registration_of(*flyer, number))?.is_some())
    })?;
    // What was booked with the form before has its room.
    let known = is_repeat.then(|| bookings::begin_of(cx.now()));
    let placed = bookings::place(cx, cx.now(), minutes_booked * flyers.len() as i64, known);
    let full = |_| Failure::field("minutes", Text::new("kiosk.book_no_room"));
    let placed = placed.map_err(|stop| stop.into_failure(full))?;
    let mut are_here = true;
    for flyer in flyers {
        if *flyer != member_id && !family::acts_for(cx.site, cx.tx, member_id, *flyer)? {
            return Err(Failure::not_found());
        }
        if let Some(denial) = bookings::find_denial(cx, *flyer, cx.now(), Address::NotAsked)? {
            return Err(refusal(cx, *flyer, denial_key(denial))?);
        }
        let booking_id = book_one(cx, *flyer, minutes_booked, registration_of(*flyer, number), placed)?;
        are_here &= bookings::check_in_where_allowed(cx, booking_id)?;
    }
    Ok(are_here)
}

/// The text of a denial for the people at a kiosk, with the flyer's name in it.
fn denial_key(denial: Denial) -> &'static str {
    match denial {
        Denial::Banned => "kiosk.book_banned",
        Denial::EmailNotConfirmed => "kiosk.book_unconfirmed",
        Denial::Unpaid => "kiosk.book_unpaid",
    }
}

/// 422 at `flyers` with the flyer's name in the text.
fn refusal(cx: &Change, flyer: MemberId, key: &'static str) -> Result<Failure, Failure> {
    let profile = members::find(cx.tx, flyer)?.ok_or_else(Failure::not_found)?;
    let name = if profile.screen_name.is_empty() { profile.username } else { profile.screen_name };
    Ok(Failure::field("flyers", Text::new(key).with("name", name)))
}

/// Books a flight of today for one flyer. `registration`: the same number again is the same booking. 422 above
/// [`DAY_BOOKINGS_MAX`].
fn book_one(
    cx: &Change,
    flyer: MemberId,
    minutes_booked: i64,
    registration: i64,
    placed: Placed,
) -> Result<BookingId, Failure> {
    let partner_id = bookings::desk_client(cx.tx)?;
    if let Some(known) = &bookings::find_of_desk(cx, registration)? {
        let is_same = known.member_id == flyer && known.as_sent().minutes_booked == minutes_booked;
        return if is_same { Ok(known.booking_id) } else { Err(bookings::sent_before(cx, known)?) };
    }
    let (tunnel_id, today) = (cx.site.tunnel_id, tunnels::find_time_zone(cx.tx, cx.site.tunnel_id)?.day(cx.now(), 0));
    let of_today = booked::list_own(cx.tx, tunnel_id, flyer, today.from, today.to, DAY_BOOKINGS_MAX)?;
    if of_today.len() as i64 == DAY_BOOKINGS_MAX {
        return Err(refusal(cx, flyer, "kiosk.book_full")?);
    }
    let sent = bookings::of_desk(cx, registration, cx.now(), cx.now(), minutes_booked);
    bookings::record(cx, partner_id, flyer, &sent, placed)
}
