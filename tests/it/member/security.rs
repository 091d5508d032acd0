//! What opens the own account: second factor, recovery codes, passkeys, security questions, and the fresh proof before a change.

use super::own_pages;
use crate::auth::passkeys;
use crate::desk::till::field;
use crate::desk::{Clerk, demo};
use crate::harness::{Authenticator, Browser, PASSWORD, Site};
use serde_json::json;
use std::time::Duration;

const PATH: &str = "/me/account/security";
const APP: &str = "/me/account/security/app";
const CONFIRM: &str = "/me/account/security/app/confirm";

/// The app that scanned the page.
fn scan(page: &str) -> Authenticator {
    let secret = page.split("class=\"secret\">").nth(1).unwrap_or_else(|| panic!("no secret in {page}"));
    Authenticator::scan(&json!({ "secret": secret.split('<').next().unwrap().replace(' ', "") }))
}

/// The recovery codes that a page shows.
fn codes(page: &str) -> Vec<String> {
    page.split("<li><code>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

/// Leaves the proof of the sign-in too long ago.
fn later(site: &Site) {
    site.advance(Duration::from_secs(11 * 60));
}

#[test]
fn an_app_is_set_up_by_its_first_code_and_turned_off_by_a_code() {
    let site = Site::open();
    let jane = site.member("jane");
    let (browser, other) = (own_pages(&site, &jane), own_pages(&site, &jane));
    assert!(browser.get("/me/account").page().contains(&format!("href=\"{PATH}\"")));
    assert_eq!(browser.get(APP).header("location"), Some(PATH), "no secret waits");
    assert_eq!(browser.post(APP, &[]).header("location"), Some(APP));
    let app = scan(&browser.get(APP).page());
    let wrong = browser.post(CONFIRM, &[("code", "000000")]);
    assert!(wrong.status == 422 && scan(&wrong.page()).code(0) == app.code(0), "the same secret: {wrong}");
    let done = browser.post(CONFIRM, &[("code", &app.code(site.now()))]).page();
    let shown = codes(&done);
    assert!(shown.len() == 10 && done.contains("data-print") && done.contains("<bdi>jane</bdi>"), "{done}");
    assert_eq!((browser.get("/me").status, other.get("/me").status), (200, 303), "other devices are signed out");
    let again = browser.post(CONFIRM, &[("code", &app.code_away(site.now(), 1))]);
    assert!(again.status == 422 && again.page().contains("No authenticator app waits"), "{again}");

    let page = browser.get(PATH).page();
    assert!(page.contains("Recovery codes that are left: 10"), "{page}");
    let renewed = codes(&browser.post(&format!("{PATH}/codes"), &[("code", &shown[0])]).page());
    assert!(renewed.len() == 10 && renewed != shown);
    for code in ["", "000000", &shown[1]] {
        let refused = browser.post(&format!("{PATH}/off"), &[("code", code)]);
        assert!(refused.status == 422 && refused.page().contains("role=\"alert\""), "{code}: {refused}");
    }
    for _ in 0..2 {
        let off = browser.post(&format!("{PATH}/off"), &[("code", &renewed[0])]);
        assert_eq!(off.header("location"), Some("/me/account/security?done=off"), "{off}");
    }
    own_pages(&site, &jane);
}

#[test]
fn passcodes_are_a_second_factor_of_who_has_a_confirmed_address() {
    let site = Site::open();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    let on = format!("{PATH}/passcodes");
    site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [jane.id])?));
    assert!(!browser.get(PATH).page().contains(&on));
    let refused = browser.post(&on, &[]);
    assert!(refused.status == 409 && refused.page().contains("no confirmed e-mail address"), "{refused}");
    site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = ?2 WHERE member_id = ?1", [jane.id, 1])?));
    assert!(browser.get(PATH).page().contains(&on));
    assert_eq!(codes(&browser.post(&on, &[]).page()).len(), 10);
    let sent = browser.post(&format!("{PATH}/send"), &[]);
    assert_eq!(sent.header("location"), Some("/me/account/security?done=sent"), "{sent}");
    let code = site.mails().pop().expect("a mail")["values"]["passcode"].as_str().unwrap().to_owned();
    let off = browser.post(&format!("{PATH}/off"), &[("code", &code)]);
    assert_eq!(off.header("location"), Some("/me/account/security?done=off"), "{off}");
}

