//! Third parties that call back: a sender is known by the signature of its own scheme, over the bytes as they came, and
//! each scheme makes a principal of its own type.

mod deletion;
mod mail;
mod payment;

pub(crate) use deletion::DeletionRequest;
pub(crate) use deletion::SignedRequest;
pub(crate) use mail::MailEvents;
pub(crate) use payment::PaymentCaller;
pub(crate) use payment::Processor;

use super::{idempotency, rate_limits};
use crate::http::Answer;
use crate::http::call::{Call, PrincipalId};
use crate::site::Site;

/// An operation for third parties, by whom it demands.
pub enum Callback {
    /// The social network that asks for a person's data to be deleted.
    Deletion(fn(&Site, &Call, &DeletionRequest) -> Answer),
    /// The mail provider.
    Mail(fn(&Site, &Call, &MailEvents) -> Answer),
    /// The payment processor, or a member's app that speaks of a payment.
    Payment(fn(&Site, &Call, &PaymentCaller) -> Answer),
}

/// Without a configured key nobody is a sender: 503, and nothing is stored.
pub(crate) fn admit(site: &Site, call: &Call, callback: &Callback) -> Answer {
    match callback {
        Callback::Deletion(operation) => {
            let request = deletion::admit(site, call)?;
            call.principal.set(PrincipalId::Sender("social"));
            idempotency::run(site, call, call.principal.get(), || operation(site, call, &request))
        }
        Callback::Mail(operation) => {
            let events = mail::admit(site, call)?;
            call.principal.set(PrincipalId::Sender("mail"));
            idempotency::run(site, call, call.principal.get(), || operation(site, call, &events))
        }
        Callback::Payment(operation) => {
            let caller = payment::admit(site, call)?;
            rate_limits::count_change(site, call)?;
            idempotency::run(site, call, call.principal.get(), || operation(site, call, &caller))
        }
    }
}
