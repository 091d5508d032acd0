//! Damaged database files: flipped bytes, a missing part, the WAL of another database. The server either refuses to
//! start, in one line that says what to do, or serves correct data.
//!
//! SQLite itself judges on a copy what `quick_check` can find; a flip inside a value is invisible to SQLite and to the
//! server. `TUNNELDESK_DAMAGES` sets the number of damaged files.

use super::rounds;
use crate::harness::{Caller, Desk, Ended, PASSWORD, Ran, Random, Server};
use crate::kills::{OperationOutcome, Seed, Site};
use rusqlite::Connection;
use serde_json::json;
use std::fs::Permissions;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SHORT: u64 = 20;
/// The time within which a running server must find damage in a small file, on a busy machine.
const NOTICE_TIME_MAX: Duration = Duration::from_secs(60);
const PAGE_BYTES: u64 = 4096;
const DATABASE: &str = "tunneldesk.sqlite";
const LOG: &str = "tunneldesk.sqlite-wal";

/// The database files of a site at one moment.
pub(super) struct Files(Vec<(&'static str, Vec<u8>)>);

impl Files {
    fn of(data: &Path) -> Files {
        let names = [DATABASE, LOG, "site.key"];
        Files(names.into_iter().filter_map(|name| Some((name, std::fs::read(data.join(name)).ok()?))).collect())
    }

    fn get(&self, name: &str) -> &[u8] {
        self.0.iter().find(|(known, _)| *known == name).map_or(&[], |(_, bytes)| bytes)
    }

    fn put(&self, data: &Path) {
        _ = std::fs::remove_dir_all(data);
        std::fs::create_dir(data).unwrap();
        for (name, bytes) in &self.0 {
            std::fs::write(data.join(name), bytes).unwrap();
            std::fs::set_permissions(data.join(name), Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// Writes for a while and returns the files as a kill (`killed`) or a clean stop leaves them.
pub(super) fn written(site: &mut Site, operations: u64, killed: bool) -> Files {
    let server = site.desk.serve();
    let (done, cut) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for client in &mut site.clients {
            let (done, cut) = (&done, &cut);
            let go_on = move |outcome| {
                assert_eq!(outcome, OperationOutcome::Done);
                done.fetch_add(1, Ordering::SeqCst) + 1 < operations
            };
            let address = server.address;
            scope.spawn(move || client.endure(address, cut, go_on));
        }
    });
    if killed {
        server.kill();
        server.ended();
    } else {
        assert_eq!(server.stop().code, Some(0));
    }
    Files::of(&site.desk.data())
}

/// The verdict of SQLite on the files: `Err` if it cannot read them or finds damage.
fn verdict(data: &Path) -> Result<(), String> {
    let copy = tempfile::tempdir().unwrap();
    for name in [DATABASE, LOG] {
        if data.join(name).exists() {
            std::fs::copy(data.join(name), copy.path().join(name)).unwrap();
        }
    }
    let ask = || -> rusqlite::Result<String> {
        let conn = Connection::open(copy.path().join(DATABASE))?;
        conn.query_row("PRAGMA quick_check", [], |row| row.get(0))
    };
    match ask() {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(said),
        Err(e) => Err(e.to_string()),
    }
}

/// Starts the server on the files in the directory. A refusal must be one line that says what to do.
fn start(desk: &Desk, what: &str) -> Option<Server> {
    match Server::try_start(desk.command(&["serve"])) {
        Ok(server) => Some(server),
        Err(Ended { code, log, .. }) => {
            assert_eq!(code, Some(2), "{what}: {log:?}");
            let said: Vec<_> = log.iter().filter(|line| line.starts_with("tunneldesk: ")).collect();
            assert_eq!(said.len(), 1, "{what}: {log:?}");
            assert!(said[0].contains("restore"), "{what}: does not say what to do: {said:?}");
            None
        }
    }
}

/// The error of a start that must be refused.
fn refusal(desk: &Desk) -> String {
    let mut command = desk.command(&["serve"]);
    command.env("TUNNELDESK_LISTEN", "127.0.0.1:0").env("TUNNELDESK_METRICS_LISTEN", "127.0.0.1:0");
    Ran::from(command.output().unwrap()).trouble(2)
}

#[test]
fn a_damaged_file_is_refused_or_is_right() {
    let wanted = rounds("TUNNELDESK_DAMAGES", SHORT);
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let mut site = Site::open_on(Desk::with_site(), &mut random);
    let (clean, killed) = (written(&mut site, 300, false), written(&mut site, 60, true));
    assert!(!killed.get(LOG).is_empty() && clean.get(LOG).is_empty());
    let data = site.desk.data();
    let (mut refused, mut noticed, mut put_right, mut served) = (0, 0, 0, 0);
    for _ in 0..wanted {
        let files = if random.below(2) == 0 { &clean } else { &killed };
        files.put(&data);
        let what = damage(&data.join(DATABASE), &mut random);
        let verdict = verdict(&data);
        match start(&site.desk, &what) {
            None => refused += 1,
            Some(server) if verdict.is_ok() => {
                server.stop();
                served += 1;
            }
            Some(server) => {
                // After a clean stop the start checks only briefly, and the check goes on while the server runs.
                assert!(files.get(LOG).is_empty(), "{what}: served after a crash although {verdict:?}");
                let is_put_right = is_noticed(&server, &what);
                server.stop();
                if is_put_right {
                    self::verdict(&data).unwrap_or_else(|wrong| panic!("{what}: said to be put right: {wrong}"));
                    put_right += 1;
                }
                noticed += 1;
            }
        }
    }
    println!(
        "{refused} damaged files refused, {noticed} noticed while they were served, {put_right} of them for an index that was \
         built anew, {served} served whose structure is whole"
    );
    assert!(refused > 0, "nothing was refused");
}

/// Waits until the running server has found the damage. `true`: only an index was damaged, and the server rebuilt it.
fn is_noticed(server: &Server, what: &str) -> bool {
    let since = Instant::now();
    loop {
        let answer = server.get(&Caller::Anyone, "/readyz");
        if answer.status == 503 && answer.json()["code"] == "store_damaged" {
            return false;
        }
        if server.log.so_far().iter().any(|line| line.contains("the indexes are rebuilt and the database is intact")) {
            return true;
        }
        assert!(since.elapsed() < NOTICE_TIME_MAX, "{what}: is served as if it were sound");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Damages the file and describes how.
fn damage(path: &Path, random: &mut Random) -> String {
    let mut bytes = std::fs::read(path).unwrap();
    let length = bytes.len() as u64;
    let page = random.below(length / PAGE_BYTES) * PAGE_BYTES;
    let what = match random.below(6) {
        // These bytes hold the structure of a page.
        0 | 1 => {
            let at = page + random.below(64);
            bytes[at as usize] ^= 1 << random.below(8);
            format!("one bit at {at}")
        }
        2 => {
            let (at, count) = (page + random.below(PAGE_BYTES), 1 + random.below(64));
            for place in at..(at + count).min(length) {
                bytes[place as usize] = random.next() as u8;
            }
            format!("{count} bytes at {at}")
        }
        3 => {
            bytes[page as usize..(page + PAGE_BYTES) as usize].fill(0);
            format!("the page at {page} is zeros")
        }
        4 => {
            let other = random.below(length / PAGE_BYTES) * PAGE_BYTES;
            bytes.copy_within(other as usize..(other + PAGE_BYTES) as usize, page as usize);
            format!("the page at {page} is that at {other}")
        }
        _ => {
            bytes.truncate(random.below(length) as usize);
            format!("cut off at {}", bytes.len())
        }
    };
    std::fs::write(path, bytes).unwrap();
    what
}

#[test]
fn a_file_that_is_gone_empty_or_no_database_is_one_line() {
    let desk = Desk::with_site();
    let database = desk.database();
    for bytes in [&b""[..], b"SQLite format 3\0", &[0x5a; 8192]] {
        std::fs::write(&database, bytes).unwrap();
        for said in [refusal(&desk), desk.run(&["member", "list"]).trouble(2)] {
            assert!(said.contains("tunneldesk restore"), "{said}");
        }
    }
}

#[test]
fn a_file_that_is_damaged_under_a_running_server_is_noticed_and_not_written_again() {
    let mut random = Random::new(Random::seed());
    let mut site = Site::open_on(Desk::with_site(), &mut random);
    written(&mut site, 300, false);
    let desk = &site.desk;
    let server = desk.serve();
    let session = server.sign_in("flyer-0", PASSWORD);
    assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
    // A fault of the disk: every page that has not been read yet is changed.
    let bytes = std::fs::read(desk.database()).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(desk.data().join(DATABASE)).unwrap();
    file.write_all_at(&vec![0x5a; bytes.len() - PAGE_BYTES as usize], PAGE_BYTES).unwrap();
    let paths = ["notifications", "profile/booking-history", "profile/sessions", "logbook/requests", "profile/user"];
    let told = paths.iter().any(|path| {
        let answer = server.get(&session, &format!("/api/account/{path}"));
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        answer.status == 503 && answer.json()["code"] == "store_damaged"
    });
    assert!(told, "pages of something else were served");
    // Until a second check finds the same, a passing fault of the disk is possible. The server is not ready meanwhile.
    let since = Instant::now();
    while server.get(&Caller::Anyone, "/readyz").refused(503)["code"] != "store_damaged" {
        assert!(since.elapsed() < NOTICE_TIME_MAX, "the second look has no end");
    }
    let told = server.get(&Caller::Anyone, "/readyz?verbose");
    assert!(told.status == 503 && told.body.starts_with("store_damaged\n"), "{told:?}");
    assert!(told.body.contains("\nalarm store\n") && told.body.contains("\nok permissions\n"), "{told:?}");
    let entry = json!({"entry_date": 1_700_000_000, "time": 5});
    let refused = server.post(&session, "/api/account/logbook/time/", &entry).refused(503);
    assert_eq!(refused["code"], "store_damaged");
    let ended = server.stop();
    assert_eq!(ended.code, Some(0));
    assert!(ended.log.iter().any(|line| line.contains("tunneldesk restore")), "{:?}", ended.log);
    let after = std::fs::read(desk.database()).unwrap();
    assert!(after[PAGE_BYTES as usize..].iter().all(|byte| *byte == 0x5a), "it was written");
    assert!(refusal(desk).contains("tunneldesk restore"));
}

#[test]
fn a_log_that_is_not_the_file_s_own_is_refused() {
    let mut random = Random::new(Random::seed());
    let mut site = Site::open_on(Desk::with_site(), &mut random);
    let older = written(&mut site, 200, true);
    let newer = written(&mut site, 200, false);
    let mut other = Site::open_on(Desk::with_site(), &mut random);
    let foreign = written(&mut other, 200, true);
    let data = site.desk.data();
    for (what, log) in [("an older log", &older), ("another site's log", &foreign)] {
        newer.put(&data);
        std::fs::write(data.join(LOG), log.get(LOG)).unwrap();
        let said = refusal(&site.desk);
        assert!(said.contains("does not belong to") && said.contains("no restore is needed"), "{what}: {said}");
        let doctor = site.desk.run(&["doctor"]);
        assert!(doctor.code == Some(2) && doctor.out.contains("does not belong to"), "{what}: {}", doctor.out);
        assert!(!format!("{said}{}", doctor.out).contains("tunneldesk restore"), "{what}: {said} {}", doctor.out);
        // The refused start changed neither file: without the WAL the database is as before.
        std::fs::remove_file(data.join(LOG)).unwrap();
        _ = std::fs::remove_file(data.join("tunneldesk.sqlite-shm"));
        assert!(std::fs::read(data.join(DATABASE)).unwrap() == newer.get(DATABASE), "{what} went into the file");
    }
    newer.put(&data);
    site.audit();
}

#[test]
fn a_damaged_log_costs_what_it_held_and_nothing_before_it() {
    let mut random = Random::new(Random::seed());
    let mut site = Site::open_on(Desk::with_site(), &mut random);
    let clean = written(&mut site, 200, false);
    let kept = Connection::open(site.desk.database()).unwrap();
    let entries =
        |conn: &Connection| conn.query_row("SELECT count(*) FROM history", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = entries(&kept);
    drop(kept);
    clean.put(&site.desk.data());
    // So few operations that no checkpoint runs: after one the database would be newer than the rest of a damaged WAL.
    let files = written(&mut site, 60, true);
    assert!(files.get(DATABASE) == clean.get(DATABASE), "a checkpoint was met");
    for _ in 0..4 {
        files.put(&site.desk.data());
        let log = site.desk.data().join(LOG);
        let mut bytes = std::fs::read(&log).unwrap();
        let at = 32 + random.below(bytes.len() as u64 - 32) as usize;
        bytes[at] ^= 0x10;
        std::fs::write(&log, bytes).unwrap();
        let server = start(&site.desk, "a flip in the log").expect("the file is whole without the rest of its log");
        server.sign_in("flyer-0", PASSWORD);
        server.stop();
        let conn = Connection::open(site.desk.database()).unwrap();
        assert!(entries(&conn) >= before);
        let verdict: String = conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }
}
