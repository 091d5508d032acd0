//! The signers whom a member can ask.

use super::given;
use crate::harness::{Caller, Site};
use std::time::Duration;

fn names(reader: &Caller, skill: &str) -> Vec<String> {
    let list = reader.get(&format!("/account/logbook/instructors/{skill}/{}", Site::TUNNEL_ID)).ok().json();
    let rows = list.as_array().unwrap();
    rows.iter().map(|row| row["instructor_name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_takes_the_level_the_currency_and_the_tunnel_s_list() {
    let site = Site::open();
    let (jane, ines, otto) = (site.flyer("jane"), site.instructor("ines"), site.instructor("otto"));
    assert_eq!(names(&jane, "10101"), [""; 0], "on no list");
    given::listed(&site, &ines, "Instructor");
    given::listed(&site, &otto, "Instructor");
    given::listed(&site, &site.flyer("lists alone qualify nobody"), "Instructor");
    assert_eq!(names(&jane, "10101"), ["ines", "otto"]);
    assert_eq!(names(&jane, "10001"), ["ines", "otto"], "a safety brief is theirs to sign, too");
    assert_eq!(names(&jane, "10201"), [""; 0], "Level 2 takes an instructor of that level");
    assert_eq!(names(&ines, "10101"), ["otto"], "nobody signs for themselves");
    site.ban(&otto);
    assert_eq!(names(&jane, "10101"), ["ines"]);
    site.advance(Duration::from_secs(400 * 86_400));
    assert_eq!(names(&site.again(&jane), "10101"), [""; 0], "trained too long ago");
}

#[test]
fn a_row_is_what_an_entry_takes() {
    let site = Site::open();
    let (jane, ines) = (site.flyer("jane"), site.instructor("ines"));
    given::listed(&site, &ines, "Instructor");
    let list = jane.get("/account/logbook/instructors/10101/7").ok().json();
    assert_eq!(
        list[0],
        serde_json::json!({ "id": ines.id, "member_id": ines.id, "instructor": ines.id.to_string(),
                            "instructor_name": "ines", "role_name": "Instructor" })
    );
}

#[test]
fn an_unknown_skill_or_tunnel_is_not_there() {
    let site = Site::open();
    let jane = site.flyer("jane");
    for path in ["4711/7", "x/7", "10101/8", "10101/x", "10101/-7", "%00/7"] {
        jane.get(&format!("/account/logbook/instructors/{path}")).refused(404);
    }
}
