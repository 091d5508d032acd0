//! The own bookings, payments and notices.

use super::own_pages;
use crate::desk::till::field;
use crate::desk::{Clerk, book, demo};
use crate::harness::Site;
use serde_json::json;
use std::time::Duration;

const DAY: i64 = 86_400;

#[test]
fn bookings_are_listed_the_next_one_first_and_cancelled_until_the_hall_s_hours_before() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.member("mark"));
    let (later, soon, past) = (book(&site, &jane, 3 * DAY), book(&site, &jane, 3_600), book(&site, &jane, -DAY));
    let browser = own_pages(&site, &jane);
    let page = browser.get("/me/bookings").page();
    let place = |id: i64| page.find(&format!("/me/bookings/{id}/calendar.ics"));
    assert!(place(soon) < place(later) && place(past).is_none(), "{page}");
    assert!(page.contains(&format!("/me/bookings/{later}/cancel")), "{page}");
    assert!(!page.contains(&format!("/me/bookings/{soon}/cancel")), "an hour before is too late: {page}");
    let late = browser.post(&format!("/me/bookings/{soon}/cancel"), &[("seen", "x")]);
    assert!(late.status == 409 && late.page().contains("up to 24 hours before"), "{late}");
    let stale = browser.post(&format!("/me/bookings/{later}/cancel"), &[("seen", "x")]);
    assert_eq!(stale.status, 409, "the page showed another booking: {stale}");
    let seen = field(&page, "seen");
    for _ in 0..2 {
        let done = browser.post(&format!("/me/bookings/{later}/cancel"), &[("seen", &seen)]);
        assert_eq!(done.header("location"), Some("/me/bookings?done=cancelled"), "{done}");
    }
    let ended: Option<String> =
        site.change(|tx| Ok(tx.get("SELECT ended_as FROM bookings WHERE booking_id = ?1", [later])?));
    assert_eq!(ended.as_deref(), Some("cancelled"));
    let other = own_pages(&site, &mark);
    for booking in [soon, later, past, 99_999] {
        assert_eq!(other.post(&format!("/me/bookings/{booking}/cancel"), &[("seen", &seen)]).status, 404);
        assert_eq!(other.get(&format!("/me/bookings/{booking}/calendar.ics")).status, 404);
    }
}

#[test]
fn the_hall_sets_the_hours() {
    let site = Site::open_with(|config| (config.demo, config.cancel_hours) = (true, 0));
    let jane = site.flyer("jane");
    let soon = book(&site, &jane, 600);
    let page = own_pages(&site, &jane).get("/me/bookings").page();
    assert!(page.contains(&format!("/me/bookings/{soon}/cancel")), "{page}");
}

#[test]
fn the_calendar_file_of_a_booking_keeps_its_uid_when_it_is_moved_or_cancelled() {
    let site = demo();
    let jane = site.flyer("jane");
    let booking = book(&site, &jane, 3 * DAY);
    let browser = own_pages(&site, &jane);
    let file = || {
        let reply = browser.get(&format!("/me/bookings/{booking}/calendar.ics"));
        assert_eq!(reply.header("content-type"), Some("text/calendar; charset=utf-8"), "{reply}");
        String::from_utf8(reply.body).unwrap()
    };
    let first = file();
    let uid = first.lines().find(|line| line.starts_with("UID:")).expect(&first).to_owned();
    assert!(first.contains("STATUS:CONFIRMED") && first.contains("SUMMARY:Flight: 12 min"), "{first}");
    let sequence = |file: &str| -> i64 {
        let line = file.lines().find_map(|line| line.strip_prefix("SEQUENCE:")).expect(file);
        line.trim().parse().expect("a number")
    };
    site.advance(Duration::from_secs(1));
    let clerk = Clerk::at(&site, &site.desk());
    let page = clerk.get(&format!("/desk/bookings/{booking}")).page();
    let (day, seen) = (field(&page, "day"), field(&page, "seen"));
    let moved = [("day", &*day), ("clock", "20:15"), ("minutes", "15"), ("seen", &seen)];
    assert_eq!(clerk.post(&format!("/desk/bookings/{booking}/move"), &moved).status, 303);
    let second = file();
    assert!(second.contains(&uid) && second.contains("SUMMARY:Flight: 15 min"), "{second}");
    assert!(sequence(&second) > sequence(&first), "a calendar takes the later one: {first} {second}");
    site.advance(Duration::from_secs(1));
    let seen = field(&browser.get("/me/bookings").page(), "seen");
    browser.post(&format!("/me/bookings/{booking}/cancel"), &[("seen", &seen)]);
    let third = file();
    assert!(third.contains(&uid) && third.contains("STATUS:CANCELLED"), "{third}");
    assert!(sequence(&third) > sequence(&second), "{second} {third}");
}

#[test]
fn payments_show_and_a_receipt_is_its_payer_s_alone() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.member("mark"));
    site.change(|tx| {
        tx.run(
            "INSERT INTO payments (payment_id, intent_id, member_id, status, amount_cents, currency, created_at, updated_at)
             VALUES (900, 'desk-1', ?2, 'succeeded', 3000, 'CHF', ?1, ?1), (901, 'pi_2', ?2, 'failed', 3000, 'CHF', ?1, ?1)",
            (tx.now(), jane.id),
        )?;
        Ok(tx.run(
            "INSERT INTO till_entries (entry_id, payment_id, kind, amount_cents, currency, reason, undoes, paid_until, taken_by, taken_at)
             VALUES (7, 900, 'cash', 3000, 'CHF', '', NULL, ?1 + 31536000, NULL, ?1)",
            [tx.now()],
        )?)
    });
    let browser = own_pages(&site, &jane);
    let page = browser.get("/me/payments").page();
    assert!(page.contains("30.00") && page.contains(">paid<") && page.contains(">failed<"), "{page}");
    let pdf = browser.get("/me/payments/900/receipt");
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")), "{pdf}");
    assert_eq!(browser.get("/me/payments/901/receipt").status, 404, "no fee of the till");
    assert_eq!(own_pages(&site, &mark).get("/me/payments/900/receipt").status, 404);
}

#[test]
fn notices_are_read_up_to_what_the_page_showed() {
    let site = demo();
    let jane = site.member("jane");
    let browser = own_pages(&site, &jane);
    assert!(browser.get("/me/notices").page().contains("No notices yet"));
    site.note(&jane, "notice.password_changed", json!({}));
    let page = browser.get("/me/notices").page();
    assert!(page.contains("<span class=\"badge soon\">new</span>"), "{page}");
    let last = field(&page, "last");
    site.note(&jane, "notice.password_changed", json!({}));
    assert_eq!(browser.post("/me/notices", &[("last", &last)]).status, 303);
    assert!(browser.get("/me").page().contains("1 unread"), "one came meanwhile");
}
