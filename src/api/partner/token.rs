//! A member's PIN for a token, and the booking that comes with it.

use crate::app::booking_fields::{BOOKING_FIELDS, BookingFields, REQUIRED_FIELDS};
use crate::app::{self, RankedActor, bookings, flights};
use crate::auth::{Partner, new_token, pin, pin_guesses};
use crate::domain::audit::ActorId;
use crate::domain::booking::{Booking, Denial};
use crate::http::Answer;
use crate::http::body::Flattened;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::field_types::{Digits, Id};
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::history::{self, Event, EventSubject};
use crate::store::tables::{members, notices, pins, sessions, tunnels};
use crate::store::{Read, Write};
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::json;

const WRONG_PINS_MAX: i64 = 5;
const PIN_PAUSE_SECONDS: i64 = 15 * 60;
const TOKEN_SECONDS: i64 = 24 * 3600;
#[derive(Serialize)]
struct TokenReply {
    status: bool,
    message: String,
    token: String,
    /// On a site that asks for waivers, with a booking: whether the member may be checked in for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    may_check_in: Option<bool>,
}

crate::body! {
    /// A request with any field of a booking is a booking; `flight_date`, `minutes_booked` and `tunnel_id` are then required.
    pub(crate) struct TokenRequest {
        /// The member who books.
        member_id: Id,
        /// The member's booking PIN, six digits. A number is read as six digits, leading zeros and all.
        member_pin: Digits<32>,
        booking: Flattened<BookingFields>,
    }
    also json!({
        "description": "A request with any field of a booking is a booking; `flight_date`, `minutes_booked` and `tunnel_id` are then required.",
    })
}

/// `POST /external/partner-metrics/op/generate-token`: a day's token for one member and one booking. The same
/// registration sent again is the same booking, with a fresh token.
pub(crate) fn generate(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let TokenRequest { member_id, member_pin, booking } = TokenRequest::read(site, call)?;
    let booking = booking.complete();
    let paused_for = site.store.read(|tx| pin_guesses::paused_for(site, tx, partner.id(), site.now()))?;
    if paused_for > 0 {
        return Ok(paused(call, paused_for));
    }
    let actor = RankedActor::outside(ActorId::Partner(partner.client_id().to_owned()), call);
    app::change_once(site, call, actor, |cx| {
        let tx = cx.tx;
        if !pin_is_right(site, tx, member_id, &member_pin)? {
            call.outcome.set(AuthOutcome::WrongCredentials);
            pin_guesses::record_wrong_pin(site, call, tx, partner.id())?;
            return refuse(tx, call, partner, member_id, "booking.wrong_pin");
        }
        let booking_id = match &booking {
            Some(booking) => match bookings::book(cx, partner.id(), member_id, booking)? {
                Ok(booking_id) => Some(booking_id),
                Err(denial) => return refuse(tx, call, partner, member_id, denial.key()),
            },
            // A token without a booking only reads: being unpaid or unconfirmed is nothing against it, a ban is.
            None if is_banned(tx, member_id)? => {
                return refuse(tx, call, partner, member_id, Denial::Banned.key());
            }
            None => None,
        };
        let (token, hash) = new_token();
        call.issues_token(&hash);
        sessions::insert_booking_token(tx, &hash, member_id, booking_id, tx.now() + TOKEN_SECONDS)?;
        let about = EventSubject { member_id: Some(member_id), booking_id, ..EventSubject::default() };
        history::insert(tx, partner.id(), Event::TokenIssued, &about)?;
        let may_check_in = match &booking {
            Some(booking) if booking.tunnel_id == site.tunnel_id => {
                flights::may_check_in(site, tx, member_id, booking.flight_date)?
            }
            _ => None,
        };
        Ok(reply::ok(&TokenReply { status: true, message: String::new(), token, may_check_in }))
    })
}

impl TokenRequest {
    fn read(site: &Site, call: &Call) -> Result<TokenRequest, Failure> {
        let mut fields = call.fields()?;
        let is_booking = BOOKING_FIELDS.iter().any(|field| fields.has(field));
        if is_booking {
            REQUIRED_FIELDS.iter().for_each(|field| fields.demand(field));
        }
        let mut body = call.parse_body_from::<TokenRequest>(fields);
        if let Some(Some(tunnel_id)) = body.read.booking.tunnel_id
            && !site.store.read(|tx| Ok(tunnels::exists(tx, tunnel_id)?))?
        {
            body.fields.refuse("tunnel_id", Text::new("field.unknown_tunnel"));
        }
        body.finish()
    }
}

impl BookingFields {
    /// The booking, where the needed fields are there.
    pub(crate) fn complete(self) -> Option<Booking> {
        let BookingFields { registration_id, purchase_id, product_id, purchase_date, checkin_time, .. } = self;
        Some(Booking {
            registration_id,
            purchase_id,
            purchase_date,
            flight_date: self.flight_date?,
            minutes_booked: self.minutes_booked?,
            product_id,
            tunnel_id: self.tunnel_id?,
            checkin_time,
        })
    }
}

/// Whether the PIN is right. Five wrong PINs pause it; during the pause the right PIN is refused as a wrong one.
fn pin_is_right(site: &Site, tx: &Write, member_id: i64, member_pin: &str) -> Result<bool, Failure> {
    let Some(known) = pins::find(tx, member_id)? else { return Ok(false) };
    if tx.now() < known.paused_until {
        return Ok(false);
    }
    let right = pin::is_right(site, tx, member_id, member_pin)?;
    let wrong_pins = if right { 0 } else { known.wrong_pins + 1 };
    if wrong_pins >= WRONG_PINS_MAX {
        pins::set_wrong_pins(tx, member_id, 0, tx.now() + PIN_PAUSE_SECONDS)?;
        let detail = json!({ "minutes": PIN_PAUSE_SECONDS / 60 }).to_string();
        notices::insert(tx, member_id, "notice.pin_paused", &detail)?;
    } else if wrong_pins != known.wrong_pins {
        pins::set_wrong_pins(tx, member_id, wrong_pins, 0)?;
    }
    Ok(right)
}

fn is_banned(tx: &Read, member_id: i64) -> Result<bool, Failure> {
    Ok(members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?.banned)
}

/// The answer to a wrong PIN, for any PIN. Nothing is written but a limited number of idempotency keys: guesses during a
/// pause would fill the disk as fast as they come.
fn paused(call: &Call, seconds: i64) -> Reply {
    call.outcome.set(AuthOutcome::Delayed);
    let message = call.say("booking.wrong_pin");
    let reply = reply::ok(&TokenReply { status: false, message, token: String::new(), may_check_in: None });
    reply.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
}

/// A refusal is a reply, and the history knows of it.
fn refuse(tx: &Write, call: &Call, partner: &Partner, member_id: i64, reason: &'static str) -> Answer {
    let detail = json!({ "reason": reason }).to_string();
    let about = EventSubject { member_id: Some(member_id), detail: Some(&detail), ..EventSubject::default() };
    history::insert(tx, partner.id(), Event::TokenRefused, &about)?;
    Ok::<Reply, Failure>(reply::ok(&TokenReply {
        status: false,
        message: call.say(reason),
        token: String::new(),
        may_check_in: None,
    }))
}
