//! Account recovery: a new password for a member who has lost the old one.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::security_answers;

const QUESTIONS: &str = "/auth/account-access/security-questions";
const RECOVER: &str = "/auth/account-access/recover-password";
const USERNAME: &str = "/auth/account-access/recover-username";
const NEW: &str = "four dry socks in a row";

/// A member, Jane, who answered question 3 with "volvo".
fn jane(site: &Site) -> Caller {
    let jane = site.member("jane");
    let phc = site.inside().hash("volvo");
    site.change(|tx| Ok(security_answers::set(tx, MemberId(jane.id), 3, &phc)?));
    jane
}

fn ask(site: &Site, username: &str) -> Reply {
    site.stranger().post(RECOVER, json!({"username": username, "option": "email"}))
}

fn passcode(site: &Site) -> String {
    site.mails().pop().expect("a mail waits")["values"]["passcode"].as_str().unwrap().to_owned()
}

fn set(site: &Site, more: Value) -> Value {
    let mut body = json!({"username": "jane", "password": NEW, "answer_3": " VOLVO "});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    site.stranger().post(RECOVER, body).ok().json()
}

fn signs_in(site: &Site, password: &str) -> bool {
    let reply = site.stranger().post("/auth/login", json!({"username": "jane", "password": password}));
    reply.ok().json()["status"].as_bool().unwrap()
}

#[test]
fn passcode_and_answers_set_the_password_and_end_what_the_old_one_opened() {
    let site = Site::open();
    let jane = jane(&site);
    ask(&site, "jane").ok();
    let code = passcode(&site);
    assert_eq!(set(&site, json!({"passcode": code}))["status"], true);
    assert!(signs_in(&site, NEW) && !signs_in(&site, PASSWORD));
    jane.get("/account/profile/user").refused(401);
    assert_eq!(set(&site, json!({"passcode": code, "password": "yet another password"}))["status"], false, "once");
}

#[test]
fn a_mailed_passcode_is_in_any_language_of_members() {
    let site = Site::open();
    jane(&site);
    for (header, language) in [("it-CH, fr;q=0.5", "it"), ("es", "es"), ("pt", "en")] {
        let body = json!({"username": "jane"});
        site.stranger().ask(Method::POST, RECOVER).header("accept-language", header).json(&body).send().ok();
        let newest = "SELECT language FROM outbox ORDER BY message_id DESC LIMIT 1";
        let kept: String = site.change(|tx| Ok(tx.get(newest, [])?));
        assert_eq!(kept, language, "{header}");
    }
}

#[test]
fn every_part_of_the_recovery_proof_is_required() {
    let site = Site::open();
    jane(&site);
    assert_eq!(set(&site, json!({"passcode": "000000"}))["status"], false, "no passcode was asked for");
    ask(&site, "jane").ok();
    let code = passcode(&site);
    let wrong = if code == "111111" { "222222" } else { "111111" };
    for more in [
        json!({"passcode": wrong}),
        json!({"passcode": code, "answer_3": "saab"}),
        json!({"passcode": code, "answer_3": null}),
    ] {
        assert_eq!(set(&site, more.clone())["status"], false, "{more}");
    }
    assert!(signs_in(&site, PASSWORD));
    assert_eq!(set(&site, json!({"passcode": code}))["status"], true, "three misses are not five");
}

#[test]
fn a_weak_password_is_refused_and_the_passcode_stays_valid() {
    let site = Site::open();
    jane(&site);
    ask(&site, "jane").ok();
    let code = passcode(&site);
    let body =
        |password: &str| json!({"username": "jane", "passcode": code, "password": password, "answer_3": "volvo"});
    for weak in ["password", "windwerk", "jane@example.com"] {
        let reply = site.stranger().post(RECOVER, body(weak)).refused(422);
        assert_eq!(reply.bad_fields(), ["password"], "{weak}");
    }
    assert!(signs_in(&site, PASSWORD));
    assert_eq!(site.stranger().post(RECOVER, body(NEW)).ok().json()["status"], true);
}

#[test]
fn nothing_about_the_owner_is_revealed_without_the_proof() {
    let site = Site::open();
    jane(&site);
    let guess =
        |name: &str| json!({"username": name, "passcode": "000000", "password": "jane@example.com", "answer_3": "x"});
    let known = site.stranger().post(RECOVER, guess("jane")).ok();
    assert_eq!(known.body, site.stranger().post(RECOVER, guess("nobody")).ok().body);
}

#[test]
fn five_wrong_tries_or_ten_minutes_cost_the_passcode() {
    let site = Site::open();
    jane(&site);
    ask(&site, "jane").ok();
    let code = passcode(&site);
    for _ in 0..5 {
        set(&site, json!({"passcode": code, "answer_3": "saab"}));
        site.advance(Duration::from_secs(60));
    }
    assert_eq!(set(&site, json!({"passcode": code}))["status"], false);
    site.advance(Duration::from_secs(3600));
    ask(&site, "jane").ok();
    let code = passcode(&site);
    site.advance(Duration::from_secs(600));
    assert_eq!(set(&site, json!({"passcode": code}))["status"], false);
}

