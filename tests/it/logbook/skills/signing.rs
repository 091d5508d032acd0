//! Signing, denying and suspending: by whom, and with which consequences.

use super::{act, ask, count, learner_and_instructor, list, path, row};
use crate::harness::{Caller, Site};
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::catalogue::{Catalogue, LevelKey};
use tunneldesk::domain::ids::MemberId;

/// The skills that Flyer Level 1 requires.
fn first_level() -> Vec<&'static str> {
    let key = LevelKey { cat_group: "Flyer", cat_id: "1", track: "" };
    let level = Catalogue::built_in().find_level(key).unwrap();
    level.skills.iter().filter(|skill| skill.required).map(|skill| skill.skill.as_str()).collect()
}

#[test]
fn a_signer_signs_by_a_comment_or_by_saying_open() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let (one, two) = (ask(&site, &jane, "10101", &ines), ask(&site, &jane, "10102", &ines));
    site.advance(Duration::from_secs(60));
    for no_move_of_hers in ["suspended", "cancelled"] {
        let both = json!({"status": no_move_of_hers, "comments_instructor": "clean"});
        assert_eq!(ines.put(&path(one), both).refused(422).bad_fields(), ["status"]);
    }
    assert_eq!(ines.put(&path(one), json!({"comments_instructor": "clean"})).ok().json()["entry_status"], "open");
    ines.put(&path(two), json!({"status": "open", "skill": "10109", "comment": "mine", "entry_date": 1})).ok();
    let (first, second) = (row(&jane, one), row(&jane, two));
    assert_eq!((&first["status"], &first["approval_date"]), (&json!("open"), &json!(site.now())));
    assert_eq!((&first["comments_instructor"], &first["entry_date"]), (&json!("clean"), &json!(site.now() - 60)));
    assert_eq!(
        (&second["skill"], &second["comment"]),
        (&json!("10102"), &json!("")),
        "what was asked for is what is signed"
    );
    assert_eq!(site.events(one), [format!("- pending {}", jane.id), format!("pending open {}", ines.id)]);
    assert_eq!(site.notices(&jane), ["notice.signed", "notice.signed"]);
    assert_eq!(
        ines.put(&path(one), json!({"comments_instructor": "again"})).refused(409).json()["code"],
        "entry_state"
    );
    assert_eq!(jane.put(&path(one), json!({"comment": "x"})).refused(409).json()["code"], "entry_signed");
    assert_eq!(ines.put(&path(two), json!({"comment_denial": "late"})).refused(409).json()["code"], "entry_state");
}

#[test]
fn an_empty_edit_by_the_signer_says_what_it_takes() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    assert_eq!(ines.put(&path(entry_id), json!({"comment": "x"})).refused(422).bad_fields(), ["status"]);
    assert_eq!(ines.put(&path(entry_id), json!({"status": "denied"})).refused(422).bad_fields(), ["comment_denial"]);
    assert_eq!(row(&jane, entry_id)["status"], "pending");
}

#[test]
fn a_level_is_held_with_its_last_signature_and_lost_with_a_suspension() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let mut last = 0;
    for skill in first_level() {
        assert!(site.holdings(&jane).is_empty());
        last = ask(&site, &jane, skill, &ines);
        ines.put(&path(last), json!({"status": "open"})).ok();
    }
    assert_eq!(site.holdings(&jane), ["Flyer 1"]);
    let admin = site.admin();
    admin.post(&act(last, "suspend"), json!({})).ok();
    assert!(site.holdings(&jane).is_empty());
    assert_eq!(count(&list(&jane, "suspended", &jane)), 1);
    admin.post(&act(last, "suspend"), json!({})).refused(409);
    admin.post(&act(last, "reinstate"), json!({})).ok();
    assert_eq!(site.holdings(&jane), ["Flyer 1"]);
    admin.post(&act(last, "reinstate"), json!({})).refused(409);
    assert_eq!(
        site.events(last)[2..],
        [format!("open suspended {}", admin.id), format!("suspended open {}", admin.id)]
    );
    assert_eq!(site.notices(&jane)[first_level().len()..], ["notice.suspended", "notice.reinstated"]);
}

