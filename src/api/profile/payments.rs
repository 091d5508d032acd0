//! A member's own payments.

use crate::auth::Member;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::payments::{self, Payment};
use serde::Serialize;

#[derive(Serialize)]
struct PaymentReply {
    payment_id: i64,
    /// The processor's id of the payment.
    #[serde(rename = "paymentIntentId")]
    intent_id: String,
    /// In the smallest unit of the currency; 0 for a claim of an app.
    amount_cents: i64,
    /// ISO 4217; empty for a claim of an app.
    currency: String,
    /// `claimed` (by an app, and not confirmed by the processor), `created`, `processing`, `succeeded`, `failed`, `canceled` or `refunded`.
    status: String,
    created_at: i64,
    updated_at: i64,
}

/// `GET /account/profile/payment-history`: the caller's payments, newest first.
pub(crate) fn history(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let rows = payments::list(tx, member.id(), page.limit, page.offset)?;
        Ok(reply::list(call, page, payments::count(tx, member.id())?, rows.into_iter().map(show)))
    })
}

fn show(payment: Payment) -> PaymentReply {
    let Payment { payment_id, intent_id, amount_cents, currency, status, created_at, updated_at, .. } = payment;
    PaymentReply { payment_id, intent_id, amount_cents, currency, status, created_at, updated_at }
}
