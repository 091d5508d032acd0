//! Forged audit rows: an attacker with the database file but without the key file rewrites rows and recomputes all
//! later hashes.

use crate::harness::{Desk, text};
use rusqlite::Connection;
use tunneldesk::domain::audit::{ChainKey, Hash, Row, genesis, hash};
use tunneldesk::store::Read;
use tunneldesk::store::tables::audit::list_after;

/// A forger's function for the hash of a row, from the hash of the row before it.
type Way<'a> = &'a dyn Fn(&Hash, &Row) -> Hash;

const TRIGGERS: &str = "DROP TRIGGER audit_is_final; DROP TRIGGER audit_is_kept; DROP TRIGGER audit_goes_on; DROP TRIGGER audit_ends_forward";
/// The number of rows that [`desk_with_rows`] leaves.
const ROWS: i64 = 6;

fn desk_with_rows() -> Desk {
    let desk = Desk::with_site();
    (2..=ROWS).for_each(|number| _ = desk.add_member(&format!("member{number}"), "member"));
    desk
}

/// Rewrites rows `from..=last` as a forger would: row `from` names another object, and the rows up to `last` get hashes
/// that fit. With `cut`, the rows after `last` are deleted; otherwise they stay unchanged.
fn forge(desk: &Desk, from: i64, last: i64, cut: bool, hash: impl Fn(&Hash, &Row) -> Hash) {
    let file = Connection::open(desk.database()).unwrap();
    file.execute_batch(TRIGGERS).unwrap();
    file.execute("UPDATE audit SET subject = 'member:99' WHERE seq = ?1", [from]).unwrap();
    let site_id: String = file.query_row("SELECT site_id FROM site", [], |row| row.get(0)).unwrap();
    let mut before = genesis(&site_id);
    for kept in list_after(&Read::on(&file), 0, 1_000).unwrap() {
        if (from..=last).contains(&kept.row.seq) {
            before = hash(&before, &kept.row);
            file.execute("UPDATE audit SET hash = ?2 WHERE seq = ?1", (kept.row.seq, before)).unwrap();
        } else {
            before = kept.hash.try_into().unwrap();
        }
    }
    if cut {
        file.execute("DELETE FROM audit WHERE seq > ?1", [last]).unwrap();
    }
    let end = "UPDATE site SET audit_seq = (SELECT max(seq) FROM audit),
                               audit_hash = (SELECT hash FROM audit ORDER BY seq DESC LIMIT 1)";
    file.execute_batch(end).unwrap();
}

#[test]
fn a_rewritten_row_with_all_hashes_recomputed_without_the_key_is_found() {
    let wrong = ChainKey { secret: [7; 32], plain_end: None };
    let wrong = |before: &Hash, row: &Row| wrong.hash(before, row);
    let ways: [Way; 2] = [&hash, &wrong];
    for (way, hash) in ways.into_iter().enumerate() {
        for from in [1, 4, ROWS] {
            let desk = desk_with_rows();
            desk.run(&["audit", "verify"]).done();
            forge(&desk, from, ROWS, false, hash);
            let said = desk.run(&["audit", "verify"]).trouble(2);
            assert!(said.contains(&format!("row {from} was changed")), "way {way}: {said}");
            // Later rows do not hide the change, and a running server reports the same.
            desk.add_member("late", "member");
            let server = desk.serve();
            let said = desk.run(&["audit", "verify"]).trouble(2);
            assert!(said.contains(&format!("row {from} was changed")), "way {way}: {said}");
            assert_eq!(server.stop().code, Some(0));
        }
    }
}

#[test]
fn a_log_passed_off_as_one_from_before_the_key_is_found() {
    let desk = desk_with_rows();
    forge(&desk, 1, ROWS, false, hash);
    // The database does not say from which row on hashes are keyed. Only the key file can refute the forged log.
    desk.serve().stop();
    let said = desk.run(&["audit", "verify"]).trouble(2);
    assert!(said.contains("row 1 was changed"), "{said}");
}

#[test]
fn a_key_rotation_a_backup_and_a_restore_keep_the_log_intact() {
    let desk = desk_with_rows();
    let key = || {
        let text = std::fs::read_to_string(desk.data().join("site.key")).unwrap();
        let (site, chain) = text.trim().split_once('\n').unwrap();
        (site.to_owned(), chain.to_owned())
    };
    let before = key();
    desk.run(&["backup"]).done();
    desk.run(&["key", "rotate"]).done();
    let after = key();
    assert!(after.0 != before.0 && after.1 == before.1);
    let said = desk.run(&["audit", "verify"]).done();
    assert!(said.contains("is intact") && said.contains("1 backup remembers"), "{said}");
    let listed = desk.json(&["backup", "list"]);
    desk.run(&["restore", text(&listed["backups"][0]["name"])]).done();
    assert_eq!(key(), before);
    let said = desk.run(&["audit", "verify"]).done();
    assert!(said.contains("is intact"), "{said}");
    forge(&desk, 3, 3, false, hash);
    desk.run(&["audit", "verify"]).trouble(2);
}

