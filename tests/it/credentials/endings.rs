//! Credentials besides tokens: the booking PIN, a kiosk and its pairing code, and an answer repeated by its
//! `Idempotency-Key`. A change of the account's credentials ends them too.

use crate::desk::{Clerk, kiosk};
use crate::harness::{Caller, PASSWORD, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const NEW: &str = "four dry socks in a row";
const RECOVER: &str = "/auth/account-access/recover-password";
const TOKEN: &str = "/external/partner-metrics/op/generate-token";

fn demo() -> Site {
    Site::open_with(|config| config.demo = true)
}

type End = fn(&Site, &Caller);

/// The changes that end the credentials of a member.
const ENDS: [(&str, End); 5] = [
    ("a new password", |_, jane| {
        let body = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
        jane.put("/account/profile/change-password", body).ok();
    }),
    ("a recovery", |site, jane| {
        site.stranger().post(RECOVER, json!({ "username": jane.name })).ok();
        let body = json!({ "username": jane.name, "passcode": site.last_passcode(jane), "password": NEW });
        assert_eq!(site.stranger().post(RECOVER, body).ok_json()["status"], true);
    }),
    ("a password from the shell", |site, jane| site.shell(&["member", "reset-password", &jane.name])),
    ("a ban that was lifted", |site, jane| {
        site.shell(&["member", "ban", &jane.name]);
        site.shell(&["member", "ban", &jane.name, "--lift"]);
    }),
    ("another role", |site, jane| site.shell(&["member", "set-role", &jane.name, "member"])),
];

#[test]
fn the_pin_and_what_is_open_at_a_kiosk_end_with_the_credentials() {
    let site = demo();
    let partner = site.partner();
    let (first, second) = (kiosk::paired(&site), kiosk::paired(&site));
    for (place, (what, end)) in ENDS.iter().enumerate() {
        let jane = site.flyer(&format!("jane{place}"));
        let code =
            || jane.post("/account/profile/kiosk-code", json!({})).ok_json()["code"].as_str().unwrap().to_owned();
        let pin = site.pin(&jane);
        let (number, waiting) = (jane.id.to_string(), code());
        let by_pin = |kiosk: &Clerk| kiosk.post("/kiosk/number", &[("number", &number), ("pin", &pin)]);
        assert_eq!(by_pin(&first).status, 303);
        assert_eq!(first.get("/kiosk/home").status, 200);
        end(&site, &jane);
        assert_eq!(first.get("/kiosk/home").header("location"), Some("/kiosk"), "a guest after {what}");
        assert_eq!(second.post("/kiosk/scan", &[("code", &waiting)]).status, 422, "a code after {what}");
        assert_eq!(by_pin(&second).status, 422, "the PIN at a kiosk after {what}");
        let token = partner.post(TOKEN, json!({ "member_id": jane.id, "member_pin": pin })).ok_json();
        assert_eq!(token["status"], false, "the PIN at a partner after {what}");
    }
}

#[test]
fn a_kiosk_closes_with_the_sessions_of_whoever_stands_there_and_the_pin_stays() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = kiosk::paired(&site);
    let pin = site.pin(&jane);
    let enter = || kiosk.post("/kiosk/number", &[("number", &jane.id.to_string()), ("pin", &pin)]).status;
    assert_eq!(enter(), 303);
    jane.delete("/account/profile/sessions").ok();
    assert_eq!(kiosk.get("/kiosk/home").status, 303, "signed out everywhere is signed out at kiosks");
    assert_eq!(enter(), 303);
}

#[test]
fn a_copy_of_a_kiosks_key_shows_nobody_and_sends_nobody_away() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = kiosk::paired(&site);
    let copy = Clerk::outside(&site);
    copy.cookies.borrow_mut().insert("kiosk".to_owned(), kiosk.cookies.borrow()["kiosk"].clone());
    assert!(copy.get("/kiosk").page().contains("Number and PIN"), "the copy is good for the kiosk's first page");
    kiosk::enter(&site, &kiosk, &jane);
    assert!(kiosk.get("/kiosk/home").page().contains("jane"));
    for path in ["/kiosk/home", "/kiosk/certificates", "/kiosk/progression.svg", "/kiosk/time"] {
        assert_eq!(copy.get(path).header("location"), Some("/kiosk"), "{path}");
    }
    assert_eq!(copy.get("/kiosk").status, 200, "nobody is there for the copy");
    assert_eq!(copy.post("/kiosk/time", &[("minutes", "5")]).header("location"), Some("/kiosk"));
    copy.post("/kiosk/leave", &[]);
    assert_eq!(kiosk.get("/kiosk/home").status, 200, "the copy sends nobody away");
    let guest = kiosk.cookies.borrow()["kiosk-guest"].clone();
    assert_eq!(site.holds_text(&guest), [""; 0], "the token is in the file only as a hash");
    let left = kiosk.post("/kiosk/leave", &[]);
    let lines: Vec<&str> = left.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    assert!(lines.iter().any(|line| line.starts_with("kiosk-guest=;") && line.contains("Max-Age=0")), "{lines:?}");
    kiosk.cookies.borrow_mut().insert("kiosk-guest".to_owned(), guest);
    assert_eq!(kiosk.get("/kiosk/home").status, 303, "what a guest held is worth nothing after leaving");
}

