//! Unsigned entries can be deleted; signed ones are part of the record.

use super::{act, ask, learner_and_instructor, path, row};
use crate::harness::Site;
use serde_json::json;

fn entry(entry_id: i64) -> String {
    format!("/account/logbook/{entry_id}")
}

#[test]
fn own_skills_that_nobody_signed_are_deleted_and_their_moves_stay() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    for (skill, edit) in [
        ("10101", None),
        ("10102", Some((&jane, json!({"status": "cancelled"})))),
        ("10103", Some((&ines, json!({"comment_denial": "x"})))),
    ] {
        let entry_id = ask(&site, &jane, skill, &ines);
        edit.into_iter().for_each(|(who, body)| _ = who.put(&path(entry_id), body).ok());
        ines.delete(&entry(entry_id)).refused(403);
        jane.delete(&entry(entry_id)).ok();
        jane.delete(&entry(entry_id)).refused(404);
        jane.get(&act(entry_id, "events")).refused(404);
        let events = site.events(entry_id);
        assert!(events.last().unwrap().ends_with(&format!(" deleted {}", jane.id)), "{events:?}");
        ask(&site, &jane, skill, &ines);
    }
}

#[test]
fn what_was_signed_stays_for_everybody() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let admin = site.admin();
    let entry_id = ask(&site, &jane, "10101", &ines);
    ines.put(&path(entry_id), json!({"status": "open"})).ok();
    for status in ["open", "suspended"] {
        for who in [&jane, &site.desk(), &admin] {
            let refusal = who.delete(&entry(entry_id)).refused(409).json();
            assert_eq!(refusal["code"], "entry_signed");
            assert!(refusal["message"].as_str().unwrap().contains("suspend it instead"), "{refusal}");
        }
        assert_eq!(row(&jane, entry_id)["status"], status);
        if status == "open" {
            admin.post(&act(entry_id, "suspend"), json!({})).ok();
        }
    }
}

#[test]
fn the_desk_and_the_admins_take_out_what_anybody_asked_for() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    for who in [site.desk(), site.admin()] {
        let entry_id = ask(&site, &jane, "10101", &ines);
        site.flyer(&format!("mark{entry_id}")).delete(&entry(entry_id)).refused(404);
        who.delete(&entry(entry_id)).ok();
        assert!(site.events(entry_id)[1].ends_with(&format!("deleted {}", who.id)));
    }
}

#[test]
fn a_signer_hears_that_a_request_is_gone_but_not_of_one_that_waits_no_longer() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let waiting = ask(&site, &jane, "10101", &ines);
    jane.delete(&entry(waiting)).ok();
    assert_eq!(site.notices(&ines), ["notice.signoff_asked", "notice.signoff_withdrawn"]);
    assert!(site.notices(&jane).is_empty());
    let denied = ask(&site, &jane, "10101", &ines);
    ines.put(&path(denied), json!({"comment_denial": "x"})).ok();
    jane.delete(&entry(denied)).ok();
    assert_eq!(site.notices(&ines)[2..], ["notice.signoff_asked"]);
}
