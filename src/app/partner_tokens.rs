//! A member's PIN for a token, and the booking that a partner sends with it.

use super::bookings::of_partner::{self, Answer as Booked};
use super::{Change, RankedActor, bookings as booked, change_once, events, flights};
use crate::auth::limits::booking_pins;
use crate::auth::{Partner, new_token, pin};
use crate::domain::audit::ActorId;
use crate::domain::booking::{Booking, Denial};
use crate::domain::ids::{BookingId, MemberId, TunnelId};
use crate::http::answer::{Number, Word};
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::field_types::FlightMinutes;
use crate::i18n::language::TextKey;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::bookings::{self, BookingRow, Ending};
use crate::store::tables::events::{About, Event};
use crate::store::tables::{joins, members, sessions};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};
use serde_json::json;
use subtle::ConstantTimeEq;

const TOKEN_SECONDS: i64 = 24 * 3600;

/// A request for a token, as a partner sent it.
pub(crate) struct Sent {
    pub member_id: MemberId,
    pub member_pin: String,
    pub booking: Option<Booking>,
}

crate::answer! {
    #[derive(Deserialize)]
    pub(crate) inline struct BookingState {
        /// The booking's number here.
        booking_id: BookingId = 88,
        /// Your number.
        registration_id: Option<Number> = 7001,
        /// When the flight is.
        flight_date: Moment = 1780086400,
        minutes_booked: FlightMinutes = 15,
        tunnel_id: TunnelId = 1,
        /// How the booking ended without a flight; null where it is in force.
        ended: Option<Word<Ending>> ["cancelled", "no_show"],
        /// When it ended.
        ended_at: Option<Moment>,
        /// When the member checked in.
        arrived_at: Option<Moment>,
    }
}

impl From<&BookingRow> for BookingState {
    fn from(row: &BookingRow) -> BookingState {
        BookingState {
            booking_id: row.booking_id,
            registration_id: row.booking.registration_id,
            flight_date: row.booking.flight_date,
            minutes_booked: row.booking.minutes_booked,
            tunnel_id: row.booking.tunnel_id,
            ended: row.ending,
            ended_at: row.ended_at,
            arrived_at: row.arrived_at,
        }
    }
}

/// What a request for a token came to.
#[derive(Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// A token, and the booking that the request sent, as it stands.
    Issued {
        token: String,
        may_check_in: Option<bool>,
        booking: Option<BookingState>,
        /// The day and the minutes to which the desk moved the booking.
        moved: Option<(Moment, i64)>,
    },
    /// The booking stands without a token, because the member has renewed the PIN.
    PinRenewed {
        may_check_in: Option<bool>,
        booking: BookingState,
        moved: Option<(Moment, i64)>,
    },
    /// The booking has ended at this moment, and stays so.
    Ended {
        reason: TextKey,
        at: Moment,
        booking: BookingState,
    },
    Refused(TextKey),
    /// As [`Outcome::Refused`], of a request that sent a known booking, which stays as it is.
    BookingRefused {
        reason: TextKey,
        booking: BookingState,
    },
    /// Unread, whatever the PIN: PINs of this partner are paused. Never kept.
    Paused {
        seconds: i64,
    },
}

/// What the presented PIN is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PinCheck {
    /// The member's PIN.
    Right,
    /// The PIN that came with the booking before, which the member has renewed since.
    Outdated,
    Wrong,
}

/// Takes a request for a token, with the booking that it sends, if any. A wrong PIN is an outcome, so that it is counted.
pub(crate) fn take(site: &Site, call: &Call, partner: &Partner, sent: &Sent) -> Result<Outcome, Failure> {
    let Sent { member_id: sent_as, member_pin, booking } = sent;
    let actor = RankedActor::outside(ActorId::Partner(partner.client_id().to_owned()), call);
    change_once(site, call, actor, |cx| {
        let member_id = joins::survivor_of(cx.tx, *sent_as)?;
        let known = match booking {
            Some(booking) => booked::find_known(cx.tx, partner.id(), member_id, booking)?,
            None => None,
        };
        let own = known.as_ref().filter(|known| known.member_id == member_id);
        let kept = own.map_or(Ok(None), |known| bookings::find_pin_hash(cx.tx, known.booking_id))?;
        let request = Request { cx, call, partner, member_id };
        let kept = kept.map(|kept| (kept, pin::hash(site, *sent_as, member_pin)));
        match (check_pin(site, cx.tx, member_id, member_pin, kept)?, booking) {
            (PinCheck::Wrong, _) => request.refuse_pin("booking.wrong_pin"),
            (pin, Some(booking)) => request.book(pin, member_pin, booking, known),
            (_, None) => request.read_only(),
        }
    })
}

/// A request with a right PIN, or one that was right.
struct Request<'a> {
    cx: &'a Change<'a>,
    call: &'a Call,
    partner: &'a Partner,
    member_id: MemberId,
}

