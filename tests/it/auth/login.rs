//! Sign-in by password.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use http::Method;
use serde_json::json;
use std::sync::Barrier;
use std::time::Duration;

const WAYS: [&str; 2] = ["/auth/login", "/auth/login/silent"];

fn try_at(site: &Site, way: &str, username: &str, password: &str) -> Reply {
    site.stranger().post(way, json!({"username": username, "password": password})).ok()
}

/// The 429 to an attempt during a delay.
#[track_caller]
fn delayed(site: &Site, way: &str, username: &str, password: &str) -> serde_json::Value {
    let reply = site.stranger().post(way, json!({"username": username, "password": password})).refused(429);
    assert!(reply.header("retry-after").is_some_and(|wait| wait != "0"), "{reply}");
    let mut answer = reply.json();
    assert_eq!((answer["code"].as_str(), answer.get("token")), (Some("too_fast"), None), "{reply}");
    answer["request_id"] = json!("");
    answer
}

fn right(site: &Site, username: &str) -> bool {
    try_at(site, WAYS[0], username, PASSWORD).json()["status"].as_bool().unwrap()
}

#[test]
fn a_username_in_any_case_or_the_address_and_the_password_make_a_session() {
    let site = Site::open();
    let jane = site.member("jane");
    for way in WAYS {
        for name in ["jane", "JANE", "jane@example.com", "Jane@Example.com"] {
            let answer = try_at(&site, way, name, PASSWORD).json();
            assert_eq!((answer["status"].as_bool(), answer["confirmationPending"].as_i64()), (Some(true), Some(0)));
            assert_eq!((answer["member_id"].as_i64(), answer["message"].as_str()), (Some(jane.id), Some("")));
            let token = answer["token"].as_str().unwrap();
            for (header, value) in [
                ("token", token.to_owned()),
                ("authorization", token.to_owned()),
                ("authorization", format!("bearer {token}")),
            ] {
                site.stranger().ask(Method::GET, "/account/profile/user").header(header, &value).send().ok();
            }
        }
    }
}

#[test]
fn a_wrong_password_and_an_unknown_name_get_the_same_bytes() {
    let site = Site::open();
    site.member("jane");
    for way in WAYS {
        let wrong = try_at(&site, way, "jane", "not the password");
        let unknown = try_at(&site, way, "nobody", "not the password");
        assert_eq!(wrong.body, unknown.body);
        let answer = wrong.json();
        assert_eq!(
            (answer["status"].as_bool(), answer["token"].as_str(), answer["member_id"].as_i64()),
            (Some(false), Some(""), Some(0))
        );
    }
}

#[test]
fn a_sign_in_keeps_the_language_of_the_member_unless_it_asks_for_another_of_ours() {
    let site = Site::open();
    let jane = site.member("jane");
    let kept_after = |header: &str| -> String {
        let body = json!({"username": "jane", "password": PASSWORD});
        site.stranger().ask(Method::POST, WAYS[0]).header("accept-language", header).json(&body).send().ok();
        site.change(|tx| Ok(tx.get("SELECT language FROM members WHERE member_id = ?1", [jane.id])?))
    };
    for (header, kept) in [
        ("fr-CH, en;q=0.5", "fr"),
        ("*", "fr"),
        ("", "fr"),
        (",,;", "fr"),
        ("pt-BR", "fr"),
        ("de;q=0", "fr"),
        ("it", "it"),
        ("pt, es;q=0.5", "es"),
    ] {
        assert_eq!(kept_after(header), kept, "{header:?}");
    }
}

#[test]
fn missing_fields_are_named_and_numbers_are_text() {
    let site = Site::open();
    for way in WAYS {
        assert_eq!(site.stranger().post(way, json!({})).refused(422).bad_fields(), ["username", "password"]);
        assert_eq!(site.stranger().post(way, json!({"username": 5, "password": 6})).ok().json()["status"], false);
    }
    let odd = json!({"username": "a", "password": "b", "checkTwoFactor": 7, "passcodeOption": "pigeon"});
    assert_eq!(site.stranger().post(WAYS[0], odd).refused(422).bad_fields(), ["checkTwoFactor", "passcodeOption"]);
}

#[test]
fn a_member_without_a_second_factor_is_signed_in_at_once() {
    let site = Site::open();
    site.member("jane");
    let body = json!({"username": "jane", "password": PASSWORD, "checkTwoFactor": true, "passcodeOption": "email"});
    let answer = site.stranger().post(WAYS[0], body).ok().json();
    assert_eq!((answer["status"].as_bool(), answer["confirmationPending"].as_i64()), (Some(true), Some(0)));
    assert_ne!(answer["token"], "");
}

