//! The authentication of partners.

use crate::harness::{Caller, Credential, Site, Wire, sign};
use http::Method;
use serde_json::json;
use std::time::Duration;

const OP: &str = "/external/partner-metrics/op";

fn unsigned(partner: &Caller) -> Caller {
    partner.with(Credential::None)
}

#[test]
fn without_a_body_zero_bytes_and_empty_braces_are_signed_alike() {
    let site = Site::open();
    let partner = site.partner();
    for signed in ["", "{}"] {
        let token = sign(partner.secret(), signed.as_bytes());
        unsigned(&partner).ask(Method::GET, OP).header("token", &token).send().ok();
        unsigned(&partner).ask(Method::GET, OP).header("token", &token.to_uppercase()).send().ok();
    }
    // If the body is `{}`, only the signature of that body is valid.
    let empty = sign(partner.secret(), b"");
    unsigned(&partner).ask(Method::POST, OP).header("token", &empty).body("{}").send().refused(401);
}

#[test]
fn the_client_id_is_optional_but_for_tokens_and_must_match_where_it_is_given() {
    let site = Site::open();
    let (one, other) = (site.partner(), site.partner());
    let token = sign(one.secret(), b"");
    unsigned(&one).ask(Method::GET, OP).header("token", &token).send().ok();
    unsigned(&one)
        .ask(Method::GET, OP)
        .header("token", &token)
        .header("client-id", other.client_id())
        .send()
        .refused(401);
    unsigned(&one).ask(Method::GET, OP).header("token", &token).header("client-id", "nobody").send().refused(401);

    let body = json!({"member_id": 1, "member_pin": "000000"}).to_string();
    let ask = unsigned(&one);
    let ask = ask.ask(Method::POST, "/external/partner-metrics/op/generate-token").body(body.clone());
    ask.header("token", &sign(one.secret(), body.as_bytes())).send().refused(401);
}

#[test]
fn a_client_id_that_is_no_text_is_no_client_s() {
    let site = Site::open();
    let token = sign(site.partner().secret(), b"");
    for (id, status) in [(&b""[..], 200), (b" \t", 200), (b"\xff", 401), (b"\xc3\xa9", 401)] {
        let head = format!("GET /api{OP} HTTP/1.1\r\nHost: localhost\r\ntoken: {token}\r\nclient-id: ");
        let asked = [head.as_bytes(), id, b"\r\n\r\n"].concat();
        let reply = Wire::to(site.address()).exchange(&asked, "a client id").unwrap();
        assert_eq!(reply.status, status, "{id:?}: {reply}");
    }
}

