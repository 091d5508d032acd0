//! Safety briefs and trainings are signed like skills, and are required for skills.

use super::{SKILLS, ask, list, path, wish};
use crate::harness::Site;
use serde_json::json;
use std::time::Duration;

#[test]
fn a_brief_that_is_signed_opens_the_way_to_the_first_skill() {
    let site = Site::open();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "1")]));
    let brief = ask(&site, &jane, "10001", &ines);
    jane.post(SKILLS, wish(&site, "10101", &ines)).refused(422);
    let waiting = ines.get("/account/logbook/requests").ok().json();
    assert_eq!((&waiting[0]["kind"], &waiting[0]["cat_group"]), (&json!("safety"), &json!("Flyer")));
    assert_eq!(waiting[0]["skill_name"], "Flyer safety brief before the first flight");
    ines.put(&path(brief), json!({"status": "open"})).ok();
    assert_eq!(list(&jane, "all", &jane), json!([]), "no skill yet");
    for path in [format!("{SKILLS}open/{}", jane.id), format!("/account/logbook/mobile/skills/{}", jane.id)] {
        let rows = jane.get(&path).rows();
        assert_eq!((rows.len(), &rows[0]["kind"], &rows[0]["status"]), (1, &json!("safety"), &json!("open")), "{path}");
        assert_eq!((&rows[0]["entry_id"], &rows[0]["skill"]), (&json!(brief), &json!("10001")));
    }
    ask(&site, &jane, "10101", &ines);
    assert_eq!(jane.post(SKILLS, wish(&site, "10001", &ines)).refused(409).json()["code"], "skill_taken");
}

#[test]
fn a_training_keeps_its_programme_current_and_is_held_again() {
    let site = Site::open();
    let ines = site.signer("ines", &[("Instructor", "1")]);
    let trainer = site.signer("trainer", &[("Trainer", "1")]);
    site.advance(Duration::from_secs(400 * 86_400));
    let (ines, trainer) = (site.again(&ines), site.again(&trainer));
    site.brief(&trainer, "Trainer");
    let current = || ines.get("/account/profile/user").ok().json()["currency_instructor"].clone();
    assert_eq!(current(), 0);
    let other = site.signer("other", &[("Instructor", "4")]);
    assert_eq!(ines.post(SKILLS, wish(&site, "30002", &other)).refused(422).bad_fields(), ["instructor"]);
    let training = ask(&site, &ines, "30002", &trainer);
    ines.post(SKILLS, wish(&site, "30002", &trainer)).refused(409);
    assert_eq!(current(), 0, "asked for is not held");
    trainer.put(&path(training), json!({"comments_instructor": "held today"})).ok();
    assert_eq!(current(), 1);
    ask(&site, &ines, "30002", &trainer);
}

#[test]
fn a_suspended_training_no_longer_counts() {
    let site = Site::open();
    let (ines, trainer) = (site.signer("ines", &[("Instructor", "1")]), site.signer("trainer", &[("Trainer", "1")]));
    site.untrain(&ines);
    let record = json!({"skill": "30002", "entry_date": site.now(), "member_id": ines.id});
    let training = trainer.post(SKILLS, record).ok().json()["entry_id"].as_i64().unwrap();
    let current = || ines.get("/account/profile/user").ok().json()["currency_instructor"].clone();
    assert_eq!(current(), 1);
    site.admin().post(&super::act(training, "suspend"), json!({})).ok();
    assert_eq!(current(), 0);
}

#[test]
fn what_waits_for_a_signature_is_not_signed_once_a_prerequisite_is_gone() {
    let site = Site::open();
    let (jane, ines, admin) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]), site.admin());
    let sign = |entry_id: i64| {
        let by_edit = ines.put(&path(entry_id), json!({"status": "open"}));
        (by_edit.status == 422).then(|| {
            let by_event = ines.post(&super::act(entry_id, "sign"), json!({})).refused(422);
            assert_eq!(
                (by_edit.bad_fields(), by_event.bad_fields()),
                (vec!["skill".to_owned()], vec!["skill".to_owned()])
            );
            by_edit.json()["errors"][0]["message"].as_str().unwrap().to_owned()
        })
    };
    let brief = ask(&site, &jane, "10001", &ines);
    assert_eq!(sign(brief), None);
    let (skill, denied) = (ask(&site, &jane, "10101", &ines), ask(&site, &jane, "10102", &ines));
    admin.post(&super::act(brief, "suspend"), json!({})).ok();
    assert!(sign(skill).unwrap().contains("Flyer safety brief before the first flight"));
    ines.put(&path(denied), json!({"comment_denial": "the brief first"})).ok();
    admin.post(&super::act(brief, "reinstate"), json!({})).ok();
    assert_eq!(sign(skill), None);

    site.hold(&jane, "Flyer", "1", "", site.now());
    let second = ask(&site, &jane, "10201", &ines);
    site.change(|tx| Ok(tx.run("DELETE FROM holdings WHERE member_id = ?1", [jane.id])?));
    assert!(sign(second).unwrap().contains("Flyer Level 1"));
    assert_eq!(super::row(&jane, second)["status"], "pending");
}

#[test]
fn a_suspended_brief_is_said_to_be_suspended_wherever_it_is_missed() {
    let site = Site::open();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    let brief = ask(&site, &jane, "10001", &ines);
    ines.put(&path(brief), json!({"status": "open"})).ok();
    site.admin().post(&super::act(brief, "suspend"), json!({})).ok();
    let record = |skill: &str| json!({"skill": skill, "entry_date": site.now(), "member_id": jane.id});
    for refusal in [
        jane.post(SKILLS, wish(&site, "10101", &ines)).refused(422).json()["errors"][0]["message"].clone(),
        ines.post(SKILLS, record("10101")).refused(422).json()["errors"][0]["message"].clone(),
        jane.post(SKILLS, wish(&site, "10001", &ines)).refused(409).json()["message"].clone(),
        ines.post(SKILLS, record("10001")).refused(409).json()["message"].clone(),
        jane.get(&format!("/account/logbook/category/{}", jane.id)).ok().json()["flyerOption"]["disabled"].clone(),
    ] {
        assert!(refusal.as_str().unwrap().contains("suspended"), "{refusal}");
    }
}
