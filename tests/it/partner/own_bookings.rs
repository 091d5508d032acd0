//! A partner's own bookings: read and cancelled, each request signed whole.

use crate::harness::{Asking, Caller, Credential, Site, sign};
use http::Method;
use serde_json::json;

const GENERATE: &str = "/external/partner-metrics/op/generate-token";
const BOOKINGS: &str = "/external/partner-metrics/bookings";
const NONCE: &str = "0123456789_abc-XYZ";

fn book(site: &Site, partner: &Caller, member: &Caller, registration: Option<i64>) -> i64 {
    let body = json!({
        "member_id": member.id, "member_pin": site.pin(member), "registration_id": registration,
        "flight_date": site.now() + 3600, "minutes_booked": 12, "tunnel_id": Site::TUNNEL_ID,
    });
    partner.post(GENERATE, body).ok().json()["booking"]["booking_id"].as_i64().expect("the booking was taken")
}

#[test]
fn a_partner_lists_and_reads_its_bookings_and_no_others() {
    let site = Site::open();
    let (partner, rival, jane) = (site.partner(), site.strict_partner(), site.flyer("jane"));
    let (first, second) = (book(&site, &partner, &jane, Some(41)), book(&site, &partner, &jane, Some(42)));
    let foreign = book(&site, &rival, &jane, Some(41));
    let listed = partner.get(BOOKINGS).ok().json();
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|row| row["booking_id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [second, first], "newest first");
    assert_eq!(partner.get(&format!("{BOOKINGS}?limit=1&offset=1")).ok().json()[0]["booking_id"], first);
    assert_eq!(partner.get(&format!("{BOOKINGS}/41")).ok().json()["booking_id"], first);
    assert_eq!(partner.get(&format!("{BOOKINGS}/b-{second}")).ok().json()["registration_id"], 42);
    assert_eq!(rival.get(&format!("{BOOKINGS}/41")).ok().json()["booking_id"], foreign);
    for unknown in ["43", "b-99", "-41", "b--1", "b-", "x", &format!("b-{foreign}")] {
        partner.get(&format!("{BOOKINGS}/{unknown}")).refused(404);
        partner.delete(&format!("{BOOKINGS}/{unknown}")).refused(404);
    }
}

#[test]
fn a_partner_cancels_its_booking_once_and_the_member_is_told() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let booking_id = book(&site, &partner, &jane, None);
    let path = format!("{BOOKINGS}/b-{booking_id}");
    let done = partner.delete(&path).ok().json();
    assert_eq!((&done["status"], &done["ended"]), (&json!(true), &json!("cancelled")), "{done}");
    assert_eq!(done["ended_at"], site.now());
    let events = "SELECT event FROM history ORDER BY seq";
    let events = || site.change(|tx| Ok(tx.list::<String>(events, [])?));
    assert_eq!(events(), ["booking.recorded", "token.issued", "booking.cancelled"]);
    assert_eq!(partner.delete(&path).ok().json()["ended"], "cancelled");
    assert_eq!(events().len(), 3, "a second time changes nothing");
    assert!(site.notices(&jane).contains(&"notice.booking_cancelled".to_owned()));
    let time = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().json();
    assert_eq!(time.as_array().unwrap().len(), 1, "the flight before, without the booked one");
}

#[test]
fn a_booking_whose_member_has_come_or_was_missing_is_not_cancelled() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    for state in ["arrived_at = 1780000000", "ended_as = 'no_show', ended_at = 1780000000"] {
        let booking_id = book(&site, &partner, &jane, Some(site.next_number()));
        let sql = format!("UPDATE bookings SET {state} WHERE booking_id = {booking_id}");
        site.change(|tx| Ok(tx.run(&sql, [])?));
        let path = format!("{BOOKINGS}/b-{booking_id}");
        assert_eq!(partner.delete(&path).refused(409).json()["code"], "booking_state", "{state}");
    }
}

/// A request by a caller without credentials, with these for its own.
struct Signed<'a> {
    partner: &'a Caller,
    stamp: String,
    nonce: &'a str,
}

impl Signed<'_> {
    fn ask<'a>(&self, caller: &'a Caller, method: Method, path: &str, signed: &str) -> Asking<'a> {
        let line = format!("{}.{}.{signed}", self.stamp, self.nonce);
        let asking = caller.ask(method, path).header("client-id", self.partner.client_id());
        let asking = asking.header("x-timestamp", &self.stamp).header("x-nonce", self.nonce);
        asking.header("token", &sign(self.partner.secret(), line.as_bytes()))
    }
}

#[test]
fn the_signature_covers_time_nonce_method_path_query_and_body() {
    let site = Site::open();
    let (partner, plain) = (site.partner(), site.stranger());
    let now = site.now();
    let status = |stamp: &str, nonce: &str, signed: &str| {
        let signed_by = Signed { partner: &partner, stamp: stamp.to_owned(), nonce };
        signed_by.ask(&plain, Method::GET, &format!("{BOOKINGS}?limit=3"), signed).send().status
    };
    let right = format!("GET {BOOKINGS}?limit=3.");
    let nonce = |n: usize| format!("{NONCE}{n}");
    assert_eq!(status(&now.to_string(), &nonce(0), &right), 200);
    assert_eq!(status(&now.to_string(), &nonce(1), &format!("GET /api{BOOKINGS}?limit=3.")), 200, "with the prefix");
    assert_eq!(status(&format!("{now}.25"), &nonce(2), &right), 200, "a fraction of a second");
    assert_eq!(status(&now.to_string(), &nonce(3), &format!("{right}{{}}")), 200, "no body is signed as {{}} too");
    for wrong in [
        format!("DELETE {BOOKINGS}?limit=3."),
        format!("GET {BOOKINGS}."),
        format!("GET {BOOKINGS}?limit=4."),
        format!("GET {BOOKINGS}/?limit=3."),
        format!("{right}x"),
        String::new(),
    ] {
        assert_eq!(status(&now.to_string(), &nonce(4), &wrong), 401, "{wrong}");
    }
    assert_eq!(status(&(now - 301).to_string(), &nonce(5), &right), 401);
    for odd in ["short", "0123456789 abcdef", &"x".repeat(65)] {
        assert_eq!(status(&now.to_string(), odd, &right), 401, "{odd}");
    }
}

#[test]
fn a_signature_of_the_whole_request_is_good_once_for_every_partner() {
    let site = Site::open();
    for partner in [site.partner(), site.strict_partner()] {
        let plain = site.stranger();
        let signed = Signed { partner: &partner, stamp: site.now().to_string(), nonce: NONCE };
        let send = || signed.ask(&plain, Method::GET, BOOKINGS, &format!("GET {BOOKINGS}.")).send();
        send().ok();
        let repeated = send().refused(401);
        assert_eq!(repeated.json()["code"], "signature_repeated");
        assert_eq!(repeated.header("retry-after"), Some("1"));
    }
}

#[test]
fn without_time_or_nonce_a_partner_is_told_which_is_missing() {
    let site = Site::open();
    let partner = site.partner();
    let plain = partner.with(Credential::None);
    let token = sign(partner.secret(), b"");
    let bare = || plain.ask(Method::GET, BOOKINGS).header("token", &token);
    assert_eq!(bare().send().refused(401).json()["code"], "bad_timestamp");
    let stamped = bare().header("x-timestamp", &site.now().to_string());
    assert_eq!(stamped.send().refused(401).json()["code"], "bad_nonce");
}
