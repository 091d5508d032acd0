//! The audit log: every action leaves its row, and a changed or removed row is found.

mod forging;

use crate::harness::{Desk, PASSWORD, text};
use crate::off_site::until;
use rusqlite::Connection;
use serde_json::{Value, json};

/// Commands that change something: the command line, the action of its audit row, and the subject that the row names.
/// The list only grows: a new command gets its line here or in [`LOOKS`].
const DEEDS: &[(&str, &str, &str)] = &[
    ("member add jane --email jane@example.com", "member.added", "member:1"),
    ("member set-role jane desk", "member.role_set", "member:1"),
    ("member confirm jane", "member.confirmed", "member:1"),
    ("member ban jane", "member.banned", "member:1"),
    ("member ban jane --lift", "member.unbanned", "member:1"),
    ("member reset-second-factor jane", "member.second_factor_off", "member:1"),
    ("member unlock jane", "member.unlocked", "member:1"),
    ("member reset-password jane", "member.password_changed", "member:1"),
    ("partner add Skyline", "partner.added", "partner:CLIENT"),
    ("partner rotate CLIENT", "partner.rotated", "partner:CLIENT"),
    ("partner revoke CLIENT", "partner.revoked", "partner:CLIENT"),
    ("signer add jane instructor --first 2", "signer.added", "member:1"),
    ("signer remove jane instructor", "signer.removed", "member:1"),
    ("session issue --role sync", "session.issued", "member:2"),
    ("outbox retry --dead", "messages.retried", "site"),
    ("outbox lift jane@example.com", "address.lifted", "site"),
    ("callbacks match pi_1 jane", "payment.assigned", "member:1"),
    ("contact done 1", "contact.done", "site"),
    ("tunnel import list.csv", "tunnels.imported", "site"),
    ("reminders", "reminders.given", "site"),
    ("import members members.csv", "members.imported", "site"),
    ("member add lena --email lena@example.com", "member.added", "member:"),
    ("member erase lena --yes", "member.erased", "member:"),
    ("kiosk pair Entrance", "kiosk.code_made", "site"),
    ("tls init --name tunnel.example.org", "tls.made", "site"),
    ("tls renew", "tls.renewed", "site"),
    ("backup now", "backup.made", "backup:"),
    ("backup drill", "backup.drilled", "backup:"),
    ("key rotate", "key.rotated", "site"),
];

/// Commands that only read, and leave no audit row.
const LOOKS: &[&str] = &[
    "check",
    "routes",
    "member list",
    "member show jane",
    "partner list",
    "signer list",
    "outbox list",
    "outbox marked",
    "callbacks list",
    "callbacks unmatched",
    "contact list",
    "contact show 1",
    "tunnel list",
    "reminders --dry-run",
    "tls status",
    "tls authority",
    "backup list",
    "audit list",
    "audit verify",
    "sync --status",
    "kiosk list",
    "member export jane",
    "export members",
    "export logbook",
    "export bookings",
];

/// The doctor only reads too, but its exit code depends on its findings.
const DOCTOR: &str = "doctor";

/// Commands whose audit rows other tests check, or that leave none: they run or make a site, or show things that this
/// site lacks. A webhook needs a receiver, which the tests of `jobs::hooks` have.
const ELSEWHERE: &[&str] = &[
    "serve",
    "init",
    "demo",
    "restore",
    "rollback",
    "upgrade",
    "standby",
    "promote",
    "clock set-back",
    "health",
    "outbox show",
    "callbacks show",
    "import logbook",
    "import bookings",
    "kiosk revoke",
    "partner hook add",
    "partner hook list",
    "partner hook test",
    "partner hook rotate",
    "partner hook replay",
    "partner hook off",
    "partner hook remove",
];

fn rows(desk: &Desk) -> Vec<Value> {
    desk.json(&["audit", "list", "--limit", "1000"]).as_array().unwrap().clone()
}

/// The rows that commands left. A running server drills a new backup on its own, whenever it comes to it, and records that.
fn rows_of_commands(desk: &Desk) -> Vec<Value> {
    rows(desk).into_iter().filter(|row| row["from"] == "shell").collect()
}

