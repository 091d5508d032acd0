//! `Idempotency-Key`, on every `POST` of the table: one effect and one answer for a day, whatever happens between.

use crate::desk::Clerk;
use crate::harness::{Authenticator, Caller, PASSWORD, Reply, Request, Site};
use crate::world::{ADMINS_ALONE, World};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::keys::columns;
use tunneldesk::routes::{ROUTES, Route};

/// The operation that ends the session that a repeat needs.
const ENDS_THE_SESSION: &str = "/auth/logout";

/// Operations that write nothing.
const READS: [&str; 4] = [
    // A ticket is written nowhere: its key is kept with it, for as long (`events`).
    "/events/ticket",
    "/admin/reports/external/partner-metrics/bookings",
    "/admin/reports/external/partner-metrics/history",
    "/auth/signup/check-username",
];

/// At a site without social sign-in its answer says so and changes nothing, so it binds no key.
const NOT_SET_UP: &str = "/auth/social";

fn posts() -> impl Iterator<Item = &'static Route> {
    // A standby's request needs no key: it states what the standby has, and the answer is what is missing.
    let repeatable = |route: &&Route| {
        let only_reads = READS.contains(&route.path);
        route.method == Method::POST && route.path != ENDS_THE_SESSION && route.caller() != "standby" && !only_reads
    };
    ROUTES.iter().filter(repeatable)
}

fn keyed(request: &Request, key: &str) -> Request {
    request.clone().header("idempotency-key", key)
}

/// Another body with the same meaning: unknown fields are ignored.
fn reworded(request: &Request) -> Request {
    let body = match request.body.strip_suffix(b"}") {
        Some(open) => [open, b",\"aside\":1}"].concat(),
        None if request.body.is_empty() => b"{\"aside\":1}".to_vec(),
        // Bytes after the end of a picture do not belong to it.
        None => [&request.body[..], b" "].concat(),
    };
    Request { body, ..request.clone() }
}

#[track_caller]
fn same(first: &Reply, again: &Reply) {
    assert_eq!((first.status, &first.body), (again.status, &again.body), "{first} / {again}");
    // These headers are of the exchange.
    let of_answer = |reply: &Reply| {
        let mut headers = reply.headers.clone();
        for name in ["x-request-id", "date"] {
            headers.remove(name);
        }
        headers
    };
    assert_eq!(of_answer(first), of_answer(again), "{first} / {again}");
}

#[test]
fn the_same_key_and_body_get_the_first_answer_and_no_second_effect() {
    let world = World::open();
    for route in posts() {
        let caller = world.right_caller(route);
        let request = keyed(&world.request(route, &caller), "once-1");
        let first = caller.send(&request).ok();
        let rows = world.site.rows();
        same(&first, &caller.send(&request).ok());
        assert_eq!(world.site.rows(), rows, "the repeat of {first} had an effect");
    }
}

#[test]
fn the_same_key_with_another_body_is_refused() {
    let world = World::open();
    for route in posts().filter(|route| route.path != NOT_SET_UP) {
        let caller = world.right_caller(route);
        let request = keyed(&world.request(route, &caller), "once-2");
        caller.send(&request).ok();
        let rows = world.site.rows();
        let reply = caller.send(&reworded(&request)).refused(422);
        assert_eq!(reply.json()["code"], "idempotency_key_reused", "{reply}");
        assert_eq!(reply.bad_fields(), ["Idempotency-Key"], "{reply}");
        assert_eq!(world.site.rows(), rows);
    }
}

#[test]
fn another_caller_s_same_key_is_another_key() {
    let world = World::open();
    for route in posts() {
        let [one, other] = &world.callers(route)[..] else { continue };
        let (ours, theirs) =
            (keyed(&world.request(route, one), "once-3"), keyed(&world.request(route, other), "once-3"));
        let (first, other_first) = (one.send(&ours).ok(), other.send(&reworded(&theirs)).ok());
        same(&first, &one.send(&ours).ok());
        same(&other_first, &other.send(&reworded(&theirs)).ok());
    }
}

#[test]
fn the_same_key_on_another_operation_is_another_key() {
    let world = World::open();
    for route in posts() {
        let caller = world.right_caller(route);
        caller.send(&keyed(&world.request(route, &caller), "one for all")).ok();
    }
}

