//! A partner's own bookings: reading them as they stand, and cancelling one. A partner's signature covers these requests
//! whole: a signature of an empty body alone would make every captured `GET` a licence to cancel.

use super::reports::BookingReply;
use crate::app::bookings::of_partner;
use crate::app::{self, RankedActor};
use crate::auth::Partner;
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings::{self, Filter};
use serde::Serialize;

/// The answer about one booking: with `status` and `message`, like every answer that is no list.
#[derive(Serialize)]
struct OneBookingReply {
    status: bool,
    message: String,
    #[serde(flatten)]
    booking: BookingReply,
}

/// `GET /external/partner-metrics/bookings`: the partner's bookings, newest first.
pub(crate) fn list(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let page = call.page()?;
    let filter = Filter { partner_id: Some(partner.id()), ..Filter::default() };
    site.store.read(|tx| {
        let rows = bookings::list(tx, &filter, page.limit, page.offset)?;
        Ok(reply::list(call, page, bookings::count(tx, &filter)?, rows.into_iter().map(BookingReply::from)))
    })
}

/// `GET /external/partner-metrics/bookings/{registration_id}`: one booking. 404 where the partner has no such booking.
pub(crate) fn get(site: &Site, call: &Call, partner: &Partner) -> Answer {
    site.store.read(|tx| {
        let row = of_partner::find(tx, partner.id(), call.param(0))?;
        Ok(reply::ok(&OneBookingReply { status: true, message: String::new(), booking: row.into() }))
    })
}

/// `DELETE /external/partner-metrics/bookings/{registration_id}`: cancels a booking, without the member's PIN; a second time
/// changes nothing. 404 where the partner has no such booking; 409 where the member has come or was marked as missing.
pub(crate) fn cancel(site: &Site, call: &Call, partner: &Partner) -> Answer {
    let actor = RankedActor::outside(ActorId::Partner(partner.client_id().to_owned()), call);
    let row = app::change(site, actor, call.language(), |cx| of_partner::cancel(cx, partner.id(), call.param(0)))?;
    let message = call.say("booking.done_cancelled");
    Ok(reply::ok(&OneBookingReply { status: true, message, booking: row.into() }))
}
