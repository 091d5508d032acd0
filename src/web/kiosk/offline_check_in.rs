//! A check-in that a kiosk took while the server was unreachable and sends afterwards, with an idempotency key.

use crate::app::{self, RankedActor};
use crate::auth::Kiosk;
use crate::auth::kiosk;
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::web::read_form;

const TICKET_CHARS_MAX: usize = 200;

/// `POST /kiosk/kept`: checks in the booking of a ticket at the time `at`. A page of a signed-in guest held the ticket, which is
/// valid for one booking at one kiosk. The time is clamped between the ticket's issue and now.
pub(crate) fn check_in(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    let (ticket, at) = read_form(call, |form| {
        (form.required("ticket", fields::line(TICKET_CHARS_MAX)), form.required("at", fields::moment))
    })?;
    let ticket = site.store.read(|tx| kiosk::read_ticket(site, tx, kiosk, &ticket))?;
    let ticket = ticket.ok_or_else(|| Failure::field("ticket", Text::new("kiosk.kept_late")))?;
    app::change_once(
        site,
        call,
        RankedActor::account(ticket.member_id, Role::Member, &call.actor(ticket.member_id)),
        |cx| {
            let at = at.clamp(ticket.issued_at, cx.now().max(ticket.issued_at));
            _ = app::bookings::check_in_at(cx, ticket.booking_id, at)?;
            Ok(reply::done(call.say("kiosk.done_arrived")))
        },
    )
}
