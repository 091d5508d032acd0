//! The lists of skills: their states, entries shown as not current, and entries that wait for a signer.

use super::{DAY, SKILLS, ask, count, learner_and_instructor, list, path};
use crate::harness::{Caller, Site};
use serde_json::{Value, json};
use std::time::Duration;

fn statuses(all: &Value) -> Vec<&str> {
    all.as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect()
}

/// A member with an entry in every stored state.
fn every_state(site: &Site) -> (Caller, Caller) {
    let (jane, ines) = learner_and_instructor(site);
    let admin = site.admin();
    for (skill, end) in
        [("10101", "pending"), ("10102", "open"), ("10103", "denied"), ("10104", "suspended"), ("10105", "cancelled")]
    {
        site.advance(Duration::from_secs(60));
        let entry_id = ask(site, &jane, skill, &ines);
        match end {
            "denied" => _ = ines.put(&path(entry_id), json!({"comment_denial": "not yet"})).ok(),
            "cancelled" => _ = jane.put(&path(entry_id), json!({"status": "cancelled"})).ok(),
            "open" | "suspended" => _ = ines.put(&path(entry_id), json!({"status": "open"})).ok(),
            _ => {}
        }
        if end == "suspended" {
            admin.post(&super::act(entry_id, "suspend"), json!({})).ok();
        }
    }
    (jane, ines)
}

#[test]
fn a_list_has_the_states_that_are_asked_for_newest_first() {
    let site = Site::open();
    let (jane, _) = every_state(&site);
    for (asked, shown) in [
        ("pending", &["pending"][..]),
        ("open-suspended-not_current", &["suspended", "open"]),
        ("open-open", &["open"]),
        ("denied-cancelled", &["cancelled", "denied"]),
        ("not_current", &[]),
        ("all", &["cancelled", "suspended", "denied", "open", "pending"]),
    ] {
        assert_eq!(statuses(&list(&jane, asked, &jane)), shown, "{asked}");
    }
    let mobile = jane.get(&format!("/account/logbook/mobile/skills/{}", jane.id)).ok().json();
    assert_eq!(mobile, jane.get(&format!("{SKILLS}all/{}", jane.id)).ok().json());
    let page = jane.get(&format!("{SKILLS}all/{}?limit=2&offset=1", jane.id)).ok();
    assert_eq!((statuses(&page.json()), page.total()), (vec!["suspended", "denied"], 6), "five skills and the brief");
    for asked in ["signed", "open-", "OPEN", "open,denied", "%20"] {
        assert_eq!(jane.get(&format!("{SKILLS}{asked}/{}", jane.id)).refused(422).bad_fields(), ["status"], "{asked}");
    }
}

#[test]
fn an_open_skill_shows_as_not_current_while_its_programme_has_lapsed_and_comes_back_by_itself() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let entry_id = ask(&site, &jane, "10101", &ines);
    ines.put(&path(entry_id), json!({"status": "open"})).ok();
    site.advance(Duration::from_secs(200 * DAY as u64));
    let jane = site.again(&jane);
    assert_eq!(statuses(&list(&jane, "all", &jane)), ["open"], "without Level 1 nothing can lapse");
    site.hold(&jane, "Flyer", "1", "", site.now());
    let shown = |asked: &str| -> usize { list(&jane, asked, &jane).as_array().unwrap().len() };
    assert_eq!(statuses(&list(&jane, "all", &jane)), ["not_current"]);
    assert_eq!((shown("open"), shown("not_current"), shown("open-suspended-not_current")), (0, 1, 1));
    assert_eq!(site.events(entry_id).len(), 2, "a lapse is derived and no move");
    jane.post("/account/logbook/time/", json!({"entry_date": site.now(), "time": 5})).ok();
    assert_eq!((shown("open"), shown("not_current")), (1, 0));
}

#[test]
fn a_programme_lapses_by_itself_and_takes_no_other_along() {
    let site = Site::open();
    let jane = site.flyer("jane");
    for skill in ["10101", "30101"] {
        let entry_id = site.ask_for(&jane, skill, &site.desk());
        site.change(|tx| Ok(tx.run("UPDATE entries SET status = 'open' WHERE entry_id = ?1", [entry_id])?));
    }
    site.hold(&jane, "Instructor", "1", "", site.now());
    let shown = list(&jane, "all", &jane);
    let states: Vec<_> =
        shown.as_array().unwrap().iter().map(|row| (row["skill"].as_str().unwrap(), &row["status"])).collect();
    assert_eq!(states, [("30101", &json!("not_current")), ("10101", &json!("open"))]);
    site.brief(&jane, "Instructor");
    assert_eq!(count(&list(&jane, "not_current", &jane)), 0);
}

#[test]
fn skills_are_hidden_like_the_rest_of_the_logbook() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.flyer("mark"));
    let (reader, lapsed) = (site.instructor("reader"), site.instructor("lapsed"));
    site.untrain(&lapsed);
    for list in [format!("{SKILLS}all/"), "/account/logbook/mobile/skills/".to_owned()] {
        for nobody in [jane.id.to_string(), "999".to_owned(), "x".to_owned()] {
            mark.get(&format!("{list}{nobody}")).refused(403);
        }
        site.desk().get(&format!("{list}999")).refused(404);
        for reader in [&jane, &site.desk(), &site.admin(), &reader] {
            reader.get(&format!("{list}{}", jane.id)).ok();
        }
        lapsed.get(&format!("{list}{}", jane.id)).refused(403);
    }
    mark.get(&format!("{SKILLS}nonsense/{}", jane.id)).refused(403);
}

#[test]
fn a_signer_sees_what_waits_and_existing_clients_its_number() {
    let site = Site::open();
    let (jane, ines) = every_state(&site);
    let waiting_for = |who: &Caller| who.get("/account/notifications/requests").ok().json();
    assert_eq!((waiting_for(&ines), waiting_for(&jane)), (json!({"count": 1}), json!({"count": 0})));
    let second = ask(&site, &jane, "10106", &ines);
    let waiting = ines.get("/account/logbook/requests").ok().json();
    assert_eq!((count(&waiting), &waiting[0]["entry_id"]), (2, &json!(second)));
    assert_eq!((&waiting[0]["member_name"], &waiting[1]["skill"]), (&json!("jane"), &json!("10101")));
    ines.put(&path(second), json!({"comments_instructor": "clean"})).ok();
    assert_eq!(waiting_for(&ines), json!({"count": 1}));
    assert_eq!(jane.get("/account/logbook/requests").ok().json(), json!([]));
}