#[test]
fn the_same_key_for_another_entry_is_another_key() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let ines = site.signer("ines", &[("Instructor", "4")]);
    for member in [&jane, &mark] {
        site.brief(member, "Flyer");
        let entry_id = site.ask_for(member, "10101", &ines);
        let path = format!("/account/logbook/entries/{entry_id}/sign");
        ines.ask(Method::POST, &path).header("idempotency-key", "one for both").json(&json!({})).send().ok();
        assert_eq!(*site.events(entry_id).last().unwrap(), format!("pending open {}", ines.id), "{}", member.name);
    }
}

#[test]
fn a_kept_answer_survives_a_restart_and_lasts_a_day() {
    let mut world = World::open();
    let first: Vec<(&Route, Caller, Request, Reply)> = posts()
        .map(|route| {
            let caller = world.right_caller(route);
            let request = keyed(&world.request(route, &caller), "once-4");
            let reply = caller.send(&request).ok();
            (route, caller, request, reply)
        })
        .collect();
    world.site.restart();
    world.site.advance(Duration::from_secs(24 * 3600 - 1));
    for (_, caller, request, reply) in first.iter().filter(|(route, ..)| route.caller() != "staff") {
        same(reply, &caller.send(request).ok());
    }
    world.site.advance(Duration::from_secs(1));
    world.site.prove_all();
    for (route, caller, request, reply) in &first {
        // The key is free again, for any body.
        let anew = caller.send(&keyed(&world.request(route, caller), "once-4"));
        assert_eq!(anew.status, reply.status, "{anew} after {request:?}");
    }
}

#[test]
fn a_key_is_printable_and_has_255_characters_at_most() {
    let world = World::open();
    for route in posts() {
        let caller = world.right_caller(route);
        let request = world.request(route, &caller);
        caller.send(&keyed(&request, &"k".repeat(256))).refused(422);
        caller.send(&keyed(&request, &"k".repeat(255))).ok();
    }
}

#[test]
fn a_refused_request_does_not_use_its_key_up() {
    let world = World::open();
    let bodiless = ["/account/profile/booking-pin", "/account/profile/kiosk-code", "/account/profile/remove-media"];
    let bodiless = [&bodiless[..], &ADMINS_ALONE].concat();
    for route in posts().filter(|route| !bodiless.contains(&route.path)) {
        let caller = world.right_caller(route);
        let good = world.request(route, &caller);
        let bad = Request {
            body:
                b"{\"limit\":[],\"email\":[],\"username\":[],\"time\":[],\"member_id\":[],\"comments_instructor\":[]}"
                    .to_vec(),
            ..good.clone()
        };
        caller.send(&keyed(&bad, "once-5")).refused(422);
        caller.send(&keyed(&good, "once-5")).ok();
    }
}

/// A wrong password, code or credential is an answer like any other, and no refusal of the request.
#[test]
fn a_wrong_proof_binds_its_key_too() {
    let site = Site::open();
    let jane = site.member("jane");
    let stranger = site.stranger();
    let login = |path: &str, key: &str, password: &str| {
        let body = json!({ "username": jane.name, "password": password, "member_id": jane.id, "code": "000000" });
        stranger.ask(Method::POST, path).header("idempotency-key", key).json(&body).send()
    };
    for path in ["/auth/login", "/auth/login/silent", "/auth/login/verify-totp", "/auth/login/totp/setup"] {
        let first = login(path, path, "a wrong one").ok();
        assert_eq!(first.json()["status"], false);
        let counted = site.rows();
        same(&first, &login(path, path, "a wrong one").ok());
        assert_eq!(site.rows(), counted);
        assert_eq!(login(path, path, PASSWORD).refused(422).bad_fields(), ["Idempotency-Key"], "{path}");
    }
    // An attempt during a delay was not read, so its key is free.
    for number in 0..10 {
        login("/auth/login", &format!("wrong-{number}"), "a wrong one");
    }
    let stored = site.rows()["replays"];
    login("/auth/login", "delayed", PASSWORD).refused(429);
    assert_eq!(site.rows()["replays"], stored);
    site.advance(Duration::from_secs(3600));
    assert_eq!(login("/auth/login", "delayed", PASSWORD).ok().json()["status"], true);
}

