//! A new e-mail address or telephone number.

use crate::harness::{Caller, Site};
use serde_json::{Value, json};
use std::time::Duration;

const SEND: &str = "/account/profile/send-verification-passcode";
const VERIFY: &str = "/account/profile/verify-verification-passcode";

fn passcode(site: &Site) -> String {
    site.mails().pop().expect("a message waits")["values"]["passcode"].as_str().unwrap().to_owned()
}

fn verify(member: &Caller, body: Value) -> bool {
    member.post(VERIFY, body).ok().json()["status"].as_bool().unwrap()
}

#[test]
fn an_address_is_changed_by_the_passcode_sent_to_it() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.post(SEND, json!({"email": "new@example.com"})).ok();
    let code: i64 = passcode(&site).parse().unwrap();
    assert!(!verify(&jane, json!({"email": "new@example.com", "passcode": (code + 1) % 1_000_000})));
    assert!(verify(&jane, json!({"email": "new@example.com", "passcode": code})), "a number loses its zeros");
    let profile = jane.get("/account/profile/user").ok().json();
    assert_eq!((profile["email"].as_str(), profile["email_verified"].as_bool()), (Some("new@example.com"), Some(true)));
    assert!(!verify(&jane, json!({"email": "new@example.com", "passcode": code})), "once");
}

#[test]
fn a_passcode_is_valid_only_for_the_address_it_was_sent_to() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    jane.post(SEND, json!({"email": "new@example.com"})).ok();
    let code = passcode(&site);
    assert!(!verify(&mark, json!({"email": "new@example.com", "passcode": code})));
    assert!(!verify(&jane, json!({"phone": "446681800", "country": "41", "passcode": code})));
    assert!(!verify(&jane, json!({"email": "other@example.com", "passcode": code})));
    assert_eq!(jane.get("/account/profile/user").ok().json()["email"], "jane@example.com");
}

#[test]
fn an_address_is_the_same_however_it_is_spelt_and_is_kept_as_mail_reached_it() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.post(SEND, json!({"email": "New.Jane@Example.com"})).ok();
    assert!(verify(&jane, json!({"email": "new.jane@EXAMPLE.com", "passcode": passcode(&site)})));
    assert_eq!(jane.get("/account/profile/user").ok().json()["email"], "New.Jane@Example.com");
}

#[test]
fn a_wrong_address_is_one_try_of_five_with_the_answer_to_a_wrong_code() {
    let site = Site::open();
    let jane = site.member("jane");
    for (misses, kept) in [(4, true), (5, false)] {
        let new = format!("new{misses}@example.com");
        jane.post(SEND, json!({"email": new})).ok();
        let code: i64 = passcode(&site).parse().unwrap();
        let wrong_code = json!({"email": new, "passcode": (code + 1) % 1_000_000});
        let wrong_address = json!({"email": "other@example.com", "passcode": code});
        let answer = jane.post(VERIFY, wrong_code).ok().body;
        for _ in 1..misses {
            assert_eq!(jane.post(VERIFY, &wrong_address).ok().body, answer);
        }
        assert_eq!(verify(&jane, json!({"email": new, "passcode": code})), kept, "{misses} misses");
    }
    assert_eq!(jane.get("/account/profile/user").ok().json()["email"], "new4@example.com");
}

#[test]
fn a_number_that_it_did_not_go_to_is_one_try_too() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.post(SEND, json!({"country": 41, "phone": 446681800})).ok();
    let code = passcode(&site);
    assert!(!verify(&jane, json!({"country": 41, "phone": 446681801, "passcode": code})));
    assert!(verify(&jane, json!({"country": "CH", "phone": "044 668 18 00", "passcode": code})));
}

#[test]
fn a_passcode_that_comes_as_a_number_has_its_leading_zeros() {
    let site = Site::open();
    let jane = site.member("jane");
    let code =
        site.passcode_from_zero(&jane, || _ = site.again(&jane).post(SEND, json!({"email": "new@example.com"})).ok());
    assert!(verify(&site.again(&jane), json!({"email": "new@example.com", "passcode": code.parse::<i64>().unwrap()})));
}

