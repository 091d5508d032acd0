//! Decoys: invented passkeys for names without one, so that a sign-in request does not tell which names have passkeys.

use crate::domain::email;
use crate::keys::{Keys, Purpose};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// Lengths of credential ids in bytes, as common authenticators make them: Windows, Apple and Android, password managers,
/// security keys. With one length for all decoys, any other length would betray a real passkey.
const LENGTHS: [usize; 8] = [32, 32, 32, 20, 20, 16, 16, 64];
/// What authenticators say of their transports, in the order in which they are kept. Passkeys from before they were kept have
/// none.
const DEVICES: &[Option<&[&str]>] = &[Some(&["internal"]), Some(&["hybrid", "internal"]), None];
const SECURITY_KEYS: &[Option<&[&str]>] = &[Some(&["usb"]), Some(&["nfc", "usb"]), None];
const SECURITY_KEY_LENGTH: usize = 64;
/// Typical numbers of passkeys of one member.
const COUNTS: [usize; 8] = [1, 1, 1, 1, 1, 2, 2, 3];
/// A public key whose private key was discarded; its signatures would be refused anyway.
const DECOY_X: &str = "_beTEbBW9-ISXfPxsupPlkpdh6U_eVHMYBSshe59Yvg";
const DECOY_Y: &str = "jcAw89ZnkvFhJNCrgrPWo6jYsBQthcNYniimscwpp6Q";

/// The decoys of a name, always the same in every spelling of it, in the stored form of real passkeys.
pub(super) fn public_keys(keys: &Keys, rp_id: &str, name: &str) -> Vec<String> {
    let name = email::canonical(name);
    let bytes = |n: u8| keys.hash(Purpose::PasskeyDecoy, &[rp_id.as_bytes(), name.as_bytes(), &[n]]);
    let choice = bytes(0);
    let count = COUNTS[usize::from(choice[0]) % COUNTS.len()];
    let one = |n: usize| {
        let length = LENGTHS[usize::from(choice[n]) % LENGTHS.len()];
        let long = [bytes(2 * n as u8), bytes(2 * n as u8 + 1)].concat();
        let common = if length == SECURITY_KEY_LENGTH { SECURITY_KEYS } else { DEVICES };
        let transports = common[usize::from(choice[choice.len() - n]) % common.len()];
        public_key(&long[..length], transports).to_string()
    };
    (1..=count).map(one).collect()
}

/// A passkey with this id that nobody has, in the stored form of real ones.
pub(super) fn with_id(credential_id: &[u8]) -> String {
    public_key(credential_id, None).to_string()
}

fn public_key(credential_id: &[u8], transports: Option<&[&str]>) -> Value {
    let cred_id = URL_SAFE_NO_PAD.encode(credential_id);
    let key = json!({ "EC_EC2": { "curve": "SECP256R1", "x": DECOY_X, "y": DECOY_Y } });
    let extensions = json!({
        "cred_protect": "Ignored", "hmac_create_secret": "NotRequested", "appid": "NotRequested", "cred_props": "Ignored",
    });
    json!({ "cred": {
        "cred_id": cred_id, "cred": { "type_": "ES256", "key": key }, "counter": 0, "transports": transports,
        "user_verified": true, "backup_eligible": false, "backup_state": false, "registration_policy": "required",
        "extensions": extensions, "attestation": { "data": "None", "metadata": "None" }, "attestation_format": "none",
    } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use webauthn_rs::prelude::Passkey;

    fn ids(keys: &Keys, name: &str) -> Vec<Vec<u8>> {
        let read = |text: String| serde_json::from_str::<Passkey>(&text).unwrap().cred_id().to_vec();
        public_keys(keys, "localhost", name).into_iter().map(read).collect()
    }

    #[test]
    fn decoys_depend_on_the_name_the_site_and_the_relying_party_alone() {
        let keys = Keys::from_bytes([7; 32]);
        assert_eq!(ids(&keys, "jane"), ids(&keys, "JANE"));
        assert_ne!(ids(&keys, "jane"), ids(&keys, "mark"));
        assert_ne!(ids(&keys, "jane"), ids(&Keys::from_bytes([8; 32]), "jane"));
        let other_place = public_keys(&keys, "tunnel.example.org", "jane");
        assert_ne!(other_place, public_keys(&keys, "localhost", "jane"));
    }

    #[test]
    fn decoys_have_the_lengths_and_numbers_of_real_passkeys() {
        let keys = Keys::from_bytes([7; 32]);
        let names: Vec<Vec<Vec<u8>>> = (0..400).map(|n| ids(&keys, &format!("name{n}"))).collect();
        let counts: BTreeSet<usize> = names.iter().map(Vec::len).collect();
        let all: Vec<&Vec<u8>> = names.iter().flatten().collect();
        let lengths: BTreeSet<usize> = all.iter().map(|id| id.len()).collect();
        assert_eq!((counts, lengths), (BTreeSet::from(COUNTS), BTreeSet::from(LENGTHS)));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "an id stands twice");
    }
}