/// The kept outcomes with their keys, opened.
fn kept(site: &Site) -> Vec<([u8; 32], Vec<u8>)> {
    let rows: Vec<([u8; 32], Vec<u8>)> = site.read(|tx| Ok(tx.list("SELECT replay_key, outcome FROM replays", [])?));
    let keys = &site.inside().keys;
    let open = |(key, sealed): ([u8; 32], Vec<u8>)| {
        let plain = keys.unseal(&columns::OUTCOME.at([(&key).into()]), &sealed);
        (key, plain.expect("our own key sealed it"))
    };
    rows.into_iter().map(open).collect()
}

/// Whether an outcome has the fields of a reply.
fn has_reply(outcome: &Value) -> bool {
    match outcome {
        Value::Object(map) => map.contains_key("status") || map.values().any(has_reply),
        Value::Array(all) => all.iter().any(has_reply),
        _ => false,
    }
}

#[test]
fn what_is_kept_is_an_outcome_and_no_reply() {
    let world = World::open();
    for route in posts() {
        let caller = world.right_caller(route);
        caller.send(&keyed(&world.request(route, &caller), "once-6")).ok();
    }
    let kept = kept(&world.site);
    assert!(kept.len() > 20, "{} outcomes", kept.len());
    for (_, plain) in kept {
        let text = String::from_utf8(plain).expect("an outcome is text").to_lowercase();
        let outcome: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert!(!has_reply(&outcome), "{text}");
        assert!(["content-", "<html", "<!doctype"].iter().all(|word| !text.contains(word)), "{text}");
    }
}

#[test]
fn a_repeat_in_another_language_is_answered_in_that_language() {
    let site = Site::open();
    let jane = site.member("jane");
    let remove = |language: &str| {
        let asking = jane.ask(Method::POST, "/account/profile/remove-media").header("idempotency-key", "one");
        asking.header("accept-language", language).send().ok().json()["message"].clone()
    };
    let english = remove("en");
    assert_ne!(english, remove("de"));
    assert_eq!(english, remove("en"));
}

#[test]
fn an_outcome_that_this_version_cannot_read_is_refused_and_not_repeated() {
    let site = Site::open();
    let jane = site.member("jane");
    let renew = || jane.ask(Method::POST, "/account/profile/booking-pin").header("idempotency-key", "one").send();
    renew().ok();
    for other in [&b"\x80\xc8\0\0\0\0{}"[..], b"{\"pin\":\"123456\"}"] {
        let (key, _) = kept(&site).remove(0);
        let sealed = site.inside().keys.seal(&columns::OUTCOME.at([(&key).into()]), other);
        site.change(|tx| Ok(tx.run("UPDATE replays SET outcome = ?1", [&sealed])?));
        let rows = site.rows();
        let refused = renew().refused(422);
        assert_eq!((refused.json()["code"].as_str(), site.rows()), (Some("idempotency_key_reused"), rows));
        assert_eq!(refused.bad_fields(), ["Idempotency-Key"], "{refused}");
    }
}

#[test]
fn a_form_of_the_desk_is_known_by_its_number_and_keeps_no_page() {
    let site = Site::open_with(|config| config.demo = true);
    let (jane, admin) = (site.member("jane"), Clerk::at(&site, &site.admin()));
    let headers = [("origin", &*admin.origin), ("idempotency-key", "one")];
    assert_eq!(admin.post_from(&format!("/desk/members/{}/pin", jane.id), &[], &headers).status, 200);
    assert_eq!(kept(&site), []);
}

#[test]
fn a_report_stores_nothing_and_ignores_its_key() {
    let site = Site::open();
    let (sync, partner) = (site.sync(), site.partner());
    let path = "/admin/reports/external/partner-metrics/history";
    let report =
        |body: serde_json::Value| sync.ask(Method::POST, path).header("idempotency-key", "report").json(&body).send();
    assert_eq!(report(json!({ "limit": 200 })).ok().json()["total"], 0);
    partner.post("/external/partner-metrics/op", json!({ "email": "one.more@example.com" })).ok();
    assert_eq!(report(json!({ "limit": 200 })).ok().json()["total"], 1);
    report(json!({ "limit": 199 })).ok();
    assert_eq!(site.rows()["replays"], 0);
}

