//! An opening balance: entered by the desk, signed as a whole, and counted from then on.

use super::{act, count, list, path};
use crate::harness::{Caller, Site};
use serde_json::{Value, json};

fn balance(site: &Site, instructor: &Caller) -> Value {
    json!({
        "time": "25:30", "skills": ["10101", 10102], "entry_date": site.now() - 20 * 86_400, "instructor": instructor.id,
        "tunnel": "7", "comment": "from the paper logbook",
    })
}

fn address(member: &Caller) -> String {
    format!("/account/logbook/opening-balance/{}", member.id)
}

fn flown(member: &Caller) -> Value {
    member.get("/account/profile/user").ok().json()["total_flight_time"].clone()
}

#[test]
fn a_balance_counts_once_an_instructor_has_signed_it_as_a_whole() {
    let site = Site::open();
    let (jane, ines, desk) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]), site.desk());
    let made = desk.post(&address(&jane), balance(&site, &ines)).ok().json();
    assert_eq!(made["entry_status"], "pending");
    let first = made["entry_id"].as_i64().unwrap();
    assert_eq!((flown(&jane), site.notices(&ines)), (json!("0:00"), vec!["notice.opening_asked".to_owned()]));
    let flights = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().json();
    let rows: Vec<_> =
        flights.as_array().unwrap().iter().map(|row| (&row["time"], &row["status"], &row["opening"])).collect();
    let (pending, yes) = (json!("pending"), json!(true));
    assert_eq!(
        rows,
        [(&json!("330"), &pending, &yes), (&json!("600"), &pending, &yes), (&json!("600"), &pending, &yes)]
    );
    let waiting = ines.get("/account/logbook/requests").ok().json();
    assert_eq!((waiting.as_array().unwrap().len(), &waiting[0]["opening"]), (5, &yes));
    ines.put(&path(first), json!({"comments_instructor": "as in the paper"})).ok();
    assert_eq!((flown(&jane), count(&list(&jane, "open", &jane))), (json!("25:30"), 2));
    assert_eq!(
        (&list(&jane, "open", &jane)[0]["opening"], site.notices(&jane)),
        (&yes, vec!["notice.opening_signed".to_owned()])
    );
    assert_eq!(site.events(first), [format!("- pending {}", desk.id), format!("pending open {}", ines.id)]);
    let user = jane.get("/account/profile/user").ok().json();
    assert_eq!(user["last_flight"], site.now() - 20 * 86_400);
    ines.post(&act(first, "sign"), json!({})).refused(409);
    for who in [&jane, &desk] {
        who.delete(&format!("/account/logbook/{first}")).refused(409);
        let refusal = who.put(&format!("/account/logbook/time/{first}"), json!({"time": 600})).refused(409);
        assert_eq!(refusal.json()["code"], "entry_signed");
    }
}

#[test]
fn the_desk_alone_enters_one_and_every_mistake_is_named() {
    let site = Site::open();
    let (jane, ines, desk) = (site.member("jane"), site.signer("ines", &[("Instructor", "1")]), site.desk());
    for who in [&jane, &ines] {
        who.post(&address(&jane), balance(&site, &ines)).refused(403);
        who.post("/account/logbook/opening-balance/999999", balance(&site, &ines)).refused(403);
    }
    desk.post("/account/logbook/opening-balance/999999", balance(&site, &ines)).refused(404);
    let named = |body: Value| desk.post(&address(&jane), body).refused(422).bad_fields();
    assert_eq!(named(json!({})), ["entry_date", "instructor", "time"]);
    let now = site.now();
    assert_eq!(named(json!({"time": 0, "entry_date": now, "instructor": ines.id})), ["time"]);
    assert_eq!(
        named(json!({"time": 60_001, "skills": {}, "entry_date": now, "instructor": ines.id})),
        ["time", "skills"]
    );
    let bad = json!({"skills": "10101,7", "entry_date": now + 3600, "instructor": jane.id, "tunnel": 99});
    assert_eq!(named(bad), ["entry_date", "tunnel", "skills", "instructor"]);
    let too_high = json!({"skills": ["10101", "11301"], "entry_date": now, "instructor": ines.id});
    assert_eq!(named(too_high), ["instructor"], "one signature for all of it");
    assert_eq!(site.rows()["entry_events"], 0);
}

#[test]
fn a_balance_is_refused_or_taken_out_as_a_whole_and_the_member_cannot_touch_it() {
    let site = Site::open();
    let (jane, ines, desk) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]), site.desk());
    let enter = || desk.post(&address(&jane), balance(&site, &ines)).ok().json()["entry_id"].as_i64().unwrap();
    let first = enter();
    for body in [json!({"comment": "x"}), json!({"status": "cancelled"}), json!({"status": "open"})] {
        let refusal = jane.put(&path(first), body).refused(403);
        assert!(refusal.json()["message"].as_str().unwrap().contains("not signed yet"), "{refusal}");
    }
    jane.delete(&format!("/account/logbook/{first}")).refused(403);
    let flight = format!("/account/logbook/time/{first}");
    for refusal in [
        jane.put(&flight, json!({"time": 600})).refused(409),
        desk.put(&flight, json!({"time": 600})).refused(409),
        desk.put(&path(first + 4), json!({"comment": "x"})).refused(409),
        desk.put(&path(first + 4), json!({"status": "cancelled"})).refused(409),
    ] {
        assert_eq!(refusal.json()["code"], "entry_state", "{refusal}");
        assert!(refusal.json()["message"].as_str().unwrap().contains("not signed yet"), "{refusal}");
    }
    jane.post(&act(first, "sign"), json!({})).refused(403);
    ines.put(&path(first + 4), json!({"comment_denial": "no page for that"})).ok();
    assert_eq!(count(&list(&jane, "denied", &jane)), 2);
    assert_eq!((site.notices(&desk), site.notices(&jane).len()), (vec!["notice.opening_denied".to_owned()], 0));
    desk.delete(&format!("/account/logbook/{first}")).ok();
    assert_eq!(count(&list(&jane, "all", &jane)), 0);
    assert_eq!(jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().total(), 0);
    desk.delete(&format!("/account/logbook/{}", enter())).ok();
    assert_eq!(
        (site.notices(&ines), site.notices(&jane).len()),
        (["opening_asked", "opening_asked", "opening_withdrawn"].map(|one| format!("notice.{one}")).to_vec(), 0)
    );
    let again = enter();
    let taken = json!({"skills": ["10102"], "entry_date": site.now(), "instructor": ines.id});
    assert_eq!(desk.post(&address(&jane), taken).refused(422).bad_fields(), ["skills"]);
    ines.put(&path(again), json!({"status": "open"})).ok();
    site.admin().post(&act(again, "suspend"), json!({})).ok();
    assert_eq!(flown(&jane), "15:30", "a suspended part does not count");
}

#[test]
fn nobody_signs_their_own_balance() {
    let site = Site::open();
    let ines = site.signer("ines", &[("Instructor", "4")]);
    let body = balance(&site, &ines);
    assert_eq!(site.desk().post(&address(&ines), body).refused(422).bad_fields(), ["instructor"]);
}

#[test]
fn what_levels_require_is_not_asked_of_a_balance() {
    let site = Site::open();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    let skills = "11401,11402,11403,11404,11405,11406,11407,11408,11409";
    let body = json!({"skills": skills, "entry_date": site.now(), "instructor": ines.id});
    let first = site.desk().post(&address(&jane), body).ok().json()["entry_id"].as_i64().unwrap();
    ines.post(&act(first, "sign"), json!({})).ok();
    assert_eq!(site.holdings(&jane), ["Flyer 4"]);
}
