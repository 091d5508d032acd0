//! Undoing a change of credentials, by the link in the mail about the change: the link works once, within seven days. It
//! restores the e-mail address and the telephone number, takes back an erasure that was asked for since, removes credentials that
//! were added since, and ends all others, the password too, because the thief may know it.

use super::security_event::{self, Event};
use super::session::token_hash;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::leavings;
use crate::store::tables::members;
use crate::store::tables::undos::{self, Undo};
use crate::store::tables::{email_tokens, passkeys, second_factors, sessions, social_links};
use crate::store::{Read, Write};
use serde_json::json;

/// The outcome of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undone {
    Now,
    /// Unknown, used, or too old.
    Invalid,
    /// Another member has confirmed the old address meanwhile.
    AddressTaken,
}

/// Whether a token is valid.
pub(crate) fn is_offered(tx: &Read, token: &str, now: Moment) -> Result<bool, Failure> {
    Ok(undos::find(tx, &token_hash(token), now)?.is_some())
}

/// Undoes the token's change and every later one.
pub(crate) fn take(site: &Site, call: &Call, tx: &Write, token: &str) -> Result<Undone, Failure> {
    let Some(undo) = undos::find(tx, &token_hash(token), tx.now())? else { return Ok(Undone::Invalid) };
    let Undo { member_id, made_at, .. } = undo;
    let owner = if undo.email_confirmed { members::find_by_confirmed_email(tx, &undo.email)? } else { None };
    if owner.is_some_and(|owner| owner != member_id) {
        return Ok(Undone::AddressTaken);
    }
    let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
    members::set_reach(tx, member_id, (&undo.email, undo.email_confirmed), (&undo.phone, undo.phone_confirmed))?;
    members::clear_password(tx, member_id)?;
    passkeys::delete_since(tx, member_id, made_at)?;
    social_links::delete_since(tx, member_id, made_at)?;
    second_factors::delete_recovery_codes(tx, member_id)?;
    // Access to a mailbox is not enough to turn off a staff member's second factor; an admin can.
    if !account.role.is_above_member() {
        second_factors::delete_since(tx, member_id, made_at)?;
    }
    email_tokens::end_of_member(tx, member_id)?;
    leavings::stop_since(tx, member_id, made_at)?;
    undos::delete_since(tx, member_id, made_at)?;
    sessions::end_credentials(tx, member_id, None)?;
    let (language, by) = (call.language(), call.actor(member_id));
    security_event::record_and_notify(site, tx, member_id, Event::ChangeUndone, &json!({}), language, &by)?;
    Ok(Undone::Now)
}
