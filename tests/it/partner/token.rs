//! Exchanging a member's PIN for a token, and the booking that the request makes.

use crate::harness::{Caller, Credential, Reply, Site};
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::auth::pin;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::pins;

const GENERATE: &str = "/external/partner-metrics/op/generate-token";

fn ask(partner: &Caller, member: &Caller, pin: &str, more: Value) -> Reply {
    let mut body = json!({"member_id": member.id, "member_pin": pin});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    partner.post(GENERATE, body)
}

fn booking(site: &Site, registration_id: i64) -> Value {
    json!({
        "registration_id": registration_id, "purchase_id": 5, "purchase_date": site.now(), "flight_date": site.now() + 3600,
        "minutes_booked": 12, "product_id": 3, "tunnel_id": Site::TUNNEL_ID, "checkin_time": site.now() + 3000,
    })
}

fn count(site: &Site, table: &str) -> i64 {
    site.change(|tx| Ok(tx.get(&format!("SELECT count(*) FROM {table}"), [])?))
}

#[track_caller]
fn refused_by_message(reply: Reply) -> String {
    let answer = reply.ok().json();
    assert_eq!((answer["status"].as_bool(), answer["token"].as_str()), (Some(false), Some("")), "{answer}");
    answer["message"].as_str().filter(|m| !m.is_empty()).unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_booking_of_a_current_flyer_is_in_every_list() {
    let site = Site::open();
    let (partner, jane, sync) = (site.partner(), site.flyer("jane"), site.sync());
    let answer = ask(&partner, &jane, &site.pin(&jane), booking(&site, 1)).ok().json();
    assert_eq!((answer["status"].as_bool(), answer["message"].as_str()), (Some(true), Some("")));
    assert_eq!(answer.as_object().unwrap().len(), 4, "status, message, token and booking");
    let expected = json!({
        "booking_id": 1, "registration_id": 1, "flight_date": site.now() + 3600, "minutes_booked": 12,
        "tunnel_id": Site::TUNNEL_ID, "ended": null, "ended_at": null, "arrived_at": null,
    });
    assert_eq!(answer["booking"], expected);

    let own = jane.get("/account/profile/booking-history").ok().json();
    assert_eq!((own.as_array().map(Vec::len), own[0]["minutes_booked"].as_i64()), (Some(1), Some(12)));
    let time = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().json();
    assert_eq!((time[0]["time"].as_str(), time[0]["booking_id"].as_i64()), (Some("12"), Some(1)));
    let bookings = sync.post("/admin/reports/external/partner-metrics/bookings", json!({})).ok().json();
    assert_eq!(bookings["data"][0]["registration_id"], 1);
    let history = sync.post("/admin/reports/external/partner-metrics/history", json!({})).ok().json();
    let events: Vec<_> = history["data"].as_array().unwrap().iter().map(|row| row["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["token.issued", "booking.recorded"]);
}

#[test]
fn a_booked_flight_counts_once_it_is_flown() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    ask(&partner, &jane, &site.pin(&jane), booking(&site, 1)).ok();
    let before = jane.get("/account/profile/user").ok().json();
    site.advance(Duration::from_secs(3600));
    let after = jane.get("/account/profile/user").ok().json();
    assert_eq!(
        (before["total_flight_time"].as_str(), after["total_flight_time"].as_str()),
        (Some("0:10"), Some("0:22"))
    );
    assert_eq!(after["last_flight"], site.now());
}

#[test]
fn the_token_reads_its_member_and_edits_that_one_entry_and_nothing_else() {
    let site = Site::open();
    let (partner, jane, mark) = (site.partner(), site.flyer("jane"), site.member("mark"));
    let token = site.booking_token(&partner, &jane);
    token.get("/account/profile/user").ok();
    let time = token.get(&format!("/account/logbook/time/{}", jane.id)).ok().json();
    let entry = |booked: bool| {
        let rows = time.as_array().unwrap().iter();
        let mut ids =
            rows.filter(|row| row["booking_id"].is_i64() == booked).map(|row| row["entry_id"].as_i64().unwrap());
        ids.next().unwrap()
    };
    token.put(&format!("/account/logbook/time/{}", entry(true)), json!({"time": 15, "comment": "two rotations"})).ok();
    token.put(&format!("/account/logbook/time/{}", entry(false)), json!({"time": 15})).refused(403);
    token.get(&format!("/account/logbook/time/{}", mark.id)).refused(403);
    token.delete(&format!("/account/logbook/{}", entry(true))).refused(403);
    token.get("/account/profile/booking-history").refused(403);
    site.advance(Duration::from_secs(24 * 3600));
    token.get("/account/profile/user").refused(401);
}

#[test]
fn the_same_booking_is_one_booking_with_a_fresh_token_and_later_values_win() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let pin = site.pin(&jane);
    let first = ask(&partner, &jane, &pin, booking(&site, 1)).ok().json();
    let second = ask(&partner, &jane, &pin, booking(&site, 1)).ok().json();
    assert_ne!(first["token"], second["token"]);
    let mut later = booking(&site, 1);
    later["minutes_booked"] = json!("0:20");
    ask(&partner, &jane, &pin, later).ok();
    let own = jane.get("/account/profile/booking-history").ok().json();
    assert_eq!((own.as_array().map(Vec::len), own[0]["minutes_booked"].as_i64()), (Some(1), Some(20)));
    assert_eq!(count(&site, "entries"), 2, "the flight before, and the booked one");
    assert_eq!(count(&site, "history"), 5, "three tokens, one booking recorded, one changed");
}

/// The flight time that a booking entered: date, minutes and comment.
fn entered(member: &Caller) -> (i64, String, String) {
    let list = member.get(&format!("/account/logbook/time/{}", member.id)).ok().json();
    let rows = list.as_array().or(list["data"].as_array()).unwrap().clone();
    let row = rows.into_iter().find(|row| !row["booking_id"].is_null()).expect("the booking entered its minutes");
    let text = |field: &str| row[field].as_str().unwrap().to_owned();
    (row["entry_date"].as_i64().unwrap(), text("time"), text("comment"))
}

#[test]
fn a_booking_that_is_sent_again_undoes_no_edit_and_changes_what_is_another() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let pin = site.pin(&jane);
    let mut sent = booking(&site, 1);
    sent["flight_date"] = json!(site.now() - 3600);
    let send = |sent: &Value| {
        let token = ask(&partner, &jane, &pin, sent.clone()).ok().json()["token"].as_str().unwrap().to_owned();
        jane.with(Credential::Token { header: "token", prefix: "", token })
    };
    let token = send(&sent);
    let list = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().json();
    let rows = list.as_array().or(list["data"].as_array()).unwrap().clone();
    let entry = rows.iter().find(|row| !row["booking_id"].is_null()).unwrap()["entry_id"].clone();
    let flown = site.now() - 1800;
    let edit = json!({"time": "15", "entry_date": flown, "comment": "two rotations"});
    token.put(&format!("/account/logbook/time/{entry}"), edit).ok();
    let mut same = sent.clone();
    (same["purchase_id"], same["checkin_time"]) = (json!(77), json!(site.now() - 3700));
    for again in [&sent, &same] {
        send(again);
        assert_eq!(entered(&jane), (flown, "15".to_owned(), "two rotations".to_owned()), "{again}");
    }
    sent["minutes_booked"] = json!(20);
    send(&sent);
    assert_eq!(entered(&jane), (flown, "20".to_owned(), "two rotations".to_owned()), "other minutes");
    sent["flight_date"] = json!(site.now() - 7200);
    send(&sent);
    assert_eq!(entered(&jane), (site.now() - 7200, "20".to_owned(), "two rotations".to_owned()), "another day");
}

