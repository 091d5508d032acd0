//! Credentials in, principals out. Only this room makes a principal, and only it calls an operation.

pub mod allowance;
mod callback;
pub(crate) mod change;
pub(crate) mod clerk;
pub(crate) mod confirmation;
pub mod counters;
pub(crate) mod device;
pub(crate) mod kiosk;
mod origin;
mod partner;
pub(crate) mod passcode;
pub(crate) mod passkey;
pub mod pin;
pub(crate) mod pin_guesses;
mod rates;
pub(crate) mod refusals;
pub(crate) mod repeat;
pub mod second_factor;
pub mod security_event;
mod session;
pub(crate) mod sign_in;
pub(crate) mod signer;
pub(crate) mod social;
mod standby;
pub(crate) mod step;
pub(crate) mod undo;

pub(crate) use callback::{Callback, DeletionRequest, MailEvents, PaymentCaller, Processor, SignedRequest};

pub(crate) use clerk::Clerk;
pub(crate) use kiosk::{Guest, Kiosk};
pub(crate) use partner::{Partner, SIGNATURE_KEPT_SECONDS, expected, new_secret};
pub use rates::Rates;
pub(crate) use rates::{Caller, Pace, take_document, take_message};
pub(crate) use session::{Bearer, Member, Staff, member_if_any, presented_session};
pub use session::{new_token, token_hash};
pub(crate) use standby::Standby;

use crate::auth::refusals::Refusals;
use crate::http::Answer;
use crate::http::call::{Call, Who};
use crate::http::failure::Failure;
use crate::http::row::Demand;
use crate::site::Site;
use crate::store::Condition;

/// Who may call, as the type of the operation.
pub enum Access {
    /// Everybody.
    Open(fn(&Site, &Call) -> Answer),
    /// A member's session.
    Member(fn(&Site, &Call, &Member) -> Answer),
    /// A member's session, or the token of a booking.
    Bearer(fn(&Site, &Call, &Bearer) -> Answer),
    /// A session of the desk, an admin or a job that reads reports.
    Staff(fn(&Site, &Call, &Staff) -> Answer),
    /// A partner, by its signature.
    Partner(fn(&Site, &Call, &Partner) -> Answer),
    /// A third party, by the signature of its own scheme.
    Callback(Callback),
    /// The standby of this site, by its token.
    Standby(fn(&Site, &Call, &Standby) -> Answer),
    /// A browser, signed in or not. A request that changes something must come from a page of ours.
    Page(fn(&Site, &Call) -> Answer),
    /// A browser in which somebody of the desk is signed in; everybody else is sent to sign in.
    Desk(fn(&Site, &Call, &Clerk) -> Answer),
    /// A browser that was paired as a kiosk; every other is told how that is done.
    Kiosk(fn(&Site, &Call, &Kiosk) -> Answer),
    /// A kiosk at which a member is signed in; where nobody is, it begins anew.
    Guest(fn(&Site, &Call, &Guest) -> Answer),
}

impl Access {
    pub(crate) const fn demand(&self) -> Demand {
        match self {
            Access::Open(_) => Demand::Open,
            Access::Member(_) => Demand::Member,
            Access::Bearer(_) => Demand::Bearer,
            Access::Staff(_) => Demand::Staff,
            Access::Partner(_) => Demand::Partner,
            Access::Callback(_) => Demand::Callback,
            Access::Standby(_) => Demand::Standby,
            Access::Page(_) => Demand::Page,
            Access::Desk(_) => Demand::Desk,
            Access::Kiosk(_) => Demand::Kiosk,
            Access::Guest(_) => Demand::Guest,
        }
    }
}

/// Finds out who calls, refuses those who may not, and runs the operation.
pub(crate) fn admit(site: &Site, call: &Call, access: &Access) -> Answer {
    let full = site.store.writer().condition() == Condition::Full;
    if full && !call.reads() && !call.row.when_full {
        return Err(Failure::disk_full().because("the room that is left is for sign-in"));
    }
    match access {
        Access::Open(operation) => repeat::or_run(site, call, Who::Anyone, || operation(site, call)),
        Access::Member(operation) => {
            let member = session::member(site, call)?;
            rates::take_change(site, call)?;
            repeat::or_run(site, call, call.who.get(), || operation(site, call, &member))
        }
        Access::Bearer(operation) => {
            let bearer = session::bearer(site, call)?;
            rates::take_change(site, call)?;
            repeat::or_run(site, call, call.who.get(), || operation(site, call, &bearer))
        }
        Access::Staff(operation) => {
            let staff = session::staff(site, call)?;
            repeat::or_run(site, call, call.who.get(), || operation(site, call, &staff))
        }
        Access::Partner(operation) => {
            let partner = partner::admit(site, call)?;
            let answer = repeat::or_run(site, call, call.who.get(), || operation(site, call, &partner));
            answer.inspect_err(|failure| {
                site.state::<Refusals>().note(call, site.now(), Some(partner.id()), failure, failure.text().clone());
            })
        }
        Access::Callback(callback) => callback::admit(site, call, callback),
        Access::Standby(operation) => {
            let standby = standby::admit(site, call)?;
            operation(site, call, &standby)
        }
        Access::Page(page) => {
            origin::check(call)?;
            page(site, call)
        }
        Access::Desk(page) => {
            origin::check(call)?;
            let Some(clerk) = clerk::find(site, call)? else { return Ok(clerk::to_sign_in(call)) };
            if call.row.admins {
                clerk.check_admin()?;
            }
            rates::take_change(site, call)?;
            repeat::or_run(site, call, call.who.get(), || page(site, call, &clerk))
        }
        Access::Kiosk(page) => {
            origin::check(call)?;
            let Some(kiosk) = kiosk::find(site, call)? else { return Ok(kiosk::to_start()) };
            repeat::or_run(site, call, Who::Anyone, || page(site, call, &kiosk))
        }
        Access::Guest(page) => {
            origin::check(call)?;
            let Some(kiosk) = kiosk::find(site, call)? else { return Ok(kiosk::to_start()) };
            let Some(guest) = kiosk::find_guest(site, call, &kiosk)? else { return Ok(kiosk::to_start()) };
            rates::take_change(site, call)?;
            page(site, call, &guest)
        }
    }
}
