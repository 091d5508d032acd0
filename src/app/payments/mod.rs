//! Payments: the processor's events, the claims of members' apps, and the decisions of the desk.

mod membership;
pub(crate) mod received;
pub(crate) mod till;

use super::Change;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::{MemberId, PaymentId};
use crate::domain::payment::{Decision, Event, Status};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::payments::{self, Account};
use crate::store::tables::till as till_entries;
use crate::store::tables::{joins, members};
use std::time::Duration;

/// The greatest number of a member's claims that the processor has not confirmed.
const CLAIMS_MAX: i64 = 20;
/// The wait that the 429 suggests: a processor reports a payment within a day, and with its report a claim is no longer open.
/// A claim to a payment that is never reported is purged after 30 days (see the jobs).
const RETRY_AFTER: Duration = Duration::from_secs(86_400);

/// Whether a payment is a fee taken at the till. Only the till may undo such a fee, so that no closed day changes.
fn is_of_till(cx: &Change, intent_id: &str) -> Result<bool, Failure> {
    let payment_id = payments::find_number(cx.tx, intent_id)?;
    Ok(payment_id.map(|payment_id| till_entries::has_payment(cx.tx, payment_id)).transpose()?.unwrap_or(false))
}

/// Applies an event of the processor to a payment; events may come in any order. Returns `late` (the payment's state
/// did not change), `applied`, or `unmatched` (applied, but the payment has no member yet). The member is notified.
pub(crate) fn apply_event(cx: &Change, intent_id: &str, event: &Event) -> Result<&'static str, Failure> {
    let mut event = event.clone();
    if let Some(member_id) = event.member_id {
        // People type the metadata, so an unknown member number counts as none.
        let member_id = joins::survivor_of(cx.tx, member_id)?;
        event.member_id = members::exists(cx.tx, member_id)?.then_some(member_id);
    }
    if is_of_till(cx, intent_id)? {
        return Ok("late");
    }
    let mut account = payments::find(cx.tx, intent_id)?.unwrap_or_else(|| Account::new(intent_id));
    let before = account.report.status;
    account.report.apply(&event);
    membership::apply(cx, &mut account)?;
    Ok(match account.member_id {
        _ if account.report.status == before => "late",
        Some(_) => "applied",
        None => "unmatched",
    })
}

/// Applies a partial refund that the processor reports, in the smallest unit of the currency; `None`: the whole known
/// price. A refund of an unknown payment is stored too, and counts once the payment succeeds.
pub(crate) fn refund_part(cx: &Change, intent_id: &str, cents: Option<i64>) -> Result<(), Failure> {
    if is_of_till(cx, intent_id)? {
        return Ok(());
    }
    let mut account = payments::find(cx.tx, intent_id)?.unwrap_or_else(|| Account::new(intent_id));
    account.report.status = account.report.status.max(Status::Created);
    let whole = account.report.price.value.as_ref().map_or(0, |price| price.cents);
    let cents = cents.unwrap_or(whole);
    if account.refunded_cents.is_none_or(|known| cents > known) {
        // The desk must decide again about the remaining amount.
        (account.refunded_cents, account.decision) = (Some(cents), None);
    }
    membership::apply(cx, &mut account)
}

/// Applies a claim of the actor's app that a payment is the actor's. A claim assigns a payment that names no member,
/// and takes effect only when the processor reports that the payment succeeded. Returns the verdict: `recorded`,
/// `matched`, `known`, `claimed_twice` or `claimed_by_another`. 429 beyond [`CLAIMS_MAX`] open claims.
pub(crate) fn claim(cx: &Change, intent_id: &str) -> Result<&'static str, Failure> {
    let member_id = cx.member_id().ok_or_else(Failure::not_allowed)?;
    let known = payments::find(cx.tx, intent_id)?;
    let count = match &known {
        Some(_) => payments::count_rival_claims(cx.tx, member_id)?,
        None => payments::count_claims(cx.tx, member_id)?,
    };
    let is_new = known.is_none();
    let mut account = known.unwrap_or_else(|| Account::new(intent_id));
    let verdict = match account.member_id {
        None if is_new => "recorded",
        None => "matched",
        Some(owner) if owner == member_id => return Ok("known"),
        // The processor or the desk has assigned the payment, or two members claim it already: a further claim changes
        // nothing.
        Some(_) if account.claimed_by != account.member_id || account.rival_claim.is_some() => {
            return Ok("claimed_by_another");
        }
        Some(_) if account.assigned_to.or(account.report.member_id.value).is_some() => return Ok("claimed_by_another"),
        Some(_) => "claimed_twice",
    };
    if verdict != "matched" && count >= CLAIMS_MAX {
        return Err(Failure::too_fast().retry_after(RETRY_AFTER));
    }
    match verdict {
        "claimed_twice" => account.rival_claim = Some(member_id),
        _ => account.claimed_by = Some(member_id),
    }
    membership::apply(cx, &mut account)?;
    Ok(verdict)
}

/// Decides about a payment. Staff only. `Counts` extends the membership of `member_id`, otherwise of the member who has
/// the payment, whatever the amount; `Void` extends no membership and takes back a year that the payment granted.
/// Audited; the members are notified. 403 where the actor may not serve the member who gets the payment or who has it. 409
/// for a fee of the till, which only the till undoes.
///
/// Returns the payment after the decision; `None`: nothing is decided, because no member is named whose membership
/// could be extended.
pub(crate) fn decide(
    cx: &Change,
    payment_id: PaymentId,
    decision: Decision,
    member_id: Option<MemberId>,
) -> Result<Option<Account>, Failure> {
    cx.check_staff()?;
    let mut account = payments::find_by_number(cx.tx, payment_id)?.ok_or_else(Failure::not_found)?;
    if is_of_till(cx, &account.intent_id)? {
        return Err(Failure::entry_state().saying(Text::new("till.kept")));
    }
    for member_id in [member_id, account.member_id].into_iter().flatten() {
        if cx.is_here(member_id)? {
            cx.served(member_id)?;
        }
    }
    let before = account.clone();
    if decision == Decision::Counts {
        if member_id.is_none() && account.grant.is_none() {
            return Ok(None);
        }
        account.assigned_to = member_id.or(account.assigned_to);
    }
    account.decision = Some(decision);
    membership::apply(cx, &mut account)?;
    if account != before {
        let action = match decision {
            Decision::Counts => "payment.assigned",
            Decision::Void => "payment.voided",
        };
        let subject = account.member_id.map_or(Subject::Payment(payment_id), Subject::Member);
        cx.record(action, &subject, &Detail::none().number("payment_id", payment_id))?;
    }
    Ok(Some(account))
}
