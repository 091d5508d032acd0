//! Larger texts are compressed for clients that accept it, and pages never are.

use crate::harness::{Caller, Reply, Request, Site};
use crate::world::World;
use http::Method;
use serde_json::json;
use tunneldesk::routes::{PAGES, ROUTES};

/// Texts below this size are not compressed.
const TEXT_BYTES_MIN: usize = 2 * 1024;

fn packed(caller: &Caller, method: Method, path: &str) -> Reply {
    caller.ask_at_root(method, path).header("accept-encoding", "gzip, deflate, br").send()
}

fn unpacked(reply: &Reply) -> Vec<u8> {
    assert_eq!(reply.header("content-encoding"), Some("gzip"), "{}", reply.asked);
    reply.unpacked().body
}

fn varies(reply: &Reply) -> bool {
    let lines = reply.headers.get_all("vary").iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|name| name.trim() == "accept-encoding")
}

#[test]
fn every_read_of_a_large_text_is_the_same_compressed_and_the_small_ones_stay_as_they_are() {
    let world = World::open();
    let mut seen = 0;
    for route in ROUTES.iter().filter(|route| route.method == Method::GET) {
        let caller = world.right_caller(route);
        let request = world.request(route, &caller);
        let plain = caller.send(&request).ok();
        let small = caller.send(&request.clone().header("accept-encoding", "gzip")).ok();
        let kind = plain.header("content-type").unwrap();
        let is_text = kind.starts_with("text/") || ["application/json", "image/svg+xml"].contains(&kind);
        if !is_text || plain.body.len() < TEXT_BYTES_MIN {
            assert_eq!((small.header("content-encoding"), small.body.len()), (None, plain.body.len()), "{small}");
            assert_eq!(small.header("etag"), plain.header("etag"), "{small}");
            continue;
        }
        seen += 1;
        assert!(unpacked(&small) == plain.body && small.body.len() < plain.body.len(), "{}", route.path);
        assert!(varies(&small) && varies(&plain), "{}", route.path);
        let (tag, other) = (small.header("etag").unwrap(), plain.header("etag").unwrap());
        assert_ne!(tag, other, "another form has another tag: {}", route.path);
        for known in [tag, other] {
            let again = request.clone().header("accept-encoding", "gzip").header("if-none-match", known);
            let again = caller.send(&again);
            assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, Some(tag)), "{again}");
            assert_eq!((again.header("content-encoding"), varies(&again)), (None, true), "{again}");
        }
        let head = Request { method: Method::HEAD, ..request.clone() }.header("accept-encoding", "gzip");
        let head = caller.send(&head);
        assert_eq!((head.status, head.body.len(), head.header("etag")), (200, 0, Some(tag)), "{head}");
        assert_eq!(head.header("content-length"), Some(small.body.len().to_string().as_str()), "{head}");
    }
    assert!(seen >= 6, "the countries, the texts, the description and its page among others: {seen}");
}

#[test]
fn a_report_is_compressed_too_and_no_other_post_may_be() {
    let site = Site::open();
    let (partner, sync) = (site.partner(), site.sync());
    for number in 0..40 {
        partner.post("/external/partner-metrics/op", json!({ "email": format!("flyer{number}@example.com") })).ok();
    }
    let path = "/admin/reports/external/partner-metrics/history";
    let plain = sync.post(path, json!({})).ok();
    let asked = sync.ask(Method::POST, path).json(&json!({})).header("accept-encoding", "gzip");
    let small = asked.send().ok();
    assert_eq!((unpacked(&small), small.header("etag")), (plain.body, None));
    let mut posts: Vec<&str> =
        ROUTES.iter().filter(|row| row.compresses() && row.method != Method::GET).map(|row| row.path).collect();
    posts.sort_unstable();
    assert_eq!(posts, ["/admin/reports/external/partner-metrics/bookings", path]);
}

/// A browser sends its cookies with requests that another site causes. The length of a compressed page could reveal its
/// content to that site.
#[test]
fn no_page_is_compressed_and_the_files_of_pages_are() {
    let compressed: Vec<&str> = PAGES.iter().filter(|page| page.compresses()).map(|page| page.path).collect();
    assert_eq!(compressed, ["/assets/{file}"]);
    let site = Site::open();
    let stranger = site.stranger();
    let page = packed(&stranger, Method::GET, "/desk/sign-in").ok();
    assert_eq!(page.header("content-encoding"), None);
    let html = String::from_utf8(page.body).unwrap();
    for sheet in crate::harness::sheets(&html) {
        let plain = stranger.ask_at_root(Method::GET, &sheet).send().ok();
        let small = packed(&stranger, Method::GET, &sheet).ok();
        assert_eq!(unpacked(&small), plain.body, "{sheet}");
        assert!(small.header("cache-control").unwrap().contains("immutable") && varies(&small), "{small}");
    }
}

#[test]
fn a_client_without_gzip_gets_plain_text() {
    let site = Site::open();
    for codings in ["identity", "br", "gzip;q=0", "gzip;q=0, *;q=1", "*;q=0", "nonsense;;q"] {
        let stranger = site.stranger();
        let reply = stranger.ask(Method::GET, "/public/countries").header("accept-encoding", codings).send().ok();
        assert_eq!(reply.header("content-encoding"), None, "{codings}");
        reply.json();
    }
}

#[test]
fn the_description_is_less_than_100_kb_on_the_way() {
    let site = Site::open();
    for path in ["/docs", "/api/openapi.json", "/api/collection.json"] {
        let reply = packed(&site.stranger(), Method::GET, path).ok();
        assert!(reply.body.len() < 100_000, "{path}: {} bytes", reply.body.len());
    }
}
