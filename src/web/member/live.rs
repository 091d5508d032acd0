//! What happens while a member's page is open: the same events as `GET /api/events`, by the cookie of the pages.

use crate::auth::Member;
use crate::auth::listening::resumed;
use crate::domain::event::{Audience, Choice};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply::{self, Hears, Holder, Listener};
use crate::site::Site;

/// `GET /me/events`: a stream of what is about the member, also for staff.
pub(crate) fn listen(_: &Site, call: &Call, member: &Member) -> Answer {
    let holder = Holder::Session { member_id: member.id(), session: *member.session(), staff: false };
    let hears =
        Hears::Events { audience: Audience::Member(member.id()), choice: Choice::default(), after: resumed(call) };
    Ok(reply::stream("", Listener { holder, ticket: None, hears }))
}
