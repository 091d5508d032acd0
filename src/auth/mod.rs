//! Credentials in, principals out. Only this module makes a principal and calls an operation.

pub(crate) mod board;
mod callback;
pub(crate) mod challenge;
pub(crate) mod clerk;
pub(crate) mod clerk_switch;
pub(crate) mod confirmation;
mod cookie;
pub(crate) mod device;
pub(crate) mod hidden_callers;
pub(crate) mod idempotency;
pub(crate) mod kiosk;
pub mod limits;
pub(crate) mod listening;
pub(crate) mod origin;
pub(crate) mod own;
mod partner;
pub(crate) mod passcode;
pub(crate) mod passkey;
pub mod pin;
pub(crate) mod refusals;
pub mod second_factor;
pub(crate) mod second_step;
pub mod security_event;
mod session;
pub(crate) mod sign_in;
pub(crate) mod signer;
pub(crate) mod social;
mod standby;
pub(crate) mod undo;

pub(crate) use board::Board;
pub(crate) use callback::{Callback, DeletionRequest, MailEvents, PaymentCaller, Processor, SignedRequest};

pub(crate) use clerk::Clerk;
pub(crate) use kiosk::{Guest, Kiosk};
pub use limits::RateLimiter;
pub(crate) use limits::count_document;
pub(crate) use listening::Listening;
pub(crate) use partner::{Partner, expected, new_secret};
pub(crate) use session::{Bearer, Member, Staff, check_fresh, member_if_any, presented_session};
pub use session::{new_token, token_hash};
pub(crate) use standby::Standby;

use crate::auth::refusals::Refusals;
use crate::http::Answer;
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::http::row::CallerKind;
use crate::site::Site;
use crate::store::Condition;

/// An operation, with the principal that it requires as part of its type.
pub enum Access {
    /// Anyone.
    Open(fn(&Site, &Call) -> Answer),
    /// A member's session.
    Member(fn(&Site, &Call, &Member) -> Answer),
    /// A member's session, or the token of a booking.
    Bearer(fn(&Site, &Call, &Bearer) -> Answer),
    /// A session of the desk, an admin or a job that reads reports.
    Staff(fn(&Site, &Call, &Staff) -> Answer),
    /// A member's session, a ticket of one, or a partner by its signature, to hear of events.
    Listening(fn(&Site, &Call, &Listening) -> Answer),
    /// A partner, by its signature.
    Partner(fn(&Site, &Call, &Partner) -> Answer),
    /// A third party, by the signature of its own scheme.
    Callback(Callback),
    /// The standby of this site, by its token.
    Standby(fn(&Site, &Call, &Standby) -> Answer),
    /// A browser, signed in or not. A request that changes something must come from a page of ours.
    Page(fn(&Site, &Call) -> Answer),
    /// A browser in which a clerk is signed in. Other browsers are redirected to the sign-in.
    Desk(fn(&Site, &Call, &Clerk) -> Answer),
    /// A browser that was paired as a kiosk. Other browsers are redirected to the page for pairing.
    Kiosk(fn(&Site, &Call, &Kiosk) -> Answer),
    /// A browser that was paired as a board. Other browsers are redirected to the page for pairing.
    Board(fn(&Site, &Call, &Board) -> Answer),
    /// A kiosk at which a member is signed in; without one the kiosk shows its first page.
    Guest(fn(&Site, &Call, &Guest) -> Answer),
    /// A browser in which a member is signed in to the own pages. Other browsers are redirected to the sign-in.
    Own(fn(&Site, &Call, &Member) -> Answer),
}

impl Access {
    pub(crate) const fn caller_kind(&self) -> CallerKind {
        match self {
            Access::Open(_) => CallerKind::Open,
            Access::Member(_) => CallerKind::Member,
            Access::Bearer(_) => CallerKind::Bearer,
            Access::Staff(_) => CallerKind::Staff,
            Access::Listening(_) => CallerKind::Listening,
            Access::Partner(_) => CallerKind::Partner,
            Access::Callback(_) => CallerKind::Callback,
            Access::Standby(_) => CallerKind::Standby,
            Access::Page(_) => CallerKind::Page,
            Access::Desk(_) => CallerKind::Desk,
            Access::Kiosk(_) => CallerKind::Kiosk,
            Access::Board(_) => CallerKind::Board,
            Access::Guest(_) => CallerKind::Guest,
            Access::Own(_) => CallerKind::Own,
        }
    }
}

