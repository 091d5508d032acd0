//! The safety logbooks.

use super::given::{self, DAY};
use crate::harness::{Caller, Site};
use serde_json::{Value, json};
use std::time::Duration;

fn list(reader: &Caller, logbook: &str, member: &Caller) -> Value {
    reader.get(&format!("/account/logbook/{logbook}-safety/{}", member.id)).ok().json()
}

#[test]
fn each_programme_has_its_own_list_newest_first() {
    let site = Site::open();
    let jane = site.member("jane");
    for (skill, ago) in [("10001", 30), ("10002", 3), ("30001", 200), ("40002", 100), ("60001", 50), ("70001", 40)] {
        given::safety(&site, &jane, skill, "open", site.now() - ago * DAY);
    }
    let skills = |logbook: &str| -> Vec<String> {
        let list = list(&jane, logbook, &jane);
        list.as_array().unwrap().iter().map(|row| row["skill"].as_str().unwrap().to_owned()).collect()
    };
    for (logbook, wanted) in [
        ("flyer", &["10002", "10001"][..]),
        ("instructor", &["30001"]),
        ("trainer", &["40002"]),
        ("coach", &["60001"]),
        ("military", &["70001"]),
    ] {
        assert_eq!(skills(logbook), wanted, "{logbook}");
    }
}

#[test]
fn a_row_says_its_kind_its_signer_and_how_long_it_holds() {
    let site = Site::open();
    let (jane, tara) = (site.member("jane"), site.member("tara"));
    let entry_id = given::safety(&site, &jane, "40002", "open", site.now());
    site.change(|tx| Ok(tx.run("UPDATE entries SET instructor_id = ?1 WHERE entry_id = ?2", (tara.id, entry_id))?));
    let row = list(&jane, "trainer", &jane)[0].clone();
    assert_eq!(
        row,
        json!({ "id": entry_id, "entry_id": entry_id, "member_id": jane.id, "cat_group": "Trainer", "cat_name": "Trainer",
                "skill": "40002", "skill_name": "Trainer yearly safety training", "kind": "recurrent", "status": "open",
                "entry_date": site.now(), "approval_date": site.now(), "instructor": tara.id.to_string(),
                "instructor_name": "tara", "comments_instructor": "", "comment_denial": "", "comment": "", "tunnel": "7",
                "tunnel_name": "Windwerk", "author_id": jane.id, "valid_until": site.end_of_day(site.now() + 365 * DAY), "in_force": true,
                "created_at": site.now() })
    );
    site.advance(Duration::from_secs(366 * 86_400));
    let desk = site.desk();
    assert_eq!(list(&desk, "trainer", &jane)[0]["in_force"], false);
}

#[test]
fn a_brief_does_not_run_out_and_what_nobody_signed_is_not_in_force() {
    let site = Site::open();
    let jane = site.member("jane");
    given::safety(&site, &jane, "10001", "open", site.now() - 900 * DAY);
    given::safety(&site, &jane, "10002", "pending", site.now());
    given::safety(&site, &jane, "10002", "open", site.now() + DAY);
    given::foreign(&site, &jane);
    let rows = list(&jane, "flyer", &jane);
    let shown: Vec<(&Value, &Value, &Value)> =
        rows.as_array().unwrap().iter().map(|row| (&row["kind"], &row["valid_until"], &row["in_force"])).collect();
    let (no, yes, null) = (json!(false), json!(true), Value::Null);
    let (initial, recurrent) = (json!("initial"), json!("recurrent"));
    assert_eq!(shown, [(&recurrent, &null, &no), (&recurrent, &null, &no), (&initial, &null, &yes)]);
    let foreign = list(&jane, "coach", &jane)[0].clone();
    assert_eq!((&foreign["kind"], &foreign["skill_name"], &foreign["skill"]), (&json!(""), &json!(""), &json!("4711")));
}

#[test]
fn it_comes_in_pages() {
    let site = Site::open();
    let jane = site.member("jane");
    let ids: Vec<i64> = (0..4).map(|n| given::safety(&site, &jane, "60002", "open", site.now() - n * DAY)).collect();
    let page = jane.get(&format!("/account/logbook/coach-safety/{}?limit=2&offset=1", jane.id)).ok();
    let shown: Vec<i64> = page.rows().iter().map(|row| row["id"].as_i64().unwrap()).collect();
    assert_eq!((shown, page.total()), (ids[1..3].to_vec(), 4));
}
