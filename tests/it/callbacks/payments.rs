//! The effects of the processor's events on payments and memberships.

use super::*;
use crate::harness::senders::form;
use http::Method;
use std::time::Duration;

const YEAR: i64 = 365 * 86_400;

#[test]
fn a_success_extends_the_membership_by_a_year_and_a_refund_takes_it_back() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    assert_eq!(paid_until(&jane), None);
    let success = event("evt_1", "payment_intent.succeeded", intent("pi_1", Some(&jane)));
    assert_eq!(verdict(&site, &success), "applied");
    let until = site.end_of_day(site.now() + YEAR);
    assert_eq!((paid_until(&jane), site.notices(&jane)), (Some(until), vec!["notice.payment_counts".to_owned()]));
    let said = jane.get("/account/notifications").ok().json()[0]["text"].clone();
    let day = "28 May 2027";
    assert_eq!(said, format!("Your payment of 30.00 CHF has arrived. Your membership is paid until {day}."));
    let row = jane.get("/account/profile/payment-history").ok().json()[0].clone();
    assert_eq!(
        (&row["amount_cents"], &row["currency"], &row["status"]),
        (&json!(3000), &json!("CHF"), &json!("succeeded"))
    );

    assert_eq!(verdict(&site, &event("evt_2", "charge.refunded", charge("pi_1"))), "applied");
    assert_eq!((paid_until(&jane), payments(&jane)), (None, vec![("pi_1".to_owned(), "refunded".to_owned())]));
    assert_eq!(site.notices(&jane), ["notice.payment_counts", "notice.payment_taken_back"]);
}

#[test]
fn a_year_begins_where_the_last_one_ends_or_now() {
    let site = Site::with_senders();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    site.pay(&jane, Duration::from_secs(86_400));
    site.change(|tx| {
        Ok(tx.run("UPDATE members SET paid_until = ?2 WHERE member_id = ?1", (mark.id, tx.now() - 86_400))?)
    });
    for (number, member) in [(1, &jane), (2, &mark)] {
        verdict(
            &site,
            &event(&format!("evt_{number}"), "payment_intent.succeeded", intent(&format!("pi_{number}"), Some(member))),
        );
    }
    assert_eq!(paid_until(&jane), Some(site.end_of_day(site.now() + 86_400 + YEAR)));
    assert_eq!(paid_until(&mark), Some(site.end_of_day(site.now() + YEAR)));
    // A second payment follows the first. When the first is refunded, the second stays.
    verdict(&site, &event("evt_3", "payment_intent.succeeded", intent("pi_3", Some(&jane))));
    let leap_day = 86_400;
    assert_eq!(paid_until(&jane), Some(site.end_of_day(site.now() + 86_400 + 2 * YEAR + leap_day)));
    verdict(&site, &event("evt_4", "charge.refunded", charge("pi_1")));
    assert_eq!(paid_until(&jane), Some(site.end_of_day(site.now() + 86_400 + YEAR)));
}

#[test]
fn each_type_moves_a_payment_forward_and_a_late_one_is_kept_and_moves_nothing() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    let mut number = 0;
    let mut hear = |intent_id: &str, kind: &str| {
        number += 1;
        let object = if kind.starts_with("charge") { charge(intent_id) } else { intent(intent_id, Some(&jane)) };
        verdict(&site, &event(&format!("evt_{number}"), kind, object))
    };
    let status = |intent_id: &str| payments(&jane).into_iter().find(|(id, _)| id == intent_id).unwrap().1;
    for (kind, reached) in [
        ("payment_intent.created", "created"),
        ("payment_intent.processing", "processing"),
        ("payment_intent.succeeded", "succeeded"),
        ("charge.refunded", "refunded"),
    ] {
        assert_eq!((hear("pi_1", kind), status("pi_1")), ("applied".to_owned(), reached.to_owned()));
    }
    for kind in ["payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.created"] {
        assert_eq!((hear("pi_1", kind), status("pi_1")), ("late".to_owned(), "refunded".to_owned()));
    }
    for (intent_id, kind, reached) in
        [("pi_2", "payment_intent.payment_failed", "failed"), ("pi_3", "payment_intent.canceled", "canceled")]
    {
        assert_eq!((hear(intent_id, kind), status(intent_id)), ("applied".to_owned(), reached.to_owned()));
        assert_eq!(hear(intent_id, "payment_intent.processing"), "late");
        assert_eq!(status(intent_id), reached);
    }
    assert_eq!(paid_until(&jane), None);
    let other = json!({ "id": "evt_other", "type": "invoice.paid", "data": "no object" });
    assert_eq!(verdict(&site, &other), "ignored", "what moves no payment is kept whatever it is about");
    assert_eq!(site.rows()["callbacks"], 12, "every event is kept");
}

