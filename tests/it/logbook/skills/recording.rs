//! A signer records a skill that he saw: the entry is open at once, with himself as the signer.

use super::{SKILLS, count, learner_and_instructor, list, row};
use crate::harness::{Caller, Site};
use serde_json::{Value, json};

fn record(site: &Site, skill: &str, member: &Caller) -> Value {
    json!({"skill": skill, "entry_date": site.now(), "member_id": member.id.to_string(), "comments_instructor": "clean", "time": 9})
}

#[test]
fn what_a_qualified_signer_records_is_open_at_once() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let made = ines.post(SKILLS, record(&site, "10101", &jane)).ok().json();
    assert_eq!(made["entry_status"], "open");
    let entry_id = made["entry_id"].as_i64().unwrap();
    let row = row(&jane, entry_id);
    assert_eq!((&row["instructor"], &row["author_id"]), (&json!(ines.id.to_string()), &json!(ines.id)));
    assert_eq!((&row["approval_date"], &row["comments_instructor"]), (&json!(site.now()), &json!("clean")));
    assert_eq!(site.events(entry_id), [format!("- open {}", ines.id)]);
    assert_eq!((site.notices(&jane), site.notices(&ines).len()), (vec!["notice.signed".to_owned()], 0));
    let again = ines.post(SKILLS, record(&site, "10101", &jane)).refused(409);
    assert_eq!(again.json()["code"], "skill_taken");
}

#[test]
fn whoever_may_not_sign_it_learns_nothing_and_changes_nothing() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let (low, unlisted) = (site.signer("low", &[("Instructor", "1")]), site.signer("unlisted", &[("Instructor", "4")]));
    site.unlist(&unlisted);
    site.hold(&jane, "Flyer", "1", "", site.now());
    let mut nobody = jane.clone();
    nobody.id = 999_999;
    for (who, skill) in
        [(&low, "10201"), (&unlisted, "10101"), (&site.member("mark"), "10101"), (&site.admin(), "10101")]
    {
        for whom in [&jane, &nobody] {
            who.post(SKILLS, record(&site, skill, whom)).refused(403);
        }
    }
    assert_eq!(ines.post(SKILLS, record(&site, "10101", &nobody)).refused(422).bad_fields(), ["member_id"]);
    assert_eq!(ines.post(SKILLS, record(&site, "1", &jane)).refused(422).bad_fields(), ["skill"]);
    assert_eq!(ines.post(SKILLS, record(&site, "11301", &jane)).refused(422).bad_fields(), ["skill"]);
    let mut by_another = record(&site, "10101", &jane);
    by_another["instructor"] = low.id.into();
    assert_eq!(ines.post(SKILLS, by_another).refused(422).bad_fields(), ["instructor"]);
    assert_eq!(count(&list(&jane, "all", &jane)), 0);
}

#[test]
fn a_signer_who_names_himself_as_the_member_asks_like_everybody() {
    let site = Site::open();
    let ines = site.signer("ines", &[("Instructor", "4")]);
    site.brief(&ines, "Flyer");
    assert_eq!(ines.post(SKILLS, record(&site, "10101", &ines)).refused(422).bad_fields(), ["instructor"]);
    let mut own = record(&site, "10101", &ines);
    own["instructor"] = ines.id.into();
    assert_eq!(ines.post(SKILLS, own).refused(422).bad_fields(), ["instructor"]);
}
