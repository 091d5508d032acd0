//! A member's own payments.

use crate::auth::Member;
use crate::domain::ids::PaymentId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::field_types::Count;
use crate::http::reply;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::payments;

crate::answer! {
    struct Payment {
        payment_id: PaymentId = 12,
        /// The processor's name for it, as its callback carries it.
        intent_id as "paymentIntentId": String = "pi_3P1",
        /// In the smallest unit of the currency.
        amount_cents: Count = 4900,
        /// ISO 4217.
        currency: String = "CHF",
        status: String ["claimed", "created", "processing", "succeeded", "failed", "canceled", "refunded"] = "succeeded",
        /// When it was first heard of.
        created_at: Moment = 1780000000,
        /// When it last changed.
        updated_at: Moment = 1780000000,
    }
}

crate::answer! {
    /// Payments, newest first.
    struct PaymentList = Vec<Payment>;
}

crate::operation! {
    /// The member's payments
    ///
    /// As the payment processor reports them, newest first.
    HISTORY = "paymentHistory"
        .answers::<PaymentList>("The payments.")
}

pub(crate) fn history(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    site.store.read(|tx| {
        let rows = payments::list(tx, member.id(), page.limit, page.offset)?;
        Ok(reply::list(call, page, payments::count(tx, member.id())?, rows.into_iter().map(show)))
    })
}

fn show(payment: payments::Payment) -> Payment {
    let payments::Payment { payment_id, intent_id, amount_cents, currency, status, created_at, updated_at, .. } =
        payment;
    Payment { payment_id, intent_id, amount_cents, currency, status, created_at, updated_at }
}
