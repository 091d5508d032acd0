//! Passkeys, with an authenticator in software; `browser` has one in Chromium.

mod authenticator;
mod browser;
mod discoverable;
mod place;
mod proof;
mod states;
mod strangers;

use crate::harness::{Caller, Reply, Site};
pub use authenticator::{Key, Page};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const OPTION: &str = "/auth/login/bio-web-option";
const VERIFY: &str = "/auth/login/bio-web-verify";
const LIST: &str = "/account/profile/passkeys";

fn open() -> Site {
    Site::open_with(|config| config.limits.passkey_questions_per_minute_per_address = 1_000_000)
}

/// The options for a new passkey, as the page at the site's own origin receives them.
pub fn question(site: &Site, caller: &Caller, body: Value) -> Value {
    let reply = caller.ask(Method::POST, OPTION).header("origin", &site.origin()).json(&body).send().ok();
    let body = reply.json();
    assert_eq!(body["status"], true, "{reply}");
    body["publicKey"].clone()
}

pub fn sign_in_question(site: &Site, name: &str) -> Value {
    question(site, &site.stranger(), json!({ "username": name, "device_id": 7 }))
}

pub fn verify(site: &Site, credential: &str) -> Reply {
    site.stranger().post(VERIFY, json!({ "credential": credential })).ok()
}

/// Registers a passkey of the member through an honest page.
pub fn register(site: &Site, member: &Caller) -> Key {
    let options = question(site, member, json!({ "device_id": 7 }));
    let (key, credential) = Page::at(&site.origin()).create(&options);
    done(&verify(site, &credential));
    key
}

/// Signs in with the key through an honest page.
fn sign_in(site: &Site, name: &str, key: &mut Key) -> Reply {
    let options = sign_in_question(site, name);
    verify(site, &Page::at(&site.origin()).get(key, &options))
}

#[track_caller]
pub fn done(reply: &Reply) {
    assert_eq!(reply.json()["status"], true, "{reply}");
}

/// Asserts that the answer is the refusal, whose bytes are the same for every reason.
#[track_caller]
pub fn refused(reply: &Reply) {
    let body = json!({
        "status": false, "token": "", "confirmationPending": 0, "member_id": 0,
        "message": "This passkey did not work. Please try again, or sign in with your password.",
    });
    assert_eq!(reply.json(), body, "{reply}");
}

fn notices(site: &Site, member: &Caller) -> Vec<(String, String)> {
    let sql = "SELECT subject, detail FROM notices WHERE member_id = ?1 ORDER BY notification_id";
    site.change(|tx| Ok(tx.list(sql, [member.id])?))
}

#[test]
fn a_passkey_is_made_with_a_session_and_signs_in_without_one() {
    let site = open();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let listed = jane.get(LIST).ok().json();
    let wanted =
        json!([{ "passkey_id": 1, "name": "Passkey", "device_id": 7, "created_at": site.now(), "last_used": null }]);
    assert_eq!(listed, wanted);
    site.advance(Duration::from_secs(60));
    for name in ["jane", "JANE", "jane@example.com"] {
        let reply = sign_in(&site, name, &mut key).json();
        assert_eq!((&reply["member_id"], &reply["confirmationPending"]), (&json!(jane.id), &json!(0)), "{reply}");
        let token = reply["token"].as_str().expect("a token").to_owned();
        let anew = jane.with(crate::harness::Credential::Token { header: "token", prefix: "", token });
        assert_eq!(anew.get("/account/profile/user").ok().json()["username"], "jane");
    }
    assert_eq!(jane.get(LIST).ok().json()[0]["last_used"], site.now());
    assert_eq!(notices(&site, &jane), [("notice.passkey_added".into(), r#"{"name":"Passkey"}"#.into())]);
}

#[test]
fn a_passkey_has_the_name_of_its_owner_s_choice_or_of_the_browser() {
    let site = open();
    let jane = site.member("jane");
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    for body in [json!({ "name": " Kitchen tablet " }), json!({})] {
        let asking = jane.ask(Method::POST, OPTION).header("origin", &site.origin()).header("user-agent", firefox);
        let options = asking.json(&body).send().ok().json()["publicKey"].clone();
        done(&verify(&site, &Page::at(&site.origin()).create(&options).1));
    }
    let listed = jane.get(LIST).ok().json();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["Firefox, Linux", "Kitchen tablet"]);
}

#[test]
fn removing_a_passkey_ends_the_sessions_that_it_opened() {
    let site = open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let mut key = register(&site, &jane);
    let token = sign_in(&site, "jane", &mut key).json()["token"].as_str().unwrap().to_owned();
    let thief = jane.with(crate::harness::Credential::Token { header: "token", prefix: "", token });
    thief.get("/account/profile/user").ok();
    let waiting = sign_in_question(&site, "jane");
    mark.delete(&format!("{LIST}/1")).refused(404);
    jane.delete(&format!("{LIST}/2")).refused(404);
    jane.delete(&format!("{LIST}/1")).ok();
    jane.delete(&format!("{LIST}/1")).refused(404);
    thief.get("/account/profile/user").refused(401);
    jane.get("/account/profile/user").ok();
    refused(&verify(&site, &Page::at(&site.origin()).get(&mut key, &waiting)));
    refused(&sign_in(&site, "jane", &mut key));
    assert_eq!(notices(&site, &jane)[1].0, "notice.passkey_removed");
    let mailed: Vec<_> = site.security_events().into_iter().map(|(_, recipient, event)| (recipient, event)).collect();
    let to_jane = |event: &str| ("jane@example.com".to_owned(), event.to_owned());
    assert_eq!(mailed, [to_jane("passkey_added"), to_jane("passkey_removed")]);
}

#[test]
fn a_member_has_ten_passkeys_at_the_most() {
    let site = open();
    let jane = site.member("jane");
    let early = question(&site, &jane, json!({}));
    for _ in 0..10 {
        register(&site, &jane);
    }
    refused(&verify(&site, &Page::at(&site.origin()).create(&early).1));
    let reply = jane.ask(Method::POST, OPTION).header("origin", &site.origin()).json(&json!({})).send().refused(409);
    assert_eq!(reply.json()["code"], "passkeys_full");
    assert_eq!(jane.get(LIST).ok().total(), 10);
}