#[test]
fn a_booking_without_registration_is_known_by_purchase_and_flight_else_by_member_and_flight() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let pin = site.pin(&jane);
    let short =
        |flight: i64| json!({"flight_date": site.now() + flight, "minutes_booked": 5, "tunnel_id": Site::TUNNEL_ID});
    let purchase = |flight: i64| {
        let mut booking = short(flight);
        booking["purchase_id"] = json!(9);
        booking
    };
    for _ in 0..2 {
        for sent in [purchase(60), purchase(120), short(60), short(120)] {
            ask(&partner, &jane, &pin, sent).ok();
        }
    }
    assert_eq!(count(&site, "bookings"), 4);
    ask(&site.partner(), &jane, &pin, purchase(60)).ok();
    assert_eq!(count(&site, "bookings"), 5, "another partner's purchase is another booking");
}

#[test]
fn what_is_not_said_again_stays_and_a_purchase_is_known_without_its_registration() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let pin = site.pin(&jane);
    let whole = booking(&site, 1);
    ask(&partner, &jane, &pin, whole.clone()).ok();
    let without = |left_out: &[&str]| {
        let mut sent = whole.clone();
        left_out.iter().for_each(|field| _ = sent.as_object_mut().unwrap().remove(*field));
        sent
    };
    let row = || jane.get("/account/profile/booking-history").ok().json();
    let before = row();
    ask(&partner, &jane, &pin, without(&["purchase_id", "purchase_date", "product_id", "checkin_time"])).ok();
    ask(&partner, &jane, &pin, without(&["registration_id"])).ok();
    assert_eq!(row(), before);
    assert_eq!((count(&site, "bookings"), count(&site, "entries")), (1, 2), "the flight before, and the booked one");
    // In this case the registration comes later.
    let mut later = without(&["registration_id"]);
    later["flight_date"] = json!(site.now() + 9_000);
    ask(&partner, &jane, &pin, later.clone()).ok();
    later["registration_id"] = json!(2);
    ask(&partner, &jane, &pin, later.clone()).ok();
    assert_eq!((count(&site, "bookings"), row()[0]["registration_id"].as_i64()), (2, Some(2)));
    // Two registrations of one purchase are two bookings.
    later["registration_id"] = json!(3);
    ask(&partner, &jane, &pin, later.clone()).ok();
    assert_eq!(count(&site, "bookings"), 3);
    // Two members who fly on one purchase have two bookings, in whatever order their registrations come.
    let mark = site.flyer("mark");
    let mut together = without(&["registration_id"]);
    together["flight_date"] = json!(site.now() + 12_000);
    ask(&partner, &jane, &pin, together.clone()).ok();
    together["registration_id"] = json!(4);
    ask(&partner, &mark, &site.pin(&mark), together).ok();
    assert_eq!(count(&site, "bookings"), 5);
}

