//! An authenticator in software with a browser around it, honest unless a test changes it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tunneldesk::keys::random;

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;
const AAGUID: [u8; 16] = [0; 16];

/// The page that calls the browser, and how its browser and its authenticator behave.
#[derive(Clone)]
pub struct Page {
    pub origin: String,
    /// Further members of the client data, as a JSON object.
    pub client_data: Value,
    pub user_verified: bool,
    /// The relying party name that the authenticator signs for; `None`: the name in the options.
    pub rp_id: Option<String>,
    /// How the authenticator says that it is reached.
    pub transports: Value,
}

/// A passkey with its secret.
#[derive(Clone)]
pub struct Key {
    secret: SigningKey,
    pub id: Vec<u8>,
    handle: Vec<u8>,
    pub counter: u32,
}

impl Page {
    pub fn at(origin: &str) -> Page {
        Page {
            origin: origin.to_owned(),
            client_data: json!({}),
            user_verified: true,
            rp_id: None,
            transports: json!(["internal"]),
        }
    }

    /// `navigator.credentials.create`: a new passkey, and the credential as JSON text.
    pub fn create(&self, options: &Value) -> (Key, String) {
        let handle = decoded(&options["user"]["id"]);
        let key = Key { secret: new_secret(), id: random::<32>().to_vec(), handle, counter: 0 };
        let credential = self.create_with(&key, options);
        (key, credential)
    }

    /// As [`Page::create`], for an existing key.
    pub fn create_with(&self, key: &Key, options: &Value) -> String {
        let rp_id = options["rp"]["id"].as_str().expect("a name");
        let mut data = self.authenticator_data(rp_id, HAS_CREDENTIAL, key.counter);
        data.extend(AAGUID);
        data.extend((key.id.len() as u16).to_be_bytes());
        data.extend(&key.id);
        data.extend(key.cose());
        let client = self.client_data("webauthn.create", options);
        let response = json!({
            "clientDataJSON": URL_SAFE_NO_PAD.encode(client), "attestationObject": URL_SAFE_NO_PAD.encode(attestation(&data)),
            "transports": self.transports,
        });
        credential(&key.id, &response)
    }

    /// `navigator.credentials.get`: the key's answer as JSON text, whether or not the options name the key.
    pub fn get(&self, key: &mut Key, options: &Value) -> String {
        key.counter += 1;
        let rp_id = options["rpId"].as_str().expect("a name");
        let data = self.authenticator_data(rp_id, 0, key.counter);
        let client = self.client_data("webauthn.get", options);
        let signed = [&data[..], &Sha256::digest(&client)].concat();
        let signature: Signature = key.secret.sign(&signed);
        let response = json!({
            "clientDataJSON": URL_SAFE_NO_PAD.encode(client), "authenticatorData": URL_SAFE_NO_PAD.encode(data),
            "signature": URL_SAFE_NO_PAD.encode(signature.to_der()), "userHandle": URL_SAFE_NO_PAD.encode(&key.handle),
        });
        credential(&key.id, &response)
    }

    fn client_data(&self, kind: &str, options: &Value) -> Vec<u8> {
        let mut data = json!({ "type": kind, "challenge": options["challenge"], "origin": self.origin });
        let more = self.client_data.as_object().expect("JSON members").clone();
        data.as_object_mut().expect("an object").extend(more);
        serde_json::to_vec(&data).expect("JSON")
    }

    fn authenticator_data(&self, rp_id: &str, flags: u8, counter: u32) -> Vec<u8> {
        let rp_id = self.rp_id.as_deref().unwrap_or(rp_id);
        let verified = if self.user_verified { USER_VERIFIED } else { 0 };
        let mut data = Sha256::digest(rp_id).to_vec();
        data.push(flags | USER_PRESENT | verified);
        data.extend(counter.to_be_bytes());
        data
    }
}

impl Key {
    /// The same key, of which the authenticator says that it is another member's, or nobody's.
    pub fn with_handle(&self, handle: &[u8]) -> Key {
        Key { handle: handle.to_vec(), ..self.clone() }
    }

    /// The same key under another id.
    pub fn with_id(&self, id: &[u8]) -> Key {
        Key { id: id.to_vec(), ..self.clone() }
    }

    /// The id by which the site knows the key.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The member's id that the authenticator keeps with the key.
    pub fn handle(&self) -> &[u8] {
        &self.handle
    }

    /// A key with the same id and another secret, as made by an attacker who knows only the id.
    pub fn forged(&self) -> Key {
        Key { secret: new_secret(), ..self.clone() }
    }

    /// A key with this id that was never registered.
    pub fn invented(id: Vec<u8>) -> Key {
        Key { secret: new_secret(), id, handle: Vec::new(), counter: 0 }
    }

    /// The public half as a COSE key: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`.
    fn cose(&self) -> Vec<u8> {
        let point = self.secret.verifying_key().to_sec1_point(false);
        let (x, y) = (point.x().expect("a point").to_vec(), point.y().expect("a point").to_vec());
        [&[0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32][..], &x, &[0x22, 0x58, 32], &y].concat()
    }
}

fn new_secret() -> SigningKey {
    // A random number is not a valid secret of this curve once in 2^32; the loop then tries again.
    loop {
        if let Ok(secret) = SigningKey::from_slice(&random::<32>()) {
            return secret;
        }
    }
}

fn credential(id: &[u8], response: &Value) -> String {
    let id = URL_SAFE_NO_PAD.encode(id);
    json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {} })
        .to_string()
}

/// `{"fmt": "none", "attStmt": {}, "authData": data}` in CBOR.
fn attestation(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u16).to_be_bytes();
    [b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59", &length[..], data].concat()
}

pub fn decoded(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().expect("text")).expect("base64url")
}
