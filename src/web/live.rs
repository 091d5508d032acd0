//! Pages that are open hear when something changes which they show, and read themselves anew: *Today*, the board, a guest's page at a
//! kiosk, and a member's own pages. They are streams as those of `GET /api/events`, by the cookie of the page. None says what changed,
//! so that whoever has the key of a screen learns from it no more than the screen shows.

use crate::auth::{Board, Clerk, Guest, Member};
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply::{self, Hears, Holder, Listener};
use crate::site::Site;

/// `GET /desk/live`: what the pages of the hall show.
pub(crate) fn desk(_: &Site, _: &Call, clerk: &Clerk) -> Answer {
    hear(Holder::Session { member_id: clerk.id(), session: *clerk.session(), staff: true }, None)
}

/// `GET /board/live`: what the pages of the hall show.
pub(crate) fn board(_: &Site, _: &Call, board: &Board) -> Answer {
    hear(Holder::Board(board.id()), None)
}

/// `GET /kiosk/live`: what is about the guest.
pub(crate) fn guest(_: &Site, _: &Call, guest: &Guest) -> Answer {
    let member_id = guest.member_id();
    hear(Holder::Guest { kiosk_id: guest.kiosk_id(), member_id }, Some(member_id))
}

/// `GET /me/live`: what is about the member, also for staff.
pub(crate) fn member(_: &Site, _: &Call, member: &Member) -> Answer {
    let member_id = member.id();
    hear(Holder::Session { member_id, session: *member.session(), staff: false }, Some(member_id))
}

fn hear(holder: Holder, of: Option<MemberId>) -> Answer {
    Ok(reply::stream(Listener { holder, ticket: None, hears: Hears::Changes { of } }))
}
