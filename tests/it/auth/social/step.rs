//! The second factor of members who sign in by a social network and may have no password.

use super::issuer::{Issuer, SECRET, claims, text};
use super::{by_google, is_refused, member, send};
use crate::harness::{Authenticator, Caller, Credential, PASSWORD, Site};
use hmac::{Hmac, KeyInit, Mac};
use http::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::Duration;

const VERIFY: &str = "/auth/login/verify-totp";
const SETUP: &str = "/auth/login/totp/setup";
const VERIFY_SETUP: &str = "/auth/login/totp/verify-setup";
const FACTOR: &str = "/account/profile/2fa-operation";

struct Vouched {
    caller: Caller,
    authenticator: Authenticator,
    recovery_codes: Vec<String>,
}

fn enter(issuer: &Issuer, site: &Site, subject: &str) -> Value {
    by_google(site, &issuer.token(&claims(site, subject, &format!("{subject}@example.com"))))
}

/// The member whom the answer signs in.
fn signed_in(site: &Site, answer: &Value) -> Caller {
    let token = answer["token"].as_str().unwrap().to_owned();
    let mut caller = site.stranger().with(Credential::Token { header: "token", prefix: "", token });
    caller.id = member(answer);
    caller
}

/// A new member without a password who turned on an authenticator app.
fn protected(issuer: &Issuer, site: &Site, subject: &str) -> Vouched {
    let answer = enter(issuer, site, subject);
    let caller = signed_in(site, &answer);
    let authenticator = Authenticator::scan(&caller.post(SETUP, json!({})).ok().json());
    let first = json!({ "code": authenticator.code_away(site.now(), -1) });
    let on = caller.post(VERIFY_SETUP, first).ok().json();
    assert_eq!(on["status"], true, "{on}");
    let codes = on["recovery_codes"].as_array().unwrap();
    let recovery_codes = codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
    Vouched { caller, authenticator, recovery_codes }
}

/// Passes the first factor, and returns the token for the second.
#[track_caller]
fn step(issuer: &Issuer, site: &Site, subject: &str, pending: i64) -> String {
    let answer = enter(issuer, site, subject);
    assert_eq!((&answer["status"], &answer["token"]), (&json!(true), &json!("")), "{answer}");
    assert_eq!(answer["confirmationPending"], pending, "{answer}");
    answer["step_token"].as_str().expect("a step has its token").to_owned()
}

fn verify(site: &Site, step_token: &str, code: &str) -> Value {
    site.stranger().post(VERIFY, json!({ "step_token": step_token, "code": code })).ok().json()
}

#[test]
fn a_challenge_and_a_code_sign_in_once() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = protected(&issuer, &site, "jane");
    let token = step(&issuer, &site, "jane", 2);
    let code = jane.authenticator.code(site.now());
    let body = json!({ "step_token": token, "member_id": jane.caller.id, "code": code });
    assert_eq!(member(&site.stranger().post(VERIFY, body).ok().json()), jane.caller.id);
    is_refused(&verify(&site, &token, &jane.authenticator.code_away(site.now(), 1)));
    is_refused(&verify(&site, &token, &jane.recovery_codes[0]));
    assert_eq!(site.rows()["sign_in_steps"], 0);
    assert_eq!(site.holds_text(&token), Vec::<String>::new());
    let recovered = step(&issuer, &site, "jane", 2);
    assert_eq!(member(&verify(&site, &recovered, &jane.recovery_codes[0])), jane.caller.id);
}

#[test]
fn a_code_that_comes_as_a_number_has_its_leading_zeros() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = protected(&issuer, &site, "jane");
    let code: i64 = site.code_from_zero(&jane.authenticator).parse().unwrap();
    let token = step(&issuer, &site, "jane", 2);
    is_refused(&verify(&site, &token, &code.to_string()));
    let body = json!({ "step_token": token, "code": code });
    assert_eq!(member(&site.stranger().post(VERIFY, body).ok().json()), jane.caller.id);
}

#[test]
fn a_code_alone_and_another_member_s_challenge_open_nothing() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let (jane, mark) = (protected(&issuer, &site, "jane"), protected(&issuer, &site, "mark"));
    let names = |who: &Caller| who.get("/account/profile/user").ok().json()["username"].clone();
    let marks = step(&issuer, &site, "mark", 2);
    let code = || json!(jane.authenticator.code(site.now()));
    let wrong = site.stranger().post(VERIFY, json!({ "step_token": "unknown", "code": code() })).ok().body;
    for body in [
        json!({ "step_token": marks, "code": code() }),
        json!({ "step_token": marks, "member_id": jane.caller.id, "code": code() }),
        json!({ "step_token": marks, "member_id": jane.caller.id, "code": mark.authenticator.code(site.now()) }),
        json!({ "username": names(&jane.caller), "password": "", "step_token": "x", "code": code() }),
        json!({ "username": names(&jane.caller), "password": marks, "member_id": jane.caller.id, "code": code() }),
        json!({ "username": names(&jane.caller), "password": PASSWORD, "member_id": jane.caller.id, "code": code() }),
    ] {
        let reply = site.stranger().post(VERIFY, &body).ok();
        is_refused(&reply.json());
        assert_eq!(reply.body, wrong, "{body}");
    }
    let bare = json!({ "member_id": jane.caller.id, "code": code() });
    assert_eq!(site.stranger().post(VERIFY, bare).refused(422).bad_fields(), ["username", "password"]);
    assert_eq!(site.stranger().post(VERIFY, json!({ "step_token": marks })).refused(422).bad_fields(), ["code"]);
    assert_eq!(member(&verify(&site, &marks, &mark.authenticator.code(site.now()))), mark.caller.id);
}

