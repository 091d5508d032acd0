//! The document for receivers, checked against the code: its example is signed, packed and answered as the document
//! says.

use super::book::{Book, unpack};
use crate::harness::Site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde_json::Value;
use tunneldesk::jobs::sync::{Batch, Row};
use tunneldesk::keys::{hex, hmac_sha256};

/// The text of one `<pre>` on the page.
fn example(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!("id=\"upstream-{name}\">")).expect("the page has the example");
    rest.split_once("</pre>").unwrap().0.to_owned()
}

#[test]
fn the_documented_example_for_receivers_is_exact() {
    let site = Site::open();
    let page = site.stranger().ask_at_root(Method::GET, "/docs").send().ok();
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    let body: Value = serde_json::from_str(&example(&page, "body")).unwrap();
    let gzip = STANDARD.decode(example(&page, "gzip").replace('\n', "")).unwrap();
    assert_eq!(unpack(&gzip), body);
    let schema = site.stranger().ask(Method::GET, "/schemas/upstream-batch-1.json").send().ok().json();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&body), "{:?}", schema.iter_errors(&body).next());
    let mut wrong = body.clone();
    wrong["history"][0]["detail"]["minutes_booked"] = Value::Null;
    assert!(!schema.is_valid(&wrong), "a booking without minutes");
    let headers = example(&page, "headers");
    let header = |name: &str| headers.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    assert_eq!(header("token:"), hex(&hmac_sha256(b"partner-secret", &[&gzip])));

    // The product makes the same batch of these rows.
    let rows: Vec<Row> = serde_json::from_value(body["history"].clone()).unwrap();
    let batch = Batch::of(body["site_id"].as_str().unwrap(), 100, &rows);
    assert_eq!(unpack(&batch.body), body);
    assert_eq!(header("idempotency-key:"), batch.key());

    // A receiver that follows the rules gives this answer.
    let mut book = Book { rows: vec![serde_json::json!({ "seq": 100, "at": 1 })], ..Book::default() };
    let answer: Value = serde_json::from_str(&example(&page, "answer")).unwrap();
    assert_eq!(book.take(&gzip), (200, answer.clone()));
    assert_eq!(book.take(&gzip), (200, answer), "a repeat");
    assert_eq!(book.rows.len(), 3);
    assert_eq!(book.bookings[&57], body["bookings"][0]);
}
