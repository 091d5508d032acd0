//! Tokens that are accepted, and tokens that are refused.

use super::issuer::{CLIENT_ID, Issuer, SECRET, claims, sealed, text};
use super::{by_google, is_refused, member, send};
use crate::harness::Site;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

fn hmac(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

fn with(claims: &Value, name: &str, value: Value) -> Value {
    let mut changed = claims.clone();
    match value {
        Value::Null => _ = changed.as_object_mut().unwrap().remove(name),
        value => changed[name] = value,
    }
    changed
}

#[test]
fn both_kinds_of_key_and_every_field_name_sign_in() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = claims(&site, "1", "jane@example.com");
    let id = member(&by_google(&site, &issuer.token(&jane)));
    let curve = issuer.signed_by_curve(&json!({ "alg": "ES256", "kid": "e" }), &jane);
    for field in ["id_token", "credential", "identityToken"] {
        assert_eq!(member(&send(&site, "google", &json!({ field: curve })).json()), id);
    }
    assert_eq!(member(&by_google(&site, &issuer.token(&with(&jane, "aud", json!([CLIENT_ID]))))), id);
    assert_eq!(member(&by_google(&site, &issuer.token(&with(&jane, "iss", json!("accounts.google.com"))))), id);
    for claim in ["iat", "nbf", "exp"] {
        let moment = jane[claim].as_i64().unwrap_or(site.now()) as f64 + 0.5;
        assert_eq!(
            member(&by_google(&site, &issuer.token(&with(&jane, claim, json!(moment))))),
            id,
            "{claim} {moment}"
        );
    }
}

#[test]
fn each_claim_that_is_wrong_is_refused_with_the_same_bytes() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let (jane, now) = (claims(&site, "1", "jane@example.com"), site.now());
    let header = json!({ "alg": "RS256", "kid": "r" });
    let changes = [
        ("iss", json!("https://appleid.apple.com")),
        ("iss", Value::Null),
        ("aud", json!("other.example.org")),
        ("aud", json!([CLIENT_ID, "other.example.org"])),
        ("aud", json!([])),
        ("aud", Value::Null),
        ("exp", json!(now)),
        ("exp", json!(now + 10 * 86_400)),
        ("exp", json!(i64::MAX)),
        ("exp", Value::Null),
        ("iat", json!(now + 61)),
        ("iat", json!(now - 2 * 86_400)),
        ("iat", json!(i64::MIN)),
        ("iat", Value::Null),
        ("nbf", json!(now + 61)),
        ("sub", json!("")),
        ("sub", json!(1)),
        ("sub", Value::Null),
        ("sub", json!("x".repeat(256))),
    ];
    let mut bad: Vec<_> = changes.into_iter().map(|(name, value)| issuer.token(&with(&jane, name, value))).collect();
    let good = issuer.token(&jane);
    let (message, signature) = good.rsplit_once('.').unwrap();
    bad.extend([
        issuer.signed_by_other(&header, &jane),
        issuer.signed(&json!({ "alg": "RS256", "kid": "unknown" }), &jane),
        issuer.signed(&json!({ "alg": "RS256" }), &jane),
        issuer.signed(&json!({ "alg": "RS256", "kid": "e" }), &jane),
        issuer.signed(&json!({ "alg": "RS512", "kid": "r" }), &jane),
        issuer.signed(&json!({ "alg": "ES256", "kid": "r" }), &jane),
        issuer.signed(&json!({ "alg": "RS256", "kid": "r", "crit": ["x"] }), &jane),
        issuer.signed_by_curve(&json!({ "alg": "RS256", "kid": "e" }), &jane),
        sealed(&json!({ "alg": "none", "kid": "r" }), &jane, |_| Vec::new()),
        sealed(&json!({ "alg": "RS256", "kid": "r" }), &jane, |_| Vec::new()),
        sealed(&json!({ "alg": "HS256", "kid": "r" }), &jane, |m| hmac(&issuer.public_modulus(), m)),
        format!("{message}."),
        message.to_owned(),
        format!("{good}.{signature}"),
        format!("{good}="),
        good[1..].to_owned(),
        "..".to_owned(),
        "x".repeat(9000),
    ]);
    let first = send(&site, "google", &json!({})).body;
    is_refused(&serde_json::from_slice(&first).unwrap());
    for (place, token) in bad.iter().enumerate() {
        assert_eq!(send(&site, "google", &json!({ "id_token": token })).body, first, "{place}: {token}");
    }
    for params in [json!([]), json!("x"), json!({ "id_token": 7 })] {
        assert_eq!(send(&site, "google", &params).body, first);
    }
    assert_eq!(send(&site, "apple", &json!({ "id_token": good })).body, first, "Google's token is not Apple's");
    member(&by_google(&site, &good));
}

