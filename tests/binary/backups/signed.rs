//! Copies off site count only where a machine of the site has signed them.

use super::{name_second_place, names};
use crate::harness::{Desk, edit_manifest, text};
use std::path::PathBuf;

#[test]
fn a_new_machine_restores_the_site_that_was_named_and_nothing_that_nobody_signed() {
    let (desk, other) = (Desk::with_site(), Desk::with_site());
    desk.add_member("jane", "member");
    other.add_member("mark", "member");
    let second = name_second_place(&desk);
    std::fs::create_dir_all(&second).unwrap();
    let settings = format!("[backup]\nsecond_place = {:?}\n", second.to_str().unwrap());
    std::fs::write(other.path().join("tunneldesk.toml"), settings).unwrap();
    let made = PathBuf::from(text(&desk.json(&["backup", "now"])["second"]));
    other.run(&["backup"]).done();
    let fingerprint = |desk: &Desk| {
        let said = desk.fact("signature").unwrap().1;
        said.split("the key ").nth(1).unwrap().split('.').next().unwrap().to_owned()
    };
    let [ours, theirs] = [&desk, &other].map(fingerprint);
    // A site takes its own copies alone, whatever is newer.
    assert_eq!(text(&desk.json(&["restore", "--dry-run"])["signed_by"]), ours);
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = desk.run(&["restore", "--dry-run"]).done();
    assert!(said.contains(&theirs) && said.contains("compare it"), "{said}");
    let said = desk.run(&["restore", "--site", &"4f".repeat(16)]).trouble(1);
    assert!(said.contains("no backup is signed by that key") && said.contains(&ours), "{said}");
    let ran = desk.run(&["restore", "--site", "ours"]);
    assert!(ran.code != Some(0) && ran.err.contains("is no fingerprint"), "{}", ran.err);
    desk.run(&["restore", "--site", &ours.to_uppercase()]).done();
    assert_eq!(names(&desk), ["jane"]);
    // The restored machine has a key of its own, and knows the earlier one.
    assert!(![&ours, &theirs].contains(&&fingerprint(&desk)));
    assert_eq!(text(&desk.json(&["restore", "--dry-run"])["signed_by"]), ours);
    std::fs::remove_dir_all(desk.data()).unwrap();
    edit_manifest(&made, |_| ());
    desk.run(&["restore", "--site", &ours]).trouble(1);
    let name = made.file_name().unwrap().to_str().unwrap();
    let said = desk.run(&["restore", name]).trouble(1);
    assert!(said.contains("is not signed") && said.contains("--unsigned"), "{said}");
    desk.run(&["restore", name, "--unsigned"]).done();
    assert_eq!(names(&desk), ["jane"]);
}

#[test]
fn a_rotated_key_signs_what_follows_and_what_the_earlier_one_signed_stays_good() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    std::fs::create_dir_all(name_second_place(&desk)).unwrap();
    desk.run(&["backup"]).done();
    let before = text(&desk.json(&["restore", "--dry-run"])["signed_by"]).to_owned();
    let rotated = desk.json(&["key", "rotate"]);
    assert_ne!(text(&rotated["fingerprint"]), before);
    assert_eq!(desk.json(&["backup", "list"])["second"]["backups"].as_array().map(Vec::len), Some(1));
    desk.run(&["backup"]).done();
    assert_eq!(desk.json(&["restore", "--dry-run"])["signed_by"], rotated["fingerprint"]);
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = desk.json(&["restore", "--site", text(&rotated["fingerprint"])]);
    assert_eq!(said["signed_by"], rotated["fingerprint"], "{said}");
    assert_eq!(desk.json(&["backup", "list"])["second"]["backups"].as_array().map(Vec::len), Some(2));
}
