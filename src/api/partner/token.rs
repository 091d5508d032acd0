//! A member's PIN for a token, and the booking that comes with it.

use crate::app;
use crate::app::booking_fields::{BOOKING_FIELDS, BOOKING_MOMENTS, BookingFields, REQUIRED_FIELDS};
use crate::app::partner_tokens::{self, BookingState, Outcome, Sent};
use crate::auth::Partner;
use crate::auth::limits::booking_pins;
use crate::domain::booking::Booking;
use crate::domain::ids::MemberId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::answer::Sometimes;
use crate::http::body::Flattened;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::field_types::Digits;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::tunnels;
use http::{HeaderValue, header};
use serde_json::json;

crate::answer! {
    #[derive(Default)]
    struct Token {
        /// Whether the booking stands as it was sent or moved; without a booking, whether a token was issued.
        status: bool = true,
        /// What became of the booking, or why there is no token; empty where nothing is to be said.
        message: String = "",
        /// The booking token; empty where none was issued.
        token: String = "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U",
        /// On a site that asks for waivers, with a booking: whether the site may check the member in for it as things
        /// stand. The booking is taken also where it may not; the reason is between the member and the site.
        may_check_in: Sometimes<bool>,
        /// The booking that the request sent, as it stands; also where the request is refused and the booking was
        /// sent before.
        booking: Sometimes<BookingState>,
    }
}

crate::body! {
    /// A request with any field of a booking is a booking; `flight_date`, `minutes_booked` and `tunnel_id` are then required.
    pub(crate) struct TokenRequest {
        /// The member who books.
        member_id: MemberId,
        /// The member's booking PIN, six digits. A number is read as six digits, leading zeros and all.
        member_pin: Digits<32>,
        booking: Flattened<BookingFields>,
    }
    also json!({
        "description": "A request with any field of a booking is a booking; `flight_date`, `minutes_booked` and `tunnel_id` are then required.",
    })
}

crate::operation! {
    /// Exchange a member's PIN for a token, and record a booking
    ///
    /// The member makes a PIN (`POST /account/profile/booking-pin`) and gives it to you. You get a token that is good
    /// for 24 hours, reads this member's profile and logbook, and edits the flight-time entry of this booking. With
    /// booking fields the booking is recorded: the same `registration_id` (else the same member, `purchase_id` and
    /// `flight_date`) is the same booking, and later values replace earlier ones. A new day lies between two days ago
    /// and two years ahead. A booking is taken also where the tunnel is full. A member who is a **current** flyer
    /// gets the minutes in the logbook; that flight time changes with `flight_date` and `minutes_booked` alone, so
    /// that a repeated booking undoes no edit of the member. Without booking fields the token only reads.
    ///
    /// `booking` is the booking as it stands, also when the site has changed it. A repeat of a booking that was
    /// **cancelled or missed** is `status: false`, with the day in `message`; with another day or other minutes it is
    /// booked anew, as it is sent then. A repeat of a booking that the desk **moved** is `true`, and `message` names
    /// the new day and minutes. Once the member has **checked in** another day is `status: false`. After the member
    /// has made a new PIN, the PIN that came with a booking before still repeats it, changes its day, or shortens it
    /// while it is in force: `status` is `true`, `token` empty, and `message` says why. That ends with a recovery, a
    /// ban, or a reset by the desk.
    ///
    /// A wrong PIN or a banned member is **200** with `status: false`, an empty `token` and the reason in `message`;
    /// with booking fields an unpaid membership and an unconfirmed e-mail address are too. `booking` shows then how a
    /// booking stands that was sent before. Five wrong PINs pause a member's PIN for 15 minutes. More than 30 wrong
    /// PINs in a short time, over all members, pause all PINs that you send for 15 minutes: each is refused as a
    /// wrong one, with `Retry-After`. The count falls by one wrong PIN a minute.
    GENERATE = "generateToken"
        .body(|| json!({
            "member_id": 1204, "member_pin": "481516", "registration_id": 7001, "flight_date": 1780086400,
            "minutes_booked": 15, "tunnel_id": 1,
        }))
        .refuses(&["BookingOfAnotherMember"])
        .answers::<Token>("A token, or in `message` why there is none.")
        .example(|| json!({
            "booking": {
                "booking_id": 88, "registration_id": 7001, "flight_date": 1780086400, "minutes_booked": 15,
                "tunnel_id": 1, "ended": null, "ended_at": null, "arrived_at": null,
            },
        }))
}

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
    let moved_to = |moved: Option<(Moment, i64)>| moved.map(|to| describe_move(site, call, to)).transpose();
    Ok(match outcome {
        Outcome::Issued { token, may_check_in, booking, moved } => {
            let message = moved_to(moved)?.unwrap_or_default();
            reply::ok(&Token { status: true, message, token, may_check_in, booking })
        }
        Outcome::PinRenewed { may_check_in, booking, moved } => {
            let words: Vec<String> = moved_to(moved)?.into_iter().chain([call.say("booking.pin_renewed")]).collect();
            let (message, booking) = (words.join(" "), Some(booking));
            reply::ok(&Token { status: true, message, token: String::new(), may_check_in, booking })
        }
        Outcome::Ended { reason, at, booking } => {
            let text = Text::from(reason).with("when", moment(site, call, at)?);
            let message = call.language().say(&text);
            reply::ok(&Token { message, booking: Some(booking), ..Token::default() })
        }
        Outcome::BookingRefused { reason, booking } => {
            let message = call.say(reason.name());
            reply::ok(&Token { message, booking: Some(booking), ..Token::default() })
        }
        Outcome::Refused(key) => reply::ok(&Token { message: call.say(key.name()), ..Token::default() }),
        Outcome::Paused { seconds } => {
            let message = call.say("booking.wrong_pin");
            let reply = reply::ok(&Token { message, ..Token::default() });
            reply.with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
        }
    })
}

/// To which day and how many minutes the desk moved the booking.
fn describe_move(site: &Site, call: &Call, (flight_date, minutes): (Moment, i64)) -> Result<String, Failure> {
    let text = Text::new("booking.was_moved").with("when", moment(site, call, flight_date)?);
    Ok(call.language().say(&text.with("minutes", minutes)))
}

/// A moment in words, by the tunnel's clock.
fn moment(site: &Site, call: &Call, at: Moment) -> Result<String, Failure> {
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
