//! Damage that a backup, a server start or a command finds, and where the site reports it.

use super::enter;
use crate::harness::{Desk, PASSWORD};
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Damages an index: it lacks the rows that `sql` writes.
fn spoil_index(desk: &Desk, index: &str, sql: &str) {
    let file = rusqlite::Connection::open(desk.database()).unwrap();
    let write = |change: &str| {
        file.execute_batch(&format!(
            "PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = {change} WHERE name = '{index}'; PRAGMA writable_schema = reset"
        ))
        .unwrap();
    };
    write("sql || ' WHERE 0'");
    file.execute_batch(sql).unwrap();
    write("replace(sql, ' WHERE 0', '')");
}

#[test]
fn damage_found_by_a_backup_raises_the_alarm_at_once_and_a_damaged_index_is_rebuilt() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    desk.json(&["session", "issue", "--role", "sync"]);
    spoil_index(&desk, "sessions_by_member", "DELETE FROM sessions");
    let server = desk.serve();
    // The start of the server or the backup finds the damage, whichever is first. A backup during the rebuild may be
    // refused.
    while desk.run(&["backup"]).code != Some(0) {}
    // The audit row is written once the index is rebuilt. A backup does not wait for that when the start found the
    // damage.
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let rows = desk.json(&["audit", "list", "--limit", "9"]);
        if rows.as_array().unwrap().iter().any(|row| row["action"] == "indexes.rebuilt") {
            break;
        }
        assert!(Instant::now() < deadline, "{rows}");
    }
    assert_eq!(desk.fact("integrity").unwrap().0, "ok");
    // A row that no other row refers to, as a damaged page leaves it.
    assert_eq!(server.stop().code, Some(0));
    let orphan = "PRAGMA foreign_keys = off; INSERT INTO media VALUES (999, x'00', 0)";
    rusqlite::Connection::open(desk.database()).unwrap().execute_batch(orphan).unwrap();
    for _ in 0..2 {
        let server = desk.serve();
        desk.run(&["backup"]).trouble(2);
        for (name, word) in [("integrity", "database is damaged, as was found"), ("backup", "No backup could be made")]
        {
            let (state, said) = desk.fact(name).unwrap();
            assert!(state == "alarm" && said.contains(word), "{name} {state}: {said}");
            let ready = server.get(&crate::harness::Caller::Anyone, "/readyz?verbose");
            assert!(ready.body.contains(&format!("alarm {name}\n")), "{}", ready.body);
        }
        assert_eq!(server.stop().code, Some(0));
        assert_eq!(desk.fact("integrity").unwrap().0, "alarm", "a restart forgets it");
    }
    rusqlite::Connection::open(desk.database()).unwrap().execute_batch("DELETE FROM media").unwrap();
    desk.run(&["backup"]).done();
    for name in ["integrity", "backup"] {
        assert_eq!(desk.fact(name).unwrap().0, "ok");
    }
}

#[test]
fn a_wal_that_lost_acknowledged_writes_is_an_alarm_until_it_is_noted_and_a_plain_kill_is_none() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let log = desk.data().join("tunneldesk.sqlite-wal");
    let killed = || {
        let server = desk.serve();
        let jane = server.sign_in("jane", PASSWORD);
        (0..5).for_each(|_| assert!(enter(&server, &jane)));
        server.kill();
        server.ended();
    };
    killed();
    assert_eq!(desk.fact("lost_writes").unwrap().0, "ok", "a plain kill");
    killed();
    std::fs::write(&log, "").unwrap();
    let server = desk.serve();
    for _ in 0..2 {
        let (state, said) = desk.fact("lost_writes").unwrap();
        assert!(state == "alarm" && said.contains("missing or empty"), "{said}");
    }
    let ready = server.get(&crate::harness::Caller::Anyone, "/readyz?verbose");
    assert!(ready.body.contains("alarm lost_writes\n"), "{}", ready.body);
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(desk.fact("lost_writes").unwrap().0, "alarm", "a restart forgets it");
    desk.run(&["doctor", "--noted"]);
    assert_eq!(desk.fact("lost_writes").unwrap().0, "ok");
    assert_eq!(desk.json(&["audit", "list", "--limit", "1"])[0]["action"], "alarm.noted");
    for bits in [4, 5] {
        killed();
        let mut bytes = std::fs::read(&log).unwrap();
        bytes[20] ^= bits;
        std::fs::write(&log, bytes).unwrap();
        assert_eq!(desk.fact("lost_writes").unwrap().0, "alarm", "bits {bits} of the head are flipped");
        desk.run(&["doctor", "--noted"]);
    }
}

