//! The kiosk in a real Chromium: touch targets, both sizes and colour schemes, and sign-out of idle guests.

use super::kiosk::paired;
use super::pages::{SHIFT_MAX, judge_variants, keep};
use super::{Clerk, HOSTILE, book, demo};
use crate::harness::{Browser, Caller, Site};
use serde_json::json;

const SCREENS: [(&str, u32, u32); 2] = [("portrait", 1080, 1920), ("phone", 390, 844)];
/// Screen sizes on which every key of a page must be visible without scrolling.
const HALLS: [(u32, u32); 3] = [(1080, 1920), (1920, 1080), (1280, 800)];
/// Pages that are not lists.
const FITTING: [&str; 13] = [
    "kiosk-join",
    "kiosk-join-mail",
    "kiosk-join-born",
    "kiosk-join-terms",
    "kiosk-joined",
    "kiosk-pair",
    "kiosk",
    "kiosk-number",
    "kiosk-number-wrong",
    "kiosk-scan",
    "kiosk-passkey",
    "kiosk-home",
    "kiosk-time",
];
/// The least height and width of a touch target, in CSS pixels.
const TARGET_PX: f64 = 64.0;

pub fn a_kiosk(site: &Site) -> Browser {
    let browser = Browser::open();
    pair(site, &browser);
    browser
}

/// Replaces the page's clock by one that only the test advances, so that slow machines make no difference.
const STILL: &str = "let at = 0; performance.now = () => at; window.later = seconds => { at += seconds * 1000 };";

/// Pairs a browser as a kiosk.
pub fn pair(site: &Site, browser: &Browser) -> Clerk {
    browser.prepare(STILL);
    let kiosk = paired(site);
    browser.go(&format!("{}/kiosk", site.origin()));
    assert!(browser.text().contains("Make this browser a kiosk"), "{}", browser.text());
    judge(browser, "kiosk-pair");
    let key = kiosk.cookies.borrow()["kiosk"].clone();
    browser.order("/cookie", json!({ "cookie": { "name": "kiosk", "value": key, "httpOnly": true } }));
    browser.go(&format!("{}/kiosk", site.origin()));
    kiosk
}

/// Signs in by touching key after key.
fn touch_in(site: &Site, browser: &Browser, member: &Caller) {
    let pin = site.pin(member);
    browser.go(&format!("{}/kiosk/number", site.origin()));
    type_keys(browser, &member.id.to_string());
    browser.run("document.getElementById('pin').focus()", json!([]));
    type_keys(browser, &pin);
    browser.run("document.querySelector('.typed button.action').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk/home'");
}

fn type_keys(browser: &Browser, digits: &str) {
    for digit in digits.chars() {
        browser.run("document.querySelector(`[data-key='${arguments[0]}']`).click()", json!([digit.to_string()]));
    }
}

/// Checks a page that was just opened: it does not move while it loads, and fits every screen as [`judge_step`] says.
pub fn judge(browser: &Browser, name: &str) {
    let moved = browser.moved();
    assert!(moved < SHIFT_MAX, "{name} moves by {moved}: {}", browser.what_moved());
    judge_step(browser, name);
}

