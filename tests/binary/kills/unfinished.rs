//! Commands that make a whole site in a directory beside the final one: killed at any point, they can be run again, and
//! the next start leaves no remains.

use crate::harness::Desk;
use crate::upgrade::kills::{CALLS, at_every_point, copy, killed};
use rusqlite::Connection;
use std::path::PathBuf;

/// System calls that change a disk, in addition to those of an upgrade.
const MORE_CALLS: [&str; 3] = ["openat", "chmod", "rmdir"];
const INIT: [&str; 5] = ["init", "--name", "Windwerk", "--country", "CH"];

fn hidden(desk: &Desk) -> Vec<PathBuf> {
    let found = std::fs::read_dir(desk.data()).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('.')).collect()
}

#[test]
fn an_init_killed_anywhere_can_be_run_again_or_has_made_the_site() {
    let calls = [&CALLS[..], &MORE_CALLS].concat();
    let (mut again, mut whole) = (0, 0);
    let kills = at_every_point(&calls, Desk::empty, &INIT, |desk, at| {
        let ran = desk.run(&INIT);
        if ran.code == Some(0) {
            again += 1;
        } else {
            assert!(ran.err.contains("there is a site"), "{at}: {}", ran.err);
            whole += 1;
        }
        let sql = "SELECT name, action FROM site JOIN tunnels USING (tunnel_id), audit";
        let row = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
        let made: (String, String) = Connection::open(desk.database()).unwrap().query_row(sql, [], row).unwrap();
        assert_eq!(made, ("Windwerk".to_owned(), "site.made".to_owned()), "{at}");
        assert!(!desk.data().join("replaced-1").exists(), "{at}");
        assert_eq!(hidden(desk), Vec::<PathBuf>::new(), "{at}");
    });
    println!("{kills} kills of an init: {again} ran again, {whole} had made the site");
    assert!(again > 20 && whole > 0, "{again} again, {whole} whole");
}

#[test]
fn an_init_that_an_earlier_version_left_unfinished_can_be_run_again() {
    let desk = Desk::with_site();
    let conn = Connection::open(desk.database()).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = off; DELETE FROM site; DELETE FROM tunnels").unwrap();
    drop(conn);
    let said = desk.run(&["member", "list"]).trouble(2);
    assert!(said.contains("run `tunneldesk init` again"), "{said}");
    desk.run(&INIT).done();
    desk.run(&["member", "list"]).done();
}

#[test]
fn a_copy_that_a_killed_restore_left_is_named_and_removed_by_the_next_start() {
    let origin = Desk::with_site();
    origin.run(&["backup"]).done();
    let (mut left, mut number) = (0, 0);
    loop {
        number += 1;
        let desk = copy(&origin.data());
        if !killed(&desk, &["restore"], "fsync", number) {
            break;
        }
        let copy = desk.data().join(".restoring");
        if copy.exists() {
            left += 1;
            let (state, said) = desk.fact("leftovers").expect("a fact about the copy");
            assert!(state == "warning" && said.contains(".restoring"), "{state}: {said}");
        } else {
            desk.run(&["member", "list"]).done();
        }
        assert_eq!(hidden(&desk), Vec::<PathBuf>::new(), "killed before fsync {number}");
    }
    assert!(left > 0, "no kill left a copy");
}

#[test]
fn a_copy_that_a_killed_drill_left_is_removed_by_the_next_start() {
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    let copy = desk.data().join("backups/.drill");
    assert!(killed(&desk, &["backup", "drill"], "fsync", 2));
    assert!(copy.exists());
    desk.run(&["member", "list"]).done();
    assert!(!copy.exists());
}