#[test]
fn writes_that_a_lost_wal_takes_along_come_back_from_the_off_site_copy_by_the_printed_command() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let off_site = desk.path().join("off-site");
    std::fs::create_dir(&off_site).unwrap();
    let settings = format!("[backup]\noff_site = {off_site:?}\n");
    std::fs::write(desk.path().join("tunneldesk.toml"), settings).unwrap();
    let server = desk.serve();
    let jane = server.sign_in("jane", PASSWORD);
    (0..5).for_each(|_| assert!(enter(&server, &jane)));
    crate::off_site::until("the copy of the writes", || {
        let (_, said) = desk.fact("off_site").unwrap();
        said.contains("is 0 s behind the last write (0 kB)").then_some(())
    });
    server.kill();
    server.ended();
    // The command names the second of the last write, and not one shortly before the start.
    let second = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let killed = second();
    crate::off_site::until("a later second", || (second() > killed + 1).then_some(()));
    std::fs::write(desk.data().join("tunneldesk.sqlite-wal"), "").unwrap();
    let entries = || desk.run(&["export", "logbook"]).done().lines().count() - 1;
    assert_eq!((desk.fact("lost_writes").unwrap().0, entries()), ("alarm".to_owned(), 0));
    let said = desk.run(&["doctor"]).out;
    let at = said.split_once("restore --at \"").unwrap().1.split_once("\" --dry-run").unwrap().0;
    let moment: jiff::Timestamp = at.parse().unwrap();
    assert!((killed - 30..=killed).contains(&moment.as_second().cast_unsigned()), "{at} of {killed}");
    desk.run(&["restore", "--at", at, "--dry-run"]).done();
    assert_eq!(entries(), 0, "a dry run changes nothing");
    desk.run(&["restore", "--at", at]).done();
    assert_eq!(entries(), 5);
    assert_eq!(desk.fact("lost_writes").unwrap().0, "ok");
}

#[test]
fn an_off_site_disk_that_is_not_mounted_any_more_is_reported_and_nothing_is_copied_to_its_mount_point() {
    let desk = Desk::with_site();
    let Ok(disk) = tempfile::tempdir_in("/dev/shm") else { return println!("SKIPPED: no second disk") };
    if disk.path().metadata().unwrap().dev() == desk.data().metadata().unwrap().dev() {
        return println!("SKIPPED: no second disk");
    }
    let second = super::name_off_site(&desk);
    symlink(disk.path(), &second).unwrap();
    desk.run(&["backup"]).done();
    std::fs::remove_file(&second).unwrap();
    std::fs::create_dir(&second).unwrap();
    let said = desk.run(&["backup"]).trouble(2);
    assert!(said.contains("is it mounted?"), "{said}");
    assert_eq!(std::fs::read_dir(&second).unwrap().count(), 0);
    assert_eq!(desk.fact("off_site_backup").unwrap().0, "alarm");
    let server = desk.serve();
    crate::off_site::until("the cause", || desk.fact("off_site").filter(|(_, said)| said.contains("is it mounted?")));
    assert_eq!(std::fs::read_dir(&second).unwrap().count(), 0);
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir(&second).unwrap();
    symlink(disk.path(), &second).unwrap();
    desk.run(&["backup"]).done();
    assert_eq!(desk.fact("off_site_backup").unwrap().0, "ok");
}
