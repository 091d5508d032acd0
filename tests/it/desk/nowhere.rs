//! Paths that lead nowhere, as a browser and as a program see them.

use super::demo;
use http::Method;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn a_browser_gets_a_page_with_the_hall_s_name_wherever_there_is_nothing() {
    let site = demo();
    let hall = site.inside().name().unwrap();
    for path in ["/nowhere", "/desk/nowhere", "/kiosk/nowhere", "/confirm/nowhere"] {
        let reply = site.stranger().ask_at_root(Method::GET, path).header("accept", BROWSER).send();
        let page = reply.page();
        assert!(reply.status == 404 && page.starts_with("<!doctype html>"), "{path}: {reply}");
        assert!(page.contains(&format!("<span>{hall}</span>")), "{path}: {page}");
        assert!(page.contains("Something went wrong") && !page.contains("tunneldesk</"), "{path}: {page}");
    }
}

#[test]
fn a_program_and_whoever_asks_the_api_get_json() {
    let site = demo();
    for (path, accept) in [("/nowhere", "*/*"), ("/nowhere", "application/json"), ("/api/nowhere", BROWSER)] {
        let reply = site.stranger().ask_at_root(Method::GET, path).header("accept", accept).send();
        assert_eq!((reply.status, &reply.json()["code"]), (404, &"unknown_path".into()), "{path} {accept}");
    }
}

#[test]
fn a_site_without_an_authority_says_how_one_is_made_in_plain_words() {
    let site = demo();
    let page = site.stranger().ask_at_root(Method::GET, "/ca").header("accept", BROWSER).send().page();
    assert!(page.contains("tunneldesk tls init") && !page.contains('`'), "{page}");
}
