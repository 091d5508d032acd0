//! The doctor: for each fault, its line, its advice and its exit code change.

use crate::harness::{Caller, Client, Desk, SigningKey, text};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::{Value, json};
use std::fs::Permissions;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

const BINARY: &str = env!("CARGO_BIN_EXE_tunneldesk");
const DAY: i64 = 86_400;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// A site whose off-site directory is on another disk.
struct Sound {
    desk: Desk,
    _disk: tempfile::TempDir,
}

impl Deref for Sound {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

/// A site without findings: backups in the data directory and off site, and a restore drill.
fn sound() -> Sound {
    let (desk, disk) = (Desk::with_site(), tempfile::tempdir_in("/dev/shm").unwrap());
    let second = desk.path().join("second");
    std::os::unix::fs::symlink(disk.path(), &second).unwrap();
    settings(&desk, &format!("[backup]\noff_site = {:?}\n", second.to_str().unwrap()));
    desk.run(&["backup"]).done();
    desk.run(&["backup", "drill"]).done();
    Sound { desk, _disk: disk }
}

fn settings(desk: &Desk, text: &str) {
    std::fs::write(desk.path().join("tunneldesk.toml"), text).unwrap();
}

/// Runs `sql` as another connection of the site would: the changes stay in the WAL. If another program moved the WAL
/// into the database, a change of a single bit would look like one that the disk made.
fn sql(desk: &Desk, sql: &str) {
    let conn = Connection::open(desk.database()).unwrap();
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    conn.execute_batch(sql).unwrap();
}

/// The exit code and the `--json` output of the doctor.
fn ask(desk: &Desk) -> (Option<i32>, Value) {
    let ran = desk.run(&["doctor", "--json"]);
    assert_eq!(ran.err, "");
    (ran.code, serde_json::from_str(&ran.out).unwrap())
}

fn fact<'a>(said: &'a Value, name: &str) -> &'a Value {
    let facts = said["facts"].as_array().unwrap();
    facts.iter().find(|fact| fact["name"] == name).unwrap_or_else(|| panic!("no {name} in {said}"))
}

/// Asserts that the doctor reports this state and these words for one fact, and nothing worse for any other.
fn finds(desk: &Desk, name: &str, state: &str, words: &[&str]) {
    let (code, said) = ask(desk);
    let found = fact(&said, name);
    assert_eq!(found["state"], state, "{found}");
    assert_eq!(said["state"], state, "{said}");
    assert_eq!(code, Some(["ok", "warning", "alarm"].iter().position(|one| *one == state).unwrap() as i32));
    let whole = format!("{} {}", text(&found["text"]), found["next"].as_str().unwrap_or(""));
    words.iter().for_each(|word| assert!(whole.contains(word), "{word}: {whole}"));
    assert_eq!(found["next"].is_string(), state != "ok", "{found}");
}