#[test]
fn a_new_key_file_is_used_at_once_and_a_broken_one_is_reported() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let token = issuer.token(&claims(&site, "1", "jane@example.com"));
    let id = member(&by_google(&site, &token));
    issuer.publish(&json!({ "keys": [issuer.rsa_jwk("another")] }));
    let wrong = is_refused(&by_google(&site, &token));
    issuer.publish(&json!({ "keys": "none" }));
    assert_ne!(is_refused(&by_google(&site, &token)), wrong);
    issuer.publish(&json!({ "keys": [issuer.rsa_jwk("r")] }));
    assert_eq!(member(&by_google(&site, &token)), id);
}

#[test]
fn a_network_that_is_not_configured_is_named_in_the_refusal() {
    let site = Site::open();
    for (network, name) in [("google", "Google"), ("apple", "Apple"), ("facebook", "Facebook")] {
        assert!(is_refused(&send(&site, network, &json!({})).json()).contains(name));
    }
    let unknown = json!({ "params": "{}", "socialType": "friendster" });
    assert_eq!(site.stranger().post("/auth/social", unknown).refused(422).bad_fields(), ["socialType"]);
}

#[test]
fn a_signed_request_of_facebook_is_valid_for_ten_minutes() {
    let site = Issuer::new().site();
    let request = |secret: &str, payload: &Value| {
        let payload = text(payload.to_string().as_bytes());
        let digest: Vec<u8> = hmac(secret.as_bytes(), payload.as_bytes());
        json!({ "signed_request": format!("{}.{payload}", text(&digest)) })
    };
    let said = json!({ "algorithm": "HMAC-SHA256", "issued_at": site.now() - 600, "user_id": "218471" });
    let id = member(&send(&site, "facebook", &request(SECRET, &said)).json());
    assert_eq!(member(&send(&site, "facebook", &request(SECRET, &said)).json()), id);
    let refused = |params: &Value| is_refused(&send(&site, "facebook", params).json());
    refused(&request("other", &said));
    for (name, value) in [
        ("algorithm", json!("none")),
        ("issued_at", json!(site.now() - 601)),
        ("issued_at", json!(site.now() + 61)),
        ("issued_at", Value::Null),
        ("user_id", json!(218_471)),
        ("user_id", json!("")),
    ] {
        refused(&request(SECRET, &with(&said, name, value)));
    }
    // The published test vector has a valid signature, but is from 2010.
    refused(
        &json!({ "signedRequest": "N32LNcvDGXq0GI1jxm-tj1ysJh2uqkNIBcUhUmTp19k.eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsImV4cGlyZXMiOjEyOTE4NDA0MDAsImlzc3VlZF9hdCI6MTI5MTgzNjgwMCwidXNlcl9pZCI6IjIxODQ3MSJ9" }),
    );
}

#[test]
fn a_token_with_a_nonce_is_valid_only_with_that_nonce() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let mut said = claims(&site, "1", "ann@example.com");
    let plain = issuer.token(&said);
    said["nonce"] = json!("n-0S6_WzA2Mj");
    let bound = issuer.token(&said);
    said["nonce"] = json!("d6cf80a5de8ea5ccbd26f9aa9ab18a7f2f1a3f1f3b8b8c8b9e6c3b5ddf1d6a10");
    let other = issuer.token(&said);
    // The SHA-256 of the nonce in hex: an app that keeps the nonce secret sends the network this hash.
    said["nonce"] = json!(tunneldesk::keys::hex(&tunneldesk::auth::token_hash("n-0S6_WzA2Mj")));
    let hashed = issuer.token(&said);
    let enters = |token: &str, nonce: Option<&str>| {
        let params = json!({ "id_token": token, "nonce": nonce });
        send(&site, "google", &params).json()["status"] == true
    };
    let given = Some("n-0S6_WzA2Mj");
    assert!(enters(&plain, None) && enters(&bound, given) && enters(&hashed, given));
    assert!(!enters(&bound, None) && !enters(&bound, Some("another")) && !enters(&bound, Some("")));
    assert!(!enters(&plain, given) && !enters(&other, given) && !enters(&hashed, None));
}
