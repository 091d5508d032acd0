//! Copies off site count only where a machine of the site has signed them.

use super::{cut_short, name_off_site, names};
use crate::harness::{Desk, edit_manifest, text};
use std::path::PathBuf;

fn fingerprint(desk: &Desk) -> String {
    let said = desk.fact("signature").unwrap().1;
    said.split("the key ").nth(1).unwrap().split('.').next().unwrap().to_owned()
}

#[test]
fn a_new_machine_restores_the_site_that_was_named_and_nothing_that_nobody_signed() {
    let (desk, other) = (Desk::with_site(), Desk::with_site());
    desk.add_member("jane", "member");
    other.add_member("mark", "member");
    let second = name_off_site(&desk);
    std::fs::create_dir_all(&second).unwrap();
    let settings = format!("[backup]\noff_site = {:?}\n", second.to_str().unwrap());
    std::fs::write(other.path().join("tunneldesk.toml"), settings).unwrap();
    let made = PathBuf::from(text(&desk.json(&["backup", "now"])["second"]));
    other.run(&["backup"]).done();
    let [ours, theirs] = [&desk, &other].map(fingerprint);
    // A site takes its own copies alone, whatever is newer.
    assert_eq!(text(&desk.json(&["restore", "--dry-run"])["signed_by"]), ours);
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = desk.run(&["restore", "--dry-run"]).done();
    assert!(said.contains(&theirs) && said.contains("compare it"), "{said}");
    assert!(said.contains(&format!("signed by other keys too: {ours}")), "{said}");
    let said = desk.run(&["restore", "--site", &"4f".repeat(16)]).trouble(1);
    assert!(said.contains("no backup is signed by that key") && said.contains(&ours), "{said}");
    let ran = desk.run(&["restore", "--site", "ours"]);
    assert!(ran.code != Some(0) && ran.err.contains("is no fingerprint"), "{}", ran.err);
    let said = desk.run(&["restore", "--site", &ours.to_uppercase()]).done();
    assert_eq!(names(&desk), ["jane"]);
    // The restored machine has a key of its own, which it says, and knows the earlier one.
    assert!(![&ours, &theirs].contains(&&fingerprint(&desk)));
    assert!(said.contains(&fingerprint(&desk)), "{said}");
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
    std::fs::create_dir_all(name_off_site(&desk)).unwrap();
    desk.run(&["backup"]).done();
    let before = text(&desk.json(&["restore", "--dry-run"])["signed_by"]).to_owned();
    let rotated = desk.json(&["key", "rotate"]);
    assert_ne!(text(&rotated["fingerprint"]), before);
    assert_eq!(desk.json(&["backup", "list"])["second"]["backups"].as_array().map(Vec::len), Some(1));
    desk.run(&["backup"]).done();
    assert_eq!(desk.json(&["restore", "--dry-run"])["signed_by"], rotated["fingerprint"]);
    assert_eq!(desk.fact("signature").unwrap().0, "ok");
    let said = desk.run(&["restore", "--unsigned", "--dry-run"]).done();
    assert!(said.contains(&format!("is signed, by the key {}", text(&rotated["fingerprint"]))), "{said}");
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = desk.json(&["restore", "--site", text(&rotated["fingerprint"])]);
    assert_eq!(said["signed_by"], rotated["fingerprint"], "{said}");
    assert_eq!(desk.json(&["backup", "list"])["second"]["backups"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_newer_copy_by_a_key_that_was_not_noted_is_not_passed_over_in_silence() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    std::fs::create_dir_all(name_off_site(&desk)).unwrap();
    desk.run(&["backup"]).done();
    let noted = fingerprint(&desk);
    // The key is lost, and the site goes on with another.
    assert_eq!(desk.fact("signature").unwrap().0, "ok");
    std::fs::remove_file(desk.data().join("signing.key")).unwrap();
    desk.add_member("late", "member");
    let newer = desk.json(&["backup"]);
    let (state, said) = desk.fact("signature").unwrap();
    assert!(state == "warning" && said.contains(&noted) && said.contains("was lost or replaced"), "{state}: {said}");
    let server = desk.serve();
    crate::off_site::until("the warning", || {
        let said = server.log.so_far();
        said.iter().any(|line| line.contains("signing.key was lost or replaced")).then_some(())
    });
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir_all(desk.data()).unwrap();
    let ran = desk.run(&["restore", "--site", &noted]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    let said = ran.out + &ran.err;
    assert!(said.contains("A newer backup was passed over") && said.contains(text(&newer["name"])), "{said}");
    assert_eq!(names(&desk), ["jane"]);
}

#[test]
fn a_site_that_lost_its_key_is_not_replaced_by_another_one_of_the_same_place() {
    let (desk, other) = (Desk::with_site(), Desk::with_site());
    let place = name_off_site(&desk);
    std::fs::create_dir_all(&place).unwrap();
    desk.add_member("jane", "member");
    let settings = std::fs::read_to_string(desk.path().join("tunneldesk.toml")).unwrap();
    std::fs::write(other.path().join("tunneldesk.toml"), settings).unwrap();
    other.add_member("mallory", "member");
    let theirs = other.json(&["backup"]);
    std::fs::remove_file(desk.data().join("signing.key")).unwrap();
    let said = desk.run(&["restore"]).trouble(1);
    assert!(said.contains("another site") && said.contains(text(&theirs["name"])), "{said}");
    assert_eq!(names(&desk), ["jane"]);
}

#[test]
fn an_emptied_list_of_erased_members_shows_by_the_newest_manifest() {
    let desk = Desk::with_site();
    let second = name_off_site(&desk);
    std::fs::create_dir_all(&second).unwrap();
    for name in ["jane", "mark"] {
        desk.add_member(name, "member");
    }
    let first = desk.json(&["backup"]);
    desk.run(&["member", "erase", "jane", "--yes"]).done();
    desk.run(&["backup"]).done();
    std::fs::remove_dir_all(desk.data()).unwrap();
    let list = second.join("erased.jsonl");
    let whole = std::fs::read(&list).unwrap();
    for emptied in [true, false] {
        if emptied {
            std::fs::write(&list, "").unwrap();
        } else {
            std::fs::remove_file(&list).unwrap();
        }
        let said = cut_short(&desk, &["restore", text(&first["name"]), "--dry-run"]);
        assert!(said.contains("The list of erased members is not whole: 1 had been erased"), "{said}");
    }
    std::fs::write(&list, whole).unwrap();
    desk.run(&["restore", text(&first["name"])]).done();
    assert!(!names(&desk).contains(&"jane".to_owned()), "{:?}", names(&desk));
}

#[test]
fn a_mistake_in_settings_that_a_restore_does_not_need_stops_none_and_an_empty_place_is_named() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let second = name_off_site(&desk);
    std::fs::create_dir_all(&second).unwrap();
    let said = desk.run(&["restore", "--data", "nowhere"]).trouble(1);
    assert!(said.contains("nowhere/backups") && said.contains(second.to_str().unwrap()), "{said}");
    assert!(!desk.path().join("nowhere").exists());
    desk.run(&["backup"]).done();
    std::fs::remove_dir_all(desk.data()).unwrap();
    let file = desk.path().join("tunneldesk.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("listen_at = \"here\"\nyearly_fee = 7\n{settings}")).unwrap();
    let said = desk.run(&["restore"]).done();
    assert!(said.contains("The settings have mistakes") && said.contains("listen_at"), "{said}");
    assert_eq!(desk.run(&["serve"]).code, Some(1), "a server starts with none");
    std::fs::write(&file, &settings).unwrap();
    assert_eq!(names(&desk), ["jane"]);
    std::fs::write(&file, settings.replace("off_site", "of_site")).unwrap();
    let ran = desk.run(&["restore"]);
    assert!(ran.code == Some(1) && ran.err.contains("of_site"), "{}{}", ran.out, ran.err);
}
