//! Signatures as a site makes them over what lies off site.

use super::Desk;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// A key that signs copies.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    pub fn from_seed(seed: [u8; 32]) -> SigningKey {
        SigningKey(Ed25519KeyPair::from_seed_unchecked(&seed).unwrap())
    }

    /// The key of a site.
    pub fn of(desk: &Desk) -> SigningKey {
        let text = std::fs::read_to_string(desk.data().join("signing.key")).unwrap();
        let digits = text.lines().next().unwrap().strip_prefix("ed25519 ").unwrap();
        let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap();
        SigningKey::from_seed(std::array::from_fn(byte))
    }

    /// The public key, in hex.
    pub fn public(&self) -> String {
        hex(self.0.public_key().as_ref())
    }

    pub fn sign(&self, kind: &str, parts: &[&[u8]]) -> Vec<u8> {
        let mut message = format!("tunneldesk {kind}\n").into_bytes();
        for part in parts {
            message.extend((part.len() as u64).to_be_bytes());
            message.extend(*part);
        }
        self.0.sign(&message).as_ref().to_vec()
    }

    /// Writes a manifest into a backup, signed for its name and with a checksum that matches.
    pub fn write_manifest(&self, backup: &Path, mut manifest: Value) {
        let zeros = ["0".repeat(128), "0".repeat(64)];
        let name = backup.file_name().unwrap().to_str().unwrap();
        manifest["signature"] = json!({ "name": name, "key": self.public(), "earlier": [], "value": zeros[0] });
        manifest["checksum"] = zeros[1].clone().into();
        let text = serde_json::to_string_pretty(&manifest).unwrap() + "\n";
        let text = text.replacen(&zeros[0], &hex(&self.sign("Manifest", &[text.as_bytes()])), 1);
        let text = text.replacen(&zeros[1], &hex(&Sha256::digest(&text)), 1);
        std::fs::write(backup.join("manifest.json"), text).unwrap();
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
