//! Access to metrics and the site's state, and which answers caches may keep.

use crate::harness::{Site, Wire};
use http::Method;

#[test]
fn verbose_readiness_is_for_the_machine_itself_and_for_staff() {
    let site = Site::open_with(|config| {
        config.proxies = vec!["127.0.0.1/32".parse().unwrap()];
        config.demo = true;
    });
    let ask = |token: &str, from: &str| {
        let head = format!(
            "GET /readyz?verbose HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: {from}\r\ntoken: {token}\r\n\r\n"
        );
        let reply = Wire::to(site.address()).exchange(head.as_bytes(), from).expect("an answer").ok();
        String::from_utf8(reply.body).unwrap().lines().count()
    };
    let (jane, desk, admin) = (site.member("jane"), site.desk(), site.admin());
    for token in ["", jane.token()] {
        assert_eq!(ask(token, "203.0.113.7"), 1, "somebody elsewhere is told no more than that it is ready");
    }
    for (token, from) in [(desk.token(), "203.0.113.7"), (admin.token(), "2001:db8::7"), ("", "127.0.0.1")] {
        assert!(ask(token, from) > 5, "from {from}");
    }
}

#[test]
fn metrics_are_refused_to_a_rebound_host_name() {
    let site = Site::open();
    for (host, status) in [("localhost", 200), ("127.0.0.1:9464", 200), (Site::NAME, 200), ("evil.example.com", 421)] {
        let mut wire = Wire::to_figures(site.metrics_address());
        let head = format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let reply = wire.exchange(head.as_bytes(), host).expect("an answer");
        assert_eq!(reply.status, status, "{host}");
        assert_eq!(String::from_utf8_lossy(&reply.body).contains("tunneldesk_"), status == 200, "{host}");
    }
}

#[test]
fn no_cache_keeps_what_is_private_and_a_client_with_its_own_copy_hears_that_it_is_the_same() {
    let site = Site::open();
    let jane = site.member("jane");
    for path in ["/account/profile/user", "/account/notifications", "/account/profile/payment-history"] {
        let first = jane.get(path).ok();
        assert_eq!(first.header("cache-control"), Some("private, no-store"), "{path}");
        let etag = first.header("etag").expect("a fingerprint").to_owned();
        let again = jane.ask(Method::GET, path).header("if-none-match", &etag).send();
        assert_eq!((again.status, again.header("cache-control")), (304, Some("private, no-store")), "{path}");
    }
}
