//! What a partner learns of its booking after the desk, the kiosk or the member has changed something.

use crate::desk::{Clerk, demo};
use crate::harness::{Caller, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const GENERATE: &str = "/external/partner-metrics/op/generate-token";
const DAY: i64 = 86_400;

struct Stage {
    site: Site,
    partner: Caller,
    jane: Caller,
    clerk: Clerk,
    pin: String,
}

impl Stage {
    fn new() -> Stage {
        let site = demo();
        let (partner, jane) = (site.partner(), site.flyer("jane"));
        let (clerk, pin) = (Clerk::at(&site, &site.desk()), site.pin(&jane));
        Stage { site, partner, jane, clerk, pin }
    }

    /// A booking of tomorrow with these minutes.
    fn tomorrow(&self, minutes: i64) -> Value {
        json!({ "member_id": self.jane.id, "member_pin": self.pin, "registration_id": 7001,
                "flight_date": self.site.now() + DAY, "minutes_booked": minutes, "tunnel_id": Site::TUNNEL_ID })
    }

    fn send(&self, body: &Value) -> Value {
        self.partner.post(GENERATE, body).ok().json()
    }

    fn send_under(&self, key: &str, body: &Value) -> Reply {
        self.partner.ask(Method::POST, GENERATE).header("idempotency-key", key).json(body).send().ok()
    }

    fn at_desk(&self, answer: &Value, act: &str, fields: &[(&str, &str)]) {
        let path = format!("/desk/bookings/{}/{act}", answer["booking"]["booking_id"]);
        let reply = self.clerk.post(&path, fields);
        assert_eq!(reply.status, 303, "{path}: {reply}");
    }

    /// The events of bookings in the order in which they happened.
    fn events(&self) -> Vec<String> {
        let sql = "SELECT event FROM history WHERE event LIKE 'booking.%' ORDER BY seq";
        self.site.change(|tx| Ok(tx.list(sql, [])?))
    }
}

#[track_caller]
fn expect(answer: &Value, status: bool, words: &[&str]) {
    assert_eq!(answer["status"], status, "{answer}");
    assert_eq!(answer["token"].as_str().unwrap().is_empty(), !status, "{answer}");
    let message = answer["message"].as_str().unwrap();
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
    assert_eq!(message.is_empty(), words.is_empty(), "{message}");
}

#[test]
fn a_booking_that_the_desk_cancelled_is_not_confirmed_again() {
    let stage = Stage::new();
    let sent = stage.tomorrow(15);
    let first = stage.send(&sent);
    expect(&first, true, &[]);
    assert_eq!((&first["booking"]["ended"], &first["booking"]["minutes_booked"]), (&Value::Null, &json!(15)));
    stage.at_desk(&first, "cancel", &[]);
    let repeat = stage.send(&sent);
    expect(&repeat, false, &["cancelled", "28 May 2026, 20:26"]);
    assert_eq!(
        (&repeat["booking"]["ended"], &repeat["booking"]["ended_at"]),
        (&json!("cancelled"), &json!(stage.site.now()))
    );
    // A purchase number books nothing.
    let mut other_number = sent.clone();
    other_number["purchase_id"] = json!(5);
    expect(&stage.send(&other_number), false, &["cancelled"]);
    stage.at_desk(&first, "reinstate", &[]);
    expect(&stage.send(&sent), true, &[]);
    assert_eq!(
        stage.events(),
        ["booking.recorded", "booking.cancelled", "booking.changed", "booking.restored"],
        "the reports and the sync read these rows"
    );
}

#[test]
fn a_cancelled_or_missed_booking_is_booked_anew_by_another_day_or_other_minutes() {
    let stage = Stage::new();
    let first = stage.send(&stage.tomorrow(15));
    stage.at_desk(&first, "cancel", &[]);
    let anew = stage.send(&stage.tomorrow(20));
    expect(&anew, true, &[]);
    assert_eq!((&anew["booking"]["ended"], &anew["booking"]["minutes_booked"]), (&Value::Null, &json!(20)));
    let time = "SELECT minutes FROM entries WHERE booking_id IS NOT NULL";
    assert_eq!(stage.site.change(|tx| Ok(tx.list::<i64>(time, [])?)), [20]);

    let sent = stage.tomorrow(20);
    stage.site.advance(Duration::from_secs(DAY as u64 + 60));
    let clerk = Clerk::at(&stage.site, &stage.site.desk());
    let stage = Stage { clerk, ..stage };
    stage.at_desk(&anew, "no-show", &[]);
    expect(&stage.send(&sent), false, &["missed", "29 May 2026"]);
    let again = stage.send(&stage.tomorrow(20));
    expect(&again, true, &[]);
    assert_eq!(again["booking"]["booking_id"], first["booking"]["booking_id"]);
}

#[test]
fn a_booking_that_the_desk_moved_and_ended_is_booked_anew_as_it_is_sent() {
    let stage = Stage::new();
    let first = stage.send(&stage.tomorrow(15));
    stage.at_desk(&first, "move", &[("day", "2026-06-02"), ("clock", "14:30"), ("minutes", "25")]);
    stage.at_desk(&first, "cancel", &[]);
    let mut other_number = stage.tomorrow(15);
    other_number["purchase_id"] = json!(5);
    let ended = stage.send(&other_number);
    expect(&ended, false, &["cancelled"]);
    assert_eq!(ended["booking"]["minutes_booked"], 25, "what the desk made of it stays");
    let sent = stage.tomorrow(20);
    let anew = stage.send(&sent);
    expect(&anew, true, &[]);
    let values = |of: &Value| (of["flight_date"].clone(), of["minutes_booked"].clone());
    assert_eq!(values(&anew["booking"]), values(&sent), "not as the desk had moved it");
    let time = "SELECT minutes || ' ' || (entry_date - ?1) FROM entries WHERE booking_id IS NOT NULL";
    let now = stage.site.now();
    assert_eq!(stage.site.change(|tx| Ok(tx.list::<String>(time, [now])?)), [format!("20 {DAY}")]);
}

#[test]
fn a_booking_whose_member_is_here_keeps_its_day_whoever_changes_it() {
    let stage = Stage::new();
    let mut sent = stage.tomorrow(15);
    sent["flight_date"] = json!(stage.site.now() + 600);
    let first = stage.send(&sent);
    stage.at_desk(&first, "check-in", &[]);
    let here = stage.send(&sent);
    expect(&here, true, &[]);
    for day in [1, 3] {
        sent["flight_date"] = json!(stage.site.now() + day * DAY);
        let refused = stage.send(&sent);
        expect(&refused, false, &["checked in", "front desk"]);
        assert_eq!(refused["booking"], here["booking"], "it stands");
    }
    sent["flight_date"] = json!(stage.site.now() + 600);
    sent["minutes_booked"] = json!(20);
    let longer = stage.send(&sent);
    expect(&longer, true, &[]);
    assert_eq!(longer["booking"]["minutes_booked"], 20);
}

#[test]
fn a_booking_of_a_banned_member_is_not_reinstated() {
    let stage = Stage::new();
    let first = stage.send(&stage.tomorrow(15));
    stage.at_desk(&first, "cancel", &[]);
    stage.site.shell(&["member", "ban", "jane"]);
    let path = format!("/desk/bookings/{}/reinstate", first["booking"]["booking_id"]);
    let reply = stage.clerk.post(&path, &[]);
    assert_eq!(reply.status, 403, "{reply}");
    assert!(String::from_utf8_lossy(&reply.body).contains("This member is banned and cannot book"), "{reply}");
    stage.site.shell(&["member", "ban", "--lift", "jane"]);
    stage.at_desk(&first, "reinstate", &[]);
}

#[test]
fn a_repeat_of_a_booking_that_the_desk_moved_names_the_new_day_and_minutes() {
    let stage = Stage::new();
    let sent = stage.tomorrow(15);
    let first = stage.send(&sent);
    stage.at_desk(&first, "move", &[("day", "2026-06-02"), ("clock", "14:30"), ("minutes", "25")]);
    let repeat = stage.send(&sent);
    expect(&repeat, true, &["2 Jun 2026, 14:30", "25 minutes"]);
    assert_eq!(repeat["booking"]["minutes_booked"], 25);
    assert_ne!(repeat["booking"]["flight_date"], sent["flight_date"]);
    // Minutes that the partner changes are applied; the day stays the desk's.
    let shorter = stage.send(&stage.tomorrow(10));
    expect(&shorter, true, &["2 Jun 2026, 14:30", "10 minutes"]);
    assert_eq!(stage.events(), ["booking.recorded", "booking.moved", "booking.changed"]);
}

#[test]
fn a_stored_refusal_is_void_once_the_booking_is_booked_anew() {
    let stage = Stage::new();
    let sent = stage.tomorrow(15);
    let first = stage.send(&sent);
    stage.at_desk(&first, "cancel", &[]);
    expect(&stage.send_under("order-1", &sent).json(), false, &["cancelled"]);
    expect(&stage.send(&stage.tomorrow(20)), true, &[]);
    let again = stage.send_under("order-1", &sent).json();
    expect(&again, true, &[]);
    assert_eq!(again["booking"]["minutes_booked"], 15);
}

#[test]
fn a_stored_answer_is_void_once_the_booking_ends_or_moves() {
    let stage = Stage::new();
    let sent = stage.tomorrow(15);
    let first = stage.send_under("order-1", &sent);
    assert_eq!(stage.send_under("order-1", &sent).body, first.body, "the first answer again");
    let first = first.json();
    stage.at_desk(&first, "move", &[("day", "2026-06-02"), ("clock", "14:30"), ("minutes", "25")]);
    expect(&stage.send_under("order-1", &sent).json(), true, &["25 minutes"]);
    stage.at_desk(&first, "cancel", &[]);
    let refused = stage.send_under("order-1", &sent);
    expect(&refused.json(), false, &["cancelled"]);
    assert_eq!(stage.send_under("order-1", &sent).body, refused.body, "stored in its turn");
    stage.at_desk(&first, "reinstate", &[]);
    expect(&stage.send_under("order-1", &sent).json(), true, &["25 minutes"]);
    let mut other = sent;
    other["minutes_booked"] = json!(16);
    let reply = stage.partner.ask(Method::POST, GENERATE).header("idempotency-key", "order-1").json(&other).send();
    assert_eq!(reply.refused(422).json()["code"], "idempotency_key_reused", "the key stays with its body");
}

#[test]
fn the_pin_of_a_booking_still_moves_or_shortens_it_after_the_member_has_renewed_the_pin() {
    let stage = Stage::new();
    let first = stage.send(&stage.tomorrow(15));
    let token = |answer: &Value| answer["token"].as_str().unwrap().to_owned();
    stage.site.pin(&stage.jane);
    let expect_kept = |answer: &Value, minutes: i64| {
        assert_eq!((&answer["status"], &*token(answer)), (&json!(true), ""), "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("new PIN"), "{answer}");
        assert_eq!(answer["booking"]["minutes_booked"], minutes, "{answer}");
    };
    expect_kept(&stage.send(&stage.tomorrow(15)), 15);
    expect_kept(&stage.send(&stage.tomorrow(10)), 10);
    let mut later = stage.tomorrow(10);
    later["flight_date"] = json!(stage.site.now() + 2 * DAY);
    expect_kept(&stage.send(&later), 10);

    later["minutes_booked"] = json!(11);
    expect(&stage.send(&later), false, &["new PIN"]);
    later["minutes_booked"] = json!(10);
    stage.at_desk(&first, "cancel", &[]);
    expect(&stage.send(&later), false, &["cancelled"]);
    later["flight_date"] = json!(stage.site.now() + 3 * DAY);
    expect(&stage.send(&later), false, &["new PIN"]);
    let ended = "SELECT ended_as || minutes_booked FROM bookings";
    assert_eq!(stage.site.change(|tx| Ok(tx.get::<String>(ended, [])?)), "cancelled10");
    // Another booking of the member takes the present PIN.
    later["registration_id"] = json!(7002);
    expect(&stage.send(&later), false, &["PIN"]);
}

#[test]
fn an_outdated_pin_that_wants_too_much_counts_as_a_wrong_one() {
    let stage = Stage::new();
    stage.send(&stage.tomorrow(15));
    let present = stage.site.pin(&stage.jane);
    for _ in 0..5 {
        expect(&stage.send(&stage.tomorrow(30)), false, &["PIN"]);
    }
    let paused = Stage { pin: present, ..stage };
    expect(&paused.send(&paused.tomorrow(15)), false, &["Wrong"]);
}

#[test]
fn an_outdated_pin_ends_with_a_recovery_a_ban_and_a_reset_by_the_desk() {
    type Reset = fn(&Stage);
    let resets: [(&str, Reset); 4] = [
        ("a recovery", |stage| stage.site.shell(&["member", "reset-password", "jane"])),
        ("a ban", |stage| {
            stage.site.shell(&["member", "ban", "jane"]);
            stage.site.shell(&["member", "ban", "--lift", "jane"]);
        }),
        ("a reset of the second factor", |stage| stage.site.shell(&["member", "reset-second-factor", "jane"])),
        ("a PIN made at the desk", |stage| {
            let reply = stage.clerk.post(&format!("/desk/members/{}/pin", stage.jane.id), &[]);
            assert!(reply.status < 400, "{reply}");
        }),
    ];
    for (what, reset) in resets {
        let stage = Stage::new();
        stage.send(&stage.tomorrow(15));
        reset(&stage);
        let jane = stage.site.again(&stage.jane);
        stage.site.pin(&jane);
        let answer = stage.send(&stage.tomorrow(10));
        assert_eq!(answer["status"], false, "after {what}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains("Wrong"), "after {what}: {answer}");
    }
}

#[test]
fn flights_are_booked_from_two_days_ago_to_two_years_ahead() {
    let stage = Stage::new();
    let on = |day: i64| {
        let mut sent = stage.tomorrow(15);
        sent["flight_date"] = json!(stage.site.now() + day * DAY);
        sent
    };
    for far in [-3, 740] {
        assert_eq!(stage.partner.post(GENERATE, on(far)).refused(422).bad_fields(), ["flight_date"], "{far} days");
    }
    expect(&stage.send(&on(-2)), true, &[]);
    let sent = on(-2);
    stage.site.advance(Duration::from_secs(30 * DAY as u64));
    expect(&stage.send(&sent), true, &[]);
    let mut shorter = sent.clone();
    shorter["minutes_booked"] = json!(10);
    expect(&stage.send(&shorter), true, &[]);
    assert_eq!(stage.partner.post(GENERATE, on(-3)).refused(422).bad_fields(), ["flight_date"], "another day");
    expect(&stage.send(&on(730)), true, &[]);
}

#[test]
fn an_old_booking_that_has_ended_is_not_booked_anew() {
    let stage = Stage::new();
    let mut sent = stage.tomorrow(15);
    let first = stage.send(&sent);
    stage.site.advance(Duration::from_secs(30 * DAY as u64));
    let clerk = Clerk::at(&stage.site, &stage.site.desk());
    let stage = Stage { clerk, ..stage };
    stage.at_desk(&first, "no-show", &[]);
    expect(&stage.send(&sent), false, &["missed"]);
    sent["minutes_booked"] = json!(12);
    assert_eq!(stage.partner.post(GENERATE, sent).refused(422).bad_fields(), ["flight_date"]);
}

#[test]
fn a_refusal_tells_how_a_booking_stands_that_was_sent_before() {
    let stage = Stage::new();
    let sent = stage.tomorrow(15);
    let first = stage.send(&sent);
    // Longer by an old PIN: refused, and the booking stands.
    stage.site.pin(&stage.jane);
    let longer = stage.send(&stage.tomorrow(30));
    expect(&longer, false, &["new PIN"]);
    assert_eq!(longer["booking"], first["booking"]);
    stage.site.unconfirm(&stage.jane);
    let refused = stage.send(&sent);
    expect(&refused, false, &["e-mail address"]);
    assert_eq!(refused["booking"], first["booking"], "a partner does not sell the place again");
    let mut other = sent.clone();
    other["registration_id"] = json!(7002);
    other["member_pin"] = json!(stage.site.pin(&stage.jane));
    assert_eq!(stage.send(&other)["booking"], Value::Null, "nothing was sent before under this number");
    // What the desk did is told, whatever is due.
    stage.at_desk(&first, "cancel", &[]);
    let ended = stage.send(&sent);
    expect(&ended, false, &["cancelled"]);
    assert_eq!(ended["booking"]["ended"], "cancelled");
}

#[test]
fn a_booking_of_a_partner_is_taken_where_the_tunnel_is_full_and_counts() {
    let stage = Stage::new();
    for registration in 1..=30 {
        let mut sent = stage.tomorrow(600);
        sent["registration_id"] = json!(registration);
        expect(&stage.send(&sent), true, &[]);
    }
    let sum = "SELECT sum(minutes_booked) FROM bookings WHERE ended_as IS NULL";
    assert_eq!(stage.site.change(|tx| Ok(tx.get::<i64>(sum, [])?)), 30 * 600);
}
