//! Events take effect exactly once: under simultaneous repeats, in every order, and after a restart.

use super::*;
use crate::bad_input::dice::Dice;
use std::collections::BTreeMap;

const DELIVERIES: usize = 50;

/// Everything that a set of events may change.
fn state(site: &Site, member: &Caller) -> (Vec<(String, String)>, Option<i64>, usize) {
    (payments(member), paid_until(member), site.notices(member).len())
}

#[test]
fn fifty_deliveries_at_the_same_moment_are_one_event() {
    let site = Site::with_senders();
    site.expects_faults();
    let jane = site.member("jane");
    let success = event("evt_1", "payment_intent.succeeded", intent("pi_1", Some(&jane)));
    let processor = site.processor();
    let verdicts: Vec<String> = std::thread::scope(|scope| {
        let hear = || processor.post("/payment-webhook", &success).ok().json();
        let send = move || hear()["verdict"].as_str().unwrap().to_owned();
        let threads: Vec<_> = (0..DELIVERIES).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut counted = BTreeMap::new();
    verdicts.iter().for_each(|verdict| *counted.entry(verdict.as_str()).or_insert(0) += 1);
    assert_eq!(counted, BTreeMap::from([("applied", 1), ("repeated", DELIVERIES - 1)]));
    assert_eq!(paid_until(&jane), Some(site.end_of_day(site.now() + 365 * 86_400)));
    assert_eq!((site.notices(&jane).len(), site.rows()["callbacks"]), (1, 1));
    let times = site.change(|tx| Ok(tx.get::<i64>("SELECT times FROM callbacks", [])?));
    assert_eq!(times, DELIVERIES as i64);
}

#[test]
fn every_order_of_the_same_events_ends_in_the_same_state() {
    let mut dice = Dice::new(1, "orders of events");
    let mut ends = Vec::new();
    for round in 0..24 {
        let site = Site::with_senders();
        let jane = site.member("jane");
        let mut events = vec![
            event("evt_1", "payment_intent.created", intent("pi_1", None)),
            event("evt_2", "payment_intent.processing", intent("pi_1", Some(&jane))),
            event("evt_3", "payment_intent.payment_failed", intent("pi_1", None)),
            event("evt_4", "payment_intent.succeeded", intent("pi_1", None)),
            event("evt_5", "payment_intent.succeeded", intent("pi_2", Some(&jane))),
            event("evt_6", "charge.refunded", charge("pi_2")),
        ];
        events.extend(events.clone());
        if round > 0 {
            (1..events.len()).rev().for_each(|place| events.swap(place, dice.below(place + 1)));
        }
        events.iter().for_each(|event| drop(pay(&site, event).ok()));
        let (mut listed, until, _) = state(&site, &jane);
        listed.sort();
        ends.push((listed, until, site.rows()["callbacks"]));
    }
    let wanted = [("pi_1".to_owned(), "succeeded".to_owned()), ("pi_2".to_owned(), "refunded".to_owned())];
    assert_eq!(ends[0].0, wanted);
    assert_eq!(ends[0].2, 6);
    ends.iter().enumerate().for_each(|(round, end)| assert_eq!(end, &ends[0], "round {round}"));
}

#[test]
fn a_repeat_is_known_after_a_restart() {
    let mut site = Site::with_senders();
    let jane = site.member("jane");
    let success = event("evt_1", "payment_intent.succeeded", intent("pi_1", Some(&jane)));
    assert_eq!(verdict(&site, &success), "applied");
    let before = state(&site, &jane);
    site.restart();
    assert_eq!(verdict(&site, &success), "repeated");
    assert_eq!(state(&site, &jane), before);
}

fn payments_of(member: &Caller) -> Vec<String> {
    payments(member).into_iter().map(|(intent_id, _)| intent_id).collect()
}

#[test]
fn events_are_sealed_at_rest_and_swept_while_what_they_did_stays() {
    use std::time::Duration;
    let site = Site::with_senders();
    let jane = site.member("jane");
    let mut object = intent("pi_1", Some(&jane));
    object["receipt_email"] = json!("receipts@example.com");
    verdict(&site, &event("evt_1", "payment_intent.succeeded", object));
    site.mail_provider()
        .post("/mail-webhook", json!({ "mail_events": [{ "event": "spam", "_id": "a", "ts": site.now(), "msg": { "email": "ann@example.com" } }] }))
        .ok();
    assert_eq!(site.holds_text("receipts@"), [""; 0]);
    assert_eq!(site.holds_text("ann@"), ["suppressed.address"]);
    jane.post("/payment-webhook", json!({ "fromApp": "1", "paymentIntentId": "pi_2" })).ok();
    for (days, events, payments) in [(31, 3, 1), (90, 2, 1), (401, 0, 1)] {
        let began = 1_780_000_000;
        site.advance(Duration::from_secs((began + days * 86_400 - site.now()) as u64));
        tunneldesk::jobs::purge_expired(&site.for_a_job()).unwrap();
        let rows = site.rows();
        assert_eq!((rows["callbacks"], rows["payments"]), (events, payments), "after {days} days");
        if days == 31 {
            // The event that records the claim is still kept, but the claim is not, so a repeated claim takes effect
            // again.
            let jane = site.again(&jane);
            jane.post("/payment-webhook", json!({ "fromApp": "1", "paymentIntentId": "pi_2" })).ok();
            assert_eq!(payments_of(&jane), ["pi_2", "pi_1"]);
        }
    }
}
