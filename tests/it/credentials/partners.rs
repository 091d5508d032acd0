//! Rows for partners refuse every wrong, altered, old or repeated signature.

use super::{expect, expect_admitted, refuse_all, with_token};
use crate::harness::{Caller, Credential, Request, Site, sign};
use crate::world::World;
use http::Method;
use serde_json::json;
use std::time::Duration;
use tunneldesk::routes::{ROUTES, Route};

fn rows() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.caller() == "partner")
}

/// The rows of which a partner signs the body alone; `partner::own_bookings` tests the signature of the others.
fn rows_of_signed_bodies() -> impl Iterator<Item = &'static Route> {
    rows().filter(|route| !route.signs_request)
}

fn signing(partner: &Caller, client_id: &str, secret: &str) -> Caller {
    let (client_id, secret) = (client_id.to_owned(), secret.to_owned());
    partner.with(Credential::Partner { client_id, secret, strict: false })
}

/// The request with the test's own headers, from a caller without credentials.
fn with_headers(request: &Request, headers: &[(&str, &str)]) -> Request {
    headers.iter().fold(request.clone(), |request, (name, value)| request.header(name, value))
}

#[test]
fn rows_for_partners_refuse_every_other_signature() {
    let world = World::open();
    let (partner, rival) = (&world.partner, &world.rival);
    let revoked = world.site.partner();
    world.site.revoke(&revoked);
    let token = |text: &str| partner.with(with_token("token", "", text));
    for route in rows() {
        let wrong = vec![
            ("no credential", world.site.stranger(), 401),
            ("garbage", token("garbage"), 401),
            ("a digest of zeros", token(&"0".repeat(64)), 401),
            ("a session", world.jane.clone(), 401),
            ("a desk session in token", world.desk.with(with_token("token", "", world.desk.token())), 401),
            ("another key", signing(partner, partner.client_id(), &"0".repeat(64)), 401),
            ("the key of another client", signing(partner, partner.client_id(), rival.secret()), 401),
            ("the client-id of another client", signing(partner, rival.client_id(), partner.secret()), 401),
            ("an unknown client-id", signing(partner, "0123456789abcdef", partner.secret()), 401),
            ("the signature of a revoked client", revoked.clone(), 401),
            ("the key in capitals", signing(partner, partner.client_id(), &partner.secret().to_uppercase()), 401),
        ];
        refuse_all(&world.site, &world, route, partner, wrong);
    }
}

#[test]
fn a_signature_is_over_these_very_bytes() {
    let world = World::open();
    let (partner, stranger) = (&world.partner, world.site.stranger());
    for route in rows_of_signed_bodies() {
        let request = world.request(route, partner);
        let digest = sign(partner.secret(), &request.body);
        let send = |token: &str| {
            stranger.send(&with_headers(&request, &[("client-id", partner.client_id()), ("token", token)]))
        };
        let longer = [&request.body[..], b" "].concat();
        for (what, token) in [
            ("a digest over another body", sign(partner.secret(), &longer)),
            ("a digest that is cut off", digest[..62].to_owned()),
            ("a digest that goes on", format!("{digest}00")),
            ("a digest with one wrong digit", flip_last(&digest)),
            ("a digest with odd digits", digest.replace(|c: char| c.is_ascii_digit(), "x")),
        ] {
            expect(send(&token), what, 401);
        }
        expect_admitted(send(&digest.to_uppercase()), "the digest in capitals");
    }
}

fn flip_last(digest: &str) -> String {
    let last = if digest.ends_with('0') { '1' } else { '0' };
    format!("{}{last}", &digest[..digest.len() - 1])
}

#[test]
fn client_id_is_needed_for_tokens_and_optional_elsewhere() {
    let world = World::open();
    for route in rows_of_signed_bodies() {
        let request = world.request(route, &world.partner);
        let token = sign(world.partner.secret(), &request.body);
        let reply = world.site.stranger().send(&with_headers(&request, &[("token", &token)]));
        match route.path {
            "/external/partner-metrics/op/generate-token" => expect(reply, "no client-id", 401),
            _ => expect_admitted(reply, "no client-id"),
        }
    }
}

#[test]
fn without_a_body_the_digest_of_nothing_and_of_an_empty_object_are_right() {
    let world = World::open();
    for route in rows_of_signed_bodies().filter(|route| [Method::GET, Method::DELETE].contains(&route.method)) {
        for signed in ["", "{}"] {
            let request = world.request(route, &world.partner);
            let token = sign(world.partner.secret(), signed.as_bytes());
            let reply = world.site.stranger().send(&with_headers(&request, &[("token", &token)]));
            expect_admitted(reply, &format!("the digest of {signed:?}"));
        }
    }
}

