//! Requests for a signature: making, editing and withdrawing them.

use super::{DAY, SKILLS, ask, learner_and_instructor, list, path, row, wish};
use crate::harness::{Caller, Site};
use serde_json::json;

#[test]
fn what_is_asked_for_waits_for_the_named_signer_and_has_the_contracts_fields() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let body = json!({
        "cat_group": "Flyer", "cat_id": "1", "cat_name": "whatever", "entry_date": site.now() * 1000, "entry_id": "",
        "comment": "please", "instructor": ines.id, "instructor_name": "", "comments_instructor": "", "comment_denial": "",
        "time": "0:12", "skill": 10101, "skill_name": "", "tunnel_name": "", "tunnel": "7", "status": "",
    });
    let made = jane.post(SKILLS, body).ok();
    assert_eq!((made.status, &made.json()["entry_status"]), (201, &json!("pending")));
    let entry_id = made.json()["entry_id"].as_i64().unwrap();
    let expected = json!({
        "id": entry_id, "entry_id": entry_id, "member_id": jane.id, "member_name": "jane", "kind": "skill", "status": "pending",
        "cat_group": "Flyer", "cat_id": "1", "cat_name": "Flyer Level 1", "skill": "10101",
        "skill_name": "Hand signals, seen and answered", "instructor": ines.id.to_string(), "instructor_name": "ines",
        "tunnel": "7", "tunnel_name": "Windwerk", "entry_date": site.now(), "approval_date": null, "author_id": jane.id,
        "comment": "please", "comments_instructor": "", "comment_denial": "", "time": "12", "opening": false, "created_at": site.now(), "version": 1,
    });
    assert_eq!(row(&jane, entry_id), expected);
    assert_eq!(site.notices(&ines), ["notice.signoff_asked"]);
    assert_eq!(site.events(entry_id), [format!("- pending {}", jane.id)]);
    assert_eq!(jane.get("/account/profile/user").ok().json()["total_flight_time"], "0:00", "no flight of its own");
}

#[test]
fn every_mistake_is_named_at_once_and_nothing_is_written() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    site.born(&jane, site.now() - 100 * DAY);
    let named = |body: serde_json::Value| jane.post(SKILLS, body).refused(422).bad_fields();
    assert_eq!(named(json!({})), ["skill", "entry_date", "instructor"]);
    let bad = json!({"skill": "1", "entry_date": site.now() + 3600, "instructor": ines.id, "tunnel": 99, "time": "7"});
    assert_eq!(named(bad), ["entry_date", "tunnel", "skill"]);
    let bad = json!({"skill": [1], "entry_date": "x", "instructor": "ines", "tunnel": {}, "time": 601, "comment": 1.5, "cat_group": []});
    assert_eq!(named(bad), ["cat_group", "entry_date", "time", "tunnel", "instructor", "skill"]);
    let mut early = wish(&site, "10101", &ines);
    early["entry_date"] = (site.now() - 101 * DAY).into();
    assert_eq!(named(early), ["entry_date"]);
    assert!(list(&jane, "all", &jane).as_array().unwrap().is_empty());
    assert!(site.notices(&ines).is_empty());
}

#[test]
fn whoever_may_not_sign_cannot_be_asked() {
    let site = Site::open();
    let (jane, _) = learner_and_instructor(&site);
    let low = site.signer("low", &[("Instructor", "1")]);
    let (unlisted, lapsed) =
        (site.signer("unlisted", &[("Instructor", "4")]), site.signer("lapsed", &[("Instructor", "4")]));
    let (banned, unconfirmed) =
        (site.signer("banned", &[("Instructor", "4")]), site.signer("unconfirmed", &[("Instructor", "4")]));
    site.unlist(&unlisted);
    site.untrain(&lapsed);
    site.ban(&banned);
    site.unconfirm(&unconfirmed);
    site.hold(&jane, "Flyer", "1", "", site.now());
    let mut said = std::collections::BTreeSet::new();
    for (skill, instructor) in [
        ("10101", &unlisted),
        ("10101", &lapsed),
        ("10101", &banned),
        ("10101", &unconfirmed),
        ("10101", &jane),
        ("10101", &site.member("mark")),
        ("10101", &site.admin()),
        ("10201", &low),
    ] {
        let reply = jane.post(SKILLS, wish(&site, skill, instructor)).refused(422);
        assert_eq!(reply.bad_fields(), ["instructor"], "{}: {reply}", instructor.name);
        said.insert(reply.json()["errors"][0]["message"].to_string());
    }
    assert_eq!(said.len(), 5, "each reason has its words: {said:?}");
    let nobody = json!({"skill": "10101", "entry_date": site.now(), "instructor": 999_999});
    assert_eq!(jane.post(SKILLS, nobody).refused(422).bad_fields(), ["instructor"]);
    ask(&site, &jane, "10101", &low);
}

