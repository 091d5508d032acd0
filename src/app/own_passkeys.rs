//! Passkeys that the owner of a signed-in account adds on a page.

use super::{RankedActor, change};
use crate::auth::limits;
use crate::auth::passkey::{self as ceremony, Intent, Label, Outcome, RelyingParty};
use crate::domain::ids::MemberId;
use crate::domain::passkey;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::sessions::TokenHash;
use serde_json::Value;

/// Longest name of a passkey.
pub(crate) const NAME_CHARS_MAX: usize = 60;

/// The browser's options for a new passkey, which is accepted in this session alone. A passkey without a name gets that of the
/// browser.
pub(crate) fn begin(
    site: &Site,
    call: &Call,
    actor: impl Into<RankedActor>,
    owner: (MemberId, &TokenHash),
    name: Option<String>,
) -> Result<Value, Failure> {
    let party = RelyingParty::of(site, call)?;
    limits::PASSKEYS.take(site, call.network())?;
    let user_agent = call.header("user-agent").unwrap_or("");
    let label = Label { name: name.unwrap_or_else(|| passkey::name_from(user_agent)), device_id: None };
    let question = ceremony::start_registration(site, &party, owner, label)?;
    change(site, actor, call.language(), |cx| question.store(cx.tx))?;
    Ok(question.public_key)
}

/// Registers a passkey by the browser's answer; `false` where it is no answer to a question of [`begin`] for this account.
pub(crate) fn add(
    site: &Site,
    call: &Call,
    actor: impl Into<RankedActor>,
    member_id: MemberId,
    credential: &str,
) -> Result<bool, Failure> {
    let Some(answer) = ceremony::check_response(site, call, credential, Intent::SignIn)? else { return Ok(false) };
    // A response that signs in opens nothing here.
    match change(site, actor, call.language(), |cx| ceremony::apply(site, call, cx.tx, &answer))? {
        Outcome::Registered(account) => Ok(account.member_id == member_id),
        Outcome::SignedIn(_) | Outcome::Refused => Ok(false),
    }
}