/// What somebody does who writes the database alone, with the triggers out of the way. `earlier` is the file as it was two
/// rows before, attached.
const ATTACKS: [&str; 20] = [
    "DELETE FROM audit WHERE seq = 6",
    "DELETE FROM audit WHERE seq = 6; UPDATE site SET audit_seq = 5",
    "DELETE FROM audit WHERE seq = 6; UPDATE site SET audit_seq = 5, audit_hash = (SELECT hash FROM audit WHERE seq = 5)",
    "DELETE FROM audit WHERE seq > 4; UPDATE site SET audit_seq = 4, audit_hash = (SELECT hash FROM audit WHERE seq = 4)",
    "DELETE FROM audit WHERE seq > 4; UPDATE site SET (audit_seq, audit_hash, audit_mark) = \
     (SELECT audit_seq, audit_hash, audit_mark FROM earlier.site)",
    "DELETE FROM audit; INSERT INTO audit SELECT * FROM earlier.audit; UPDATE site SET (audit_seq, audit_hash, audit_mark) = \
     (SELECT audit_seq, audit_hash, audit_mark FROM earlier.site)",
    "DELETE FROM audit; UPDATE site SET audit_seq = 0, audit_hash = NULL, audit_mark = NULL",
    "DELETE FROM audit; UPDATE site SET audit_seq = 0, audit_hash = NULL",
    "DELETE FROM audit; UPDATE site SET audit_seq = 0",
    "DELETE FROM audit WHERE seq = 1",
    "DELETE FROM audit WHERE seq IN (3, 4)",
    "DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3; UPDATE site SET audit_seq = 5",
    "UPDATE audit SET seq = 99 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 99",
    "UPDATE audit SET subject = 'member:1' WHERE seq = 6",
    "UPDATE audit SET actor = 'job:backup', origin = 'site' WHERE seq = 4",
    "UPDATE audit SET at = at - 86400",
    "UPDATE audit SET action = 'backup.made', detail = '{}' WHERE seq = 5",
    "UPDATE audit SET hash = x'00' WHERE seq = 6; UPDATE site SET audit_hash = x'00'",
    "INSERT INTO audit SELECT 7, at, actor, action, subject, origin, detail, hash FROM audit WHERE seq = 6; UPDATE site SET audit_seq = 7",
    "UPDATE site SET audit_mark = NULL",
];

/// A copy of a directory's files.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    _ = std::fs::remove_dir_all(to);
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn twenty_ways_to_cut_or_edit_the_log_in_the_database_alone_are_seen() {
    let desk = Desk::with_site();
    let (whole, earlier) = (desk.path().join("whole"), desk.path().join("earlier.sqlite"));
    let add = |number: i64| _ = desk.add_member(&format!("member{number}"), "member");
    (2..=ROWS - 2).for_each(add);
    std::fs::copy(desk.database(), &earlier).unwrap();
    (ROWS - 1..=ROWS).for_each(add);
    copy(&desk.data(), &whole);
    let back = || copy(&whole, &desk.data());
    desk.run(&["audit", "verify"]).done();
    for attack in ATTACKS {
        back();
        let file = Connection::open(desk.database()).unwrap();
        let seen_before = format!("ATTACH '{}' AS earlier", earlier.display());
        file.execute_batch(&format!("{TRIGGERS}; {seen_before}; {attack}")).unwrap();
        drop(file);
        let ran = desk.run(&["audit", "verify"]);
        assert_eq!(ran.code, Some(2), "{attack}: {}{}", ran.out, ran.err);
        let doctor = desk.run(&["doctor"]);
        assert_eq!(doctor.code, Some(2), "{attack}: {}", doctor.out);
    }
    // The next start tells of a cut, and later rows do not hide it.
    back();
    let file = Connection::open(desk.database()).unwrap();
    file.execute_batch(&format!("{TRIGGERS}; ATTACH '{}' AS earlier; {}", earlier.display(), ATTACKS[4])).unwrap();
    drop(file);
    let server = desk.serve();
    assert!(
        server.log.wait_for("the end of the audit log was cut off or changed: `tunneldesk audit verify`").is_some()
    );
    assert_eq!(server.stop().code, Some(0));
    (1..=3).for_each(|number| _ = desk.add_member(&format!("late{number}"), "member"));
    assert!(desk.run(&["audit", "verify"]).trouble(2).contains("was rewritten"), "rows behind the cut hide nothing");
    back();
    desk.run(&["audit", "verify"]).done();
}