#[test]
fn guests_of_one_purchase_who_fly_at_one_moment_have_a_booking_each() {
    let site = Site::open();
    let (partner, jane, mark) = (site.partner(), site.flyer("jane"), site.flyer("mark"));
    let mut sent = booking(&site, 1);
    sent.as_object_mut().unwrap().remove("registration_id");
    let pins = [site.pin(&jane), site.pin(&mark)];
    for _ in 0..2 {
        for (guest, pin) in [&jane, &mark].into_iter().zip(&pins) {
            assert_eq!(ask(&partner, guest, pin, sent.clone()).ok().json()["status"], true);
        }
    }
    assert_eq!(count(&site, "bookings"), 2);
    for guest in [&jane, &mark] {
        assert_eq!(guest.get("/account/profile/booking-history").ok().json().as_array().unwrap().len(), 1);
    }
    // A registration belongs to one member.
    sent["registration_id"] = json!(8);
    sent["flight_date"] = json!(site.now() + 9_000);
    ask(&partner, &jane, &pins[0], sent.clone()).ok();
    ask(&partner, &mark, &pins[1], sent).refused(409);
}

#[test]
fn a_time_before_1970_is_a_mistake_in_any_field_but_the_day_of_birth() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    for field in ["flight_date", "purchase_date", "checkin_time"] {
        let mut early = booking(&site, 1);
        for before in [json!(-1), json!("-86400"), json!(-200_000_000_000_i64)] {
            early[field] = before;
            assert_eq!(ask(&partner, &jane, &site.pin(&jane), early.clone()).refused(422).bad_fields(), [field]);
        }
    }
    let tunnel = Site::TUNNEL_ID.to_string();
    let flown = json!({ "entry_date": -1, "tunnel": tunnel, "time": "5", "status": "open", "comment": "" });
    assert_eq!(jane.post("/account/logbook/time/", flown).refused(422).bad_fields(), ["entry_date"]);
    let sync = site.sync();
    let report = sync.post("/admin/reports/external/partner-metrics/bookings", json!({ "from": -1 }));
    assert_eq!(report.refused(422).bad_fields(), ["from"]);
    let old = json!({ "username": "otto", "real_name": "Otto Old", "email": "otto@example.com", "dob": -86_400 * 3650,
                      "password": crate::harness::PASSWORD, "terms": true });
    site.stranger().post("/auth/signup", old).ok();
}

#[test]
fn nobody_is_booked_before_their_birth() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let mut early = booking(&site, 1);
    early["flight_date"] = json!(86_400);
    site.change(|tx| Ok(tx.run("UPDATE members SET dob = 172800 WHERE member_id = ?1", [jane.id])?));
    assert_eq!(ask(&partner, &jane, &site.pin(&jane), early).refused(422).bad_fields(), ["flight_date"]);
    assert_eq!(count(&site, "bookings"), 0);
}

#[test]
fn a_registration_does_not_move_to_another_member() {
    let site = Site::open();
    let (partner, jane, mark) = (site.partner(), site.member("jane"), site.member("mark"));
    ask(&partner, &jane, &site.pin(&jane), booking(&site, 1)).ok();
    ask(&partner, &mark, &site.pin(&mark), booking(&site, 1)).refused(409);
}

