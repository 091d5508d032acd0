//! What a command prints: names that would disturb a terminal are refused, and a result that cannot be written is a failure.

use crate::harness::{Desk, Ran};
use std::fs::File;

/// Runs a command whose standard output takes no bytes, as on a full disk.
fn on_a_full_disk(desk: &Desk, args: &[&str]) -> Ran {
    let full = File::options().write(true).open("/dev/full").unwrap();
    Ran::from(desk.command(args).stdout(full).output().unwrap())
}

#[test]
fn a_result_that_cannot_be_written_is_a_failure_with_and_without_a_server() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let commands = [
        &["member", "list"][..],
        &["export", "members"],
        &["partner", "add", "Skyline"],
        &["backup", "list", "--json"],
        &["doctor"],
        &["check"],
        &["routes"],
        &["--help"],
        &["--version"],
        &["member", "add", "--help"],
    ];
    let all_fail = || {
        for args in commands {
            let said = on_a_full_disk(&desk, args).trouble(2);
            assert!(said.contains("cannot be written"), "{args:?}: {said}");
        }
    };
    all_fail();
    let _server = desk.serve();
    all_fail();
}

#[test]
fn names_that_no_form_would_take_are_refused() {
    let desk = Desk::with_site();
    let long = "x".repeat(70_000);
    for name in [long.as_str(), "a\nb", "\u{1b}[31m", "", "  "] {
        let args = ["member", "add", "jane", "--email", "jane@example.com", "--name", name];
        let said = desk.run(&args).trouble(1);
        assert!(said.contains("name"), "{said}");
    }
    let new = Desk::empty();
    for (name, city, country) in [
        ("", "Thun", "CH"),
        (" ", "", "CH"),
        (&long, "", "CH"),
        ("a\nb", "", "CH"),
        ("T", "\u{1b}[31m", "CH"),
        ("T", "", "ZZ"),
    ] {
        let args = ["init", "--name", name, "--city", city, "--country", country, "--time-zone", "Europe/Zurich"];
        let refused = new.run(&args);
        assert_eq!((refused.code, &*refused.out), (Some(1), ""), "{name:?} {city:?} {country:?}: {}", refused.err);
        assert!(!new.data().exists(), "{name:?} {city:?} {country:?}");
    }
}

#[test]
fn a_table_shows_the_long_and_odd_values_of_an_earlier_version() {
    let desk = Desk::with_site();
    let id = desk.add_member("jane", "member");
    let conn = rusqlite::Connection::open(desk.database()).unwrap();
    let name = format!("\u{1b}[31m{}", "x".repeat(70_000));
    conn.execute("UPDATE members SET real_name = ?1, screen_name = ?1 WHERE member_id = ?2", (&name, id)).unwrap();
    drop(conn);
    let table = desk.run(&["member", "list"]).done();
    assert!(table.contains("xxx…") && !table.contains('\u{1b}') && table.len() < 10_000, "{} bytes", table.len());
}

#[test]
fn a_restore_that_finds_no_backup_leaves_no_directory_behind() {
    let desk = Desk::empty();
    desk.run(&["restore", "--dry-run"]).trouble(1);
    assert!(!desk.data().exists());
}
