//! Confirming an e-mail address by a mailed token, which works once and for a day.

use super::limits;
use super::limits::messages::{self, Cause};
use super::security_event;
use super::session::{new_token, token_hash};
use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::{email_tokens, members};
use serde::{Deserialize, Serialize};
use serde_json::json;

const LIFE_SECONDS: i64 = 24 * 3600;

/// The outcome of confirming a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Confirmed {
    Now,
    /// The token has confirmed the address before.
    Before,
    /// The token is unknown or too old, or its address is no longer the member's or confirmed by another member.
    Invalid,
}

/// Counts one use or renewal of a token. 429 above the hourly limit of sign-ups, because each sign-up leads to one.
pub(crate) fn check_rate(site: &Site, call: &Call) -> Result<(), Failure> {
    limits::CONFIRMATIONS.take(site, call.network())
}

/// Queues the mail with a new token, which replaces the member's older ones. An address that another member has confirmed
/// gets a warning instead, and the caller learns nothing of it. Where a message limit of the `cause` is reached, nothing is
/// sent, and the caller is not told: who signs up with an address has proven nothing about it.
pub(crate) fn send(
    site: &Site,
    tx: &Write,
    cause: Cause,
    member_id: MemberId,
    email: &str,
    language: Language,
) -> Result<(), Failure> {
    send_for(site, tx, cause, member_id, email, false, language)
}

/// As [`send`]; with `takes_over` the new address replaces the confirmed one as soon as it is confirmed.
pub(crate) fn send_for(
    site: &Site,
    tx: &Write,
    cause: Cause,
    member_id: MemberId,
    email: &str,
    takes_over: bool,
    language: Language,
) -> Result<(), Failure> {
    if !messages::take(site, tx, cause, member_id, Channel::Email, email)?.is_counted() {
        return Ok(());
    }
    let owner = members::find_by_confirmed_email(tx, email)?;
    let (token, hash) = new_token();
    email_tokens::end_of_member(tx, member_id)?;
    email_tokens::insert(tx, &hash, member_id, email, takes_over, tx.now() + LIFE_SECONDS)?;
    let foreign = owner.is_some_and(|owner| owner != member_id);
    let (template, values) =
        if foreign { ("email_taken", json!({})) } else { ("confirm_email", json!({ "token": token })) };
    let message = outbox::NewMessage {
        channel: Channel::Email,
        member_id: Some(member_id),
        recipient: email,
        language: language.tag(),
        template,
        values: &values,
    };
    outbox::insert(tx, &site.keys, &message)?;
    Ok(())
}

/// Confirms the address of a token.
pub(crate) fn confirm(site: &Site, call: &Call, tx: &Write, token: &str) -> Result<Confirmed, Failure> {
    let hash = token_hash(token);
    let Some(found) = email_tokens::find(tx, &hash)? else { return Ok(Confirmed::Invalid) };
    if found.used_at.is_some() {
        return Ok(Confirmed::Before);
    }
    let profile = members::find(tx, found.member_id)?.ok_or_else(Failure::not_found)?;
    let taken = members::find_by_confirmed_email(tx, &found.email)?.is_some_and(|owner| owner != found.member_id);
    let is_own = found.takes_over || profile.email.eq_ignore_ascii_case(&found.email);
    if tx.now() >= found.ends_at || !is_own || taken {
        return Ok(Confirmed::Invalid);
    }
    email_tokens::set_used(tx, &hash)?;
    if !found.takes_over {
        members::confirm_email(tx, found.member_id)?;
        return Ok(Confirmed::Now);
    }
    members::set_email(tx, found.member_id, &found.email)?;
    let by = call.actor(found.member_id);
    security_event::record_address_change(site, tx, &profile, Channel::Email, call.language(), &by)?;
    Ok(Confirmed::Now)
}

/// Sends a new token to the holder of an old one, unless the address is confirmed already.
pub(crate) fn resend(site: &Site, tx: &Write, token: &str, language: Language) -> Result<(), Failure> {
    let Some(found) = email_tokens::find(tx, &token_hash(token))? else { return Ok(()) };
    let profile = members::find(tx, found.member_id)?.ok_or_else(Failure::not_found)?;
    if profile.email_verified || profile.email.is_empty() {
        return Ok(());
    }
    send(site, tx, Cause::NewLink, found.member_id, &profile.email, language)
}
