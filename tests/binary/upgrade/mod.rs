//! Upgrades of older databases, and their rollback: databases as released versions left them, in `tests/databases`.

pub mod kills;
mod rollback;

use crate::harness::{Desk, PASSWORD, text};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

const RELEASED: [(i64, &str); 3] = [
    (8, include_str!("../../databases/V0008.sql")),
    (15, include_str!("../../databases/V0015.sql")),
    (25, include_str!("../../databases/V0025.sql")),
];
/// The first schema with an audit log.
const WITH_AUDIT: i64 = 16;

/// A site as the released version with this schema left it.
fn older_site(schema: i64) -> Desk {
    let desk = Desk::empty();
    lay(&desk.data(), schema);
    desk
}

pub fn lay(dir: &Path, schema: i64) {
    let dump = RELEASED.iter().find(|(known, _)| *known == schema).unwrap().1;
    std::fs::DirBuilder::new().mode(0o700).create(dir).unwrap();
    let key = dump.lines().next().unwrap().strip_prefix("-- site.key ").unwrap();
    std::fs::write(dir.join("site.key"), format!("{key}\n")).unwrap();
    std::fs::set_permissions(dir.join("site.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let conn = Connection::open(dir.join("tunneldesk.sqlite")).unwrap();
    // A dump fills tables before the tables that they refer to.
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(dump).unwrap();
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
    let mut statement = conn.prepare("SELECT deed FROM audit ORDER BY seq").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The usernames in a database, which is upgraded first.
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

#[test]
fn a_site_of_each_released_schema_is_upgraded_with_all_that_is_in_it_and_goes_back() {
    let newest = schema(&Desk::with_site().database());
    for (from, _) in RELEASED.into_iter().filter(|(from, _)| *from < newest) {
        let desk = older_site(from);
        // A schema with an audit log records the rollback: an audit row, its number in the sequence, and the time.
        let records = from >= WITH_AUDIT;
        let changed: &[&str] = if records { &["audit", "site", "sqlite_sequence"] } else { &[] };
        let before = content(&desk.database(), changed);
        let audited = records.then(|| deeds(&desk.database()));
        let server = desk.serve();
        assert!(server.log.wait_for("the file was upgraded; `tunneldesk rollback` brings it back as it was").is_some());
        let lines =
            server.log.so_far().into_iter().map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
        let telling = lines.filter(|line| text(&line["message"]).starts_with("upgrading the file"));
        let steps: Vec<String> = telling.map(|line| text(&line["step"]).to_owned()).collect();
        let ends = steps.first().zip(steps.last()).map(|(first, last)| (&**first, &**last));
        assert_eq!(ends, Some(("checking", "upgrading")), "{steps:?}");
        server.sign_in("jane", PASSWORD);
        let said = desk.run(&["rollback"]).trouble(1);
        assert!(said.contains("is running on") && said.contains("stop it first"), "{said}");
        desk.add_member("late", "member");
        assert_eq!(server.stop().code, Some(0));
        assert!(schema(&desk.database()) >= 19);
        assert_eq!(ways_back(&desk).len(), 1);

        let said = desk.run(&["rollback"]).done();
        assert!(said.contains(&format!("schema {from}")) && said.contains("replaced-1"), "{said}");
        assert_eq!(content(&desk.database(), changed), before, "the file is not as it was");
        if let Some(mut deeds_before) = audited {
            deeds_before.push("site.rolled_back".to_owned());
            assert_eq!(deeds(&desk.database()), deeds_before);
        }
        let again = desk.run(&["rollback"]).done();
        assert!(again.contains("so already"), "{again}");
        let replaced = desk.data().join("replaced-1");
        let listed = desk.run(&["member", "list", "--data", replaced.to_str().unwrap()]).done();
        assert!(listed.contains("late"), "what it replaced is not kept: {listed}");

        // The next start upgrades the database again, and that upgrade's backup is the only one.
        assert_eq!(usernames(&desk), ["mark", "sync", "jane"]);
        assert_eq!(ways_back(&desk).len(), 1);
    }
}

/// In Zurich: 26 November 2026, its first moment, noon, and last second.
const DAY: [i64; 3] = [1_795_647_600, 1_795_691_160, 1_795_733_999];

#[test]
fn an_upgrade_ends_what_ended_in_the_middle_of_a_day_with_it_and_writes_names_in_one_form() {
    let desk = older_site(25);
    let conn = Connection::open(desk.database()).unwrap();
    conn.execute("UPDATE tunnels SET time_zone = 'Europe/Zurich'", []).unwrap();
    for (username, name, paid) in [("jane", "Jo\u{308}rg Doe", DAY[1]), ("mark", "mark", DAY[2]), ("sync", "s", DAY[0])]
    {
        let sql = "UPDATE members SET real_name = ?2, paid_until = ?3 WHERE username = ?1";
        assert_eq!(conn.execute(sql, (username, name, paid)).unwrap(), 1);
    }
    drop(conn);
    desk.run(&["upgrade"]).done();
    let found: String = Connection::open(desk.database())
        .unwrap()
        .query_row("SELECT group_concat(real_name || ' ' || paid_until ORDER BY member_id) FROM members", [], |row| {
            row.get(0)
        })
        .unwrap();
    let end = DAY[2];
    assert_eq!(found, format!("J\u{f6}rg Doe {end},s {end},mark {end}"));
}

#[test]
fn members_erased_before_a_rollback_are_erased_again_by_the_next_upgrade_which_records_the_rollback() {
    let desk = older_site(15);
    assert_eq!(usernames(&desk), ["mark", "sync", "jane"]);
    desk.run(&["member", "erase", "jane", "--yes"]).done();
    desk.run(&["backup"]).done();
    let said = desk.run(&["rollback"]).done();
    assert!(said.contains("One member who was erased since is in it again"), "{said}");
    assert_eq!(schema(&desk.database()), 15);
    let after = usernames(&desk);
    assert!(after[2].starts_with("erased-") && !after.contains(&"jane".to_owned()), "{after:?}");
    let log = desk.json(&["audit", "list"]);
    let rows: Vec<_> = log.as_array().unwrap().iter().map(|row| (text(&row["deed"]), text(&row["who"]))).collect();
    assert_eq!(rows, [("site.rolled_back", "job:upgrade")]);
    let said = desk.run(&["audit", "verify"]).done();
    assert!(said.contains("is intact"), "{said}");
    let highest = "SELECT seq FROM sqlite_sequence WHERE name = 'history'";
    let highest: i64 = Connection::open(desk.database()).unwrap().query_row(highest, [], |row| row.get(0)).unwrap();
    assert!(highest >= 10_000, "numbers that others know are given again: {highest}");
}

#[test]
fn a_rollback_names_the_version_to_go_back_to_and_without_an_upgrade_does_nothing() {
    let desk = older_site(15);
    // An hourly backup of the older version names that version.
    let made_at = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    let hourly = desk.data().join(format!("backups/{}", made_at.strftime("%Y-%m-%dT%H-%M-%SZ")));
    std::fs::create_dir_all(&hourly).unwrap();
    let manifest = json!({ "version": "0.0.9 (abc)", "site_id": "", "schema": 15, "made_at": made_at.as_second(),
        "files": {}, "rows": {} });
    std::fs::write(hourly.join("manifest.json"), manifest.to_string()).unwrap();
    usernames(&desk);
    let done = desk.json(&["rollback"]);
    assert_eq!((&done["version"], &done["schema"]), (&json!("0.0.9 (abc)"), &json!(15)), "{done}");

    let new = Desk::with_site();
    let said = new.run(&["rollback"]).trouble(1);
    assert!(said.contains("nothing to take back"), "{said}");
    let said = Desk::empty().run(&["rollback"]).trouble(1);
    assert!(said.contains("cannot open the data directory"), "{said}");
}

#[test]
fn a_damaged_database_is_not_upgraded() {
    let desk = older_site(15);
    let mut bytes = std::fs::read(desk.database()).unwrap();
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    std::fs::write(desk.database(), &bytes).unwrap();
    let said = desk.run(&["upgrade"]).trouble(2);
    assert!(said.contains("is damaged") && said.contains("tunneldesk restore"), "{said}");
    assert_eq!(schema(&desk.database()), 15);
    assert!(ways_back(&desk).is_empty());
}

#[test]
fn without_room_for_the_backup_nothing_is_upgraded() {
    let desk = older_site(15);
    // A sparse file: its length is beyond the free disk space, without using it.
    let file = std::fs::OpenOptions::new().write(true).open(desk.database()).unwrap();
    let true_length = file.metadata().unwrap().len();
    file.set_len(4 << 40).unwrap();
    let said = desk.run(&["upgrade"]).trouble(2);
    assert!(said.contains("nothing was changed") && said.contains("no room") && said.contains("make room"), "{said}");
    file.set_len(true_length).unwrap();
    assert_eq!(schema(&desk.database()), 15);
    assert!(ways_back(&desk).is_empty());
    assert_eq!(usernames(&desk), ["mark", "sync", "jane"]);
}

#[test]
fn a_database_with_the_wrong_key_is_not_upgraded() {
    let desk = older_site(15);
    std::fs::write(desk.data().join("site.key"), format!("{}\n", "7".repeat(64))).unwrap();
    let said = desk.run(&["upgrade"]).trouble(2);
    assert!(said.contains("is not the key of"), "{said}");
    assert_eq!(schema(&desk.database()), 15);
}

#[test]
fn a_command_that_is_typed_beside_an_older_database_leaves_it_as_it_is_and_says_what_upgrades_it() {
    let desk = older_site(15);
    let everything = || {
        let mut names: Vec<_> =
            std::fs::read_dir(desk.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        (content(&desk.database(), &[]), names)
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
                said.contains("schema 15") && said.contains("tunneldesk upgrade") && said.contains("tunneldesk serve");
            assert!(helps && !said.trim_end().contains('\n'), "{args:?}: {said}");
            assert_eq!(schema(&desk.database()), 15, "{args:?}");
        }
        let doctor = desk.run(&["doctor"]);
        assert!(doctor.out.contains("tunneldesk upgrade"), "{}", doctor.out);
        assert!(everything() == *before, "{:?} beside {:?}", everything().1, before.1);
        assert!(ways_back(&desk).len() < 2);
    };
    unchanged(&everything());
    let said = desk.run(&["upgrade"]).done();
    assert!(said.contains("was upgraded from schema 15") && said.contains("tunneldesk rollback"), "{said}");
    assert!(desk.run(&["upgrade"]).done().contains("nothing was changed"));
    desk.run(&["member", "list"]).done();
    // After a rollback the older version is to have its file.
    desk.run(&["rollback"]).done();
    unchanged(&everything());
}
