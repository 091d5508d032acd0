//! Events about payments: `POST /payment-webhook` takes those that the payment processor sends and signs, and hands the
//! claims of members' apps to [`claim`].

use super::claim;
use super::payment_event;
use crate::app::payments::received;
use crate::app::{self, Change, RankedActor};
use crate::auth::{PaymentCaller, Processor};
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde::Serialize;

/// The answer to an event of the processor.
#[derive(Serialize)]
struct EventReply {
    status: bool,
    message: String,
    /// The effect of the event: `applied`; `unmatched` (applied, but the member of the payment is not known yet); `late` (no
    /// effect: the payment has this or a later status already, or is a fee of the till); `partial_refund`; `ignored` (the
    /// event changes no payment); `repeated` (an event with this key is stored already).
    verdict: String,
}

/// `POST /payment-webhook`: an event of the payment processor, or, with a member's session, a claim of the member's app.
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
    Ok(reply::ok(&EventReply { status: true, message: String::new(), verdict }))
}
