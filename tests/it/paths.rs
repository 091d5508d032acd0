//! Paths, methods, hosts and addresses: checks that come before authentication.

use crate::harness::{Request, Site, Wire, sign};
use crate::world::World;
use http::Method;
use serde_json::json;
use std::collections::BTreeSet;
use tunneldesk::routes::{ROUTES, Route};

const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"];

/// The methods of every row that this path matches; a path can match two patterns.
fn methods_of(path: &str) -> BTreeSet<&'static str> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let fits = |route: &&Route| {
        let pattern: Vec<&str> = route.base.split('/').chain(route.path.split('/')).filter(|p| !p.is_empty()).collect();
        pattern.len() == segments.len() && pattern.iter().zip(&segments).all(|(p, s)| p.starts_with('{') || p == s)
    };
    let methods = ROUTES.iter().filter(fits).map(|route| route.method.as_str());
    methods.flat_map(|method| if method == "GET" { vec!["GET", "HEAD"] } else { vec![method] }).collect()
}

#[test]
fn every_other_method_is_405_and_allow_names_the_right_ones() {
    let world = World::open();
    let stranger = world.site.stranger();
    for route in ROUTES {
        let path = world.path(route, &world.right_caller(route));
        let known = methods_of(&path);
        for method in METHODS.iter().filter(|method| !known.contains(*method)) {
            let reply = stranger.ask_at_root(method.parse().unwrap(), &path).send();
            let allow: BTreeSet<&str> = reply.header("allow").unwrap_or("").split(", ").collect();
            assert_eq!((reply.status, &allow), (405, &known), "{reply}");
            if *method != "HEAD" {
                reply.refused(405);
            }
        }
    }
}

#[test]
fn what_is_no_path_is_404() {
    let site = Site::open();
    for path in [
        "/api",
        "/api/",
        "/api/nothing",
        "/auth/login",
        "/account/profile/user",
        "/API/auth/login",
        "/api/auth/LOGIN",
        "/api//auth/login",
        "/api/auth//login",
        "/api/auth/login//",
        "/api/auth/login/x",
        "/api/auth/login/../login",
        "/api/auth%2Flogin",
        "/api/external/partner-metrics/op//",
        "/healthz/x",
        "/api/healthz",
        "/metrics",
        "/.env",
        "/api/account/logbook/time/1/2",
    ] {
        for method in [Method::GET, Method::POST] {
            site.stranger().ask_at_root(method, path).send().refused(404);
        }
    }
}

#[test]
fn a_letter_of_a_path_may_be_percent_encoded() {
    let site = Site::open();
    let asked = |path| site.stranger().ask_at_root(Method::GET, path).send();
    assert_eq!(asked("/api/public/%63ountries").ok().json(), asked("/api/public/countries").ok().json());
    asked("/api/auth/%6Cogin").refused(405);
}

#[test]
fn a_trailing_slash_is_optional_on_every_path() {
    let world = World::open();
    for route in ROUTES {
        let statuses = [false, true].map(|slash| {
            let caller = world.right_caller(route);
            let mut request = world.request(route, &caller);
            let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
            let (bare, slash) = (path.trim_end_matches('/'), if slash { "/" } else { "" });
            request.path = format!("{bare}{slash}?{query}");
            caller.send(&request).status
        });
        assert_eq!(statuses[0], statuses[1], "{} {}", route.method, route.path);
        assert_ne!(statuses[0], 404, "{} {}", route.method, route.path);
    }
}

#[test]
fn head_answers_like_get_without_a_body() {
    let world = World::open();
    for route in ROUTES.iter().filter(|route| route.method == Method::GET) {
        let caller = world.right_caller(route);
        let get = world.request(route, &caller).header("x-request-id", "the-same-twice");
        let head = Request { method: Method::HEAD, ..get.clone() };
        let (mut got, mut headed) = (caller.send(&get), caller.send(&head));
        assert!(!got.body.is_empty() && headed.body.is_empty(), "{got} / {headed}");
        [&mut got, &mut headed].into_iter().for_each(|reply| _ = reply.headers.remove("date"));
        assert_eq!((got.status, &got.headers), (headed.status, &headed.headers), "{}", route.path);
        assert_eq!(got.header("content-length"), Some(got.body.len().to_string().as_str()), "{got}");
    }
}

