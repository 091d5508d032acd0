//! Signing in to the own pages: who may, with which credentials, what a session opens, and the text of a refusal.

use super::own_pages;
use crate::auth::passkeys::{self, Page};
use crate::desk::{Clerk, demo, table};
use crate::harness::{PASSWORD, Site};
use http::Method;
use serde_json::json;
use std::time::Duration;
use tunneldesk::routes::PAGES;

const FORM: &str = "/me/sign-in";

#[test]
fn the_address_of_the_site_leads_to_the_own_pages_whose_sign_in_leads_to_the_desk() {
    let site = Site::open();
    let browser = Clerk::outside(&site);
    assert_eq!(browser.get("/").header("location"), Some("/me"));
    assert_eq!(browser.get("/me").header("location"), Some(FORM));
    let page = browser.get(FORM).page();
    for link in ["href=\"/desk\"", "href=\"/join\"", "href=\"/recover\"", "href=\"/claim\""] {
        assert!(page.contains(link), "{link}: {page}");
    }
    assert_eq!(browser.get("/me/").header("location"), Some("/me/sign-in"), "with and without a slash");
}

#[test]
fn a_password_opens_the_page_that_was_asked_for() {
    let site = Site::open();
    let jane = site.member("jane");
    let browser = Clerk::outside(&site);
    let led = browser.get("/me/card").header("location").unwrap_or_default().to_owned();
    assert_eq!(led, "/me/sign-in?to=%2Fme%2Fcard");
    assert!(browser.get(&led).page().contains("name=\"to\" value=\"/me/card\""));
    let fields = [("username", &*jane.name), ("password", PASSWORD), ("to", "/me/card")];
    let reply = browser.post(FORM, &fields);
    assert_eq!((reply.status, reply.header("location")), (303, Some("/me/card")), "{reply}");
    let cookies: Vec<_> = reply.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    let session = cookies.iter().find(|line| line.starts_with("me=")).expect("a session");
    assert!(session.contains("; Path=/me;") && session.contains("HttpOnly; SameSite=Lax"), "{session}");
    assert!(browser.get("/me/card").page().contains("jane"));
    assert_eq!(browser.get(FORM).header("location"), Some("/me"), "who is signed in passes");
    let elsewhere = Clerk::outside(&site).post(FORM, &[fields[0], fields[1], ("to", "//evil.example")]);
    assert_eq!(elsewhere.header("location"), Some("/me"));
}

#[test]
fn a_member_with_a_second_factor_types_a_code_or_a_recovery_code() {
    let site = Site::open();
    let jane = site.protect(&site.member("jane"));
    let begin = || {
        let browser = Clerk::outside(&site);
        let reply = browser.post(FORM, &[("username", "jane"), ("password", PASSWORD), ("to", "/me/card")]);
        let next = reply.header("location").unwrap_or_default().to_owned();
        assert!(reply.status == 303 && next.starts_with("/me/sign-in/code?asks=factor.totp_due"), "{reply}");
        assert_eq!(browser.get("/me").status, 303, "a password alone opens nothing");
        (browser, next)
    };
    let (browser, next) = begin();
    let page = browser.get(&next).page();
    assert!(page.contains("<bdi>jane</bdi>") && page.contains("authenticator app"), "{page}");
    let send = |browser: &Clerk, username: &str, code: &str| {
        browser.post("/me/sign-in/code", &[("username", username), ("code", code), ("to", "/me/card")])
    };
    let empty = send(&browser, "jane", " ");
    assert!(empty.status == 422 && empty.page().contains("Type the code first"), "{empty}");
    let wrong = send(&browser, "jane", "000000");
    assert!(wrong.status == 422 && wrong.page().contains("That code is not right"), "{wrong}");
    let code = jane.authenticator.code(site.now());
    let other = send(&browser, "mark", &code);
    assert_eq!(other.header("location"), Some("/me/sign-in?ended=1"), "another tab's code: {other}");
    let done = send(&browser, "jane", &code);
    assert_eq!((done.status, done.header("location")), (303, Some("/me/card")), "{done}");
    assert_eq!(browser.get("/me").status, 200);
    assert_eq!(send(&browser, "jane", &code).header("location"), Some("/me/sign-in?ended=1"), "the step is over");

    let (browser, _) = begin();
    assert_eq!(send(&browser, "jane", &jane.recovery_codes[0]).status, 303);
    assert_eq!(browser.get("/me").status, 200);
    let (browser, _) = begin();
    for _ in 0..5 {
        send(&browser, "jane", "000000");
    }
    assert_eq!(send(&browser, "jane", "000000").header("location"), Some("/me/sign-in?ended=1"), "five tries");
}

#[test]
fn a_passcode_is_sent_to_who_has_no_app() {
    let site = Site::open();
    let jane = site.member("jane");
    jane.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok();
    let browser = Clerk::outside(&site);
    let reply = browser.post(FORM, &[("username", "jane"), ("password", PASSWORD)]);
    let next = reply.header("location").unwrap_or_default().to_owned();
    assert!(browser.get(&next).page().contains("A passcode is on its way"), "{next}");
    let code = site.mails().pop().expect("a mail")["values"]["passcode"].as_str().unwrap().to_owned();
    let done = browser.post("/me/sign-in/code", &[("username", "jane"), ("code", &code)]);
    assert_eq!((done.status, done.header("location")), (303, Some("/me")), "{done}");
}

