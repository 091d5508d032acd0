//! Sign-in at the desk: who may, with which credentials, and the text of a refusal.

use super::{Clerk, demo};
use crate::auth::passkeys::{self, Page};
use crate::harness::{PASSWORD, Site};
use serde_json::json;
use std::time::Duration;

const FORM: &str = "/desk/sign-in";

#[test]
fn a_password_and_a_code_open_the_desk() {
    let site = Site::open();
    let protected = site.protect(&site.desk());
    let clerk = Clerk::outside(&site);
    let name = protected.member.name.as_str();
    let reply = clerk.post(FORM, &[("username", name), ("password", PASSWORD), ("to", "/desk/members/4")]);
    let next = reply.header("location").unwrap_or_default().to_owned();
    assert!(reply.status == 303 && next.starts_with("/desk/sign-in/code?by=app"), "{reply}");
    assert_eq!(clerk.get("/desk").status, 303, "a password alone opens nothing");
    assert!(clerk.get(&next).page().contains("name=\"code\""));
    let wrong = clerk.post("/desk/sign-in/code", &[("code", "000000")]);
    assert_eq!(wrong.status, 422, "{wrong}");
    let code = protected.authenticator.code(site.now());
    let done = clerk.post("/desk/sign-in/code", &[("code", &code), ("to", "/desk/members/4")]);
    assert_eq!((done.status, done.header("location")), (303, Some("/desk/members/4")), "{done}");
    assert_eq!(clerk.get("/desk").status, 200);
}

#[test]
fn a_code_of_one_tab_is_not_judged_for_the_account_of_another() {
    let site = Site::open();
    let (ann, ben) = (site.protect(&site.desk()), site.protect(&site.desk()));
    let clerk = Clerk::outside(&site);
    let begin = |name: &str| {
        let reply = clerk.post(FORM, &[("username", name), ("password", PASSWORD)]);
        clerk.get(reply.header("location").expect("the page for the code")).page()
    };
    let page = begin(&ann.member.name);
    assert!(page.contains(&format!("<bdi>{}</bdi>", ann.member.name)), "who signs in: {page}");
    begin(&ben.member.name);
    let send = |one: &crate::harness::Protected| {
        let code = one.authenticator.code(site.now());
        clerk.post("/desk/sign-in/code", &[("code", &code), ("username", &one.member.name)])
    };
    assert_eq!(send(&ann).header("location"), Some("/desk/sign-in?ended=1"), "the page begins anew");
    assert_eq!(send(&ben).header("location"), Some("/desk"), "and no code was counted as wrong");
}

#[test]
fn a_clerk_without_a_second_factor_sets_one_up_at_sign_in() {
    let site = Site::open();
    let desk = site.desk();
    let clerk = Clerk::outside(&site);
    let reply = clerk.post(FORM, &[("username", &desk.name), ("password", PASSWORD)]);
    assert_eq!(reply.header("location"), Some("/desk/sign-in/setup"), "{reply}");
    let page = clerk.get("/desk/sign-in/setup").page();
    let secret = page.split("class=\"secret\">").nth(1).unwrap().split('<').next().unwrap().replace(' ', "");
    let app = crate::harness::Authenticator::scan(&json!({ "secret": secret }));
    assert_eq!(clerk.post("/desk/sign-in/setup", &[("code", "000000")]).status, 422);
    let done = clerk.post("/desk/sign-in/setup", &[("code", &app.code(site.now()))]);
    assert_eq!(done.page().matches("<li><code>").count(), 10, "ten recovery codes");
    assert_eq!(clerk.get("/desk").status, 200);
    // From now on the password alone cannot set up a second factor.
    let again = Clerk::outside(&site);
    again.post(FORM, &[("username", &desk.name), ("password", PASSWORD)]);
    assert_eq!(again.get("/desk/sign-in/setup").header("location"), Some("/desk/sign-in?ended=1"));
    let refused = again.post("/desk/sign-in/setup", &[("code", &app.code_away(site.now(), 1))]);
    assert_eq!(refused.header("location"), Some("/desk/sign-in?ended=1"), "{refused}");
}