/// Sends one request without a body by hand, because a client library would correct it. Returns the status.
fn by_hand(site: &Site, head: &str) -> u16 {
    Wire::to(site.address()).exchange(head.as_bytes(), head).map_or(0, |reply| reply.status)
}

#[test]
fn only_the_site_s_own_names_are_answered() {
    let site = Site::open();
    let get = |host: &str| by_hand(&site, &format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    for host in [
        Site::NAME,
        "tunnel.example.org:8080",
        "TUNNEL.Example.org",
        "tunnel.example.org.",
        "localhost:1",
        "127.0.0.1",
        "[::1]:80",
        "10.1.2.3",
    ] {
        assert_eq!(get(host), 200, "{host}");
    }
    for host in [
        "evil.example",
        "tunnel.example.org.evil.example",
        "xtunnel.example.org",
        "localhost.evil.example",
        "",
        "tunnel.example.org@evil.example",
    ] {
        assert_eq!(get(host), 421, "{host}");
    }
    assert_eq!(by_hand(&site, "GET /healthz HTTP/1.1\r\n\r\n"), 400, "no Host at all");
}

#[test]
fn a_refusal_for_the_host_is_an_envelope_and_shows_nothing() {
    let site = Site::open();
    let jane = site.member("jane");
    let head = format!(
        "GET /api/account/profile/user HTTP/1.1\r\nHost: evil.example\r\nAuthorization: {}\r\n\r\n",
        jane.token()
    );
    let reply = Wire::to(site.address()).exchange(head.as_bytes(), "a foreign host").unwrap().refused(421);
    assert!(!String::from_utf8_lossy(&reply.body).contains("jane"));
}

/// The status of a partner's request. The partner's list of allowed addresses shows which address the site assigns to
/// the caller.
fn status_from(site: &Site, allowed: &str, forwarded: &[&str]) -> u16 {
    let partner = site.partner_with(false, &[allowed], None);
    let body = serde_json::to_vec(&json!({})).unwrap();
    let mut request = Request::new(&Method::GET, "/api/external/partner-metrics/op");
    for value in forwarded {
        request = request.header("x-forwarded-for", value);
    }
    let token = sign(partner.secret(), &body);
    site.stranger().send(&request.header("token", &token)).status
}

#[test]
fn a_partner_calls_from_its_own_addresses_only() {
    let site = Site::open();
    assert_eq!(status_from(&site, "127.0.0.0/8", &[]), 200);
    assert_eq!(status_from(&site, "192.0.2.0/24", &[]), 403);
}

#[test]
fn x_forwarded_for_counts_from_our_proxies_alone() {
    let open = Site::open();
    assert_eq!(status_from(&open, "192.0.2.0/24", &["192.0.2.9"]), 403, "anybody can write that header");
    assert_eq!(status_from(&open, "127.0.0.1/32", &["192.0.2.9"]), 200);

    let proxied =
        Site::open_with(|config| config.proxies = ["127.0.0.1/32", "10.0.0.0/8"].map(|n| n.parse().unwrap()).into());
    for (forwarded, status) in [
        (&["192.0.2.9"][..], 200),
        (&["198.51.100.1, 192.0.2.9"], 200),
        (&["198.51.100.1", "192.0.2.9"], 200),
        (&["192.0.2.9, 10.1.1.1"], 200),
        (&["192.0.2.9, 198.51.100.1"], 403),
        (&["192.0.2.9", "198.51.100.1"], 403),
        (&["192.0.2.9, nonsense"], 403),
        (&["nonsense, 192.0.2.9"], 200),
        (&[], 403),
    ] {
        assert_eq!(status_from(&proxied, "192.0.2.0/24", forwarded), status, "{forwarded:?}");
    }
}

#[test]
fn the_metrics_port_answers_metrics_and_health_alone() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.get("/account/profile/user").ok();
    let mut wire = Wire::to_figures(site.metrics_address());
    let mut get = |path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n", jane.token());
        wire.exchange(head.as_bytes(), path).unwrap()
    };
    let figures = String::from_utf8(get("/metrics").ok().body).unwrap();
    assert!(figures.contains("route=\"/api/account/profile/user\",status=\"2xx\"} 1"), "{figures}");
    get("/healthz").ok();
    get("/readyz").ok();
    get("/api/account/profile/user").refused(404);
}