#[test]
fn after_five_failed_attempts_even_the_right_password_is_delayed_also_after_a_restart() {
    let mut site = Site::open();
    site.member("jane");
    site.member("mark");
    // The fifth miss costs a second, in which nothing is read.
    for _ in 0..5 {
        try_at(&site, WAYS[1], "jane", "not the password");
    }
    site.advance(Duration::from_secs(1));
    try_at(&site, WAYS[0], "jane", "not the password");
    let wrong = delayed(&site, WAYS[0], "jane", "not the password");
    assert_eq!(delayed(&site, WAYS[0], "jane", PASSWORD), wrong, "no oracle");
    assert_eq!(delayed(&site, WAYS[1], "JANE", PASSWORD), wrong);
    assert!(right(&site, "mark"), "others are left alone");
    site.restart();
    delayed(&site, WAYS[0], "jane", PASSWORD);
    site.advance(Duration::from_secs(2));
    assert!(right(&site, "jane"), "the sixth miss costs two seconds");
    assert!(right(&site, "jane"));
}

#[test]
fn of_attempts_at_once_no_more_are_read_than_one_after_another() {
    let site = Site::open();
    site.expects_faults();
    site.member("jane");
    let together = Barrier::new(64);
    let count = |name: &str, password: &str, status: u16| {
        let body = json!({"username": name, "password": password});
        let callers: Vec<Caller> = (0..64).map(|_| site.stranger()).collect();
        let attempt = |caller: &Caller| {
            together.wait();
            caller.post(WAYS[0], &body).status
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = callers.iter().map(|caller| scope.spawn(|| attempt(caller))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|seen| *seen == status).count()
        })
    };
    assert_eq!(count("jane", PASSWORD, 200), 64, "right ones wait for nobody");
    for name in ["jane", "nobody"] {
        assert_eq!(count(name, "not the password", 200), 5, "{name}");
        delayed(&site, WAYS[0], name, PASSWORD);
    }
}

#[test]
fn delays_grow_and_stay_short_enough_for_the_owner() {
    let site = Site::open();
    site.member("jane");
    let mut waited = Vec::new();
    for _ in 0..12 {
        try_at(&site, WAYS[0], "jane", "not the password");
        let mut seconds = 0;
        while site.sign_in_is_delayed() {
            site.advance(Duration::from_secs(1));
            seconds += 1;
        }
        waited.push(seconds);
    }
    assert_eq!(waited[..5], [0, 0, 0, 0, 1]);
    assert!(waited[5..].windows(2).all(|pair| pair[0] <= pair[1]), "{waited:?}");
    assert!(waited.iter().all(|seconds| *seconds <= 15 * 60));
}

#[test]
fn a_banned_member_is_told_so_and_only_with_the_right_password() {
    let site = Site::open();
    let jane = site.member("jane");
    site.ban(&jane);
    let told = try_at(&site, WAYS[0], "jane", PASSWORD).json();
    let guessed = try_at(&site, WAYS[0], "jane", "not the password").json();
    assert_eq!((told["status"].as_bool(), told["token"].as_str()), (Some(false), Some("")));
    assert_ne!(told["message"], guessed["message"]);
    jane.get("/account/profile/user").refused(401);
}

#[test]
fn signing_out_ends_that_session_and_no_other() {
    let site = Site::open();
    let (one, other) = (site.member("jane"), site.member("mark"));
    let second = site.again(&one);
    one.post("/auth/logout", json!({})).ok();
    one.get("/account/profile/user").refused(401);
    second.get("/account/profile/user").ok();
    other.get("/account/profile/user").ok();
}

#[test]
fn a_session_ends_when_idle_or_old_and_use_keeps_it() {
    let site = Site::open();
    let (used, idle, desk) = (site.member("jane"), site.member("mark"), site.desk());
    let days = |n: u64| Duration::from_secs(n * 86_400);
    site.advance(Duration::from_secs(12 * 3600));
    desk.get("/account/profile/user").refused(401);
    for _ in 0..8 {
        site.advance(days(20));
        used.get("/account/profile/user").ok();
    }
    idle.get("/account/profile/user").refused(401);
    site.advance(days(20));
    used.get("/account/profile/user").refused(401);
}
