//! The origins at which passkeys work, and the error where they cannot.

use super::{OPTION, Page, VERIFY, done, open, refused, register, sign_in_question, verify};
use crate::harness::{Reply, Site};
use http::Method;
use serde_json::{Value, json};

const HOME: &str = "https://example.com";

fn behind_https() -> Site {
    Site::open_with(|config| {
        config.public_url = Some(HOME.to_owned());
        config.names = vec!["example.com".to_owned(), "kiosk.example.com".to_owned()];
    })
}

fn ask_from(site: &Site, origin: &str) -> Reply {
    let body = json!({ "username": "jane" });
    site.stranger().ask(Method::POST, OPTION).header("origin", origin).json(&body).send()
}

#[test]
fn only_pages_of_the_exact_origin_sign_in() {
    let site = behind_https();
    let jane = site.member("jane");
    let ask = |caller: &crate::harness::Caller, body: Value| {
        let reply = caller.ask(Method::POST, OPTION).header("origin", HOME).json(&body).send().ok();
        reply.json()["publicKey"].clone()
    };
    let verify = |credential: String| site.stranger().post(VERIFY, json!({ "credential": credential })).ok();
    let mut page = Page::at(HOME);
    let others = [
        "https://badexample.com",
        "https://sub.example.com",
        "https://kiosk.example.com",
        "https://example.com.evil.org",
        "https://example.com:8443",
        "http://example.com",
        "http://localhost",
        "https://Example.com",
        "null",
    ];
    for origin in others {
        page.origin = origin.to_owned();
        refused(&verify(page.create(&ask(&jane, json!({}))).1));
    }
    page.origin = HOME.to_owned();
    let (mut key, credential) = page.create(&ask(&jane, json!({})));
    done(&verify(credential));
    let get = || ask(&site.stranger(), json!({ "username": "jane" }));
    for origin in others {
        page.origin = origin.to_owned();
        refused(&verify(page.get(&mut key, &get())));
    }
    page.origin = HOME.to_owned();
    for framed in [json!({ "crossOrigin": true }), json!({ "topOrigin": "https://evil.org" })] {
        page.client_data = framed;
        refused(&verify(page.get(&mut key, &get())));
    }
    page.client_data = json!({ "crossOrigin": false });
    done(&verify(page.get(&mut key, &get())));
}

#[test]
fn a_passkey_works_at_the_name_that_it_was_made_for() {
    let site = behind_https();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let here = sign_in_question(&site, "jane");
    assert_eq!(here["rpId"], "localhost");
    let elsewhere = ask_from(&site, "https://kiosk.example.com").ok().json()["publicKey"].clone();
    assert_eq!(elsewhere["rpId"], "kiosk.example.com");
    assert_ne!(here["allowCredentials"], elsewhere["allowCredentials"], "a passkey was offered at another name");
    refused(&verify(&site, &Page::at("https://kiosk.example.com").get(&mut key, &elsewhere)));
    done(&verify(&site, &Page::at(&site.origin()).get(&mut key, &here)));
}

#[test]
fn without_https_the_site_says_that_passkeys_need_it() {
    let site = open();
    let jane = site.member("jane");
    let port = site.address().port();
    let plain = format!("http://{}:{port}", Site::NAME);
    let address = format!("http://127.0.0.1:{port}");
    let other_port = format!("http://localhost:{}", if port == 1 { 2 } else { port - 1 });
    for origin in [&plain, &address, &other_port, "null", "https://localhost", "http://badlocalhost"] {
        let reply = ask_from(&site, origin).refused(409);
        assert_eq!(reply.json()["code"], "passkeys_need_https", "{origin}: {reply}");
        assert!(reply.json()["message"].as_str().unwrap().contains("public_url"), "{reply}");
        jane.ask(Method::POST, OPTION).header("origin", origin).json(&json!({})).send().refused(409);
    }
    assert_eq!(site.rows()["passkey_challenges"], 0);
}

#[test]
fn an_app_without_an_origin_is_identified_by_its_host() {
    let site = behind_https();
    let ask = |host: &str| {
        let body = json!({ "username": "jane" });
        site.stranger().ask(Method::POST, OPTION).header("host", host).json(&body).send()
    };
    assert_eq!(ask("Example.com:443").ok().json()["publicKey"]["rpId"], "example.com");
    assert_eq!(ask("localhost:1").ok().json()["publicKey"]["rpId"], "localhost");
    ask("127.0.0.1").refused(409);
}
