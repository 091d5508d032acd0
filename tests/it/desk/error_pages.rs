//! Error pages and JSON errors for unknown paths.

use super::{Clerk, book, demo};
use http::Method;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn a_browser_gets_an_error_page_with_the_site_s_name() {
    let site = demo();
    let hall = site.inside().name().unwrap();
    for path in ["/nowhere", "/desk/nowhere", "/kiosk/nowhere", "/confirm/nowhere"] {
        let reply = site.stranger().ask_at_root(Method::GET, path).header("accept", BROWSER).send();
        let page = reply.page();
        assert!(reply.status == 404 && page.starts_with("<!doctype html>"), "{path}: {reply}");
        assert!(page.contains(&format!("<span>{hall}</span>")), "{path}: {page}");
        assert!(page.contains("There is nothing here") && !page.contains("tunneldesk</"), "{path}: {page}");
    }
}

#[test]
fn programs_and_requests_to_the_api_get_json_errors() {
    let site = demo();
    for (path, accept) in [("/nowhere", "*/*"), ("/nowhere", "application/json"), ("/api/nowhere", BROWSER)] {
        let reply = site.stranger().ask_at_root(Method::GET, path).header("accept", accept).send();
        assert_eq!((reply.status, &reply.json()["code"]), (404, &"unknown_path".into()), "{path} {accept}");
    }
}

#[test]
fn a_site_without_an_authority_explains_how_to_make_one() {
    let site = demo();
    let page = site.stranger().ask_at_root(Method::GET, "/ca").header("accept", BROWSER).send().page();
    assert!(page.contains("tunneldesk tls init") && !page.contains('`'), "{page}");
}

#[test]
fn the_error_page_of_a_form_leads_back_to_the_page_of_the_form() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let jane = site.flyer("jane");
    let booking = book(&site, &jane, 600);
    let (card, origin) = (format!("/desk/bookings/{booking}"), clerk.origin.as_str());
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = ?2 WHERE member_id = ?1", (jane.id, tx.now()))?));
    let page = format!("{origin}{card}");
    let stale = clerk.post_from(&format!("{card}/check-in"), &[], &[("origin", origin), ("referer", &page)]);
    assert!(stale.status == 403 && stale.page().contains(&format!("href=\"{card}\"")), "{stale}");
    let elsewhere = "https://evil.example/desk/bookings/1";
    let other = clerk.post_from(&format!("{card}/check-in"), &[], &[("origin", origin), ("referer", elsewhere)]);
    assert!(other.status == 403 && !other.page().contains("page before"), "{other}");
}
