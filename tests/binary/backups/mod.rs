//! Backups and restores, on the running site.

mod damage;
mod moment;
mod signed;

use crate::harness::{Desk, PASSWORD, Server, edit_manifest, make_hanging, text};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn backups(desk: &Desk) -> Vec<PathBuf> {
    let said = desk.json(&["backup", "list"]);
    said["backups"].as_array().unwrap().iter().map(|backup| desk.path().join(text(&backup["dir"]))).collect()
}

/// Names an off-site target in the settings. Its directory does not exist yet.
fn name_off_site(desk: &Desk) -> PathBuf {
    let second = desk.path().join("second");
    let settings = format!("[backup]\noff_site = {:?}\n", second.to_str().unwrap());
    std::fs::write(desk.path().join("tunneldesk.toml"), settings).unwrap();
    second
}

fn names(desk: &Desk) -> Vec<String> {
    let said = desk.json(&["member", "list"]);
    said.as_array().unwrap().iter().map(|member| text(&member["username"]).to_owned()).collect()
}

fn enter(server: &Server, session: &crate::harness::Caller) -> bool {
    let entry = json!({ "entry_date": 1_700_000_000, "time": "5", "tunnel": "1", "comment": "", "status": "" });
    server.post(session, "/api/account/logbook/time/", &entry).status == 201
}

#[test]
fn a_backup_of_a_running_site_brings_it_back_as_it_was() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let said = desk.run(&["backup"]).done();
    assert!(said.starts_with("Made and verified") && said.contains("backup.off_site"), "{said}");
    desk.add_member("late", "member");
    let said = desk.run(&["restore"]).trouble(1);
    assert!(said.contains("is running on") && said.contains("stop it"), "{said}");
    assert_eq!(server.stop().code, Some(0));

    let said = desk.run(&["restore"]).done();
    assert!(said.contains("replaced-1") && said.contains("tunneldesk serve"), "{said}");
    assert_eq!(names(&desk), ["jane"]);
    desk.serve().sign_in("jane", PASSWORD);
    // The replaced data directory is complete: it can be opened as a site.
    let replaced = desk.data().join("replaced-1");
    let listed = desk.run(&["member", "list", "--data", replaced.to_str().unwrap()]).done();
    assert!(listed.contains("late"), "{listed}");
}

#[test]
fn a_site_is_restored_on_a_new_machine_from_the_off_site_backup() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let second = name_off_site(&desk);
    let said = desk.run(&["backup"]).trouble(2);
    assert!(said.contains("is it mounted?"), "{said}");
    std::fs::create_dir(&second).unwrap();
    let made = desk.json(&["backup", "now"]);
    assert!(Path::new(text(&made["second"])).starts_with(&second), "{made}");
    assert!(desk.run(&["backup", "list"]).done().contains(" both\n"));
    std::fs::remove_dir_all(backups(&desk).remove(0)).unwrap();
    assert!(desk.run(&["backup", "list"]).done().contains(" off-site\n"));
    let listed = &desk.json(&["backup", "list"])["second"]["backups"];
    assert_eq!(listed[0]["made_at"], made["made_at"], "{listed}");
    std::fs::remove_dir_all(desk.data()).unwrap();
    let restored = desk.json(&["restore"]);
    assert_eq!((&restored["made_at"], &restored["replaced"]), (&made["made_at"], &json!(null)));
    assert_eq!(names(&desk), ["jane"]);
}

#[test]
fn restores_and_erasures_work_while_the_off_site_target_does_not_answer() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let second = name_off_site(&desk);
    std::fs::create_dir_all(second.join("hanging")).unwrap();
    desk.run(&["backup"]).done();
    desk.add_member("late", "member");
    for name in ["hanging/manifest.json", "erased.jsonl"] {
        assert!(make_hanging(&second.join(name)));
    }
    let said = desk.run(&["member", "erase", "late", "--yes"]).trouble(2);
    assert!(said.contains("second does not answer") && said.contains("each minute"), "{said}");
    let said = desk.run(&["backup", "list"]).done();
    assert!(
        said.contains(" site\n") && said.contains("not in this list: ") && said.contains("does not answer"),
        "{said}"
    );
    let restored = cut_short(&desk, &["restore", "--json"]);
    let restored: Value = serde_json::from_str(&restored).unwrap();
    assert!(text(&restored["passed_over"]).contains("does not answer"), "{restored}");
    assert_eq!(names(&desk), ["jane"]);
    let said = cut_short(&desk, &["restore"]);
    assert!(said.contains("The off-site backups were passed over"), "{said}");
    let said = desk.run(&["restore", "nowhere"]).trouble(1);
    assert!(said.contains("no backup nowhere") && said.contains("does not answer"), "{said}");
}

