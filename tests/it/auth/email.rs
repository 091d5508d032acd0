//! Confirming an e-mail address.

use crate::harness::{Caller, PASSWORD, Site};
use serde_json::{Value, json};
use std::sync::Barrier;
use std::time::Duration;

fn sign_up(site: &Site, username: &str, email: &str) {
    let body =
        json!({"username": username, "password": PASSWORD, "email": email, "real_name": "Jane Doe", "terms": true});
    site.stranger().post("/auth/signup", body).ok();
}

fn pending(site: &Site, username: &str) -> i64 {
    let login = site.stranger().post("/auth/login", json!({"username": username, "password": PASSWORD})).ok().json();
    login["confirmationPending"].as_i64().unwrap()
}

fn token(site: &Site) -> String {
    let mail = site.mails().pop().expect("a mail waits");
    assert_eq!(mail["template"], "confirm_email");
    mail["values"]["token"].as_str().unwrap().to_owned()
}

fn verify(site: &Site, token: &str) -> Value {
    site.stranger().post("/auth/verify-email", json!({"token": token})).ok().json()
}

#[test]
fn the_mailed_token_confirms_once_and_a_second_click_does_no_harm() {
    let site = Site::open();
    sign_up(&site, "jane", "jane@example.com");
    assert_eq!(pending(&site, "jane"), 1);
    let token = token(&site);
    assert_eq!(verify(&site, &token)["status"], true);
    let (again, other) = (verify(&site, &token), verify(&site, "something else"));
    assert_eq!((&again["status"], &other["status"]), (&json!(false), &json!(false)));
    assert!(again["message"].as_str().unwrap().contains("is confirmed"), "{again}");
    assert_ne!(again["message"], other["message"]);
    assert_eq!(pending(&site, "jane"), 0);
}

#[test]
fn fifty_uses_of_one_token_at_once_are_one_success() {
    let site = Site::open();
    site.expects_faults();
    sign_up(&site, "jane", "jane@example.com");
    let (token, together) = (token(&site), Barrier::new(50));
    let callers: Vec<Caller> = (0..50).map(|_| site.stranger()).collect();
    let confirmed = std::thread::scope(|scope| {
        let confirm = |caller| {
            let (token, together) = (&token, &together);
            scope.spawn(move || {
                together.wait();
                let answer = Caller::post(caller, "/auth/verify-email", json!({"token": token}));
                answer.ok().json()["status"].as_bool().unwrap()
            })
        };
        let threads: Vec<_> = callers.iter().map(confirm).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|done| *done).count()
    });
    assert_eq!(confirmed, 1);
    assert_eq!(pending(&site, "jane"), 0);
}

#[test]
fn a_token_is_valid_for_a_day_and_can_be_renewed_afterwards() {
    let site = Site::open();
    sign_up(&site, "jane", "jane@example.com");
    let old = token(&site);
    site.advance(Duration::from_secs(24 * 3600));
    assert_eq!(verify(&site, &old)["status"], false);
    let resend = |token: &str| site.stranger().post("/auth/verify-email/resend", json!({"token": token})).ok().json();
    let known = resend(&old);
    assert_eq!(known, resend("something else"), "nobody learns whether there was one");
    let new = token(&site);
    assert_ne!(old, new);
    assert_eq!(verify(&site, &new)["status"], true);
    resend(&new);
    assert_eq!(site.mails().len(), 2, "what is confirmed needs no mail");
}

#[test]
fn an_address_of_another_member_gets_a_warning_and_no_token() {
    let site = Site::open();
    site.member("mark");
    sign_up(&site, "jane", "mark@example.com");
    let mail = site.mails().pop().unwrap();
    assert_eq!(
        (mail["template"].as_str(), mail["values"].as_object().map(|v| v.len())),
        (Some("email_taken"), Some(0))
    );
}

#[test]
fn of_two_members_with_one_address_the_first_to_confirm_has_it() {
    let site = Site::open();
    sign_up(&site, "jane", "one@example.com");
    let first = token(&site);
    sign_up(&site, "mark", "one@example.com");
    let second = token(&site);
    assert_eq!(verify(&site, &second)["status"], true);
    assert_eq!(verify(&site, &first)["status"], false);
}
