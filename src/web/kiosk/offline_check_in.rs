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
use http::StatusCode;

const TICKET_CHARS_MAX: usize = 200;

/// `POST /kiosk/kept`: checks in the booking of a ticket at the time `at`. A page of a signed-in guest held the ticket, which is
/// valid for one booking at one kiosk. The time is clamped between the ticket's issue and now. A refusal
/// of what the kiosk had told the guest is `noted` waits for the desk; otherwise the guest is still there, and reads the reason.
pub(crate) fn check_in(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    app::once(site, call, || carry_out(site, call, kiosk))?;
    Ok(reply::done(call.say("kiosk.done_arrived")))
}

fn carry_out(site: &Site, call: &Call, kiosk: &Kiosk) -> Result<(), Failure> {
    let (ticket, at, is_noted) = read_form(call, |form| {
        let ticket = form.required("ticket", fields::line(TICKET_CHARS_MAX));
        (ticket, form.required("at", fields::moment), form.line("noted", 5) == "yes")
    })?;
    let ticket = site.store.read(|tx| kiosk::read_ticket(site, tx, kiosk, &ticket))?;
    let ticket = ticket.ok_or_else(late)?;
    let guest = RankedActor::account(ticket.member_id, Role::Member, &call.actor(ticket.member_id));
    let at = at.clamp(ticket.issued_at, site.now().max(ticket.issued_at));
    let arrived = match ticket.is_over {
        true => Err(late()),
        false => app::change_once(site, call, guest.clone(), |cx| {
            app::bookings::check_in_at(cx, ticket.booking_id, at).map(|_| ())
        }),
    };
    // A kiosk that was too fast sends the check-in again.
    if let Err(failure) = &arrived
        && is_noted
        && failure.status().is_client_error()
        && failure.status() != StatusCode::TOO_MANY_REQUESTS
    {
        app::change(site, guest, call.language(), |cx| {
            app::bookings::note_refused_check_in(cx, ticket.booking_id, at, failure)
        })?;
    }
    arrived
}

fn late() -> Failure {
    Failure::field("ticket", Text::new("kiosk.kept_late"))
}