#[test]
fn a_healthy_site_has_no_warning_with_and_without_a_server() {
    let desk = sound();
    let (code, said) = ask(&desk);
    assert_eq!((code, &said["state"]), (Some(0), &json!("ok")), "{said}");
    let names: Vec<&str> = said["facts"].as_array().unwrap().iter().map(|fact| text(&fact["name"])).collect();
    let all = [
        "store",
        "integrity",
        "space",
        "reserve",
        "permissions",
        "clock",
        "certificate",
        "backup",
        "off_site_backup",
        "off_site",
        "drill",
        "signature",
        "outbox",
        "sync",
        "wal",
        "lost_writes",
        "social_keys",
        "sign_ins",
        "partners",
        "hooks",
        "passcodes",
        "audit",
        "names",
        "version",
    ];
    assert_eq!(names, all);
    let shown = desk.run(&["doctor"]).done();
    assert!(shown.contains("Everything is OK.") && shown.lines().count() == all.len() + 2, "{shown}");
    assert!(!shown.contains('\u{1b}'), "colours go to terminals alone");

    let server = desk.serve();
    let (code, said) = ask(&desk);
    assert_eq!((code, &said["state"]), (Some(0), &json!("ok")), "{said}");
    assert!(desk.run(&["doctor"]).done().contains("Everything is OK."));
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn the_doctor_of_a_new_site_says_what_to_do_first() {
    let desk = Desk::with_site();
    let ran = desk.run(&["doctor"]);
    assert_eq!((ran.code, &*ran.err), (Some(1), ""));
    for words in ["Warning   Backup", "→ Make the first backup: tunneldesk backup", "→ Name a directory", "2 warnings."]
    {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    let ran = Desk::empty().run(&["doctor"]);
    assert_eq!((ran.code, ran.out.contains("cannot be opened")), (Some(2), true), "{}{}", ran.out, ran.err);
    let empty = Desk::empty();
    let ran = empty.run(&["doctor", "--data", "nowhere"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with("Critical  Database") && lines[0].contains("nowhere"), "{}", ran.out);
    let well = lines.iter().filter(|line| line.starts_with("OK"));
    assert_eq!(well.count(), 1, "nothing but the version is OK of a directory that does not exist: {}", ran.out);
}

#[test]
fn files_that_others_can_read_are_named_and_the_key_is_an_alarm() {
    let desk = sound();
    let set =
        |name: &str, mode| std::fs::set_permissions(desk.data().join(name), Permissions::from_mode(mode)).unwrap();
    set("site.key", 0o644);
    finds(&desk, "permissions", "alarm", &["site.key", "mode 644", "chmod 600"]);
    set("site.key", 0o600);
    finds(&desk, "permissions", "ok", &[]);
    set("tunneldesk.sqlite", 0o660);
    finds(&desk, "permissions", "warning", &["tunneldesk.sqlite", "mode 660", "chmod 600"]);
    set("tunneldesk.sqlite", 0o600);
    set("", 0o755);
    finds(&desk, "permissions", "warning", &["mode 755", "chmod 700"]);
}

/// Sets the time at which every backup of a backup store was made.
fn backups_made_at(desk: &Desk, store: &std::path::Path, at: i64) {
    for entry in std::fs::read_dir(store).unwrap().flatten() {
        let Ok(manifest) = std::fs::read(entry.path().join("manifest.json")) else { continue };
        let mut manifest: Value = serde_json::from_slice(&manifest).unwrap();
        manifest["made_at"] = at.into();
        SigningKey::of(desk).write_manifest(&entry.path(), manifest);
    }
}

#[test]
fn a_late_backup_is_noticed_locally_and_off_site() {
    let desk = sound();
    let (first, second) = (desk.data().join("backups"), desk.path().join("second"));
    let both = |at| [&first, &second].map(|store| backups_made_at(&desk, store, at));
    both(now() - 2 * 3_600);
    finds(&desk, "backup", "ok", &[]);
    both(now() - 4 * 3_600);
    finds(&desk, "backup", "warning", &["tunneldesk backup", "log"]);
    both(now() - 4 * DAY);
    finds(&desk, "backup", "alarm", &["tunneldesk backup"]);
    backups_made_at(&desk, &first, now());
    finds(&desk, "off_site_backup", "alarm", &["second", "mounted"]);
    std::fs::remove_dir_all(&second).unwrap();
    finds(&desk, "off_site_backup", "alarm", &["There is no copy", "mounted"]);
}

#[test]
fn an_off_site_place_on_the_disk_of_the_site_is_a_warning() {
    let desk = sound();
    assert!(!desk.run(&["check"]).done().contains("same disk"));
    for dir in [desk.data().join("second"), desk.path().join("beside")] {
        std::fs::create_dir(&dir).unwrap();
        settings(&desk, &format!("[backup]\noff_site = {:?}\n", dir.to_str().unwrap()));
        let said = desk.run(&["check"]).done();
        assert!(
            said.contains("Warning: backup.off_site") && said.contains("name a directory on another disk"),
            "{said}"
        );
        desk.run(&["backup"]).done();
        finds(&desk, "off_site_backup", "warning", &["same disk", "another disk"]);
    }
}

#[test]
fn a_failed_or_old_drill_is_noticed() {
    let desk = sound();
    let record = desk.data().join("backups/drill.json");
    let mut drill: Value = serde_json::from_str(&std::fs::read_to_string(&record).unwrap()).unwrap();
    drill["at"] = (now() - 15 * DAY).into();
    std::fs::write(&record, drill.to_string()).unwrap();
    finds(&desk, "drill", "warning", &["tunneldesk backup drill"]);
    drill["trouble"] = "it is damaged".into();
    std::fs::write(&record, drill.to_string()).unwrap();
    finds(&desk, "drill", "alarm", &["it is damaged", "Make a new backup"]);
    std::fs::remove_file(record).unwrap();
    finds(&desk, "drill", "ok", &["by itself"]);
}

#[test]
fn a_changed_row_of_the_audit_log_is_an_alarm() {
    let desk = sound();
    sql(&desk, "DROP TRIGGER audit_is_final; UPDATE audit SET action = 'site.unmade' WHERE seq = 1");
    finds(&desk, "audit", "alarm", &["row 1", "audit verify", "evidence"]);
}

#[test]
fn a_clock_behind_the_database_is_an_alarm() {
    let desk = sound();
    sql(&desk, "UPDATE site SET clock_high_water = clock_high_water + 3600");
    finds(&desk, "clock", "alarm", &["behind", "timedatectl"]);
}

#[test]
fn a_clock_high_water_mark_from_a_wrong_clock_is_reset_by_hand() {
    let desk = Desk::with_site();
    desk.json(&["session", "issue", "--role", "sync"]);
    let said = desk.run(&["clock", "set-back"]).trouble(1);
    assert!(said.contains("nothing to set back"), "{said}");
    // The clock ran ten years ahead while a session was issued and a code was used.
    sql(&desk, "UPDATE site SET clock_high_water = clock_high_water + 315360000");
    desk.json(&["session", "issue", "--role", "sync"]);
    sql(
        &desk,
        "INSERT INTO second_factors (member_id, kind, sealed, last_step) VALUES (1, 'totp', x'00', (SELECT clock_high_water / 30 FROM site))",
    );
    let (_, said) = ask(&desk);
    assert!(text(&fact(&said, "clock")["next"]).contains("tunneldesk clock set-back"), "{said}");

    let server = desk.serve();
    assert!(desk.run(&["clock", "set-back"]).trouble(1).contains("stop it first"));
    server.stop();
    let done = desk.json(&["clock", "set-back"]);
    assert_eq!(done["ended"], 1, "the session from before goes on: {done}");
    assert!(
        done["from"].as_i64().unwrap() > now() + 315_300_000
            && (now() - 60..=now()).contains(&done["to"].as_i64().unwrap())
    );
    assert_eq!(fact(&ask(&desk).1, "clock")["state"], "ok");
    let file = Connection::open(desk.database()).unwrap();
    let left = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(left("SELECT count(*) FROM sessions"), 1);
    assert!(left("SELECT last_step FROM second_factors") < now() / 30, "the next code is good");
    let row = &desk.json(&["audit", "list", "--limit", "1"])[0];
    assert_eq!((&row["action"], &row["from"]), (&json!("clock.set_back"), &json!("shell")), "{row}");
    desk.run(&["audit", "verify"]).done();
}

#[test]
fn late_or_dead_messages_are_noticed_where_a_transport_is_configured() {
    let desk = sound();
    let insert = |state: &str, age: i64| {
        let at = now() - age;
        sql(
            &desk,
            &format!(
                "INSERT INTO outbox (channel, recipient, language, template, state, next_try_at, created_at)
                 VALUES ('email', 'a@example.com', 'en', 'notice', '{state}', {at}, {at})"
            ),
        );
    };
    insert("waiting", 2 * DAY);
    finds(&desk, "outbox", "ok", &["1 waiting to be shown", "neither a mail server nor"]);
    let second = std::fs::read_to_string(desk.path().join("tunneldesk.toml")).unwrap();
    settings(
        &desk,
        &format!("{second}[mail]\nserver = \"127.0.0.1:2525\"\nsecurity = \"none\"\nfrom = \"desk@example.com\"\n"),
    );
    finds(
        &desk,
        "outbox",
        "alarm",
        &["1 waiting, 0 not deliverable", "The oldest has been waiting since", "outbox list"],
    );
    sql(&desk, "DELETE FROM outbox");
    insert("waiting", 2 * 3_600);
    finds(&desk, "outbox", "warning", &["1 waiting, 0 not deliverable"]);
    sql(&desk, "DELETE FROM outbox");
    insert("dead", 0);
    finds(&desk, "outbox", "warning", &["0 waiting, 1 not deliverable"]);
}

#[test]
fn many_wrong_passwords_are_noticed_and_each_counts() {
    let desk = sound();
    let hour = now() - now() % 3_600;
    let set = |count: i64| {
        sql(&desk, &format!("DELETE FROM failed_attempts; INSERT INTO failed_attempts VALUES ({hour}, {count})"))
    };
    set(200);
    finds(&desk, "sign_ins", "ok", &[]);
    set(201);
    finds(&desk, "sign_ins", "warning", &["201", "guessing"]);
    set(5_001);
    finds(&desk, "sign_ins", "alarm", &["5,001"]);
    set(0);
    desk.add_member("jane", "member");
    let server = desk.serve();
    for name in ["jane", "nobody"] {
        assert_eq!(server.client().sign_in(name, "wrong")["status"], false);
    }
    finds(&desk, "sign_ins", "ok", &["last day: 2."]);
}

#[test]
fn a_damaged_page_is_an_alarm() {
    let desk = sound();
    let file = Connection::open(desk.database()).unwrap();
    let page: i64 = file
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'contact_messages'", [], |row| row.get(0))
        .unwrap();
    let bytes: i64 = file.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(file);
    let server = desk.serve();
    let file = std::fs::File::options().write(true).open(desk.database()).unwrap();
    file.write_all_at(&vec![0x5a; bytes as usize], ((page - 1) * bytes) as u64).unwrap();
    finds(&desk, "integrity", "alarm", &["damaged", "tunneldesk restore"]);
    server.stop();
    // A database that is known to be damaged is not opened.
    finds(&desk, "store", "alarm", &["damaged", "tunneldesk restore"]);
}

#[test]
fn a_certificate_that_ends_soon_is_noticed() {
    let desk = sound();
    let second = std::fs::read_to_string(desk.path().join("tunneldesk.toml")).unwrap();
    settings(&desk, &format!("{second}[tls]\nlisten = [\"127.0.0.1:0\"]\n"));
    finds(&desk, "certificate", "alarm", &["no valid certificate", "tunneldesk tls init"]);
    desk.run(&["tls", "init", "--name", "tunnel.example.org"]).done();
    finds(&desk, "certificate", "ok", &["more days"]);
    let ends_in = |seconds: i64| sql(&desk, &format!("UPDATE tls SET ends_at = {}", now() + seconds));
    ends_in(10 * DAY + 3_600);
    finds(&desk, "certificate", "warning", &["10 more days", "tunneldesk tls renew"]);
    ends_in(DAY);
    finds(&desk, "certificate", "alarm", &["tunneldesk tls renew"]);
}

/// The site is on a small file system of its own, which needs root. The mount namespace ends with the command.
#[test]
fn a_disk_that_is_nearly_full_is_an_alarm() {
    // SAFETY: `getuid` takes no argument and cannot fail.
    if unsafe { libc::getuid() } != 0 {
        return;
    }
    let desk = Desk::empty();
    std::fs::create_dir(desk.path().join("disk")).unwrap();
    let free = |size: &str| {
        let script = format!(
            "mount -t tmpfs -o size={size},mode=700 none disk && {BINARY} init --name W --country CH --data disk/d >&2 && \
             {BINARY} doctor --json --data disk/d"
        );
        let mut unshare = Command::new("unshare");
        let ran = unshare.args(["-m", "sh", "-c", &script]).current_dir(desk.path()).output().unwrap();
        let said: Value = serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&ran.stderr)));
        (ran.status.code(), text(&fact(&said, "space")["state"]).to_owned())
    };
    assert_eq!(free("100m"), (Some(2), "alarm".to_owned()));
    assert_eq!(free("600m"), (Some(1), "warning".to_owned()));
}