#[test]
fn a_principal_has_a_share_of_stored_outcomes() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let edit = |caller: &Caller, key: usize| {
        let asking = caller.ask(Method::POST, "/account/profile/remove-media");
        asking.header("idempotency-key", &format!("key-{key}")).send()
    };
    let stored = (0..5_100).take_while(|key| edit(&jane, *key).status == 200).count();
    assert!((5_000..5_100).contains(&stored), "{stored}");
    assert!(edit(&jane, stored).refused(429).header("retry-after").is_some());
    assert_eq!(edit(&jane, 0).status, 200, "an outcome that is stored is given again");
    assert_eq!(edit(&mark, 0).status, 200);
    jane.ask(Method::POST, "/account/profile/remove-media").send().ok();
}

#[test]
fn a_stranger_cannot_fill_the_disk_with_keys() {
    // The first has an effect, with which its answer is stored; the second only reads.
    for (path, has_effect) in [("/auth/login/bio-web-option", true), ("/auth/signup/check-username", false)] {
        let site = Site::open_with(|config| config.limits.passkey_questions_per_minute_per_address = 1_000);
        let check = |key: usize| {
            let asking = site.stranger();
            let asking = asking.ask(Method::POST, path).header("origin", &site.origin());
            asking.header("idempotency-key", &format!("key-{key}")).json(&json!({ "username": "jane" })).send().status
        };
        let answered = (0..650).filter(|key| check(*key) == 200).count();
        let stored = site.rows()["replays"];
        if has_effect {
            // Ten come back each minute, and so many passkeys take a while.
            assert!((600..=640).contains(&stored) && answered == stored as usize, "{path}: {stored} of {answered}");
        } else {
            assert_eq!((answered, stored), (650, 0), "{path}");
        }
    }
}

/// A change that ends what a set-up showed.
type End = (&'static str, &'static str);

#[test]
fn what_a_set_up_showed_is_not_shown_again_once_the_credentials_changed() {
    const ENDS: [End; 3] = [
        ("the password", "UPDATE members SET password_hash = NULL WHERE member_id = ?1"),
        ("the second factor", "DELETE FROM second_factors WHERE member_id = ?1"),
        ("a ban", "UPDATE members SET banned_at = 1 WHERE member_id = ?1"),
    ];
    for (what, sql) in ENDS {
        let site = Site::open_with(|config| config.demo = true);
        let jane = site.member("jane");
        let mut body = json!({ "username": jane.name, "password": PASSWORD, "member_id": jane.id });
        let send = |path: &str, body: &Value| {
            let asking =
                jane.ask(Method::POST, &format!("/auth/login/totp/{path}")).header("idempotency-key", "set-up");
            asking.json(body).send()
        };
        let begun = send("setup", &body).ok();
        same(&begun, &send("setup", &body));
        body["code"] = Authenticator::scan(&begun.json()).code_away(site.now(), -1).into();
        let done = send("verify-setup", &body).ok();
        assert_eq!(done.json()["status"], true, "{done}");
        same(&done, &send("verify-setup", &body));
        site.change(|tx| Ok(tx.run(sql, [jane.id])?));
        let repeat = send("verify-setup", &body);
        let codes =
            repeat.status == 200 && repeat.json()["recovery_codes"].as_array().is_some_and(|all| !all.is_empty());
        assert!(!codes, "{what}: {repeat}");
    }
}

#[test]
fn a_sign_in_and_a_pin_are_not_repeated_once_the_password_changed_although_the_session_goes_on() {
    let site = Site::open();
    let (jane, stranger) = (site.member("jane"), site.stranger());
    let body = json!({ "username": jane.name, "password": PASSWORD });
    let sign_in = || stranger.ask(Method::POST, "/auth/login").header("idempotency-key", "one").json(&body).send();
    let renew = || jane.ask(Method::POST, "/account/profile/booking-pin").header("idempotency-key", "one").send();
    let (signed_in, pin) = (sign_in().ok(), renew());
    same(&signed_in, &sign_in());
    same(&pin, &renew());
    site.change(|tx| Ok(tx.run("UPDATE members SET password_hash = NULL WHERE member_id = ?1", [jane.id])?));
    assert_eq!(sign_in().ok().json()["status"], false);
    assert_ne!(renew().json()["pin"], pin.json()["pin"]);
}
