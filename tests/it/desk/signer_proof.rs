//! The proof of a signer at a shared desk: by passkey, and by password with a passcode. Neither works for another signer, and
//! neither works twice.

use super::sign_offs::{asked, status};
use super::{Clerk, keyboard};
use crate::auth::passkeys::{refused, verify};
use crate::harness::{Browser, Caller, PASSWORD, Site};
use serde_json::json;
use std::time::Duration;

pub fn demo() -> Site {
    Site::open_with(|config| {
        config.demo = true;
        config.limits.passkey_questions_per_minute_per_address = 1_000_000;
    })
}

/// Script for the answer of the browser's authenticator, for the member of this name.
const ANSWER: &str = r#"
    const [username, entry_id, done] = arguments;
    (async () => {
        const asked = await (await fetch('/api/auth/login/bio-web-option', {
            method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ username, purpose: entry_id ? 'sign_entry' : 'sign_in', entry_id: entry_id || undefined }),
        })).json();
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked.publicKey);
        return JSON.stringify((await navigator.credentials.get({ publicKey })).toJSON());
    })().then(done, error => done(String(error)));
"#;

/// A browser whose authenticator has a passkey of each of these people, at the sign-in page. It does not offer passkeys by
/// itself: a virtual authenticator takes such an offer without anybody.
pub fn with_passkeys(site: &Site, people: &[&Caller]) -> Browser {
    let browser = Browser::open();
    browser.prepare("PublicKeyCredential.isConditionalMediationAvailable = undefined");
    keep_passkeys(site, &browser, people);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser
}

/// Adds an authenticator with a passkey of each of these people to a browser, at a page without a sign-in.
pub fn keep_passkeys(site: &Site, browser: &Browser, people: &[&Caller]) {
    browser.go(&format!("{}/healthz", site.origin()));
    browser.add_authenticator(true);
    for who in people {
        let made = browser.order("/execute/async", json!({ "script": keyboard::MAKE, "args": [who.token()] }));
        assert_eq!(made, true, "{} has a passkey", who.name);
    }
}

fn signed_by(site: &Site, entry: i64) -> (Option<i64>, String) {
    let sql = "SELECT instructor_id, comments_instructor FROM entries WHERE entry_id = ?1";
    site.change(|tx| Ok(tx.get(sql, [entry])?))
}

#[test]
fn a_signer_signs_in_the_clerks_browser_with_their_own_passkey() {
    let site = demo();
    let (jane, ines, entry) = asked(&site);
    let desk = site.desk();
    let browser = with_passkeys(&site, &[&jane, &ines, &desk]);
    browser.run(
        "const form = document.forms[0]; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()",
        json!([desk.name, PASSWORD]),
    );
    browser.wait("return location.pathname === '/desk'");
    let sign = |name: &str| {
        browser.go(&format!("{}/desk/sign-offs/{entry}", site.origin()));
        browser.run(
            "document.getElementById('username').value = arguments[0]; document.getElementById('comment').value = 'steady';
             document.querySelector('#passkey button').click()",
            json!([name]),
        );
    };
    for (who, said) in [(&jane, "Nobody signs for themselves"), (&desk, "takes a level")] {
        sign(&who.name);
        browser.wait("return location.pathname.endsWith('/passkey') && !!document.querySelector('#problem')");
        assert!(browser.text().contains(said), "{}: {}", who.name, browser.text());
        let kept = browser.run("return document.getElementById('comment').value", json!([]));
        assert_eq!((status(&site, entry).as_str(), kept), ("pending", json!("steady")), "{}", who.name);
    }
    sign(&ines.name);
    browser.wait("return document.querySelector('[role=status]')?.innerText.startsWith('Signed: ')");
    assert_eq!(status(&site, entry), "open");
    assert_eq!(signed_by(&site, entry), (Some(ines.id), "steady".to_owned()));
}