#[test]
fn probes_and_metrics_agree_and_show_the_end_of_the_audit_log() {
    let desk = sound();
    desk.add_member("jane", "member");
    let head = desk.json(&["audit", "list", "--limit", "1"])[0].clone();
    std::fs::remove_file(desk.data().join("backups/drill.json")).unwrap();
    backups_made_at(&desk, &desk.data().join("backups"), now() - 2 * DAY);
    // Without this the server would begin with a new backup in the off-site target.
    std::fs::remove_dir_all(desk.path().join("second")).unwrap();
    let server = desk.serve();
    let asked = server.get(&Caller::Anyone, "/readyz?verbose");
    assert_eq!(asked.status, 200);
    let lines: Vec<&str> = asked.body.lines().collect();
    assert_eq!(lines.len(), 24, "{lines:?}");
    for line in ["ready", "warning backup", "warning drill", "ok audit", "ok sync"] {
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
    let figures = Client::new(server.metrics_address).get(&Caller::Anyone, "/metrics").body;
    // Without the hash as a label: each row would be a new series.
    let end = format!("tunneldesk_audit_head {}\n", head["seq"]);
    for line in ["tunneldesk_health{fact=\"backup\"} 1\n", "tunneldesk_health{fact=\"space\"} 0\n", &end] {
        assert!(figures.contains(line), "{line}: {figures}");
    }
    assert!(figures.contains("\ntunneldesk_health_space_free_bytes "), "{figures}");
}
