//! The layout of the kiosk's home page with all of its tiles, and fields that guests fill in with the screen's keys.

use super::demo;
use super::kiosk::{enter, paired};
use super::kiosk_screens::{a_kiosk, pair};
use crate::harness::{Browser, Site};
use serde_json::json;

/// Screens in landscape on which the tiles stand in rows.
const LANDSCAPES: [(u32, u32); 4] = [(1024, 768), (1280, 800), (1366, 768), (1920, 1080)];

#[test]
fn eight_tiles_and_a_long_name_fit_on_the_home_page_in_every_language() {
    let site = Site::open_with(|config| {
        (config.demo, config.waiver.required, config.kiosk_minutes) = (true, true, vec![4, 10]);
    });
    for kind in ["waiver", "brief"] {
        site.change(|tx| {
            let text = "INSERT INTO site_texts VALUES (?1, 1, 'en', 'Text', 'I fly at my own risk.', '', zeroblob(32), 1, ?2, NULL)";
            Ok(tx.run(text, (kind, tx.now()))?)
        });
    }
    // Who holds a level has certificates too.
    let jane = site.flyer("jane");
    site.born(&jane, site.now() - 40 * 365 * 86_400);
    let name = "W".repeat(100);
    site.change(|tx| Ok(tx.run("UPDATE members SET screen_name = ?2 WHERE member_id = ?1", (jane.id, name))?));
    let browser = Browser::open();
    let kiosk = pair(&site, &browser);
    enter(&site, &kiosk, &jane);
    let guest = kiosk.cookies.borrow()["kiosk-guest"].clone();
    browser.order("/cookie", json!({ "cookie": { "name": "kiosk-guest", "value": guest, "httpOnly": true } }));
    for language in ["en", "de", "fr", "it", "es"] {
        browser
            .order("/cookie", json!({ "cookie": { "name": "kiosk-language", "value": language, "path": "/kiosk" } }));
        browser.go(&format!("{}/kiosk/home", site.origin()));
        assert_eq!(browser.run("return document.documentElement.lang", json!([])), language);
        assert_eq!(browser.run("return document.querySelectorAll('.tile').length", json!([])), 8);
        for (width, height) in LANDSCAPES {
            browser.resize(width, height, false);
            let outside = "return [...document.querySelectorAll('.tile, h1')]
                .filter(one => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth)
                .map(one => one.textContent)";
            assert_eq!(browser.run(outside, json!([])), json!([]), "{language} at {width}");
            let overflow = browser.run("return document.documentElement.scrollWidth - innerWidth", json!([]));
            assert!(overflow.as_i64().unwrap() <= 0, "{language} at {width} is wider than the screen by {overflow}");
        }
    }
}

#[test]
fn a_flyer_of_whom_no_flight_is_known_is_not_told_a_day_on_which_the_currency_lapsed() {
    let site = demo();
    let jane = site.flyer("jane");
    site.change(|tx| Ok(tx.run("DELETE FROM entries WHERE member_id = ?1", [jane.id])?));
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    let home = kiosk.get("/kiosk/home").page();
    assert!(home.contains(">Not current: see your instructor before you fly<"), "{home}");
}

/// Touches the key with this text.
fn touch(browser: &Browser, key: &str) {
    let script =
        "[...document.querySelectorAll('.board button')].find(one => one.textContent === arguments[0]).click()";
    browser.run(script, json!([key]));
}

#[test]
fn the_screens_keys_type_usernames_addresses_and_the_letters_of_europe() {
    let site = demo();
    let browser = a_kiosk(&site);
    let value = |id: &str| browser.run("return document.getElementById(arguments[0]).value", json!([id]));
    browser.go(&format!("{}/kiosk/passkey", site.origin()));
    browser.wait("return document.querySelectorAll('.board button').length > 20");
    ["j", "o", "+", "1", "@gmail.com"].iter().for_each(|key| touch(&browser, key));
    assert_eq!(value("username"), "jo+1@gmail.com");

    browser.go(&format!("{}/kiosk/join", site.origin()));
    browser.wait("return document.querySelectorAll('.board button').length > 20");
    ["áøł", "L", "Ł", "u", "áøł", "c", "č", "⇧", "D"].iter().for_each(|key| touch(&browser, key));
    assert_eq!(value("real_name"), "ŁučD");

    // A message of the browser would be in the language of the machine.
    browser.run(
        "document.getElementById('real_name').value = ''; document.querySelector('[data-next]').click()",
        json!([]),
    );
    let message = "return document.getElementById('real_name').validationMessage";
    assert_eq!(browser.run(message, json!([])), "This is still needed.");
    touch(&browser, "a");
    assert_eq!(browser.run(message, json!([])), "", "a field that was filled in is valid");
}

#[test]
fn a_kiosk_speaks_the_guest_s_language_until_the_sign_out_unless_the_guest_chose_another() {
    let site = demo();
    let jane = site.member("jane");
    site.change(|tx| Ok(tx.run("UPDATE members SET language = 'it' WHERE member_id = ?1", [jane.id])?));
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    assert!(kiosk.get("/kiosk/home").page().contains("Ciao, jane"));
    kiosk.post("/kiosk/leave", &[]);
    assert!(!kiosk.get("/kiosk").page().contains("lang=\"it\" class"), "the next guest begins in the kiosk's language");
    kiosk.post("/kiosk/language", &[("language", "de")]);
    enter(&site, &kiosk, &jane);
    assert!(kiosk.get("/kiosk/home").page().contains("Hallo, jane"));
}

#[test]
fn a_new_guest_sees_no_tile_of_certificates_that_nobody_has_given() {
    let site = demo();
    let (newcomer, jane, kiosk) = (site.member("newcomer"), site.flyer("jane"), paired(&site));
    enter(&site, &kiosk, &newcomer);
    assert!(!kiosk.get("/kiosk/home").page().contains("href=\"/kiosk/certificates\""));
    enter(&site, &kiosk, &jane);
    assert!(kiosk.get("/kiosk/home").page().contains("href=\"/kiosk/certificates\""));
}

#[test]
fn a_german_kiosk_types_the_sharp_s_also_where_a_capital_would_stand() {
    let site = demo();
    let browser = a_kiosk(&site);
    let cookie = json!({ "cookie": { "name": "kiosk-language", "value": "de", "path": "/kiosk" } });
    browser.order("/cookie", cookie);
    browser.go(&format!("{}/kiosk/join", site.origin()));
    browser.wait("return document.querySelectorAll('.board button').length > 20");
    ["ß", "a", "⇧", "ß", "⇧", "Ä"].iter().for_each(|key| touch(&browser, key));
    assert_eq!(browser.run("return document.getElementById('real_name').value", json!([])), "ßaßÄ");
}

#[test]
fn a_kiosk_counts_a_flight_that_the_logbook_does_not_take_yet() {
    let site = demo();
    let newcomer = site.member("newcomer");
    let booking = super::book(&site, &newcomer, 600);
    let kiosk = paired(&site);
    enter(&site, &kiosk, &newcomer);
    kiosk.post(&format!("/kiosk/bookings/{booking}/check-in"), &[]);
    site.advance(std::time::Duration::from_secs(700));
    enter(&site, &kiosk, &newcomer);
    let minutes: i64 = site.change(|tx| Ok(tx.get("SELECT minutes_booked FROM bookings", [])?));
    let page = kiosk.get("/kiosk/home").page();
    assert!(minutes > 0 && page.contains(&format!("Flown today: {minutes} min")), "{page}");
}
