//! Changes of the credentials of an account: they need a fresh proof of identity, and a link sent to the old address
//! undoes them.

use crate::auth::passkeys::{Key, Page, question, register, sign_in_question, verify};
use crate::desk::Clerk;
use crate::harness::{Caller, PASSWORD, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PROVE: &str = "/account/profile/reauthenticate";
const FACTOR: &str = "/account/profile/2fa-operation";
const SEND: &str = "/account/profile/send-verification-passcode";
const VERIFY: &str = "/account/profile/verify-verification-passcode";
const OPTION: &str = "/auth/login/bio-web-option";
const RECOVER: &str = "/auth/account-access/recover-password";
const NEW: &str = "four dry socks in a row";
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Every change that a session alone must not make.
fn changes(site: &Site, jane: &Caller, passkey_id: i64) -> Vec<Reply> {
    let option = jane.ask(Method::POST, OPTION).header("origin", &site.origin()).json(&json!({ "device_id": 8 }));
    vec![
        jane.post(SEND, json!({ "email": "thief@example.com" })),
        jane.post(SEND, json!({ "country": 41, "phone": 446681800 })),
        jane.post(VERIFY, json!({ "email": "thief@example.com", "passcode": 123_456 })),
        jane.post(FACTOR, json!({ "operation": "enable" })),
        option.send(),
        jane.delete(&format!("/account/profile/passkeys/{passkey_id}")),
    ]
}

fn passkey_id(jane: &Caller) -> i64 {
    jane.get("/account/profile/passkeys").ok_json()[0]["passkey_id"].as_i64().expect("a passkey")
}

#[test]
fn a_session_without_a_recent_proof_changes_no_credentials() {
    let site = Site::open();
    let jane = site.member("jane");
    register(&site, &jane);
    let passkey_id = passkey_id(&jane);
    site.advance(TEN_MINUTES + Duration::from_secs(1));
    let mails = site.mails().len();
    for refused in changes(&site, &jane, passkey_id) {
        assert_eq!(refused.refused(403).json()["code"], "reauthentication_needed");
    }
    assert_eq!(site.mails().len(), mails, "nothing was sent");
    jane.get("/account/profile/user").ok();
    // A sign-in, or a proof in the session, is valid for ten minutes.
    jane.post(PROVE, json!({ "password": PASSWORD })).ok();
    for caller in [&jane, &site.again(&jane)] {
        caller.post(SEND, json!({ "email": "jane2@example.com" })).ok();
        let body = json!({ "email": "jane2@example.com", "passcode": site.last_passcode(&jane) });
        assert_eq!(caller.post(VERIFY, body).ok_json()["status"], true);
    }
    site.advance(TEN_MINUTES);
    jane.post(FACTOR, json!({ "operation": "enable" })).ok();
    site.advance(Duration::from_secs(1));
    jane.delete(&format!("/account/profile/passkeys/{passkey_id}")).refused(403);
}

#[test]
fn a_session_is_proven_by_the_password_or_a_code_and_by_nothing_else() {
    let site = Site::open();
    let protected = site.protect(&site.member("jane"));
    let (jane, mark) = (&protected.member, site.member("mark"));
    site.advance(TEN_MINUTES + Duration::from_secs(1));
    let may = |who: &Caller| who.post(SEND, json!({ "email": "new@example.com" })).status == 200;
    for (body, field) in [
        (json!({}), "password"),
        (json!({ "password": "not the password" }), "password"),
        (json!({ "code": "000000" }), "code"),
        (json!({ "password": "not the password", "code": protected.recovery_codes[1] }), "password"),
    ] {
        assert_eq!(jane.post(PROVE, &body).refused(422).bad_fields(), [field], "{body}");
        assert!(!may(jane), "{body}");
    }
    assert_eq!(mark.post(PROVE, json!({ "code": "000000" })).refused(409).json()["code"], "second_factor_off");
    let code = protected.authenticator.code(site.now());
    jane.post(PROVE, json!({ "code": code })).ok();
    assert!(may(jane) && !may(&mark));
    site.advance(TEN_MINUTES + Duration::from_secs(1));
    assert_eq!(jane.post(PROVE, json!({ "code": code })).refused(422).bad_fields(), ["code"], "a code works once");
    jane.post(PROVE, json!({ "code": protected.recovery_codes[0] })).ok();
    assert!(may(jane));
    let other = site.sign_in(jane.id, "jane", tunneldesk::domain::role::Role::Member, Duration::from_secs(700));
    assert!(!may(&other), "a proof is the session's that it was made in");
}

#[test]
fn wrong_proofs_are_throttled_like_a_sign_in() {
    let site = Site::open();
    let jane = site.member("jane");
    let prove = |password: &str| jane.post(PROVE, json!({ "password": password }));
    for _ in 0..5 {
        prove("not the password").refused(422);
    }
    site.advance(Duration::from_millis(200));
    prove(PASSWORD).refused(429);
}

/// The token of the link in the latest mail to this address that has one.
fn undo_token(site: &Site, address: &str) -> String {
    let mails = site.mails();
    let mut linked = mails.iter().rev().filter(|mail| mail["template"] == "security_event_undo");
    let mail =
        linked.find(|mail| mail["recipient"] == address).unwrap_or_else(|| panic!("no link to {address}: {mails:?}"));
    mail["values"]["token"].as_str().expect("a token is text").to_owned()
}

fn take_over(site: &Site, jane: &Caller, mut place: Value) {
    jane.post(SEND, &place).ok();
    place["passcode"] = site.last_passcode(jane).expect("a passcode went out").into();
    assert_eq!(jane.post(VERIFY, &place).ok_json()["status"], true);
}

fn signs_in(site: &Site, password: &str) -> bool {
    site.stranger().post("/auth/login", json!({ "username": "jane", "password": password })).ok_json()["status"] == true
}

#[test]
fn the_link_in_the_old_mailbox_undoes_a_thief_s_changes() {
    let site = Site::open();
    let jane = site.member("jane");
    let mut own = register(&site, &jane);
    site.advance(Duration::from_secs(60));
    // A thief with the session and the password takes over the account.
    take_over(&site, &jane, json!({ "email": "thief@example.com" }));
    take_over(&site, &jane, json!({ "country": 41, "phone": 446681800 }));
    let mut theirs = register(&site, &jane);
    let on = jane.post(FACTOR, json!({ "operation": "enable" })).ok_json();
    assert_eq!(on["status"], "enabled");
    let pin = site.pin(&jane);
    let token = undo_token(&site, "jane@example.com");
    assert_eq!(site.holds_text(&token), [""; 0], "the token is in the file only as a hash");

    let browser = Clerk::outside(&site);
    let rows = site.rows();
    let shown = browser.get(&format!("/undo?token={token}"));
    assert!(shown.status == 200 && shown.page().contains(&format!("value=\"{token}\"")), "{shown}");
    assert_eq!(site.rows(), rows, "mail servers follow links too: looking does nothing");
    jane.get("/account/profile/user").ok();
    let done = browser.post("/undo", &[("token", &token)]);
    assert!(
        done.status == 200 && done.page().contains("The change is undone") && done.page().contains("/recover"),
        "{done}"
    );

    jane.get("/account/profile/user").refused(401);
    assert!(!signs_in(&site, PASSWORD), "whoever made the change knows the password");
    let body = json!({ "member_id": jane.id, "member_pin": pin });
    let partner = site.partner().post("/external/partner-metrics/op/generate-token", body).ok_json();
    assert_eq!(partner["status"], false);
    let page = Page::at(&site.origin());
    let answer =
        |key: &mut Key| verify(&site, &page.get(key, &sign_in_question(&site, "jane"))).json()["status"].clone();
    assert_eq!((answer(&mut theirs), answer(&mut own)), (json!(false), json!(true)), "hers is from before");

    // The member recovers the account by her own address, without a code of the thief's.
    site.stranger().post(RECOVER, json!({ "username": "jane" })).ok();
    assert_eq!(site.mails().last().unwrap()["recipient"], "jane@example.com");
    let body = json!({ "username": "jane", "passcode": site.last_passcode(&jane), "password": NEW });
    assert_eq!(site.stranger().post(RECOVER, body).ok_json()["status"], true);
    assert!(signs_in(&site, NEW));
    let profile = site.again(&jane).get("/account/profile/user").ok_json();
    let reach = (&profile["email"], &profile["email_verified"], &profile["phone"]);
    assert_eq!(reach, (&json!("jane@example.com"), &json!(true), &json!("")));
    assert!(site.notices(&jane).contains(&"notice.change_undone".to_owned()));
    assert_eq!(browser.post("/undo", &[("token", &token)]).status, 422, "a link works once");
}

#[test]
fn an_undone_change_cannot_be_redone_by_an_old_link() {
    let site = Site::open();
    let jane = site.member("jane");
    take_over(&site, &jane, json!({ "email": "thief@example.com" }));
    take_over(&site, &jane, json!({ "email": "thief2@example.com" }));
    let (hers, theirs) = (undo_token(&site, "jane@example.com"), undo_token(&site, "thief@example.com"));
    let browser = Clerk::outside(&site);
    assert_eq!(browser.post("/undo", &[("token", &hers)]).status, 200);
    assert_eq!(browser.post("/undo", &[("token", &theirs)]).status, 422, "what the thief could undo to is gone");
    let email = || site.again(&jane).get("/account/profile/user").ok_json()["email"].clone();
    assert_eq!(email(), "jane@example.com");
    take_over(&site, &site.again(&jane), json!({ "email": "moved@example.com" }));
    let late = undo_token(&site, "jane@example.com");
    site.advance(Duration::from_secs(7 * 86_400));
    let rows = site.rows();
    for token in [late.as_str(), "unknown", ""] {
        assert_eq!(browser.post("/undo", &[("token", token)]).status, 422, "{token}");
    }
    assert_eq!((email(), site.rows()["undos"]), (json!("moved@example.com"), rows["undos"]));
}

#[test]
fn an_address_that_another_member_confirmed_meanwhile_is_not_restored() {
    let site = Site::open();
    let jane = site.member("jane");
    take_over(&site, &jane, json!({ "email": "moved@example.com" }));
    let token = undo_token(&site, "jane@example.com");
    take_over(&site, &site.member("mark"), json!({ "email": "jane@example.com" }));
    let refused = Clerk::outside(&site).post("/undo", &[("token", &token)]);
    assert!(refused.status == 422 && refused.page().contains("Somebody else has confirmed"), "{refused}");
    jane.get("/account/profile/user").ok();
}

#[test]
fn the_link_does_not_turn_off_the_second_factor_of_staff() {
    let site = Site::open();
    let desk = site.desk();
    take_over(&site, &desk, json!({ "email": "other@example.com" }));
    let protected = site.protect(&desk);
    let token = undo_token(&site, &format!("{}@example.com", desk.name));
    assert_eq!(Clerk::outside(&site).post("/undo", &[("token", &token)]).status, 200);
    assert_eq!(site.rows()["second_factors"], 1, "an admin resets it");
    protected.member.get("/account/profile/user").refused(401);
}

#[test]
fn each_change_is_mailed_with_a_link_where_somebody_confirmed_an_address() {
    let site = Site::open();
    let jane = site.member("jane");
    register(&site, &jane);
    jane.delete(&format!("/account/profile/passkeys/{}", passkey_id(&jane))).ok();
    jane.post(FACTOR, json!({ "operation": "enable" })).ok();
    take_over(&site, &jane, json!({ "email": "new@example.com" }));
    let linked = |mail: &Value| {
        let text = |name: &str| mail[name].as_str().unwrap().to_owned();
        (text("template"), text("recipient"), mail["values"]["event"].as_str().unwrap_or("").to_owned())
    };
    let told: Vec<_> = site.mails().iter().map(linked).filter(|(template, ..)| template.starts_with("sec")).collect();
    let with = |to: &str, event: &str| ("security_event_undo".to_owned(), to.to_owned(), event.to_owned());
    let (old, new) = ("jane@example.com", "new@example.com");
    let plain = ("security_event".to_owned(), new.to_owned(), "email_changed".to_owned());
    let wanted = [
        with(old, "passkey_added"),
        with(old, "passkey_removed"),
        with(old, "second_factor_on"),
        with(old, "email_changed"),
        plain,
    ];
    assert_eq!(told, wanted, "the new address gets no link: it may be a thief's");
}

#[test]
fn a_recovery_keeps_the_passkeys_that_the_owner_names_and_no_other() {
    let site = Site::open();
    let jane = site.member("jane");
    let (mut kept, mut others) = (register(&site, &jane), register(&site, &jane));
    let listed = jane.get("/account/profile/passkeys").ok_json();
    let first = listed[1]["passkey_id"].clone();
    let link =
        "INSERT INTO social_links (provider, subject, member_id, created_at, used_at) VALUES (?2, 's', ?1, 1, 1)";
    site.change(|tx| {
        tx.run(link, (jane.id, "google"))?;
        Ok(tx.run(link, (jane.id, "facebook"))?)
    });
    site.stranger().post(RECOVER, json!({ "username": "jane" })).ok();
    let body = |keep: Value| json!({ "username": "jane", "passcode": site.last_passcode(&jane), "password": NEW, "keep_passkeys": keep, "keep_social": "facebook" });
    for bad in [json!({}), json!(["x"]), json!(-1), json!(true)] {
        assert_eq!(site.stranger().post(RECOVER, body(bad)).refused(422).bad_fields(), ["keep_passkeys"]);
    }
    assert_eq!(site.stranger().post(RECOVER, body(json!([first, 999]))).ok_json()["status"], true);
    let page = Page::at(&site.origin());
    let answer =
        |key: &mut Key| verify(&site, &page.get(key, &sign_in_question(&site, "jane"))).json()["status"].clone();
    assert_eq!((answer(&mut kept), answer(&mut others)), (json!(true), json!(false)));
    let left: String = site.change(|tx| Ok(tx.get("SELECT group_concat(provider) FROM social_links", [])?));
    assert_eq!(left, "facebook");
    // A password reset by the technician keeps neither passkeys nor linked networks.
    site.shell(&["member", "reset-password", "jane"]);
    assert_eq!((answer(&mut kept), site.rows()["social_links"]), (json!(false), 0));
    assert!(question(&site, &site.again(&jane), json!({}))["challenge"].is_string());
}
