//! Callbacks of third parties: each sender is authenticated by the signature scheme of its own, over the bytes as received,
//! and each scheme makes a principal of its own type.

mod deletion;
mod mail;
mod payment;

pub(crate) use deletion::DeletionRequest;
pub(crate) use deletion::SignedRequest;
pub(crate) use mail::MailEvents;
pub(crate) use payment::PaymentCaller;
pub(crate) use payment::Processor;

use super::{idempotency, limits};
use crate::http::Answer;
use crate::http::call::{Call, PrincipalId};
use crate::site::Site;

/// An operation for third parties, with the principal that it requires.
pub enum Callback {
    /// The social network that requests the deletion of a person's data.
    Deletion(fn(&Site, &Call, &DeletionRequest) -> Answer),
    /// The mail provider.
    Mail(fn(&Site, &Call, &MailEvents) -> Answer),
    /// The payment processor, or a member's app that claims a payment.
    Payment(fn(&Site, &Call, &PaymentCaller) -> Answer),
}

/// Authenticates the sender and runs the operation. Without a configured key: 503, and nothing is stored.
pub(crate) fn admit(site: &Site, call: &Call, callback: &Callback) -> Answer {
    match callback {
        Callback::Deletion(operation) => {
            let request = deletion::admit(site, call)?;
            call.principal.set(PrincipalId::Sender("social"));
            limits::count_request(site, call)?;
            idempotency::identify(site, call, call.principal.get())?;
            operation(site, call, &request)
        }
        Callback::Mail(operation) => {
            let events = mail::admit(site, call)?;
            // Anybody can sign the test without a key, so not even its Idempotency-Key is stored.
            if site.config.callbacks.mail_key.is_none() {
                return operation(site, call, &events);
            }
            call.principal.set(PrincipalId::Sender("mail"));
            limits::count_request(site, call)?;
            idempotency::identify(site, call, call.principal.get())?;
            operation(site, call, &events)
        }
        Callback::Payment(operation) => {
            let caller = payment::admit(site, call)?;
            limits::count_request(site, call)?;
            idempotency::identify(site, call, call.principal.get())?;
            operation(site, call, &caller)
        }
    }
}
