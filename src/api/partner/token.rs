//! A member's PIN for a token, and the booking that comes with it.

use crate::app;
use crate::app::booking_fields::{BOOKING_FIELDS, BOOKING_MOMENTS, BookingFields, REQUIRED_FIELDS};
use crate::app::partner_tokens::{self, BookingState, Outcome, Sent};
use crate::auth::Partner;
use crate::auth::limits::booking_pins;
use crate::domain::booking::Booking;
use crate::domain::when;
use crate::http::Answer;
use crate::http::body::Flattened;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::field_types::{Digits, Id};
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::tunnels;
use http::{HeaderValue, header};
use serde::Serialize;
use serde_json::json;

#[derive(Default, Serialize)]
struct TokenReply {
    status: bool,
    message: String,
    token: String,
    /// On a site that asks for waivers, with a booking: whether the member may be checked in for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    may_check_in: Option<bool>,
    /// The booking that the request sent, as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    booking: Option<BookingState>,
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
    let outcome = app::once(site, call, || {
        let TokenRequest { member_id, member_pin, booking } = TokenRequest::read(site, call)?;
        match site.store.read(|tx| booking_pins::partner_paused_for(site, tx, partner.id(), site.now()))? {
            0 => {
                let sent = Sent { member_id, member_pin, booking: booking.complete() };
                partner_tokens::take(site, call, partner, &sent)
            }
            seconds => {
                // Nothing is written: guesses during a pause would fill the disk as fast as they come.
                call.outcome.set(AuthOutcome::Delayed);
                Ok(Outcome::Paused { seconds })
            }
        }
    })?;
    rendered(site, call, outcome)
}

fn rendered(site: &Site, call: &Call, outcome: Outcome) -> Answer {
    let moved_to = |moved: Option<(i64, i64)>| moved.map(|to| describe_move(site, call, to)).transpose();
    Ok(match outcome {
        Outcome::Issued { token, may_check_in, booking, moved } => {
            let message = moved_to(moved)?.unwrap_or_default();
            reply::ok(&TokenReply { status: true, message, token, may_check_in, booking })
        }
        Outcome::PinRenewed { may_check_in, booking, moved } => {
            let words: Vec<String> = moved_to(moved)?.into_iter().chain([call.say("booking.pin_renewed")]).collect();
            let (message, booking) = (words.join(" "), Some(booking));
            reply::ok(&TokenReply { status: true, message, token: String::new(), may_check_in, booking })
        }
        Outcome::Ended { reason, at, booking } => {
            let text = Text::from(reason).with("when", moment(site, call, at)?);
            let message = call.language().say(&text);
            reply::ok(&TokenReply { message, booking: Some(booking), ..TokenReply::default() })
        }
        Outcome::BookingRefused { reason, booking } => {
            let message = call.say(reason.name());
            reply::ok(&TokenReply { message, booking: Some(booking), ..TokenReply::default() })
        }
        Outcome::Refused(key) => reply::ok(&TokenReply { message: call.say(key.name()), ..TokenReply::default() }),
        Outcome::Paused { seconds } => {
            let message = call.say("booking.wrong_pin");
            let reply = reply::ok(&TokenReply { message, ..TokenReply::default() });
            reply.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
        }
    })
}

/// To which day and how many minutes the desk moved the booking.
fn describe_move(site: &Site, call: &Call, (flight_date, minutes): (i64, i64)) -> Result<String, Failure> {
    let text = Text::new("booking.was_moved").with("when", moment(site, call, flight_date)?);
    Ok(call.language().say(&text.with("minutes", minutes)))
}

/// A moment in words, by the tunnel's clock.
fn moment(site: &Site, call: &Call, at: i64) -> Result<String, Failure> {
    Ok(when::moment(call.language(), &site.time_zone()?, at))
}

impl TokenRequest {
    fn read(site: &Site, call: &Call) -> Result<TokenRequest, Failure> {
        let mut fields = call.fields()?;
        fields.ignore_zeros(&BOOKING_MOMENTS);
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
