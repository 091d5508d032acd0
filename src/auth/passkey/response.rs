//! A browser's response to a passkey challenge: parsing, and checking it against the challenge that it names.

use super::relying_party::RelyingParty;
use super::{
    Expected, Intent, Label, RegistrationState, SignInState, challenge_hash, decoys, passkey_from, place, to_json,
    user_handle,
};
use crate::domain::ids::MemberId;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::{Failure, Stop};
use crate::site::Site;
use crate::store::tables::passkeys::{self, Challenge, ChallengeHash, Kind, NOBODY};
use crate::store::tables::sessions::TokenHash;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use webauthn_rs::prelude::{
    AuthenticationResult, Passkey, PublicKeyCredential, RegisterPublicKeyCredential, WebauthnError,
};

/// The transports that are kept of what an authenticator says of itself.
const TRANSPORTS: [&str; 5] = ["ble", "hybrid", "internal", "nfc", "usb"];

/// An authenticator's response to a challenge of ours. The response uses the challenge up, whether or not it proves
/// anything.
pub(crate) struct CheckedResponse {
    pub(crate) hash: ChallengeHash,
    pub(crate) proof: Option<Proof>,
}

/// The fact that a response proves.
pub(crate) enum Proof {
    SignIn {
        member_id: MemberId,
        result: AuthenticationResult,
    },
    /// The signature is right, and its counter shows that the authenticator was copied.
    Copied {
        member_id: MemberId,
        credential_id: Vec<u8>,
    },
    Registration {
        member_id: MemberId,
        session_hash: TokenHash,
        rp_id: String,
        passkey: Box<Passkey>,
        label: Label,
    },
}

/// A credential as browsers send it.
#[derive(Deserialize)]
struct Envelope {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    #[serde(rename = "clientDataJSON")]
    client_data: String,
}

/// The browser's report on the page that started the ceremony.
#[derive(Deserialize)]
struct ClientData {
    challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    cross_origin: bool,
    #[serde(rename = "topOrigin")]
    top_origin: Option<String>,
}

impl ClientData {
    fn read(credential: &str) -> Option<ClientData> {
        let envelope: Envelope = serde_json::from_str(credential).ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(envelope.response.client_data).ok()?).ok()
    }

    /// Whether the page's origin is exactly one of the relying party's, and the page was not framed by another site. The
    /// library compares parsed URLs, and checks frames only at registrations.
    fn comes_from(&self, party: &RelyingParty) -> bool {
        party.origins.contains(&self.origin) && !self.cross_origin && self.top_origin.is_none()
    }
}

/// Checks a response, outside any transaction because signatures take time. `None`: the response names no open challenge.
/// `intent`: the only intent that is accepted here.
pub(crate) fn check_response(
    site: &Site,
    call: &Call,
    credential: &str,
    intent: Intent,
) -> Result<Option<CheckedResponse>, Failure> {
    // Until the response has proven something.
    call.outcome.set(AuthOutcome::WrongCredentials);
    let Some(client) = ClientData::read(credential) else { return Ok(None) };
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(&client.challenge) else { return Ok(None) };
    let hash = challenge_hash(site, &bytes);
    let now = site.now();
    let Some(challenge) = site.store.read(|tx| Ok(passkeys::find_challenge(tx, &hash, now)?))? else { return Ok(None) };
    site.store.release();
    let checked = match challenge.kind {
        Kind::SignIn => sign_in(site, &client, credential, (&hash, &challenge), intent),
        Kind::Register if intent != Intent::SignIn => Err(Stop::Denied("intent")),
        Kind::Register => registration(site, &client, credential, (&hash, &challenge)),
    };
    let proof = match checked {
        Ok(proof) => Some(proof),
        Err(stop) => {
            let why = stop.denial()?;
            tracing::info!(why, "a passkey was refused");
            None
        }
    };
    Ok(Some(CheckedResponse { hash, proof }))
}

/// The proof, or the reason for the log why there is none.
fn sign_in(
    site: &Site,
    client: &ClientData,
    credential: &str,
    (hash, challenge): (&ChallengeHash, &Challenge),
    intent: Intent,
) -> Result<Proof, Stop<&'static str>> {
    let stored: SignInState = unseal(site, hash, challenge)?;
    if stored.intent != intent {
        return Err(Stop::Denied("intent"));
    }
    let Some(party) = RelyingParty::find(site, &stored.rp_id).filter(|party| client.comes_from(party)) else {
        return Err(Stop::Denied("origin"));
    };
    let Ok(parsed) = serde_json::from_str::<PublicKeyCredential>(credential) else { return Err(Stop::Denied("form")) };
    let webauthn = party.webauthn(&party.id)?;
    let handle = parsed.get_user_unique_id().filter(|handle| !handle.is_empty());
    let (member_id, checked, handle_needed) = match stored.expected {
        Expected::Named(state) => (challenge.member_id, webauthn.finish_passkey_authentication(&parsed, &state), false),
        Expected::Anybody(state) => {
            let (member_id, passkey) = find_or_decoy(site, &party, parsed.get_credential_id())?;
            (member_id, webauthn.finish_discoverable_authentication_v2(&parsed, state, &passkey), true)
        }
    };
    // The first branch on decoys: up to here they cost the same time as passkeys.
    if member_id == NOBODY {
        return Err(Stop::Denied("nobody's"));
    }
    // Where nobody was named, the authenticator says by the handle whose passkey it used.
    if handle.map_or(handle_needed, |handle| handle != user_handle(site, member_id).as_bytes()) {
        return Err(Stop::Denied("owner"));
    }
    match checked {
        Ok(result) if result.user_verified() => Ok(Proof::SignIn { member_id, result }),
        Ok(_) => Err(Stop::Denied("user verification")),
        Err(WebauthnError::CredentialPossibleCompromise) => {
            Ok(Proof::Copied { member_id, credential_id: parsed.get_credential_id().to_vec() })
        }
        Err(_) => Err(Stop::Denied("signature")),
    }
}

