//! Notifications of a changed way into the account: a notice, and a message that is sent without delaying the request.

use crate::harness::{Caller, PASSWORD, Site};
use http::Method;
use serde_json::{Value, json};

const PASSWORDS: &str = "/account/profile/change-password";
const FACTOR: &str = "/account/profile/2fa-operation";
const SEND: &str = "/account/profile/send-verification-passcode";
const VERIFY: &str = "/account/profile/verify-verification-passcode";
const RECOVER: &str = "/auth/account-access/recover-password";
const NEW: &str = "four dry socks in a row";

fn change_password(member: &Caller) {
    let body = json!({"password": NEW, "current_password": PASSWORD, "password_confirm": NEW});
    member.put(PASSWORDS, body).ok();
}

/// The member changes to an address or number, with the passcode that is sent there.
fn take_over(site: &Site, member: &Caller, mut place: Value) {
    member.post(SEND, &place).ok();
    place["passcode"] = site.last_passcode(member).expect("a passcode went out").into();
    assert_eq!(member.post(VERIFY, &place).ok().json()["status"], true);
}

fn told(channel: &str, recipient: &str, event: &str) -> (String, String, String) {
    (channel.to_owned(), recipient.to_owned(), event.to_owned())
}

#[test]
fn each_change_is_mailed_to_the_confirmed_address() {
    let site = Site::open();
    let jane = site.member("jane");
    let to_jane = |event: &str| told("email", "jane@example.com", event);
    change_password(&jane);
    let on = jane.post(FACTOR, json!({"operation": "enable"})).ok().json();
    let code = |n: usize| on["recovery_codes"][n].clone();
    let anew = jane.post(FACTOR, json!({"operation": "recovery-codes", "code": code(0)})).ok().json();
    jane.post(FACTOR, json!({"operation": "disable", "code": anew["recovery_codes"][0]})).ok();
    site.stranger().post(RECOVER, json!({"username": "jane"})).ok();
    let body = json!({"username": "jane", "passcode": site.last_passcode(&jane), "password": PASSWORD});
    assert_eq!(site.stranger().post(RECOVER, body).ok().json()["status"], true);
    let events = ["password_changed", "second_factor_on", "recovery_codes", "second_factor_off", "recovered"];
    assert_eq!(site.security_events(), events.map(to_jane));
    let authenticator = site.protect(&site.again(&jane));
    assert_eq!(site.security_events().last(), Some(&to_jane("second_factor_on")));
    assert!(site.notices(&authenticator.member).len() >= 6);
}

#[test]
fn a_refused_change_is_mailed_to_nobody() {
    let site = Site::open();
    let jane = site.member("jane");
    let wrong = json!({"password": NEW, "current_password": "not the password", "password_confirm": NEW});
    jane.put(PASSWORDS, wrong).refused(422);
    site.stranger().post(RECOVER, json!({"username": "jane", "passcode": "000000", "password": NEW})).ok();
    jane.post(VERIFY, json!({"email": "new@example.com", "passcode": 0})).ok();
    assert_eq!(site.security_events(), []);
}

#[test]
fn a_new_address_or_number_is_reported_to_the_old_one_too() {
    let site = Site::open();
    let jane = site.member("jane");
    take_over(&site, &jane, json!({"email": "new@example.com"}));
    let email = |to: &str| told("email", to, "email_changed");
    assert_eq!(site.security_events(), [email("jane@example.com"), email("new@example.com")]);
    take_over(&site, &jane, json!({"country": "41", "phone": "446681800"}));
    assert_eq!(
        site.security_events()[2..],
        [told("email", "new@example.com", "phone_changed")],
        "there was no number before"
    );
    take_over(&site, &jane, json!({"country": "41", "phone": "446681801"}));
    let both = [told("sms", "+41446681800", "phone_changed"), told("email", "new@example.com", "phone_changed")];
    assert_eq!(site.security_events()[3..], both);
    let events = site.security_events().len();
    take_over(&site, &jane, json!({"email": "NEW@example.com"}));
    assert_eq!(site.security_events().len(), events, "the same address again is no change");
}

#[test]
fn an_unconfirmed_address_gets_no_message() {
    let site = Site::open();
    let jane = site.member("jane");
    site.unconfirm(&jane);
    change_password(&jane);
    take_over(&site, &jane, json!({"email": "new@example.com"}));
    assert_eq!(site.security_events(), [told("email", "new@example.com", "email_changed")]);
    assert_eq!(site.notices(&jane), ["notice.password_changed", "notice.email_changed"]);
}

#[test]
fn an_account_without_an_address_goes_on_with_its_number_or_with_notices_alone() {
    let site = Site::open();
    let (jane, mark) = (site.without_email("jane"), site.without_email("mark"));
    change_password(&jane);
    assert_eq!((site.mails().len(), site.notices(&jane)), (0, vec!["notice.password_changed".to_owned()]));
    assert_eq!(jane.post(FACTOR, json!({"operation": "enable"})).refused(409).json()["code"], "nothing_confirmed");
    let known = site.stranger().post(RECOVER, json!({"username": "jane"})).ok();
    assert_eq!(known.body, site.stranger().post(RECOVER, json!({"username": "nobody"})).ok().body);
    assert_eq!(site.mails().len(), 0, "nothing goes to no address");
    site.protect(&mark);
    jane.post(SEND, json!({"country": "41", "phone": "446681800"})).refused(409);
    site.confirm_phone(&jane);
    jane.post(FACTOR, json!({"operation": "enable"})).ok();
    assert_eq!(site.security_events(), [told("sms", "+41790000000", "second_factor_on")]);
    take_over(&site, &jane, json!({"email": "jane@example.com"}));
    assert_eq!(site.security_events()[1..], [told("email", "jane@example.com", "email_changed")]);
    assert_eq!(jane.get("/account/profile/user").ok().json()["email"], "jane@example.com");
    assert_eq!(mark.get("/account/profile/user").ok().json()["email"], "");
}

#[test]
fn a_message_is_in_the_language_of_who_made_the_change() {
    let site = Site::open();
    let jane = site.member("jane");
    let enable = json!({"operation": "enable"});
    jane.ask(Method::POST, FACTOR).header("accept-language", "fr-CH, de;q=0.5").json(&enable).send().ok();
    let language: String = site.change(|tx| Ok(tx.get("SELECT language FROM outbox", [])?));
    assert_eq!(language, "fr");
}