#[test]
fn any_field_of_a_booking_makes_it_one_and_three_are_needed_then() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.member("jane"));
    let pin = site.pin(&jane);
    let named = |more: Value| ask(&partner, &jane, &pin, more).refused(422).bad_fields();
    assert_eq!(named(json!({"product_id": 1})), ["flight_date", "minutes_booked", "tunnel_id"]);
    assert_eq!(named(json!({"flight_date": site.now(), "minutes_booked": 601, "tunnel_id": 7})), ["minutes_booked"]);
    assert_eq!(named(json!({"flight_date": site.now(), "minutes_booked": 10, "tunnel_id": 99})), ["tunnel_id"]);
    assert_eq!(partner.post(GENERATE, json!({})).refused(422).bad_fields(), ["member_id", "member_pin"]);
    assert_eq!(ask(&partner, &jane, &pin, json!({})).ok().json()["status"], true, "a token without a booking");
    assert_eq!(count(&site, "bookings"), 0);
}

#[test]
fn a_wrong_pin_and_an_unknown_member_get_the_same_answer() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.member("jane"));
    site.pin(&jane);
    let wrong = ask(&partner, &jane, "none", json!({})).ok();
    let unknown = partner.post(GENERATE, json!({"member_id": 999, "member_pin": "none"})).ok();
    assert_eq!(wrong.body, unknown.body);
    refused_by_message(wrong);
    assert_eq!(count(&site, "history"), 2, "both refusals are on record");
}

#[test]
fn five_wrong_pins_pause_the_pin_and_the_right_one_gets_the_same_answer_then() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.member("jane"));
    let pin = site.pin(&jane);
    let wrong = ask(&partner, &jane, "none", json!({})).ok().body;
    for _ in 0..4 {
        refused_by_message(ask(&partner, &jane, "none", json!({})));
    }
    assert_eq!(ask(&partner, &jane, &pin, json!({})).ok().body, wrong);
    site.advance(Duration::from_secs(15 * 60));
    assert_eq!(ask(&partner, &jane, &pin, json!({})).ok().json()["status"], true);
    let newer = site.pin(&jane);
    if newer != pin {
        refused_by_message(ask(&partner, &jane, &pin, json!({})));
    }
    assert_eq!(ask(&partner, &jane, &newer, json!({})).ok().json()["status"], true);
}

#[test]
fn the_banned_the_unpaid_and_the_unconfirmed_are_refused_each_in_words() {
    let site = Site::open_with(|config| config.yearly_fee_cents = 3000);
    let partner = site.partner();
    let beginner = site.member("beginner");
    assert_eq!(ask(&partner, &beginner, &site.pin(&beginner), booking(&site, 1)).ok().json()["status"], true);

    let jane = site.flyer("jane");
    let pin = site.pin(&jane);
    let unpaid = refused_by_message(ask(&partner, &jane, &pin, booking(&site, 2)));
    assert_eq!(ask(&partner, &jane, &pin, json!({})).ok().json()["status"], true, "a token that only reads");
    site.pay(&jane, Duration::from_secs(86_400));
    assert_eq!(ask(&partner, &jane, &pin, booking(&site, 2)).ok().json()["status"], true);

    site.unconfirm(&jane);
    let unconfirmed = refused_by_message(ask(&partner, &jane, &pin, booking(&site, 3)));
    site.shell(&["member", "ban", &jane.name]);
    let banned = refused_by_message(ask(&partner, &jane, &pin, json!({})));
    let wrong = refused_by_message(ask(&partner, &jane, "no PIN", json!({})));
    assert!(unpaid != unconfirmed && ![unpaid, unconfirmed, wrong].contains(&banned), "{banned}");
    assert_eq!(refused_by_message(ask(&partner, &jane, &pin, booking(&site, 3))), banned, "with a booking too");
    assert_eq!(count(&site, "bookings"), 2);
}

#[test]
fn a_flyer_who_is_not_current_gets_no_flight_time_and_is_told_what_to_do() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    site.advance(Duration::from_secs(180 * 86_400));
    let jane = site.again(&jane);
    assert_eq!(jane.get("/account/profile/user").ok().json()["currency_flyer"], 0);
    ask(&partner, &jane, &site.pin(&jane), booking(&site, 1)).ok();
    assert_eq!(jane.get("/account/profile/booking-history").ok().total(), 1);
    assert_eq!(jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().total(), 1, "the flight before");
    assert_eq!(site.notices(&jane), ["notice.booking_not_current"]);
}

#[test]
fn a_pin_that_comes_as_a_number_has_its_leading_zeros_and_as_text_it_is_what_was_typed() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.member("jane"));
    let hash = pin::hash(site.inside(), MemberId(jane.id), "031207");
    site.change(|tx| Ok(pins::set(tx, MemberId(jane.id), &hash)?));
    let ask = |pin: Value| partner.post(GENERATE, json!({"member_id": jane.id, "member_pin": pin}));
    refused_by_message(ask(json!("31207")));
    refused_by_message(ask(json!(312_070)));
    for right in [json!(31207), json!("031207")] {
        assert_eq!(ask(right.clone()).ok().json()["status"], true, "{right}");
    }
}
