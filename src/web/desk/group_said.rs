//! What *Today* says of a group that was just booked.

use super::bookings::ActionResult;
use super::members::lookup::name_of;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::bookings::find;
use crate::web::query_text;

/// In the query of *Today*: the bookings that were made together.
pub(super) const ALL: &str = "all";
/// The greatest number of members that one form books.
pub(super) const MEMBERS_MAX: usize = 20;

/// The message on the page of the day about a group that was just booked: everybody in it.
pub(super) fn done(site: &Site, call: &Call) -> Result<Option<ActionResult>, Failure> {
    let (mut names, mut minutes_each) = (Vec::new(), 0);
    site.store.read(|tx| {
        for booking_id in query_text(call, ALL).split(',').take(MEMBERS_MAX).filter_map(|one| one.parse().ok()) {
            if let Some(row) = find(tx, booking_id, site.tunnel_id)? {
                names.extend(name_of(tx, row.member_id)?);
                minutes_each = row.booking.minutes_booked;
            }
        }
        Ok::<_, Failure>(())
    })?;
    let text = Text::new("desk.said_booked_here").with("name", names.join(", ")).with("minutes", minutes_each);
    let message = call.language().say(&text);
    Ok((!names.is_empty()).then_some(ActionResult { message, undo: None }))
}
