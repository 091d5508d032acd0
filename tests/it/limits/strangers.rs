//! What strangers do in somebody's name leaves the owner's own messages, and a mailbox gets a limited number.

use super::{HOUR, RECOVER};
use crate::harness::{PASSWORD, Reply, Site};
use http::Method;
use serde_json::{Value, json};

const RESEND: &str = "/auth/verify-email/resend";

/// A site behind a proxy that can name other addresses of clients.
fn proxied() -> Site {
    Site::open_with(|config| config.proxies = vec!["127.0.0.1/32".parse().unwrap()])
}

fn post_from(site: &Site, address: &str, path: &str, body: &Value) -> Reply {
    site.stranger().ask(Method::POST, path).header("x-forwarded-for", address).json(body).send()
}

fn recover_from(site: &Site, address: &str, name: &str) -> Reply {
    post_from(site, address, RECOVER, &json!({ "username": name }))
}

fn sign_up_from(site: &Site, address: &str, name: &str, email: &str) {
    let body = json!({
        "username": name, "real_name": "Mo Example", "email": email, "password": PASSWORD, "terms": true,
    });
    post_from(site, address, "/auth/signup", &body).ok();
}

/// The templates of the mails to an address.
fn mails_to(site: &Site, email: &str) -> Vec<String> {
    let mails = site.mails().into_iter().filter(|mail| mail["recipient"] == email);
    mails.map(|mail| mail["template"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sign_ups_with_an_address_leave_its_owner_s_recoveries() {
    let site = proxied();
    site.member("jane");
    for n in 0..6 {
        sign_up_from(&site, &format!("198.51.100.{n}"), &format!("stranger-{n}"), "jane@example.com");
    }
    assert_eq!(mails_to(&site, "jane@example.com"), ["email_taken"; 5], "five an hour, from however many networks");
    recover_from(&site, "203.0.113.1", "jane").ok();
    post_from(&site, "203.0.113.1", "/auth/account-access/recover-username", &json!({"email": "jane@example.com"}))
        .ok();
    let last = ["passcode_recover_password", "passcode_recover_username"];
    assert_eq!(mails_to(&site, "jane@example.com")[5..], last);
}

#[test]
fn sign_ups_with_an_address_leave_its_owner_s_own_sign_up_and_links() {
    let site = proxied();
    for n in 0..6 {
        sign_up_from(&site, "198.51.100.1", &format!("stranger-{n}"), "ann@example.com");
    }
    assert_eq!(mails_to(&site, "ann@example.com").len(), 5, "five an hour");
    site.advance(HOUR);
    sign_up_from(&site, "203.0.113.1", "ann", "ann@example.com");
    assert_eq!(mails_to(&site, "ann@example.com").len(), 6);
    let token = site.mails().pop().unwrap()["values"]["token"].clone();
    post_from(&site, "198.51.100.1", RESEND, &json!({ "token": token })).ok();
    assert_eq!(mails_to(&site, "ann@example.com").len(), 7, "only the owner of the mailbox has the link");
    let token = site.mails().pop().unwrap()["values"]["token"].clone();
    assert_eq!(site.stranger().post("/auth/verify-email", json!({ "token": token })).ok().json()["status"], true);
}

#[test]
fn recoveries_from_one_network_leave_some_of_the_day_for_the_owner_elsewhere() {
    let site = proxied();
    site.member("jane");
    for _ in 0..5 {
        recover_from(&site, "198.51.100.1", "jane").ok();
    }
    for name in ["jane", "JANE"] {
        recover_from(&site, "198.51.100.1", name).refused(429);
    }
    recover_from(&site, "203.0.113.1", "jane").ok();
    assert_eq!(mails_to(&site, "jane@example.com").len(), 5, "the name is not closed elsewhere; five an hour go out");
    site.advance(HOUR);
    for _ in 0..5 {
        recover_from(&site, "198.51.100.1", "jane").ok();
    }
    assert_eq!(mails_to(&site, "jane@example.com").len(), 8, "one network gets eight of ten a day");
    recover_from(&site, "203.0.113.1", "jane").ok();
    assert_eq!(mails_to(&site, "jane@example.com").len(), 9);
    site.advance(HOUR);
    for n in 0..40 {
        recover_from(&site, &format!("203.0.113.{n}"), "jane").ok();
    }
    assert_eq!(mails_to(&site, "jane@example.com").len(), 10, "ten a day, from however many networks");
}

#[test]
fn no_recovery_from_elsewhere_keeps_the_owner_from_one_at_a_device_of_the_owner() {
    let site = proxied();
    let mark = site.member("mark");
    site.member("jane");
    let device_of = |name: &str| {
        let body = json!({ "username": name, "password": PASSWORD });
        site.stranger().post("/auth/login", body).ok().header("x-device-token").unwrap().to_owned()
    };
    let (own, marks) = (device_of("jane"), device_of(&mark.name));
    for n in 0..20 {
        recover_from(&site, &format!("198.51.100.{n}"), "jane").ok();
    }
    assert_eq!(mails_to(&site, "jane@example.com").len(), 5);
    let at_device = |token: &str, name: &str| {
        let body = json!({ "username": name });
        site.stranger().ask(Method::POST, RECOVER).header("x-device-token", token).json(&body).send()
    };
    at_device(&marks, "jane").ok();
    assert_eq!(mails_to(&site, "jane@example.com").len(), 5, "another member's device is a stranger's");
    for sent in 6..11 {
        at_device(&own, "jane").ok();
        assert_eq!(mails_to(&site, "jane@example.com").len(), sent);
    }
    at_device(&own, "jane").refused(429);
    assert_eq!(mails_to(&site, "jane@example.com").len(), 10);
    // Which names are closed at a device tells nothing of accounts.
    for name in ["jane@example.com", "nobody"] {
        for _ in 0..5 {
            at_device(&own, name).ok();
        }
        at_device(&own, name).refused(429);
    }
}
