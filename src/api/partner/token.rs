//! A member's PIN for a token, and the booking that comes with it.

use crate::app::{self, Actor, bookings};
use crate::auth::{Partner, new_token, pin, pin_guesses};
use crate::domain::audit::Who;
use crate::domain::booking::{Booking, Denial};
use crate::http::Answer;
use crate::http::call::{Call, OutcomeWord};
use crate::http::failure::Failure;
use crate::http::fields::{self, Fields, Unjudged};
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::history::{self, About, Event};
use crate::store::tables::{members, notices, sessions, tunnels};
use crate::store::{Read, Write};
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::Value;

const PIN_MISSES_MAX: i64 = 5;
const PIN_PAUSE_SECONDS: i64 = 15 * 60;
const TOKEN_SECONDS: i64 = 24 * 3600;
const BOOKING_FIELDS: [&str; 8] = [
    "purchase_id",
    "purchase_date",
    "flight_date",
    "minutes_booked",
    "product_id",
    "tunnel_id",
    "checkin_time",
    "registration_id",
];

#[derive(Serialize)]
struct TokenReply {
    status: bool,
    message: String,
    token: String,
}

struct Request {
    member_id: i64,
    member_pin: String,
    booking: Option<Booking>,
}

/// `POST /external/partner-metrics/op/generate-token`: a day's token for one member and one booking. Whatever is sent
/// again is the same booking with a fresh token.
pub fn generate(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let request = Request::read(site, call)?;
    let paused_for = site.store.read(|tx| pin_guesses::paused_for(site, tx, partner.id(), site.now()))?;
    if paused_for > 0 {
        return Ok(paused(call, paused_for));
    }
    let actor = Actor::outside(Who::Partner(partner.client_id().to_owned()), call);
    app::change_once(site, call, actor, |cx| {
        let tx = cx.tx;
        if !pin_is_right(site, tx, &request)? {
            call.outcome.set(OutcomeWord::WrongCredentials);
            pin_guesses::miss(site, call, tx, partner.id())?;
            return refuse(tx, call, partner, &request, "booking.wrong_pin");
        }
        let booking_id = match &request.booking {
            Some(booking) => match bookings::book(cx, partner.id(), request.member_id, booking)? {
                Ok(booking_id) => Some(booking_id),
                Err(denial) => return refuse(tx, call, partner, &request, denial.key()),
            },
            // A token without a booking only reads: being unpaid or unconfirmed is nothing against it, a ban is.
            None if is_banned(tx, request.member_id)? => {
                return refuse(tx, call, partner, &request, Denial::Banned.key());
            }
            None => None,
        };
        let (token, hash) = new_token();
        call.hands_out(&hash);
        sessions::insert_booking_token(tx, &hash, request.member_id, booking_id, tx.now() + TOKEN_SECONDS)?;
        let about = About { member_id: Some(request.member_id), booking_id, ..About::default() };
        history::insert(tx, partner.id(), Event::TokenIssued, &about)?;
        Ok(reply::ok(&TokenReply { status: true, message: String::new(), token }))
    })
}

impl Request {
    fn read(site: &Site, call: &Call) -> Result<Request, Failure> {
        let mut body = call.fields()?;
        let member_id = body.required("member_id", fields::id);
        let member_pin = body.required("member_pin", fields::code(32));
        let booking = if BOOKING_FIELDS.iter().any(|field| body.has(field)) {
            Some(read_booking(&mut body, fields::moment))
        } else {
            None
        };
        let tunnel_id = body.optional("tunnel_id", |value| Ok(fields::id(value).ok()));
        if let Some(Some(Some(tunnel_id))) = tunnel_id.peek()
            && !site.store.read(|tx| Ok(tunnels::exists(tx, *tunnel_id)?))?
        {
            body.refuse("tunnel_id", Text::new("field.unknown_tunnel"));
        }
        let ok = body.finish()?;
        let booking = booking.map(|read| read(&ok));
        Ok(Request { member_id: member_id.get(&ok), member_pin: member_pin.get(&ok), booking })
    }
}

/// Any field of a booking makes it one, and then three of them are needed. `moment`: how one is written there.
pub fn read_booking<M: Fn(&Value) -> Result<i64, Text> + Copy>(
    body: &mut Fields,
    moment: M,
) -> impl FnOnce(&fields::Judged) -> Booking + use<M> {
    let mut number = |field: &str| -> Unjudged<Option<i64>> { body.optional(field, fields::whole_in(0..=i64::MAX)) };
    let (registration_id, purchase_id, product_id) =
        (number("registration_id"), number("purchase_id"), number("product_id"));
    let purchase_date = body.optional("purchase_date", moment);
    let checkin_time = body.optional("checkin_time", moment);
    let flight_date = body.required("flight_date", moment);
    let minutes_booked = body.required("minutes_booked", fields::flight_minutes);
    let tunnel_id = body.required("tunnel_id", fields::id);
    |ok| Booking {
        registration_id: registration_id.get(ok),
        purchase_id: purchase_id.get(ok),
        purchase_date: purchase_date.get(ok),
        flight_date: flight_date.get(ok),
        minutes_booked: minutes_booked.get(ok),
        product_id: product_id.get(ok),
        tunnel_id: tunnel_id.get(ok),
        checkin_time: checkin_time.get(ok),
    }
}

/// Five misses pause the PIN; during the pause the right one gets the answer of a wrong one.
fn pin_is_right(site: &Site, tx: &Write, request: &Request) -> Result<bool, Failure> {
    let Some(known) = members::find_pin(tx, request.member_id)? else { return Ok(false) };
    if tx.now() < known.paused_until {
        return Ok(false);
    }
    let right = pin::is_right(site, tx, request.member_id, &request.member_pin)?;
    let misses = if right { 0 } else { known.misses + 1 };
    if misses >= PIN_MISSES_MAX {
        members::set_pin_misses(tx, request.member_id, 0, tx.now() + PIN_PAUSE_SECONDS)?;
        let detail = serde_json::json!({ "minutes": PIN_PAUSE_SECONDS / 60 }).to_string();
        notices::insert(tx, request.member_id, "notice.pin_paused", &detail)?;
    } else if misses != known.misses {
        members::set_pin_misses(tx, request.member_id, misses, 0)?;
    }
    Ok(right)
}

fn is_banned(tx: &Read, member_id: i64) -> Result<bool, Failure> {
    Ok(members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?.banned)
}

/// The answer to a wrong PIN, to whatever PIN it was. Nothing is written: the PIN was not looked at.
fn paused(call: &Call, seconds: i64) -> Reply {
    call.outcome.set(OutcomeWord::Delayed);
    pin_guesses::leave_no_trace(call);
    let message = call.say("booking.wrong_pin");
    let reply = reply::ok(&TokenReply { status: false, message, token: String::new() });
    reply.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
}

/// A refusal is a reply, and the history knows of it.
fn refuse(tx: &Write, call: &Call, partner: &Partner, request: &Request, reason: &'static str) -> Answer {
    let detail = serde_json::json!({ "reason": reason }).to_string();
    let about = About { member_id: Some(request.member_id), detail: Some(&detail), ..About::default() };
    history::insert(tx, partner.id(), Event::TokenRefused, &about)?;
    Ok::<Reply, Failure>(reply::ok(&TokenReply { status: false, message: call.say(reason), token: String::new() }))
}
