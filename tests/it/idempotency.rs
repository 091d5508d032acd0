//! `Idempotency-Key`, on every `POST` of the table: one effect and one answer for a day, whatever happens between.

use crate::harness::{Caller, Reply, Request, Site};
use crate::world::{ADMINS_ALONE, World};
use http::Method;
use serde_json::json;
use std::time::Duration;
use tunneldesk::routes::{ROUTES, Route};

/// The operation that ends the session that a repeat needs.
const ENDS_THE_SESSION: &str = "/auth/logout";
/// Answers without an effect are not kept for strangers, who could fill the disk with them.
const WITHOUT_EFFECT: [&str; 2] = ["/auth/signup/check-username", "/auth/social"];

fn posts() -> impl Iterator<Item = &'static Route> {
    // A standby's request needs no key: it states what the standby has, and the answer is what is missing.
    let repeatable =
        |route: &&Route| route.method == Method::POST && route.path != ENDS_THE_SESSION && route.caller() != "standby";
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
    assert_eq!(first.header("content-type"), again.header("content-type"), "{first}");
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
    for route in posts().filter(|route| !WITHOUT_EFFECT.contains(&route.path)) {
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
        assert_eq!(*site.moves(entry_id).last().unwrap(), format!("pending open {}", ines.id), "{}", member.name);
    }
}

#[test]
fn a_kept_answer_survives_a_restart_and_lasts_a_day() {
    let mut world = World::open();
    let first: Vec<(&Route, Caller, Request, Reply)> = posts()
        .filter(|route| !WITHOUT_EFFECT.contains(&route.path))
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
