//! One booking at the desk: move, cancel, no-show and reinstate; and later requests of its partner.

use super::{Clerk, book, demo};
use crate::harness::{Caller, Site};
use serde_json::{Value, json};
use tunneldesk::moment::Moment;

/// The flight time of a booking in the member's logbook: its time and minutes.
fn flown(site: &Site, booking: i64) -> Option<(i64, i64)> {
    let sql = "SELECT entry_date, minutes FROM entries WHERE booking_id = ?1";
    site.change(|tx| Ok(tx.find(sql, [booking])?))
}

/// The answer to a booking that the partner sends; `at` is in seconds from now.
fn send(site: &Site, (partner, jane): (&Caller, &Caller), registration: i64, at: i64, minutes: i64) -> Value {
    let pin = site.pin(jane);
    let body = json!({ "member_id": jane.id, "member_pin": pin, "registration_id": registration, "flight_date": site.now() + at,
                       "minutes_booked": minutes, "tunnel_id": Site::TUNNEL_ID });
    partner.post("/external/partner-metrics/op/generate-token", body).ok().json()
}

/// A booking that the partner sent, with its flight time in the logbook; `at` is in seconds from now.
fn sent(site: &Site, people: (&Caller, &Caller), registration: i64, at: i64, minutes: i64) -> i64 {
    let reply = send(site, people, registration, at, minutes);
    assert_eq!(reply["status"], true, "{reply}");
    let sql = "SELECT booking_id FROM bookings WHERE registration_id = ?1";
    site.change(|tx| Ok(tx.get(sql, [registration])?))
}

fn audit(site: &Site) -> Vec<String> {
    let sql = "SELECT action FROM audit WHERE action LIKE 'booking.%' ORDER BY seq";
    site.change(|tx| Ok(tx.list(sql, [])?))
}

#[test]
fn cancelling_a_booking_removes_its_flight_time_and_reinstating_restores_it() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let booking = sent(&site, (&partner, &jane), 7, 600, 12);
    let entry = flown(&site, booking).expect("a current flyer has the minutes");
    site.change(|tx| {
        Ok(tx.run("UPDATE entries SET comment = 'my own words', minutes = 14 WHERE booking_id = ?1", [booking])?)
    });
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/bookings/{booking}");
    let open = clerk.get(&path).page();
    assert!(open.contains("Cancel booking"));
    for button in ["Cancel booking", "Check in"] {
        assert!(!open.contains(&format!(">{button}</h2>")), "no heading repeats the button below it: {open}");
    }
    let done = clerk.post(&format!("{path}/cancel"), &[]);
    let there = done.header("location").unwrap().split('#').next().unwrap().to_owned();
    let page = clerk.get(&there).page();
    assert!(page.contains("Cancelled: jane, ") && page.contains(&format!("{path}/reinstate")), "{page}");
    let said = page.split("class=\"done undoable\"").nth(1).and_then(|rest| rest.split("</div>").next());
    assert!(said.is_some_and(|said| said.contains("/reinstate")), "the message has its undo beside it: {page}");
    assert!(page.contains("0 of 0 are here"), "it is on nobody's list: {page}");
    assert_eq!(flown(&site, booking), None);
    assert_eq!(clerk.post(&format!("{path}/cancel"), &[]).status, 303, "a second time changes nothing");
    for refused in ["check-in", "no-show"] {
        assert_eq!(clerk.post(&format!("{path}/{refused}"), &[]).status, 409, "{refused}");
    }
    let own = jane.get("/account/profile/booking-history").ok().json();
    assert_eq!(own[0]["ended"], "cancelled", "{own}");

    assert_eq!(clerk.post(&format!("{path}/reinstate"), &[]).status, 303);
    assert_eq!(flown(&site, booking), Some((entry.0, 14)), "as the member left it");
    let comment = "SELECT comment FROM entries WHERE booking_id = ?1";
    let comment: String = site.change(|tx| Ok(tx.get(comment, [booking])?));
    assert_eq!(comment, "my own words");
    assert_eq!(audit(&site), ["booking.cancelled", "booking.reinstated"]);
    let told = site.notices(&jane);
    assert!(told.contains(&"notice.booking_cancelled".to_owned()), "{told:?}");
    assert!(told.contains(&"notice.booking_reinstated".to_owned()), "{told:?}");
}

