//! Refusals of requests that cannot be read, or bear the wrong kind of credential, say what is wrong, where, and what would be
//! right.

use crate::harness::{Caller, Site, Wire};
use http::Method;

const LOGIN: &str = "/auth/login";

fn refused(caller: &Caller, path: &str, kind: &str, body: &[u8], status: u16) -> String {
    let reply = caller.ask(Method::POST, path).header("content-type", kind).body(body).send().refused(status);
    reply.json()["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_body_that_is_not_json_is_refused_with_the_place() {
    let site = Site::open();
    let message = |body: &[u8]| refused(&site.stranger(), LOGIN, "application/json", body, 400);
    let not_json = |line, column| format!("The body is not valid JSON: see line {line}, column {column}.");
    assert_eq!(message(b"{'username': 'jane'}"), not_json(1, 2));
    assert_eq!(message(b"{\n \"username\": \"jane\",\n}"), not_json(3, 1));
    assert_eq!(message(b"{\"username\": \"Zo\xeb\"}"), "The body is not text in UTF-8: see byte 17.");
}

#[test]
fn a_body_that_is_too_large_is_refused_with_the_limit() {
    let site = Site::with_senders();
    let body = vec![b' '; 5 * 1024 * 1024 + 1];
    for (caller, method, path, limit) in [
        (site.stranger(), Method::POST, LOGIN, "64 KiB"),
        (site.processor(), Method::POST, "/payment-webhook", "1 MiB"),
        (site.member("jane"), Method::POST, "/account/profile/media", "5 MiB"),
    ] {
        let reply = caller.ask(method, path).body(body.clone()).send().refused(413);
        assert_eq!(reply.json()["message"], format!("The body is larger than {limit}."));
    }
}

#[test]
fn a_callback_may_be_a_form_and_the_refusal_of_another_type_says_so() {
    let site = Site::with_senders();
    let types = refused(&site.mail_provider(), "/mail-webhook", "text/plain", b"[]", 415);
    assert!(types.contains("application/json or application/x-www-form-urlencoded"), "{types}");
    assert!(!refused(&site.stranger(), LOGIN, "text/plain", b"{}", 415).contains("form"));
    let fields = "a=b&".repeat(101);
    let form = "application/x-www-form-urlencoded";
    let message = refused(&site.mail_provider(), "/mail-webhook", form, fields.as_bytes(), 413);
    assert_eq!(message, "The form has more than 100 fields.");
}

#[test]
fn events_that_are_not_json_or_come_twice_are_named() {
    let site = Site::with_senders();
    let message = |body: &[u8]| refused(&site.mail_provider(), "/mail-webhook", "application/json", body, 400);
    assert_eq!(message(b"{\"mail_events\": \"[1,\"}"), "mail_events is not valid JSON: see line 1, column 3.");
    assert_eq!(message(b"{\"mail_events\": [], \"mail_events\": []}"), "mail_events is there twice. Send it once.");
    assert!(message(b"{\"mail_events\": [1,}").starts_with("The body is not valid JSON"));
}

#[test]
fn a_head_without_a_host_or_with_another_coding_is_told_what_to_send() {
    let site = Site::open();
    for (head, right) in [
        ("GET /healthz HTTP/1.1\r\n\r\n", "one header Host"),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "one header Host"),
        (
            "POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked",
        ),
    ] {
        let reply = Wire::to(site.address()).exchange(head.as_bytes(), head).unwrap().refused(400).json();
        assert!(reply["message"].as_str().unwrap().contains(right), "{reply}");
    }
}

#[test]
fn a_client_that_waits_before_it_sends_is_refused_at_once() {
    let site = Site::open();
    let head = |path: &str, bytes: usize| {
        format!(
            "POST /api{path} HTTP/1.1\r\nHost: localhost\r\nexpect: 100-continue\r\ncontent-length: {bytes}\r\n\r\n"
        )
    };
    for (path, bytes, status) in [(LOGIN, 70_000, 413), ("/nothing", 20, 404), ("/public/countries", 20, 405)] {
        let head = head(path, bytes);
        let reply = Wire::to(site.address()).exchange_alone(head.as_bytes(), false, &head).unwrap();
        assert_eq!((reply.status, reply.header("connection")), (status, Some("close")), "{reply}");
    }
    let mut wire = Wire::to(site.address());
    wire.send(head("/auth/signup/check-username", 19).as_bytes());
    wire.send(br#"{"username":"jane"}"#);
    wire.receive("a body that is wanted").ok();
}

/// As balancers check the health of a server.
#[test]
fn http_1_0_needs_no_host() {
    let site = Site::open();
    let ask = |head: &str| Wire::to(site.address()).exchange_alone(head.as_bytes(), true, head).unwrap();
    ask("GET /healthz HTTP/1.0\r\n\r\n").ok();
    ask("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n").ok();
    ask("GET /healthz HTTP/1.0\r\nHost: elsewhere.example\r\n\r\n").refused(421);
}

/// The contract names the header `token` for signatures and sessions alike.
#[test]
fn a_credential_of_another_kind_is_refused_with_the_kind_that_is_needed() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.member("jane"));
    let reports = "/admin/reports/external/partner-metrics/history";
    let refused = |caller: &Caller, method: Method, path: &str, status: u16| {
        let reply = caller.ask(method, path).send().refused(status).json();
        reply["message"].as_str().unwrap().to_owned()
    };
    assert!(refused(&partner, Method::POST, reports, 401).contains("this needs a session"));
    let token = site.booking_token(&partner, &jane);
    assert!(refused(&token, Method::POST, "/account/profile/booking-pin", 403).starts_with("A booking token reads"));
    assert!(refused(&site.sync(), Method::GET, "/account/notifications", 403).contains("the two reports"));
    assert!(refused(&site.stranger(), Method::POST, reports, 401).starts_with("Sign in first"));
    assert!(refused(&jane, Method::GET, "/external/partner-metrics/op", 401).contains("HMAC-SHA256"));
}
