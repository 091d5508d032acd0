//! Changing the second factor in a session.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use serde_json::{Value, json};
use std::time::Duration;

fn operate(member: &Caller, operation: &str) -> Reply {
    member.post("/account/profile/2fa-operation", json!({ "operation": operation }))
}

fn operate_with(member: &Caller, operation: &str, code: &str) -> Reply {
    member.post("/account/profile/2fa-operation", json!({ "operation": operation, "code": code }))
}

fn login(site: &Site, member: &Caller) -> Value {
    site.stranger().post("/auth/login", json!({ "username": member.name, "password": PASSWORD })).ok().json()
}

#[test]
fn status_and_message_are_text_and_follow_what_is_on() {
    let site = Site::open();
    let jane = site.member("jane");
    let shown = |reply: Reply| {
        let body = reply.ok().json();
        assert!(body["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        (body["status"].as_str().unwrap().to_owned(), body["method"].as_str().unwrap().to_owned())
    };
    let state = |status: &str, method: &str| (status.to_owned(), method.to_owned());
    assert_eq!(shown(operate(&jane, "status")), state("disabled", ""));
    assert_eq!(shown(operate(&jane, "disable")), state("disabled", ""));
    assert_eq!(shown(operate(&jane, "enable")), state("enabled", "passcode"));
    assert_eq!(shown(operate(&jane, "enable")), state("enabled", "passcode"));
    let mark = site.protect(&site.member("mark")).member;
    assert_eq!(shown(operate(&mark, "status")), state("enabled", "totp"));
    assert_eq!(shown(operate(&mark, "enable")), state("enabled", "totp"));
    assert_eq!(operate(&mark, "explode").refused(422).bad_fields(), ["operation"]);
}

#[test]
fn passcodes_go_to_the_telephone_first_and_need_something_confirmed() {
    let site = Site::open();
    let jane = site.member("jane");
    site.unconfirm(&jane);
    assert_eq!(operate(&jane, "enable").refused(409).json()["code"], "nothing_confirmed");
    site.confirm_phone(&jane);
    let codes = operate(&jane, "enable").ok().json()["recovery_codes"].clone();
    assert_eq!(codes.as_array().unwrap().len(), 10);
    assert_eq!(login(&site, &jane)["confirmationPending"], 3);
    assert_eq!((site.messages(&jane, "sms"), site.messages(&jane, "email")), (1, 0));
}

#[test]
fn enabling_ends_every_other_session() {
    let site = Site::open();
    let jane = site.member("jane");
    let elsewhere = site.again(&jane);
    operate(&jane, "enable").ok();
    jane.get("/account/profile/user").ok();
    elsewhere.get("/account/profile/user").refused(401);
    assert_eq!(site.notices(&jane), ["notice.second_factor_on"]);
}

#[test]
fn turning_off_takes_a_code_and_ends_every_other_session() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let jane = &protected.member;
    let elsewhere = site.again(jane);
    assert_eq!(operate(jane, "disable").refused(422).bad_fields(), ["code"]);
    assert_eq!(operate_with(jane, "disable", "000000").refused(422).bad_fields(), ["code"]);
    elsewhere.get("/account/profile/user").ok();
    let done = operate_with(jane, "disable", &protected.authenticator.code(site.now())).ok().json();
    assert_eq!(done["status"], "disabled");
    elsewhere.get("/account/profile/user").refused(401);
    assert_eq!(login(&site, jane)["confirmationPending"], 0);
    assert_eq!(site.notices(jane), ["notice.second_factor_on", "notice.second_factor_off"]);
    assert_eq!((site.rows()["second_factors"], site.rows()["recovery_codes"]), (0, 0));
}

#[test]
fn new_recovery_codes_take_a_code_and_replace_the_old() {
    let site = Site::open();
    let jane = site.member("jane");
    assert_eq!(operate(&jane, "recovery-codes").refused(409).json()["code"], "second_factor_off");
    let protected = site.protect(&jane);
    operate(&jane, "recovery-codes").refused(422);
    let made = operate_with(&jane, "recovery-codes", &protected.recovery_codes[0]).ok().json();
    assert_eq!((made["recovery_codes"].as_array().unwrap().len(), &made["recovery_codes_left"]), (10, &json!(10)));
    operate_with(&jane, "recovery-codes", &protected.recovery_codes[1]).refused(422);
    operate_with(&jane, "recovery-codes", made["recovery_codes"][0].as_str().unwrap()).ok();
}

#[test]
fn a_member_with_passcodes_requests_one_and_turns_the_factor_off_with_it() {
    let site = Site::open();
    let jane = site.member("jane");
    operate(&jane, "send-passcode").refused(409);
    operate(&jane, "enable").ok();
    operate(&jane, "send-passcode").ok();
    let passcode = site.last_passcode(&jane).unwrap();
    operate_with(&jane, "disable", &passcode).ok();
    assert_eq!(login(&site, &jane)["confirmationPending"], 0);
}

#[test]
fn a_code_that_comes_as_a_number_has_its_leading_zeros() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let code: i64 = site.code_from_zero(&protected.authenticator).parse().unwrap();
    operate_with(&protected.member, "disable", &code.to_string()).refused(422);
    let by_number = json!({ "operation": "disable", "code": code });
    protected.member.post("/account/profile/2fa-operation", by_number).ok();
}

#[test]
fn wrong_codes_in_a_session_are_counted_and_the_delay_is_told() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    for _ in 0..5 {
        operate_with(&protected.member, "disable", "000000").refused(422);
    }
    let reply = operate_with(&protected.member, "disable", &protected.authenticator.code(site.now())).refused(429);
    assert!(reply.header("retry-after").is_some(), "{reply}");
    site.advance(Duration::from_secs(2));
    operate_with(&protected.member, "disable", &protected.authenticator.code(site.now())).ok();
}
