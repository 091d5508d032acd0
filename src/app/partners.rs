//! A partner's access: creating, changing and revoking it; and restoring records that a partner deleted.

use super::bookings::DESK_CLIENT_ID;
use super::seen::{self, Seen};
use super::{Change, Outcome, events};
use crate::auth::new_secret;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::PartnerId;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::Text;
use crate::keys::{hex, random};
use crate::store::Read;
use crate::store::tables::events::{About, Event};
use crate::store::tables::partner_users;
use crate::store::tables::partners::{self, Partner};
use crate::store::tables::sessions;
use ipnet::IpNet;
use std::net::IpAddr;

/// The default rate limit: a partner that sends 100 requests a second for a minute has a fault.
pub(crate) const REQUESTS_PER_MINUTE: i64 = 6_000;
pub(crate) const REQUESTS_PER_MINUTE_MAX: i64 = 10_000_000;
/// Default days for which an old secret stays valid beside the new one.
pub(crate) const KEEP_DAYS: i64 = 7;
pub(crate) const KEEP_DAYS_MAX: i64 = 90;
pub(crate) const NAME_CHARS_MAX: usize = 100;
/// The greatest number of networks of a partner.
pub(crate) const NETWORKS_MAX: usize = 100;
const DAY_SECONDS: i64 = 86_400;
/// The greatest number of deleted records that one call restores, the latest first; the next call restores older ones.
const RESTORED_MAX: i64 = 500;
/// Detail of the history event: for the partner, a restored record is a new one, and the event says that the desk
/// restored it.
const BY_DESK: &str = r#"{"restored_by":"desk"}"#;

/// The terms on which a partner may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Whether requests need a signed timestamp, and a repeated signature is refused.
    pub strict: bool,
    /// The networks from which the partner may call; empty: any.
    pub networks: Vec<IpNet>,
    /// Requests per minute; 0: no limit.
    pub requests_per_minute: i64,
}

/// The outcome of restoring a deleted record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestoreOutcome {
    Done,
    /// The partner deleted no such record.
    Unknown,
    /// The partner has created a new record with the same address.
    Taken,
}

/// The credentials of a partner; the secret is shown once.
#[derive(Debug)]
pub(crate) struct IssuedCredentials {
    pub partner_id: PartnerId,
    pub client_id: String,
    pub secret: String,
}

/// Parses an address, or a network like `10.0.0.0/8`.
pub(crate) fn network(text: &str) -> Option<IpNet> {
    text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// Finds a partner by its number. 404 where there is none, and for the desk's own client, which is not administered.
pub(crate) fn find(tx: &Read, partner_id: PartnerId) -> Result<Partner, Failure> {
    administered(partners::find_by_id(tx, partner_id)?)
}

/// Finds a partner by its client identifier, as [`find`].
pub(crate) fn find_client(tx: &Read, client_id: &str) -> Result<Partner, Failure> {
    administered(partners::find(tx, client_id)?)
}

fn administered(found: Option<Partner>) -> Result<Partner, Failure> {
    found.filter(|partner| partner.client_id != DESK_CLIENT_ID).ok_or_else(Failure::not_found)
}

/// Adds a partner with its first secret. `client_id`: an identifier that the partner has already, from another site's
/// list. Audited. Admins only. 422 at `name` or `networks`; 409 where the client identifier exists.
pub(crate) fn create(
    cx: &Change,
    client_id: Option<&str>,
    name: &str,
    terms: &Terms,
) -> Result<IssuedCredentials, Failure> {
    cx.check_admin()?;
    let name = fields::name("name", name, NAME_CHARS_MAX)?;
    terms.check()?;
    if client_id == Some(DESK_CLIENT_ID) {
        return Err(Failure::exists());
    }
    let client_id = client_id.map_or_else(|| hex(&random::<8>()), str::to_owned);
    let partner_id = partners::insert(cx.tx, &client_id, &name, terms.strict, terms.per_minute())?;
    add_networks(cx, partner_id, terms)?;
    cx.record("partner.added", &Subject::Partner(client_id.clone()), &terms.detail())?;
    Ok(IssuedCredentials { partner_id, client_id, secret: add_secret(cx, partner_id)? })
}

/// The terms of a partner in words that need no translation: networks, requests per minute, and whether it is strict.
fn values(partner: &Partner, networks: &[String]) -> [String; 3] {
    let strict = if partner.strict { "strict" } else { "" };
    [networks.join(" "), partner.requests_per_minute.unwrap_or(0).to_string(), strict.to_owned()]
}

/// The mark of a partner's terms, for the form that replaces them.
pub(crate) fn mark(partner: &Partner, networks: &[String]) -> String {
    seen::mark(&values(partner, networks).each_ref().map(String::as_str))
}

/// Sets a partner's networks, rate limit and strictness. Audited. Admins only. 422 where the terms are others than `seen`.
pub(crate) fn set_terms(cx: &Change, partner: &Partner, terms: &Terms, seen: &Seen) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    terms.check()?;
    let mut networks: Vec<String> = terms.networks.iter().map(IpNet::to_string).collect();
    networks.sort_unstable();
    networks.dedup();
    let before = (partner.strict, partner.requests_per_minute);
    let stored = partners::list_networks(cx.tx, partner.partner_id)?;
    if before == (terms.strict, terms.per_minute()) && stored == networks {
        return Ok(Outcome::Unchanged);
    }
    let values = values(partner, &stored);
    seen.check(&values.each_ref().map(String::as_str), || values.join(" · "))?;
    partners::set_terms(cx.tx, partner.partner_id, terms.strict, terms.per_minute())?;
    partners::delete_networks(cx.tx, partner.partner_id)?;
    add_networks(cx, partner.partner_id, terms)?;
    cx.record("partner.terms_set", &Subject::Partner(partner.client_id.clone()), &terms.detail())?;
    Ok(Outcome::Done)
}