#[test]
fn a_no_show_is_possible_once_its_time_has_come_and_removes_the_flight_time() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let booking = sent(&site, (&partner, &jane), 7, 600, 12);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/bookings/{booking}");
    let early = clerk.post(&format!("{path}/no-show"), &[]);
    assert!(early.status == 409 && early.page().contains("has not come yet"), "{early}");
    site.advance(std::time::Duration::from_secs(900));
    assert!(clerk.get(&path).page().contains("No-show"));
    assert_eq!(clerk.post(&format!("{path}/check-in"), &[]).status, 303);
    let here = clerk.post(&format!("{path}/no-show"), &[]);
    assert!(here.status == 409 && here.page().contains("Undo the check-in first"), "{here}");
    assert_eq!(clerk.post(&format!("{path}/check-in/undo"), &[]).status, 303);
    assert_eq!(clerk.post(&format!("{path}/no-show"), &[]).status, 303);
    assert_eq!(flown(&site, booking), None);
    let page = clerk.get("/desk").page();
    assert!(page.contains("<i class=bad>no-show</i>"), "{page}");
    assert_eq!(clerk.post(&format!("{path}/reinstate"), &[]).status, 303);
    assert!(flown(&site, booking).is_some());
    assert!(audit(&site).ends_with(&["booking.no_show".to_owned(), "booking.reinstated".to_owned()]));
}

#[test]
fn a_partner_who_sends_a_booking_again_does_not_move_it_back() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let booking = sent(&site, (&partner, &jane), 7, 3_600, 12);
    let clerk = Clerk::at(&site, &site.desk());
    let zone = site.inside().time_zone().unwrap();
    let moved = site.now() + 2 * 24 * 3600;
    let moved = moved - moved.rem_euclid(60);
    let form = [("day", zone.date(Moment(moved))), ("clock", zone.clock(Moment(moved))), ("minutes", "20".to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    let path = format!("/desk/bookings/{booking}/move");
    let done = clerk.post(&path, &form);
    assert_eq!(done.status, 303, "{done}");
    assert!(done.header("location").unwrap().contains(&format!("day={}", zone.date(Moment(moved)))), "{done}");
    assert_eq!(flown(&site, booking), Some((moved, 20)), "the logbook follows");
    // The partner sends the same booking again, only for a token: the desk's change stays.
    assert_eq!(sent(&site, (&partner, &jane), 7, 3_600, 12), booking);
    assert_eq!(flown(&site, booking), Some((moved, 20)));
    // The partner sends other minutes: the new minutes count, and the desk's date stays.
    sent(&site, (&partner, &jane), 7, 3_600, 30);
    assert_eq!(flown(&site, booking), Some((moved, 30)));
    let later = site.now() + 7_200;
    sent(&site, (&partner, &jane), 7, 7_200, 30);
    assert_eq!(flown(&site, booking), Some((later, 30)), "the partner moved it itself");
    let past = [("day", "2020-01-01"), ("clock", "12:00"), ("minutes", "20")];
    let refused = clerk.post(&path, &past);
    assert!(refused.status == 422 && refused.page().contains("This day is over"), "{refused}");
    for (wrong, said) in [(("day", "x"), "Enter a day, and a time"), (("minutes", "0"), "from 1 to 600")] {
        let form = form.map(|(name, value)| if name == wrong.0 { wrong } else { (name, value) });
        let refused = clerk.post(&path, &form);
        assert!(refused.status == 422 && refused.page().contains(said), "{refused}");
    }
    assert_eq!(audit(&site), ["booking.moved"]);
}

#[test]
fn a_booking_without_a_registration_id_is_identified_by_its_flight() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let pin = site.pin(&jane);
    let body = json!({ "member_id": jane.id, "member_pin": pin, "flight_date": site.now() + 3_600, "minutes_booked": 12,
                       "tunnel_id": Site::TUNNEL_ID });
    let send = || partner.post("/external/partner-metrics/op/generate-token", body.clone()).ok();
    send();
    let clerk = Clerk::at(&site, &site.desk());
    let zone = site.inside().time_zone().unwrap();
    let day = zone.date(Moment(site.now() + 24 * 3600));
    assert_eq!(
        clerk.post("/desk/bookings/1/move", &[("day", &*day), ("clock", "12:00"), ("minutes", "12")]).status,
        303
    );
    send();
    assert_eq!(jane.get("/account/profile/booking-history").ok().total(), 1, "nothing is doubled");
}

