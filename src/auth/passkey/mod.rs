//! Passkeys (WebAuthn): starting a ceremony, checking the browser's response, and applying it.
//!
//! A challenge is stored, sealed, for five minutes, and is deleted by the transaction that uses it. Every passkey here
//! verifies its user, which makes it two factors in itself.

mod apply;
mod decoys;
mod relying_party;
mod response;

pub(crate) use apply::{Outcome, apply, remove};
pub(crate) use relying_party::RelyingParty;
pub(crate) use response::{CheckedResponse, check_response};

use super::challenge::DocumentDigest;
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::passkey::{CHALLENGE_SECONDS, KEYS_MAX};
use crate::http::failure::Failure;
use crate::keys::{Place, Purpose, columns};
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::passkeys::{self, Challenge, ChallengeHash, Kind, NOBODY};
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::{members, tunnels};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use webauthn_rs::prelude::{
    CreationChallengeResponse, CredentialID, DiscoverableAuthentication, Passkey, PasskeyAuthentication,
    PasskeyRegistration, RequestChallengeResponse, Uuid,
};

/// The member whose row is read in place of an unknown name's, so that both take the same time.
const STAND_IN: MemberId = MemberId(1);

/// The name of a new passkey, and the client's own number of its device.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Label {
    pub name: String,
    pub device_id: Option<i64>,
}

/// The purpose of a ceremony. A response to a challenge of one intent is refused for every other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Intent {
    /// A session of the API, or a new passkey.
    #[default]
    SignIn,
    /// A session of the desk.
    Desk,
    /// A session of the member's own pages.
    Own,
    /// A sign-in at a kiosk.
    Kiosk,
    /// The signature under the entry with this number.
    SignEntry(EntryId),
    /// The signature under one document.
    #[serde(rename = "sign_paper")]
    SignDocument(DocumentDigest),
}

/// The sealed state of a sign-in between challenge and answer.
#[derive(Serialize, Deserialize)]
struct SignInState {
    rp_id: String,
    /// A challenge from before there were intents is for a sign-in.
    #[serde(default)]
    intent: Intent,
    #[serde(flatten)]
    expected: Expected,
}

/// Whose passkey may respond to the challenge of a sign-in.
#[derive(Serialize, Deserialize)]
enum Expected {
    /// That of the account that was named.
    #[serde(rename = "state")]
    Named(PasskeyAuthentication),
    /// Any passkey of the site. The response says whose it is.
    #[serde(rename = "discoverable")]
    Anybody(DiscoverableAuthentication),
}

/// The sealed state of a registration between challenge and answer.
#[derive(Serialize, Deserialize)]
struct RegistrationState {
    rp_id: String,
    state: PasskeyRegistration,
    label: Label,
}

/// The options for a browser, and the challenge that awaits its response.
pub(crate) struct CeremonyOptions {
    /// `PublicKeyCredentialRequestOptions` or `PublicKeyCredentialCreationOptions` as JSON.
    pub public_key: Value,
    hash: ChallengeHash,
    challenge: Challenge,
}

impl CeremonyOptions {
    /// Stores the challenge.
    pub(crate) fn store(&self, tx: &Write) -> Result<(), Failure> {
        passkeys::insert_challenge(tx, &self.hash, &self.challenge, tx.now() + CHALLENGE_SECONDS)?;
        Ok(())
    }
}

/// The options for a sign-in under this name. An unknown name, and a member without passkeys, get decoys, at the same cost.
pub(crate) fn start_sign_in(
    site: &Site,
    party: &RelyingParty,
    name: &str,
    intent: Intent,
) -> Result<CeremonyOptions, Failure> {
    let (member_id, own) = site.store.read(|tx| {
        let account = members::find_certain_account(tx, name)?;
        // A row takes time to read: in place of a missing row another one is read, here and below.
        if account.is_none() {
            members::find_account_by_id(tx, STAND_IN)?;
        }
        let member_id = account.map_or(NOBODY, |account| account.member_id);
        let own = passkeys::list_public_keys(tx, member_id, &party.id)?;
        if own.is_empty() {
            passkeys::find_any_public_key(tx)?;
        }
        Ok((member_id, own))
    })?;
    let decoys = decoys::public_keys(&site.keys, &party.id, name);
    let (member_id, texts) = if own.is_empty() { (NOBODY, decoys) } else { (member_id, own) };
    let (options, state) = party
        .webauthn(&party.id)?
        .start_passkey_authentication(&passkeys_from(&texts)?)
        .map_err(|e| Failure::broken().because(e))?;
    sign_in_options(site, party, member_id, &options, intent, Expected::Named(state))
}

