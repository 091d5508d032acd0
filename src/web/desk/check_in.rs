//! Somebody has come for a booking, or has not after all.

use super::bookings::to_day;
use super::members::waiver;
use crate::app::{self, bookings};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings::find;

/// `POST /desk/bookings/{booking_id}/check-in`: the member is here. A second time changes nothing. Who may not fly
/// without a waiver is led to the page of it.
pub(crate) fn set(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    match app::change(site, clerk, call.language(), |cx| bookings::check_in(cx, booking_id)) {
        // Signed, decided or overridden there.
        Err(failure) if failure.code() == Failure::waiver_missing().code() => {
            let known = site.store.read(|tx| Ok(find(tx, booking_id, site.tunnel_id)?))?;
            let member_id = known.ok_or_else(Failure::not_found)?.member_id;
            return Ok(reply::see_other(&waiver::path(member_id)));
        }
        checked_in => _ = checked_in?,
    }
    Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, "arrived")?))
}

/// `POST /desk/bookings/{booking_id}/check-in/undo`: that was somebody else.
pub(crate) fn unset(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    _ = app::change(site, clerk, call.language(), |cx| bookings::undo_check_in(cx, booking_id))?;
    Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, "undone")?))
}