#[test]
fn a_clerk_with_passcodes_as_second_factor_signs_in_only_by_a_recovery_code() {
    let site = demo();
    let jane = site.member("jane");
    let enabled = jane.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok_json();
    site.change(|tx| Ok(tx.run("UPDATE members SET role = 'desk' WHERE member_id = ?1", [jane.id])?));
    let clerk = Clerk::outside(&site);
    let mails = site.mails().len();
    let reply = clerk.post(FORM, &[("username", &jane.name), ("password", PASSWORD)]);
    let page = clerk.get(reply.header("location").unwrap()).page();
    assert!(page.contains("No passcode can be sent") && page.contains("name=\"code\""), "{page}");
    assert_eq!(site.mails().len(), mails);
    let code = enabled["recovery_codes"][0].as_str().unwrap();
    let done = clerk.post("/desk/sign-in/code", &[("code", code)]);
    assert_eq!(done.status, 303, "{done}");
    assert_eq!(clerk.get("/desk").status, 200);
}

#[test]
fn a_member_s_passkey_does_not_sign_in_at_the_desk_and_leaves_no_session_and_no_device() {
    let site = demo();
    let jane = site.member("jane");
    let mut key = passkeys::register(&site, &jane);
    let options = passkeys::question(&site, &site.stranger(), json!({ "username": jane.name, "purpose": "desk" }));
    let credential = Page::at(&site.origin()).get(&mut key, &options);
    let before = site.rows();
    let refused = Clerk::outside(&site).post("/desk/sign-in/passkey", &[("credential", &credential)]);
    assert!(
        refused.status == 422 && refused.page().contains("ask an admin to give your account the role"),
        "{refused}"
    );
    let after = site.rows();
    assert_eq!((after["sessions"], after["devices"]), (before["sessions"], before["devices"]));
}

#[test]
fn a_refused_sign_in_says_what_to_do() {
    let site = demo();
    let (jane, desk) = (site.member("jane"), site.desk());
    let clerk = Clerk::outside(&site);
    for (name, password, said) in [
        (jane.name.as_str(), PASSWORD, "ask an admin to give your account the role"),
        (jane.name.as_str(), "wrong", "Wrong username or password"),
        ("nobody", "wrong", "Wrong username or password"),
        (desk.name.as_str(), "", "both your username and your password"),
    ] {
        let reply = clerk.post(FORM, &[("username", name), ("password", password)]);
        assert!(reply.status == 422 && reply.page().contains(said), "{name} {password}: {reply}");
        assert!(!clerk.cookies.borrow().contains_key("desk"), "{name} has a session");
    }
}

#[test]
fn a_session_ends_by_signing_out_by_time_and_with_its_role() {
    let site = demo();
    let desk = site.desk();
    let clerk = Clerk::at(&site, &desk);
    let before = clerk.cookies.borrow().clone();
    let out = clerk.post("/desk/sign-out", &[]);
    assert_eq!((out.status, out.header("location")), (303, Some(FORM)), "{out}");
    *clerk.cookies.borrow_mut() = before;
    assert_eq!(clerk.get("/desk").status, 303, "the cookie from before is worth nothing");

    let clerk = Clerk::at(&site, &desk);
    site.change(|tx| Ok(tx.run("UPDATE members SET role = 'member' WHERE member_id = ?1", [desk.id])?));
    assert_eq!(clerk.get("/desk").status, 303);
    site.change(|tx| Ok(tx.run("UPDATE members SET role = 'desk' WHERE member_id = ?1", [desk.id])?));
    assert_eq!(clerk.get("/desk").status, 200);
    site.advance(Duration::from_secs(13 * 3600));
    assert_eq!(clerk.get("/desk").status, 303);
}

#[test]
fn the_session_cookie_is_http_only_and_does_not_open_the_api() {
    let site = demo();
    let clerk = Clerk::outside(&site);
    let desk = site.desk();
    let reply = clerk.post(FORM, &[("username", &desk.name), ("password", PASSWORD)]);
    let lines: Vec<_> = reply.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    let session = lines.iter().find(|line| line.starts_with("desk=")).expect("a session");
    assert!(session.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{session}");
    let cookie = session.split(';').next().unwrap();
    let asking = site.stranger().ask(http::Method::GET, "/account/profile/user").header("cookie", cookie).send();
    asking.refused(401);
}

/// The cookies that a browser sends for a path.
fn kept<'a>(jar: &'a [(String, String, String)], path: &str) -> Vec<&'a str> {
    let sent = jar.iter().filter(|(_, _, place)| path.starts_with(place.as_str()));
    sent.map(|(_, pair, _)| pair.as_str()).collect()
}