#[test]
fn a_change_asks_for_a_fresh_proof_and_leads_back() {
    let site = demo();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    later(&site);
    assert!(browser.get(PATH).page().contains("/me/account/prove?to=/me/account/security"));
    let rows = site.rows();
    for (path, fields, back) in [
        (APP, &[][..], "%2Fme%2Faccount%2Fsecurity"),
        ("/me/account/security/passcodes", &[], "%2Fme%2Faccount%2Fsecurity"),
        ("/me/account/security/passkeys/question", &[], "%2Fme%2Faccount%2Fsecurity"),
        ("/me/account/security/passkeys/remove", &[("passkey", "1")], "%2Fme%2Faccount%2Fsecurity"),
        ("/me/account/questions", &[("question", "1"), ("answer", "Rex")], "%2Fme%2Faccount%2Fquestions"),
        ("/me/account/questions/remove", &[("question", "1")], "%2Fme%2Faccount%2Fquestions"),
    ] {
        let asked = browser.post(path, fields);
        let there = format!("/me/account/prove?to={back}");
        assert_eq!((asked.status, asked.header("location")), (303, Some(&*there)), "{path}: {asked}");
    }
    assert_eq!(site.rows(), rows, "nothing was changed without a proof");
    let page = browser.get("/me/account/prove?to=%2Fme%2Faccount%2Fquestions").page();
    assert!(page.contains("name=\"to\" value=\"/me/account/questions\""), "{page}");
    let send = |password: &str, to: &str| browser.post("/me/account/prove", &[("password", password), ("to", to)]);
    let wrong = send("wrong", PATH);
    assert!(wrong.status == 422 && wrong.page().contains("This is not your current password"), "{wrong}");
    assert_eq!(browser.post("/me/account/prove", &[]).status, 422);
    assert_eq!(send(PASSWORD, "//evil.example").header("location"), Some("/me"));
    assert_eq!(send(PASSWORD, "/me/account/questions").header("location"), Some("/me/account/questions"));
    assert_eq!(browser.post(APP, &[]).header("location"), Some(APP));
}

#[test]
fn a_code_is_a_fresh_proof_too() {
    let site = Site::open();
    let jane = site.protect(&site.member("jane"));
    let browser = Clerk::outside(&site);
    browser.post("/me/sign-in", &[("username", "jane"), ("password", PASSWORD)]);
    browser.post("/me/sign-in/code", &[("username", "jane"), ("code", &jane.recovery_codes[0])]);
    later(&site);
    let prove = |code: &str| browser.post("/me/account/prove", &[("code", code), ("to", PATH)]);
    let wrong = prove("000000");
    assert!(wrong.status == 422 && wrong.page().contains("That code is not right"), "{wrong}");
    assert_eq!(prove(&jane.authenticator.code(site.now())).header("location"), Some(PATH));
    assert!(browser.get(PATH).page().contains("Set up the app on another phone"));
}

#[test]
fn passkeys_are_listed_and_removed_and_not_offered_where_browsers_have_none() {
    let site = demo();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    passkeys::register(&site, &jane);
    let page = browser.get(PATH).page();
    let passkey = field(&page, "passkey");
    assert!(page.contains("never used") && !page.contains("id=\"register\""), "an address is no name: {page}");
    let question = browser.post("/me/account/security/passkeys/question", &[("name", "Kitchen tablet")]);
    assert!((400..500).contains(&question.status), "{question}");
    let empty = browser.post(&format!("{PATH}/passkeys"), &[("name", "Kitchen tablet")]);
    assert!(empty.status == 422 && empty.page().contains("could not be added"), "{empty}");
    let remove = |who: &Clerk| who.post(&format!("{PATH}/passkeys/remove"), &[("passkey", &passkey)]);
    remove(&own_pages(&site, &site.member("kim")));
    assert!(browser.get(PATH).page().contains("never used"), "somebody else's passkey stays");
    for place in ["/me/account/security?done=removed", "/me/account/security"] {
        assert_eq!(remove(&browser).header("location"), Some(place), "what is gone was not removed now");
    }
    assert!(!browser.get(PATH).page().contains("never used"));
}

#[test]
fn a_browser_adds_a_passkey_on_the_page() {
    let site = demo();
    let jane = site.member("jane");
    let browser = Browser::open();
    browser.go(&format!("{}/me/sign-in", site.origin()));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([jane.name, PASSWORD]));
    browser.wait("return location.pathname === '/me'");
    assert!(browser.text().contains("add a passkey"), "{}", browser.text());
    browser.add_authenticator(true);
    browser.go(&format!("{}{PATH}", site.origin()));
    let add = "document.getElementById('key-name').value = 'Kitchen tablet';
               document.getElementById('register').requestSubmit()";
    browser.run(add, json!([]));
    browser.wait("return document.querySelector('.done') !== null");
    let text = browser.text();
    assert!(text.contains("The passkey is added") && text.contains("Kitchen tablet"), "{text}");
    browser.go(&format!("{}/me", site.origin()));
    assert!(!browser.text().contains("add a passkey"), "{}", browser.text());
}

#[test]
fn a_security_question_is_answered_and_taken_back() {
    let site = demo();
    let browser = own_pages(&site, &site.member("jane"));
    let path = "/me/account/questions";
    let answered = || browser.get(PATH).page().contains("Answered: 1");
    for (question, answer) in [("13", "Rex"), ("1", " "), ("", "Rex")] {
        let refused = browser.post(path, &[("question", question), ("answer", answer)]);
        assert!(refused.status == 422 && refused.page().contains("role=\"alert\""), "{question} {answer}: {refused}");
    }
    assert!(!answered());
    let saved = browser.post(path, &[("question", "1"), ("answer", "Rex")]);
    assert_eq!(saved.header("location"), Some("/me/account/questions?done=saved"), "{saved}");
    assert!(
        answered() && browser.get(path).page().contains("aria-label=\"Remove: What was the name of your first pet?")
    );
    for place in ["/me/account/questions?done=removed", "/me/account/questions"] {
        let removed = browser.post(&format!("{path}/remove"), &[("question", "1")]);
        assert_eq!(removed.header("location"), Some(place), "{removed}");
    }
    assert!(!answered());
}