#[test]
fn an_unknown_name_gets_the_answers_of_a_known_one() {
    let site = Site::open();
    jane(&site);
    let same = |path: &str, known: Value, unknown: Value| {
        assert_eq!(
            site.stranger().post(path, &known).ok().body,
            site.stranger().post(path, &unknown).ok().body,
            "{path} {known}"
        );
    };
    let wrong = |name: &str| json!({"username": name, "passcode": "000000", "password": NEW, "answer_3": "x"});
    same(RECOVER, json!({"username": "jane"}), json!({"username": "nobody"}));
    same(RECOVER, wrong("jane"), wrong("nobody"));
    same(USERNAME, json!({"email": "jane@example.com"}), json!({"email": "nobody@example.com"}));
    same(
        USERNAME,
        json!({"email": "jane@example.com", "passcode": 1}),
        json!({"email": "nobody@example.com", "passcode": 1}),
    );
    for _ in 0..4 {
        ask(&site, "jane").ok();
        ask(&site, "nobody").ok();
    }
    ask(&site, "jane").refused(429);
    ask(&site, "nobody").refused(429);
}

#[test]
fn questions_are_asked_by_body_or_query_and_unknown_names_get_stable_decoys() {
    let site = Site::open();
    jane(&site);
    let by_query = |name: &str| site.stranger().get(&format!("{QUESTIONS}?username={name}")).ok().json();
    let by_body = site.stranger().ask(Method::GET, QUESTIONS).json(&json!({"username": "jane"})).send().ok().json();
    assert_eq!(by_body, by_query("jane"));
    let chosen = json!({"question": 3, "text": "What was the make of your first car or bicycle?"});
    let asked = by_body.as_array().unwrap();
    assert!(asked.len() == 3 && asked.contains(&chosen), "{asked:?}");
    // Some clients send an empty object with every request.
    let stranger = site.stranger();
    let both = |body| stranger.ask(Method::GET, &format!("{QUESTIONS}?username=jane")).json(&body).send();
    assert_eq!(both(json!({})).ok().json(), by_body);
    assert_ne!(both(json!({"username": "nobody"})).ok().json(), by_body, "the body is what the contract sends");
    assert_eq!(both(json!({"username": ["jane"]})).refused(422).bad_fields(), ["username"]);
    let made_up = by_query("nobody");
    assert_eq!((made_up.as_array().map(Vec::len), &by_query("NOBODY")), (Some(3), &made_up));
    let others: Vec<Value> = (0..5).map(|n| by_query(&format!("nobody{n}"))).collect();
    assert!(others.iter().any(|other| *other != made_up));
    assert_eq!(site.stranger().get(QUESTIONS).refused(422).bad_fields(), ["username"]);
}

#[test]
fn fifty_at_once_set_one_password() {
    let site = Site::open();
    site.expects_faults();
    jane(&site);
    ask(&site, "jane").ok();
    let code = passcode(&site);
    let address = site.stranger();
    let set: Vec<bool> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..50)
            .map(|n| {
                let (caller, code) = (address.clone(), code.clone());
                scope.spawn(move || {
                    let body = json!({"username": "jane", "password": format!("{NEW} {n}"), "answer_3": "volvo", "passcode": code});
                    caller.post(RECOVER, &body).ok().json()["status"].as_bool().unwrap()
                })
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(set.iter().filter(|done| **done).count(), 1);
}

#[test]
fn a_username_is_recovered_by_the_mailed_passcode() {
    let site = Site::open();
    jane(&site);
    site.stranger().post(USERNAME, json!({"email": "jane@example.com"})).ok();
    let body = json!({"email": "jane@example.com", "passcode": passcode(&site)});
    let told = site.stranger().post(USERNAME, &body).ok().json();
    assert_eq!((told["status"].as_bool(), told["username"].as_str()), (Some(true), Some("jane")));
    assert_eq!(site.stranger().post(USERNAME, &body).ok().json()["status"], false, "once");
}

#[test]
fn a_passcode_that_comes_as_a_number_has_its_leading_zeros() {
    let site = Site::open();
    let jane = jane(&site);
    let code = site.passcode_from_zero(&jane, || _ = ask(&site, "jane").ok());
    let number: i64 = code.parse().unwrap();
    assert_eq!(set(&site, json!({"passcode": number.to_string()}))["status"], false, "text is what was typed");
    assert_eq!(set(&site, json!({"passcode": number}))["status"], true);

    let by_mail = |more: Value| {
        let mut body = json!({"email": "jane@example.com"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        site.stranger().post(USERNAME, body).ok().json()
    };
    let code = site.passcode_from_zero(&jane, || _ = by_mail(json!({})));
    let number: i64 = code.parse().unwrap();
    assert_eq!(by_mail(json!({"passcode": number.to_string()}))["status"], false, "text is what was typed");
    assert_eq!(by_mail(json!({"passcode": number}))["username"], "jane");
}

#[test]
fn too_many_recoveries_get_a_retry_after_for_known_and_unknown_names() {
    let site = Site::open();
    jane(&site);
    for name in ["jane", "nobody"] {
        ask(&site, name).ok();
    }
    site.advance(Duration::from_secs(1000));
    for name in ["jane", "nobody"] {
        for _ in 0..4 {
            ask(&site, name).ok();
        }
        assert_eq!(ask(&site, name).refused(429).header("retry-after"), Some("2600"), "{name}");
    }
}
