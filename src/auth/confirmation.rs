//! Confirming an e-mail address: a token by mail, good for a day and once.

use super::message_quota::{self, Cause};
use super::rate_limits::{RateLimit, RateLimitKey, RateLimiter};
use super::security_event;
use super::session::{new_token, token_hash};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::{email_tokens, members};
use serde_json::json;

const LIFE_SECONDS: i64 = 24 * 3600;

/// The outcome of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirmed {
    Now,
    /// The token had confirmed the address before.
    Before,
    /// Unknown, too old, for an address that is no longer the member's, or that another member has confirmed.
    Not,
}

/// Counts one token, used or renewed. 429 above the hourly number of sign-ups of one address: each sign-up leads to one.
pub(crate) fn check_rate(site: &Site, call: &Call) -> Result<(), Failure> {
    let limit = RateLimit::per_hour(site.config.limits.signups_per_hour_per_address);
    site.state::<RateLimiter>().take(RateLimitKey::ConfirmationFrom(call.network()), limit)
}

/// Puts the mail with a new token in line; older tokens of the member are dead. To an address that somebody else has
/// confirmed goes a word of warning instead, so that nobody learns from us whose it is. Where a share of messages is used up
/// nothing goes and nothing is told: whoever signs up with an address has proven nothing about it.
pub(crate) fn send(site: &Site, tx: &Write, member_id: i64, email: &str, language: Language) -> Result<(), Failure> {
    send_for(site, tx, member_id, email, false, language)
}

/// The same; `takes_over`: the address replaces the confirmed one, once it is confirmed.
pub(crate) fn send_for(
    site: &Site,
    tx: &Write,
    member_id: i64,
    email: &str,
    takes_over: bool,
    language: Language,
) -> Result<(), Failure> {
    if message_quota::take(site, tx, Cause::Anonymous, member_id, Channel::Email, email)?.is_err() {
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

/// Takes a token.
pub(crate) fn confirm(site: &Site, call: &Call, tx: &Write, token: &str) -> Result<Confirmed, Failure> {
    let hash = token_hash(token);
    let Some(found) = email_tokens::find(tx, &hash)? else { return Ok(Confirmed::Not) };
    if found.used_at.is_some() {
        return Ok(Confirmed::Before);
    }
    let profile = members::find(tx, found.member_id)?.ok_or_else(Failure::not_found)?;
    let taken = members::find_by_confirmed_email(tx, &found.email)?.is_some_and(|owner| owner != found.member_id);
    let is_own = found.takes_over || profile.email.eq_ignore_ascii_case(&found.email);
    if tx.now() >= found.ends_at || !is_own || taken {
        return Ok(Confirmed::Not);
    }
    email_tokens::set_used(tx, &hash)?;
    if !found.takes_over {
        members::confirm_email(tx, found.member_id)?;
        return Ok(Confirmed::Now);
    }
    members::set_email(tx, found.member_id, &found.email)?;
    let by = call.by(found.member_id);
    security_event::tell_of_address(site, tx, &profile, Channel::Email, call.language(), &by)?;
    Ok(Confirmed::Now)
}

/// A new token for whoever has an old one whose address is not confirmed yet; a few an hour.
pub(crate) fn resend(site: &Site, tx: &Write, token: &str, language: Language) -> Result<(), Failure> {
    let Some(found) = email_tokens::find(tx, &token_hash(token))? else { return Ok(()) };
    let profile = members::find(tx, found.member_id)?.ok_or_else(Failure::not_found)?;
    if profile.email_verified || profile.email.is_empty() {
        return Ok(());
    }
    send(site, tx, found.member_id, &profile.email, language)
}