impl Request<'_> {
    fn book(
        &self,
        pin: PinCheck,
        member_pin: &str,
        sent: &Booking,
        known: Option<BookingRow>,
    ) -> Result<Outcome, Failure> {
        let Request { cx, call, partner, member_id } = *self;
        let is_outdated = pin == PinCheck::Outdated;
        let row = match of_partner::book(cx, (partner.id(), member_id), sent, known, is_outdated)? {
            Booked::InForce(row) => row,
            Booked::Denied(denial, None) => return self.refuse(denial.key()),
            Booked::Denied(denial, Some(row)) => return self.refuse_booking(denial.key(), &row),
            Booked::Ended(row) => return self.refuse_ended(&row),
            Booked::Arrived(row) => return self.refuse_booking("booking.arrived_stays", &row),
            // Counted as a wrong PIN, which it is for this request.
            Booked::NeedsPin(row) => {
                booking_pins::count_wrong(cx.site, cx.tx, member_id)?;
                self.note_wrong_pin()?;
                return self.refuse_booking("booking.pin_outdated", &row);
            }
        };
        call.is_about_booking(row.booking_id);
        let is_moved = row.sent_flight_date.is_some() || row.sent_minutes.is_some();
        let moved = is_moved.then_some((row.booking.flight_date, row.booking.minutes_booked));
        let may_check_in = match row.booking.tunnel_id == cx.site.tunnel_id {
            true => flights::may_check_in(cx.site, cx.tx, member_id, row.booking.flight_date)?,
            false => None,
        };
        let booking = BookingState::from(&row);
        if is_outdated {
            return Ok(Outcome::PinRenewed { may_check_in, booking, moved });
        }
        bookings::set_pin_hash(cx.tx, row.booking_id, &pin::hash(cx.site, member_id, member_pin))?;
        let token = self.issue(Some(row.booking_id))?;
        Ok(Outcome::Issued { token, may_check_in, booking: Some(booking), moved })
    }

    /// A token without a booking only reads: being unpaid or unconfirmed is nothing against it, a ban is.
    fn read_only(&self) -> Result<Outcome, Failure> {
        if is_banned(self.cx.tx, self.member_id)? {
            return self.refuse(Denial::Banned.key());
        }
        Ok(Outcome::Issued { token: self.issue(None)?, may_check_in: None, booking: None, moved: None })
    }

    fn issue(&self, booking_id: Option<BookingId>) -> Result<String, Failure> {
        let tx = self.cx.tx;
        let (token, hash) = new_token();
        self.call.issues_token(&hash);
        sessions::insert_booking_token(tx, &hash, self.member_id, booking_id, tx.now() + TOKEN_SECONDS)?;
        events::tell(tx, Event::TokenIssued, &About { booking_id, ..self.about() })?;
        Ok(token)
    }

    fn refuse_pin(&self, key: &'static str) -> Result<Outcome, Failure> {
        self.note_wrong_pin()?;
        self.refuse(key)
    }

    fn note_wrong_pin(&self) -> Result<(), Failure> {
        let Request { cx, call, partner, .. } = *self;
        call.outcome.set(AuthOutcome::WrongCredentials);
        booking_pins::count_wrong_by_partner(cx.site, call, cx.tx, partner.id())
    }

    fn refuse_ended(&self, row: &BookingRow) -> Result<Outcome, Failure> {
        let key = match row.ending {
            Some(Ending::NoShow) => "booking.was_missed",
            _ => "booking.was_cancelled",
        };
        self.call.is_about_booking(row.booking_id);
        self.record_refusal(key, Some(row.booking_id))?;
        let at = row.ended_at.unwrap_or(row.updated_at);
        Ok(Outcome::Ended { reason: key.into(), at, booking: row.into() })
    }

    fn refuse_booking(&self, key: &'static str, row: &BookingRow) -> Result<Outcome, Failure> {
        self.call.is_about_booking(row.booking_id);
        self.record_refusal(key, Some(row.booking_id))?;
        Ok(Outcome::BookingRefused { reason: key.into(), booking: row.into() })
    }

    fn refuse(&self, key: &'static str) -> Result<Outcome, Failure> {
        self.record_refusal(key, None)?;
        Ok(Outcome::Refused(key.into()))
    }

    /// A refusal is an outcome, and the history knows of it.
    fn record_refusal(&self, reason: &'static str, booking_id: Option<BookingId>) -> Result<(), Failure> {
        let detail = json!({ "reason": reason }).to_string();
        let about = About { booking_id, data: Some(&detail), ..self.about() };
        events::tell(self.cx.tx, Event::TokenRefused, &about)
    }

    fn about(&self) -> About<'static> {
        let mut about = About::partner(self.partner.id());
        about.concerned.member_id = Some(self.member_id);
        about
    }
}

/// Checks the PIN; `kept`: the hash of the PIN that came with the booking before, and that of this one under the number that
/// was sent, which may be that of an account that was joined since. Five wrong PINs pause it; during the pause
/// every PIN is refused as a wrong one.
fn check_pin(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    member_pin: &str,
    kept: Option<([u8; 32], [u8; 32])>,
) -> Result<PinCheck, Failure> {
    if members::find_standing(tx, member_id)?.is_none() || booking_pins::is_paused(site, tx, member_id, tx.now())? {
        return Ok(PinCheck::Wrong);
    }
    if pin::is_right(site, tx, member_id, member_pin)? {
        booking_pins::forget(site, tx, member_id)?;
        return Ok(PinCheck::Right);
    }
    if kept.is_some_and(|(kept, presented)| bool::from(kept.ct_eq(&presented))) {
        return Ok(PinCheck::Outdated);
    }
    booking_pins::count_wrong(site, tx, member_id)?;
    Ok(PinCheck::Wrong)
}

fn is_banned(tx: &Read, member_id: MemberId) -> Result<bool, Failure> {
    Ok(members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?.banned)
}
