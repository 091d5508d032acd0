//! A signature is for the version that the signer was shown: if the entry changed meanwhile, the signature is refused
//! and the signer asked again.

use super::{act, ask, learner_and_instructor, path, row};
use crate::harness::{Caller, Reply, Site};
use serde_json::{Value, json};

/// The entry in this signer's list of waiting requests.
fn waiting(signer: &Caller, entry_id: i64) -> Value {
    let all = signer.get("/account/logbook/requests").ok().json();
    let rows = all.as_array().expect("a list");
    rows.iter().find(|row| row["entry_id"] == entry_id).cloned().expect("it waits")
}

/// The contract's body of an edit, as a client fills it from the displayed row.
fn edit_of(row: &Value) -> Value {
    json!({
        "cat_group": 1, "cat_id": 1, "id": row["id"], "entry_id": row["entry_id"], "author_id": row["author_id"],
        "entry_date": row["entry_date"], "time": row["time"], "tunnel": row["tunnel"], "skill": row["skill"],
        "comment": row["comment"], "instructor": row["instructor"], "comments_instructor": "clean", "comment_denial": "",
    })
}

fn changed(answer: &Reply) {
    assert_eq!(answer.json()["code"], "entry_changed", "{answer}");
}

#[test]
fn an_entry_that_the_member_changed_after_the_look_is_not_signed_by_any_way() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let seen = waiting(&ines, entry_id);
    assert_eq!(seen["version"], 1);
    jane.put(&path(entry_id), json!({"skill": "10102", "time": 300})).ok();
    let version = &seen["version"];
    for body in [json!({"version": version}), json!({})] {
        changed(&ines.post(&act(entry_id, "sign"), body).refused(409));
    }
    let stale = json!({"version": version, "comment_denial": "no"});
    changed(&ines.post(&act(entry_id, "deny"), stale).refused(409));
    let blind = [json!({"status": "open"}), json!({"comments_instructor": "clean"})];
    for body in blind.into_iter().chain([
        json!({"status": "open", "version": version}),
        json!({"comments_instructor": "clean", "version": version.to_string()}),
        json!({"comment_denial": "no", "version": version}),
        json!({"status": "open", "skill": "10102"}),
        edit_of(&seen),
    ]) {
        changed(&ines.put(&path(entry_id), body).refused(409));
    }
    assert_eq!(row(&jane, entry_id)["status"], "pending");
    assert_eq!(site.events(entry_id).len(), 1);

    let now = waiting(&ines, entry_id);
    assert!(now["version"].as_i64() > version.as_i64() && now["skill"] == "10102" && now["time"] == "300", "{now}");
    ines.post(&act(entry_id, "sign"), json!({"version": now["version"]})).ok();
    assert_eq!((&row(&jane, entry_id)["status"], &row(&jane, entry_id)["skill"]), (&json!("open"), &json!("10102")));
}

#[test]
fn a_client_that_knows_the_contract_alone_signs_with_the_fields_that_it_shows() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let stale = edit_of(&waiting(&ines, entry_id));
    for change in [json!({"comment": "twice"}), json!({"time": 5}), json!({"entry_date": site.now() - 60})] {
        jane.put(&path(entry_id), change.clone()).ok();
        changed(&ines.put(&path(entry_id), stale.clone()).refused(409));
    }
    let fresh = edit_of(&waiting(&ines, entry_id));
    assert_eq!(ines.put(&path(entry_id), fresh).ok().json()["entry_status"], "open");
}

#[test]
fn what_was_asked_for_anew_is_not_what_a_stale_page_shows() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let seen = waiting(&ines, entry_id);
    ines.post(&act(entry_id, "deny"), json!({"comment_denial": "no", "version": seen["version"]})).ok();
    jane.put(&path(entry_id), json!({"skill": "10102"})).ok();
    changed(&ines.post(&act(entry_id, "sign"), json!({"version": seen["version"]})).refused(409));
    changed(&ines.put(&path(entry_id), edit_of(&seen)).refused(409));
    // The signer was notified of the new request.
    ines.put(&path(entry_id), json!({"comments_instructor": "clean"})).ok();
}

#[test]
fn an_edit_that_changes_nothing_is_no_new_version_and_another_signer_is_told_of_this_one() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let other = site.signer("other", &[("Instructor", "4")]);
    let entry_id = ask(&site, &jane, "10101", &ines);
    jane.put(&path(entry_id), json!({"comment": "", "skill": "10101"})).ok();
    assert_eq!(waiting(&ines, entry_id)["version"], 1);
    jane.put(&path(entry_id), json!({"instructor": other.id, "comment": "with you"})).ok();
    other.put(&path(entry_id), json!({"status": "open"})).ok();
    assert_eq!(row(&jane, entry_id)["status"], "open");
}

#[test]
fn a_version_is_a_number_of_one_or_more() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    for wrong in [json!(0), json!(-1), json!("x"), json!([1]), json!(1.5)] {
        let body = json!({"version": wrong, "comment_denial": "no", "status": "open"});
        for answer in [
            ines.post(&act(entry_id, "sign"), body.clone()),
            ines.post(&act(entry_id, "deny"), body.clone()),
            ines.put(&path(entry_id), body.clone()),
        ] {
            assert_eq!(answer.refused(422).bad_fields(), ["version"]);
        }
    }
}

#[test]
fn a_denial_is_of_the_version_or_the_values_that_it_names_and_without_any_of_the_entry_as_it_is() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let mut stale = edit_of(&waiting(&ines, entry_id));
    stale["comment_denial"] = json!("late stops");
    let denial = json!({"comment_denial": "late stops"});
    let edit = |body: &Value| ines.put(&path(entry_id), body);
    let deny = |body: &Value| ines.post(&act(entry_id, "deny"), body);
    for way in [&edit as &dyn Fn(&Value) -> Reply, &deny] {
        for _ in 0..2 {
            jane.put(&path(entry_id), json!({"comment": site.next_number().to_string()})).ok();
        }
        changed(&ines.put(&path(entry_id), &stale).refused(409));
        assert_eq!(way(&denial).ok().json()["entry_status"], "denied");
        assert_eq!(row(&jane, entry_id)["comment_denial"], "late stops");
    }
}
