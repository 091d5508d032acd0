//! Events about payments, sent by the payment processor.

use super::claim;
use super::payment_event::{self, EventEffect};
use crate::app::{self, RankedActor, payments};
use crate::auth::{PaymentCaller, Processor};
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::callbacks::{self, NewCallback, Sender};
use serde::Serialize;

#[derive(Serialize)]
struct Taken {
    status: bool,
    message: String,
    /// `applied`, `late` (the payment has a later state already), `unmatched` (applied; its member is not known yet),
    /// `partial_refund`, `ignored` (changes no payment) or `repeated`.
    verdict: &'static str,
}

/// `POST /payment-webhook`: an event of the payment processor; with a member's session, a claim of an app.
pub(crate) fn take(site: &Site, call: &Call, caller: &PaymentCaller) -> Answer {
    match caller {
        PaymentCaller::Processor(processor) => record(site, call, processor),
        PaymentCaller::App(member) => claim::record(site, call, member),
    }
}

fn record(site: &Site, call: &Call, _: &Processor) -> Answer {
    let event = payment_event::read(call)?;
    app::change_once(site, call, RankedActor::outside(ActorId::Sender("processor"), call), |cx| {
        let verdict = if callbacks::repeat(cx.tx, Sender::Processor, &event.key)? {
            "repeated"
        } else {
            let verdict = match &event.effect {
                EventEffect::Payment(payment) => payments::apply_event(cx, &payment.intent_id, &payment.event)?,
                EventEffect::PartialRefund { intent_id, cents } => {
                    payments::refund_part(cx, intent_id, *cents)?;
                    "partial_refund"
                }
                EventEffect::None => "ignored",
            };
            let about = event.effect.intent_id().unwrap_or_default();
            let (key, kind) = (&event.key, &event.kind);
            let new = NewCallback { sender: Sender::Processor, key, event: kind, about, verdict, raw: &call.body };
            callbacks::insert(cx.tx, &site.keys, &new)?;
            verdict
        };
        Ok(reply::ok(&Taken { status: true, message: String::new(), verdict }))
    })
}