#[test]
fn a_strict_partner_signs_the_time_and_each_signature_once() {
    let world = World::open();
    let strict = world.site.strict_partner();
    for route in rows_of_signed_bodies() {
        // Rows without a body have equal signatures, so each request has a second of its own.
        world.site.advance(Duration::from_secs(1));
        let request = world.request(route, &strict);
        let stamped = |at: i64| {
            let token = sign(strict.secret(), &[format!("{at}.").as_bytes(), &request.body].concat());
            let headers = [("client-id", strict.client_id()), ("x-timestamp", &at.to_string()), ("token", &token)];
            world.site.stranger().send(&with_headers(&request, &headers))
        };
        let plain = signing(&strict, strict.client_id(), strict.secret());
        expect(plain.send(&request), "no timestamp", 401);
        let now = world.site.now();
        expect(stamped(now - 301), "a timestamp of 301 seconds ago", 401);
        expect(stamped(now + 301), "a timestamp of 301 seconds ahead", 401);
        expect_admitted(stamped(now - 300), "a timestamp of 300 seconds ago");
        match route.method {
            Method::GET => expect_admitted(stamped(now - 300), "the same signature for the same GET"),
            _ => expect(stamped(now - 300), "the same signature again", 401),
        }
    }
}

#[test]
fn a_strict_partner_s_time_may_have_a_fraction_and_is_signed_as_it_was_sent() {
    let site = Site::open();
    let strict = site.strict_partner();
    for at in [format!("{}.25", site.now()), format!("{}.999", site.now() + 300), (site.now() * 1000).to_string()] {
        let token = sign(strict.secret(), format!("{at}.").as_bytes());
        let stranger = site.stranger();
        let asked = stranger.ask(Method::GET, "/external/partner-metrics/op").header("client-id", strict.client_id());
        asked.header("x-timestamp", &at).header("token", &token).send().ok();
    }
}

#[test]
fn a_strict_partner_s_signature_is_no_good_for_another_operation() {
    let site = Site::open();
    let strict = site.strict_partner();
    let at = site.now().to_string();
    let token = sign(strict.secret(), format!("{at}.").as_bytes());
    let ask = |method: Method, path: &str| {
        let asking = site.stranger();
        let request = Request::new(&method, path).header("x-timestamp", &at).header("token", &token);
        asking.send(&request)
    };
    ask(Method::GET, "/api/external/partner-metrics/op").ok();
    ask(Method::DELETE, "/api/external/partner-metrics/op/1").refused(401);
}

#[test]
fn both_secrets_are_good_while_one_is_rotated_out() {
    use tunneldesk::store::tables::partners;
    let site = Site::open();
    let old = site.partner();
    let new = signing(&old, old.client_id(), &"ab".repeat(32));
    site.change(|tx| {
        let partner = partners::find(tx, old.client_id())?.unwrap();
        partners::end_secrets(tx, partner.partner_id, tx.now() + 60)?;
        Ok(partners::insert_secret(tx, &site.inside().keys, partner.partner_id, new.secret().as_bytes())?)
    });
    for secret in [&old, &new] {
        secret
            .post("/external/partner-metrics/op", json!({ "email": format!("{}@example.com", &secret.secret()[..8]) }))
            .ok();
    }
    site.advance(Duration::from_secs(60));
    old.get("/external/partner-metrics/op").refused(401);
    assert_eq!(new.get("/external/partner-metrics/op").total(), 2);
}

#[test]
fn a_partner_over_its_pace_is_told_when_to_come_back() {
    let site = Site::open();
    let hasty = site.partner_with(false, &[], Some(3));
    for _ in 0..3 {
        hasty.get("/external/partner-metrics/op").ok();
    }
    let reply = hasty.get("/external/partner-metrics/op").refused(429);
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    site.partner_with(false, &[], Some(3)).get("/external/partner-metrics/op").ok();
}

#[test]
fn the_booking_tokens_of_a_partner_end_with_its_access() {
    let site = Site::open();
    let jane = site.flyer("jane");
    for (args, end) in [
        (&["partner", "revoke"][..], true),
        (&["partner", "rotate", "--keep-days", "0"], true),
        (&["partner", "rotate", "--keep-days", "1"], false),
    ] {
        let (partner, rival) = (site.partner(), site.partner());
        let body = json!({ "member_id": jane.id, "member_pin": site.pin(&jane) });
        let token_of = |caller: &Caller| {
            let issued = caller.post("/external/partner-metrics/op/generate-token", body.clone()).ok_json();
            // The moment of a token tells it from those of other partners.
            site.advance(Duration::from_secs(1));
            issued["token"].as_str().unwrap().to_owned()
        };
        let (issued, others) = (token_of(&partner), token_of(&rival));
        let status = |token: &str| {
            site.stranger().ask(Method::GET, "/account/profile/user").header("token", token).send().status
        };
        assert_eq!((status(&issued), status(&others)), (200, 200), "before {args:?}");
        site.shell(&[args, &[partner.client_id()]].concat());
        assert_eq!((status(&issued), status(&others)), (if end { 401 } else { 200 }, 200), "after {args:?}");
    }
}