#[test]
fn a_browser_is_one_device_at_the_desk_and_for_the_api() {
    let site = demo();
    let desk = site.desk();
    let mut jar: Vec<(String, String, String)> = Vec::new();
    let mut sign_in = |at_desk: bool| {
        let path = if at_desk { FORM } else { "/api/auth/login" };
        let stranger = site.stranger();
        let asking = stranger.ask_at_root(http::Method::POST, path).header("cookie", &kept(&jar, path).join("; "));
        let asking = asking.header("origin", &format!("http://{}", site.address()));
        let reply = match at_desk {
            true => asking
                .header("content-type", "application/x-www-form-urlencoded")
                .body(format!("username={}&password={}", desk.name, super::clerk::encoded(PASSWORD)))
                .send(),
            false => asking.json(&json!({ "username": desk.name, "password": PASSWORD })).send(),
        };
        for line in reply.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()) {
            let pair = line.split(';').next().unwrap().to_owned();
            let place = line.split("; Path=").nth(1).unwrap().split(';').next().unwrap().to_owned();
            let name = pair.split('=').next().unwrap().to_owned();
            jar.retain(|(known, _, at)| (known, at) != (&name, &place));
            jar.push((name, pair, place));
        }
    };
    // The desk does not receive the API's own cookie, so the first sign-in there makes the browser one device from then
    // on.
    [false, true, true, false, true, false].iter().for_each(|at_desk| sign_in(*at_desk));
    let named: std::collections::BTreeSet<&str> =
        jar.iter().filter(|(name, ..)| name == "device").map(|(_, pair, _)| pair.as_str()).collect();
    assert_eq!(named.len(), 1, "{jar:?}");
    assert_eq!(site.rows()["devices"], 2, "the one before the desk was seen, and the browser's");
}

#[test]
fn behind_https_the_cookie_is_bound_to_the_host() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.public_url = Some("https://127.0.0.1".to_owned());
    });
    let mut clerk = Clerk::outside(&site);
    let desk = site.desk();
    let fields = [("username", desk.name.as_str()), ("password", PASSWORD)];
    let plain = clerk.post(FORM, &fields);
    assert_eq!((plain.status, plain.headers.get("set-cookie")), (403, None), "{plain}");
    assert!(plain.page().contains("Open https://127.0.0.1 and send it from there."), "{plain}");
    "https://127.0.0.1".clone_into(&mut clerk.origin);
    let reply = clerk.post(FORM, &fields);
    let mut lines = reply.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    let session = lines.find(|line| line.starts_with("__Host-desk=")).expect("a session");
    assert!(session.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"), "{session}");
    assert_eq!(clerk.get("/desk").status, 200);
    let token = clerk.cookies.borrow()["__Host-desk"].clone();
    *clerk.cookies.borrow_mut() = [("desk".to_owned(), token)].into();
    assert_eq!(clerk.get("/desk").status, 303, "a cookie that plain http could have set is not taken");
}

#[test]
fn a_form_that_was_sent_after_the_session_ended_is_not_lost_without_a_word() {
    let site = demo();
    let clerk = Clerk::outside(&site);
    let sent_from = |page: &str| {
        let headers = [("origin", clerk.origin.as_str()), ("referer", page)];
        let reply = clerk.post_from("/desk/members/4/note", &[("text", "x")], &headers);
        reply.header("location").unwrap_or_default().to_owned()
    };
    let page = |path: &str| format!("{}{path}", clerk.origin);
    let to = sent_from(&page("/desk/members/4?tab=security"));
    assert_eq!(to, "/desk/sign-in?lost=1&to=%2Fdesk%2Fmembers%2F4%3Ftab%3Dsecurity");
    let form = clerk.get(&to).page();
    assert!(form.contains("what you sent was not saved"), "{form}");
    assert!(form.contains("name=\"to\" value=\"/desk/members/4?tab=security\""), "{form}");
    assert_eq!(sent_from(&page("/desk/members/4?done=note")), "/desk/sign-in?lost=1&to=%2Fdesk%2Fmembers%2F4");
    assert_eq!(sent_from("https://evil.example/desk/members/4"), "/desk/sign-in?lost=1");
    let out = clerk.post("/desk/sign-out", &[]);
    assert_eq!(out.header("location"), Some("/desk/sign-in"), "nothing is lost: {out}");
}

#[test]
fn the_sign_in_leads_back_to_the_page_with_its_query() {
    let site = demo();
    let clerk = Clerk::outside(&site);
    let path = "/desk/reports?from=2026-05-01&to=2026-05-20";
    let asked = clerk.get(path).header("location").unwrap_or_default().to_owned();
    let to = super::till::field(&clerk.get(&asked).page(), "to").replace("&#38;", "&");
    assert_eq!(to, path);
    let form = [("username", site.desk().name.clone()), ("password", PASSWORD.to_owned()), ("to", to)];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(clerk.post(FORM, &form).header("location"), Some(path));
}