/// Adds the members, partners and messages that the command tables name.
fn prepare(desk: &Desk) {
    let list = "tunnel_id,name,country\n9,Elsewhere,CH\n";
    std::fs::write(desk.path().join("list.csv"), list).unwrap();
    let members = "username,real_name,email\nmark,Mark Twain,mark@example.com\n";
    std::fs::write(desk.path().join("members.csv"), members).unwrap();
    let file = Connection::open(desk.database()).unwrap();
    file.execute_batch(
        "INSERT INTO suppressed (address, reason, since) VALUES ('jane@example.com', 'hard_bounce', 1);
         INSERT INTO payments (intent_id, amount_cents, currency, status, created_at, updated_at)
             VALUES ('pi_1', 3000, 'CHF', 'succeeded', 1, 1);
         INSERT INTO contact_messages (name, email, message, language, created_at) VALUES ('A', 'a@example.com', 'm', 'en', 1);",
    )
    .unwrap();
}

fn typed<'a>(line: &'a str, client_id: &'a str) -> Vec<&'a str> {
    line.split(' ').map(|word| if word == "CLIENT" { client_id } else { word }).collect()
}

/// Runs every line of the tables and checks the audit rows that each adds.
fn go_through(desk: &Desk, deeds: impl Iterator<Item = &'static (&'static str, &'static str, &'static str)>) {
    let mut client_id = String::new();
    for (line, action, subject) in deeds {
        let before = rows_of_commands(desk).len();
        desk.run(&typed(line, &client_id)).done();
        let after = rows_of_commands(desk);
        assert_eq!(after.len(), before + 1, "{line}: {:?}", &after[..after.len() - before]);
        let row = &after[0];
        if *action == "partner.added" {
            client_id = text(&row["subject"]).strip_prefix("partner:").unwrap().to_owned();
        }
        assert_eq!((&row["action"], &row["from"]), (&json!(action), &json!("shell")), "{line}");
        assert!(text(&row["actor"]).starts_with("cli:"), "{row}");
        assert!(text(&row["subject"]).starts_with(&subject.replace("CLIENT", &client_id)), "{row}");
    }
}

fn looks_leave_nothing(desk: &Desk) {
    let before = rows_of_commands(desk).len();
    for line in LOOKS {
        desk.run(&typed(line, "")).done();
    }
    assert_ne!(desk.run(&[DOCTOR]).code, None);
    assert_eq!(rows_of_commands(desk).len(), before);
}

#[test]
fn every_command_that_changes_something_leaves_one_row_and_the_others_none() {
    let desk = Desk::with_site();
    assert_eq!(rows(&desk)[0]["action"], "site.made");
    prepare(&desk);
    go_through(&desk, DEEDS.iter());
    looks_leave_nothing(&desk);
    let said = desk.run(&["audit", "verify"]).done();
    assert!(said.contains(&format!("{} rows", DEEDS.len() + 1)) && said.contains("1 backup remembers"), "{said}");
    // The log holds no name, address or secret that was typed.
    let whole = rows(&desk).iter().map(Value::to_string).collect::<String>();
    for word in ["jane", "example", "Skyline", "Elsewhere"] {
        assert!(!whole.contains(word), "{word}: {whole}");
    }
}

