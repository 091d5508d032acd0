//! A partner's access: how it begins, changes and ends. The shell and the desk give it by the same rules.

use super::partner::new_secret;
use crate::http::failure::Failure;
use crate::keys::{hex, random};
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::partners;
use ipnet::IpNet;
use std::net::IpAddr;

/// A partner that calls 100 times a second for a minute has a fault.
pub const REQUESTS_PER_MINUTE: i64 = 6_000;
pub const REQUESTS_PER_MINUTE_MAX: i64 = 10_000_000;
/// Days for which an old secret goes on beside the new one.
pub const KEEP_DAYS: i64 = 7;
pub const KEEP_DAYS_MAX: i64 = 90;
const DAY_SECONDS: i64 = 86_400;

/// On what terms a partner may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Demand a signed timestamp, and refuse a signature that was used before.
    pub strict: bool,
    /// Where it may call from; empty: from anywhere.
    pub networks: Vec<IpNet>,
    /// 0: no limit.
    pub requests_per_minute: i64,
}

/// What a partner is handed, once.
#[derive(Debug)]
pub struct Handed {
    pub partner_id: i64,
    pub client_id: String,
    pub secret: String,
}

/// An address, or a network like `10.0.0.0/8`.
pub fn network(text: &str) -> Option<IpNet> {
    text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
}

/// `client_id`: one that the partner has already, from another site's list.
pub fn begin(site: &Site, tx: &Write, client_id: Option<&str>, name: &str, terms: &Terms) -> Result<Handed, Failure> {
    let client_id = client_id.map_or_else(|| hex(&random::<8>()), str::to_owned);
    let per_minute = (terms.requests_per_minute > 0).then_some(terms.requests_per_minute);
    let partner_id = partners::insert(tx, &client_id, name, terms.strict, per_minute)?;
    for network in &terms.networks {
        partners::insert_network(tx, partner_id, &network.to_string())?;
    }
    Ok(Handed { partner_id, client_id, secret: add_secret(site, tx, partner_id)? })
}

pub fn set_terms(tx: &Write, partner_id: i64, terms: &Terms) -> Result<(), Failure> {
    let per_minute = (terms.requests_per_minute > 0).then_some(terms.requests_per_minute);
    partners::set_terms(tx, partner_id, terms.strict, per_minute)?;
    partners::delete_networks(tx, partner_id)?;
    for network in &terms.networks {
        partners::insert_network(tx, partner_id, &network.to_string())?;
    }
    Ok(())
}

/// A new secret; the newest before it goes on for so many days. A revoked partner stays revoked: 409.
pub fn rotate(site: &Site, tx: &Write, partner: partners::Partner, keep_days: i64) -> Result<Handed, Failure> {
    // As it is now: whoever asks has read it before.
    let revoked = partners::find_by_id(tx, partner.partner_id)?.is_none_or(|now| now.revoked_at.is_some());
    if revoked {
        return Err(Failure::partner_revoked());
    }
    partners::end_older_secrets(tx, partner.partner_id)?;
    partners::end_secrets(tx, partner.partner_id, tx.now() + keep_days * DAY_SECONDS)?;
    let secret = add_secret(site, tx, partner.partner_id)?;
    Ok(Handed { partner_id: partner.partner_id, client_id: partner.client_id, secret })
}

fn add_secret(site: &Site, tx: &Write, partner_id: i64) -> Result<String, Failure> {
    let (secret, sealed) = new_secret(&site.keys);
    partners::insert_secret(tx, partner_id, &sealed)?;
    Ok(secret)
}