/// Checks a page after touches: usable by fingers, without faults, and no wider than any screen. A touch may move what is on
/// the page, and a browser does not know the clicks of a script for touches.
pub fn judge_step(browser: &Browser, name: &str) {
    judge_variants(browser, name, &SCREENS, |what| {
        let small = "return [...document.querySelectorAll('a, button, input:not([type=hidden])')].filter(one => one.offsetParent)
            .map(one => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
            .filter(([, box]) => box.width < arguments[0] || box.height < arguments[0]).map(([html]) => html)";
        assert_eq!(browser.run(small, json!([TARGET_PX])), json!([]), "{what} has targets that a glove misses");
    });
    for (width, height) in HALLS {
        browser.resize(width, height, false);
        // The foot lies over the end of a page that is too long.
        let below = "const foot = document.querySelector('footer').getBoundingClientRect(), end = foot.height ? foot.top : innerHeight;
            return [...document.querySelectorAll('main a, main button, main input, footer button, footer a')]
            .filter(one => one.offsetParent && one.getBoundingClientRect().bottom > (one.closest('footer') ? innerHeight : end))
            .map(one => one.outerHTML.slice(0, 80))";
        if FITTING.contains(&name) {
            assert_eq!(
                browser.run(below, json!([])),
                json!([]),
                "{name} at {width}×{height} hides keys below the screen"
            );
        }
        let overflow = browser.run("return document.documentElement.scrollWidth - arguments[0]", json!([width]));
        assert!(overflow.as_i64().unwrap() <= 0, "{name} is wider than {width} by {overflow}");
    }
    browser.resize(1080, 1920, false);
}

#[test]
fn every_screen_of_the_kiosk_is_usable_by_touch() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    site.change(|tx| {
        tx.run("UPDATE members SET screen_name = 'Jane Okonkwo-Schmidt' WHERE member_id = ?1", [jane.id])?;
        tx.run("UPDATE members SET screen_name = ?2 WHERE member_id = ?1", (ines.id, HOSTILE))?;
        Ok(())
    });
    book(&site, &jane, 600);
    book(&site, &jane, 3_000);
    let browser = a_kiosk(&site);
    for page in ["", "/number", "/scan", "/passkey", "/nothing"] {
        browser.go(&format!("{}/kiosk{page}", site.origin()));
        judge(&browser, &format!("kiosk{}", page.replace('/', "-")));
    }
    browser.go(&format!("{}/kiosk/number", site.origin()));
    type_keys(&browser, &jane.id.to_string());
    browser.run("document.getElementById('pin').focus()", json!([]));
    type_keys(&browser, "1");
    browser.run("document.querySelector('.typed button.action').click()", json!([]));
    browser.wait("return document.querySelector('.problem')?.innerText.includes('Wrong member number or PIN')");
    judge_step(&browser, "kiosk-number-wrong");
    touch_in(&site, &browser, &jane);
    judge(&browser, "kiosk-home");
    browser.run("document.querySelector('.booked button').click()", json!([]));
    browser.wait("return document.querySelector('[role=status]')?.innerText.startsWith('You are checked in')");
    judge(&browser, "kiosk-arrived");
    let links = "return [...document.querySelectorAll('.tile')].map(one => one.getAttribute('href'))";
    let links = browser.run(links, json!([]));
    for path in links.as_array().unwrap().iter().map(|one| one.as_str().unwrap()) {
        browser.go(&format!("{}{path}", site.origin()));
        judge(&browser, &path[1..].replace('/', "-"));
    }
    browser.run("document.querySelector('.choices button').click()", json!([]));
    browser.wait("return !!document.querySelector('.qr svg')");
    judge(&browser, "kiosk-certificate");

    browser.go(&format!("{}/kiosk/time", site.origin()));
    browser.run("document.querySelector('[data-whole=\"12\"]').click()", json!([]));
    browser.run("document.querySelector('.typed button.action').click()", json!([]));
    browser.wait("return document.querySelector('[role=status]')?.innerText.includes('logbook')");
    browser.go(&format!("{}/kiosk/sign-off", site.origin()));
    browser.run("document.querySelector('.choices a').click()", json!([]));
    browser.wait("return !!document.querySelector('.choices button')");
    judge(&browser, "kiosk-signers");
    browser.run("document.querySelector('.choices button').click()", json!([]));
    browser.wait("return document.querySelector('[role=status]')?.innerText.startsWith('Asked')");
    let broken: Vec<String> = browser
        .complaints()
        .into_iter()
        .filter(|line| !line.contains("404 (Not Found)") && !line.contains("status of 422"))
        .collect();
    assert_eq!(broken, [""; 0]);
}