/// Gives a partner a new secret; the newest old one stays valid for `keep_days` days. With 0 days the booking tokens
/// that were issued under the old ones end too: a thief may have them. Audited. Admins only. 409 where the partner is
/// revoked.
pub(crate) fn rotate(cx: &Change, partner: &Partner, keep_days: i64) -> Result<IssuedCredentials, Failure> {
    cx.check_admin()?;
    if partner.revoked_at.is_some() {
        return Err(Failure::partner_revoked());
    }
    let (partner_id, client_id) = (partner.partner_id, partner.client_id.clone());
    partners::end_older_secrets(cx.tx, partner_id)?;
    partners::end_secrets(cx.tx, partner_id, cx.now() + keep_days * DAY_SECONDS)?;
    if keep_days == 0 {
        sessions::end_booking_tokens_of_partner(cx.tx, partner_id)?;
    }
    let detail = Detail::none().number("keep_days", keep_days);
    cx.record("partner.rotated", &Subject::Partner(client_id.clone()), &detail)?;
    Ok(IssuedCredentials { partner_id, client_id, secret: add_secret(cx, partner_id)? })
}

/// Revokes a partner's access for good, with its secrets and the booking tokens that it got. Audited. Admins only.
pub(crate) fn revoke(cx: &Change, partner: &Partner) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    if partner.revoked_at.is_some() {
        return Ok(Outcome::Unchanged);
    }
    partners::revoke(cx.tx, partner.partner_id)?;
    sessions::end_booking_tokens_of_partner(cx.tx, partner.partner_id)?;
    cx.record("partner.revoked", &Subject::Partner(partner.client_id.clone()), &Detail::none())?;
    Ok(Outcome::Done)
}

/// Restores one record that the partner deleted. Audited, and in the partner's history.
pub(crate) fn restore_user(cx: &Change, partner: &Partner, user_id: i64) -> Result<RestoreOutcome, Failure> {
    match partner_users::restore(cx.tx, partner.partner_id, user_id) {
        Ok(0) => return Ok(RestoreOutcome::Unknown),
        Ok(_) => {}
        Err(failure) if failure.is(Failure::email_taken) => return Ok(RestoreOutcome::Taken),
        Err(failure) => return Err(failure),
    }
    let about = About { user_id: Some(user_id), data: Some(BY_DESK), ..About::partner(partner.partner_id) };
    events::tell(cx.tx, Event::UserCreated, &about)?;
    let detail = Detail::none().number("user_id", user_id);
    cx.record("partner_user.restored", &Subject::Partner(partner.client_id.clone()), &detail)?;
    Ok(RestoreOutcome::Done)
}

/// Restores up to [`RESTORED_MAX`] deleted records whose address has no new record. Returns the number of restored records.
pub(crate) fn restore_users(cx: &Change, partner: &Partner) -> Result<usize, Failure> {
    let mut restored = 0;
    for user in partner_users::list_restorable(cx.tx, partner.partner_id, RESTORED_MAX)? {
        // Of two deleted records with the same address, only the later one is restored.
        let taken = partner_users::has(cx.tx, partner.partner_id, &user.email)?;
        restored += usize::from(!taken && restore_user(cx, partner, user.id)? == RestoreOutcome::Done);
    }
    Ok(restored)
}

impl Terms {
    fn check(&self) -> Result<(), Failure> {
        let text = || Text::new("partners.networks_many").with_count("max", NETWORKS_MAX);
        if self.networks.len() > NETWORKS_MAX { Err(Failure::field("networks", text())) } else { Ok(()) }
    }

    fn per_minute(&self) -> Option<i64> {
        (self.requests_per_minute > 0).then_some(self.requests_per_minute)
    }

    fn detail(&self) -> Detail {
        Detail::none().flag("strict", self.strict).number("networks", self.networks.len() as i64)
    }
}

fn add_networks(cx: &Change, partner_id: PartnerId, terms: &Terms) -> Result<(), Failure> {
    for network in &terms.networks {
        partners::insert_network(cx.tx, partner_id, &network.to_string())?;
    }
    Ok(())
}

fn add_secret(cx: &Change, partner_id: PartnerId) -> Result<String, Failure> {
    let secret = new_secret();
    partners::insert_secret(cx.tx, &cx.site.keys, partner_id, secret.as_bytes())?;
    Ok(secret)
}