/// The answer of a restore that does not go up to the newest write.
pub fn cut_short(desk: &Desk, args: &[&str]) -> String {
    let ran = desk.run(args);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    ran.out
}

#[test]
fn a_backup_dated_in_the_future_is_not_restored_by_default() {
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    desk.add_member("jane", "member");
    desk.run(&["backup"]).done();
    let all = backups(&desk);
    let (newer, older) = (&all[0], &all[1]);
    edit_manifest(older, |manifest| manifest["made_at"] = json!(4_000_000_000_i64));
    let said = desk.run(&["restore"]).trouble(1);
    assert!(said.contains("yet to come") && said.contains("2096"), "{said}");
    assert!(said.contains(newer.file_name().unwrap().to_str().unwrap()), "the others are named: {said}");
    desk.run(&["restore", newer.file_name().unwrap().to_str().unwrap()]).done();
    assert_eq!(names(&desk), ["jane"]);
    // When every backup is dated in the future, the clock of this machine is behind, so the restore goes on.
    std::fs::remove_dir_all(newer).unwrap();
    desk.run(&["restore"]).done();
}

#[test]
fn a_damaged_backup_is_refused_and_the_site_stays_as_it_is() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    desk.run(&["backup"]).done();
    desk.add_member("late", "member");
    let dir = backups(&desk).remove(0);
    for name in ["tunneldesk.sqlite", "site.key"] {
        let whole = std::fs::read(dir.join(name)).unwrap();
        let mut damaged = whole.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        for bytes in [&damaged[..], &whole[..whole.len() - 1]] {
            std::fs::write(dir.join(name), bytes).unwrap();
            let said = desk.run(&["restore"]).trouble(2);
            assert!(said.contains("nothing was changed") && said.contains(name), "{said}");
            let said = desk.run(&["backup", "drill"]).trouble(2);
            assert!(said.contains("cannot be restored"), "{said}");
        }
        std::fs::write(dir.join(name), whole).unwrap();
    }
    assert_eq!(names(&desk), ["late", "jane"]);
    let drill = desk.json(&["backup", "drill"]);
    assert_eq!((text(&drill["trouble"]), drill["rows"].as_i64() > Some(0)), ("", true), "{drill}");
    assert!(desk.run(&["backup", "list"]).done().contains("Restore drill of"));
    assert!(!dir.parent().unwrap().join(".drill").exists());
}

#[test]
fn a_backup_with_the_key_of_another_site_is_not_restored() {
    let (desk, other) = (Desk::with_site(), Desk::with_site());
    other.run(&["backup"]).done();
    desk.run(&["backup"]).done();
    let (ours, theirs) = (backups(&desk).remove(0), backups(&other).remove(0));
    // The backup gets the key of another site and a manifest that fits. Only opening the database with the key shows
    // the mismatch.
    std::fs::copy(theirs.join("site.key"), ours.join("site.key")).unwrap();
    let print = |dir: &Path| {
        let manifest = std::fs::read_to_string(dir.join("manifest.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&manifest).unwrap()
    };
    edit_manifest(&ours, |manifest| manifest["files"]["site.key"] = print(&theirs)["files"]["site.key"].clone());
    let said = desk.run(&["restore"]).trouble(2);
    assert!(said.contains("nothing was changed") && said.contains("is not the key of"), "{said}");
}

#[test]
fn a_backup_during_writes_has_every_write_acknowledged_before_it() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let session = server.sign_in("jane", PASSWORD);
    let stop = AtomicBool::new(false);
    let (before, made) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut entered = 0;
                    while !stop.load(Ordering::Relaxed) {
                        entered += i64::from(enter(&server, &session));
                    }
                    entered
                })
            })
            .collect();
        let before = (0..20).filter(|_| enter(&server, &session)).count() as i64;
        let made = desk.json(&["backup"]);
        stop.store(true, Ordering::Relaxed);
        let others: i64 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        assert!(others > 0, "nobody wrote meanwhile");
        (before, made)
    });
    assert_eq!(before, 20);
    let held = made["rows"]["entries"].as_i64().unwrap();
    assert!(held >= before, "{held} of {before}");
    assert_eq!(server.stop().code, Some(0));
    desk.json(&["restore"]);
    let server = desk.serve();
    let session = server.sign_in("jane", PASSWORD);
    let listed = server.get(&session, "/api/account/profile/user").ok();
    let minutes = format!("{}:{:02}", held * 5 / 60, held * 5 % 60);
    assert_eq!(text(&listed["total_flight_time"]), minutes, "{held} entries");
}