/// The options for a sign-in by any passkey that the authenticator has for this site: nobody is named.
pub(crate) fn start_discoverable_sign_in(
    site: &Site,
    party: &RelyingParty,
    intent: Intent,
) -> Result<CeremonyOptions, Failure> {
    let started = party.webauthn(&party.id)?.start_discoverable_authentication();
    let (mut options, state) = started.map_err(|e| Failure::broken().because(e))?;
    options.public_key.extensions = None;
    sign_in_options(site, party, NOBODY, &options, intent, Expected::Anybody(state))
}

fn sign_in_options(
    site: &Site,
    party: &RelyingParty,
    member_id: MemberId,
    options: &RequestChallengeResponse,
    intent: Intent,
    expected: Expected,
) -> Result<CeremonyOptions, Failure> {
    let hash = challenge_hash(site, &options.public_key.challenge);
    Ok(CeremonyOptions {
        hash,
        public_key: to_json(&options.public_key)?,
        challenge: Challenge {
            kind: Kind::SignIn,
            member_id,
            session_hash: None,
            sealed: seal(site, &hash, member_id, &SignInState { rp_id: party.id.clone(), intent, expected })?,
        },
    })
}

/// The options for registering a passkey. `session`: the session in which the response is accepted. Refused where the
/// member has [`KEYS_MAX`] passkeys.
pub(crate) fn start_registration(
    site: &Site,
    party: &RelyingParty,
    (member_id, session): (MemberId, &TokenHash),
    label: Label,
) -> Result<CeremonyOptions, Failure> {
    let (profile, shown, held, known) = site.store.read(|tx| {
        let profile = members::find(tx, member_id)?.ok_or_else(Failure::not_signed_in)?;
        let shown = tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.name);
        let known = passkeys::list_public_keys(tx, member_id, &party.id)?;
        Ok((profile, shown, passkeys::count(tx, member_id)?, known))
    })?;
    if held >= KEYS_MAX {
        return Err(Failure::passkeys_full());
    }
    let known: Vec<CredentialID> = passkeys_from(&known)?.iter().map(|passkey| passkey.cred_id().clone()).collect();
    let handle = user_handle(site, member_id);
    let (mut options, state) = party
        .webauthn(shown.as_deref().unwrap_or(&party.id))?
        .start_passkey_registration(handle, &profile.username, &profile.screen_name, Some(known))
        .map_err(|e| Failure::broken().because(e))?;
    prefer_discoverable(&mut options)?;
    let hash = challenge_hash(site, &options.public_key.challenge);
    Ok(CeremonyOptions {
        hash,
        public_key: to_json(&options.public_key)?,
        challenge: Challenge {
            kind: Kind::Register,
            member_id,
            session_hash: Some(*session),
            sealed: seal(site, &hash, member_id, &RegistrationState { rp_id: party.id.clone(), state, label })?,
        },
    })
}

/// Asks the authenticator for a passkey that it finds by itself, without a username. One that cannot keep such passkeys makes
/// one of the other kind. The library knows only required and discouraged.
fn prefer_discoverable(options: &mut CreationChallengeResponse) -> Result<(), Failure> {
    let selection = options.public_key.authenticator_selection.as_mut();
    let selection = selection.ok_or_else(|| Failure::broken().because("registration options have no selection"))?;
    let preferred = serde_json::from_value(json!("preferred")).map_err(|e| Failure::broken().because(e))?;
    selection.resident_key = Some(preferred);
    Ok(())
}

fn challenge_hash(site: &Site, challenge: &[u8]) -> ChallengeHash {
    site.keys.hash(Purpose::PasskeyChallenge, &[challenge])
}

/// A member's id for authenticators. Independent of the site key, which may be rotated while passkeys live for years.
fn user_handle(site: &Site, member_id: MemberId) -> Uuid {
    let digest = Sha256::digest(format!("passkey user {member_id} of {}", site.site_id));
    Uuid::from_slice(&digest[..16]).expect("sixteen bytes are a UUID")
}

fn place(hash: &ChallengeHash, member_id: MemberId) -> Place {
    columns::PASSKEY_CHALLENGE.at([hash.into(), member_id.into()])
}

fn seal(site: &Site, hash: &ChallengeHash, member_id: MemberId, state: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let plain = serde_json::to_vec(state).map_err(|e| Failure::broken().because(e))?;
    Ok(site.keys.seal(&place(hash, member_id), &plain))
}

fn to_json(options: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(options).map_err(|e| Failure::broken().because(e))
}

fn text_of(passkey: &Passkey) -> Result<String, Failure> {
    serde_json::to_string(passkey).map_err(|e| Failure::broken().because(e))
}

fn passkey_from(text: &str) -> Result<Passkey, Failure> {
    serde_json::from_str(text).map_err(|_| Failure::broken().because("a stored passkey cannot be read"))
}

fn passkeys_from(texts: &[String]) -> Result<Vec<Passkey>, Failure> {
    texts.iter().map(|text| passkey_from(text)).collect()
}
