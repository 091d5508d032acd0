//! Passkeys: what a browser is asked, what its answer proves, and what becomes of it.
//!
//! A challenge lies in the file, sealed, for five minutes, and goes with the transaction that uses it. A passkey whose
//! owner was verified (every one here is) is two factors in itself, so it signs in whoever has it.

mod apply;
mod decoys;
mod relying_party;
mod response;

pub(crate) use apply::{Outcome, apply, identify, prove, remove};
pub(crate) use relying_party::RelyingParty;
pub(crate) use response::{CheckedResponse, check_response};

use super::signer::DocumentDigest;
use crate::domain::passkey::{CHALLENGE_SECONDS, KEYS_MAX};
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::passkeys::{self, Challenge, ChallengeHash, Kind, NOBODY};
use crate::store::tables::sessions::TokenHash;
use crate::store::tables::{members, tunnels};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use webauthn_rs::prelude::{CredentialID, Passkey, PasskeyAuthentication, PasskeyRegistration, Uuid};

/// Whose row is read in the place of nobody's.
const ANYBODY: i64 = 1;

/// The name of a new passkey, and the client's device that holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Label {
    pub name: String,
    pub device_id: Option<i64>,
}

/// The use of an answer. An answer to a challenge of one intent is refused for every other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Intent {
    /// A session of the API, or a new passkey.
    #[default]
    SignIn,
    /// A session of the desk.
    Desk,
    /// A kiosk.
    Kiosk,
    /// The signature under the entry with this number.
    SignEntry(i64),
    /// The signature under everything that stands on one paper.
    #[serde(rename = "sign_paper")]
    SignDocument(DocumentDigest),
}

/// The sealed state of a sign-in between challenge and answer.
#[derive(Serialize, Deserialize)]
struct SignInState {
    rp_id: String,
    /// A question from before there were intents was asked to sign in.
    #[serde(default)]
    intent: Intent,
    state: PasskeyAuthentication,
}

/// The sealed state of a registration between challenge and answer.
#[derive(Serialize, Deserialize)]
struct RegistrationState {
    rp_id: String,
    state: PasskeyRegistration,
    label: Label,
}

/// A question to a browser, and the challenge that will wait for the answer.
pub(crate) struct CeremonyOptions {
    /// `PublicKeyCredentialRequestOptions` or `PublicKeyCredentialCreationOptions` as JSON.
    pub public_key: Value,
    hash: ChallengeHash,
    challenge: Challenge,
}

impl CeremonyOptions {
    /// From here on the answer is waited for.
    pub(crate) fn store(&self, tx: &Write) -> Result<(), Failure> {
        passkeys::insert_challenge(tx, &self.hash, &self.challenge, tx.now() + CHALLENGE_SECONDS)?;
        Ok(())
    }
}

/// Asks for a passkey of whoever goes by this name. A name that nobody has, or whose owner has no passkey, is asked for
/// decoys, at the same cost.
pub(crate) fn start_sign_in(
    site: &Site,
    party: &RelyingParty,
    name: &str,
    intent: Intent,
) -> Result<CeremonyOptions, Failure> {
    let (member_id, own) = site.store.read(|tx| {
        let account = members::find_account(tx, name)?;
        // A row takes time to read: where there is none, another is read in its place, here and below.
        if account.is_none() {
            members::find_account_by_id(tx, ANYBODY)?;
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
    let (mut options, state) = party
        .webauthn(&party.id)?
        .start_passkey_authentication(&passkeys_from(&texts)?)
        .map_err(|e| Failure::broken().because(e))?;
    // How an authenticator is reached is a hint that decoys could not give as plausibly.
    options.public_key.allow_credentials.iter_mut().for_each(|one| one.transports = None);
    Ok(CeremonyOptions {
        hash: challenge_hash(site, &options.public_key.challenge),
        public_key: written(&options.public_key)?,
        challenge: Challenge {
            kind: Kind::SignIn,
            member_id,
            session_hash: None,
            sealed: seal(site, &SignInState { rp_id: party.id.clone(), intent, state })?,
        },
    })
}

/// Asks a signed-in member's browser to make a passkey.
/// `session`: the one in which the answer is good.
pub(crate) fn start_registration(
    site: &Site,
    party: &RelyingParty,
    (member_id, session): (i64, &TokenHash),
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
    let (options, state) = party
        .webauthn(shown.as_deref().unwrap_or(&party.id))?
        .start_passkey_registration(handle, &profile.username, &profile.screen_name, Some(known))
        .map_err(|e| Failure::broken().because(e))?;
    Ok(CeremonyOptions {
        hash: challenge_hash(site, &options.public_key.challenge),
        public_key: written(&options.public_key)?,
        challenge: Challenge {
            kind: Kind::Register,
            member_id,
            session_hash: Some(*session),
            sealed: seal(site, &RegistrationState { rp_id: party.id.clone(), state, label })?,
        },
    })
}

fn challenge_hash(site: &Site, challenge: &[u8]) -> ChallengeHash {
    site.keys.hash(Purpose::PasskeyChallenge, &[challenge])
}

/// How authenticators know a member: not by a number that means something elsewhere, and not by the site key, which may
/// be changed while passkeys live for years.
fn user_handle(site: &Site, member_id: i64) -> Uuid {
    let digest = Sha256::digest(format!("passkey user {member_id} of {}", site.site_id));
    Uuid::from_slice(&digest[..16]).expect("sixteen bytes are a UUID")
}

fn seal(site: &Site, waiting: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let plain = serde_json::to_vec(waiting).map_err(|e| Failure::broken().because(e))?;
    Ok(site.keys.seal(Purpose::PasskeyChallenge, &plain))
}

fn written(options: &impl Serialize) -> Result<Value, Failure> {
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