#[test]
fn an_idle_kiosk_shows_a_countdown_and_signs_the_guest_out() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = a_kiosk(&site);
    touch_in(&site, &browser, &jane);
    let later = "later(arguments[0])";
    browser.run(later, json!([51]));
    browser.wait("return !document.getElementById('ending').hidden && Number(document.getElementById('seconds').innerText) <= 10");
    assert_eq!(browser.run("return document.getElementById('ending').getClientRects().length", json!([])), 1);
    judge_ending(&browser);
    browser.run(
        "document.getElementById('stay').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))",
        json!([]),
    );
    browser.wait("return document.getElementById('ending').hidden");
    assert_eq!(browser.path(), "/kiosk/home", "a touch keeps the screen");
    browser.run(later, json!([61]));
    browser.wait("return location.pathname === '/kiosk' && !!document.querySelector('.languages')");
    assert!(!browser.text().contains("jane"));
    // Who has just checked in leaves the screen to the next person sooner.
    touch_in(&site, &browser, &jane);
    browser.go(&format!("{}/kiosk/home?done=arrived", site.origin()));
    browser.run(later, json!([16]));
    browser.wait("return !document.getElementById('ending').hidden");
    browser.run(later, json!([10]));
    browser.wait("return location.pathname === '/kiosk' && !!document.querySelector('.languages')");
    browser.order("/back", json!({}));
    browser.wait("return location.pathname === '/kiosk' && !!document.querySelector('.languages')");
    assert!(!browser.text().contains("jane"), "nothing comes back: {}", browser.text());
    // Digits typed before signing in are cleared as well.
    browser.go(&format!("{}/kiosk/number", site.origin()));
    type_keys(&browser, "4711");
    browser.run(later, json!([61]));
    browser.wait("return location.pathname === '/kiosk'");
}

fn judge_ending(browser: &Browser) {
    browser.resize(1080, 1920, false);
    keep("kiosk-ending-portrait-light", browser);
    assert_eq!(browser.violations(), [""; 0]);
}

#[test]
fn a_passkey_signs_in_at_a_kiosk_and_opens_no_other_session() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = a_kiosk(&site);
    browser.add_authenticator(true);
    browser.go(&format!("{}/kiosk/passkey", site.origin()));
    let made = browser.order("/execute/async", json!({ "script": super::keyboard::MAKE, "args": [jane.token()] }));
    assert_eq!(made, true);
    let sessions = || site.rows()["sessions"];
    let before = sessions();
    browser.run(
        "document.getElementById('username').value = 'jane'; document.querySelector('#passkey button').click()",
        json!([]),
    );
    browser.wait("return location.pathname === '/kiosk/home'");
    // The passkey tells whose it is.
    browser.go(&format!("{}/kiosk/passkey", site.origin()));
    browser.run("document.querySelector('#passkey button').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk/home'");
    assert_eq!(sessions(), before);
}

#[test]
fn a_page_of_the_kiosk_appears_only_with_its_keys_however_late_they_are_loaded() {
    let site = demo();
    let browser = a_kiosk(&site);
    browser.devtools("Network.enable", json!({}));
    // A service worker's requests are not slowed down.
    browser.devtools("Network.setBypassServiceWorker", json!({ "bypass": true }));
    browser.devtools("Network.setCacheDisabled", json!({ "cacheDisabled": true }));
    let slow = json!({ "offline": false, "latency": 20, "downloadThroughput": 40_000, "uploadThroughput": 40_000 });
    browser.devtools("Network.emulateNetworkConditions", slow);
    for page in ["join", "passkey"] {
        browser.go(&format!("{}/kiosk/{page}", site.origin()));
        browser.wait("return document.querySelectorAll('.board button').length > 20");
        let moved = browser.moved();
        assert!(moved < SHIFT_MAX, "{page} moves by {moved}: {}", browser.what_moved());
    }
}

#[test]
fn the_back_button_shows_nothing_of_a_page_that_was_left_while_the_start_page_is_loaded() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = a_kiosk(&site);
    browser.prepare(
        "addEventListener('pageshow', event => {
            if (event.persisted) sessionStorage.setItem('shown', document.body.getClientRects().length);
        })",
    );
    touch_in(&site, &browser, &jane);
    browser.run("document.querySelector('a[href=\"/kiosk/time\"]').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk/time'");
    browser.order("/back", json!({}));
    browser.wait("return location.pathname === '/kiosk/home' && !!document.querySelector('.tiles')");
    // A browser that is short of memory keeps no page, and loads it anew.
    assert_ne!(browser.run("return sessionStorage.getItem('shown')", json!([])), "1");
}