#[test]
fn a_value_that_few_programs_can_read_loses_no_payment() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (number, odd) in ["\"\\ud83d\"", "1e400", &deep].into_iter().enumerate() {
        let site = Site::with_senders();
        let jane = site.member("jane");
        let mut object = intent(&format!("pi_{number}"), Some(&jane));
        object["description"] = json!("ODD");
        let whole = event("evt_1", "payment_intent.succeeded", object.clone()).to_string();
        let inner = object.to_string().replace("\"ODD\"", odd);
        let bodies = [
            json!({ "type": "payment_intent.created", "data": inner }).to_string(),
            whole.replace("\"ODD\"", odd),
            format!("{{\"type\":\"charge.updated\",\"data\":{{\"id\":{odd}}},\"more\":{odd}}}"),
        ];
        let verdicts = bodies.map(|body| {
            let reply = site.processor().ask(Method::POST, "/payment-webhook").body(body).send().ok();
            reply.json()["verdict"].as_str().unwrap().to_owned()
        });
        assert_eq!(verdicts, ["applied", "applied", "ignored"], "{odd:.20}");
        assert!(paid_until(&jane).is_some(), "{odd:.20}");
        let named = format!("{{\"type\":\"payment_intent.created\",\"data\":{{\"id\":{odd}}}}}");
        let refused = site.processor().ask(Method::POST, "/payment-webhook").body(named).send().refused(422);
        assert_eq!(refused.bad_fields(), ["data"]);
    }
}

#[test]
fn the_contract_s_form_is_understood_as_json_and_as_a_form() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    let object = intent("pi_1", Some(&jane)).to_string();
    let whole = event("evt_9", "payment_intent.succeeded", intent("pi_9", Some(&jane)));
    for body in [
        json!({ "type": "payment_intent.created", "data": object }),
        json!({ "type": "payment_intent.created", "data": intent("pi_2", Some(&jane)) }),
        json!({ "type": "payment_intent.created", "data": json!({ "object": intent("pi_3", Some(&jane)) }).to_string() }),
        json!({ "type": "payment_intent.created", "data": "{\"metadata\":{\"member_id\":1}}", "paymentIntentId": 4 }),
        json!({ "type": "payment_intent.succeeded", "data": whole.to_string() }),
    ] {
        assert_eq!(verdict(&site, &body), "applied", "{body}");
        assert_eq!(verdict(&site, &body), "repeated", "{body}");
    }
    assert_eq!(verdict(&site, &whole), "repeated", "the event inside was here already");
    let body =
        form(&[("type", "payment_intent.processing"), ("data", &object), ("fromApp", ""), ("paymentIntentId", "5")]);
    let form = "application/x-www-form-urlencoded";
    let asking = site.processor();
    let sent = asking.ask(Method::POST, "/payment-webhook").header("content-type", form).body(body).send().ok();
    assert_eq!(sent.json()["verdict"], "applied");
    let listed = payments(&jane);
    let ids: Vec<_> = listed.iter().map(|(id, status)| format!("{id} {status}")).collect();
    assert_eq!(ids, ["pi_9 succeeded", "4 created", "pi_3 created", "pi_2 created", "pi_1 processing"]);
}

