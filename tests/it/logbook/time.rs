//! Flight time.

use crate::harness::{Caller, Site};
use serde_json::{Value, json};

const TIME: &str = "/account/logbook/time/";

fn add(caller: &Caller, body: Value) -> i64 {
    caller.post(TIME, body).ok().json()["entry_id"].as_i64().unwrap()
}

fn list(caller: &Caller, member: &Caller) -> Value {
    caller.get(&format!("{TIME}{}", member.id)).ok().json()
}

#[test]
fn an_entry_is_in_the_logbook_at_once_in_the_contracts_types() {
    let site = Site::open();
    let jane = site.member("jane");
    let entry_id = add(
        &jane,
        json!({"status": "", "entry_date": site.now(), "tunnel": "7", "comment": "first\nflight", "time": "1:05", "entry_id": ""}),
    );
    let row = list(&jane, &jane)[0].clone();
    assert_eq!(
        (row["id"].as_i64(), row["entry_id"].as_i64(), row["entry_date"].as_i64()),
        (Some(entry_id), Some(entry_id), Some(site.now()))
    );
    for (field, value) in
        [("status", "open"), ("tunnel", "7"), ("tunnel_name", "Windwerk"), ("comment", "first\nflight"), ("time", "65")]
    {
        assert_eq!(row[field], value, "{field}");
    }
    assert_eq!(jane.get("/account/profile/user").ok().json()["total_flight_time"], "1:05");
}

#[test]
fn existing_clients_enter_flight_time_by_another_path() {
    let site = Site::open();
    let jane = site.member("jane");
    let made =
        jane.post("/account/logbook/member/time/", json!({"entry_date": site.now(), "time": "15", "entry_id": ""}));
    assert_eq!(list(&jane, &jane)[0]["entry_id"], made.ok().json()["entry_id"]);
    assert_eq!(jane.get("/account/profile/user").ok().json()["total_flight_time"], "0:15");
}

#[test]
fn entries_are_listed_latest_flight_first_a_page_at_a_time() {
    let site = Site::open();
    let jane = site.member("jane");
    for days in [3, 1, 2] {
        add(&jane, json!({"entry_date": site.now() - days * 86_400, "time": days}));
    }
    let page = jane.get(&format!("{TIME}{}?limit=2", jane.id)).ok();
    let times: Vec<_> = page.rows().iter().map(|row| row["time"].as_str().unwrap().to_owned()).collect();
    assert_eq!((times, page.total()), (vec!["1".to_owned(), "2".to_owned()], 3));
}

#[test]
fn an_edit_replaces_what_it_names_and_the_total_follows() {
    let site = Site::open();
    let jane = site.member("jane");
    let entry_id = add(&jane, json!({"entry_date": site.now(), "time": 10, "comment": "kept"}));
    let path = format!("{TIME}{entry_id}");
    jane.put(&path, json!({"entry_id": entry_id, "id": "", "time": "25"})).ok();
    let row = list(&jane, &jane)[0].clone();
    assert_eq!((row["time"].as_str(), row["comment"].as_str()), (Some("25"), Some("kept")));
    jane.put(&format!("/account/logbook/time/{entry_id}"), json!({"comment": ""})).ok();
    assert_eq!(list(&jane, &jane)[0]["comment"], "", "an empty comment takes away what was");
    assert_eq!(jane.get("/account/profile/user").ok().json()["total_flight_time"], "0:25");
    assert_eq!(jane.put(&path, json!({"entry_id": entry_id + 1})).refused(422).bad_fields(), ["entry_id"]);
    jane.delete(&format!("/account/logbook/{entry_id}")).ok();
    jane.delete(&format!("/account/logbook/{entry_id}")).refused(404);
    assert_eq!(jane.get("/account/profile/user").ok().json()["total_flight_time"], "0:00");
}

#[test]
fn impossible_flights_are_refused_by_field() {
    let site = Site::open();
    let jane = site.member("jane");
    site.born(&jane, site.now() - 10 * 86_400);
    let named = |body: Value| jane.post(TIME, body).refused(422).bad_fields();
    assert_eq!(named(json!({})), ["entry_date", "time"]);
    assert_eq!(named(json!({"entry_date": site.now() + 3600, "time": 5})), ["entry_date"]);
    assert_eq!(named(json!({"entry_date": site.now() - 11 * 86_400, "time": 5})), ["entry_date"]);
    assert_eq!(named(json!({"entry_date": site.now(), "time": 0, "tunnel": "x"})), ["time", "tunnel"]);
    assert_eq!(named(json!({"entry_date": site.now(), "time": 601})), ["time"]);
    assert_eq!(named(json!({"entry_date": site.now(), "time": 5, "tunnel": 99})), ["tunnel"]);
    assert_eq!(site.rows()["entries"], 0);
}

#[test]
fn a_logbook_is_hidden_from_other_members_and_from_who_does_not_exist() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.flyer("mark"));
    mark.get(&format!("{TIME}{}", jane.id)).refused(403);
    for nobody in ["999", "x", "-1", "99999999999999999999"] {
        mark.get(&format!("{TIME}{nobody}")).refused(403);
        site.desk().get(&format!("{TIME}{nobody}")).refused(404);
    }
}

#[test]
fn desk_admin_and_current_instructors_read_every_logbook() {
    let site = Site::open();
    let jane = site.member("jane");
    add(&jane, json!({"entry_date": site.now(), "time": 5}));
    let instructor = site.instructor("ines");
    for reader in [site.desk(), site.admin(), instructor.clone()] {
        assert_eq!(list(&reader, &jane).as_array().unwrap().len(), 1);
    }
    site.advance(std::time::Duration::from_secs(400 * 86_400));
    site.again(&instructor).get(&format!("{TIME}{}", jane.id)).refused(403);
}

#[test]
fn somebody_elses_entry_is_not_there_but_for_the_desk() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let entry_id = add(&jane, json!({"entry_date": site.now(), "time": 5}));
    let before = list(&jane, &jane);
    mark.put(&format!("{TIME}{entry_id}"), json!({"time": 50})).refused(404);
    let ines = site.instructor("ines");
    ines.put(&format!("{TIME}{entry_id}"), json!({"time": 50})).refused(403);
    ines.delete(&format!("/account/logbook/{entry_id}")).refused(403);
    mark.delete(&format!("/account/logbook/{entry_id}")).refused(404);
    assert_eq!(list(&jane, &jane), before);
    site.desk().put(&format!("{TIME}{entry_id}"), json!({"time": 50})).ok();
    site.admin().delete(&format!("/account/logbook/{entry_id}")).ok();
}

#[test]
fn what_was_signed_cannot_be_deleted_and_what_was_not_can() {
    let site = Site::open();
    let jane = site.member("jane");
    for (status, refused) in
        [("open", true), ("suspended", true), ("pending", false), ("denied", false), ("cancelled", false)]
    {
        let path = format!("/account/logbook/{}", site.skill(&jane, status));
        if refused {
            assert_eq!(jane.delete(&path).refused(409).json()["code"], "entry_signed", "{status}");
        } else {
            jane.delete(&path).ok();
        }
    }
}