#[test]
fn a_running_server_records_its_commands_and_who_typed_them() {
    let desk = Desk::with_site();
    prepare(&desk);
    let server = desk.serve();
    // An erasure waits for no backup: it ends with a code of its own, and the server goes on with it.
    until("the first backup and its drill", || desk.data().join("backups/drill.json").exists().then_some(()));
    go_through(&desk, DEEDS.iter().filter(|(line, ..)| *line != "key rotate"));
    looks_leave_nothing(&desk);
    desk.run(&["member", "reset-password", "jane", "--password-stdin"]).trouble(1);
    desk.run_with_input(&["member", "reset-password", "jane", "--password-stdin"], PASSWORD).done();
    // SAFETY: `getuid` takes no argument and cannot fail.
    let uid = unsafe { libc::getuid() };
    let last = &rows_of_commands(&desk)[0];
    assert!(text(&last["actor"]).ends_with(&format!("({uid})")), "{last}");
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn every_command_is_in_one_of_the_tables() {
    let desk = Desk::empty();
    let known: Vec<&str> = DEEDS
        .iter()
        .map(|(line, ..)| *line)
        .chain(LOOKS.iter().copied())
        .chain(ELSEWHERE.iter().copied())
        .chain([DOCTOR])
        .collect();
    let missing: Vec<String> = leaves(&desk, &[])
        .into_iter()
        .filter(|leaf| !known.iter().any(|line| *line == leaf || line.starts_with(&format!("{leaf} "))))
        .collect();
    assert!(missing.is_empty(), "neither an action nor a look: {missing:?}");
}

/// The commands without subcommands, read from the help.
fn leaves(desk: &Desk, path: &[&str]) -> Vec<String> {
    let help = desk.run(&[path, &["--help"]].concat()).done();
    let below = help.split_once("Commands:\n").map_or("", |(_, rest)| rest.split("\n\n").next().unwrap());
    let names = below.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> =
        names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    if names.is_empty() {
        return vec![path.join(" ")];
    }
    names.into_iter().flat_map(|name| leaves(desk, &[path, &[name]].concat())).collect()
}

#[test]
fn a_refused_command_leaves_no_row() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let before = rows(&desk).len();
    for line in ["member add jane --email x@example.com", "signer remove jane instructor", "outbox lift a@example.com"]
    {
        assert_eq!(desk.run(&typed(line, "")).code, Some(1), "{line}");
    }
    assert_eq!(rows(&desk).len(), before);
}

