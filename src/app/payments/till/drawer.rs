//! Cash that moves without a fee, the opening float too, and the review of what clerks undid.

use super::{Day, moment, read_day};
use crate::app::Change;
use crate::domain::audit::{Detail, Subject};
use crate::domain::till::{Kind, usual_cash_max};
use crate::http::failure::{Failure, Stop};
use crate::store::tables::till::{self, Entry};

/// Cash that a clerk puts into the drawer or takes out of it.
#[derive(Debug)]
pub(crate) struct Movement<'a> {
    /// One of [`Kind::MOVEMENTS`].
    pub(crate) kind: Kind,
    /// In the smallest unit of the currency, never negative.
    pub(crate) cents: i64,
    /// That of the page on which the clerk typed the amount.
    pub(crate) currency: &'a str,
    pub(crate) reason: &'a str,
    /// Whether the clerk was asked about an unusual amount, and means it.
    pub(crate) is_sure: bool,
    /// Identifies the form, so that a form that is sent twice moves cash once.
    pub(crate) form_number: i64,
}

/// Why no cash is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MovementDenial {
    NoCurrency,
    /// The till counts in another currency than the page that the clerk saw.
    CurrencyChanged,
    /// The amount is 0.
    Nothing,
    ReasonMissing,
    /// The amount is so unusual that the clerk is asked.
    Unusual,
    /// The cash that was in the drawer at the beginning is known already.
    FloatKnown,
    /// More is taken out than is in the drawer.
    TooMuch,
    /// The form was sent before with other content.
    Changed,
}

impl MovementDenial {
    /// The key of the denial's text.
    pub(crate) fn key(self) -> &'static str {
        match self {
            MovementDenial::NoCurrency => "till.no_currency",
            MovementDenial::CurrencyChanged => "till.currency_changed",
            MovementDenial::Nothing => "till.no_amount",
            MovementDenial::ReasonMissing => "till.reason_missing",
            MovementDenial::Unusual => "till.sure",
            MovementDenial::FloatKnown => "till.float_known",
            MovementDenial::TooMuch => "till.out_too_much",
            MovementDenial::Changed => "till.form_used",
        }
    }
}

/// Enters cash that was put into the drawer or taken out of it. The same form sent again moves nothing; with other content
/// it is refused. Audited. Returns the number of the entry.
pub(crate) fn move_cash(cx: &Change, movement: &Movement) -> Result<i64, Stop<MovementDenial>> {
    cx.check_staff()?;
    let amount_cents = if movement.kind == Kind::CashOut { -movement.cents } else { movement.cents };
    if let Some(entry_id) = till::find_by_form(cx.tx, movement.form_number)? {
        let entry = till::find(cx.tx, entry_id)?.ok_or_else(Failure::broken)?;
        let sent = (movement.kind, amount_cents, movement.currency, movement.reason);
        let is_same = (entry.kind, entry.amount_cents, &*entry.currency, &*entry.reason) == sent;
        return if is_same { Ok(entry_id) } else { Err(Stop::Denied(MovementDenial::Changed)) };
    }
    let day = read_day(cx.site, cx.tx)?;
    let currency = judge(movement, &day).map_err(Stop::Denied)?;
    let entry_id = till::insert(
        cx.tx,
        &Entry {
            payment_id: None,
            kind: movement.kind,
            amount_cents,
            currency,
            reason: movement.reason.to_owned(),
            undoes: None,
            paid_until: None,
            taken_by: cx.member_id(),
            taken_at: moment(cx, &day),
            form_number: Some(movement.form_number),
            reviewed_by: None,
        },
    )?;
    let detail = Detail::none().number("entry_id", entry_id).word("kind", movement.kind.name());
    cx.record("till.moved", &Subject::Site, &detail.number("amount_cents", amount_cents))?;
    Ok(entry_id)
}

/// The currency of the movement, or why it is refused.
fn judge(movement: &Movement, day: &Day) -> Result<String, MovementDenial> {
    let currency = day.currency.clone().ok_or(MovementDenial::NoCurrency)?;
    match movement.kind {
        _ if currency != movement.currency => Err(MovementDenial::CurrencyChanged),
        _ if movement.cents <= 0 => Err(MovementDenial::Nothing),
        Kind::Float if !day.takes_float => Err(MovementDenial::FloatKnown),
        Kind::CashIn | Kind::CashOut if movement.reason.is_empty() => Err(MovementDenial::ReasonMissing),
        Kind::CashOut if movement.cents > day.expected_cents() => Err(MovementDenial::TooMuch),
        _ if movement.cents > usual_cash_max(&currency) && !movement.is_sure => Err(MovementDenial::Unusual),
        _ => Ok(currency),
    }
}

/// Notes that an admin has seen what a clerk undid. 404 where there is nothing of the kind that waits. Audited.
pub(crate) fn review(cx: &Change, entry_id: i64) -> Result<(), Failure> {
    cx.check_admin()?;
    if till::set_reviewed(cx.tx, entry_id, cx.member_id())? == 0 {
        return Err(Failure::not_found());
    }
    cx.record("till.reviewed", &Subject::Site, &Detail::none().number("entry_id", entry_id))
}