#[test]
fn a_refusal_has_its_reason_and_is_asked_anew() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    assert_eq!(ines.post(&act(entry_id, "deny"), json!({})).refused(422).bad_fields(), ["comment_denial"]);
    ines.put(&path(entry_id), json!({"comment_denial": "late stops", "comments_instructor": "good start"})).ok();
    let denied = row(&jane, entry_id);
    assert_eq!((&denied["status"], &denied["comment_denial"]), (&json!("denied"), &json!("late stops")));
    assert_eq!(ines.put(&path(entry_id), json!({"status": "open"})).refused(409).json()["code"], "entry_state");
    jane.put(&path(entry_id), json!({"status": "cancelled"})).refused(409);
    assert_eq!(jane.put(&path(entry_id), json!({"comment": "again"})).ok().json()["entry_status"], "pending");
    let asked = row(&jane, entry_id);
    assert_eq!((&asked["status"], &asked["comment_denial"]), (&json!("pending"), &json!("")));
    ines.put(&path(entry_id), json!({"status": "open"})).ok();
    let by = |who: &Caller| who.id;
    assert_eq!(
        site.events(entry_id),
        [
            format!("- pending {}", by(&jane)),
            format!("pending denied {}", by(&ines)),
            format!("denied pending {}", by(&jane)),
            format!("pending open {}", by(&ines))
        ]
    );
    assert_eq!(site.notices(&jane), ["notice.denied", "notice.signed"]);
    assert_eq!(site.notices(&ines), ["notice.signoff_asked", "notice.signoff_asked"]);
}

#[test]
fn authority_is_what_it_is_at_the_moment_of_signing() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let refused = |signer: &Caller| -> Value {
        assert_eq!(signer.post(&act(entry_id, "sign"), json!({})).refused(403).json()["code"], "not_allowed");
        signer.put(&path(entry_id), json!({"status": "open"})).refused(403).json()["message"].clone()
    };
    site.unlist(&ines);
    let unlisted = refused(&ines);
    site.qualify(&site.again(&ines), &[("Trainer", "1")]);
    assert_eq!(refused(&ines), unlisted, "a trainer signs for instructors, not for flyers");
    let lapsed = site.signer("lapsed", &[("Instructor", "4")]);
    let waiting = ask(&site, &jane, "10102", &lapsed);
    site.advance(Duration::from_secs(400 * 86_400));
    let (lapsed, jane) = (site.again(&lapsed), site.again(&jane));
    lapsed.put(&path(waiting), json!({"status": "open"})).refused(403);
    site.brief(&lapsed, "Instructor");
    lapsed.put(&path(waiting), json!({"status": "open"})).ok();
    assert_eq!(row(&jane, entry_id)["status"], "pending");
}

#[test]
fn nobody_signs_for_themselves_whatever_they_are() {
    let site = Site::open();
    let ines = site.signer("ines", &[("Instructor", "4"), ("Trainer", "4"), ("Examiner", "1")]);
    let other = site.signer("other", &[("Instructor", "4")]);
    site.brief(&ines, "Flyer");
    let entry_id = ask(&site, &ines, "10101", &other);
    ines.put(&path(entry_id), json!({"status": "open"})).refused(403);
    ines.post(&act(entry_id, "sign"), json!({})).refused(403);
    let admin = site.admin();
    site.qualify(&admin, &[("Instructor", "4")]);
    site.brief(&admin, "Flyer");
    let own = ask(&site, &admin, "10101", &other);
    admin.put(&path(own), json!({"status": "open"})).refused(403);
    admin.post(&act(own, "sign"), json!({})).refused(403);
    admin.post(&act(own, "suspend"), json!({})).refused(409);
    assert_eq!(site.events(own).len(), 1);
}

#[test]
fn the_desk_refuses_but_does_not_sign_and_only_an_admin_pauses() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let (desk, admin) = (site.desk(), site.admin());
    let entry_id = ask(&site, &jane, "10101", &ines);
    for staff in [&desk, &admin] {
        staff.post(&act(entry_id, "sign"), json!({})).refused(403);
        staff.put(&path(entry_id), json!({"status": "open"})).refused(403);
    }
    ines.put(&path(entry_id), json!({"status": "open"})).ok();
    for who in [&desk, &ines, &jane] {
        who.post(&act(entry_id, "suspend"), json!({})).refused(403);
    }
    admin.post(&act(entry_id, "suspend"), json!({})).ok();
    for who in [&desk, &ines, &jane] {
        who.post(&act(entry_id, "reinstate"), json!({})).refused(403);
    }
    let second = ask(&site, &jane, "10102", &ines);
    jane.post(&act(second, "deny"), json!({"comment_denial": "x"})).refused(403);
    for staff in [&desk, &admin] {
        staff.post(&act(second, "deny"), json!({"comment_denial": "x"})).refused(403);
        staff.put(&path(second), json!({"comment_denial": "x"})).refused(403);
    }
    ines.post(&act(second, "deny"), json!({"comment_denial": "not shown here"})).ok();
    assert_eq!(row(&jane, second)["comment_denial"], "not shown here");
    // A member of staff who is also an instructor signs as an instructor.
    site.qualify(&desk, &[("Instructor", "1")]);
    let third = ask(&site, &jane, "10103", &ines);
    desk.post(&act(third, "sign"), json!({"comments_instructor": "seen"})).ok();
    assert_eq!(row(&jane, third)["instructor"], desk.id.to_string(), "whoever signed is the signer");
}

