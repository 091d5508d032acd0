//! The kiosk while the server is unreachable: check-ins are queued and sent exactly once.

use super::kiosk::{enter, paired};
use super::kiosk_screens::pair;
use super::{Clerk, book, demo};
use crate::harness::{Browser, Caller, Site};
use serde_json::{Value, json};
use std::time::Duration;

const MEMBERS: usize = 5;
const BOOKINGS_OF_EACH: i64 = 10;

/// The tickets on the page of the signed-in member.
fn tickets(kiosk: &Clerk) -> Vec<String> {
    let page = kiosk.get("/kiosk/home").page();
    page.split("data-ticket=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// Fifty check-ins that a kiosk could take, each with its ticket.
fn fifty(site: &Site, kiosk: &Clerk) -> Vec<String> {
    let mut all = Vec::new();
    for number in 0..MEMBERS {
        let member = site.flyer(&format!("flyer{number}"));
        (0..BOOKINGS_OF_EACH).for_each(|minute| _ = book(site, &member, 600 + 60 * minute));
        enter(site, kiosk, &member);
        all.extend(tickets(kiosk));
        kiosk.post("/kiosk/leave", &[]);
    }
    assert_eq!(all.len(), 50);
    all
}

fn arrivals(site: &Site) -> Vec<(i64, i64)> {
    let sql =
        "SELECT arrived_at, arrived_by = member_id FROM bookings WHERE arrived_at IS NOT NULL ORDER BY booking_id";
    site.change(|tx| Ok(tx.list(sql, [])?))
}

fn send(kiosk: &Clerk, key: &str, ticket: &str, at: i64) -> u16 {
    let headers = [("origin", &*kiosk.origin), ("idempotency-key", key)];
    kiosk.post_from("/kiosk/kept", &[("ticket", ticket), ("at", &at.to_string())], &headers).status
}

#[test]
fn fifty_offline_check_ins_of_half_an_hour_arrive_once_each() {
    let site = demo();
    let kiosk = paired(&site);
    let tickets = fifty(&site, &kiosk);
    let taken = site.now();
    site.advance(Duration::from_secs(1_800));
    for (number, ticket) in tickets.iter().enumerate() {
        // For some check-ins the answer was lost, so they are sent again, possibly after later ones.
        let key = format!("key-{number}");
        assert_eq!(send(&kiosk, &key, ticket, taken + number as i64), 200);
        if number % 3 == 0 {
            assert_eq!(send(&kiosk, &key, ticket, taken + number as i64), 200);
            assert_eq!(send(&kiosk, &format!("{key}-anew"), ticket, taken + 1_000), 200);
        }
    }
    let expected: Vec<(i64, i64)> = (0..50).map(|number| (taken + number, 1)).collect();
    assert_eq!(arrivals(&site), expected, "each once, at the moment at which it was taken");
}

#[test]
fn a_ticket_is_for_one_booking_at_one_kiosk_for_half_a_day() {
    let site = demo();
    let (jane, kiosk, other) = (site.flyer("jane"), paired(&site), paired(&site));
    book(&site, &jane, 600);
    enter(&site, &kiosk, &jane);
    let ticket = tickets(&kiosk).remove(0);
    let now = site.now();
    assert_eq!(send(&other, "a", &ticket, now), 422, "at another kiosk");
    assert_eq!(send(&Clerk::outside(&site), "b", &ticket, now), 303, "in a browser that is no kiosk");
    let mut parts: Vec<&str> = ticket.split('.').collect();
    for (place, forged) in [(1, "99"), (2, "77"), (3, "1"), (4, "00")] {
        let right = std::mem::replace(&mut parts[place], forged);
        assert_eq!(send(&kiosk, "c", &parts.join("."), now), 422, "forged part {place}");
        parts[place] = right;
    }
    site.ban(&jane);
    assert_eq!(send(&kiosk, "d", &ticket, now), 403);
    site.change(|tx| {
        Ok(tx.run("UPDATE members SET banned_at = NULL, banned_until = NULL WHERE member_id = ?1", [jane.id])?)
    });
    site.advance(Duration::from_secs(12 * 3_600));
    assert_eq!(send(&kiosk, "e", &ticket, now), 422, "half a day later");
    assert_eq!(arrivals(&site), []);
}

/// Turns the network of the kiosk off or on.
fn offline(browser: &Browser, off: bool) {
    let conditions = json!({ "offline": off, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    browser.devtools("Network.enable", json!({}));
    browser.devtools("Network.emulateNetworkConditions", conditions);
}

/// The member signs in at the kiosk, which loses the network, and taps the first check-in: the kiosk notes it.
fn note_offline(site: &Site, browser: &Browser, kiosk: &Clerk, member: &Caller) {
    enter(site, kiosk, member);
    let guest = kiosk.cookies.borrow()["kiosk-guest"].clone();
    browser.order("/cookie", json!({ "cookie": { "name": "kiosk-guest", "value": guest, "httpOnly": true } }));
    browser.go(&format!("{}/kiosk/home", site.origin()));
    offline(browser, true);
    browser.run("document.querySelector('.booked button').click()", json!([]));
    browser.wait("return document.querySelector('[role=status].note')?.innerText.includes('noted')");
}

#[test]
fn an_offline_kiosk_says_so_and_sends_its_check_ins_when_the_server_answers() {
    let site = demo();
    let browser = Browser::open();
    let kiosk = pair(&site, &browser);
    let tickets = fifty(&site, &kiosk);
    let jane = site.flyer("jane");
    let own = book(&site, &jane, 600);
    note_offline(&site, &browser, &kiosk, &jane);
    browser.run("document.querySelector('.tile').click()", json!([]));
    browser.wait("return document.getElementById('away')?.innerText.includes('cannot reach')");
    assert_eq!(browser.path(), "/kiosk/home", "nothing is begun that needs the site");
    // Forty-nine other check-ins are queued before the member's own.
    let others: Vec<Value> = tickets[..49]
        .iter()
        .enumerate()
        .map(|(number, ticket)| json!({ "key": format!("other-{number}"), "ticket": ticket, "at": site.now() }))
        .collect();
    let script = "localStorage.setItem('kept-check-ins', JSON.stringify([...arguments[0], ...JSON.parse(localStorage.getItem('kept-check-ins'))]))";
    browser.run(script, json!([others]));
    browser.run("document.querySelector('.foot form button').click()", json!([]));
    browser.wait("return !!document.getElementById('main').dataset.wiped");
    assert!(!browser.text().contains("jane"), "nothing of her stays: {}", browser.text());
    offline(&browser, false);
    browser.wait("return location.pathname === '/kiosk' && !!document.querySelector('.languages')");
    assert!(!browser.text().contains("jane"), "the page of the guest does not come back: {}", browser.text());
    assert_eq!(kiosk.get("/kiosk/home").header("location"), Some("/kiosk"), "the guest is signed out");
    assert_eq!(arrivals(&site).len(), 50, "every check-in was sent before that");
    let arrived: bool =
        site.change(|tx| Ok(tx.get("SELECT arrived_at IS NOT NULL FROM bookings WHERE booking_id = ?1", [own])?));
    assert!(arrived);
}

#[test]
fn a_check_in_that_was_noted_and_cannot_be_made_reaches_the_desk_and_the_guest() {
    let site = demo();
    let browser = Browser::open();
    let kiosk = pair(&site, &browser);
    let jane = site.flyer("jane");
    let own = book(&site, &jane, 600);
    note_offline(&site, &browser, &kiosk, &jane);
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(clerk.post(&format!("/desk/bookings/{own}/cancel"), &[]).status, 303);
    let waits = || clerk.get("/desk").page().contains("Check-in at a kiosk was refused: jane");
    assert!(!waits(), "nothing was refused yet");
    offline(&browser, false);
    browser.wait("return document.getElementById('away')?.innerText.includes('Please see the front desk')");
    assert!(waits());
    let card = clerk.get(&format!("/desk/members/{}", jane.id)).page();
    let settle = format!("/desk/bookings/{own}/check-in/settle");
    assert!(card.contains("the guest thinks they are checked in") && card.contains(&settle), "{card}");
    let done = clerk.post(&settle, &[]);
    assert_eq!(done.header("location"), Some(&*format!("/desk/members/{}?done=settled", jane.id)));
    assert!(!waits() && !clerk.get(&format!("/desk/members/{}", jane.id)).page().contains(&settle));
    assert_eq!(arrivals(&site), []);
}

#[test]
fn a_refusal_waits_for_the_desk_where_the_guest_was_told_otherwise_alone_and_until_the_check_in() {
    let site = demo();
    let (jane, kiosk) = (site.flyer("jane"), paired(&site));
    let own = book(&site, &jane, 600);
    enter(&site, &kiosk, &jane);
    let ticket = tickets(&kiosk).remove(0);
    let clerk = Clerk::at(&site, &site.desk());
    let waits = || clerk.get("/desk").page().contains("Check-in at a kiosk was refused");
    clerk.post(&format!("/desk/bookings/{own}/cancel"), &[]);
    let now = site.now();
    assert_eq!((send(&kiosk, "a", &ticket, now), waits()), (409, false), "the guest reads the reason");
    let noted_at = |key: &str, ticket: &str, at: i64| {
        let headers = [("origin", &*kiosk.origin), ("idempotency-key", key)];
        kiosk
            .post_from("/kiosk/kept", &[("ticket", ticket), ("at", &at.to_string()), ("noted", "yes")], &headers)
            .status
    };
    let noted = |key: &str, ticket: &str| noted_at(key, ticket, now);
    assert_eq!((noted("b", &ticket.replace(&format!(".{own}."), ".99.")), waits()), (422, false), "a forged ticket");
    assert_eq!((noted("c", &ticket), waits()), (409, true));
    assert_eq!((noted("c", &ticket), site.rows()["refused_check_ins"]), (409, 1), "sent again");
    // A settled refusal does not hide the next tap, and is not brought back by its own sent again.
    clerk.post(&format!("/desk/bookings/{own}/check-in/settle"), &[]);
    assert_eq!((noted("c", &ticket), waits()), (409, false), "settled");
    site.advance(Duration::from_secs(60));
    assert_eq!((noted_at("c2", &ticket, site.now()), waits()), (409, true), "tapped again");
    clerk.post(&format!("/desk/bookings/{own}/reinstate"), &[]);
    clerk.post(&format!("/desk/bookings/{own}/check-in"), &[]);
    assert!(!waits(), "the desk checked her in");
    clerk.post(&format!("/desk/bookings/{own}/check-in/undo"), &[]);
    site.change(|tx| Ok(tx.run("DELETE FROM refused_check_ins", [])?));
    site.advance(Duration::from_secs(12 * 3_600));
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(noted("d", &ticket), 422, "half a day later");
    assert!(clerk.get("/desk").page().contains("Check-in at a kiosk was refused"));
}

#[test]
fn the_page_that_a_kiosk_shows_without_a_server_signs_the_guest_out_when_the_server_answers() {
    let site = demo();
    let browser = Browser::open();
    let kiosk = pair(&site, &browser);
    enter(&site, &kiosk, &site.flyer("jane"));
    let guest = kiosk.cookies.borrow()["kiosk-guest"].clone();
    browser.order("/cookie", json!({ "cookie": { "name": "kiosk-guest", "value": guest, "httpOnly": true } }));
    browser.go(&format!("{}/kiosk/away", site.origin()));
    browser.wait("return location.pathname === '/kiosk' && !!document.querySelector('.languages')");
    assert_eq!(kiosk.get("/kiosk/home").header("location"), Some("/kiosk"));
}

#[test]
fn a_kiosk_whose_browser_stores_nothing_checks_in_and_keeps_a_check_in_while_its_page_is_open() {
    let site = demo();
    let browser = Browser::open();
    let kiosk = pair(&site, &browser);
    let jane = site.flyer("jane");
    book(&site, &jane, 600);
    book(&site, &jane, 1_200);
    enter(&site, &kiosk, &jane);
    let guest = kiosk.cookies.borrow()["kiosk-guest"].clone();
    browser.order("/cookie", json!({ "cookie": { "name": "kiosk-guest", "value": guest, "httpOnly": true } }));
    browser.prepare("Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } })");
    browser.go(&format!("{}/kiosk/home", site.origin()));
    browser.run("document.querySelector('.booked button').click()", json!([]));
    browser.wait("return location.search === '?done=arrived'");
    assert_eq!(arrivals(&site).len(), 1);
    offline(&browser, true);
    browser.run("document.querySelector('.booked button').click()", json!([]));
    browser.wait("return document.querySelector('[role=status].note')?.innerText.includes('noted')");
    offline(&browser, false);
    browser.wait("return document.getElementById('away') === null");
    assert_eq!(arrivals(&site).len(), 2);
}