#[test]
fn a_passkey_for_these_pages_opens_them_and_one_for_the_api_does_not() {
    let site = demo();
    let jane = site.member("jane");
    let mut key = passkeys::register(&site, &jane);
    for (purpose, status) in [("sign_in", 422), ("desk", 422), ("own", 303)] {
        let options = passkeys::question(&site, &site.stranger(), json!({ "username": "jane", "purpose": purpose }));
        let credential = Page::at(&site.origin()).get(&mut key, &options);
        let browser = Clerk::outside(&site);
        let reply = browser.post("/me/sign-in/passkey", &[("credential", &credential)]);
        assert_eq!(reply.status, status, "{purpose}: {reply}");
        assert_eq!(browser.get("/me").status, if status == 303 { 200 } else { 303 }, "{purpose}");
    }
}

#[test]
fn a_refused_sign_in_says_why_and_a_delay_says_to_wait() {
    let site = Site::open();
    let (jane, banned, desk) = (site.member("jane"), site.member("banned"), site.desk());
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = 1 WHERE member_id = ?1", [banned.id])?));
    let browser = Clerk::outside(&site);
    for (name, password, said) in [
        ("jane", "wrong", "Wrong username or password"),
        ("nobody", "wrong", "Wrong username or password"),
        ("jane", "", "both your username and your password"),
        ("banned", PASSWORD, "This account is closed"),
        (&*desk.name, PASSWORD, "needs a second factor first"),
        (&*site.sync().name, PASSWORD, "is for a program"),
    ] {
        let reply = browser.post(FORM, &[("username", name), ("password", password)]);
        assert!(reply.status == 422 && reply.page().contains(said), "{name} {password}: {reply}");
        assert!(!browser.cookies.borrow().contains_key("me"), "{name} has a session");
    }
    let delayed = (0..10).map(|_| browser.post(FORM, &[("username", &jane.name), ("password", "wrong")])).last();
    let delayed = delayed.expect("ten attempts");
    assert!(delayed.status == 429 && delayed.header("retry-after").is_some(), "{delayed}");
    assert!(delayed.page().contains("too much at once") && delayed.page().contains("value=\"jane\""));
}

#[test]
fn a_session_ends_by_signing_out_by_time_and_with_the_password() {
    let site = Site::open();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    let before = browser.cookies.borrow().clone();
    let out = browser.post("/me/sign-out", &[]);
    assert_eq!((out.status, out.header("location")), (303, Some(FORM)), "{out}");
    *browser.cookies.borrow_mut() = before;
    assert_eq!(browser.get("/me").status, 303, "the cookie from before is worth nothing");
    let lost = browser.post("/me/card/code", &[]);
    assert_eq!(lost.header("location"), Some("/me/sign-in?lost=1"), "{lost}");
    assert!(browser.get("/me/sign-in?lost=1").page().contains("was not saved"));

    let browser = own_pages(&site, &jane);
    site.advance(Duration::from_secs(29 * 86_400));
    assert_eq!(browser.get("/me").status, 200);
    site.advance(Duration::from_secs(31 * 86_400));
    assert_eq!(browser.get("/me").status, 303);

    let browser = own_pages(&site, &jane);
    let jane = site.sign_in(jane.id, &jane.name, tunneldesk::domain::role::Role::Member, Duration::ZERO);
    let body = json!({ "current_password": PASSWORD, "password": "four dry socks in a row", "password_confirm": "four dry socks in a row" });
    jane.put("/account/profile/change-password", body).ok();
    assert_eq!(browser.get("/me").status, 303, "a new password ends the sessions of other browsers");
}

#[test]
fn a_session_of_these_pages_opens_neither_desk_nor_api_and_no_other_opens_these_pages() {
    let site = demo();
    let desk = site.desk();
    let own = own_pages(&site, &desk);
    let token = own.cookies.borrow()["me"].clone();
    assert_eq!(own.get("/desk").status, 303, "somebody who is both signs in to each");
    let moved = Clerk::outside(&site);
    moved.cookies.borrow_mut().insert("desk".to_owned(), token.clone());
    assert_eq!(moved.get("/desk").status, 303);
    site.stranger().ask(Method::GET, "/account/profile/user").header("token", &token).send().refused(401);
    let stranger = Clerk::outside(&site);
    let of_desk = Clerk::at(&site, &desk);
    let session = of_desk.cookies.borrow()["desk"].clone();
    of_desk.cookies.borrow_mut().insert("me".to_owned(), session);
    let of_api = Clerk::outside(&site);
    of_api.cookies.borrow_mut().insert("me".to_owned(), site.member("jane").token().to_owned());
    let rows = site.rows();
    for page in PAGES.iter().filter(|page| page.caller() == "own") {
        for somebody in [&stranger, &of_desk, &of_api] {
            let reply = match page.method == Method::GET {
                true => somebody.get(&table::path(page.path)),
                false => somebody.post(&table::path(page.path), &[]),
            };
            let sent = reply.header("location").is_some_and(|place| place.starts_with(FORM));
            assert!(reply.status == 303 && sent && reply.body.is_empty(), "{} {reply}", page.path);
        }
    }
    assert_eq!(site.rows(), rows, "nothing was written");
}

#[test]
fn a_new_member_is_signed_in_at_the_end_of_the_sign_up() {
    let site = demo();
    let phone = Clerk::outside(&site);
    let number = crate::desk::till::field(&phone.get("/join").page(), "number");
    let form = [
        ("real_name", "Bo Newcomer"),
        ("email", "bo@example.org"),
        ("dob", "1995-12-01"),
        ("terms", "1"),
        ("password", "four dry socks in a row"),
        ("number", &*number),
        ("language", "en"),
    ];
    let page = phone.post("/join", &form).page();
    assert!(page.contains("href=\"/me\""), "{page}");
    let home = phone.get("/me").page();
    assert!(home.contains("No level yet") && home.contains("bo@example.org"), "{home}");
}
