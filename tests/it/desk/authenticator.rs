//! The authenticator app of a clerk who is signed in: the first one, and one on another phone.

use super::{Clerk, demo};
use crate::harness::{Authenticator, PASSWORD, Site};
use serde_json::json;
use std::time::Duration;

const FORM: &str = "/desk/account/authenticator";
const CONFIRM: &str = "/desk/account/authenticator/confirm";

/// The app that scanned the page.
fn scan(page: &str) -> Authenticator {
    let secret = page.split("class=\"secret\">").nth(1).unwrap_or_else(|| panic!("no secret in {page}"));
    Authenticator::scan(&json!({ "secret": secret.split('<').next().unwrap().replace(' ', "") }))
}

#[test]
fn a_clerk_of_the_demo_sets_up_a_second_factor_and_needs_it_from_then_on() {
    let site = demo();
    let desk = site.desk();
    let clerk = Clerk::at(&site, &desk);
    assert!(clerk.get("/desk/account").page().contains("Set up an authenticator app"));
    let page = clerk.post(FORM, &[]).page();
    assert!(page.contains(CONFIRM) && page.contains("QR code"), "{page}");
    let app = scan(&page);
    let wrong = clerk.post(CONFIRM, &[("code", "000000")]);
    assert!(wrong.status == 422 && scan(&wrong.page()).code(0) == app.code(0), "the same secret: {wrong}");
    let done = clerk.post(CONFIRM, &[("code", &app.code(site.now()))]);
    assert_eq!(done.page().matches("<li><code>").count(), 10, "{done}");
    assert_eq!(clerk.get("/desk").status, 200, "the own session stays");
    let again = clerk.post(CONFIRM, &[("code", &app.code_away(site.now(), 1))]);
    assert!(again.status == 422 && again.page().contains("No authenticator app waits"), "{again}");

    let elsewhere = Clerk::outside(&site);
    let due = elsewhere.post("/desk/sign-in", &[("username", &desk.name), ("password", PASSWORD)]);
    assert!(due.header("location").unwrap().starts_with("/desk/sign-in/code?by=app"), "{due}");
    let code = app.code_away(site.now(), 1);
    assert_eq!(elsewhere.post("/desk/sign-in/code", &[("code", &code)]).status, 303);
}

#[test]
fn a_lost_phone_is_replaced_by_a_recovery_code_and_the_old_app_ends() {
    let site = Site::open();
    let protected = site.protect(&site.desk());
    let clerk = Clerk::outside(&site);
    clerk.post("/desk/sign-in", &[("username", &protected.member.name), ("password", PASSWORD)]);
    assert_eq!(clerk.post("/desk/sign-in/code", &[("code", &protected.recovery_codes[0])]).status, 303);
    assert!(clerk.get("/desk/account").page().contains("Set up the app on another phone"));
    for code in ["", "000000", protected.recovery_codes[0].as_str()] {
        let refused = clerk.post(FORM, &[("code", code)]);
        assert!(refused.status == 422 && !refused.page().contains("class=\"secret\""), "{code}: {refused}");
    }
    let app = scan(&clerk.post(FORM, &[("code", &protected.recovery_codes[1])]).page());
    site.advance(Duration::from_secs(60));
    assert_eq!(clerk.post(CONFIRM, &[("code", &app.code(site.now()))]).status, 200);
    site.advance(Duration::from_secs(60));

    let elsewhere = Clerk::outside(&site);
    elsewhere.post("/desk/sign-in", &[("username", &protected.member.name), ("password", PASSWORD)]);
    let send = |code: &str| elsewhere.post("/desk/sign-in/code", &[("code", code)]).status;
    let old = [protected.authenticator.code(site.now()), protected.recovery_codes[2].clone()];
    assert_eq!(old.map(|code| send(&code)), [422, 422]);
    assert_eq!(send(&app.code(site.now())), 303);

    site.advance(Duration::from_secs(700));
    assert_eq!(clerk.post(FORM, &[("code", &app.code(site.now()))]).status, 403, "the proof is too old");
}