/// A key pair as `age-keygen` writes it: the public key, and a file with the secret key.
pub fn key(desk: &Desk, name: &str) -> (String, PathBuf) {
    use age::secrecy::ExposeSecret;
    let key = age::x25519::Identity::generate();
    let path = desk.path().join(name);
    std::fs::write(&path, format!("# created: today\n{}\n", key.to_string().expose_secret())).unwrap();
    (key.to_public().to_string(), path)
}

#[test]
fn encrypted_copies_open_with_their_key_alone() {
    let desk = Desk::with_site();
    desk.add_member("zaphodette", "member");
    let second = desk.path().join("second");
    std::fs::create_dir(&second).unwrap();
    let ((recipient, identity), (_, other)) = (key(&desk, "ours"), key(&desk, "theirs"));
    let settings = format!("[backup]\noff_site = {:?}\nrecipient = {recipient:?}\n", second.to_str().unwrap());
    std::fs::write(desk.path().join("tunneldesk.toml"), settings).unwrap();
    let made = desk.json(&["backup", "now"]);
    let copy = PathBuf::from(text(&made["second"]));
    let files: std::collections::BTreeSet<_> =
        std::fs::read_dir(&copy).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(Vec::from_iter(files), ["manifest.json", "site.key.age", "tunneldesk.sqlite.age"]);
    for file in ["site.key.age", "tunneldesk.sqlite.age"] {
        let bytes = std::fs::read(copy.join(file)).unwrap();
        assert!(bytes.starts_with(b"age-encryption.org/v1\n"), "{file}");
        assert!(!bytes.windows(10).any(|part| part == b"zaphodette" || part == b"SQLite for"), "{file}");
    }
    // The local backup is not encrypted and is restored first. Then the disk is lost.
    desk.json(&["restore"]);
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = desk.run(&["restore"]).trouble(1);
    assert!(said.contains("is encrypted") && said.contains("--identity"), "{said}");
    let said = desk.run(&["restore", "--identity", other.to_str().unwrap()]).trouble(2);
    assert!(said.contains("nothing was changed") && said.contains("another key"), "{said}");
    assert!(!desk.data().exists(), "a restore that failed leaves a part of a site behind");
    let whole = std::fs::read(copy.join("tunneldesk.sqlite.age")).unwrap();
    for cut in [whole.len() - 1, whole.len() / 2] {
        std::fs::write(copy.join("tunneldesk.sqlite.age"), &whole[..cut]).unwrap();
        let said = desk.run(&["restore", "--identity", identity.to_str().unwrap()]).trouble(2);
        assert!(said.contains("nothing was changed") && !desk.data().exists(), "{said}");
    }
    std::fs::write(copy.join("tunneldesk.sqlite.age"), &whole).unwrap();
    desk.run(&["restore", "--identity", identity.to_str().unwrap()]).done();
    assert_eq!(names(&desk), ["zaphodette"]);
}

#[test]
fn where_copies_are_encrypted_a_plain_one_from_there_is_not_restored_and_one_beside_the_site_needs_no_key() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let second = name_off_site(&desk);
    std::fs::create_dir_all(&second).unwrap();
    let plain = PathBuf::from(text(&desk.json(&["backup", "now"])["second"]));
    let (recipient, identity) = key(&desk, "ours");
    let settings = std::fs::read_to_string(desk.path().join("tunneldesk.toml")).unwrap();
    std::fs::write(desk.path().join("tunneldesk.toml"), format!("{settings}recipient = {recipient:?}\n")).unwrap();
    desk.add_member("late", "member");
    let sealed = desk.json(&["backup", "now"]);
    let name = text(&sealed["name"]);
    desk.run(&["restore", name]).done();
    let other = second.join("2031-01-01T00-00-00Z");
    std::fs::rename(&plain, &other).unwrap();
    edit_manifest(&other, |manifest| manifest["made_at"] = json!(sealed["made_at"].as_i64().unwrap() + 1));
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = cut_short(&desk, &["restore", "--identity", identity.to_str().unwrap()]);
    assert!(said.contains("2031-01-01T00-00-00Z") && said.contains("is not encrypted"), "{said}");
    assert_eq!(names(&desk), ["late", "jane"]);
}

