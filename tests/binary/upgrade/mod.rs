//! Upgrades and their rollback. The schema has had one version only, so the tests upgrade from it to a migration of their own,
//! `later.sql`, which the executable takes for one of its migrations in a build with debug assertions.

#![cfg_attr(not(debug_assertions), allow(unused, reason = "most tests need a build with debug assertions"))]

#[cfg(debug_assertions)]
pub mod kills;
mod rollback;

use crate::harness::{Desk, PASSWORD, Ran, edit_manifest, text};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// Rows of tables that the later migration touches, and of others that refer to them.
const ROWS: &str = "
    INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, arrived_at, arrived_by, created_at, updated_at)
        VALUES (1, 1, 1790000000, 12, 1, 1789999000, 3, 1780000000, 1780000000);
    INSERT INTO events (partner_id, type, at, member_id, booking_id, history_seq) VALUES (1, 'booking.recorded', 1780000000, 1, 1, 1);
    UPDATE site SET history_seq = 1;
    INSERT INTO refused_check_ins (booking_id, tapped_at, reason) VALUES (1, 1789998000, 'too_early');
    INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, booking_id, cat_group, created_at, updated_at)
        VALUES (1, 'time', 'open', 1790000000, 12, 1, 1, 1, '', 1790000000, 1790000000),
               (1, 'skill', 'denied', 1790000000, 0, 1, 1, NULL, 'Flyer', 1790000000, 1790000100);
    INSERT INTO entry_events (entry_id, step, at, member_id, from_status, to_status)
        VALUES (2, 1, 1790000000, 1, NULL, 'pending'), (2, 2, 1790000100, 3, 'pending', 'denied');
    INSERT INTO payments (member_id, intent_id, amount_cents, currency, status, created_at, updated_at)
        VALUES (1, 'pi_1', 3000, 'CHF', 'succeeded', 1790000000, 1790000100);
    INSERT INTO till_entries (payment_id, kind, amount_cents, currency, taken_by, taken_at)
        VALUES (1, 'cash', 3000, 'CHF', 3, 1790000100);";

/// A closed site of this version, with rows of many tables.
static ORIGIN: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let desk = Desk::with_site();
    assert_eq!(desk.add_member("jane", "member"), 1);
    desk.sync_session();
    assert_eq!(desk.add_member("mark", "admin"), 3);
    desk.add_partner(&[]);
    Connection::open(desk.database()).unwrap().execute_batch(ROWS).unwrap();
    desk.run(&["member", "list"]).done();
    let origin = tempfile::tempdir().unwrap();
    copy_directory(&desk.data(), &origin.path().join("origin"));
    origin
});