/// The passkey with this id, and its owner. Whether an id is a passkey's is not told by the time: in place of a missing one
/// another row is read, and a signature is checked.
fn find_or_decoy(site: &Site, party: &RelyingParty, credential_id: &[u8]) -> Result<(MemberId, Passkey), Failure> {
    let found = site.store.read(|tx| {
        let found = passkeys::find_public_key(tx, &party.id, credential_id)?;
        if found.is_none() {
            passkeys::find_any_public_key(tx)?;
        }
        Ok(found)
    })?;
    site.store.release();
    let (member_id, text) = found.unwrap_or_else(|| (NOBODY, decoys::with_id(credential_id)));
    Ok((member_id, passkey_from(&text)?))
}

fn registration(
    site: &Site,
    client: &ClientData,
    credential: &str,
    (hash, challenge): (&ChallengeHash, &Challenge),
) -> Result<Proof, Stop<&'static str>> {
    let stored: RegistrationState = unseal(site, hash, challenge)?;
    let Some(session_hash) = challenge.session_hash else { return Err(Stop::Denied("no session")) };
    let Some(party) = RelyingParty::find(site, &stored.rp_id).filter(|party| client.comes_from(party)) else {
        return Err(Stop::Denied("origin"));
    };
    let Ok(parsed) = serde_json::from_str::<RegisterPublicKeyCredential>(credential) else {
        return Err(Stop::Denied("form"));
    };
    let Ok(passkey) = party.webauthn(&party.id)?.finish_passkey_registration(&parsed, &stored.state) else {
        return Err(Stop::Denied("attestation"));
    };
    let passkey = Box::new(with_transports(&passkey, &parsed.response.transports)?);
    let label = stored.label;
    let member_id = challenge.member_id;
    Ok(Proof::Registration { member_id, session_hash, rp_id: party.id, passkey, label })
}

/// The passkey with its transports, by which browsers find its authenticator. The library keeps only those that a
/// manufacturer vouches for; a browser needs them as a hint.
fn with_transports(passkey: &Passkey, said: &impl Serialize) -> Result<Passkey, Failure> {
    let said = to_json(said)?;
    let mut kept: Vec<&str> = said.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    kept.retain(|transport| TRANSPORTS.contains(transport));
    kept.sort_unstable();
    kept.dedup();
    let mut stored = to_json(passkey)?;
    stored["cred"]["transports"] = if kept.is_empty() { Value::Null } else { json!(kept) };
    serde_json::from_value(stored).map_err(|e| Failure::broken().because(e))
}

fn unseal<T: DeserializeOwned>(site: &Site, hash: &ChallengeHash, challenge: &Challenge) -> Result<T, Failure> {
    let plain = site.keys.unseal(&place(hash, challenge.member_id), &challenge.sealed);
    let plain = plain.ok_or_else(|| Failure::broken().because("a challenge is not sealed by this site's key"))?;
    serde_json::from_slice(&plain)
        .map_err(|_| Failure::broken().because("a challenge has the format of another version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_from(origin: &str, more: &str) -> bool {
        let party = RelyingParty { id: "example.com".into(), origins: vec!["https://example.com".into()] };
        let data = format!(r#"{{"type":"webauthn.get","challenge":"AA","origin":"{origin}"{more}}}"#);
        let credential = format!(r#"{{"response":{{"clientDataJSON":"{}"}}}}"#, URL_SAFE_NO_PAD.encode(data));
        ClientData::read(&credential).unwrap().comes_from(&party)
    }

    #[test]
    fn only_the_exact_origin_is_accepted() {
        assert!(comes_from("https://example.com", "") && comes_from("https://example.com", r#","crossOrigin":false"#));
        for other in [
            "https://badexample.com",
            "https://bad-example.com",
            "https://sub.example.com",
            "https://example.com.evil.org",
            "https://example.com:8443",
            "https://example.com:443",
            "http://example.com",
            "https://EXAMPLE.com",
            "https://example.com/",
            "https://example.com.",
            "https://user@example.com",
            "ftp://example.com",
            "null",
            "",
        ] {
            assert!(!comes_from(other, ""), "{other}");
        }
    }

    #[test]
    fn a_page_framed_by_another_origin_is_refused() {
        assert!(!comes_from("https://example.com", r#","crossOrigin":true"#));
        assert!(!comes_from("https://example.com", r#","topOrigin":"https://evil.org""#));
    }
}
