//! Undoing a change of the ways into an account: the mail that tells of the change carries a link, good for seven days and
//! once. Undoing brings the e-mail address and the telephone number from before back, takes away what was added since, and
//! ends every credential, the password too: whoever made the change knows it.

use super::security_event::{self, Event};
use super::session::{new_token, token_hash};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::undos::{self, Undo};
use crate::store::tables::{email_tokens, passkeys, second_factors, sessions, social_links};
use crate::store::{Read, Write};
use serde_json::json;

const LIFE_SECONDS: i64 = 7 * 86_400;

/// The outcome of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undone {
    Now,
    /// Unknown, used, or too old.
    Not,
    /// Another member has confirmed the address from before since then.
    AddressTaken,
}

/// A token that undoes the change `event`; `before`: the member before the change.
pub(crate) fn offer(tx: &Write, event: Event, before: &Profile) -> Result<String, Failure> {
    let (token, hash) = new_token();
    let undo = Undo {
        member_id: before.member_id,
        email: before.email.clone(),
        email_confirmed: before.email_verified,
        phone: before.phone.clone(),
        phone_confirmed: before.phone_verified,
        made_at: tx.now(),
    };
    undos::insert(tx, &hash, event.name(), &undo, tx.now() + LIFE_SECONDS)?;
    Ok(token)
}

/// Whether a token still undoes something.
pub(crate) fn is_offered(tx: &Read, token: &str, now: i64) -> Result<bool, Failure> {
    Ok(undos::find(tx, &token_hash(token), now)?.is_some())
}

/// Undoes what was changed at the token's moment and since.
pub(crate) fn take(site: &Site, call: &Call, tx: &Write, token: &str) -> Result<Undone, Failure> {
    let Some(undo) = undos::find(tx, &token_hash(token), tx.now())? else { return Ok(Undone::Not) };
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
    // Of whoever works here a mailbox does not take the second factor: an admin does.
    if !account.role.is_above_member() {
        second_factors::delete_since(tx, member_id, made_at)?;
    }
    email_tokens::end_of_member(tx, member_id)?;
    undos::delete_since(tx, member_id, made_at)?;
    sessions::end_credentials(tx, member_id, None)?;
    let (language, by) = (call.language(), call.by(member_id));
    security_event::tell(site, tx, member_id, Event::ChangeUndone, &json!({}), language, &by)?;
    Ok(Undone::Now)
}
