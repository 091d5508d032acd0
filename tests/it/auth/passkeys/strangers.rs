//! A stranger who requests challenges in the name of others learns nothing.

use super::authenticator::decoded;
use super::{Key, OPTION, Page, open, refused, register, sign_in_question, verify};
use crate::auth::timing;
use crate::harness::{Request, Site};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What authenticators say of their transports, of members and of decoys alike.
const TRANSPORTS: [&str; 4] = [r#"["internal"]"#, r#"["hybrid","internal"]"#, r#"["usb"]"#, r#"["nfc","usb"]"#];

/// The options without the parts that differ each time and from name to name.
fn shape(mut question: Value) -> Value {
    question["challenge"] = json!(decoded(&question["challenge"]).len());
    let ids = question["allowCredentials"].as_array().expect("a list").clone();
    for one in &ids {
        assert!([16, 20, 32, 64].contains(&decoded(&one["id"]).len()), "{one}");
        let mut keys: Vec<_> = one.as_object().unwrap().keys().collect();
        keys.retain(|key| *key != "transports" || !TRANSPORTS.contains(&one["transports"].to_string().as_str()));
        assert_eq!(keys, ["id", "type"], "{one}");
    }
    assert!((1..=3).contains(&ids.len()));
    question["allowCredentials"] = json!([]);
    question
}

#[test]
fn a_name_without_passkeys_gets_the_same_decoys_every_time() {
    let site = open();
    let jane = site.member("jane");
    register(&site, &jane);
    site.member("mark");
    let real = shape(sign_in_question(&site, "jane"));
    for name in ["mark", "nobody", "nobody@example.com", "mark@example.com", "a b", "x"] {
        let (first, again) = (sign_in_question(&site, name), sign_in_question(&site, &name.to_uppercase()));
        assert_eq!(first["allowCredentials"], again["allowCredentials"], "{name}");
        assert_ne!(first["challenge"], again["challenge"]);
        assert_eq!(shape(first), real, "{name}");
    }
    let ids: BTreeSet<String> =
        ["mark", "nobody", "jane"].map(|n| sign_in_question(&site, n)["allowCredentials"].to_string()).into();
    assert_eq!(ids.len(), 3);
    let challenges = site.rows()["passkey_challenges"];
    assert_eq!(challenges, 16, "each question leaves a row, whoever is meant");
}

#[test]
fn every_spelling_of_an_address_gets_the_same_decoys_whether_or_not_it_has_an_account() {
    let site = open();
    site.member("mark");
    for name in ["mark", "nobody"] {
        let decoys = |host: &str| sign_in_question(&site, &format!("{name}@{host}"))["allowCredentials"].clone();
        for host in ["\u{ff45}xample.com", "exam\u{ad}ple.com", "example\u{3002}com", "EXAMPLE.COM"] {
            assert_eq!(decoys(host), decoys("example.com"), "{name}@{host:?}");
        }
    }
}

#[test]
fn a_response_for_an_unknown_name_is_refused_like_a_wrong_one() {
    let site = open();
    site.member("mark");
    for name in ["mark", "nobody"] {
        let asked = sign_in_question(&site, name);
        let mut key = Key::invented(decoded(&asked["allowCredentials"][0]["id"]));
        refused(&verify(&site, &Page::at(&site.origin()).get(&mut key, &asked)));
    }
    assert_eq!(site.rows()["passkey_challenges"], 0, "each was used up");
}

#[test]
fn an_address_may_request_a_limited_number_of_challenges_a_minute() {
    let site = Site::open_with(|config| config.limits.passkey_questions_per_minute_per_address = 5);
    let stranger = site.stranger();
    let ask =
        || stranger.ask(Method::POST, OPTION).header("origin", &site.origin()).json(&json!({ "username": "x" })).send();
    for _ in 0..5 {
        ask().ok();
    }
    assert!(ask().refused(429).header("retry-after").is_some());
}

#[test]
fn known_and_unknown_names_take_the_same_time() {
    let site = open();
    let jane = site.member("jane");
    register(&site, &jane);
    // An unknown name whose decoys have the number and length of jane's passkeys: number and length are in the answer,
    // so they are not secret.
    let length = |name: &str| sign_in_question(&site, name).to_string().len();
    let janes = length("jane");
    let nobody = (0..).map(|n| format!("nobody{n}")).find(|name| length(name) == janes).expect("one of many");
    let asking = |name: &str| {
        let request = Request::new(&Method::POST, &format!("/api{OPTION}"));
        request.header("origin", &site.origin()).json(&json!({ "username": name }))
    };
    timing::assert_alike(&site, 500, [asking("jane"), asking(&nobody)], || {});
}
