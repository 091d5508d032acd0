//! A social network of the tests: its keys, its key file, and the tokens that it issues.

use crate::harness::Site;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tunneldesk::config::{Secret, TokenIssuer};

/// Keys made for these tests and used nowhere else.
const RIGHT: &[u8] = include_bytes!("right.pk8");
const OTHER: &[u8] = include_bytes!("other.pk8");
pub const CLIENT_ID: &str = "app.example.org";
pub const SECRET: &str = "appsecret";

pub struct Issuer {
    rsa: RsaKeyPair,
    other: RsaKeyPair,
    ec: EcdsaKeyPair,
    pub file: NamedTempFile,
}

impl Issuer {
    pub fn new() -> Issuer {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let ec = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let key = |bytes| RsaKeyPair::from_pkcs8(bytes).unwrap();
        let issuer = Issuer { rsa: key(RIGHT), other: key(OTHER), ec, file: NamedTempFile::new().unwrap() };
        issuer.publish(&json!({ "keys": [issuer.rsa_jwk("r"), issuer.ec_jwk("e")] }));
        issuer
    }

    /// Writes the key file, as a timer of the site's machine does.
    pub fn publish(&self, set: &Value) {
        std::fs::write(self.file.path(), set.to_string()).unwrap();
    }

    pub fn rsa_jwk(&self, kid: &str) -> Value {
        let parts = PublicKeyComponents::<Vec<u8>>::from(self.rsa.public());
        json!({ "kty": "RSA", "kid": kid, "alg": "RS256", "use": "sig", "n": text(&parts.n), "e": text(&parts.e) })
    }

    fn ec_jwk(&self, kid: &str) -> Value {
        let point = self.ec.public_key().as_ref();
        json!({ "kty": "EC", "kid": kid, "crv": "P-256", "x": text(&point[1..33]), "y": text(&point[33..]) })
    }

    /// The modulus of the public key, which an attacker has too.
    pub fn public_modulus(&self) -> Vec<u8> {
        PublicKeyComponents::<Vec<u8>>::from(self.rsa.public()).n
    }

    /// A site that trusts this issuer as Google and as Apple.
    pub fn site(&self) -> Site {
        Site::open_with(|config| {
            let issuer = TokenIssuer { client_ids: vec![CLIENT_ID.into()], keys_file: self.file.path().to_owned() };
            config.social.google = Some(issuer.clone());
            config.social.apple = Some(issuer);
            config.social.facebook = Some(Secret::new(SECRET));
        })
    }

    pub fn token(&self, claims: &Value) -> String {
        self.signed(&json!({ "alg": "RS256", "kid": "r", "typ": "JWT" }), claims)
    }

    /// A token signed with the right RSA key.
    pub fn signed(&self, header: &Value, claims: &Value) -> String {
        sealed(header, claims, |message| rsa(&self.rsa, message))
    }

    pub fn signed_by_other(&self, header: &Value, claims: &Value) -> String {
        sealed(header, claims, |message| rsa(&self.other, message))
    }

    pub fn signed_by_curve(&self, header: &Value, claims: &Value) -> String {
        sealed(header, claims, |message| self.ec.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec())
    }
}

fn rsa(key: &RsaKeyPair, message: &[u8]) -> Vec<u8> {
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).unwrap();
    signature
}

/// A token of header, claims and any signature.
pub fn sealed(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", text(header.to_string().as_bytes()), text(claims.to_string().as_bytes()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", text(&signature))
}

pub fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The claims of a Google token for this person.
pub fn claims(site: &Site, subject: &str, email: &str) -> Value {
    json!({
        "iss": "https://accounts.google.com", "aud": CLIENT_ID, "sub": subject, "iat": site.now() - 5, "exp": site.now() + 3600,
        "email": email, "email_verified": true, "name": "Jane Doe",
    })
}
