//! Signatures of callbacks: accepted and refused senders.

use super::*;
use crate::harness::senders::{self, APP_SECRET, MAIL_KEY, MAIL_URL, PAYMENT_SECRET, form};
use crate::harness::{Credential, Request};
use http::Method;
use std::time::Duration;

const PATHS: [&str; 3] = ["/social-data-deletion", "/mail-webhook", "/payment-webhook"];
/// A test vector published with the scheme.
const SIGNED_REQUEST: &str = "N32LNcvDGXq0GI1jxm-tj1ysJh2uqkNIBcUhUmTp19k.eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsImV4cGlyZXMiOjEyOTE4NDA0MDAsImlzc3VlZF9hdCI6MTI5MTgzNjgwMCwidXNlcl9pZCI6IjIxODQ3MSJ9";
const FORM: &str = "application/x-www-form-urlencoded";

fn post(path: &str, kind: &str, body: impl Into<Vec<u8>>) -> Request {
    Request { body: body.into(), ..Request::new(&Method::POST, &format!("/api{path}")) }.header("content-type", kind)
}

/// Signs a body by hand.
fn signed_by(key: &str, at: i64, body: &[u8]) -> Request {
    let header = senders::payment_signature(key, at, body);
    post("/payment-webhook", "application/json", body).header("stripe-signature", &header)
}

#[test]
fn without_configured_keys_callbacks_are_refused_and_nothing_is_stored() {
    let site = Site::open();
    site.expects_faults();
    let jane = site.member("jane");
    let before = kept(&site);
    for path in PATHS {
        for body in ["{}", "{", "", r#"{"mail_events": []}"#, r#"{"type": "payment_intent.succeeded"}"#] {
            let reply = site.stranger().send(&post(path, "application/json", body)).refused(503);
            assert_eq!(reply.json()["code"], "not_configured", "{reply}");
            assert_eq!(reply.header("retry-after"), Some("3600"), "only the technician can mend it: {reply}");
        }
    }
    site.processor()
        .post("/payment-webhook", event("evt_1", "payment_intent.succeeded", intent("pi_1", None)))
        .refused(503);
    jane.post("/payment-webhook", json!({ "fromApp": "true", "paymentIntentId": 7 })).refused(503);
    site.stranger().post("/social-data-deletion", json!({ "signed_request": SIGNED_REQUEST })).refused(503);
    assert_eq!(kept(&site), before);
}

#[test]
fn a_mail_provider_s_test_passes_before_a_key_is_configured() {
    let site = Site::open_with(|config| config.public_url = Some("https://tunnel.example.com".to_owned()));
    site.expects_faults();
    site.stranger().ask(Method::HEAD, "/mail-webhook").send().ok();
    for (field, signature) in
        [("mandrill_events", "wIr6EOO9dispcyy7qAKa/4zkYuA="), ("mail_events", "z+91p8y/BOM/93DcI4WA28OmbH0=")]
    {
        let send = |kind: &str, body: &[u8], signature: &str| {
            let post = post("/mail-webhook", kind, body).header("idempotency-key", field);
            site.stranger().send(&post.header("x-mandrill-signature", signature))
        };
        send(FORM, &form(&[(field, "[]")]), signature).ok();
        send("application/json", format!("{{\"{field}\": []}}").as_bytes(), signature).ok();
        send("application/json", format!("{{\"{field}\": \"[]\"}}").as_bytes(), signature).ok();
        send(FORM, &form(&[(field, "[]")]), "wIr6EOO9dispcyy7qAKa/4zkYuB=").refused(503);
        // The published key is valid for the empty batch only.
        let events = r#"[{"event":"spam","ts":1779999000,"_id":"a","msg":{"email":"jane@example.com"}}]"#;
        let body = form(&[(field, events)]);
        send(FORM, &body, &senders::mail_signature("test-webhook", MAIL_URL, &body)).refused(503);
    }
    assert_eq!(kept(&site), [0; 4]);
    assert_eq!(site.rows()["replays"], 0, "not even the key of a request is stored");
}

#[test]
fn the_published_test_key_is_refused_once_a_key_is_configured() {
    let site = Site::with_senders();
    site.stranger().ask(Method::HEAD, "/mail-webhook").send().ok();
    let body = form(&[("mail_events", "[]")]);
    let with = |signature: &str| {
        site.stranger().send(&post("/mail-webhook", FORM, &body[..]).header("x-mandrill-signature", signature))
    };
    with("z+91p8y/BOM/93DcI4WA28OmbH0=").refused(401);
    with(&senders::mail_signature(MAIL_KEY, MAIL_URL, &body)).ok();
}

#[test]
fn the_published_payment_event_is_accepted_while_it_is_recent() {
    let body = br#"{"id":"evt_test_1","object":"event","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","object":"payment_intent","amount":2000,"currency":"usd"}}}"#;
    let site = Site::with_senders();
    let published = "t=1700000000,v1=e5c3a44848a69563140768b69738174f62608fe5218f2de116bd2658add3e301";
    assert_eq!(senders::payment_signature(PAYMENT_SECRET, 1_700_000_000, body), published);
    let send = |header: &str| {
        site.stranger()
            .send(&post("/payment-webhook", "application/json", &body[..]).header("stripe-signature", header))
    };
    send(published).refused(401);
    let now = site.now();
    for (away, taken) in [(-301, false), (301, false), (-300, true), (300, true)] {
        let header = senders::payment_signature(PAYMENT_SECRET, now + away, body);
        let reply = send(&header);
        assert_eq!(reply.status == 200, taken, "{away} seconds away");
        assert_eq!(reply.json()["message"].as_str().unwrap().contains("301 seconds away"), !taken, "{reply}");
    }
    let right = senders::payment_signature(PAYMENT_SECRET, now, body);
    let digest = right.split_once("v1=").unwrap().1;
    for (header, taken) in [
        (format!("t={now},v1={},v1={digest}", "0".repeat(64)), true),
        (format!("t={now},v0={digest},v1={digest}"), true),
        (format!("t={now},v1={}", digest.to_uppercase()), true),
        (format!("t={now},v0={digest}"), false),
        (format!("t={},v1={digest}", now - 1), false),
        (format!("v1={digest}"), false),
        ("x".repeat(5000), false),
    ] {
        assert_eq!(send(&header).status, if taken { 200 } else { 401 }, "{header}");
    }
}

