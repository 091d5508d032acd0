//! The bookings of today of a member and the children for whom the member acts.

use super::check_in;
use crate::app::{Change, family};
use crate::domain::ids::{BookingId, MemberId};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::{bookings, tunnels};

/// Bookings of one member on a day that are read.
const DAY_BOOKINGS_MAX: i64 = 12;

/// The bookings that wait for the check-in, the member's first: number and member.
fn list_waiting(
    site: &Site,
    tx: &Read,
    member_id: MemberId,
    now: Moment,
) -> Result<Vec<(BookingId, MemberId)>, Failure> {
    let day = site.arrivals_day(&tunnels::find_time_zone(tx, site.tunnel_id)?, now);
    let wards = family::list_wards(site, tx, member_id)?;
    let mut waiting = Vec::new();
    for flyer in std::iter::once(member_id).chain(wards.into_iter().map(|ward| ward.child_id)) {
        let own = bookings::list_own(tx, site.tunnel_id, flyer, day.from, day.to, DAY_BOOKINGS_MAX)?;
        waiting.extend(own.into_iter().filter(|one| one.arrived_at.is_none()).map(|one| (one.booking_id, flyer)));
    }
    Ok(waiting)
}

/// Whether children for whom a member acts wait for the check-in.
pub(crate) fn family_waits(site: &Site, tx: &Read, member_id: MemberId) -> Result<bool, Failure> {
    Ok(list_waiting(site, tx, member_id, site.now())?.iter().any(|(_, flyer)| *flyer != member_id))
}

/// Checks in every booking of today that waits, of a member and the children for whom the member acts; all or none, as
/// [`check_in`] each. Staff only. Returns the number of the first.
pub(crate) fn check_in_family(cx: &Change, member_id: MemberId) -> Result<Option<BookingId>, Failure> {
    cx.check_staff()?;
    let waiting = list_waiting(cx.site, cx.tx, member_id, cx.now())?;
    waiting.iter().try_for_each(|(booking_id, _)| check_in(cx, *booking_id).map(drop))?;
    Ok(waiting.first().map(|(booking_id, _)| *booking_id))
}
