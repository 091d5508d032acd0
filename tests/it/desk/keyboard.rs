//! Signing in with the keyboard alone, in a real Chromium, and by a passkey.

use super::day;
use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

const TAB: char = '\u{E004}';
const ENTER: char = '\u{E007}';

#[test]
fn the_keyboard_alone_signs_in_checks_in_and_signs_out() {
    let site = Site::open();
    day(&site);
    let protected = site.protect(&site.desk());
    let browser = Browser::open();
    browser.go(&format!("{}/", site.origin()));
    assert_eq!(browser.path(), "/desk/sign-in");
    // The first field has the focus by itself, once the page is drawn.
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", protected.member.name));
    browser.wait("return location.pathname === '/desk/sign-in/code' && document.activeElement?.id === 'code'");
    browser.press(&format!("{}{ENTER}", protected.authenticator.code(site.now())));
    browser.wait("return location.pathname === '/desk'");
    // The first stop leads past the header.
    browser.press(&TAB.to_string());
    assert_eq!(browser.run("return document.activeElement.className", json!([])), "skip");
    // Then comes the name, which leads to the card, and then what is done most.
    browser.press(&format!("{ENTER}{TAB}{TAB}"));
    let focused = browser.run("return document.activeElement.getAttribute('aria-label')", json!([]));
    assert_eq!(focused, "Check in: Jane Okonkwo-Schmidt");
    browser.press(&ENTER.to_string());
    browser.wait("return document.querySelector('[role=status]')?.innerText === 'Checked in.'");
    browser.run("document.querySelector('.who button').focus()", json!([]));
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/sign-in'");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Presses Tab until this has the focus, and sees at each stop that one sees where one is.
fn tab_to(browser: &Browser, selector: &str) {
    const STOPS_MAX: usize = 80;
    for _ in 0..STOPS_MAX {
        browser.press(&TAB.to_string());
        let stop = "const here = document.activeElement, look = getComputedStyle(here);
            const seen = here === document.body || (look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) > 1);
            return [here.matches(arguments[0]), seen, here.outerHTML.slice(0, 120)]";
        let stop = browser.run(stop, json!([selector]));
        assert_eq!(stop[1], true, "nobody sees that this has the focus: {}", stop[2]);
        if stop[0] == true {
            return;
        }
    }
    panic!("Tab never leads to {selector} on {}", browser.path());
}

#[test]
fn the_keyboard_alone_does_what_is_done_most() {
    let site = Site::open();
    day(&site);
    let protected = site.protect(&site.desk());
    let browser = Browser::open();
    let said = |text: &str| {
        browser.wait(&format!("return document.querySelector('[role=status]')?.innerText.includes('{text}')"))
    };
    browser.go(&format!("{}/", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", protected.member.name));
    browser.wait("return location.pathname === '/desk/sign-in/code' && document.activeElement?.id === 'code'");
    browser.press(&format!("{}{ENTER}", protected.authenticator.code(site.now())));
    browser.wait("return location.pathname === '/desk'");

    tab_to(&browser, "[aria-label='Check in: Jane Okonkwo-Schmidt']");
    browser.press(&ENTER.to_string());
    said("Checked in.");

    tab_to(&browser, ".arrivals .name a");
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/members/1' && !!document.getElementById('minutes')");
    tab_to(&browser, "#minutes");
    browser.press(&format!("12{ENTER}"));
    said("in the logbook");

    tab_to(&browser, "nav a[href='/desk/sign-offs']");
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/sign-offs'");
    tab_to(&browser, ".queues a.button");
    browser.press(&ENTER.to_string());
    browser.wait("return document.activeElement?.id === 'password'");
    browser.press(&format!("{PASSWORD}{ENTER}"));
    said("Signed.");
    tab_to(&browser, ".who button");
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/sign-in'");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_passkey_opens_the_desk_to_its_clerk_alone() {
    let site = Site::open_with(|config| config.limits.passkey_questions_per_minute_per_address = 1_000_000);
    let (desk, jane) = (site.desk(), site.member("jane"));
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.add_authenticator(true);
    for who in [&desk, &jane] {
        let made = browser.order("/execute/async", json!({ "script": MAKE, "args": [who.token()] }));
        assert_eq!(made, true, "{} has a passkey", who.name);
    }
    let sign_in = |name: &str| {
        browser.run("document.getElementById('username').value = arguments[0]", json!([name]));
        browser.run("document.querySelector('#passkey button').click()", json!([]));
    };
    sign_in("");
    browser.wait("return document.querySelector('#passkey .problem').innerText.startsWith('Type your username')");
    sign_in("jane");
    browser.wait("return document.querySelector('#problem')?.innerText.includes('ask an admin')");
    assert_eq!(browser.path(), "/desk/sign-in/passkey");
    browser.go(&format!("{}/desk", site.origin()));
    assert_eq!(browser.path(), "/desk/sign-in", "a member's passkey opened nothing");
    sign_in(&desk.name);
    browser.wait("return location.pathname === '/desk'");
}

/// Makes a passkey for whoever's token it is given.
pub const MAKE: &str = r#"
    const [token, done] = arguments;
    const post = async (path, body) => (await fetch('/api/auth/login/' + path, {
        method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token }, body: JSON.stringify(body),
    })).json();
    (async () => {
        const asked = (await post('bio-web-option', {})).publicKey;
        const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) });
        return (await post('bio-web-verify', { credential: JSON.stringify(made.toJSON()) })).status;
    })().then(done, error => done(String(error)));
"#;
