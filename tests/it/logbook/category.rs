//! The sections of the logbook, in the contract's own types.

use super::given;
use crate::harness::{Caller, Site};
use serde_json::Value;

const TABLE: &str = include_str!("../contract/category.txt");
const FIELDS: [&str; 5] = ["show", "disabled", "showTab", "skillCategory", "disabledTab"];

fn options(reader: &Caller, member: &Caller) -> Value {
    reader.get(&format!("/account/logbook/category/{}", member.id)).ok().json()
}

fn kind(value: Option<&Value>) -> &'static str {
    match value {
        None => "absent",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::String(_)) => "string",
        Some(Value::Number(number)) if number.is_i64() => "integer",
        Some(_) => "something else",
    }
}

/// Checks every object and field against the contract's table: none may be missing, and no other may be present.
fn check_types(options: &Value) {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let rows: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 13);
    for row in &rows {
        let member = &options[row[0]];
        for (field, wanted) in FIELDS.iter().zip(&row[1..]) {
            assert_eq!(kind(member.get(field)), *wanted, "{} {field}: {member}", row[0]);
        }
        assert!(member.as_object().unwrap().keys().all(|field| FIELDS.contains(&field.as_str())), "{member}");
    }
    let known: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert!(options.as_object().unwrap().keys().all(|member| known.contains(&member.as_str())), "{options}");
}

#[test]
fn every_field_has_the_type_that_the_contract_gives_it() {
    let site = Site::open();
    let (nora, ines) = (site.member("nora"), site.instructor("ines"));
    let all = site.flyer("alma");
    for (cat_group, cat_id) in [("AFC", "1"), ("Instructor", "4"), ("Trainer", "4"), ("Examiner", "1"), ("Coach", "1")]
    {
        site.hold(&all, cat_group, cat_id, "", site.now());
    }
    for member in [&nora, &ines, &all] {
        check_types(&options(member, member));
    }
}

#[test]
fn sections_open_as_a_member_climbs_and_say_what_they_wait_for() {
    let site = Site::open();
    let (nora, signer) = (site.member("nora"), site.member("signer"));
    let shown = |section: &str| options(&nora, &nora)[section]["show"].as_bool().unwrap();
    let reason = |section: &str| options(&nora, &nora)[section]["disabled"].as_str().unwrap().to_owned();
    assert!(shown("flyerOption") && shown("logCurrency") && shown("flyerSafetyOption") && !shown("afcOption"));
    assert!(reason("flyerOption").contains("Flyer safety brief"), "{}", reason("flyerOption"));
    given::safety(&site, &nora, "10001", "pending", site.now());
    assert_ne!(reason("flyerOption"), "", "a brief that nobody signed is none");
    given::safety(&site, &nora, "10001", "open", site.now());
    assert_eq!(reason("flyerOption"), "");
    assert!(reason("afcOption").contains("Backflying Level 2") && reason("coachOption").contains("Flyer Level 3"));
    given::level(&site, &nora, "Flyer Level 1", &signer);
    assert_ne!(reason("flyerOption"), "", "holds the level and has not flown: not current");
    nora.post("/account/logbook/time/", serde_json::json!({"entry_date": site.now(), "time": 10})).ok();
    assert_eq!(reason("flyerOption"), "");
    given::level(&site, &nora, "Backflying Level 2", &signer);
    assert!(shown("afcOption") && shown("instructorSafetyOption") && !shown("instructorOption"));
    let options = options(&nora, &nora);
    assert_eq!(options["afcOption"]["showTab"], "1");
    assert_eq!(
        (&options["coachSafetyOption"]["showTab"], &options["militarySafetyOption"]["showTab"]),
        (&0.into(), &1.into())
    );
    assert_eq!(
        (&options["trainerOption"]["disabledTab"], &options["trainerOption"]["skillCategory"]),
        (&true.into(), &4.into())
    );
}

#[test]
fn a_lapse_is_said_and_leaves_a_request_to_the_signer() {
    let site = Site::open();
    let (nora, ines) = (site.member("nora"), site.signer("ines", &[("Instructor", "4")]));
    given::safety(&site, &nora, "10001", "open", site.now());
    given::level(&site, &nora, "Flyer Level 1", &ines);
    let reason = options(&nora, &nora)["flyerOption"]["disabled"].as_str().unwrap().to_owned();
    assert!(reason.contains("lapsed"), "{reason}");
    let listed = nora.get(&format!("/account/logbook/filter-skills/{}/Flyer", nora.id)).rows();
    assert!(listed.iter().any(|row| row["skill"] == "10201"), "{listed:?}");
    let wish = serde_json::json!({"skill": "10201", "entry_date": site.now(), "instructor": ines.id});
    let made = nora.post("/account/logbook/skills/", wish).ok().json();
    ines.put(&format!("/account/logbook/skills/{}", made["entry_id"]), serde_json::json!({"status": "open"})).ok();
}

#[test]
fn the_reason_is_in_the_reader_s_language() {
    let site = Site::open();
    let nora = site.member("nora");
    let said = |tag: &str| {
        let asking = nora.ask(http::Method::GET, &format!("/account/logbook/category/{}", nora.id));
        asking.header("accept-language", tag).send().ok().json()["coachOption"]["disabled"].as_str().unwrap().to_owned()
    };
    let all: std::collections::BTreeSet<String> = ["en", "de", "fr", "it", "es"].map(said).into();
    assert_eq!(all.len(), 5, "{all:?}");
}