#[test]
fn the_list_is_filtered_and_read_page_by_page() {
    let desk = Desk::with_site();
    for name in ["jane", "mark", "ines"] {
        desk.add_member(name, "member");
    }
    desk.run(&["member", "ban", "mark"]).done();
    let seqs = |args: &[&str]| {
        let listed = desk.json(&[&["audit", "list"], args].concat());
        listed.as_array().unwrap().iter().map(|row| row["seq"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seqs(&["--limit", "2"]), [5, 4]);
    assert_eq!(seqs(&["--limit", "2", "--before", "4"]), [3, 2]);
    assert_eq!(seqs(&["--subject", "mark"]), [5, 3]);
    assert_eq!(seqs(&["--subject", "mark", "--action", "member.banned"]), [5]);
    assert_eq!(seqs(&["--subject", "member"]), [5, 4, 3, 2]);
    assert_eq!(seqs(&["--subject", "member", "--action", "member.banned"]), [5]);
    assert_eq!(seqs(&["--subject", "backup"]), [0; 0]);
    assert_eq!(seqs(&["--subject", "site"]), [1]);
    assert_eq!(seqs(&["--actor", "cli", "--since", "1h"]), [5, 4, 3, 2, 1]);
    assert_eq!(seqs(&["--actor", "job"]), [0; 0]);
    let shown = desk.run(&["audit", "list", "--limit", "1"]).done();
    assert!(shown.contains("ACTOR") && shown.contains("member.banned") && shown.contains("member:2"), "{shown}");
    for (args, right) in [
        (["--actor", "nobody"], "member, cli, partner, job, sender"),
        (["--subject", "nobody"], "member, partner, tunnel, payment, backup, site"),
        (["--subject", "wizard:3"], "like member:7"),
        (["--since", "yesterday"], "2026-11-21T12:00"),
    ] {
        let refused = desk.run(&[&["audit", "list"], &args[..]].concat());
        assert_eq!(refused.code, Some(1), "{args:?}");
        assert!(refused.err.contains(right), "{args:?}: {}", refused.err);
    }
}

/// The output of `audit verify` on a site with eight rows after `sql` was run on its database file.
fn tampered(sql: &str) -> (String, Value) {
    let desk = Desk::with_site();
    for number in 1..=7 {
        desk.add_member(&format!("member{number}"), "member");
    }
    desk.run(&["audit", "verify"]).done();
    let file = Connection::open(desk.database()).unwrap();
    let triggers = "DROP TRIGGER audit_is_final; DROP TRIGGER audit_is_kept; DROP TRIGGER audit_goes_on; DROP TRIGGER audit_ends_forward";
    file.execute_batch(&format!("{triggers}; {sql}")).unwrap();
    drop(file);
    let ran = desk.run(&["audit", "verify", "--json"]);
    assert_eq!((ran.code, &*ran.err), (Some(2), ""), "{sql}: {}", ran.out);
    (desk.run(&["audit", "verify"]).trouble(2), serde_json::from_str(&ran.out).unwrap())
}

#[test]
fn a_changed_row_is_found() {
    for column in
        ["at = at + 1", "actor = 'cli:x(1)'", "action = 'x'", "subject = 'site'", "origin = 'x'", "detail = '{}'"]
    {
        let (said, json) = tampered(&format!("UPDATE audit SET {column} WHERE seq = 4"));
        assert!(said.contains("row 4 was changed") && said.contains("rows 1 to 3 are intact"), "{said}");
        assert_eq!(
            (&json["sound"], &json["row"], &json["broken"]["what"]),
            (&json!(false), &json!(4), &json!("changed"))
        );
    }
}

#[test]
fn removed_rows_are_found_in_the_middle_and_at_the_end() {
    for (sql, words) in [
        ("DELETE FROM audit WHERE seq = 1", "row 1 was removed"),
        ("DELETE FROM audit WHERE seq IN (3, 4)", "rows 3 to 4 were removed"),
        ("DELETE FROM audit WHERE seq = 8", "row 8 was removed"),
        ("DELETE FROM audit WHERE seq > 5", "rows 6 to 8 were removed"),
        ("DELETE FROM audit", "rows 1 to 8 were removed"),
        ("DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3", "row 3 was changed"),
        (
            "INSERT INTO audit SELECT 9, at, actor, action, subject, origin, detail, hash FROM audit WHERE seq = 8",
            "row 9 was put behind",
        ),
        ("UPDATE site SET audit_hash = x'00'", "at row 8 is not the one that was written"),
    ] {
        let (said, _) = tampered(sql);
        assert!(said.contains(words), "{sql}: {said}");
    }
}

#[test]
fn a_truncated_end_is_still_found_after_new_rows() {
    let desk = Desk::with_site();
    (1..=4).for_each(|number| _ = desk.add_member(&format!("member{number}"), "member"));
    let file = Connection::open(desk.database()).unwrap();
    file.execute_batch("DROP TRIGGER audit_is_kept; DELETE FROM audit WHERE seq > 3").unwrap();
    drop(file);
    desk.run(&["member", "ban", "1"]).done();
    let said = desk.run(&["audit", "verify"]).trouble(2);
    assert!(said.contains("rows 4 to 5 were removed"), "{said}");
}

#[test]
fn a_truncated_log_with_a_matching_end_is_found_by_the_backups() {
    let desk = Desk::with_site();
    (1..=4).for_each(|number| _ = desk.add_member(&format!("member{number}"), "member"));
    desk.run(&["backup"]).done();
    let file = Connection::open(desk.database()).unwrap();
    file.execute_batch(
        "DROP TRIGGER audit_is_kept; DROP TRIGGER audit_ends_forward; DELETE FROM audit WHERE seq > 3;
         UPDATE site SET audit_seq = 3, audit_hash = (SELECT hash FROM audit WHERE seq = 3)",
    )
    .unwrap();
    drop(file);
    let said = desk.run(&["audit", "verify"]).trouble(2);
    assert!(said.contains("has another row 5"), "{said}");
    // Later rows do not hide the change.
    (5..=8).for_each(|number| _ = desk.add_member(&format!("member{number}"), "member"));
    let said = desk.run(&["audit", "verify"]).trouble(2);
    assert!(said.contains("has another row 5"), "{said}");
}

#[test]
fn a_restore_is_recorded_in_the_restored_log_and_does_not_break_the_chain() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    desk.run(&["backup"]).done();
    desk.add_member("late", "member");
    desk.run(&["backup"]).done();
    let listed = desk.json(&["backup", "list"]);
    let names: Vec<&str> = listed["backups"].as_array().unwrap().iter().map(|backup| text(&backup["name"])).collect();
    let oldest = names.last().unwrap();
    desk.run(&["restore", oldest]).done();
    let row = &rows(&desk)[0];
    assert_eq!((&row["action"], text(&row["subject"])), (&json!("site.restored"), &*format!("backup:{oldest}")));
    let said = desk.run(&["audit", "verify"]).done();
    assert!(said.contains("is intact") && said.contains("3 rows"), "{said}");
}
