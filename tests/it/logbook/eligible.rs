//! The skills that a member may ask for next.

use super::given;
use crate::harness::{Caller, Site};
use serde_json::Value;

fn list(member: &Caller, category: &str) -> Value {
    member.get(&format!("/account/logbook/filter-skills/{}/{category}", member.id)).ok().json()
}

fn skills(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|row| row["skill"].as_str().unwrap()).collect()
}

#[test]
fn nothing_comes_before_the_safety_brief() {
    let site = Site::open();
    let nora = site.member("nora");
    for category in ["Flyer", "Military", "AFC", "Coach", "Instructor", "Trainer", "Examiner"] {
        assert_eq!(list(&nora, category), serde_json::json!([]), "{category}");
    }
    given::safety(&site, &nora, "10001", "open", site.now());
    let first = list(&nora, "Flyer");
    assert_eq!((skills(&first).len(), skills(&first)[0]), (11, "10101"));
    assert_eq!(
        first[0],
        serde_json::json!({ "cat_group": "Flyer", "cat_id": "1", "cat_name": "Flyer Level 1", "track": "", "skill": "10101",
                            "skill_name": "Hand signals, seen and answered", "required": true })
    );
    assert_eq!(list(&nora, "Military"), serde_json::json!([]), "another brief");
    given::safety(&site, &nora, "70001", "open", site.now());
    assert_eq!(skills(&list(&nora, "military")).len(), 11);
}

#[test]
fn what_waits_or_is_signed_is_not_asked_for_twice_and_what_was_refused_is() {
    let site = Site::open();
    let (nora, signer) = (site.member("nora"), site.member("signer"));
    given::safety(&site, &nora, "10001", "open", site.now());
    for (skill, status, again) in [
        ("10101", "pending", false),
        ("10102", "open", false),
        ("10103", "suspended", false),
        ("10104", "denied", true),
        ("10105", "cancelled", true),
    ] {
        given::skill(&site, &nora, skill, status, Some(&signer));
        assert_eq!(skills(&list(&nora, "Flyer")).contains(&skill), again, "{status}");
    }
}

#[test]
fn a_level_opens_those_that_require_it() {
    let site = Site::open();
    let (nora, signer) = (site.member("nora"), site.member("signer"));
    given::safety(&site, &nora, "10001", "open", site.now());
    given::level(&site, &nora, "Flyer Level 1", &signer);
    let open = list(&nora, "Flyer");
    let mut names: Vec<&str> = open.as_array().unwrap().iter().map(|row| row["cat_name"].as_str().unwrap()).collect();
    names.dedup();
    assert_eq!(
        names,
        ["Flyer Level 1", "Backflying Level 2", "Formation Level 2"],
        "the first for what is not required"
    );
    assert!(skills(&open).starts_with(&["10111", "10201"]));
    let page = nora.get(&format!("/account/logbook/filter-skills/{}/Flyer?limit=2&offset=1", nora.id)).ok();
    assert_eq!((skills(&page.json()), page.total() as usize), (skills(&open)[1..3].to_vec(), skills(&open).len()));
}

#[test]
fn an_unknown_category_is_named_with_those_there_are() {
    let site = Site::open();
    let nora = site.member("nora");
    for odd in ["Pilot", "1", "%00", "Flyer%20", "FlyerFlyer"] {
        let refusal = nora.get(&format!("/account/logbook/filter-skills/{}/{odd}", nora.id)).refused(422);
        assert_eq!(refusal.bad_fields(), ["category"]);
        assert!(refusal.json()["errors"][0]["message"].as_str().unwrap().contains("Instructor"), "{refusal}");
    }
    site.member("mark").get(&format!("/account/logbook/filter-skills/{}/Pilot", nora.id)).refused(403);
}
