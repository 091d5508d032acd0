//! The data directory: one site, one key, one process.

use crate::faults::injected::tracer;
use crate::faults::or_skip;
use crate::harness::{BINARY, Caller, Desk, Ran};
use rusqlite::Connection;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const FREE: &str = "127.0.0.1:0";

/// Runs `serve` where the server must refuse to start.
fn serve(desk: &Desk, listen: &str) -> Ran {
    let mut command = desk.command(&["serve", "--listen", listen]);
    Ran::from(command.env("TUNNELDESK_METRICS_LISTEN", "").output().unwrap())
}

/// Asserts that every command that opens the site is refused with this text and this exit code.
fn refused_everywhere(desk: &Desk, code: i32, part: &str) {
    for args in [&["serve"][..], &["member", "list"]] {
        let ran = if args == ["serve"] { serve(desk, FREE) } else { desk.run(args) };
        let said = ran.trouble(code);
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn a_directory_without_a_site_names_the_commands_that_make_one() {
    let desk = Desk::empty();
    refused_everywhere(&desk, 1, "tunneldesk init");
    std::fs::create_dir(desk.data()).unwrap();
    refused_everywhere(&desk, 2, "tunneldesk init");
}

#[test]
fn a_data_directory_that_is_missing_or_a_file_is_reported_with_what_to_do() {
    let desk = Desk::empty();
    for (next, is_file) in [("make a site with `tunneldesk init`", false), ("with --data", true)] {
        if is_file {
            std::fs::write(desk.data(), "a file").unwrap();
        }
        let said = desk.run(&["member", "list"]).trouble(1);
        assert!(said.contains(next), "{said}");
        let doctor = desk.run(&["doctor"]).out;
        assert!(doctor.contains(next), "{doctor}");
    }
}

#[test]
fn no_message_proposes_a_new_site_where_the_key_log_or_backups_of_a_site_are() {
    let never_init = |desk: &Desk, what: &str| {
        for said in [serve(desk, FREE).trouble(2), desk.run(&["member", "list"]).trouble(2)] {
            assert!(said.contains("tunneldesk restore") && !said.contains("tunneldesk init"), "{what}: {said}");
        }
        let doctor = desk.run(&["doctor"]).out;
        assert!(doctor.contains("tunneldesk restore") && !doctor.contains("tunneldesk init"), "{what}: {doctor}");
    };
    let init = ["init", "--name", "T", "--country", "CH"];
    for what in ["backups", "tunneldesk.sqlite-wal"] {
        let desk = Desk::with_site();
        desk.run(&["backup"]).done();
        std::fs::write(desk.data().join("tunneldesk.sqlite-wal"), "a log").unwrap();
        for entry in std::fs::read_dir(desk.data()).unwrap().flatten().filter(|entry| entry.file_name() != what) {
            _ = std::fs::remove_file(entry.path()).or_else(|_| std::fs::remove_dir_all(entry.path()));
        }
        never_init(&desk, what);
        let said = desk.run(&init).trouble(1);
        assert!(said.contains("tunneldesk restore") && said.contains("--data"), "{what}: {said}");
        // An empty database file makes no difference, and the WAL stays.
        std::fs::write(desk.database(), "").unwrap();
        desk.run(&init).trouble(1);
        assert!(desk.data().join(what).exists());
    }
    let desk = Desk::with_site();
    std::fs::remove_file(desk.database()).unwrap();
    never_init(&desk, "the key");
    let key = std::fs::read(desk.data().join("site.key")).unwrap();
    desk.run(&init).done();
    assert!(std::fs::read(desk.data().join("site.key")).unwrap() == key, "another key");
    assert!(!desk.data().join("replaced-1").exists());
    desk.run(&["member", "list"]).done();
}

#[test]
fn a_second_server_on_the_same_directory_is_refused() {
    let desk = Desk::with_site();
    let first = desk.serve();
    let said = serve(&desk, FREE).trouble(1);
    assert!(said.contains("is running on") && said.contains("--data"), "{said}");
    let said = desk.run(&["init", "--name", "T", "--country", "CH"]).trouble(1);
    assert!(said.contains(&format!("a tunneldesk (process {}) is running on", first.process_id())), "{said}");
    assert_eq!(first.get(&Caller::Anyone, "/readyz").status, 200);
}

#[test]
fn a_command_that_works_on_the_directory_is_named_with_what_to_do() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let desk = Desk::with_site();
    let mut working = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=20000000:when=1"])
        .args([BINARY, "backup"])
        .current_dir(desk.path())
        .env_clear()
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let unfinished = || std::fs::read_dir(desk.data().join("backups")).is_ok_and(|mut found| found.next().is_some());
    while !unfinished() {
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let said = desk.run(&["restore"]).trouble(1);
    let named = said.split_once("`tunneldesk backup` (process ").and_then(|(_, rest)| rest.split_once(')'));
    let (pid, rest) = named.unwrap_or_else(|| panic!("{said}"));
    assert!(rest.contains("wait until it has ended") && rest.contains(&format!("kill {pid}")), "{said}");
    assert!(serve(&desk, FREE).trouble(1).contains("`tunneldesk backup`"));
    let pid: i32 = pid.parse().unwrap();
    // SAFETY: the process is a child of our own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    working.wait().unwrap();
    // As it says, after the kill everything goes on.
    desk.run(&["backup"]).done();
    desk.run(&["restore"]).done();
}

#[test]
fn commands_typed_at_once_and_a_server_that_starts_among_them_have_their_turns() {
    let desk = Desk::with_site();
    for _ in 0..3 {
        let mut list = desk.command(&["member", "list"]);
        list.stdout(Stdio::piped()).stderr(Stdio::piped());
        let lists = [(); 6].map(|()| list.spawn().unwrap());
        let server = desk.serve();
        for list in lists {
            Ran::from(list.wait_with_output().unwrap()).done();
        }
        drop(server);
    }
}

#[test]
fn a_taken_port_is_one_clear_line() {
    let desk = Desk::with_site();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = serve(&desk, &address).trouble(2);
    assert!(said.contains(&address) && said.contains("listen"), "{said}");
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let desk = Desk::with_site();
    let conn = Connection::open(desk.database()).unwrap();
    conn.execute("INSERT INTO refinery_schema_history VALUES (9999, 'later', '', '')", []).unwrap();
    drop(conn);
    refused_everywhere(&desk, 2, "schema 9999");
}

#[test]
fn the_key_of_another_site_is_refused() {
    let desk = Desk::with_site();
    std::fs::write(desk.data().join("site.key"), format!("{}\n", "5a".repeat(32))).unwrap();
    refused_everywhere(&desk, 2, "is not the key of");
    std::fs::write(desk.data().join("site.key"), "not a key").unwrap();
    refused_everywhere(&desk, 2, "64 hex digits");
    std::fs::remove_file(desk.data().join("site.key")).unwrap();
    refused_everywhere(&desk, 2, "put the site.key of a backup of this site in its place");
}

#[test]
fn a_key_that_is_missing_damaged_or_another_comes_back_by_the_printed_command_and_no_write_is_lost() {
    let desk = Desk::with_site();
    desk.run(&["backup"]).done();
    desk.add_member("jane", "member");
    let key = desk.data().join("site.key");
    let own = std::fs::read(&key).unwrap();
    for wrong in [None, Some("not a key".to_owned()), Some(format!("{}\n", "5a".repeat(32)))] {
        std::fs::remove_file(&key).unwrap();
        if let Some(wrong) = &wrong {
            std::fs::write(&key, wrong).unwrap();
            std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        refused_everywhere(&desk, 2, "cp -p ");
        let said = desk.run(&["member", "list"]).trouble(2);
        let typed = said.trim_end().rsplit_once(": ").unwrap().1;
        let mut shell = std::process::Command::new("sh");
        let copied = shell.arg("-c").arg(typed).current_dir(desk.path()).status().unwrap();
        assert!(copied.success(), "{said}");
        assert!(std::fs::read(&key).unwrap() == own, "{wrong:?}: {said}");
        let kept = std::fs::read_to_string(desk.data().join("site.key.replaced")).ok();
        assert_eq!(kept, wrong, "the replaced key is kept");
        assert!(desk.run(&["member", "list"]).done().contains("jane"));
    }
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let desk = Desk::with_site();
    let key = desk.data().join("site.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    refused_everywhere(&desk, 2, "chmod 600");
}

#[test]
fn a_stopped_site_is_two_files_that_can_be_copied() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    server.sign_in("jane", crate::harness::PASSWORD);
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(std::fs::metadata(desk.data().join("tunneldesk.sqlite-wal")).map_or(0, |wal| wal.len()), 0);
    let copy = Desk::empty();
    std::fs::create_dir(copy.data()).unwrap();
    for name in ["site.key", "tunneldesk.sqlite"] {
        std::fs::copy(desk.data().join(name), copy.data().join(name)).unwrap();
    }
    copy.serve().sign_in("jane", crate::harness::PASSWORD);
}

#[test]
fn a_file_that_root_copied_into_the_directory_is_named_with_what_to_do_and_side_files_are_no_reason_to_refuse() {
    const SERVICE: Option<u32> = Some(65_534);
    let desk = Desk::with_site();
    let kept = |name: &str| desk.data().join(name);
    let give = |owner: Option<u32>, path: &Path| std::os::unix::fs::chown(path, owner, owner);
    let all = || std::fs::read_dir(desk.data()).unwrap().map(|entry| entry.unwrap().path());
    if give(SERVICE, &desk.data()).is_err() {
        println!("skipped: only root may give files to another user");
        return;
    }
    let give_all = || all().for_each(|path| give(SERVICE, &path).unwrap());
    give_all();
    desk.run(&["member", "list"]).done();
    for name in ["tunneldesk.sqlite-sums", "log-mark"] {
        give(Some(0), &kept(name)).unwrap();
        desk.run(&["member", "list"]).done();
        assert_eq!(std::fs::metadata(kept(name)).unwrap().uid(), 65_534, "{name} is the service's again");
    }
    give(Some(0), &kept("tunneldesk.sqlite")).unwrap();
    for said in [serve(&desk, FREE).trouble(2), desk.run(&["member", "list"]).trouble(2)] {
        assert!(said.contains("tunneldesk.sqlite belongs to user 0") && said.contains("chown --reference="), "{said}");
    }
    give_all();
    std::fs::set_permissions(kept("tunneldesk.sqlite"), std::fs::Permissions::from_mode(0o400)).unwrap();
    assert!(serve(&desk, FREE).trouble(2).contains("chmod u+rw"));
    let stranger = Command::new("setpriv")
        .args(["--reuid", "65533", "--regid", "65533", "--clear-groups", BINARY, "member", "list", "--data"])
        .arg(desk.data())
        .env_clear()
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&stranger.stderr).into_owned();
    assert!(said.contains("run this as the user who owns the directory"), "{said}");
}

#[test]
fn a_journal_that_another_program_left_is_refused_in_one_line_that_says_what_to_type() {
    let desk = Desk::with_site();
    let journal = desk.data().join("tunneldesk.sqlite-journal");
    // Ended journals of SQLite's other modes are empty, or begin with zeros.
    for ended in [&b""[..], &[0; 512]] {
        std::fs::write(&journal, ended).unwrap();
        desk.run(&["member", "list"]).done();
    }
    std::fs::write(&journal, [&[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7][..], &[0; 504]].concat()).unwrap();
    let said = desk.run(&["member", "list"]).trouble(2);
    assert!(said.contains("sqlite-journal: type `sqlite3 ") && said.contains("tunneldesk restore"), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(journal.exists());
}