#[test]
fn a_brief_comes_first_and_then_the_levels_in_their_order() {
    let site = Site::open();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    let refused = |skill: &str| {
        let reply = jane.post(SKILLS, wish(&site, skill, &ines)).refused(422);
        assert_eq!(reply.bad_fields(), ["skill"]);
        reply.json()["errors"][0]["message"].as_str().unwrap().to_owned()
    };
    assert!(refused("10101").contains("Flyer safety brief before the first flight"));
    site.brief(&jane, "Flyer");
    assert!(refused("10201").contains("Flyer Level 1"));
    site.hold(&jane, "Flyer", "1", "", site.now());
    assert!(refused("11301").contains("Backflying Level 2"));
    site.hold(&jane, "Flyer", "2", "Formation", site.now());
    assert!(refused("12301").contains("Backflying Level 2"), "a track does not stand in for another");
    ask(&site, &jane, "10201", &ines);
}

#[test]
fn a_skill_is_asked_for_once_and_again_after_it_was_withdrawn() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let first = ask(&site, &jane, "10101", &ines);
    let again = || jane.post(SKILLS, wish(&site, "10101", &ines));
    assert_eq!(again().refused(409).json()["code"], "skill_taken");
    jane.put(&path(first), json!({"status": "cancelled"})).ok();
    assert_eq!(site.notices(&ines), ["notice.signoff_asked", "notice.signoff_withdrawn"]);
    let second = again().ok().json()["entry_id"].as_i64().unwrap();
    ines.put(&path(second), json!({"status": "open"})).ok();
    assert_eq!(again().refused(409).json()["code"], "skill_taken");
    let admin = site.admin();
    admin.post(&super::act(second, "suspend"), json!({})).ok();
    assert_eq!(again().refused(409).json()["code"], "skill_taken", "a pause is not gone round by asking anew");
    jane.put(&path(first), json!({"comment": "back"})).refused(409);
}

#[test]
fn an_edit_replaces_what_it_names_while_nobody_has_signed() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let other = site.signer("other", &[("Instructor", "1")]);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let edit = json!({
        "cat_group": 1, "cat_id": 1, "author_id": jane.id, "id": entry_id, "entry_id": entry_id, "skill": "10102", "time": 7,
        "instructor": other.id.to_string(), "tunnel": "7", "comment": "first try", "comments_instructor": "mine", "comment_denial": "no",
    });
    assert_eq!(jane.put(&path(entry_id), edit).ok().json()["entry_status"], "pending");
    let row = row(&jane, entry_id);
    for (field, value) in [
        ("skill", "10102"),
        ("time", "7"),
        ("comment", "first try"),
        ("comments_instructor", ""),
        ("comment_denial", ""),
    ] {
        assert_eq!(row[field], value, "{field}: what the signer says is the signer's");
    }
    assert_eq!(site.notices(&ines), ["notice.signoff_asked", "notice.signoff_withdrawn"], "the former signer is told");
    assert_eq!(site.notices(&other), ["notice.signoff_asked"], "and the new one");
    assert_eq!(jane.put(&path(entry_id), json!({"entry_id": entry_id + 1})).refused(422).bad_fields(), ["entry_id"]);
    assert_eq!(jane.put(&path(entry_id), json!({"status": "signed"})).refused(422).bad_fields(), ["status"]);
    assert_eq!(jane.put(&path(entry_id), json!({"skill": "10201"})).refused(422).bad_fields(), ["skill", "instructor"]);
    ask(&site, &jane, "10103", &ines);
    jane.put(&path(entry_id), json!({"skill": "10103"})).refused(409);
    assert_eq!(site.events(entry_id).len(), 1, "an edit is no move");
}

