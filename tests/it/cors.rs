//! Pages of other origins: the origins of the settings may call the API, others may not, and none may call the desk.

use crate::harness::{Caller, Reply, Site};
use http::Method;
use serde_json::json;

const APP: &str = "https://app.example.org";
const USER: &str = "/account/profile/user";

fn site() -> Site {
    Site::open_with(|config| config.allowed_origins = vec![APP.to_owned(), "capacitor://localhost".to_owned()])
}

fn preflight(caller: &Caller, origin: &str, path: &str) -> Reply {
    let asked = caller.ask_at_root(Method::OPTIONS, path).header("origin", origin);
    asked
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,token,~accept-language")
        .send()
}

fn words(reply: &Reply, header: &str) -> Vec<String> {
    let lines = reply.headers.get_all(header).iter().filter_map(|line| line.to_str().ok());
    let mut words: Vec<String> =
        lines.flat_map(|line| line.split(',')).map(|word| word.trim().to_ascii_lowercase()).collect();
    words.sort();
    words
}

fn has(reply: &Reply, header: &str, wanted: &[&str]) -> bool {
    let said = words(reply, header);
    wanted.iter().all(|word| said.iter().any(|one| one == word))
}

#[test]
fn a_page_of_a_known_origin_asks_first_and_calls_then() {
    let site = site();
    let jane = site.member("jane");
    for origin in [APP, "capacitor://localhost"] {
        let asked = preflight(&site.stranger(), origin, "/api/account/logbook/time/");
        assert_eq!((asked.status, asked.body.len()), (204, 0), "{asked}");
        assert_eq!(asked.header("access-control-allow-origin"), Some(origin));
        assert!(has(&asked, "access-control-allow-methods", &["post"]), "{:?}", asked.headers);
        let wanted = [
            "token",
            "authorization",
            "content-type",
            "client-id",
            "idempotency-key",
            "~accept-language",
            "~monitor-user",
        ];
        assert!(has(&asked, "access-control-allow-headers", &wanted), "{:?}", asked.headers);
        assert!(asked.header("access-control-max-age").is_some());
        let reply = jane.ask(Method::GET, USER).header("origin", origin).send().ok();
        assert_eq!(reply.header("access-control-allow-origin"), Some(origin));
        let shown = ["x-total-count", "link", "etag", "retry-after", "x-request-id"];
        assert!(has(&reply, "access-control-expose-headers", &shown), "{:?}", reply.headers);
        assert!(has(&reply, "vary", &["origin"]), "{:?}", reply.headers);
        for reply in [asked, reply] {
            assert_eq!(reply.header("access-control-allow-credentials"), None, "cookies are the desk's");
        }
    }
}

#[test]
fn a_refusal_can_be_read_by_the_page_too() {
    let site = site();
    for (method, path, status) in [
        (Method::GET, "/account/profile/user", 401),
        (Method::GET, "/nothing", 404),
        (Method::PATCH, "/account/profile/user", 405),
        (Method::POST, "/auth/login", 422),
    ] {
        let stranger = site.stranger();
        let reply = stranger.ask(method, path).header("origin", APP).json(&json!({})).send().refused(status);
        assert_eq!(reply.header("access-control-allow-origin"), Some(APP), "{reply}");
    }
    let unknown = preflight(&site.stranger(), APP, "/api/nothing").refused(404);
    assert_eq!(unknown.header("access-control-allow-origin"), Some(APP));
}

#[test]
fn a_page_of_an_unknown_origin_gets_no_headers() {
    let site = site();
    let jane = site.member("jane");
    for origin in [
        "https://evil.example",
        "https://app.example.org.evil.example",
        "http://app.example.org",
        "null",
        "https://app.example.org:444",
    ] {
        let asked = preflight(&site.stranger(), origin, "/api/auth/login").refused(405);
        assert_eq!(asked.header("access-control-allow-origin"), None, "{origin}");
        let reply = jane.ask(Method::GET, USER).header("origin", origin).send().ok();
        assert_eq!(reply.header("access-control-allow-origin"), None, "{origin}");
        assert!(has(&reply, "vary", &["origin"]), "a cache must not give it to the page that may");
    }
}

#[test]
fn no_page_of_the_site_is_for_another_origin() {
    let site = site();
    for path in ["/desk", "/desk/sign-in", "/kiosk", "/docs", "/"] {
        let stranger = site.stranger();
        let reply = stranger.ask_at_root(Method::GET, path).header("origin", APP).send();
        assert_eq!(reply.header("access-control-allow-origin"), None, "{path}");
        assert_eq!(preflight(&stranger, APP, path).header("access-control-allow-origin"), None, "{path}");
    }
}

#[test]
fn without_the_setting_no_answer_has_cors_headers() {
    let site = Site::open();
    let reply = site.stranger().ask(Method::GET, "/public/skills").header("origin", APP).send().ok();
    assert_eq!((reply.header("access-control-allow-origin"), has(&reply, "vary", &["origin"])), (None, false));
    preflight(&site.stranger(), APP, "/api/auth/login").refused(405);
}
