//! What the payment processor and members' apps send about payments: stored as received, with its verdict, and applied once.

use super::{apply_event, claim, refund_part};
use crate::app::Change;
use crate::domain::payment::Event;
use crate::http::failure::Failure;
use crate::store::tables::callbacks::{self, NewCallback, Sender};

/// An event of the payment processor.
pub(crate) struct ReceivedEvent {
    /// Identifies repeats of the event.
    pub key: String,
    /// The processor's type of the event.
    pub kind: String,
    pub effect: EventEffect,
}

/// What an event says of a payment.
pub(crate) enum EventEffect {
    Payment(Payment),
    /// A part of the money was refunded; `cents`: the sum of all refunds, if the event has it.
    PartialRefund {
        intent_id: String,
        cents: Option<i64>,
    },
    /// The event changes no payment of ours.
    None,
}

/// What became of a payment.
pub(crate) struct Payment {
    /// The processor's id of the payment.
    pub intent_id: String,
    pub event: Event,
}

impl EventEffect {
    pub(crate) fn intent_id(&self) -> Option<&str> {
        match self {
            EventEffect::Payment(payment) => Some(&payment.intent_id),
            EventEffect::PartialRefund { intent_id, .. } => Some(intent_id),
            EventEffect::None => None,
        }
    }
}

/// Applies an event of the processor and stores it with its verdict, which is returned. A repeat only counts. `raw`: the event
/// as it was sent.
pub(crate) fn receive(cx: &Change, received: &ReceivedEvent, raw: &[u8]) -> Result<&'static str, Failure> {
    if callbacks::repeat(cx.tx, Sender::Processor, &received.key)? {
        return Ok("repeated");
    }
    let verdict = match &received.effect {
        EventEffect::Payment(payment) => apply_event(cx, &payment.intent_id, &payment.event)?,
        EventEffect::PartialRefund { intent_id, cents } => {
            refund_part(cx, intent_id, *cents)?;
            "partial_refund"
        }
        EventEffect::None => "ignored",
    };
    let about = received.effect.intent_id().unwrap_or_default();
    let (key, event) = (&received.key, &received.kind);
    callbacks::insert(
        cx.tx,
        &cx.site.keys,
        &NewCallback { sender: Sender::Processor, key, event, about, verdict, raw },
    )?;
    Ok(verdict)
}

/// Records the claim of a member's app to a payment. 429 beyond the number of open claims that a member may have.
pub(crate) fn receive_claim(cx: &Change, intent_id: &str, raw: &[u8]) -> Result<(), Failure> {
    let key = format!("{} {intent_id}", cx.member_id().ok_or_else(Failure::not_allowed)?);
    // Old claims are purged before their callback rows, so a claim is applied also where its callback row shows a repeat.
    let repeated = callbacks::repeat(cx.tx, Sender::App, &key)?;
    let verdict = claim(cx, intent_id)?;
    if !repeated {
        let (sender, event) = (Sender::App, "claim");
        let new = NewCallback { sender, key: &key, event, about: intent_id, verdict, raw };
        callbacks::insert(cx.tx, &cx.site.keys, &new)?;
    }
    Ok(())
}