#[test]
fn every_other_signature_is_refused_and_leaves_nothing() {
    let site = Site::with_senders();
    let good = event("evt_1", "payment_intent.succeeded", intent("pi_1", None)).to_string().into_bytes();
    let events = r#"[{"event":"spam","ts":1779999000,"_id":"a","msg":{"email":"jane@example.com"}}]"#;
    let mails = form(&[("mail_events", events)]);
    let other_key = |caller: Credential, request: Request| site.stranger().with(caller).send(&request);
    let before = kept(&site);
    let (now, stranger) = (site.now(), site.stranger());
    let mail = |key: &str, url: &str| Credential::MailProvider { key: key.to_owned(), url: url.to_owned() };
    for (what, reply) in [
        ("no signature", stranger.send(&post("/payment-webhook", "application/json", &good[..]))),
        ("another secret", stranger.send(&signed_by("whsec_other", now, &good))),
        ("another body", {
            let mut request = signed_by(PAYMENT_SECRET, now, &good);
            request.body.push(b' ');
            stranger.send(&request)
        }),
        ("no signature of the mail provider", stranger.send(&post("/mail-webhook", FORM, &mails[..]))),
        ("another key", other_key(mail("other", MAIL_URL), post("/mail-webhook", FORM, &mails[..]))),
        ("another address", other_key(mail(MAIL_KEY, "https://tunnel.example.com/api/mail-webhook/"), post("/mail-webhook", FORM, &mails[..]))),
        ("a field more than is signed", {
            let signature = senders::mail_signature(MAIL_KEY, MAIL_URL, &mails);
            let body = [&mails[..], b"&more=1"].concat();
            stranger.send(&post("/mail-webhook", FORM, body).header("x-mandrill-signature", &signature))
        }),
        ("another app's secret", stranger.post("/social-data-deletion", json!({
            "signed_request": senders::signed_request("other", &json!({ "algorithm": "HMAC-SHA256", "user_id": "1" }))
        }))),
        ("another algorithm", stranger.post("/social-data-deletion", json!({
            "signed_request": senders::signed_request(APP_SECRET, &json!({ "algorithm": "HMAC-SHA1", "user_id": "1" }))
        }))),
        ("a user that is a number", stranger.post("/social-data-deletion", json!({
            "signed_request": senders::signed_request(APP_SECRET, &json!({ "algorithm": "HMAC-SHA256", "user_id": 1 }))
        }))),
        ("no signed request at all", stranger.post("/social-data-deletion", json!({ "signed_request": "garbage" }))),
    ] {
        assert_eq!(reply.status, 401, "{what}: {reply}");
        assert_eq!(reply.refused(401).json()["code"], "bad_callback", "{what}");
    }
    assert_eq!(kept(&site), before);
    // The same callbacks with the right keys are accepted.
    stranger.send(&signed_by(PAYMENT_SECRET, now, &good)).ok();
    other_key(mail(MAIL_KEY, MAIL_URL), post("/mail-webhook", FORM, &mails[..])).ok();
    stranger.post("/social-data-deletion", json!({ "signed_request": SIGNED_REQUEST })).ok();
    stranger.send(&post("/social-data-deletion", FORM, form(&[("signed_request", SIGNED_REQUEST)]))).ok();
}

#[test]
fn the_address_is_the_configured_one_whatever_host_says() {
    let site = Site::with_senders();
    let body = form(&[("mail_events", "[]")]);
    let send = |url: &str| {
        let request = post("/mail-webhook", FORM, &body[..]).header("host", Site::NAME);
        let signature = senders::mail_signature(MAIL_KEY, url, &body);
        site.stranger()
            .send(&request.header("x-mandrill-signature", &signature).header("x-forwarded-host", "evil.example"))
    };
    send(MAIL_URL).ok();
    send(&format!("https://{}/api/mail-webhook", Site::NAME)).refused(401);
    let reply = site.stranger().post("/social-data-deletion", json!({ "signed_request": SIGNED_REQUEST })).ok().json();
    assert!(
        reply["url"].as_str().unwrap().starts_with("https://tunnel.example.com/api/social-data-deletion-status?id=")
    );
}

#[test]
fn a_suspect_clock_refuses_signed_times() {
    let site = Site::with_senders();
    site.expects_faults();
    let body = event("evt_1", "payment_intent.succeeded", intent("pi_1", None));
    let sent_at = site.now();
    site.set_back(Duration::from_secs(86_400));
    let reply = site.stranger().send(&signed_by(PAYMENT_SECRET, sent_at, body.to_string().as_bytes())).refused(503);
    assert_eq!(reply.json()["code"], "clock_suspect", "{reply}");
    site.stranger().send(&signed_by("whsec_other", sent_at, body.to_string().as_bytes())).refused(401);
    assert_eq!(kept(&site), [0; 4]);
}