#[test]
fn another_qualified_signer_may_stand_in_for_the_named_one() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let other = site.signer("other", &[("Instructor", "1")]);
    let entry_id = ask(&site, &jane, "10101", &ines);
    other.post(&act(entry_id, "deny"), json!({"comment_denial": "x"})).refused(403);
    other.post(&act(entry_id, "sign"), json!({})).ok();
    assert_eq!(row(&jane, entry_id)["instructor_name"], "other");
    assert_eq!(site.events(entry_id)[1], format!("pending open {}", other.id));
}

#[test]
fn sign_off_waits_for_a_confirmed_address() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    site.unconfirm(&jane);
    assert_eq!(ines.put(&path(entry_id), json!({"status": "open"})).refused(409).json()["code"], "email_not_confirmed");
    let recorded = json!({"skill": "10102", "entry_date": site.now(), "member_id": jane.id});
    assert_eq!(ines.post(super::SKILLS, recorded).refused(409).json()["code"], "email_not_confirmed");
    assert_eq!(row(&jane, entry_id)["status"], "pending");
}

#[test]
fn first_signers_stand_in_for_a_level_until_their_currency_lapses() {
    let site = Site::open();
    let (jane, first) = (site.member("jane"), site.member("first"));
    site.brief(&jane, "Flyer");
    site.change(|tx| {
        let new = tunneldesk::store::tables::signers::NewSigner {
            tunnel_id: Site::TUNNEL_ID,
            member_id: MemberId(first.id),
            cat_group: "Instructor",
            cat_id: "2",
            appointed_by: None,
        };
        Ok(tunneldesk::store::tables::signers::insert(tx, &new)?)
    });
    let entry_id = ask(&site, &jane, "10101", &first);
    first.put(&path(entry_id), json!({"status": "open"})).ok();
    let later = ask(&site, &jane, "10102", &first);
    site.advance(Duration::from_secs(400 * 86_400));
    site.again(&first).put(&path(later), json!({"status": "open"})).refused(403);
}

#[test]
fn fifty_signatures_at_once_are_one() {
    let site = Site::open();
    site.expects_faults();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let sign = |n: usize| {
            let ines = &ines;
            scope.spawn(move || match n % 2 {
                0 => ines.put(&path(entry_id), json!({"status": "open"})).status,
                _ => ines.post(&act(entry_id, "sign"), json!({})).status,
            })
        };
        let started: Vec<_> = (0..50).map(sign).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 49, "{statuses:?}");
    assert_eq!(site.events(entry_id), [format!("- pending {}", jane.id), format!("pending open {}", ines.id)]);
    assert_eq!(site.notices(&jane), ["notice.signed"]);
}

#[test]
fn events_are_shown_to_whom_they_concern_and_nobody_rewrites_them() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    ines.put(&path(entry_id), json!({"status": "open"})).ok();
    for reader in [&jane, &ines, &site.desk(), &site.instructor("reader")] {
        let events = reader.get(&act(entry_id, "events")).ok().json();
        let expected = json!([
            {"step": 1, "at": site.now(), "member_id": jane.id, "name": "jane", "from": null, "to": "pending"},
            {"step": 2, "at": site.now(), "member_id": ines.id, "name": "ines", "from": "pending", "to": "open"},
        ]);
        assert_eq!(events, expected);
    }
    for sql in [
        "UPDATE entry_events SET to_status = 'open' WHERE entry_id = ?1",
        "DELETE FROM entry_events WHERE entry_id = ?1",
    ] {
        site.try_change(|tx| Ok(tx.run(sql, [entry_id])?)).unwrap_err();
    }
}
