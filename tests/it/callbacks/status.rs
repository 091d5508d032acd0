//! The status of a deletion, for programs and for people.

use super::deletion::{ask, facebook_member};
use super::*;
use http::Method;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn look(site: &Site, query: &str, accept: &str, language: &str) -> Reply {
    let stranger = site.stranger();
    let asking = stranger.ask(Method::GET, &format!("/social-data-deletion-status{query}"));
    asking.header("accept", accept).header("accept-language", language).send()
}

fn page(reply: &Reply) -> String {
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{reply}");
    let policy = reply.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && policy.contains("sha256-") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert!(reply.header("vary").unwrap().contains("accept"), "{reply}");
    String::from_utf8(reply.body.clone()).unwrap()
}

#[test]
fn a_program_gets_json_under_any_of_three_names() {
    let site = Site::with_senders();
    facebook_member(&site, "1", "Zoe");
    let code = ask(&site, "1", site.now());
    for query in [format!("?code={code}"), format!("?id={code}"), format!("?confirmation_code={}", code.to_uppercase())]
    {
        let told = look(&site, &query, "*/*", "en").ok().json();
        assert_eq!(
            (&told["status"], &told["state"], &told["outcome"]),
            (&json!(true), &json!("done"), &json!("erased"))
        );
        assert_eq!((&told["confirmation_code"], &told["done_at"]), (&json!(code), &json!(site.now())));
        assert_eq!((told["removed"].as_array().unwrap().len(), told["kept"].as_array().unwrap().len()), (4, 3));
    }
}

#[test]
fn a_browser_gets_a_page_in_its_language_that_needs_nothing_else() {
    let site = Site::with_senders();
    facebook_member(&site, "1", "Zoe");
    let code = ask(&site, "1", site.now());
    for (language, words) in [
        ("en", "Your account here is deleted"),
        ("de", "Dein Konto hier ist gelöscht"),
        ("fr", "Votre compte ici est supprimé"),
        ("es", "Tu cuenta aquí está eliminada"),
    ] {
        let html = page(&look(&site, &format!("?id={code}"), BROWSER, language).ok());
        assert!(html.contains(words) && html.contains(&code) && html.contains("Windwerk"), "{html}");
        for other in ["<script", "<link", "http", "style=", "{"] {
            let outside = html.split("<style>").next().unwrap().to_owned() + html.split("</style>").nth(1).unwrap();
            assert!(!outside.contains(other), "{other} is in {outside}");
        }
    }
}

#[test]
fn an_unknown_code_is_404_no_code_400_and_a_malformed_one_422_with_its_field() {
    let site = Site::with_senders();
    look(&site, "?id=0123456789abcdef", "*/*", "en").refused(404);
    for query in ["", "?id=", "?other=1"] {
        let refusal = look(&site, query, "*/*", "en").refused(400).json();
        assert_eq!(refusal["code"], "code_missing", "{query}: {refusal}");
    }
    let refusal = look(&site, "?id=%00", "*/*", "en").refused(422).json();
    assert_eq!(refusal["errors"][0]["field"], "id", "{refusal}");
    for (query, status) in [("?id=0123456789abcdef", 404), ("", 400)] {
        let reply = look(&site, query, BROWSER, "en");
        assert_eq!(reply.status, status);
        assert!(page(&reply).contains("code"), "{reply}");
    }
}
