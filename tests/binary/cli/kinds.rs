//! Something else than a file under a file's name: a pipe, a directory, a link.

use crate::harness::{Desk, Ran};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// More than any refusal takes, on a busy machine.
const REFUSAL_TIME_MAX: Duration = Duration::from_secs(30);

/// Runs a command that must end by itself.
fn ended(desk: &Desk, args: &[&str]) -> Ran {
    let since = Instant::now();
    let mut command = desk.command(args);
    command.env("TUNNELDESK_METRICS_LISTEN", "").env("TUNNELDESK_LISTEN", "127.0.0.1:0");
    let ran = Ran::from(command.output().unwrap());
    assert!(since.elapsed() < REFUSAL_TIME_MAX, "{args:?} took {:?}", since.elapsed());
    ran
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Puts things of other kinds in a file's place, one after another, and takes each away again.
fn with_others(path: &Path, mut run: impl FnMut(&str)) {
    let kept = path.with_extension("kept");
    _ = std::fs::rename(path, &kept);
    make_pipe(path);
    run("a named pipe");
    _ = std::fs::remove_file(path);
    std::fs::create_dir(path).unwrap();
    run("a directory");
    _ = std::fs::remove_dir(path);
    symlink("/dev/zero", path).unwrap();
    run("a device");
    _ = std::fs::remove_file(path);
    symlink("nowhere/file", path).unwrap();
    run("a link to nowhere/file");
    _ = std::fs::remove_file(path);
    drop(UnixListener::bind(path).unwrap());
    run("a socket");
    _ = std::fs::remove_file(path);
    _ = std::fs::rename(&kept, path);
}

#[test]
fn a_site_whose_files_are_of_another_kind_is_refused_in_a_line_that_names_the_file_and_says_what_to_do() {
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    for name in [
        "tunneldesk.sqlite",
        "tunneldesk.sqlite-wal",
        "tunneldesk.sqlite-shm",
        "tunneldesk.sqlite-sums",
        "log-mark",
        "reserve",
        "damaged",
        "site.key",
        "site.key.next",
        "signing.key",
    ] {
        let path = desk.data().join(name);
        with_others(&path, |kind| {
            for args in [&["serve"][..], &["member", "list"]] {
                let said = ended(&desk, args).trouble(2);
                let named = said.contains(&format!("tunneldesk-data/{name} cannot be used: it is {kind}"));
                assert!(named, "{name}, {kind}: {said}");
                assert!(said.contains("move it away") || said.contains("remove the link"), "{name}, {kind}: {said}");
            }
            let doctor = ended(&desk, &["doctor"]).out;
            assert!(doctor.contains(kind), "{name}, {kind}: {doctor}");
            ended(&desk, &["restore", "--dry-run"]);
        });
    }
    desk.serve().stop();
}

#[test]
fn other_files_of_another_kind_hinder_no_start_and_no_stop() {
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    let backup = std::fs::read_dir(desk.data().join("backups")).unwrap().flatten();
    let backup = backup.map(|entry| entry.path()).find(|path| path.join("manifest.json").exists()).unwrap();
    let in_backup = ["manifest.json", "site.key", "tunneldesk.sqlite"].map(|name| backup.join(name));
    let in_store = ["erased.jsonl", "drill.json"].map(|name| desk.data().join("backups").join(name));
    let in_site = [
        "alarm-backup",
        ".alarm.new",
        ".writable",
        ".room",
        "epoch.json",
        "replaced.json",
        "off-site-mount",
        "audit-end",
        ".audit-end.new",
    ];
    let in_site = in_site.map(|name| desk.data().join(name));
    for path in in_backup.iter().chain(&in_store).chain(&in_site) {
        with_others(path, |kind| {
            // Every kind is opened the same way; a server starts with those that block and those that are writable.
            if kind == "a named pipe" {
                let server = desk.serve();
                ended(&desk, &["doctor"]);
                ended(&desk, &["backup", "list"]);
                assert_eq!(server.stop().code, Some(0), "{}, {kind}", path.display());
            }
            ended(&desk, &["restore", "--dry-run"]);
        });
    }
    let backups = desk.data().join("backups");
    std::fs::remove_dir_all(&backups).unwrap();
    make_pipe(&backups);
    let said = ended(&desk, &["backup"]).trouble(2);
    assert!(said.contains("backups"), "{said}");
}

#[test]
fn settings_and_lists_of_another_kind_are_refused_and_pipes_on_purpose_are_read() {
    let desk = Desk::with_site();
    let list = desk.path().join("list.csv");
    std::fs::write(&list, "username,real_name,email\njane,Jane Doe,jane@example.com\n").unwrap();
    with_others(&list, |kind| {
        let said = ended(&desk, &["import", "members", "list.csv"]);
        let expected = if kind == "a device" { return } else { kind };
        let said = said.trouble(1);
        assert!(said.contains("list.csv cannot be read: it is ") && said.contains(expected), "{kind}: {said}");
    });
    make_pipe(&desk.path().join("pipe"));
    let words = "cat list.csv > pipe & \"$0\" import members pipe --dry-run && \
        cat list.csv | \"$0\" import members /dev/stdin --dry-run && \"$0\" import members <(cat list.csv)";
    let shell =
        Command::new("bash").args(["-c", words, crate::harness::BINARY]).current_dir(desk.path()).output().unwrap();
    let said = String::from_utf8(shell.stdout).unwrap();
    assert!(said.matches("1 member").count() == 3 && said.ends_with("Took 1 member.\n"), "{said}");
    let settings = desk.path().join("tunneldesk.toml");
    with_others(&settings, |kind| {
        // A link to nothing is no settings file, unless it is named.
        let ran = ended(&desk, &["check", "--config", "tunneldesk.toml"]);
        let expected = if kind == "a device" { "larger than" } else { kind };
        assert!(ran.code != Some(0) && ran.err.contains(expected), "{kind}: {}", ran.err);
    });
    let secret = desk.path().join("secret");
    make_pipe(&secret);
    let ran = desk.command(&["check"]).env("TUNNELDESK_MAIL_PASSWORD_FILE", &secret).output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stderr).contains("a named pipe"), "{ran:?}");
}

#[test]
fn a_database_that_is_a_link_is_sound_after_a_kill_and_its_file_outlives_a_restore() {
    let desk = Desk::with_site();
    let (elsewhere, database) = (tempfile::tempdir().unwrap(), desk.database());
    let target = elsewhere.path().join("site.sqlite");
    std::fs::rename(&database, &target).unwrap();
    for suffix in ["-wal", "-shm", "-sums"] {
        let beside = |path: &Path| std::path::PathBuf::from(format!("{}{suffix}", path.display()));
        _ = std::fs::rename(beside(&database), beside(&target));
    }
    symlink(&target, &database).unwrap();
    for name in ["jane", "joan"] {
        let server = desk.serve();
        desk.add_member(name, "member");
        server.kill();
        assert_eq!(server.ended().code, None);
        let server = desk.serve();
        let doctor = desk.run(&["doctor"]).out;
        assert!(!doctor.contains("Critical") && !doctor.contains("writes before the last stop are lost"), "{doctor}");
        server.stop();
        assert!(desk.run(&["member", "list"]).done().contains(name));
    }
    desk.run(&["backup"]).done();
    desk.add_member("late", "member");
    let said = desk.run(&["restore"]).done();
    assert!(!desk.run(&["member", "list"]).done().contains("late"), "{said}");
    let replaced = desk.data().join("replaced-1");
    let said = desk.run(&["member", "list", "--data", replaced.to_str().unwrap()]).done();
    assert!(said.contains("late") && said.contains("joan"), "{said}");
}