#[test]
fn whoever_goes_on_touching_a_kiosk_is_signed_out_after_half_an_hour_all_the_same() {
    let site = demo();
    let kiosk = kiosk::paired(&site);
    kiosk::enter(&site, &kiosk, &site.flyer("jane"));
    for minute in 0..29 {
        site.advance(Duration::from_secs(60));
        assert_eq!(kiosk.get("/kiosk/home").status, 200, "after {minute} minutes");
    }
    site.advance(Duration::from_secs(61));
    assert_eq!(
        kiosk.get("/kiosk/home").header("location"),
        Some("/kiosk"),
        "two copied cookies are good for no longer"
    );
}

fn keyed(caller: &Caller, path: &str, body: &Value) -> Value {
    caller.ask(Method::POST, path).header("idempotency-key", "one").json(body).send().ok_json()
}

fn reads(site: &Site, token: &Value) -> bool {
    let token = token.as_str().expect("a token is text");
    let asked = site.stranger().ask(Method::GET, "/account/profile/user").header("token", token).send();
    asked.status == 200
}

#[test]
fn a_sign_in_is_answered_again_for_as_long_as_its_session_lives() {
    let site = Site::open();
    let jane = site.member("jane");
    let body = json!({ "username": "jane", "password": PASSWORD });
    let first = keyed(&site.stranger(), "/auth/login", &body);
    assert!(reads(&site, &first["token"]));
    assert_eq!(keyed(&site.stranger(), "/auth/login", &body), first, "no second session");
    // After signing out, the same request gives a new session rather than the ended one.
    let token = first["token"].as_str().unwrap();
    site.stranger().ask(Method::POST, "/auth/logout").header("token", token).send().ok();
    let second = keyed(&site.stranger(), "/auth/login", &body);
    assert!(second["token"] != first["token"] && reads(&site, &second["token"]), "{second}");
    assert_eq!(keyed(&site.stranger(), "/auth/login", &body), second);
    let change = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
    jane.put("/account/profile/change-password", change).ok();
    let after = keyed(&site.stranger(), "/auth/login", &body);
    assert_eq!((&after["status"], &after["token"]), (&json!(false), &json!("")), "the password is no longer right");
}

#[test]
fn a_sign_in_is_not_answered_again_to_somebody_who_was_banned() {
    let site = Site::open();
    let jane = site.member("jane");
    let body = json!({ "username": "jane", "password": PASSWORD });
    assert_eq!(keyed(&site.stranger(), "/auth/login", &body)["status"], true);
    site.ban(&jane);
    assert_eq!(keyed(&site.stranger(), "/auth/login", &body)["status"], false);
}

#[test]
fn a_session_that_ended_by_time_is_not_handed_out_again() {
    let site = demo();
    let desk = site.desk();
    let body = json!({ "username": desk.name, "password": PASSWORD });
    let first = keyed(&site.stranger(), "/auth/login", &body);
    site.advance(Duration::from_secs(13 * 3600));
    let second = keyed(&site.stranger(), "/auth/login", &body);
    assert!(second["token"] != first["token"] && reads(&site, &second["token"]), "{second}");
}

#[test]
fn a_partners_token_is_not_handed_out_again_once_it_ended() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let body = json!({ "member_id": jane.id, "member_pin": site.pin(&jane) });
    let first = keyed(&partner, TOKEN, &body);
    assert!(reads(&site, &first["token"]));
    assert_eq!(keyed(&partner, TOKEN, &body), first);
    let change = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
    jane.put("/account/profile/change-password", change).ok();
    let after = keyed(&partner, TOKEN, &body);
    assert_eq!((&after["status"], &after["token"]), (&json!(false), &json!("")), "the PIN ended too");
}

#[test]
fn whoever_serves_others_signs_in_anew_each_day() {
    let site = demo();
    for hire in [Site::desk, Site::admin] {
        let staff = hire(&site);
        let user = |status| assert_eq!(staff.get("/account/profile/user").status, status, "{}", staff.name);
        let clerk = Clerk::at(&site, &staff);
        for _ in 0..2 {
            site.advance(Duration::from_secs(11 * 3600));
            user(200);
            assert_eq!(clerk.get("/desk").status, 200);
        }
        site.advance(Duration::from_secs(2 * 3600 - 1));
        user(200);
        site.advance(Duration::from_secs(1));
        user(401);
        assert_eq!(clerk.get("/desk").status, 303);
    }
}
