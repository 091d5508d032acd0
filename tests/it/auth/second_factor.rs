//! The second factor at sign-in: which members need one, which proofs it accepts, and that each works once.

use crate::harness::{Authenticator, Caller, PASSWORD, Protected, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

const LOGIN: &str = "/auth/login";
const SILENT: &str = "/auth/login/silent";
const SETUP: &str = "/auth/login/totp/setup";
const VERIFY_SETUP: &str = "/auth/login/totp/verify-setup";
const VERIFY: &str = "/auth/login/verify-totp";

fn credentials(member: &Caller) -> Value {
    json!({ "username": member.name, "password": PASSWORD, "member_id": member.id })
}

fn with(mut body: Value, field: &str, value: impl Into<Value>) -> Value {
    body[field] = value.into();
    body
}

fn verify(site: &Site, member: &Caller, code: &str) -> Reply {
    site.stranger().post(VERIFY, with(credentials(member), "code", code)).ok()
}

#[track_caller]
fn is_in(reply: &Reply) -> String {
    let answer = reply.json();
    assert_eq!((&answer["status"], &answer["confirmationPending"]), (&json!(true), &json!(0)), "{reply}");
    answer["token"].as_str().filter(|token| !token.is_empty()).unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[track_caller]
fn is_refused(reply: &Reply) {
    let answer = reply.json();
    assert_eq!(
        (&answer["status"], &answer["token"], &answer["member_id"]),
        (&json!(false), &json!(""), &json!(0)),
        "{reply}"
    );
}

#[track_caller]
fn is_due(reply: &Reply, member: &Caller, pending: i64) {
    let answer = reply.json();
    assert_eq!((&answer["status"], &answer["token"]), (&json!(true), &json!("")), "{reply}");
    assert_eq!((&answer["confirmationPending"], &answer["member_id"]), (&json!(pending), &json!(member.id)), "{reply}");
    assert_ne!(answer["message"], "", "{reply}");
}

/// Opens a session with the code of the present time step.
#[track_caller]
fn sign_in(site: &Site, protected: &Protected) -> String {
    is_in(&verify(site, &protected.member, &protected.authenticator.code(site.now())))
}

#[test]
fn setting_up_shows_the_secret_in_three_forms_and_the_first_code_turns_it_on() {
    let site = Site::open();
    let jane = site.member("jane");
    let setup = site.stranger().post(SETUP, credentials(&jane)).ok().json();
    assert_eq!((&setup["status"], &setup["member_id"]), (&json!(true), &json!(jane.id)));
    assert_eq!(setup["secret"].as_str().unwrap().len(), 32, "20 bytes in base32");
    let url = setup["otpauth_url"].as_str().unwrap();
    assert!(
        url.starts_with("otpauth://totp/Windwerk:jane?") && url.contains(setup["secret"].as_str().unwrap()),
        "{url}"
    );
    assert!(setup["qr"].as_str().unwrap().starts_with("data:image/svg+xml;base64,"));
    is_in(&site.stranger().post(LOGIN, credentials(&jane)).ok());
    let again = site.stranger().post(SETUP, json!({ "username": "jane", "password": PASSWORD })).ok().json();
    let (old, new) = (Authenticator::scan(&setup), Authenticator::scan(&again));
    let first = |code: String| site.stranger().post(VERIFY_SETUP, with(credentials(&jane), "code", code)).ok();
    is_refused(&first(old.code(site.now())));
    let on = first(new.code(site.now())).json();
    let codes: BTreeSet<&str> = on["recovery_codes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert_eq!((&on["status"], codes.len()), (&json!(true), 10));
    for way in [LOGIN, SILENT] {
        is_due(&site.stranger().post(way, credentials(&jane)).ok(), &jane, 2);
    }
    assert_eq!(site.notices(&jane), ["notice.second_factor_on"]);
    is_refused(&first(new.code_away(site.now(), 1)));
    assert_eq!(site.holds_text(setup["secret"].as_str().unwrap()), Vec::<String>::new());
}

#[test]
fn no_field_of_a_login_skips_the_second_step() {
    let site = Site::open();
    let Protected { member, .. } = site.protect(&site.member("jane"));
    site.confirm_phone(&member);
    for (field, value, pending) in [
        ("checkTwoFactor", json!(false), 2),
        ("checkTwoFactor", json!(true), 2),
        ("passcodeOption", json!("totp"), 2),
        ("passcodeOption", json!("email"), 3),
        ("passcodeOption", json!("sms"), 3),
    ] {
        is_due(&site.stranger().post(LOGIN, with(credentials(&member), field, value)).ok(), &member, pending);
    }
    assert_eq!((site.messages(&member, "email"), site.messages(&member, "sms")), (1, 1));
    is_in(&verify(&site, &member, &site.last_passcode(&member).unwrap()));
}

#[test]
fn a_code_works_once_within_one_time_step_before_or_after() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let (member, app) = (&protected.member, &protected.authenticator);
    is_refused(&verify(&site, member, &app.code_away(site.now(), -1)));
    sign_in(&site, &protected);
    is_refused(&verify(&site, member, &app.code(site.now())));
    is_in(&verify(&site, member, &app.code_away(site.now(), 1)));
    is_refused(&verify(&site, member, &app.code_away(site.now(), 2)));
    site.advance(Duration::from_secs(90));
    is_refused(&verify(&site, member, &app.code_away(site.now(), -2)));
    is_in(&verify(&site, member, &app.code_away(site.now(), -1)));
    let spaced = app.code(site.now());
    is_in(&verify(&site, member, &format!("{} {}", &spaced[..3], &spaced[3..])));
}

#[test]
fn a_code_that_comes_as_a_number_has_its_leading_zeros() {
    let site = Site::open();
    let Protected { member, authenticator, .. } = site.protect(&site.member("jane"));
    let number = |code: &str| code.parse::<i64>().unwrap();
    let post = |path: &str, code: Value| site.stranger().post(path, with(credentials(&member), "code", code)).ok();
    let code = number(&site.code_from_zero(&authenticator));
    is_refused(&post(VERIFY, json!(code.to_string())));
    is_in(&post(VERIFY, json!(code)));
    let ask = || _ = site.stranger().post(LOGIN, with(credentials(&member), "passcodeOption", "email")).ok();
    let passcode = number(&site.passcode_from_zero(&member, ask));
    is_in(&post(VERIFY, json!(passcode)));
    let code = number(&site.code_from_zero(&authenticator));
    assert_eq!(post(SETUP, json!(code)).json()["status"], true);
}

#[test]
fn the_first_code_of_an_authenticator_may_come_as_a_number_too() {
    let site = Site::open();
    let jane = site.member("jane");
    let code = loop {
        let setup = site.stranger().post(SETUP, credentials(&jane)).ok().json();
        let code = Authenticator::scan(&setup).code(site.now());
        if code.starts_with('0') {
            break code.parse::<i64>().unwrap();
        }
    };
    let first = |code: Value| site.stranger().post(VERIFY_SETUP, with(credentials(&jane), "code", code)).ok();
    is_refused(&first(json!(code.to_string())));
    assert_eq!(first(json!(code)).json()["status"], true);
}

#[test]
fn fifty_simultaneous_uses_of_one_code_give_one_session() {
    let site = Site::open_with(|config| config.limits.connections_per_address_max = 200);
    site.expects_faults();
    let by_app = site.protect(&site.member("jane"));
    let by_recovery = site.protect(&site.member("mark"));
    let by_passcode = site.protect(&site.member("ann"));
    site.stranger().post(LOGIN, with(credentials(&by_passcode.member), "passcodeOption", "email")).ok();
    for (member, code) in [
        (&by_app.member, by_app.authenticator.code(site.now())),
        (&by_recovery.member, by_recovery.recovery_codes[0].clone()),
        (&by_passcode.member, site.last_passcode(&by_passcode.member).unwrap()),
    ] {
        let (together, site) = (Barrier::new(50), &site);
        let callers: Vec<Caller> = (0..50).map(|_| site.stranger()).collect();
        let body = with(credentials(member), "code", code);
        let tokens = std::thread::scope(|scope| {
            let use_it = |caller| {
                let (together, body) = (&together, &body);
                scope.spawn(move || {
                    together.wait();
                    let reply = Caller::post(caller, VERIFY, body);
                    assert!([200, 429].contains(&reply.status), "{reply}");
                    reply.json()["token"].as_str().unwrap_or_default().to_owned()
                })
            };
            let threads: Vec<_> = callers.iter().map(use_it).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|token| !token.is_empty()).count()
        });
        assert_eq!(tokens, 1, "{}", member.name);
    }
}

#[test]
fn each_recovery_code_works_once_and_the_member_is_told() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    for code in &protected.recovery_codes {
        is_in(&verify(&site, &protected.member, &code.to_uppercase().replace('-', " ")));
        is_refused(&verify(&site, &protected.member, code));
    }
    let told = site.notices(&protected.member);
    assert_eq!(told.iter().filter(|key| *key == "notice.recovery_code_used").count(), 10);
    assert_eq!(site.rows()["recovery_codes"], 0);
}

