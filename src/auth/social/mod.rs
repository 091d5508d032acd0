//! Social sign-in: tokens of Google, Apple and Facebook, checked offline by the networks' keys.

mod keys;
pub(crate) mod signed_request;
mod token;

use crate::config::{Social, TokenIssuer};
use crate::http::field_types::Named;
use crate::http::json;
use crate::log;
use crate::moment::Moment;
use crate::site::Site;
use keys::KeySet;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Google,
    Apple,
    Facebook,
}

/// A person whom a network vouches for.
#[derive(Debug, PartialEq)]
pub(crate) struct Person {
    pub network: Network,
    /// The network's permanent id of the person.
    pub subject: String,
    pub email: Option<Email>,
    pub name: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Email {
    pub address: String,
    /// Whether the network has confirmed that the address is the person's.
    pub verified: bool,
}

/// Why a token was refused.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The site's settings do not name this network.
    NotConfigured,
    /// The network's keys cannot be read.
    Broken,
    /// The token is invalid; the caller does not learn why.
    Wrong,
}

impl Named for Network {
    const NAMES: &'static [(&'static str, Network)] =
        &[("google", Network::Google), ("apple", Network::Apple), ("facebook", Network::Facebook)];

    fn named(text: &str) -> Option<Network> {
        let lower = text.to_ascii_lowercase();
        Network::NAMES.iter().find(|(name, _)| *name == lower).map(|(_, network)| *network)
    }
}

impl Network {
    /// The network's name in the contract and in the database.
    pub(crate) fn key(self) -> &'static str {
        Network::NAMES[self as usize].0
    }

    /// The network's name for people.
    pub(crate) fn name(self) -> &'static str {
        ["Google", "Apple", "Facebook"][self as usize]
    }

    fn issuers(self) -> &'static [&'static str] {
        match self {
            Network::Google => &["https://accounts.google.com", "accounts.google.com"],
            Network::Apple => &["https://appleid.apple.com"],
            Network::Facebook => &[],
        }
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Network::Google | Network::Apple => &["id_token", "credential", "identityToken"],
            Network::Facebook => &["signed_request", "signedRequest"],
        }
    }
}

/// Checks the token that an app got from the network; `params` is JSON text.
pub(crate) fn check(site: &Site, network: Network, params: &str) -> Result<Person, Refusal> {
    let configured = &site.config.social;
    let now = site.now();
    match network {
        Network::Google => by_token(network, configured.google.as_ref(), params, now),
        Network::Apple => by_token(network, configured.apple.as_ref(), params, now),
        Network::Facebook => {
            let secret = configured.facebook.as_ref().ok_or(Refusal::NotConfigured)?;
            let request = field(params, network.fields()).ok_or(Refusal::Wrong)?;
            let subject = signed_request::subject(secret.reveal().as_bytes(), &request, now).ok_or(Refusal::Wrong)?;
            Ok(Person { network, subject, email: None, name: None })
        }
    }
}

fn by_token(network: Network, issuer: Option<&TokenIssuer>, params: &str, now: Moment) -> Result<Person, Refusal> {
    let issuer = issuer.ok_or(Refusal::NotConfigured)?;
    let keys = KeySet::read(&issuer.keys_file).map_err(|cause| {
        if let Some(left_out) = log::due(("social keys", network.name())) {
            let file = issuer.keys_file.display();
            tracing::error!(%cause, %file, left_out, "the keys of {} cannot be used", network.name());
        }
        Refusal::Broken
    })?;
    let token = field(params, network.fields()).ok_or(Refusal::Wrong)?;
    let nonce = field(params, &["nonce"]);
    let expected =
        token::Expected { issuers: network.issuers(), audiences: &issuer.client_ids, nonce: nonce.as_deref(), now };
    let claims = token::check(&token, &keys, &expected).ok_or(Refusal::Wrong)?;
    let verified = claims.email_is_verified();
    let email = claims.email.map(|address| Email { address, verified });
    Ok(Person { network, subject: claims.sub, email, name: claims.name })
}

/// The file of a network's keys as it is now.
pub(crate) struct KeysFile<'c> {
    pub network: &'static str,
    pub path: &'c Path,
    /// Seconds since it was written; or why it cannot be used.
    pub age: Result<i64, String>,
}

/// The key files of the networks that are configured.
pub(crate) fn look_at_keys(social: &Social) -> Vec<KeysFile<'_>> {
    let networks = [("google", &social.google), ("apple", &social.apple)];
    let issuers = networks.into_iter().filter_map(|(network, issuer)| Some((network, issuer.as_ref()?)));
    let look = |(network, issuer)| {
        let TokenIssuer { keys_file: path, .. }: &TokenIssuer = issuer;
        KeysFile { network, path, age: KeySet::read(path).and_then(|_| age(path)) }
    };
    issuers.map(look).collect()
}

fn age(path: &Path) -> Result<i64, String> {
    let written = std::fs::metadata(path).and_then(|file| file.modified()).map_err(|e| e.to_string())?;
    // A time of writing in the future is as good as now.
    Ok(written.elapsed().map_or(0, |age| age.as_secs().cast_signed()))
}

/// The first of these fields of `params` that is a string.
fn field(params: &str, names: &[&str]) -> Option<String> {
    let fields = json::parse(params.as_bytes()).ok()?;
    names.iter().find_map(|name| fields.get(name)?.as_str().map(str::to_owned))
}
