//! A member's payments.

use crate::harness::{Caller, Site};
use serde_json::json;

fn pay(site: &Site, member: &Caller, intent_id: &str, status: &str) -> i64 {
    let sql = "INSERT INTO payments (member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
               VALUES (?1, ?2, 3000, 'CHF', ?3, ?4, ?4)";
    site.change(|tx| Ok(tx.insert(sql, (member.id, intent_id, status, tx.now()))?))
}

#[test]
fn payments_are_listed_newest_first_and_for_their_member_alone() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let empty = jane.get("/account/profile/payment-history").ok();
    assert_eq!((empty.json(), empty.total()), (json!([]), 0));
    let first = pay(&site, &jane, "pi_1", "succeeded");
    let second = pay(&site, &jane, "pi_2", "failed");
    pay(&site, &mark, "pi_3", "created");
    let list = jane.get("/account/profile/payment-history").ok().json();
    let row = |payment_id: i64, intent_id: &str, status: &str| {
        json!({ "payment_id": payment_id, "paymentIntentId": intent_id, "amount_cents": 3000, "currency": "CHF",
                "status": status, "created_at": site.now(), "updated_at": site.now() })
    };
    assert_eq!(list, json!([row(second, "pi_2", "failed"), row(first, "pi_1", "succeeded")]));
    let page = jane.get("/account/profile/payment-history?limit=1&offset=1").ok();
    assert_eq!((page.total(), page.json()), (2, json!([row(first, "pi_1", "succeeded")])));
}

#[test]
fn an_intent_is_one_payment_in_one_of_seven_states() {
    let site = Site::open();
    let jane = site.member("jane");
    pay(&site, &jane, "pi_1", "created");
    for (intent_id, status) in [("pi_1", "created"), ("pi_2", "paid")] {
        let sql = "INSERT INTO payments (member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
                   VALUES (?1, ?2, 1, 'EUR', ?3, 1, 1)";
        assert!(site.try_change(|tx| Ok(tx.run(sql, (jane.id, intent_id, status))?)).is_err(), "{intent_id} {status}");
    }
}