#[test]
fn somebody_elses_entry_is_not_there_and_a_flight_is_no_skill() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let (mark, other) = (site.flyer("mark"), site.signer("other", &[("Instructor", "4")]));
    let entry_id = ask(&site, &jane, "10101", &ines);
    for body in [json!({"comment": "x"}), json!({"status": "open"}), json!({"comment_denial": "x"})] {
        mark.put(&path(entry_id), &body).refused(404);
        other.put(&path(entry_id), &body).refused(403);
    }
    other.delete(&format!("/account/logbook/{entry_id}")).refused(403);
    for action in ["sign", "deny", "suspend", "reinstate"] {
        mark.post(&super::act(entry_id, action), json!({"comment_denial": "x"})).refused(404);
    }
    mark.get(&super::act(entry_id, "events")).refused(404);
    for nothing in ["999999", "x", "-1", "0"] {
        jane.put(&format!("{SKILLS}{nothing}"), json!({})).refused(404);
    }
    let time = jane.post("/account/logbook/time/", json!({"entry_date": site.now(), "time": 5})).ok();
    jane.put(&path(time.json()["entry_id"].as_i64().unwrap()), json!({"comment": "x"})).refused(404);
    site.desk().put(&path(entry_id), json!({"comment": "typed at the desk"})).ok();
    assert_eq!(row(&jane, entry_id)["comment"], "typed at the desk");
}

#[test]
fn an_edit_that_names_a_state_which_no_edit_leads_to_is_refused_and_changes_nothing() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let (desk, admin) = (site.desk(), site.admin());
    let refused = |who: &Caller, entry_id: i64, status: &str| {
        let before = row(&jane, entry_id);
        let body = json!({"status": status, "comment": "changed"});
        assert_eq!(who.put(&path(entry_id), body).refused(409).json()["code"], "entry_state", "{status}");
        assert_eq!(row(&jane, entry_id), before, "{status}");
    };
    let waiting = ask(&site, &jane, "10101", &ines);
    let denied = ask(&site, &jane, "10102", &ines);
    ines.put(&path(denied), json!({"comment_denial": "late stops"})).ok();
    let asked = site.notices(&ines).len();
    refused(&jane, waiting, "denied");
    refused(&jane, denied, "cancelled");
    for staff in [&desk, &admin] {
        ["suspended", "denied"].into_iter().for_each(|status| refused(staff, waiting, status));
        ["open", "not_current", "suspended", "cancelled"].into_iter().for_each(|status| refused(staff, denied, status));
    }
    assert_eq!(site.notices(&ines).len(), asked);
    // Clients send the present state back.
    desk.put(&path(waiting), json!({"status": "pending", "comment": "at the desk"})).ok();
    desk.put(&path(denied), json!({"status": "denied", "comment": "at the desk"})).ok();
    assert_eq!(row(&jane, denied)["status"], "pending");
}

#[test]
fn the_number_and_the_status_that_a_client_echoes_in_a_new_entry_do_not_matter() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let mut request = wish(&site, "10101", &ines);
    for (field, value) in
        [("entry_id", json!("9".repeat(200))), ("id", json!("new".repeat(60))), ("status", json!("x".repeat(300)))]
    {
        request[field] = value;
    }
    assert_eq!(jane.post(SKILLS, request).ok().json()["entry_status"], "pending");
}

#[test]
fn a_request_that_another_person_withdraws_is_told_to_the_member_and_to_the_signer() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let desk = site.desk();
    let texts = |who: &Caller| {
        let notices = who.get("/account/notifications").ok().json();
        notices.as_array().unwrap().iter().map(|one| one["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let cancel = |entry_id: i64| desk.put(&path(entry_id), json!({"status": "cancelled"})).ok();
    let delete = |entry_id: i64| desk.delete(&format!("/account/logbook/{entry_id}")).ok();
    for (n, withdraw) in [(1, &cancel as &dyn Fn(i64) -> crate::harness::Reply), (2, &delete)] {
        withdraw(ask(&site, &jane, "10101", &ines));
        assert_eq!(site.notices(&jane), vec!["notice.request_withdrawn"; n]);
        assert_eq!(site.notices(&ines)[2 * n - 2..], ["notice.signoff_asked", "notice.signoff_withdrawn"]);
    }
    assert!(texts(&jane)[0].contains("was withdrawn at the front desk"), "{:?}", texts(&jane));
    assert!(texts(&ines)[0].starts_with("The request of jane to sign"), "{:?}", texts(&ines));
}
