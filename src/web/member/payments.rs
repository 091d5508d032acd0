//! The member's payments, and the receipts of fees that were taken at the till.

use super::frame::Shell;
use super::show;
use crate::auth::{Member, count_document, own};
use crate::domain::ids::PaymentId;
use crate::domain::payment::Price;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::payments::{self, Payment};
use crate::web::badge::Badge;
use crate::web::desk::till::entries as till;
use crate::web::{pages_beside, path_id, skipped};
use askama::Template;
use http::StatusCode;

const LINES_MAX: i64 = 50;

#[derive(Template)]
#[template(path = "member/payments.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    rows: Vec<Row>,
    newer: Option<i64>,
    older: Option<i64>,
}

struct Row {
    payment_id: PaymentId,
    when: String,
    amount: String,
    badge: Badge,
    has_receipt: bool,
}

/// `GET /me/payments`
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let shell = Shell::of(site, call, member, own::HOME)?;
    let (zone, language, skip) = (site.time_zone()?, call.language(), skipped(call));
    let mut found = site.store.read(|tx| Ok(payments::list(tx, member.id(), LINES_MAX + 1, skip)?))?;
    let (newer, older) = pages_beside(&mut found, LINES_MAX, skip);
    let row = |payment: Payment| {
        let (tone, key) = match payment.status.as_str() {
            "succeeded" => ("good", "me.paid_succeeded"),
            "refunded" => ("plain", "me.paid_refunded"),
            "failed" | "canceled" => ("bad", "me.paid_failed"),
            _ => ("soon", "me.paid_open"),
        };
        let price = Price { cents: payment.amount_cents, currency: payment.currency.to_uppercase() };
        Row {
            payment_id: payment.payment_id,
            when: when::moment(language, &zone, payment.created_at),
            amount: if payment.currency.is_empty() { String::new() } else { price.in_words(language) },
            badge: Badge::new(tone, language.say(&Text::new(key))),
            has_receipt: payment.receipt.is_some(),
        }
    };
    let page = Page { shell, rows: found.into_iter().map(row).collect(), newer, older };
    Ok(show(StatusCode::OK, language, &page))
}

/// `GET /me/payments/{payment_id}/receipt`: the receipt of a fee, as a PDF.
pub(crate) fn receipt(site: &Site, call: &Call, member: &Member) -> Answer {
    let payment_id = path_id(call, 0)?;
    let entry_id = site.store.read(|tx| {
        let own = payments::find_by_number(tx, payment_id)?.filter(|one| one.member_id == Some(member.id()));
        own.ok_or_else(Failure::not_found)?;
        payments::find_listed(tx, payment_id)?.and_then(|one| one.receipt).ok_or_else(Failure::not_found)
    })?;
    count_document(site, member.id(), member.role())?;
    let pdf = till::receipt_pdf(site, call.language(), entry_id)?;
    let file = reply::file("application/pdf", "inline", &format!("receipt-{entry_id}.pdf"), pdf);
    Ok(file.unstored())
}