fn copy_directory(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// Puts a site of this version into a directory that is not there yet.
pub fn lay(dir: &Path) {
    copy_directory(&ORIGIN.path().join("origin"), dir);
}

/// A site of this version, beside which a later one is installed.
#[cfg(debug_assertions)]
fn older_site() -> Desk {
    let desk = Desk::empty();
    lay(&desk.data());
    desk.install_later();
    desk
}

fn schema(database: &Path) -> i64 {
    let sql = "SELECT max(version) FROM refinery_schema_history";
    Connection::open(database).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Every schema object, and every row of the tables not in `but`.
fn content(database: &Path, but: &[&str]) -> Vec<String> {
    let conn = Connection::open(database).unwrap();
    let list = |sql: &str| -> Vec<String> {
        conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut content = list("SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY 1");
    for table in list("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        if but.contains(&table.as_str()) {
            continue;
        }
        let mut statement = conn.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row| (0..columns).map(|i| row.get::<_, Value>(i)).collect::<Result<Vec<_>, _>>();
        content.extend(statement.query_map([], row).unwrap().map(|row| format!("{table}: {:?}", row.unwrap())));
    }
    content
}

fn deeds(database: &Path) -> Vec<String> {
    let conn = Connection::open(database).unwrap();
    let mut statement = conn.prepare("SELECT action FROM audit ORDER BY seq").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The usernames in the database, which is upgraded first.
fn usernames(desk: &Desk) -> Vec<String> {
    desk.run(&["upgrade"]).done();
    let said = desk.json(&["member", "list"]);
    said.as_array().unwrap().iter().map(|member| text(&member["username"]).to_owned()).collect()
}

/// The backups that upgrades made.
fn ways_back(desk: &Desk) -> Vec<PathBuf> {
    let found =
        std::fs::read_dir(desk.data().join("backups")).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(|path| path.to_string_lossy().contains("-schema-")).collect()
}

const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// The one line with which a command refuses a database.
fn refusal(desk: &Desk, args: &[&str]) -> String {
    let mut command = desk.command(args);
    Ran::from(command.env("TUNNELDESK_METRICS_LISTEN", "").output().unwrap()).trouble(2)
}

/// The file with the sums of the database's pages.
fn sums(desk: &Desk) -> PathBuf {
    desk.data().join("tunneldesk.sqlite-sums")
}

/// What a rollback, which is recorded, changes: an audit row, its number, the time, and the numbers of the history.
const RECORDED: [&str; 3] = ["audit", "site", "sqlite_sequence"];

#[cfg(debug_assertions)]
#[test]
fn a_site_is_upgraded_with_all_that_is_in_it_and_goes_back() {
    let desk = older_site();
    let from = schema(&desk.database());
    let before = content(&desk.database(), &RECORDED);
    let mut deeds_before = deeds(&desk.database());
    let server = desk.serve();
    assert!(server.log.wait_for("the file was upgraded; `tunneldesk rollback` brings it back as it was").is_some());
    let lines = server.log.so_far().into_iter().map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
    let telling = lines.filter(|line| text(&line["message"]).starts_with("upgrading the file"));
    let steps: Vec<String> = telling.map(|line| text(&line["step"]).to_owned()).collect();
    let ends = steps.first().zip(steps.last()).map(|(first, last)| (&**first, &**last));
    assert_eq!(ends, Some(("checking", "upgrading")), "{steps:?}");
    server.sign_in("jane", PASSWORD);
    let said = desk.run(&["rollback"]).trouble(1);
    assert!(said.contains("is running on") && said.contains("stop it first"), "{said}");
    desk.add_member("late", "member");
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(schema(&desk.database()), from + 1);
    let kept = "SELECT (SELECT group_concat(nickname) FROM nicknames), (SELECT motto FROM tunnels), (SELECT reason FROM refused_check_ins),
                       (SELECT group_concat(minutes ORDER BY entry_id) FROM entries)";
    let kept = Connection::open(desk.database())
        .unwrap()
        .query_row(kept, [], |row| (0..4).map(|column| row.get(column)).collect::<Result<Vec<String>, _>>());
    assert_eq!(kept.unwrap(), ["jane,sync,mark,late", "Windwerk flies", "too_early", "12,0"]);
    assert_eq!(ways_back(&desk).len(), 1);

    let said = desk.run(&["rollback"]).done();
    assert!(said.contains(&format!("schema {from}")) && said.contains("replaced-1"), "{said}");
    assert_eq!(content(&desk.database(), &RECORDED), before, "the file is not as it was");
    deeds_before.push("site.rolled_back".to_owned());
    assert_eq!(deeds(&desk.database()), deeds_before);
    let again = desk.run(&["rollback"]).done();
    assert!(again.contains("so already"), "{again}");
    let replaced = desk.data().join("replaced-1");
    let listed = desk.run(&["member", "list", "--data", replaced.to_str().unwrap()]).done();
    assert!(listed.contains("late"), "what it replaced is not kept: {listed}");

    // The earlier version has its site again.
    desk.install_earlier();
    let server = desk.serve();
    server.sign_in("jane", PASSWORD);
    assert_eq!(server.stop().code, Some(0));
    // The next start of the later one upgrades the database again, and that upgrade's backup is the only one.
    desk.install_later();
    assert_eq!(usernames(&desk), ["mark", "sync", "jane"]);
    assert_eq!(ways_back(&desk).len(), 1);
}

#[cfg(debug_assertions)]
#[test]
fn a_site_of_a_later_version_is_refused_by_an_earlier_one() {
    let desk = older_site();
    desk.run(&["upgrade"]).done();
    let later = schema(&desk.database());
    desk.install_earlier();
    for args in [&["upgrade"][..], &["member", "list"], &SERVE] {
        let said = refusal(&desk, args);
        assert!(
            said.contains(&format!("schema {later}")) && said.contains("start the version that wrote it"),
            "{said}"
        );
    }
    let said = desk.run(&["rollback"]).done();
    assert!(said.contains(&format!("schema {}", later - 1)), "{said}");
    desk.run(&["member", "list"]).done();
}

/// The checksum of the first migration that files from before the first release have.
const OTHER_BEGINNING: &str = "UPDATE refinery_schema_history SET checksum = '14096704634564195803' WHERE version = 1";

#[test]
fn a_site_or_a_backup_of_before_the_first_release_is_refused_in_one_line_and_left_as_it_is() {
    let desk = Desk::empty();
    lay(&desk.data());
    Connection::open(desk.database()).unwrap().execute_batch(OTHER_BEGINNING).unwrap();
    // Otherwise the log tells that another program changed the file.
    std::fs::remove_file(sums(&desk)).unwrap();
    let before = content(&desk.database(), &[]);
    for args in [
        &SERVE[..],
        &["upgrade"],
        &["rollback"],
        &["member", "list"],
        &["export", "members"],
        &["backup"],
        &["audit", "verify"],
    ] {
        let said = refusal(&desk, args);
        let helps = said.contains("from before the first release") && said.contains("`tunneldesk init`");
        assert!(helps, "{args:?}: {said}");
    }
    assert!(content(&desk.database(), &[]) == before);
    assert!(ways_back(&desk).is_empty());

    // A backup that such a version made.
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    let found = std::fs::read_dir(desk.data().join("backups")).unwrap().map(|entry| entry.unwrap().path());
    let backup = found.filter(|path| path.join("manifest.json").exists()).max().unwrap();
    let file = backup.join("tunneldesk.sqlite");
    Connection::open(&file).unwrap().execute_batch(OTHER_BEGINNING).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    edit_manifest(&backup, |manifest| {
        manifest["files"]["tunneldesk.sqlite"] = json!({ "bytes": bytes.len(), "sha256": digest });
    });
    let before = content(&desk.database(), &[]);
    let said = desk.run(&["restore", backup.file_name().unwrap().to_str().unwrap(), "--unsigned"]).trouble(2);
    assert!(said.contains("from before the first release"), "{said}");
    assert!(content(&desk.database(), &[]) == before);
}

#[cfg(debug_assertions)]
#[test]
fn members_erased_before_a_rollback_are_erased_again_by_the_next_upgrade() {
    let desk = older_site();
    assert_eq!(usernames(&desk), ["mark", "sync", "jane"]);
    desk.run(&["member", "erase", "jane", "--yes"]).done();
    desk.run(&["backup"]).done();
    let said = desk.run(&["rollback"]).done();
    assert!(said.contains("One member who was erased since is in it again"), "{said}");
    let after = usernames(&desk);
    assert!(after[2].starts_with("erased-") && !after.contains(&"jane".to_owned()), "{after:?}");
    let log = desk.json(&["audit", "list"]);
    let deeds = log.as_array().unwrap().iter().filter(|row| row["action"] == "site.rolled_back");
    let actor: Vec<_> = deeds.map(|row| text(&row["actor"])).collect();
    assert!(actor.len() == 1 && actor[0].starts_with("cli:"), "{log}");
    let said = desk.run(&["audit", "verify"]).done();
    assert!(said.contains("is intact"), "{said}");
    let highest = "SELECT history_seq FROM site";
    let highest: i64 = Connection::open(desk.database()).unwrap().query_row(highest, [], |row| row.get(0)).unwrap();
    assert!(highest >= 10_000, "numbers that others know are given again: {highest}");
}

#[cfg(debug_assertions)]
#[test]
fn a_rollback_names_the_version_to_go_back_to() {
    let desk = older_site();
    let old = "UPDATE site SET version = '0.0.9 (abc)'";
    Connection::open(desk.database()).unwrap().execute_batch(old).unwrap();
    usernames(&desk);
    let done = desk.json(&["rollback"]);
    assert_eq!(
        (&done["version"], &done["schema"]),
        (&json!("0.0.9 (abc)"), &json!(schema(&desk.database()))),
        "{done}"
    );
}

#[test]
fn a_rollback_without_an_upgrade_does_nothing() {
    let new = Desk::with_site();
    let said = new.run(&["rollback"]).trouble(1);
    assert!(said.contains("nothing to take back"), "{said}");
    let said = Desk::empty().run(&["rollback"]).trouble(1);
    assert!(said.contains("cannot open the data directory"), "{said}");
}

#[cfg(debug_assertions)]
#[test]
fn a_damaged_database_is_not_upgraded() {
    let desk = older_site();
    let mut bytes = std::fs::read(desk.database()).unwrap();
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    std::fs::write(desk.database(), &bytes).unwrap();
    let said = desk.run(&["upgrade"]).trouble(2);
    assert!(said.contains("is damaged") && said.contains("tunneldesk restore"), "{said}");
    // The page may be the one that holds the number of the schema.
    assert!(std::fs::read(desk.database()).unwrap() == bytes, "the file was written to");
    assert!(ways_back(&desk).is_empty());
}

#[cfg(debug_assertions)]
#[test]
fn without_room_for_the_backup_nothing_is_upgraded() {
    let desk = older_site();
    // Otherwise each of its pages would be compared with its sum.
    std::fs::remove_file(sums(&desk)).unwrap();
    // A sparse file: its length is beyond the free disk space, without using it.
    let file = std::fs::OpenOptions::new().write(true).open(desk.database()).unwrap();
    let true_length = file.metadata().unwrap().len();
    file.set_len(4 << 40).unwrap();
    let said = desk.run(&["upgrade"]).trouble(2);
    assert!(said.contains("nothing was changed") && said.contains("no room") && said.contains("make room"), "{said}");
    file.set_len(true_length).unwrap();
    assert_eq!(schema(&desk.database()), 1);
    assert!(ways_back(&desk).is_empty());
    assert_eq!(usernames(&desk), ["mark", "sync", "jane"]);
}

#[cfg(debug_assertions)]
#[test]
fn a_database_with_the_wrong_key_is_not_upgraded() {
    let desk = older_site();
    std::fs::write(desk.data().join("site.key"), format!("{}\n", "7".repeat(64))).unwrap();
    let said = desk.run(&["upgrade"]).trouble(2);
    assert!(said.contains("is not the key of"), "{said}");
    assert_eq!(schema(&desk.database()), 1);
}

#[cfg(debug_assertions)]
#[test]
fn a_command_that_is_typed_beside_an_older_database_leaves_it_as_it_is_and_says_what_upgrades_it() {
    let desk = older_site();
    let everything = || {
        // Its connection, the last, also removes the empty log that the executable leaves.
        let held = content(&desk.database(), &[]);
        let mut names: Vec<_> =
            std::fs::read_dir(desk.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        (held, names)
    };
    let unchanged = |before: &(Vec<String>, Vec<std::ffi::OsString>)| {
        for args in [
            &["member", "list"][..],
            &["member", "erase", "jane", "--yes"],
            &["export", "members"],
            &["audit", "verify"],
            &["backup"],
            &["backup", "list"],
            &["tls", "status"],
            &["clock", "set-back"],
            &["key", "rotate"],
        ] {
            let said = desk.run(args).trouble(2);
            let helps =
                said.contains("schema 1,") && said.contains("tunneldesk upgrade") && said.contains("tunneldesk serve");
            assert!(helps && !said.trim_end().contains('\n'), "{args:?}: {said}");
            assert_eq!(schema(&desk.database()), 1, "{args:?}");
        }
        let doctor = desk.run(&["doctor"]);
        assert!(doctor.out.contains("tunneldesk upgrade"), "{}", doctor.out);
        assert!(everything() == *before, "{:?} beside {:?}", everything().1, before.1);
        assert!(ways_back(&desk).len() < 2);
    };
    unchanged(&everything());
    let said = desk.run(&["upgrade"]).done();
    assert!(said.contains("was upgraded from schema 1 to 2") && said.contains("tunneldesk rollback"), "{said}");
    assert!(desk.run(&["upgrade"]).done().contains("nothing was changed"));
    desk.run(&["member", "list"]).done();
    // After a rollback the older version is to have its file.
    desk.run(&["rollback"]).done();
    unchanged(&everything());
}