#[test]
fn a_signature_over_another_body_is_refused() {
    let site = Site::open();
    let partner = site.partner();
    let token = sign(partner.secret(), br#"{"email":"a@example.com"}"#);
    let send = |body: &str| unsigned(&partner).ask(Method::POST, OP).header("token", &token).body(body).send();
    send(r#"{"email":"b@example.com"}"#).refused(401);
    send(r#"{"email": "a@example.com"}"#).refused(401);
    send(r#"{"email":"a@example.com"}"#).ok();
}

#[test]
fn two_secrets_are_good_while_one_is_rotated_out() {
    let site = Site::open();
    let partner = site.partner();
    let newer = site.rotate(&partner, 7);
    partner.get(OP).ok();
    newer.get(OP).ok();
    site.advance(Duration::from_secs(7 * 86_400));
    partner.get(OP).refused(401);
    newer.get(OP).ok();
}

#[test]
fn a_revoked_partner_is_refused_at_once() {
    let site = Site::open();
    let partner = site.partner();
    partner.get(OP).ok();
    site.revoke(&partner);
    partner.get(OP).refused(401);
}

#[test]
fn a_partner_calls_from_its_own_networks_only() {
    let site = Site::open();
    site.partner_with(false, &["192.0.2.0/24"], None).get(OP).refused(403);
    site.partner_with(false, &["192.0.2.0/24", "127.0.0.0/8"], None).get(OP).ok();
}

#[test]
fn a_partner_that_is_too_fast_is_told_when_to_come_back() {
    let site = Site::open();
    let partner = site.partner_with(false, &[], Some(3));
    for left in [2, 1, 0] {
        let reply = partner.get(OP).ok();
        let number = |name: &str| reply.header(name).unwrap().parse::<i64>().unwrap();
        assert_eq!((number("ratelimit-limit"), number("ratelimit-remaining")), (3, left));
        assert!((1..=60).contains(&number("ratelimit-reset")), "{reply}");
    }
    let refusal = partner.get(OP).refused(429);
    let wait: i64 = refusal.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=20).contains(&wait), "{wait}");
    site.partner().get(OP).ok();
}

#[test]
fn a_strict_partner_signs_the_time_and_each_signature_is_for_one_request() {
    let site = Site::open();
    let partner = site.strict_partner();
    let plain = unsigned(&partner);
    let stamped = |timestamp: i64| {
        let token = sign(partner.secret(), format!("{timestamp}.").as_bytes());
        plain.ask(Method::GET, OP).header("token", &token).header("x-timestamp", &timestamp.to_string()).send()
    };
    stamped(site.now()).ok();
    stamped(site.now()).ok();
    let token = sign(partner.secret(), format!("{}.", site.now()).as_bytes());
    let other = plain.ask(Method::GET, &format!("{OP}/1")).header("token", &token);
    let other = other.header("x-timestamp", &site.now().to_string()).send().refused(401);
    assert_eq!(other.json()["code"], "signature_repeated", "for another request than the first");
    assert_eq!(other.header("retry-after"), Some("1"));
    stamped(site.now() - 300).ok();
    assert_eq!(stamped(site.now() - 301).refused(401).json()["code"], "bad_timestamp");
    let early = stamped(site.now() + 420).refused(401).json();
    assert_eq!(early["code"], "bad_timestamp");
    assert!(early["message"].as_str().unwrap().contains("420 seconds away"), "{early}");

    let token = sign(partner.secret(), b"");
    assert_eq!(plain.ask(Method::GET, OP).header("token", &token).send().refused(401).json()["code"], "bad_timestamp");
    let moved = plain.ask(Method::GET, OP).header("token", &sign(partner.secret(), b"1."));
    moved.header("x-timestamp", &site.now().to_string()).send().refused(401);
}

#[test]
fn a_strict_partner_may_sign_a_nonce_so_that_two_requests_of_a_second_differ() {
    let site = Site::open();
    let partner = site.strict_partner();
    let (plain, now) = (unsigned(&partner), site.now());
    let send = |nonce: &str, signed: &str| {
        let token = sign(partner.secret(), format!("{now}.{signed}").as_bytes());
        let asking = plain.ask(Method::GET, &format!("{OP}/1")).header("x-timestamp", &now.to_string());
        asking.header("x-nonce", nonce).header("token", &token).send()
    };
    for nonce in ["0123456789abcdef", "0123456789abcdeg"] {
        send(nonce, &format!("{nonce}.")).refused(404);
    }
    assert_eq!(send("0123456789abcdeh", "").refused(401).json()["code"], "bad_signature", "the nonce is not signed");
    assert_eq!(send("short", "short.").refused(401).json()["code"], "bad_nonce");
}

#[test]
fn a_strict_partner_s_request_counts_once_for_its_pace() {
    let site = Site::open();
    let partner = site.partner_with(true, &[], Some(3));
    let id = partner.post(OP, json!({ "email": "pace@example.com" })).ok().json()["id"].clone();
    for _ in 0..2 {
        partner.get(&format!("{OP}/{id}")).ok();
        // In another second the signature is another.
        site.advance(Duration::from_secs(1));
    }
    partner.get(&format!("{OP}/{id}")).refused(429);
}

#[test]
fn a_used_signature_stays_used_over_a_restart() {
    let mut site = Site::open();
    let partner = site.strict_partner();
    let timestamp = site.now().to_string();
    let body = r#"{"email":"once@example.com"}"#;
    let token = sign(partner.secret(), format!("{timestamp}.{body}").as_bytes());
    let ask = |caller: &Caller| {
        let asking = caller.ask(Method::POST, OP).header("token", &token).header("x-timestamp", &timestamp);
        asking.body(body).send()
    };
    let plain = unsigned(&partner);
    ask(&plain).ok();
    site.restart();
    ask(&plain).refused(401);
}

#[test]
fn a_clock_behind_the_file_turns_signed_times_off_and_nothing_else() {
    let site = Site::open();
    let (strict, plain) = (site.strict_partner(), site.partner());
    strict.get(OP).ok();
    site.set_back(Duration::from_secs(86_400));
    assert_eq!(strict.get(OP).refused(503).json()["code"], "clock_suspect");
    plain.get(OP).ok();
    site.expects_faults();
}
