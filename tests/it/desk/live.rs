//! Pages that refresh themselves, in a real Chromium: changes of others appear without a reload and do not disturb typing or
//! focus.

use super::kiosk::{enter, paired};
use super::pages::SHIFT_MAX;
use super::{Clerk, book, day, demo};
use crate::harness::{Browser, Caller, PASSWORD, Site};
use http::Method;
use serde_json::json;

const ENTER: &str = "\u{E007}";

/// Makes the page's timers run fifty times as fast.
const HURRY: &str = "const later = window.setInterval; window.setInterval = (what, ms) => later(what, ms / 50);";

/// A clerk in a browser with fast timers.
fn a_clerk(site: &Site) -> Browser {
    signed_in(site, &site.desk())
}

fn signed_in(site: &Site, clerk: &Caller) -> Browser {
    let browser = Browser::open();
    browser.prepare(HURRY);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.run(
        "const form = document.forms[0]; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()",
        json!([clerk.name, PASSWORD]),
    );
    browser.wait("return location.pathname === '/desk'");
    browser
}

/// Opens a page and marks it, so that a reload is detected.
fn open(site: &Site, browser: &Browser, path: &str) {
    browser.go(&format!("{}{path}", site.origin()));
    browser.run("window.marked = true", json!([]));
}

#[test]
fn enter_checks_in_whom_the_clerk_saw_first_and_passes_over_those_who_are_done() {
    let site = demo();
    let jane = site.flyer("jane");
    let [early, absent, late] = [0, 60, 120].map(|in_seconds| book(&site, &jane, in_seconds));
    let last = book(&site, &site.flyer("janet"), 180);
    let browser = a_clerk(&site);
    let other = Clerk::at(&site, &site.desk());
    let post = |booking: i64, action: &str| {
        assert_eq!(other.post(&format!("/desk/bookings/{booking}/{action}"), &[]).status, 303);
    };
    post(early, "check-in");
    site.change(|tx| Ok(tx.run("UPDATE bookings SET ended_as = 'no_show' WHERE booking_id = ?1", [absent])?));
    let first = "return document.querySelector('#coming .first a[id]')?.id === arguments[0]";
    let marked = |booking: i64| browser.run(first, json!([format!("b{booking}")])) == true;

    open(&site, &browser, "/desk");
    browser.press("/jan");
    assert!(marked(late), "the booking that can be checked in stands before one that is here and a no-show");
    browser.press(ENTER);
    browser.wait("return document.querySelector('[role=status].done')?.innerText.startsWith('Checked in: jane')");
    assert!(browser.run("return location.search", json!([])).as_str().unwrap().contains(&format!("booking={late}")));

    // A colleague checks in whom the clerk is about to: the mark stays, and Enter checks in nobody else.
    post(late, "check-in/undo");
    open(&site, &browser, "/desk");
    browser.press("/jan");
    assert!(marked(late));
    post(late, "check-in");
    browser.wait(&format!("return !!document.querySelector('#b{late} ~ [formaction$=undo]')"));
    assert!(marked(late), "the mark moved under the clerk's hands");
    browser.press(ENTER);
    browser.wait(&format!("return location.pathname === '/desk/members/{}'", jane.id));
    let arrived_at: Option<i64> =
        site.change(|tx| Ok(tx.get("SELECT arrived_at FROM bookings WHERE booking_id = ?1", [last])?));
    assert_eq!(arrived_at, None, "the next member was checked in");
}

#[test]
fn enter_brings_a_line_below_the_screen_to_sight_before_it_checks_in() {
    let site = demo();
    (0..12).for_each(|number| _ = book(&site, &site.flyer(&format!("ann{number}")), 60 * number));
    site.change(|tx| Ok(tx.run("UPDATE bookings SET arrived_at = ?1 WHERE booking_id < 12", [tx.now()])?));
    let browser = a_clerk(&site);
    browser.resize(1280, 400, false);
    open(&site, &browser, "/desk");
    browser.press("/ann");
    assert_eq!(browser.run("return document.querySelector('.first a[id]').id", json!([])), "b12");
    browser.press(ENTER);
    browser.wait("return document.activeElement.getBoundingClientRect().bottom <= innerHeight");
    assert_eq!(browser.focused(), "Check in: ann11", "the clerk has not seen the line yet");
    browser.press(ENTER);
    browser.wait("return document.querySelector('[role=status].done')?.innerText.startsWith('Checked in: ann11')");
}

#[test]
fn an_arrow_key_that_is_held_keeps_its_line_in_sight() {
    let site = demo();
    let jane = site.flyer("jane");
    (0..40).for_each(|number| _ = book(&site, &jane, 60 * number));
    let browser = a_clerk(&site);
    browser.resize(1280, 500, false);
    open(&site, &browser, "/desk");
    let is_in_sight = || {
        let script = "const row = document.activeElement.getBoundingClientRect(), field = document.getElementById('find').getBoundingClientRect();
            return row.top >= field.bottom && row.bottom <= innerHeight";
        browser.run(script, json!([])) == true
    };
    browser.press("/");
    for keys in ["\u{E015}".repeat(30), "\u{E013}".repeat(20)] {
        browser.press(&keys);
        assert!(is_in_sight(), "{} is out of sight", browser.focused());
    }
}

