//! Changing the password.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use serde_json::{Value, json};

const CHANGE: &str = "/account/profile/change-password";
const NEW: &str = "four dry socks in a row";

fn change(member: &Caller, more: Value) -> Reply {
    let mut body = json!({"password": NEW, "current_password": PASSWORD, "password_confirm": NEW});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    member.put(CHANGE, body)
}

fn signs_in(site: &Site, password: &str) -> bool {
    let reply = site.stranger().post("/auth/login", json!({"username": "jane", "password": password}));
    reply.ok().json()["status"].as_bool().unwrap()
}

#[test]
fn the_new_password_replaces_the_old_one_and_everything_that_it_opened() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let (elsewhere, token) = (site.again(&jane), site.booking_token(&site.partner(), &jane));
    change(&jane, json!({})).ok();
    assert!(signs_in(&site, NEW) && !signs_in(&site, PASSWORD));
    jane.get("/account/profile/user").ok();
    elsewhere.get("/account/profile/user").refused(401);
    token.get("/account/profile/user").refused(401);
    assert_eq!(site.notices(&jane).last().map(String::as_str), Some("notice.password_changed"));
}

/// Whichever request comes first, the recovery's password stays: a change by a session from before the recovery is
/// either overwritten by the recovery or refused.
#[test]
fn a_change_under_way_does_not_undo_a_recovery() {
    let site = Site::open();
    for round in 0..8 {
        let jane = site.member(&format!("jane{round}"));
        let recover = "/auth/account-access/recover-password";
        site.stranger().post(recover, json!({"username": jane.name})).ok();
        let passcode = site.last_passcode(&jane).expect("a passcode went out");
        let body = json!({"username": jane.name, "passcode": passcode, "password": "a mug of hot tea please"});
        let stranger = site.stranger();
        let (changed, recovered) = std::thread::scope(|scope| {
            let changing = scope.spawn(|| change(&jane, json!({})).status);
            let recovered = stranger.post(recover, &body).ok_json()["status"] == true;
            (changing.join().unwrap(), recovered)
        });
        // Each request ends what the other needs: the session of the change, the passcode of the recovery.
        assert_eq!((changed, recovered), if recovered { (401, true) } else { (200, false) });
        let login = json!({"username": jane.name, "password": "a mug of hot tea please"});
        let signed_in = site.stranger().post("/auth/login", login).ok_json()["status"] == true;
        assert_eq!(signed_in, recovered, "after a change: {changed}");
    }
}

#[test]
fn one_old_password_proves_one_change() {
    let site = Site::open();
    let jane = site.member("jane");
    let changes: Vec<(String, Reply)> = std::thread::scope(|scope| {
        let change_to = |number: i32| {
            let new = format!("{NEW} {number}");
            let reply = change(&jane, json!({"password": new, "password_confirm": new}));
            (new, reply)
        };
        let under_way: Vec<_> = (0..8).map(|number| scope.spawn(move || change_to(number))).collect();
        under_way.into_iter().map(|change| change.join().unwrap()).collect()
    });
    let (done, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, reply)| reply.status == 200);
    assert_eq!(done.len(), 1);
    assert!(signs_in(&site, &done[0].0));
    for (_, reply) in others {
        assert_eq!(reply.refused(422).bad_fields(), ["current_password"]);
    }
}

#[test]
fn invalid_fields_are_named_and_change_nothing() {
    let site = Site::open();
    let jane = site.member("jane");
    let named = |more: Value| change(&jane, more).refused(422).bad_fields();
    assert_eq!(
        jane.put(CHANGE, json!({})).refused(422).bad_fields(),
        ["password", "current_password", "password_confirm"]
    );
    assert_eq!(named(json!({"password_confirm": "another"})), ["password_confirm"]);
    assert_eq!(named(json!({"current_password": "not the password"})), ["current_password"]);
    assert_eq!(named(json!({"password": "jane", "password_confirm": "jane"})), ["password"]);
    let weak = change(&jane, json!({"password": "windwerk", "password_confirm": "windwerk"})).refused(422);
    assert!(weak.json()["errors"][0]["message"].as_str().unwrap().contains("Add another word"), "{weak}");
    assert!(signs_in(&site, PASSWORD));
}

/// Judging a new password takes milliseconds, which are not spent on a caller who does not know the current one.
#[test]
fn a_new_password_is_checked_only_after_the_current_one() {
    let site = Site::open();
    let jane = site.member("jane");
    let weak = json!({"password": "password", "password_confirm": "password", "current_password": "not it"});
    for _ in 0..5 {
        assert_eq!(change(&jane, weak.clone()).refused(422).bad_fields(), ["current_password"]);
    }
    let mut known = weak;
    known["current_password"] = PASSWORD.into();
    assert!(change(&jane, known.clone()).refused(429).header("retry-after").is_some());
    site.advance(std::time::Duration::from_secs(3_600));
    assert_eq!(change(&jane, known).refused(422).bad_fields(), ["password"]);
}
