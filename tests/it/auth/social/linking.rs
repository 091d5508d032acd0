//! The account that a person with a network's token is signed in to.

use super::issuer::{Issuer, claims};
use super::{by_google, is_refused, member};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn enter(issuer: &Issuer, site: &Site, subject: &str, email: &str) -> Value {
    by_google(site, &issuer.token(&claims(site, subject, email)))
}

fn links(site: &Site) -> i64 {
    site.change(|tx| Ok(tx.get("SELECT count(*) FROM social_links", [])?))
}

#[test]
fn a_verified_address_leads_to_the_member_who_confirmed_it_with_a_notice() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = site.member("jane");
    assert_eq!(member(&enter(&issuer, &site, "1", "Jane@Example.com")), jane.id);
    assert_eq!(site.notices(&jane), ["notice.social_linked"]);
    assert_eq!(site.security_events(), [("email".into(), "jane@example.com".into(), "social_linked".into())]);
    assert_eq!(member(&enter(&issuer, &site, "1", "moved@example.com")), jane.id, "the link leads, not the address");
    assert_eq!(site.notices(&jane).len(), 1);
    assert_eq!(links(&site), 1);
}

#[test]
fn an_address_that_one_side_did_not_confirm_links_no_account() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let jane = site.member("jane");
    for (subject, verified) in [("1", json!(false)), ("2", json!("false")), ("3", json!(1)), ("4", Value::Null)] {
        let mut said = claims(&site, subject, "jane@example.com");
        said["email_verified"] = verified;
        let answer = by_google(&site, &issuer.token(&said));
        assert_ne!(member(&answer), jane.id);
        assert_eq!(answer["confirmationPending"], 1);
    }
    let mark = site.member("mark");
    site.unconfirm(&mark);
    let answer = enter(&issuer, &site, "5", "mark@example.com");
    assert_ne!(member(&answer), mark.id, "whoever only claims the address does not get its owner's account");
    assert_eq!(answer["confirmationPending"], 0);
    assert!(site.notices(&jane).is_empty() && site.notices(&mark).is_empty());
}

#[test]
fn a_staff_account_is_never_linked_by_its_address() {
    let issuer = Issuer::new();
    let site = issuer.site();
    for (place, staff) in [site.desk(), site.admin(), site.sync()].iter().enumerate() {
        is_refused(&enter(&issuer, &site, &place.to_string(), &format!("{}@example.com", staff.name)));
    }
    assert_eq!(links(&site), 0);
}

#[test]
fn a_banned_member_cannot_sign_in_by_a_network() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    assert_eq!(member(&enter(&issuer, &site, "1", "jane@example.com")), jane.id);
    site.ban(&jane);
    site.ban(&mark);
    let login = site.stranger().post("/auth/login", json!({"username": "jane", "password": PASSWORD})).ok().json();
    assert_eq!(is_refused(&enter(&issuer, &site, "1", "jane@example.com")), login["message"].as_str().unwrap());
    assert_eq!(is_refused(&enter(&issuer, &site, "2", "mark@example.com")), login["message"].as_str().unwrap());
    assert_eq!(links(&site), 1, "a closed account gets no new door");
}

#[test]
fn no_token_is_accepted_while_the_clock_is_suspect() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let token = issuer.token(&claims(&site, "1", "jane@example.com"));
    site.set_back(Duration::from_secs(3600));
    is_refused(&by_google(&site, &token));
}

#[test]
fn a_new_member_gets_the_name_from_apple_s_app_and_a_free_username() {
    let issuer = Issuer::new();
    let site = issuer.site();
    let mut names = BTreeSet::new();
    for subject in ["1", "2", "3"] {
        let mut said = claims(&site, subject, &format!("{subject}@example.com"));
        said["iss"] = json!("https://appleid.apple.com");
        said["email_verified"] = json!("true");
        let params = json!({ "identityToken": issuer.token(&said) }).to_string();
        let user = json!({ "name": { "firstName": " Jo\u{308}rg\u{7}", "lastName": "Other" } }).to_string();
        let body = json!({ "params": params, "socialType": "apple", "user": user });
        let answer = site.stranger().post("/auth/social", body).ok().json();
        member(&answer);
        let token = answer["token"].as_str().unwrap();
        let user =
            site.stranger().ask(http::Method::GET, "/account/profile/user").header("token", token).send().ok().json();
        assert_eq!(
            (user["real_name"].as_str(), user["email_verified"].as_bool()),
            (Some("J\u{f6}rg Other"), Some(true)),
            "{user}"
        );
        names.insert(user["username"].as_str().unwrap().to_owned());
    }
    assert!(names.len() == 3 && names.contains("jorg.other"), "{names:?}");
}

#[test]
fn fifty_first_sign_ins_at_once_make_one_account() {
    let issuer = Issuer::new();
    let site = issuer.site();
    site.expects_faults();
    let token = issuer.token(&claims(&site, "1", "jane@example.com"));
    let params = json!({ "id_token": token }).to_string();
    let body = json!({ "params": params, "socialType": "google", "user": "" });
    let ids: BTreeSet<i64> = std::thread::scope(|scope| {
        let body = &body;
        let callers: Vec<_> = (0..50).map(|_| site.stranger()).collect();
        let enter = move |caller: Caller| member(&caller.post("/auth/social", body).ok().json());
        let all: Vec<_> = callers.into_iter().map(|caller| scope.spawn(move || enter(caller))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!((ids.len(), links(&site)), (1, 1));
}