#[test]
fn a_line_with_many_badges_stays_inside_its_list_in_every_language_and_width() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Text', 'I fly at my own risk.', '', zeroblob(32), 1, ?1, NULL)";
        Ok(tx.run(text, [tx.now()])?)
    });
    for (name, at) in [("Maximiliane Aebischer-Zimmermann", 0), ("Jan", 600)] {
        let child = site.member(&name[..3]);
        site.born(&child, site.now() - 12 * 365 * 86_400);
        site.change(|tx| {
            Ok(tx.run("UPDATE members SET screen_name = ?2, real_name = ?2 WHERE member_id = ?1", (child.id, name))?)
        });
        book(&site, &child, at);
    }
    site.change(|tx| Ok(tx.run("UPDATE bookings SET arrived_at = ?1 WHERE booking_id = 1", [tx.now()])?));
    let browser = a_clerk(&site);
    for language in ["en", "de", "fr", "it", "es"] {
        browser.devtools("Network.setUserAgentOverride", json!({ "userAgent": "Chrome", "acceptLanguage": language }));
        for (width, height) in [(1280, 800), (1180, 800), (1024, 768), (700, 800), (512, 384)] {
            browser.resize(width, height, false);
            open(&site, &browser, "/desk");
            assert_eq!(browser.run("return document.documentElement.lang", json!([])), language);
            let outside = "const right = document.getElementById('coming').getBoundingClientRect().right;
                return [...document.querySelectorAll('#coming li > *')].filter(one => one.getBoundingClientRect().right > right).map(one => one.innerText)";
            assert_eq!(browser.run(outside, json!([])), json!([]), "{language} at {width}");
        }
    }
}

#[test]
fn enter_never_acts_on_a_member_whom_an_earlier_query_found() {
    let site = demo();
    let (nora, omar) = (site.flyer("nora"), site.flyer("omar"));
    let browser = a_clerk(&site);
    open(&site, &browser, "/desk");
    let shown = |name: &str| {
        browser.wait(&format!("return document.querySelector('#found .first [href*=members]')?.innerText === '{name}'"))
    };
    browser.press("/nora");
    shown("nora");
    // The number and Enter come at once, as from a card reader, before the server has answered.
    let type_at_once = "const field = document.getElementById('q'); field.value = arguments[0];
        field.dispatchEvent(new Event('input')); field.form.requestSubmit()";
    browser.run(type_at_once, json!([omar.id.to_string()]));
    browser.wait("return location.search.includes('q=') || location.search.includes('book=')");
    shown("omar");
    assert!(!browser.run("return location.search", json!([])).as_str().unwrap().contains(&format!("book={}", nora.id)));
}

#[test]
fn nothing_moves_between_a_press_and_its_click_and_a_press_without_an_end_holds_nothing_for_long() {
    let site = demo();
    day(&site);
    let browser = a_clerk(&site);
    browser.prepare("const begun = Date.now(); window.passed = 0; Date.now = () => begun + window.passed;");
    open(&site, &browser, "/desk");
    let pointer = |kind: &str| {
        let script =
            "document.querySelector('#coming button').dispatchEvent(new PointerEvent(arguments[0], { bubbles: true }))";
        browser.run(script, json!([kind]));
    };
    let shows = |booking: i64| format!("return !!document.getElementById('b{booking}')");
    pointer("pointerdown");
    let early = book(&site, &site.flyer("early"), 30);
    // With fast timers the page would have been read several times.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(browser.run(&shows(early), json!([])), false, "what is pressed stays where it is");
    pointer("pointerup");
    browser.wait(&shows(early));
    pointer("pointerdown");
    let next = book(&site, &site.flyer("next"), 40);
    browser.run("window.passed = 3001", json!([]));
    browser.wait(&shows(next));
}

