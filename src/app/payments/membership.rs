//! Brings a membership in line with the member's payments, whatever changed and in which order: each valid payment of
//! the fee adds one year, and a payment that is no longer valid takes its year back. A payment that does not cover the
//! fee waits for the desk.

use crate::app::{Change, events};
use crate::domain::ids::MemberId;
use crate::domain::payment::{Decision, Fee, Issue, Price, Status, a_year_after, without_year};
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Write;
use crate::store::tables::events::Event;
use crate::store::tables::payments::{self, Account, Grant};
use crate::store::tables::{members, notices, tunnels};

/// Stores the payment and its consequences. The desk's decision on the payer outranks the processor's, which outranks a
/// claim of an app. A year that was granted stays when the fee is raised later.
pub(super) fn apply(cx: &Change, account: &mut Account) -> Result<(), Failure> {
    let (tx, fee) = (cx.tx, &cx.site.fee(cx.tx)?);
    let owner = account.assigned_to.or(account.report.member_id.value).or(account.claimed_by);
    account.member_id = owner.or(account.member_id);
    let stands = account.report.status == Status::Succeeded && account.decision != Some(Decision::Void);
    let owner = account.member_id.filter(|_| stands);
    if let Some(grant) = account.grant.take_if(|grant| Some(grant.member_id) != owner) {
        withdraw_year(cx, account, &grant)?;
    }
    let counts = account.decision == Some(Decision::Counts) || doubt(account, fee).is_none();
    if let Some(member_id) = owner.filter(|_| account.grant.is_none() && counts) {
        account.grant = grant_year(cx, account, member_id)?;
    }
    let before = account.question;
    account.question = question(account, fee);
    if let Some(member_id) = account.member_id.filter(|_| before.is_none() && account.grant.is_none())
        && account.question.is_some_and(|question| question != Issue::DoublyClaimed)
    {
        notify(tx, account, member_id, "notice.payment_waits", None)?;
    }
    payments::save(tx, account)?;
    Ok(())
}

/// The question that a received payment raises for the desk.
fn question(account: &Account, fee: &Fee) -> Option<Issue> {
    let came = account.report.status == Status::Succeeded && account.decision.is_none();
    if !came {
        return None;
    }
    let doubt = doubt(account, fee);
    if account.grant.is_none() {
        // The processor reports a site's other sales too: a payment without a member that does not match the fee raises
        // no question.
        return match (account.member_id, doubt) {
            (None, None) if fee.cents > 0 => Some(Issue::Unmatched),
            (None, doubt) => doubt.filter(|doubt| *doubt == Issue::DoublyClaimed),
            (Some(_), doubt) => doubt,
        };
    }
    let left = account.report.price.value.as_ref().map(|price| Price {
        cents: price.cents - account.refunded_cents.unwrap_or(0),
        currency: price.currency.clone(),
    });
    match account.refunded_cents {
        Some(_) if fee.paid_by(left.as_ref()).is_err() => Some(Issue::PartlyRefunded),
        _ => doubt.filter(|doubt| *doubt == Issue::DoublyClaimed),
    }
}

/// The doubt because of which a payment does not count until the desk decides.
fn doubt(account: &Account, fee: &Fee) -> Option<Issue> {
    let named = account.assigned_to.or(account.report.member_id.value).is_some();
    if account.rival_claim.is_some() && !named {
        return Some(Issue::DoublyClaimed);
    }
    fee.paid_by(account.report.price.value.as_ref()).err()
}

/// Grants a year, from the end of the membership or from now, whichever is later.
fn grant_year(cx: &Change, account: &Account, member_id: MemberId) -> Result<Option<Grant>, Failure> {
    let tx = cx.tx;
    let Some(paid_before) = members::find_paid_until(tx, member_id)? else { return Ok(None) };
    let zone = tunnels::find_time_zone(tx, cx.site.tunnel_id)?;
    let until = a_year_after(&zone, paid_before.unwrap_or(Moment::FIRST).max(tx.now()));
    members::set_paid_until(tx, member_id, Some(until))?;
    // A year free of charge is not announced as a received payment.
    let is_free = account.report.price.value.as_ref().is_some_and(|price| price.cents == 0);
    let subject = if is_free { "notice.membership_free" } else { "notice.payment_counts" };
    notify(tx, account, member_id, subject, Some(until))?;
    events::tell_member(tx, Event::PaymentSucceeded, member_id, &data(account, Some(until)))?;
    Ok(Some(Grant { member_id, until, paid_before }))
}

/// Withdraws the year that a payment granted.
fn withdraw_year(cx: &Change, account: &Account, grant: &Grant) -> Result<(), Failure> {
    let tx = cx.tx;
    let paid_until = members::find_paid_until(tx, grant.member_id)?.flatten();
    let zone = tunnels::find_time_zone(tx, cx.site.tunnel_id)?;
    let left = without_year(&zone, paid_until, grant.until, grant.paid_before);
    members::set_paid_until(tx, grant.member_id, left)?;
    let is_free = account.report.price.value.as_ref().is_some_and(|price| price.cents == 0);
    let subject = if is_free { "notice.membership_free_ended" } else { "notice.payment_taken_back" };
    notify(tx, account, grant.member_id, subject, left)?;
    events::tell_member(tx, Event::PaymentRefunded, grant.member_id, &data(account, left))
}

/// A payment as an event has it. `until`: the new end of the membership.
fn data(account: &Account, until: Option<Moment>) -> serde_json::Value {
    let price = account.report.price.value.as_ref();
    serde_json::json!({
        "amount_cents": price.map(|price| price.cents), "currency": price.map(|price| &price.currency), "paid_until": until,
    })
}

/// Inserts a notice to the member about a payment. `until`: the new end of the membership.
fn notify(
    tx: &Write,
    account: &Account,
    member_id: MemberId,
    subject: &str,
    until: Option<Moment>,
) -> Result<(), Failure> {
    let detail = match &account.report.price.value {
        Some(price) => serde_json::json!({ "amount_cents": price.cents, "currency": price.currency, "until": until }),
        None => serde_json::json!({ "amount": account.intent_id, "until": until }),
    };
    notices::insert(tx, member_id, subject, &detail.to_string())?;
    Ok(())
}
