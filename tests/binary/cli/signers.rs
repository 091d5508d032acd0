//! The tunnel's list of signers, and how the first skill of a new tunnel is signed.

use crate::harness::{Desk, PASSWORD};
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

#[test]
fn a_new_tunnel_appoints_its_first_signers_and_they_open_the_first_logbook() {
    let desk = Desk::with_site();
    let (jane, ines) = (desk.add_member("jane", "member"), desk.add_member("ines", "member"));
    let server = desk.serve();
    let said = desk.run(&["signer", "add", "ines", "instructor"]).trouble(1);
    assert!(said.contains("holds no level of Instructor") && said.contains("--first"), "{said}");
    let said = desk.run(&["signer", "add", "ines", "instructor", "--first", "2"]).done();
    assert!(said.starts_with("ines stands in for Instructor 2 at tunnel"), "{said}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (jane_s, ines_s) = (server.sign_in("jane", PASSWORD), server.sign_in("ines", PASSWORD));
    let skills = "/api/account/logbook/skills/";
    let brief = json!({"skill": "10001", "entry_date": now - 60, "instructor": ines.to_string()});
    let made = server.post(&jane_s, skills, &brief).ok();
    server.client().put(&ines_s, &format!("{skills}{}", made["entry_id"]), &json!({"status": "open"})).ok();
    let recorded = json!({"skill": "10101", "entry_date": now - 60, "member_id": jane});
    assert_eq!(server.post(&ines_s, skills, &recorded).ok()["entry_status"], "open");
    assert_eq!(desk.json(&["signer", "remove", "ines", "Instructor"])["cat_group"], "Instructor");
    let recorded = json!({"skill": "10102", "entry_date": now - 60, "member_id": jane});
    server.post(&ines_s, skills, &recorded).refused(403);
}

#[test]
fn the_list_is_kept_from_the_shell_and_mistakes_are_one_clear_line() {
    let desk = Desk::with_site();
    desk.add_member("ines", "member");
    desk.run(&["signer", "add", "ines", "Examiner", "--first", "1"]).done();
    let listed = &desk.json(&["signer", "list"])[0];
    assert_eq!(
        (&listed["username"], &listed["cat_group"], &listed["cat_id"]),
        (&json!("ines"), &json!("Examiner"), &json!("1"))
    );
    assert_eq!(listed["appointed_by"], json!(null));
    let shown = desk.run(&["signer", "list"]).done();
    assert!(shown.starts_with("NUMBER") && shown.contains("stands in for level 1"), "{shown}");
    for (args, part) in [
        (&["signer", "add", "ines", "examiner", "--first", "1"][..], "already"),
        (&["signer", "add", "ines", "Flyer"], "Instructor, Military, Trainer"),
        (&["signer", "add", "ines", "Instructor", "--first", "5"], "has no level 5"),
        (&["signer", "add", "nobody", "Instructor"], "there is no account nobody"),
        (&["signer", "add", "ines", "Trainer", "--first", "1", "--tunnel", "99"], "there is no tunnel 99"),
        (&["signer", "remove", "ines", "Trainer"], "is not on the list"),
    ] {
        let said = desk.run(args).trouble(1);
        assert!(said.contains(part) && said.trim_end().lines().count() == 1, "{args:?}: {said}");
    }
    let said = desk.run(&["signer", "remove", "ines", "examiner"]).done();
    assert!(said.starts_with("ines can no longer sign as Examiner"), "{said}");
    assert_eq!(desk.json(&["signer", "list"]), json!([]));
}

#[test]
fn a_demo_site_has_signers_and_needs_no_first_one() {
    let desk = Desk::empty();
    desk.run(&["demo", "--members", "60", "--entries", "1500", "--data", "tunneldesk-data"]).done();
    let listed = desk.json(&["signer", "list"]);
    let listed = listed.as_array().unwrap();
    let instructor = |row: &&serde_json::Value| row["cat_group"] == "Instructor" && row["state"] == "level 4";
    assert!(listed.len() >= 12 && listed.iter().filter(instructor).count() >= 3, "{listed:?}");
    assert!(listed.iter().any(|row| row["state"] == "level 2, not current"), "{listed:?}");
    let said = desk.run(&["signer", "add", "admin", "Instructor", "--first", "4"]).trouble(1);
    assert!(said.contains("no first signer is needed"), "{said}");
}