#[test]
fn wrong_password_number_code_and_name_get_the_same_bytes() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    site.member("mark");
    let good = with(credentials(&protected.member), "code", protected.authenticator.code(site.now()));
    for path in [SETUP, VERIFY_SETUP, VERIFY] {
        let answers: BTreeSet<Vec<u8>> = [
            with(good.clone(), "password", "not the password"),
            with(good.clone(), "username", "nobody"),
            with(good.clone(), "member_id", protected.member.id + 1),
        ]
        .into_iter()
        .map(|body| site.stranger().post(path, body).ok().body)
        .collect();
        assert_eq!(answers.len(), 1, "{path}");
        if path != VERIFY_SETUP {
            let wrong = site.stranger().post(path, with(good.clone(), "code", "000000")).ok();
            is_refused(&wrong);
            assert_eq!(answers.first(), Some(&wrong.body), "{path}");
        }
        site.advance(Duration::from_secs(3600));
    }
    assert_eq!(site.stranger().post(VERIFY, credentials(&protected.member)).refused(422).bad_fields(), ["code"]);
}

#[test]
fn wrong_codes_count_like_wrong_passwords_and_delay_the_right_one_too() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    // The right password alone does not reset the failed attempts: only a complete sign-in does.
    for _ in 0..5 {
        site.stranger().post(LOGIN, credentials(&protected.member)).ok();
        is_refused(&verify(&site, &protected.member, "000000"));
    }
    let right = |body: Value| with(body, "code", protected.authenticator.code(site.now()));
    site.stranger().post(VERIFY, right(credentials(&protected.member))).refused(429);
    site.stranger().post(LOGIN, credentials(&protected.member)).refused(429);
    let by_address = with(credentials(&protected.member), "username", "jane@example.com");
    site.stranger().post(VERIFY, right(by_address)).refused(429);
    site.advance(Duration::from_secs(5));
    is_in(&verify(&site, &protected.member, &protected.authenticator.code(site.now())));
}

