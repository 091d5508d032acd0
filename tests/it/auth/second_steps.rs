//! Second steps that begin and that nobody finishes.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const LOGIN: &str = "/auth/login";
const SILENT: &str = "/auth/login/silent";

fn credentials(member: &Caller) -> Value {
    json!({ "username": member.name, "password": PASSWORD })
}

/// The second step that the answer asks for.
#[track_caller]
fn begun(reply: &Reply) -> i64 {
    reply.ok_json()["confirmationPending"].as_i64().expect("a number")
}

#[test]
fn after_ten_second_steps_that_nobody_finished_the_next_waits_unless_its_device_is_known() {
    let mut site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let member = &protected.member;
    let verify = |site: &Site, code: &str| {
        let body = json!({ "username": member.name, "password": PASSWORD, "code": code });
        site.stranger().post("/auth/login/verify-totp", body).ok()
    };
    let done = verify(&site, &protected.authenticator.code(site.now()));
    let device = done.header("x-device-token").expect("the device is known now").to_owned();
    let again = |site: &Site, path: &str| site.stranger().post(path, credentials(member));
    for path in [LOGIN, SILENT].repeat(5) {
        assert_eq!(begun(&again(&site, path)), 2);
    }
    site.restart();
    for path in [LOGIN, SILENT] {
        let reply = again(&site, path).refused(429);
        let wait: i64 = reply.header("retry-after").and_then(|wait| wait.parse().ok()).expect("it says how long");
        assert!((1..=600).contains(&wait) && reply.json().get("token").is_none(), "{reply}");
    }
    let wrong = json!({ "username": member.name, "password": "not the password" });
    assert_eq!(site.stranger().post(LOGIN, wrong).ok_json()["status"], false, "who knows no password learns nothing");
    let known = site.stranger();
    let asking = known.ask(Method::POST, LOGIN).header("x-device-token", &device).json(&credentials(member));
    assert_eq!(begun(&asking.send()), 2, "a known device is spared");
    assert_eq!(verify(&site, &protected.recovery_codes[0]).json()["confirmationPending"], 0);
    assert_eq!(begun(&again(&site, LOGIN)), 2, "a finished step ends the count");
    (1..10).for_each(|_| _ = again(&site, LOGIN).ok());
    again(&site, LOGIN).refused(429);
    site.advance(Duration::from_secs(600));
    again(&site, LOGIN).ok();
}