#[test]
fn after_five_passcodes_an_hour_the_answer_has_a_retry_after() {
    let site = Site::open();
    let jane = site.member("jane");
    // Each attempt uses a session whose proof is fresh, although the clock moves.
    let send = || site.again(&jane).post(SEND, json!({"email": "new@example.com"}));
    send().ok();
    site.advance(Duration::from_secs(600));
    for _ in 0..4 {
        send().ok();
    }
    assert_eq!(send().refused(429).header("retry-after"), Some("3000"));
    site.advance(Duration::from_secs(2999));
    assert_eq!(send().refused(429).header("retry-after"), Some("1"));
    site.advance(Duration::from_secs(1));
    send().ok();
    assert_eq!(send().refused(429).header("retry-after"), Some("600"), "the next ones are ten minutes younger");
}

#[test]
fn a_number_is_stored_as_it_is_called() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.post(SEND, json!({"country": 41, "phone": 446681800})).ok();
    let message = site.mails().pop().unwrap();
    assert_eq!((message["channel"].as_str(), message["recipient"].as_str()), (Some("sms"), Some("+41446681800")));
    assert!(verify(&jane, json!({"country": "+41", "phone": "044 668 18 00", "passcode": passcode(&site)})));
    let profile = jane.get("/account/profile/user").ok().json();
    assert_eq!((profile["phone"].as_str(), profile["phone_verified"].as_bool()), (Some("+41446681800"), Some(true)));
}

#[test]
fn a_number_is_the_same_however_it_and_its_country_are_written() {
    let site = Site::open_with(|config| config.calling_codes = vec![39, 41]);
    let jane = site.member("jane");
    for (country, phone, stored) in [
        (json!("+39"), json!("06 6982 1234"), "+390669821234"),
        (json!(39.0), json!("0039 06 6982 1234"), "+390669821234"),
        (json!("IT"), json!("+39 06 6982 1234"), "+390669821234"),
        (json!(41), json!(446_681_800), "+41446681800"),
        (json!("0041"), json!("0041 44 668 18 00"), "+41446681800"),
        (json!("CHE"), json!("044 668 18 00"), "+41446681800"),
    ] {
        site.advance(Duration::from_secs(3600));
        site.prove_all();
        jane.post(SEND, json!({"country": country, "phone": phone})).ok();
        let code = passcode(&site);
        assert!(verify(&jane, json!({"country": "IT", "phone": stored, "passcode": code})), "{country} {phone}");
        assert_eq!(jane.get("/account/profile/user").ok().json()["phone"], stored);
    }
    for (country, phone, named) in [
        ("41", "044 668 18", &["phone"][..]),
        ("39", "06 6982 1234 567 890", &["phone"]),
        ("999", "044 668 18 00", &["country"]),
        ("ZZ", "079 123 45 67", &["country"]),
        ("ZZ", "x", &["country", "phone"]),
    ] {
        let reply = jane.post(SEND, json!({"country": country, "phone": phone}));
        assert_eq!(reply.refused(422).bad_fields(), named, "{country} {phone}");
    }
}

#[test]
fn an_address_that_another_member_confirmed_stays_theirs() {
    let site = Site::open();
    let (jane, _mark) = (site.member("jane"), site.member("mark"));
    jane.post(SEND, json!({"email": "mark@example.com"})).ok();
    jane.post(VERIFY, json!({"email": "mark@example.com", "passcode": passcode(&site)})).refused(409);
    assert_eq!(jane.get("/account/profile/user").ok().json()["email"], "jane@example.com");
}

#[test]
fn bad_fields_are_named_and_an_address_gets_five_passcodes_an_hour() {
    let site = Site::open();
    let jane = site.member("jane");
    assert_eq!(jane.post(SEND, json!({})).refused(422).bad_fields(), ["email"]);
    assert_eq!(jane.post(SEND, json!({"phone": "12"})).refused(422).bad_fields(), ["country"]);
    assert_eq!(jane.post(SEND, json!({"phone": "12", "country": "41"})).refused(422).bad_fields(), ["phone"]);
    assert_eq!(
        jane.post(VERIFY, json!({"email": "a@example.com", "passcode": "x"})).refused(422).bad_fields(),
        ["passcode"]
    );
    for _ in 0..5 {
        jane.post(SEND, json!({"email": "new@example.com"})).ok();
    }
    jane.post(SEND, json!({"email": "NEW@example.com"})).refused(429);
}
