//! What the payment processor tells of payments.

use super::claim;
use super::payment_event::{self, Matter, Payment};
use crate::auth::{PaymentCaller, Processor};
use crate::domain::payment::Status;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::Write;
use crate::store::queries::settlement;
use crate::store::tables::callbacks::{self, New, Sender};
use crate::store::tables::members;
use crate::store::tables::payments::{self, Account};
use serde::Serialize;

#[derive(Serialize)]
struct Taken {
    status: bool,
    message: String,
    /// `applied`, `late` (the payment was further already), `unmatched` (applied; whose it is nobody knows yet),
    /// `partial_refund`, `ignored` (moves no payment) or `repeated`.
    verdict: &'static str,
}

/// `POST /payment-webhook`: an event of the payment processor; from an app with a session, only a claim.
pub fn take(site: &Site, call: &Call, caller: &PaymentCaller) -> Answer {
    match caller {
        PaymentCaller::Processor(processor) => hear(site, call, processor),
        PaymentCaller::App(member) => claim::record(site, call, member),
    }
}

fn hear(site: &Site, call: &Call, _: &Processor) -> Answer {
    let event = payment_event::read(call)?;
    site.once(call, |tx| {
        let verdict = if callbacks::repeat(tx, Sender::Processor, &event.key)? {
            "repeated"
        } else {
            let verdict = match &event.matter {
                Matter::Payment(payment) => apply(site, tx, payment)?,
                Matter::PartialRefund { intent_id, cents } => refund_part(site, tx, intent_id, *cents)?,
                Matter::Nothing => "ignored",
            };
            let about = event.matter.intent_id().unwrap_or_default();
            let (key, kind) = (&event.key, &event.kind);
            let new = New { sender: Sender::Processor, key, event: kind, about, verdict, raw: &call.body };
            callbacks::insert(tx, &site.keys, &new)?;
            verdict
        };
        Ok(reply::ok(&Taken { status: true, message: String::new(), verdict }))
    })
}

/// Also of a payment that is not known yet: what went back of it counts once the money is said to have come.
fn refund_part(site: &Site, tx: &Write, intent_id: &str, cents: Option<i64>) -> Result<&'static str, Failure> {
    let mut account = payments::find(tx, intent_id)?.unwrap_or_else(|| Account::new(intent_id));
    account.heard.status = account.heard.status.max(Status::Created);
    settlement::refund_part(tx, &mut account, cents, &site.fee(tx)?)?;
    Ok("partial_refund")
}

fn apply(site: &Site, tx: &Write, payment: &Payment) -> Result<&'static str, Failure> {
    let mut event = payment.event.clone();
    if let Some(member_id) = event.member_id {
        // Metadata is typed by people: a number that is nobody's is as good as none.
        event.member_id = members::exists(tx, member_id)?.then_some(member_id);
    }
    let known = payments::find(tx, &payment.intent_id)?;
    let mut account = known.unwrap_or_else(|| Account::new(&payment.intent_id));
    let before = account.heard.status;
    account.heard.hear(&event);
    settlement::settle(tx, &mut account, &site.fee(tx)?)?;
    Ok(match account.member_id {
        _ if account.heard.status == before => "late",
        Some(_) => "applied",
        None => "unmatched",
    })
}