#[test]
fn a_cancelled_booking_that_its_partner_books_anew_is_in_force_again() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let booking = sent(&site, (&partner, &jane), 7, 3_600, 12);
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(clerk.post(&format!("/desk/bookings/{booking}/cancel"), &[]).status, 303);
    assert_eq!(send(&site, (&partner, &jane), 7, 3_600, 12)["status"], false, "the same again is no new booking");
    assert_eq!(flown(&site, booking), None);
    let at = site.now() + 7_200;
    sent(&site, (&partner, &jane), 7, 7_200, 12);
    assert_eq!(flown(&site, booking), Some((at, 12)));
    let own = jane.get("/account/profile/booking-history").ok().json();
    assert_eq!(own[0]["ended"], json!(null), "{own}");
}

#[test]
fn a_checked_in_booking_is_not_moved_to_another_day_and_other_minutes_book_a_no_show_anew() {
    let site = demo();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let booking = sent(&site, (&partner, &jane), 7, 600, 12);
    let clerk = Clerk::at(&site, &site.desk());
    let (path, card) = (format!("/desk/bookings/{booking}"), format!("/desk/members/{}", jane.id));
    let card = || clerk.get(&card).page();
    let badge = "<span class=\"badge plain\">booked</span>";
    assert!(card().contains(badge), "what lies ahead is booked: {}", card());
    let zone = site.inside().time_zone().unwrap();
    let (at, tomorrow) = (zone.clock(Moment(site.now())), zone.date(Moment(site.now() + 24 * 3600)));
    let move_to = |day: &str| clerk.post(&format!("{path}/move"), &[("day", day), ("clock", &at), ("minutes", "12")]);
    assert_eq!(clerk.post(&format!("{path}/check-in"), &[]).status, 303);
    let refused = move_to(&tomorrow);
    assert!(refused.status == 409 && refused.page().contains("Undo the check-in first"), "{refused}");
    assert_eq!(move_to(&zone.date(Moment(site.now()))).status, 303, "earlier on the same day");
    assert!(!card().contains(badge), "it has been flown: {}", card());

    assert_eq!(clerk.post(&format!("{path}/check-in/undo"), &[]).status, 303);
    for _ in 0..2 {
        assert_eq!(clerk.post(&format!("{path}/no-show"), &[]).status, 303);
    }
    assert!(clerk.get("/desk").page().contains("<i class=bad>no-show</i>"));
    assert_eq!(flown(&site, booking), None, "nobody flew");
    // Other minutes of the partner book it anew.
    sent(&site, (&partner, &jane), 7, 600, 30);
    assert_eq!(flown(&site, booking).map(|time| time.1), Some(30));
    assert!(!clerk.get("/desk").page().contains("<i class=bad>no-show</i>"));
    // Neither a member nor a stranger may call the desk's rows.
    let stranger = Clerk::outside(&site);
    stranger.cookies.borrow_mut().insert("desk".to_owned(), jane.token().to_owned());
    for action in ["move", "cancel", "no-show", "reinstate", "check-in", "check-in/undo"] {
        let reply =
            stranger.post(&format!("{path}/{action}"), &[("day", &*tomorrow), ("clock", "12:00"), ("minutes", "9")]);
        assert!(reply.header("location").is_some_and(|place| place.starts_with("/desk/sign-in")), "{action}: {reply}");
    }
    assert_eq!(
        audit(&site),
        ["booking.checked_in", "booking.moved", "booking.check_in_undone", "booking.no_show"],
        "each action once"
    );
    assert_eq!(clerk.post(&format!("{path}/reinstate"), &[]).status, 303);
    assert_eq!(flown(&site, booking).map(|time| time.1), Some(30), "there is nothing to reinstate");
}

