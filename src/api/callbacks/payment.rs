//! Events about payments: `POST /payment-webhook` takes those that the payment processor sends and signs, and hands the
//! claims of members' apps to [`claim`].

use super::claim;
use super::payment_event;
use crate::app::payments::received;
use crate::app::{self, Change, RankedActor};
use crate::auth::{PaymentCaller, Processor};
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::answer::{Sometimes, True};
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde_json::json;

crate::answer! {
    struct PaymentTaken {
        status: True,
        message: String = "",
        /// Ours, of the processor's events: `late`, the payment has a later state already; `unmatched`, applied, and
        /// its member is not known yet; `ignored`, it changes no payment.
        verdict: Sometimes<String> ["applied", "late", "unmatched", "partial_refund", "ignored", "repeated"],
    }
}

crate::operation! {
    /// Events about payments
    ///
    /// **From the payment processor**, in Stripe's scheme: `payment_intent.created`, `.processing`, `.succeeded`,
    /// `.payment_failed`, `.canceled`, `charge.refunded` and `charge.dispute.created`, which goes to the desk; others
    /// are stored and acknowledged. Applied once per event id, in whatever order they come, and never back. A success
    /// extends the membership by a year.
    ///
    /// **From an app**, with a member's session, `fromApp` and `paymentIntentId`: only a claim, recorded and never a
    /// proof. Money counts when the processor says so.
    RECEIVE = "paymentWebhook"
        .refuses(&["NotAllowed"])
        .answers::<PaymentTaken>("It is taken.")
        .example(|| json!({ "verdict": "applied" }))
        .body(|| json!({
            "type": "payment_intent.succeeded",
            "data": "{\"id\":\"pi_1\",\"object\":\"payment_intent\",\"amount\":4900,\"currency\":\"chf\"}",
            "paymentIntentId": 0,
        }))
        .also(|| json!({ "security": [{ "paymentSignature": [] }, { "session": [] }, { "sessionInToken": [] }] }))
}

pub(crate) fn receive(site: &Site, call: &Call, caller: &PaymentCaller) -> Answer {
    match caller {
        PaymentCaller::Processor(processor) => record(site, call, processor),
        PaymentCaller::App(member) => claim::record(site, call, member),
    }
}

/// Applies an event of the processor and stores it with its verdict, in one transaction. A repeat only counts.
fn record(site: &Site, call: &Call, _: &Processor) -> Answer {
    let event = payment_event::read(call)?;
    let processor = RankedActor::outside(ActorId::Sender("processor"), call);
    let receive = |cx: &Change| received::receive(cx, &event, &call.body).map(str::to_owned);
    let verdict = app::change_once(site, call, processor, receive)?;
    Ok(reply::ok(&PaymentTaken { status: true, message: String::new(), verdict: Some(verdict) }))
}
