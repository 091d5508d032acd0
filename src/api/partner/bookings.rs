//! A partner's own bookings: reading them as they stand, and cancelling one. A partner's signature covers these requests
//! whole: a signature of an empty body alone would make every captured `GET` a licence to cancel.

use super::reports::Booking;
use crate::app::bookings::of_partner;
use crate::app::{self, RankedActor};
use crate::auth::Partner;
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::body::Flattened;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings::{self, Filter};
use serde_json::json;

crate::answer! {
    /// One booking, as the answer to a request about it.
    struct OwnBooking {
        status: True,
        message: String = "",
        booking: Flattened<Booking>,
    }
}

crate::answer! {
    /// The partner's bookings, newest first.
    struct PartnerBookingList = Vec<Booking>;
}

crate::operation! {
    /// List your bookings
    ///
    /// Your bookings as they stand, newest first: what the desk, a kiosk or the member did to them is in
    /// `flight_date`, `minutes_booked`, `ended` and `arrived_at`.
    LIST = "listOwnBookings"
        .answers::<PartnerBookingList>("The bookings.")
}

pub(crate) fn list(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let page = call.page()?;
    let filter = Filter { partner_id: Some(partner.id()), ..Filter::default() };
    site.store.read(|tx| {
        let rows = bookings::list(tx, &filter, page.limit, page.offset)?;
        Ok(reply::list(call, page, bookings::count(tx, &filter)?, rows.into_iter().map(Booking::from)))
    })
}

crate::operation! {
    /// Read one of your bookings
    ///
    /// By the number that the booking's answer had. Those of other partners are 404.
    GET = "getOwnBooking"
        .answers::<OwnBooking>("The booking as it stands.")
        .example(|| json!({ "arrived_at": 1780085000 }))
}

pub(crate) fn get(site: &Site, call: &Call, partner: &Partner) -> Answer {
    site.store.read(|tx| {
        let row = of_partner::find(tx, partner.id(), call.param(0))?;
        Ok(reply::ok(&OwnBooking { status: true, message: String::new(), booking: row.into() }))
    })
}

crate::operation! {
    /// Cancel one of your bookings
    ///
    /// Takes no PIN. The flight time that the booking entered is removed, and the member is notified. A second time
    /// changes nothing. **409** where the member has checked in or was marked as missing.
    CANCEL = "cancelOwnBooking"
        .refuses(&["BookingState"])
        .answers::<OwnBooking>("Cancelled; the booking as it stands.")
        .example(|| json!({
            "message": "Cancelled.", "entry_id": null, "ended": "cancelled", "ended_at": 1780003600,
            "arrived_at": null, "updated_at": 1780003600,
        }))
}

pub(crate) fn cancel(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let actor = RankedActor::outside(ActorId::Partner(partner.client_id().to_owned()), call);
    let row = app::change(site, actor, call.language(), |cx| of_partner::cancel(cx, partner.id(), call.param(0)))?;
    let message = call.say("booking.done_cancelled");
    Ok(reply::ok(&OwnBooking { status: true, message, booking: row.into() }))
}
