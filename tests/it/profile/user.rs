//! The member's profile.

use crate::desk::Clerk;
use crate::harness::{PASSWORD, Site};
use serde_json::{Value, json};
use std::time::Duration;

const USER: &str = "/account/profile/user";

fn change(more: Value) -> Value {
    let mut body = json!({"real_name": "Jane Doe", "tunnel": "7", "screen_name": "JD", "username": "jane.doe", "verify_password": PASSWORD});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn it_carries_every_name_that_clients_read_in_its_type() {
    let site = Site::open();
    let profile = site.flyer("jane").get(USER).ok().json();
    for text in [
        "username",
        "screen_name",
        "real_name",
        "email",
        "phone",
        "country",
        "country_code",
        "tunnel",
        "tunnel_name",
        "tunnel_country",
        "role_name",
        "total_flight_time",
    ] {
        assert!(profile[text].is_string(), "{text}: {profile}");
    }
    for programme in ["flyer", "coach", "instructor", "trainer", "examiner", "military"] {
        assert!(matches!(profile[format!("currency_{programme}")].as_i64(), Some(0 | 1)), "{programme}");
        assert!(profile.get(format!("currency_renewal_date_{programme}")).is_some(), "{programme}");
    }
    assert_eq!((profile["email_verified"].as_bool(), profile["phone_verified"].as_bool()), (Some(true), Some(false)));
    assert_eq!((profile["member_id"].as_i64(), profile["join_date"].as_i64()), (Some(1), Some(site.now())));
    assert_eq!(profile["paymentData"]["paymentStatus"], "active");
    assert_eq!((profile["total_flight_time"].as_str(), profile["role_name"].as_str()), (Some("0:10"), Some("Flyer")));
    let ten_days_ago = site.now() - 10 * 86_400;
    assert_eq!(profile["currency_renewal_date_flyer"], site.end_of_day(ten_days_ago + 180 * 86_400), "its last second");
}

#[test]
fn currency_lapses_with_time_alone() {
    let site = Site::open();
    let jane = site.flyer("jane");
    // The flyer flew ten days ago, and is current through the end of the 180th day after that.
    let ends = site.end_of_day(site.now() + 170 * 86_400);
    site.advance(Duration::from_secs((ends - site.now()).unsigned_abs()));
    let jane = site.again(&jane);
    assert_eq!(jane.get(USER).ok().json()["currency_flyer"], 1);
    site.advance(Duration::from_secs(1));
    assert_eq!(jane.get(USER).ok().json()["currency_flyer"], 0);
}

#[test]
fn the_membership_is_in_force_while_it_is_paid_for() {
    let site = Site::open_with(|config| config.yearly_fee_cents = 3000);
    let jane = site.flyer("jane");
    let payment = || jane.get(USER).ok().json()["paymentData"].clone();
    assert_eq!(payment(), json!({"paymentStatus": "unpaid", "nextDate": null}));
    site.pay(&jane, Duration::from_secs(100));
    assert_eq!(payment(), json!({"paymentStatus": "active", "nextDate": site.now() + 100}));
    site.advance(Duration::from_secs(100));
    assert_eq!(payment()["paymentStatus"], "active", "through its last second");
    site.advance(Duration::from_secs(1));
    assert_eq!(payment()["paymentStatus"], "unpaid");
}

#[test]
fn the_profile_is_changed_with_the_password() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.put(USER, change(json!({}))).ok();
    let profile = jane.get(USER).ok().json();
    assert_eq!((profile["username"].as_str(), profile["screen_name"].as_str()), (Some("jane.doe"), Some("JD")));
    let login = site.stranger().post("/auth/login", json!({"username": "jane.doe", "password": PASSWORD})).ok().json();
    assert_eq!(login["member_id"], jane.id);
}

#[test]
fn a_wrong_password_a_taken_name_and_bad_fields_change_nothing() {
    let site = Site::open();
    let (jane, before) = (site.member("jane"), site.member("mark").get(USER).ok().json());
    let named = |body: Value| jane.put(USER, body).refused(422).bad_fields();
    assert_eq!(named(json!({})), ["real_name", "screen_name", "username", "tunnel", "verify_password"]);
    assert_eq!(named(change(json!({"verify_password": "not the password"}))), ["verify_password"]);
    assert_eq!(named(change(json!({"tunnel": "99"}))), ["tunnel"]);
    jane.put(USER, change(json!({"username": "MARK"}))).refused(409);
    assert_eq!(jane.get(USER).ok().json()["username"], "jane");
    assert_eq!(before["username"], "mark");
}

#[test]
fn the_username_cannot_become_the_password() {
    let site = Site::open();
    let jane = site.member("jane");
    let password = "Kettle-drum.42";
    let body = json!({"password": password, "password_confirm": password, "current_password": PASSWORD});
    jane.put("/account/profile/change-password", body).ok();
    let named = |username: &str, secret: &str| {
        jane.put(USER, change(json!({"username": username, "verify_password": secret}))).refused(422).bad_fields()
    };
    for username in [password, "KETTLE-DRUM.42"] {
        assert_eq!(named(username, password), ["username"]);
        assert_eq!(named(username, username.to_lowercase().as_str()), ["verify_password"], "a guess is told nothing");
    }
    assert_eq!(jane.get(USER).ok().json()["username"], "jane");
}

#[test]
fn guessing_the_password_with_a_stolen_session_is_delayed() {
    let site = Site::open();
    let jane = site.member("jane");
    for _ in 0..5 {
        jane.put(USER, change(json!({"verify_password": "not the password"}))).refused(422);
    }
    let refusal = jane.put(USER, change(json!({}))).refused(429);
    assert!(refusal.header("retry-after").is_some());
    site.advance(Duration::from_secs(60));
    jane.put(USER, change(json!({}))).ok();
}

#[test]
fn nobody_has_a_name_that_reads_backwards_or_hides_a_character() {
    let site = Site::open_with(|config| config.demo = true);
    let jane = site.member("jane");
    let names = json!({"real_name": "Jane \u{202e}eoD\u{202c}\u{200b}", "screen_name": "\u{2067}J\u{ad}D\u{2069}"});
    jane.put(USER, change(names)).ok();
    let user = jane.get(USER).ok().json();
    assert_eq!((&user["real_name"], &user["screen_name"]), (&json!("Jane eoD"), &json!("JD")));
    for separator in ['\u{2028}', '\u{2029}'] {
        let names = json!({"real_name": format!("Jane{separator}Doe"), "screen_name": "JD"});
        assert_eq!(jane.put(USER, change(names)).refused(422).bad_fields(), ["real_name"], "{separator:?}");
    }
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    let edit = [("real_name", "\u{202e}eoD enaJ"), ("screen_name", "JD"), ("email", "jane@example.com"), ("seen", "")];
    assert_eq!(clerk.post(&format!("{card}/edit"), &edit).status, 303);
    assert_eq!(
        clerk.post(&format!("{card}/note"), &[("text", "calls \u{202e}before\u{202c} noon\u{2028}or after")]).status,
        303
    );
    let page = clerk.get(&card).page();
    assert!(
        page.contains("eoD enaJ") && page.contains("calls before noon") && !page.contains(['\u{202e}', '\u{2028}']),
        "{page}"
    );
}
