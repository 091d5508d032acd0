//! The user records of a partner.

use crate::harness::Site;
use serde_json::json;

const OP: &str = "/external/partner-metrics/op";

#[test]
fn a_record_is_made_read_changed_and_deleted() {
    let site = Site::open();
    let partner = site.partner();
    let made = partner.post(OP, json!({"email": "ann@example.com"})).ok().json();
    let id = made["id"].as_i64().unwrap();
    assert_eq!((made["email"].as_str(), made["created_at"].as_i64()), (Some("ann@example.com"), Some(site.now())));

    let path = format!("{OP}/{id}");
    assert_eq!(partner.get(&path).ok().json()["email"], "ann@example.com");
    partner.put(OP, json!({"id": id.to_string(), "email": "beth@example.com"})).ok();
    assert_eq!(partner.get(&path).ok().json()["email"], "beth@example.com");

    partner.delete(&path).ok();
    partner.get(&path).refused(404);
    partner.delete(&path).refused(404);
    partner.put(OP, json!({"id": id, "email": "c@example.com"})).refused(404);
}

#[test]
fn a_partner_sees_its_own_records_only() {
    let site = Site::open();
    let (one, other) = (site.partner(), site.partner());
    let id = one.post(OP, json!({"email": "ann@example.com"})).ok().json()["id"].as_i64().unwrap();
    let path = format!("{OP}/{id}");
    other.get(&path).refused(404);
    other.put(OP, json!({"id": id, "email": "mine@example.com"})).refused(404);
    other.delete(&path).refused(404);
    assert_eq!(other.get(OP).ok().total(), 0);
    assert_eq!(one.get(&path).ok().json()["email"], "ann@example.com");
    other.post(OP, json!({"email": "ann@example.com"})).ok();
}

#[test]
fn a_second_record_for_an_address_is_a_conflict_without_regard_to_case() {
    let site = Site::open();
    let partner = site.partner();
    let first = partner.post(OP, json!({"email": "ann@example.com"})).ok().json()["id"].as_i64().unwrap();
    partner.post(OP, json!({"email": "Ann@Example.com"})).refused(409);
    let second = partner.post(OP, json!({"email": "beth@example.com"})).ok().json()["id"].as_i64().unwrap();
    partner.put(OP, json!({"id": second, "email": "ANN@example.com"})).refused(409);
    partner.delete(&format!("{OP}/{first}")).ok();
    partner.put(OP, json!({"id": second, "email": "ANN@example.com"})).ok();
}

#[test]
fn an_address_in_another_spelling_is_the_same_address() {
    let site = Site::open();
    let partner = site.partner();
    let first = partner.post(OP, json!({"email": "JO\u{308}RG@b\u{fc}cher.example"})).ok().json();
    assert_eq!(first["email"], "j\u{f6}rg@b\u{fc}cher.example");
    for spelling in
        ["j\u{f6}rg@B\u{dc}CHER.example", "j\u{f6}rg@bu\u{308}cher.example", "j\u{f6}rg@XN--BCHER-KVA.example"]
    {
        partner.post(OP, json!({"email": spelling})).refused(409);
    }
}

#[test]
fn a_record_knows_the_member_who_confirmed_its_address() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.member("jane"));
    assert_eq!(partner.post(OP, json!({"email": "JANE@example.com"})).ok().json()["member_id"], jane.id);
    assert!(partner.post(OP, json!({"email": "nobody@example.com"})).ok().json()["member_id"].is_null());
}

#[test]
fn records_are_listed_newest_first_a_page_at_a_time() {
    let site = Site::open();
    let partner = site.partner();
    let ids: Vec<i64> = (0..5)
        .map(|n| partner.post(OP, json!({"email": format!("u{n}@example.com")})).ok().json()["id"].as_i64().unwrap())
        .collect();
    let page = partner.get(&format!("{OP}?limit=2&offset=1")).ok();
    let listed: Vec<i64> = page.rows().iter().map(|u| u["id"].as_i64().unwrap()).collect();
    assert_eq!((listed, page.total()), (vec![ids[3], ids[2]], 5));
    assert_eq!(partner.get(&format!("{OP}?limit=0&offset=-1")).refused(422).bad_fields(), ["limit", "offset"]);
    partner.get(&format!("{OP}?limit=5001")).refused(422);
}

#[test]
fn bad_fields_are_named_and_leave_nothing_behind() {
    let site = Site::open();
    let partner = site.partner();
    let before = site.rows();
    assert_eq!(partner.post(OP, json!({})).refused(422).bad_fields(), ["email"]);
    assert_eq!(partner.put(OP, json!({"id": "x", "email": "no"})).refused(422).bad_fields(), ["email", "id"]);
    partner.get(&format!("{OP}/abc")).refused(404);
    assert_eq!(site.rows(), before);
}

#[test]
fn a_partner_makes_records_at_a_pace_that_customers_come() {
    let site = Site::open();
    let (partner, other) = (site.partner(), site.partner());
    let create = |partner: &crate::harness::Caller, number: usize| {
        partner.post("/external/partner-metrics/op", serde_json::json!({ "email": format!("{number}@example.com") }))
    };
    // Ten more come free each second, so the first refusal is looked at and not a request after it.
    let mut replies = (0..1_200).map(|number| (number, create(&partner, number)));
    let (made, refused) = replies.find(|(_, reply)| reply.status != 201).expect("a refusal");
    assert!((600..1_200).contains(&made), "{made}");
    assert!(refused.refused(429).header("retry-after").is_some());
    assert_eq!(site.rows()["partner_users"], made as i64);
    create(&other, 0).ok();
}