#[test]
fn a_passkey_answer_signs_once_within_two_minutes_and_only_as_its_owner() {
    let site = demo();
    let (jane, ines, entry) = asked(&site);
    let browser = with_passkeys(&site, &[&ines]);
    let answer = |entry: i64| {
        let said = browser.order("/execute/async", json!({ "script": ANSWER, "args": [ines.name, entry] }));
        said.as_str().filter(|said| said.starts_with('{')).unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let clerk = Clerk::at(&site, &site.desk());
    let sign = |entry: i64, credential: &str, name: &str| {
        clerk.post(&format!("/desk/sign-offs/{entry}/passkey"), &[("credential", credential), ("username", name)])
    };
    let forged = answer(entry).replace("\"signature\":\"M", "\"signature\":\"N");
    for wrong in ["", "{}", "x", &forged] {
        let refused = sign(entry, wrong, "ines");
        assert!(refused.status == 422 && refused.page().contains("passkey"), "{wrong}: {refused}");
    }
    let late = answer(entry);
    site.advance(Duration::from_secs(600));
    assert_eq!(sign(entry, &late, "ines").status, 422, "an old question has no answer");
    assert_eq!(status(&site, entry), "pending");
    // Whatever name is typed, the owner of the passkey signs.
    let once = answer(entry);
    assert_eq!(sign(entry, &once, "jane").status, 303);
    assert_eq!(signed_by(&site, entry).0, Some(ines.id));
    let next = site.ask_for(&jane, "10102", &ines);
    let again = sign(next, &once, "ines");
    assert!(again.status == 422 && status(&site, next) == "pending", "{again}");
    // An answer for one entry signs no other entry and no member in; and an answer for a sign-in signs no entry.
    let others = sign(next, &answer(entry), "ines");
    assert!(others.status == 422 && status(&site, next) == "pending", "{others}");
    refused(&verify(&site, &answer(next)));
    let opened = clerk.post("/desk/sign-in/passkey", &[("credential", &answer(next))]);
    assert_eq!(opened.status, 422, "{opened}");
    let session = sign(next, &answer(0), "ines");
    assert!(session.status == 422 && status(&site, next) == "pending", "{session}");
    site.ban(&ines);
    let banned = sign(next, &answer(next), "ines");
    assert!(banned.status == 422 && status(&site, next) == "pending", "{banned}");
}

/// The token that stands for the password, from the page that asks for a code.
fn step_on(page: &str) -> String {
    assert!(page.contains("The passcode that was sent to the signer"), "{page}");
    page.split("name=\"step\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[test]
fn a_signer_signs_once_with_the_passcode_that_was_sent() {
    let site = demo();
    let (jane, ines, entry) = asked(&site);
    let otto = site.signer("otto", &[("Instructor", "4")]);
    let enabled = [&ines, &otto]
        .map(|signer| signer.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok_json());
    let clerk = Clerk::at(&site, &site.desk());
    let path = |entry: i64| format!("/desk/sign-offs/{entry}/sign");
    let begin = |entry: i64, who: &Caller| {
        let due = clerk.post(&path(entry), &[("username", &who.name), ("password", PASSWORD), ("comment", "calm")]);
        assert_eq!(due.status, 200, "{due}");
        (step_on(&due.page()), site.last_passcode(who).expect("a passcode went out"))
    };
    let send = |entry: i64, step: &str, code: &str| {
        clerk.post(&path(entry), &[("step", step), ("code", code), ("username", "ines"), ("comment", "calm")])
    };
    assert_eq!(site.last_passcode(&ines), None);
    let (step, code) = begin(entry, &ines);
    let (_, others) = begin(entry, &otto);
    assert_ne!(code, others);
    for wrong in [others.as_str(), "", "000000x"] {
        let refused = send(entry, &step, wrong);
        assert!(refused.status == 422 && refused.page().contains("That code is not right"), "{wrong}: {refused}");
        assert_eq!(status(&site, entry), "pending", "{wrong}");
    }
    let done = send(entry, &step, &code);
    assert_eq!(done.header("location"), Some(&*format!("/desk/sign-offs?done=signed&entry={entry}")), "{done}");
    assert_eq!(signed_by(&site, entry), (Some(ines.id), "calm".to_owned()));

    // The passcode is used up, and so is the token.
    let next = site.ask_for(&jane, "10102", &ines);
    assert!(send(next, &step, &code).page().contains("Begin again"));
    site.advance(Duration::from_secs(120));
    let (step, fresh) = begin(next, &ines);
    assert_eq!(send(next, &step, &code).status, 422, "a used one");
    assert_eq!(status(&site, next), "pending");
    assert_eq!(send(next, &step, &fresh).status, 303);
    assert_eq!(status(&site, next), "open");

    // The member's own passcode signs nothing.
    jane.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok();
    let last = site.ask_for(&jane, "10103", &ines);
    let (step, own) = begin(last, &jane);
    let refused = send(last, &step, &own);
    assert!(refused.status == 422 && refused.page().contains("Nobody signs for themselves"), "{refused}");
    assert_eq!(status(&site, last), "pending");

    // When this hour's quota of passcodes is used up, a recovery code works.
    let sent = |entry: i64| {
        let form = [("username", ines.name.as_str()), ("password", PASSWORD), ("comment", "calm")];
        clerk.post(&path(entry), &form).page()
    };
    let page = (0..6).map(|_| sent(last)).find(|page| page.contains("have all been sent")).expect("a sixth passcode");
    let done = send(last, &step_on(&page), enabled[0]["recovery_codes"][0].as_str().unwrap());
    assert_eq!((done.status, status(&site, last).as_str()), (303, "open"), "{done}");
}

#[test]
fn a_challenge_to_sign_one_entry_is_good_for_nothing_else() {
    let site = demo();
    let (_, ines, entry) = asked(&site);
    ines.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok();
    let clerk = Clerk::at(&site, &site.desk());
    let due = [("username", ines.name.as_str()), ("password", PASSWORD)];
    let step = step_on(&clerk.post(&format!("/desk/sign-offs/{entry}/sign"), &due).page());
    let code = site.last_passcode(&ines).expect("a passcode went out");
    let send =
        |entry: i64| clerk.post(&format!("/desk/sign-offs/{entry}/sign"), &[("step", step.as_str()), ("code", &code)]);
    let mark = site.flyer("mark");
    site.brief(&mark, "Flyer");
    let other = site.ask_for(&mark, "10101", &ines);
    assert!(send(other).page().contains("Begin again"), "it is for the other entry");
    let body = json!({ "step_token": step, "code": code });
    assert_eq!(site.stranger().post("/auth/login/verify-totp", body).ok_json()["status"], false);
    let browser = Clerk::outside(&site);
    browser.cookies.borrow_mut().insert("step".to_owned(), step.clone());
    for page in ["/desk/sign-in/code", "/desk/sign-in/setup"] {
        assert_eq!(browser.get(page).header("location"), Some("/desk/sign-in?ended=1"), "{page}");
        assert_eq!(browser.post(page, &[("code", &code)]).header("location"), Some("/desk/sign-in?ended=1"), "{page}");
    }
    assert_eq!((send(entry).status, status(&site, entry).as_str()), (303, "open"));
}
