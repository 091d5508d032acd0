//! What a payment does to its member's membership: the two are brought in line, whatever changed and in which order, so
//! that a year is given once for each payment that stands, and taken back when it no longer does.

use super::payments::{self, Account, Grant};
use super::{Write, members, notices};
use crate::domain::payment::{Status, a_year_after, without_year};
use rusqlite::Result;

/// Writes the payment and what follows from it. The desk's word on whose it is counts most, then the processor's, then an
/// app's.
pub fn settle(tx: &Write, account: &mut Account) -> Result<()> {
    let owner = account.assigned_to.or(account.heard.member_id.value).or(account.claimed_by);
    account.member_id = owner.or(account.member_id);
    let due = account.member_id.filter(|_| account.heard.status == Status::Succeeded);
    if let Some(grant) = account.grant.take_if(|grant| Some(grant.member_id) != due) {
        take_back(tx, account, &grant)?;
    }
    if let Some(member_id) = due.filter(|_| account.grant.is_none()) {
        account.grant = give(tx, account, member_id)?;
    }
    payments::save(tx, account).map(drop)
}

/// A year, from where the membership ends or from now, whichever is later.
fn give(tx: &Write, account: &Account, member_id: i64) -> Result<Option<Grant>> {
    let Some(paid_before) = members::find_paid_until(tx, member_id)? else { return Ok(None) };
    let until = a_year_after(paid_before.unwrap_or(i64::MIN).max(tx.now()));
    members::set_paid_until(tx, member_id, Some(until))?;
    tell(tx, account, member_id, "notice.payment_counts", Some(until))?;
    Ok(Some(Grant { member_id, until, paid_before }))
}

fn take_back(tx: &Write, account: &Account, grant: &Grant) -> Result<()> {
    let paid_until = members::find_paid_until(tx, grant.member_id)?.flatten();
    let left = without_year(paid_until, grant.until, grant.paid_before);
    members::set_paid_until(tx, grant.member_id, left)?;
    tell(tx, account, grant.member_id, "notice.payment_taken_back", left)
}

fn tell(tx: &Write, account: &Account, member_id: i64, subject: &str, until: Option<i64>) -> Result<()> {
    let detail = match &account.heard.price.value {
        Some(price) => serde_json::json!({ "amount_cents": price.cents, "currency": price.currency, "until": until }),
        None => serde_json::json!({ "amount": account.intent_id, "until": until }),
    };
    notices::insert(tx, member_id, subject, &detail.to_string()).map(drop)
}
