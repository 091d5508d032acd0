//! The two reports.

use crate::harness::{Caller, Site};
use serde_json::{Value, json};
use std::time::Duration;

const OP: &str = "/external/partner-metrics/op";
const BOOKINGS: &str = "/admin/reports/external/partner-metrics/bookings";
const HISTORY: &str = "/admin/reports/external/partner-metrics/history";

fn seqs(caller: &Caller, body: Value) -> Vec<i64> {
    let answer = caller.post(HISTORY, body).ok().json();
    answer["data"].as_array().unwrap().iter().map(|row| row["seq"].as_i64().unwrap()).collect()
}

fn make_users(partner: &Caller, name: &str, count: usize) {
    for n in 0..count {
        partner.post(OP, json!({"email": format!("{name}{n}@example.com")})).ok();
    }
}

#[test]
fn desk_admin_and_sync_read_them_and_members_do_not() {
    let site = Site::open();
    for caller in [site.desk(), site.admin(), site.sync()] {
        caller.post(BOOKINGS, json!({})).ok();
        caller.post(HISTORY, json!({})).ok();
    }
    site.member("jane").post(HISTORY, json!({})).refused(403);
    site.partner().post(HISTORY, json!({})).refused(401);
    site.sync().get("/account/profile/user").refused(403);
}

#[test]
fn history_numbers_grow_without_gaps_and_are_read_newest_first_or_on_from_one() {
    let site = Site::open();
    let (partner, sync) = (site.partner(), site.sync());
    make_users(&partner, "u", 7);
    partner.post(OP, json!({"email": "u0@example.com"})).refused(409);
    make_users(&partner, "v", 1);
    assert_eq!(seqs(&sync, json!({})), [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(seqs(&sync, json!({"limit": 2, "offset": 1})), [7, 6]);
    assert_eq!(seqs(&sync, json!({"after": 5, "limit": "2"})), [6, 7], "oldest first, to be read on from there");
    assert_eq!(seqs(&sync, json!({"after": 8})), Vec::<i64>::new());
}

#[test]
fn reports_are_narrowed_by_time_and_by_client() {
    let site = Site::open();
    let (one, other, sync) = (site.partner(), site.partner(), site.sync());
    make_users(&one, "u", 2);
    let start = site.now();
    site.advance(Duration::from_secs(100));
    make_users(&other, "u", 1);
    assert_eq!(seqs(&sync, json!({"from": start + 1})), [3]);
    assert_eq!(seqs(&sync, json!({"to": (start + 100) * 1000})), [2, 1], "milliseconds are understood");
    assert_eq!(seqs(&sync, json!({"client_id": one.client_id()})), [2, 1]);
    assert_eq!(seqs(&sync, json!({"client_id": "nobody"})), Vec::<i64>::new());
}

#[test]
fn a_page_is_bounded_and_its_bounds_are_named() {
    let site = Site::open();
    let sync = site.sync();
    let answer = sync.post(BOOKINGS, json!({})).ok().json();
    assert_eq!(
        (answer["limit"].as_i64(), answer["offset"].as_i64(), answer["total"].as_i64()),
        (Some(50), Some(0), Some(0))
    );
    let named = |body: Value| sync.post(BOOKINGS, body).refused(422).bad_fields();
    assert_eq!(named(json!({"limit": 501, "offset": -1})), ["limit", "offset"]);
    assert_eq!(named(json!({"limit": "many", "from": "yesterday"})), ["limit", "from"]);
}

#[test]
fn history_is_append_only_even_for_ourselves() {
    let site = Site::open();
    make_users(&site.partner(), "u", 1);
    for sql in ["DELETE FROM history", "UPDATE history SET at = 0"] {
        assert!(site.try_change(|tx| Ok(tx.run(sql, [])?)).is_err(), "{sql}");
    }
}