#[test]
fn a_factor_that_is_on_is_not_replaced_by_the_password_alone() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let (member, app) = (&protected.member, &protected.authenticator);
    site.stranger().post(SETUP, credentials(member)).refused(422);
    is_refused(&site.stranger().post(SETUP, with(credentials(member), "code", "000000")).ok());
    is_due(&site.stranger().post(LOGIN, credentials(member)).ok(), member, 2);
    let setup = site.stranger().post(SETUP, with(credentials(member), "code", app.code(site.now()))).ok().json();
    let next = Authenticator::scan(&setup);
    is_refused(&verify(&site, member, &next.code(site.now())));
    is_in(&verify(&site, member, &app.code_away(site.now(), 1)));
    site.stranger().post(VERIFY_SETUP, with(credentials(member), "code", next.code(site.now()))).ok();
    site.advance(Duration::from_secs(60));
    is_refused(&verify(&site, member, &app.code(site.now())));
    is_refused(&verify(&site, member, &protected.recovery_codes[0]));
    is_in(&verify(&site, member, &next.code(site.now())));
}

#[test]
fn a_member_with_passcodes_cannot_set_up_an_authenticator_by_the_password_alone() {
    let site = Site::open();
    let jane = site.member("jane");
    // A setup secret issued before the factor was turned on no longer works.
    let before = Authenticator::scan(&site.stranger().post(SETUP, credentials(&jane)).ok().json());
    jane.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok();
    site.stranger().post(SETUP, credentials(&jane)).refused(422);
    is_refused(&site.stranger().post(VERIFY_SETUP, with(credentials(&jane), "code", before.code(site.now()))).ok());
    is_due(&site.stranger().post(LOGIN, credentials(&jane)).ok(), &jane, 3);
    let passcode = site.last_passcode(&jane).unwrap();
    let setup = site.stranger().post(SETUP, with(credentials(&jane), "code", passcode)).ok().json();
    assert_eq!(setup["status"], true);
}

#[test]
fn a_secret_waits_an_hour_for_its_first_code() {
    let site = Site::open();
    let jane = site.member("jane");
    let app = Authenticator::scan(&site.stranger().post(SETUP, credentials(&jane)).ok().json());
    site.advance(Duration::from_secs(3600));
    is_refused(&site.stranger().post(VERIFY_SETUP, with(credentials(&jane), "code", app.code(site.now()))).ok());
    is_in(&site.stranger().post(LOGIN, credentials(&jane)).ok());
}

