//! Events that make a notice: bookings, and changes of an account.

use super::NOTIFICATIONS;
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::{Value, json};

const GENERATE: &str = "/external/partner-metrics/op/generate-token";

fn book(partner: &Caller, jane: &Caller, pin: &str, booking: &Value) -> Value {
    let mut body = booking.clone();
    (body["member_id"], body["member_pin"]) = (json!(jane.id), json!(pin));
    partner.post(GENERATE, body).ok().json()
}

fn texts(member: &Caller) -> Vec<String> {
    let rows = member.get(NOTIFICATIONS).ok().json();
    rows.as_array().unwrap().iter().rev().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_booking_is_told_once_and_again_when_its_flight_changes() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let pin = site.pin(&jane);
    let booking = |minutes: i64, purchase: i64| {
        json!({ "registration_id": 5, "flight_date": site.now() + 86_400, "minutes_booked": minutes,
                "tunnel_id": Site::TUNNEL_ID, "purchase_id": purchase })
    };
    for sent in [booking(20, 1), booking(20, 1), booking(20, 2), booking(30, 2), booking(30, 2)] {
        assert_eq!(book(&partner, &jane, &pin, &sent)["status"], true);
    }
    assert_eq!(site.notices(&jane), ["notice.booking_recorded", "notice.booking_changed"]);
    let texts = texts(&jane);
    assert!(texts[0].contains("20 minutes on 29 May 2026"), "{texts:?}");
    assert!(texts[1].contains("now 30 minutes on 29 May 2026"), "{texts:?}");
}

#[test]
fn who_guesses_at_a_pin_is_noticed_by_its_member() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    site.pin(&jane);
    for misses in 1..=5 {
        assert!(site.notices(&jane).is_empty(), "{misses}");
        assert_eq!(book(&partner, &jane, "none", &json!({}))["status"], false);
    }
    assert_eq!(site.notices(&jane), ["notice.pin_paused"]);
    assert!(texts(&jane)[0].contains("15 minutes"), "{:?}", texts(&jane));
    book(&partner, &jane, "none", &json!({}));
    assert_eq!(site.notices(&jane).len(), 1, "what comes during the pause tells nothing new");
}

#[test]
fn a_change_of_the_password_is_told() {
    let site = Site::open();
    let jane = site.member("jane");
    let body = json!({ "current_password": PASSWORD, "password": "damp suit, warm feet", "password_confirm": "damp suit, warm feet" });
    jane.put("/account/profile/change-password", body).ok();
    assert_eq!(site.notices(&jane), ["notice.password_changed"]);
}