#[test]
fn an_arrival_appears_at_the_other_desk_without_disturbing_typing() {
    let site = demo();
    let bookings = day(&site);
    let browser = a_clerk(&site);
    let other = Clerk::at(&site, &site.desk());
    let check_in =
        |booking: i64| assert_eq!(other.post(&format!("/desk/bookings/{booking}/check-in"), &[]).status, 303);
    let here = |booking: i64| format!("return !!document.querySelector('#b{booking} ~ [formaction$=undo]')");

    open(&site, &browser, "/desk");
    browser.run("document.getElementById('member').focus()", json!([]));
    browser.press("jane okon");
    check_in(bookings[0]);
    browser.wait(&here(bookings[0]));
    assert!(browser.text().contains("1 of 4 are here"), "{}", browser.text());
    assert_eq!(browser.run("return document.getElementById('member').value", json!([])), "jane okon");
    browser.press("kwo");
    assert_eq!(browser.run("return document.activeElement.value", json!([])), "jane okonkwo", "the focus stayed too");

    // A button that has the focus stays in its place …
    let press = format!("document.querySelector('#b{} ~ button').focus()", bookings[3]);
    browser.run(&press, json!([]));
    assert_eq!(browser.focused(), "Check in: ines");
    let moved_by_typing = browser.moved();
    check_in(bookings[1]);
    browser.wait(&here(bookings[1]));
    assert_eq!(browser.focused(), "Check in: ines");
    // … and never turns into another button.
    check_in(bookings[3]);
    browser.wait(&here(bookings[3]));
    assert_eq!(browser.focused(), "ines", "the name is pressed by mistake with less harm than the undoing");
    let moved = browser.moved() - moved_by_typing;
    assert!(moved < SHIFT_MAX, "what is about to be pressed moved by {moved}");

    let late = book(&site, &site.flyer("late"), 300);
    browser.wait(&format!("return !!document.getElementById('b{late}')"));
    assert_eq!(browser.run("return window.marked", json!([])), true, "the page was never loaded again");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_refused_call_appears_on_the_open_page() {
    let site = demo();
    let partner = site.partner();
    let browser = signed_in(&site, &site.admin());
    open(&site, &browser, "/desk/partners");
    assert!(!browser.text().contains("does not fit the body"));
    let users = "/external/partner-metrics/op";
    let stranger = site.stranger();
    let call = stranger.ask(Method::GET, users).header("client-id", partner.client_id());
    call.header("token", &"0".repeat(64)).send().refused(401);
    browser.wait("return document.getElementById('calls').innerText.includes('does not fit the body')");
    assert_eq!(browser.run("return window.marked", json!([])), true);
}

#[test]
fn arrivals_appear_on_the_page_that_refused_a_walk_in() {
    let site = demo();
    let (bookings, browser) = (day(&site), a_clerk(&site));
    open(&site, &browser, "/desk");
    browser.run("document.getElementById('member').value = 'nobody-of-that-name'", json!([]));
    browser.run("document.querySelector('#book form button:not([name])').click()", json!([]));
    browser.wait("return location.pathname === '/desk/bookings' && !!document.getElementById('problem')");
    let other = Clerk::at(&site, &site.desk());
    assert_eq!(other.post(&format!("/desk/bookings/{}/check-in", bookings[0]), &[]).status, 303);
    browser.wait(&format!("return !!document.querySelector('#b{} ~ [formaction$=undo]')", bookings[0]));
}

#[test]
fn a_page_that_is_unattended_for_twenty_minutes_stops_polling() {
    let site = demo();
    day(&site);
    let browser = a_clerk(&site);
    open(&site, &browser, "/desk");
    let count = "window.asked = 0; const ask = window.fetch; window.fetch = (...all) => { window.asked++; return ask(...all); }";
    browser.run(count, json!([]));
    browser.wait("return window.asked > 1");
    // After twenty minutes without input the page sends no more requests, although its timers run. A key resumes them.
    let alone = "const now = Date.now; Date.now = () => now() + 21 * 60 * 1000; window.asked = 0; window.ticks = 0;
                 setInterval(() => window.ticks++, 8000);";
    browser.run(alone, json!([]));
    browser.wait("return window.ticks > 3");
    assert!(browser.run("return window.asked", json!([])).as_i64().unwrap() <= 1, "one may have been under way");
    browser.press("x");
    browser.wait("return window.asked > 2");
}

#[test]
fn a_guests_page_at_a_kiosk_shows_what_the_desk_does_and_takes_no_form_away_that_is_being_sent() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let booking = book(&site, &jane, 600);
    let (browser, kiosk) = (Browser::open(), paired(&site));
    enter(&site, &kiosk, &jane);
    browser.go(&format!("{}/kiosk", site.origin()));
    for name in ["kiosk", "kiosk-guest"] {
        let value = kiosk.cookies.borrow()[name].clone();
        browser.order("/cookie", json!({ "cookie": { "name": name, "value": value, "httpOnly": true } }));
    }
    open(&site, &browser, "/kiosk/home");
    assert_eq!(browser.run("return document.querySelectorAll('#booked form').length", json!([])), 1);
    assert_eq!(clerk.post(&format!("/desk/bookings/{booking}/check-in"), &[]).status, 303);
    browser.wait("return !document.querySelector('#booked form') && !!document.querySelector('#booked .good')");
    // A check-in on its way keeps its place on the page, for the answer.
    assert_eq!(clerk.post(&format!("/desk/bookings/{booking}/check-in/undo"), &[]).status, 303);
    browser.wait("return !!document.querySelector('#booked form')");
    browser.run("window.form = document.querySelector('#booked form'); form.dataset.asking = 'yes'", json!([]));
    fly(&site, &jane);
    browser.wait("return document.getElementById('flown').innerText.includes('17 min')");
    assert_eq!(browser.run("return form.isConnected", json!([])), true);
    assert_eq!(browser.run("return window.marked", json!([])), true, "the page was never loaded again");
}

/// Seventeen minutes of today.
fn fly(site: &Site, member: &Caller) {
    let body = json!({ "entry_date": site.now(), "tunnel": "7", "comment": "", "time": 17 });
    member.post("/account/logbook/time/", body).ok();
}
