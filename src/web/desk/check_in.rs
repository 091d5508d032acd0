//! Somebody has come for a booking, or has not after all.

use crate::auth::Clerk;
use crate::domain::audit::Detail;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::{bookings, members};
use crate::web::record;

/// `POST /desk/bookings/{booking_id}/check-in`: the member is here. A second time changes nothing.
pub fn set(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let booking_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    site.store.write(site.now(), |tx| {
        if let Some(member_id) = arrive(site, tx, booking_id, clerk.id())? {
            let detail = Detail::none().number("booking_id", booking_id);
            record(tx, clerk, "booking.checked_in", member_id, &detail)?;
        }
        Ok(reply::see_other(&format!("/desk?done=arrived#b{booking_id}")))
    })
}

/// The rule of it, at the desk and at a kiosk; `by` whom is a member's number. Returns whose booking it is, unless somebody
/// was there already.
pub(crate) fn arrive(site: &Site, tx: &Write, booking_id: i64, by: i64) -> Result<Option<i64>, Failure> {
    let member_id = bookings::find_member(tx, booking_id, site.tunnel_id)?.ok_or_else(Failure::not_found)?;
    let standing = members::find_standing(tx, member_id)?.ok_or_else(Failure::not_found)?;
    // Whatever else is missing is settled at the desk; a ban is not.
    if standing.banned {
        return Err(Failure::not_allowed().saying(Text::new("desk.banned_no_check_in")));
    }
    Ok((bookings::set_arrived(tx, booking_id, by)? > 0).then_some(member_id))
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
