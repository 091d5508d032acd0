//! A member's own bookings.

use crate::api::partner::reports::Booking;
use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings::{self, Filter};

crate::answer! {
    /// The caller's bookings, latest flight first.
    struct OwnBookingList = Vec<Booking>;
}

crate::operation! {
    /// The member's bookings
    ///
    /// Latest flight first.
    HISTORY = "bookingHistory"
        .answers::<OwnBookingList>("The bookings.")
}

pub(crate) fn history(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let filter = Filter { member_id: Some(member.id()), ..Filter::default() };
    site.store.read(|tx| {
        let rows = bookings::list(tx, &filter, page.limit, page.offset)?;
        Ok(reply::list(call, page, bookings::count(tx, &filter)?, rows.into_iter().map(Booking::from)))
    })
}
