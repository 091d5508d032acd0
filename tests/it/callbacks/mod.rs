//! Callbacks of third parties: their signatures, their events, and the effects of these, which happen once.

mod claims;
mod deletion;
mod fees;
mod mail;
mod marks;
mod once;
mod payments;
mod sdk;
mod signatures;
mod status;

use crate::harness::{Caller, Reply, Site};
use serde_json::{Value, json};

/// An event in the processor's format.
fn event(id: &str, kind: &str, object: Value) -> Value {
    json!({ "id": id, "object": "event", "type": kind, "created": 1_779_999_000, "data": { "object": object } })
}

/// A payment in the format of the processor's events.
fn intent(intent_id: &str, member: Option<&Caller>) -> Value {
    let metadata = member.map_or(json!({}), |member| json!({ "member_id": member.id.to_string() }));
    json!({ "id": intent_id, "object": "payment_intent", "amount": 3000, "currency": "chf", "metadata": metadata })
}

fn charge(intent_id: &str) -> Value {
    json!({ "id": "ch_1", "object": "charge", "amount": 3000, "amount_refunded": 3000, "refunded": true,
            "currency": "chf", "payment_intent": intent_id })
}

fn pay(site: &Site, body: &Value) -> Reply {
    site.processor().post("/payment-webhook", body)
}

/// The outcome of an accepted event.
#[track_caller]
fn verdict(site: &Site, body: &Value) -> String {
    pay(site, body).ok().json()["verdict"].as_str().expect("a verdict is text").to_owned()
}

fn paid_until(member: &Caller) -> Option<i64> {
    member.get("/account/profile/user").ok().json()["paymentData"]["nextDate"].as_i64()
}

/// A member's payments, newest first, by id and status.
fn payments(member: &Caller) -> Vec<(String, String)> {
    let list = member.get("/account/profile/payment-history").ok().json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| (text(&row["paymentIntentId"]), text(&row["status"]))).collect()
}

/// The numbers of rows that a refused callback must not change.
fn kept(site: &Site) -> [i64; 4] {
    let rows = site.rows();
    ["callbacks", "payments", "suppressed", "deletions"].map(|table| rows[table])
}
