//! Somebody has come for a booking, or has not after all.

use super::record;
use crate::call::Call;
use crate::domain::audit::Detail;
use crate::failure::Failure;
use crate::gate::Clerk;
use crate::language::Text;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::{bookings, members};

/// `POST /desk/bookings/{booking_id}/check-in`: the member is here. A second time changes nothing.
pub fn set(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    site.store.write(site.now(), |tx| {
        let member_id = bookings::find_member(tx, booking_id, site.tunnel_id)?.ok_or_else(Failure::not_found)?;
        let standing = members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?;
        // Whatever else is missing is settled at the desk; a ban is not.
        if standing.banned {
            return Err(Failure::not_allowed().saying(Text::new("desk.banned_no_check_in")));
        }
        if bookings::set_arrived(tx, booking_id, clerk.id())? > 0 {
            let detail = Detail::none().number("booking_id", booking_id);
            record(tx, clerk, "booking.checked_in", member_id, &detail)?;
        }
        Ok(reply::see_other(&format!("/desk?done=arrived#b{booking_id}")))
    })
}

/// `POST /desk/bookings/{booking_id}/check-in/undo`: that was somebody else.
pub fn unset(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    site.store.write(site.now(), |tx| {
        let member_id = bookings::find_member(tx, booking_id, site.tunnel_id)?.ok_or_else(Failure::not_found)?;
        bookings::unset_arrived(tx, booking_id)?;
        let detail = Detail::none().number("booking_id", booking_id);
        record(tx, clerk, "booking.check_in_undone", member_id, &detail)?;
        Ok(reply::see_other(&format!("/desk?done=undone#b{booking_id}")))
    })
}