#[test]
fn only_all_of_the_money_takes_a_membership_back() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    verdict(&site, &event("evt_1", "payment_intent.succeeded", intent("pi_1", Some(&jane))));
    for (number, part) in [(2, json!({ "refunded": false })), (3, json!({ "refunded": null, "amount_refunded": 1000 }))]
    {
        let mut some = charge("pi_1");
        some.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        assert_eq!(verdict(&site, &event(&format!("evt_{number}"), "charge.refunded", some)), "partial_refund");
    }
    assert!(paid_until(&jane).is_some());
    let bare = json!({ "id": "ch_1", "payment_intent": { "id": "pi_1" } });
    assert_eq!(verdict(&site, &event("evt_4", "charge.refunded", bare)), "applied");
    assert_eq!(paid_until(&jane), None);
}

#[test]
fn other_types_are_kept_and_acknowledged_and_move_nothing() {
    let site = Site::with_senders();
    for (id, kind, object) in [
        ("evt_1", "customer.created", json!({ "id": "cus_1" })),
        ("evt_2", "payment_intent.requires_action", json!({ "id": "pi_1" })),
        ("evt_3", "charge.refunded", json!({ "id": "ch_1", "object": "charge", "payment_intent": null })),
    ] {
        assert_eq!(verdict(&site, &event(id, kind, object)), "ignored", "{kind}");
    }
    assert_eq!(verdict(&site, &json!({ "type": "ping" })), "ignored");
    assert_eq!(kept(&site), [4, 0, 0, 0]);
}

#[test]
fn an_incomplete_event_is_refused_field_by_field() {
    let site = Site::with_senders();
    for (body, fields) in [
        (json!({}), &["type", "data"][..]),
        (json!({ "type": "payment_intent.succeeded" }), &["data"]),
        (json!({ "type": "payment_intent.succeeded", "data": "not json" }), &["data"]),
        (json!({ "type": "payment_intent.succeeded", "data": "[]" }), &["data"]),
        (json!({ "type": "payment_intent.succeeded", "data": { "amount": 1 } }), &["data"]),
        (json!({ "type": "charge.refunded", "data": { "id": "ch_1" } }), &["data"]),
        (json!({ "type": [], "id": {}, "created": "never" }), &["type", "id", "created", "data"]),
    ] {
        assert_eq!(pay(&site, &body).refused(422).bad_fields(), fields, "{body}");
    }
    assert_eq!(kept(&site), [0; 4]);
}

/// The processor sends a refused event for some days, and then drops it.
#[test]
fn an_odd_field_that_an_event_can_do_without_loses_no_payment() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    let odd = [json!({}), json!([]), json!("never"), json!(true), json!(-1e300), json!("a\nb"), json!("x".repeat(300))];
    for (number, odd) in odd.iter().enumerate() {
        for field in ["id", "created", "fromApp", "paymentIntentId"] {
            let name = format!("pi_{number}_{field}");
            let mut event = event(&format!("evt_{name}"), "payment_intent.succeeded", intent(&name, Some(&jane)));
            event[field] = odd.clone();
            // Text is a good id for the first event that has it.
            assert_eq!(verdict(&site, &event), "applied", "{field}: {odd}");
            assert_eq!(verdict(&site, &event), "repeated", "{field}: {odd}");
        }
    }
    assert_eq!(payments(&jane).len(), 4 * odd.len());
}

#[test]
fn a_payment_without_a_member_waits_for_one() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    for (number, metadata) in
        [json!({}), json!({ "member_id": 999_999 }), json!({ "member_id": "jane" }), json!(7)].into_iter().enumerate()
    {
        let mut object = intent(&format!("pi_{number}"), None);
        object["metadata"] = metadata;
        assert_eq!(verdict(&site, &event(&format!("evt_{number}"), "payment_intent.succeeded", object)), "unmatched");
    }
    assert_eq!((payments(&jane).len(), kept(&site)), (0, [4, 4, 0, 0]));
    // A later event names the payer.
    assert_eq!(verdict(&site, &event("evt_9", "payment_intent.created", intent("pi_0", Some(&jane)))), "late");
    assert_eq!((payments(&jane).len(), paid_until(&jane)), (1, Some(site.end_of_day(site.now() + YEAR))));
}