/// Runs a partner's operation. A refusal is noted for the partner's page.
fn admit_partner(site: &Site, call: &Call, operation: fn(&Site, &Call, &Partner) -> Answer) -> Answer {
    let partner = partner::admit(site, call)?;
    let identified = idempotency::identify(site, call, call.principal.get());
    let answer = identified.and_then(|()| operation(site, call, &partner));
    let answer = answer.inspect_err(|failure| {
        site.state::<Refusals>().note(call, site.now(), Some(partner.id()), failure, failure.text().clone());
    });
    answer.map(|reply| partner.tell_pace(site, reply))
}

fn admit_board(site: &Site, call: &Call, page: fn(&Site, &Call, &Board) -> Answer) -> Answer {
    origin::check(site, call)?;
    let Some(board) = board::find(site, call)? else { return Ok(board::to_start()) };
    limits::REQUESTS.take(site, board.id())?;
    page(site, call, &board)
}

/// Authenticates the caller, refuses callers without the required credentials, and runs the operation.
pub(crate) fn admit(site: &Site, call: &Call, access: &Access) -> Answer {
    let full = site.store.writer().condition() == Condition::Full;
    if full && !call.reads() && !call.row.when_full {
        return Err(Failure::disk_full().because("the remaining disk space is for sign-in"));
    }
    match access {
        Access::Open(operation) => {
            idempotency::identify(site, call, PrincipalId::Anyone)?;
            operation(site, call)
        }
        Access::Member(operation) => {
            let member = session::member(site, call)?;
            limits::count_request(site, call)?;
            idempotency::identify(site, call, call.principal.get())?;
            operation(site, call, &member)
        }
        Access::Bearer(operation) => {
            let bearer = session::bearer(site, call)?;
            limits::count_request(site, call)?;
            idempotency::identify(site, call, call.principal.get())?;
            operation(site, call, &bearer)
        }
        Access::Staff(operation) => {
            let staff = session::staff(site, call)?;
            // Reports are read by `POST`, which is no change.
            limits::REQUESTS.take(site, call.principal.get())?;
            idempotency::identify(site, call, call.principal.get())?;
            operation(site, call, &staff)
        }
        Access::Listening(operation) => operation(site, call, &listening::admit(site, call)?),
        Access::Partner(operation) => admit_partner(site, call, *operation),
        Access::Callback(callback) => callback::admit(site, call, callback),
        Access::Standby(operation) => operation(site, call, &standby::admit(site, call)?),
        Access::Page(page) => {
            origin::check(site, call)?;
            page(site, call)
        }
        Access::Desk(page) => {
            origin::check(site, call)?;
            let Some(clerk) = clerk::find(site, call)? else { return Ok(clerk::to_sign_in(call)) };
            clerk.check_row(call.row, site.now())?;
            limits::count_request(site, call)?;
            page(site, call, &clerk)
        }
        Access::Kiosk(page) => {
            origin::check(site, call)?;
            let Some(kiosk) = kiosk::find(site, call)? else { return Ok(kiosk::to_start()) };
            limits::REQUESTS.take(site, kiosk.id())?;
            if !call.reads() {
                limits::KIOSK_POSTS.take(site, kiosk.id())?;
            }
            idempotency::identify(site, call, PrincipalId::Anyone)?;
            page(site, call, &kiosk)
        }
        Access::Board(page) => admit_board(site, call, *page),
        Access::Guest(page) => {
            origin::check(site, call)?;
            let Some(kiosk) = kiosk::find(site, call)? else { return Ok(kiosk::to_start()) };
            let Some(guest) = kiosk::find_guest(site, call, &kiosk)? else { return Ok(kiosk::to_start()) };
            limits::count_request(site, call)?;
            page(site, call, &guest)
        }
        Access::Own(page) => {
            origin::check(site, call)?;
            let Some(member) = own::find(site, call)? else { return Ok(own::to_sign_in(call)) };
            limits::count_request(site, call)?;
            own::to_leaving(call, &member).map_or_else(|| page(site, call, &member), Ok)
        }
    }
}