#[test]
fn the_drill_takes_the_later_of_two_backups_of_one_second() {
    let desk = Desk::with_site();
    let made: Vec<serde_json::Value> = (0..2).map(|_| desk.json(&["backup"])).collect();
    for dir in backups(&desk) {
        edit_manifest(&dir, |manifest| manifest["made_at"] = made[0]["made_at"].clone());
    }
    let drill = desk.json(&["backup", "drill"]);
    assert_eq!(drill["backup"], made[1]["name"], "{made:?}");
}

#[test]
fn a_drill_checks_what_the_digest_of_a_backup_does_not_tell() {
    let desk = Desk::with_site();
    desk.json(&["backup"]);
    let dir = backups(&desk).remove(0);
    let database = dir.join("tunneldesk.sqlite");
    let conn = rusqlite::Connection::open(&database).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = off; UPDATE site SET tunnel_id = 77").unwrap();
    drop(conn);
    let bytes = std::fs::read(&database).unwrap();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    edit_manifest(&dir, |manifest| {
        manifest["files"]["tunneldesk.sqlite"] = json!({ "bytes": bytes.len(), "sha256": digest });
    });
    let said = desk.run(&["backup", "drill"]).trouble(2);
    assert!(said.contains("is not sound"), "{said}");
}

#[test]
fn pruning_keeps_the_backup_that_a_drill_restored() {
    let desk = Desk::with_site();
    let first = desk.json(&["backup"]);
    desk.json(&["backup", "drill"]);
    let dir = backups(&desk).remove(0);
    let age = |dir: &Path, days: i64| {
        edit_manifest(dir, |manifest| {
            manifest["made_at"] = json!(manifest["made_at"].as_i64().unwrap() - days * 86_400);
        });
    };
    desk.json(&["backup"]);
    let unproven = backups(&desk).into_iter().find(|one| *one != dir).unwrap();
    // Both backups are too old to be kept for their age or their number. Only one of them was ever opened.
    const NEWER: i64 = 80;
    for days in 1..=NEWER {
        let newer = dir.with_file_name(format!("newer-{days}"));
        std::fs::create_dir(&newer).unwrap();
        std::fs::copy(unproven.join("manifest.json"), newer.join("manifest.json")).unwrap();
        age(&newer, days);
    }
    age(&dir, 100);
    age(&unproven, 101);
    let pruned = desk.json(&["backup"])["pruned"].as_i64().unwrap();
    let left = backups(&desk);
    assert_eq!(pruned + left.len() as i64, NEWER + 3, "{left:?}");
    assert!(left.contains(&dir) && !left.contains(&unproven), "{left:?} without {first}");
}

#[test]
fn a_backup_whose_off_site_target_hangs_does_not_block_other_commands() {
    const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let second = name_off_site(&desk);
    std::fs::create_dir_all(second.join("hanging")).unwrap();
    let _server = desk.serve();
    desk.run(&["backup"]).done();
    assert!(make_hanging(&second.join("hanging/manifest.json")));
    std::thread::scope(|scope| {
        let began = Instant::now();
        let hung = scope.spawn(|| desk.run(&["backup"]).trouble(2));
        // Each command uses the local backup store and the database.
        desk.run(&["member", "list"]).done();
        desk.run(&["member", "erase", "jane", "--yes"]);
        // The drill is refused while the database itself is copied.
        while desk.run(&["backup", "drill"]).code != Some(0) {
            assert!(!hung.is_finished(), "the shelf is held while the off-site place hangs");
        }
        let said = hung.join().unwrap();
        assert!(said.contains("was made") && said.contains("does not answer"), "{said}");
        assert!(began.elapsed() < ANSWER_TIME_MAX, "{:?}", began.elapsed());
    });
}

#[test]
fn a_restore_names_newer_backups_that_cannot_be_read() {
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    desk.run(&["backup"]).done();
    let newest = backups(&desk).into_iter().max().unwrap();
    let name = newest.file_name().unwrap().to_str().unwrap();
    // The changed manifest is valid JSON: one digit of a number differs.
    let path = newest.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("\"made_at\": 1").unwrap() + "\"made_at\": ".len();
    std::fs::write(&path, [&text[..at], "2", &text[at + 1..]].concat()).unwrap();
    let listed = desk.run(&["backup", "list"]).done();
    assert!(listed.contains(name) && listed.contains("damaged"), "{listed}");
    assert_eq!(desk.json(&["backup", "list"])["unreadable"][0][0], name);
    let said = cut_short(&desk, &["restore"]);
    assert!(said.contains("passed over") && said.contains(name), "{said}");
    let said = desk.run(&["restore", newest.to_str().unwrap()]).trouble(1);
    assert!(said.contains("damaged"), "{said}");
}
