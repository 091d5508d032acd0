//! Check-in of a booking, and its undoing.

use super::bookings::{refuse, to_day};
use super::members::waiver;
use crate::app::{self, bookings};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::bookings::find;
use crate::web::path_id;

/// `POST /desk/bookings/{booking_id}/check-in`. A second check-in changes nothing. Where the waiver is missing, the reply
/// leads to the member's waiver page.
pub(crate) fn check_in(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = path_id(call, 0)?;
    match app::change(site, clerk, call.language(), |cx| bookings::check_in(cx, booking_id)) {
        Err(failure) if failure.is(Failure::waiver_missing) => {
            let known = site.store.read(|tx| Ok(find(tx, booking_id, site.tunnel_id)?))?;
            let member_id = known.ok_or_else(Failure::not_found)?.member_id;
            return Ok(reply::see_other(&waiver::path(member_id)));
        }
        Err(failure) => return refuse(site, call, clerk, failure),
        Ok(_) => {}
    }
    Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, "arrived")?))
}

/// `POST /desk/bookings/{booking_id}/check-in/settle`: a check-in that a kiosk had promised and that was refused is dealt with.
pub(crate) fn settle(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = path_id(call, 0)?;
    let settle = |cx: &app::Change| bookings::settle_refused_check_in(cx, booking_id);
    let member_id = app::change(site, clerk, call.language(), settle)?;
    Ok(reply::see_other(&format!("/desk/members/{member_id}?done=settled")))
}

/// `POST /desk/bookings/{booking_id}/check-in/undo`.
pub(crate) fn undo(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = path_id(call, 0)?;
    _ = app::change(site, clerk, call.language(), |cx| bookings::undo_check_in(cx, booking_id))?;
    Ok(reply::see_other(&to_day(site, &site.time_zone()?, booking_id, "undone")?))
}