#[test]
fn turning_the_factor_on_ends_every_session_except_that_of_the_call() {
    let site = Site::open();
    let (jane, partner) = (site.flyer("jane"), site.partner());
    let (elsewhere, booking) = (site.again(&jane), site.booking_token(&partner, &jane));
    booking.get("/account/profile/user").ok();
    site.protect(&jane);
    jane.get("/account/profile/user").ok();
    elsewhere.get("/account/profile/user").refused(401);
    booking.get("/account/profile/user").refused(401);
}

#[test]
fn a_silent_login_sends_no_passcode_and_names_the_required_code() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok();
    let mut rows = site.rows();
    is_due(&site.stranger().post(SILENT, credentials(&jane)).ok(), &jane, 3);
    // The step that began is counted.
    *rows.get_mut("counted").unwrap() += 1;
    assert_eq!(site.rows(), rows);
    is_due(&site.stranger().post(LOGIN, credentials(&jane)).ok(), &jane, 3);
    let passcode = site.last_passcode(&jane).unwrap();
    is_due(&site.stranger().post(SILENT, credentials(&jane)).ok(), &jane, 3);
    is_in(&verify(&site, &jane, &passcode));
    is_refused(&verify(&site, &jane, &passcode));
}

#[test]
fn staff_cannot_sign_in_without_a_second_factor() {
    let site = Site::open();
    for staff in [site.desk(), site.admin()] {
        for way in [LOGIN, SILENT] {
            let told = site.stranger().post(way, credentials(&staff)).ok().json();
            assert_eq!(
                (&told["status"], &told["token"], &told["member_id"]),
                (&json!(false), &json!(""), &json!(staff.id))
            );
            assert!(told["message"].as_str().unwrap().contains("totp/setup"), "{told}");
        }
        is_refused(&verify(&site, &staff, "000000"));
        let protected = site.protect(&staff);
        is_due(&site.stranger().post(LOGIN, with(credentials(&staff), "passcodeOption", "email")).ok(), &staff, 2);
        assert_eq!(site.messages(&staff, "email"), 0, "a mailbox is no way around the authenticator of staff");
        sign_in(&site, &protected);
        let off = json!({ "operation": "disable", "code": protected.recovery_codes[0] });
        let reply = staff.post("/account/profile/2fa-operation", off).refused(403);
        assert_eq!(reply.json()["code"], "second_factor_required");
    }
}

#[test]
fn staff_of_the_demo_sign_in_without_a_second_factor() {
    let site = Site::open_with(|config| config.demo = true);
    let admin = site.admin();
    is_in(&site.stranger().post(LOGIN, credentials(&admin)).ok());
    site.protect(&admin);
    is_due(&site.stranger().post(LOGIN, credentials(&admin)).ok(), &admin, 2);
}

#[test]
fn a_suspect_clock_refuses_authenticator_codes_and_accepts_passwords_and_recovery_codes() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let (mark, member) = (site.member("mark"), &protected.member);
    let plain = site.stranger().post(LOGIN, credentials(member)).ok().json()["message"].clone();
    site.set_back(Duration::from_secs(3600));
    is_in(&site.stranger().post(LOGIN, credentials(&mark)).ok());
    let due = site.stranger().post(LOGIN, credentials(member)).ok();
    is_due(&due, member, 2);
    assert_ne!(due.json()["message"], plain);
    let told = verify(&site, member, &protected.authenticator.code(site.now()));
    is_refused(&told);
    assert!(told.json()["message"].as_str().unwrap().contains("clock"), "{told}");
    is_in(&verify(&site, member, &protected.recovery_codes[0]));
    let setup = Authenticator::scan(&site.stranger().post(SETUP, credentials(&mark)).ok().json());
    is_refused(&site.stranger().post(VERIFY_SETUP, with(credentials(&mark), "code", setup.code(site.now()))).ok());
}

#[test]
fn a_repeat_with_the_same_key_gets_the_first_session_again() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let body = with(credentials(&protected.member), "code", protected.authenticator.code(site.now()));
    let send = || site.stranger().ask(Method::POST, VERIFY).header("idempotency-key", "k").json(&body).send().ok();
    assert_eq!(is_in(&send()), is_in(&send()));
}