#[test]
fn an_unknown_booking_is_not_found() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    book(&site, &site.member("jane"), 600);
    assert_eq!(clerk.get("/desk/bookings/99").status, 404);
    for action in ["move", "cancel", "no-show", "reinstate"] {
        let form = [("day", "2030-01-01"), ("clock", "12:00"), ("minutes", "20")];
        assert_eq!(clerk.post(&format!("/desk/bookings/99/{action}"), &form).status, 404, "{action}");
    }
}

#[test]
fn check_in_is_offered_on_the_day_of_the_flight_alone() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.flyer("ines"));
    let zone = site.inside().time_zone().unwrap();
    const DAY: i64 = 24 * 3600;
    let (now, tomorrow) = (book(&site, &jane, 0), book(&site, &jane, DAY));
    let yesterday = book(&site, &ines, -DAY);
    let clerk = Clerk::at(&site, &site.desk());
    let on_day = |days: i64| zone.date(Moment(site.now() + days * DAY));
    for (booking, day, said) in [
        (now, on_day(0), None),
        (tomorrow, on_day(1), Some("move the booking to today")),
        (yesterday, on_day(-1), Some("add the flight time on the")),
    ] {
        let action = format!("/desk/bookings/{booking}/check-in");
        for path in [format!("/desk?day={day}"), format!("/desk?day={day}&q=jane"), format!("/desk/bookings/{booking}")]
        {
            let page = clerk.get(&path).page();
            assert_eq!(page.contains(&action), said.is_none(), "{path}: {page}");
        }
        let page = clerk.get(&format!("/desk?day={day}")).page();
        assert!(said.is_none_or(|said| page.contains(said)), "{page}");
    }
    let early = clerk.post(&format!("/desk/bookings/{tomorrow}/check-in"), &[]);
    assert!(early.status == 409 && early.page().contains("move the booking to today first"), "{early}");
    assert!(early.page().contains(&format!("/desk/bookings/{tomorrow}/move")), "the form to move it is on the page");
    let clock = zone.clock(Moment(site.now()));
    let form = [("day", on_day(0)), ("clock", clock), ("minutes", "3".to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(clerk.post(&format!("/desk/bookings/{tomorrow}/move"), &form).status, 303);
    assert_eq!(clerk.post(&format!("/desk/bookings/{tomorrow}/check-in"), &[]).status, 303);
}

#[test]
fn a_refusal_about_a_booking_names_the_button_that_helps_and_shows_it() {
    let site = demo();
    let booking = book(&site, &site.flyer("jane"), 0);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/bookings/{booking}");
    let zone = site.inside().time_zone().unwrap();
    let (day, clock) = (zone.date(Moment(site.now())), zone.clock(Moment(site.now())));
    let form = [("day", &*day), ("clock", &*clock), ("minutes", "20")];
    for ending in ["cancel", "no-show"] {
        assert_eq!(clerk.post(&format!("{path}/{ending}"), &[]).status, 303, "{ending}");
        for action in ["check-in", "move"] {
            let refused = clerk.post(&format!("{path}/{action}"), &form);
            let page = refused.page();
            assert!(refused.status == 409 && page.contains("First press “Reinstate booking”."), "{action}: {refused}");
            assert!(page.contains(&format!("{path}/reinstate")), "the button is there: {page}");
        }
        assert_eq!(clerk.post(&format!("{path}/reinstate"), &[]).status, 303);
    }
    assert_eq!(clerk.post(&format!("{path}/check-in"), &[]).status, 303);
    let here = clerk.post(&format!("{path}/cancel"), &[]);
    assert!(here.status == 409 && here.page().contains(&format!("{path}/check-in/undo")), "{here}");
}