#[test]
fn a_challenge_ends_after_ten_minutes_five_tries_or_a_new_challenge() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = protected(&issuer, &site, "jane");
    let code = || jane.authenticator.code(site.now());
    let late = step(&issuer, &site, "jane", 2);
    site.advance(Duration::from_secs(600));
    is_refused(&verify(&site, &late, &code()));
    let tried = step(&issuer, &site, "jane", 2);
    for _ in 0..5 {
        is_refused(&verify(&site, &tried, "000000"));
    }
    site.advance(Duration::from_secs(60));
    is_refused(&verify(&site, &tried, &code()));
    let (older, newer) = (step(&issuer, &site, "jane", 2), step(&issuer, &site, "jane", 2));
    is_refused(&verify(&site, &older, &code()));
    member(&verify(&site, &newer, &code()));
}

#[test]
fn ending_the_sessions_ends_the_challenge() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = protected(&issuer, &site, "jane");
    let waiting = step(&issuer, &site, "jane", 2);
    jane.caller.delete("/account/profile/sessions").ok();
    is_refused(&verify(&site, &waiting, &jane.authenticator.code(site.now())));
    let waiting = step(&issuer, &site, "jane", 2);
    site.ban(&jane.caller);
    is_refused(&verify(&site, &waiting, &jane.authenticator.code(site.now())));
}

#[test]
fn failed_codes_of_a_challenge_cause_delays() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = protected(&issuer, &site, "jane");
    for misses in [3, 2] {
        let token = step(&issuer, &site, "jane", 2);
        (0..misses).for_each(|_| _ = is_refused(&verify(&site, &token, "000000")));
    }
    let token = step(&issuer, &site, "jane", 2);
    let right = json!({ "step_token": token, "code": jane.authenticator.code(site.now()) });
    let delayed = site.stranger().post(VERIFY, right).refused(429);
    assert!(delayed.header("retry-after").is_some() && delayed.json().get("token").is_none(), "{delayed}");
    site.advance(Duration::from_secs(60));
    member(&verify(&site, &token, &jane.authenticator.code(site.now())));
}

#[test]
fn a_sent_passcode_passes_the_challenge_of_a_member_without_a_password() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = signed_in(&site, &enter(&issuer, &site, "jane"));
    jane.post(FACTOR, json!({ "operation": "enable" })).ok();
    let token = step(&issuer, &site, "jane", 3);
    let passcode = site.last_passcode(&jane).unwrap();
    member(&verify(&site, &token, &passcode));
}

#[test]
fn a_session_replaces_the_password_only_of_a_member_without_one() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = site.member("jane");
    for path in [SETUP, VERIFY_SETUP] {
        let body = json!({ "code": "000000" });
        assert_eq!(jane.post(path, &body).refused(422).bad_fields(), ["username", "password"], "{path}");
        assert_eq!(site.stranger().post(path, &body).refused(422).bad_fields(), ["username", "password"], "{path}");
    }
    let ann = signed_in(&site, &enter(&issuer, &site, "ann"));
    let other = json!({ "member_id": jane.id });
    is_refused(&ann.post(SETUP, other).ok().json());
    let login = site.stranger().post("/auth/login", json!({ "username": "jane", "password": PASSWORD })).ok().json();
    assert!(login.get("step_token").is_none(), "{login}");
}

#[test]
fn a_member_without_a_password_is_told_so_and_sets_one_by_recovery() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let ann = signed_in(&site, &enter(&issuer, &site, "ann"));
    let new = "four dry socks in a row";
    let change = json!({ "password": new, "current_password": "anything", "password_confirm": new });
    for _ in 0..10 {
        let told = ann.put("/account/profile/change-password", &change).refused(422);
        assert_eq!(told.bad_fields(), ["current_password"]);
        assert!(told.json()["errors"][0]["message"].as_str().unwrap().contains("no password yet"), "{told}");
    }
    let username = ann.get("/account/profile/user").ok().json()["username"].clone();
    let recover = |body: Value| site.stranger().post("/auth/account-access/recover-password", body).ok().json();
    recover(json!({ "username": username }));
    let passcode = site.last_passcode(&ann);
    assert_eq!(recover(json!({ "username": username, "passcode": passcode, "password": new }))["status"], true);
    let login = json!({ "username": username, "password": new });
    assert_eq!(member(&site.stranger().post("/auth/login", login).ok().json()), ann.id);
}

#[test]
fn a_member_without_an_address_signs_in_and_sets_up_a_factor() {
    let site = Issuer::new().site();
    let sign_in = || {
        let said = json!({ "algorithm": "HMAC-SHA256", "issued_at": site.now(), "user_id": "218471" });
        let payload = text(said.to_string().as_bytes());
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(payload.as_bytes());
        let digest = text(&mac.finalize().into_bytes());
        send(&site, "facebook", &json!({ "signed_request": format!("{digest}.{payload}") })).json()
    };
    let ann = signed_in(&site, &sign_in());
    let profile = ann.get("/account/profile/user").ok().json();
    assert_eq!((&profile["email"], &profile["email_verified"]), (&json!(""), &json!(false)));
    let recover = |name: &Value| {
        let asking = json!({ "username": name });
        site.stranger().ask(Method::POST, "/auth/account-access/recover-password").json(&asking).send().ok().body
    };
    assert_eq!(recover(&profile["username"]), recover(&json!("nobody")));
    let app = Authenticator::scan(&ann.post(SETUP, json!({})).ok().json());
    assert_eq!(ann.post(VERIFY_SETUP, json!({ "code": app.code_away(site.now(), -1) })).ok().json()["status"], true);
    assert_eq!(site.mails(), Vec::<Value>::new(), "nothing goes to no address");
    let step_token = sign_in()["step_token"].as_str().unwrap().to_owned();
    member(&verify(&site, &step_token, &app.code(site.now())));
}
