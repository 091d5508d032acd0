//! The server, and commands that write much, are killed while a checkpoint moves pages from the WAL into the database.
//! The next start repairs the database, and nothing acknowledged is lost.
//!
//! `strace` kills at the N-th write to the database file: only a checkpoint writes there. `TUNNELDESK_CHECKPOINT_KILLS`
//! sets the number of kills that must have struck.

use super::{Client, OperationOutcome, Seed, Site};
use crate::faults::{TRACER, or_skip, rounds, tracer};
use crate::harness::{BINARY, Caller, Desk, PASSWORD, Random, Server};
use crate::upgrade::lay;
use rusqlite::Connection;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The status of a request that waited in the queue too long.
pub const TOO_LATE: u16 = 503;
const SHORT: u64 = 6;
const ROUNDS_A_SITE: u64 = 25;
/// The number of answers after which a round ends, whether or not a checkpoint ran.
pub const ANSWERS_MAX: u64 = 1_500;
/// The most writes to the database file: by one thread in a round, by a command, and by the upgrade of a large
/// database.
pub const WRITES_MAX: u64 = 300;
const COMMAND_WRITES_MAX: u64 = 60;
const UPGRADE_WRITES_MAX: u64 = 6_000;
/// Few threads: `strace` counts for each thread.
const WRITING_THREADS: &str = "2";
const UPGRADES_A_KILL: u64 = 40;
/// As many entries as make a database of about 150 MB.
const LARGE_ENTRIES: u64 = 475_000;
const NAMER: &str = "namer";

/// The executable under `strace`, which sends it `signal` before the `at`-th write of a thread to the database file.
pub fn struck(desk: &Desk, args: &[&str], signal: &str, at: u64) -> Command {
    let mut command = Command::new(TRACER);
    // With -D the tracer runs as a grandchild, so that our child is the executable itself. The option --seccomp-bpf is
    // absent, because with it `strace` would not count by path (-P).
    command.args(["-D", "-f", "-q", "-o", "/dev/null", "-P"]).arg(desk.database());
    command.args(["-e", "trace=pwrite64", "-e", &format!("inject=pwrite64:signal={signal}:when={at}")]);
    command.arg(BINARY).args(args).current_dir(desk.path()).env_clear().envs(desk.later()).stdin(Stdio::null());
    command.env("TUNNELDESK_LIMITS_POOL_THREADS", WRITING_THREADS);
    command
}

/// A member who keeps changing names, and with them the rows of the search.
pub struct Namer {
    session: Caller,
    sent: u64,
    acknowledged: u64,
}

impl Namer {
    pub fn of(desk: &Desk) -> Namer {
        desk.add_member(NAMER, "member");
        let server = desk.serve();
        let namer = Namer { session: server.sign_in(NAMER, PASSWORD), sent: 0, acknowledged: 0 };
        assert_eq!(server.stop().code, Some(0));
        namer
    }

    /// Renames the member until the server is gone or `ended` is set.
    pub fn rename(&mut self, server: &Server, ended: &AtomicBool) {
        let mut http = server.client();
        while !ended.load(Ordering::SeqCst) {
            self.sent += 1;
            let body = json!({"real_name": name(self.sent), "tunnel": "1", "screen_name": "N", "username": NAMER,
                              "verify_password": PASSWORD});
            let Ok(answer) = http.call(&self.session, "PUT", "/api/account/profile/user", None, &body) else { return };
            if ended.load(Ordering::SeqCst) {
                return;
            }
            if answer.status != TOO_LATE {
                answer.ok();
                self.acknowledged = self.sent;
            }
        }
    }

    /// Asserts that the database has the name that was acknowledged last, or the one that was sent after it.
    pub fn audit(&mut self, database: &Path) {
        if self.sent == 0 {
            return;
        }
        let conn = Connection::open(database).unwrap();
        let sql = "SELECT real_name FROM members WHERE username = ?1";
        let kept: String = conn.query_row(sql, [NAMER], |row| row.get(0)).unwrap();
        let number = [self.acknowledged, self.sent].into_iter().find(|number| name(*number) == kept);
        let unnamed = self.acknowledged == 0;
        assert!(number.is_some() || unnamed, "{kept} where {} was acknowledged", name(self.acknowledged));
        self.acknowledged = number.unwrap_or(0);
    }
}

fn name(number: u64) -> String {
    format!("Jane {:x} of {}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15), "Windwerk ".repeat((number % 9) as usize))
        .trim_end()
        .to_owned()
}

#[test]
fn nothing_acknowledged_is_lost_when_a_kill_meets_a_checkpoint() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let wanted = rounds("TUNNELDESK_CHECKPOINT_KILLS", SHORT);
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let (mut struck, mut tried) = (0, 0);
    while struck < wanted {
        let mut site = Site::open(&mut random);
        let mut namer = Namer::of(&site.desk);
        for round in 0..ROUNDS_A_SITE {
            struck += u64::from(match round % 5 {
                2 => killed_in(&site.desk, &set_back(&site.desk), &mut random),
                4 => killed_in(&site.desk, &erasure(&site.desk, tried), &mut random),
                _ => serve_until_killed(&mut site, &mut namer, &mut random),
            });
            tried += 1;
            site.audit();
            namer.audit(&site.desk.database());
            if struck == wanted {
                break;
            }
        }
        println!("{struck} kills struck in {tried} rounds");
        assert!(tried < 10 * wanted + 20, "the kills do not strike: {struck} of {tried}");
    }
}

/// Runs a server under writes until a checkpoint kills it. Returns whether one did.
fn serve_until_killed(site: &mut Site, namer: &mut Namer, random: &mut Random) -> bool {
    let command = struck(&site.desk, &["serve"], "SIGKILL", 1 + random.below(WRITES_MAX));
    let ended = match Server::try_start(command) {
        Err(ended) => ended,
        Ok(server) => {
            let (cut, over, answers) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
            let (cut, over, answers, server_) = (&cut, &over, &answers, &server);
            std::thread::scope(|scope| {
                scope.spawn(move || namer.rename(server_, over));
                let endure = move |client: &mut Client| {
                    client.endure(server_.address, cut, |outcome| {
                        assert!(
                            matches!(outcome, OperationOutcome::Done | OperationOutcome::Refused(TOO_LATE)),
                            "{outcome:?}"
                        );
                        answers.fetch_add(1, Ordering::SeqCst) < ANSWERS_MAX
                    });
                };
                let writers: Vec<_> =
                    site.clients.iter_mut().map(|client| scope.spawn(move || endure(client))).collect();
                writers.into_iter().for_each(|writer| writer.join().unwrap());
                over.store(true, Ordering::SeqCst);
            });
            server.terminate();
            server.ended()
        }
    };
    assert!(matches!(ended.code, None | Some(0)), "{:?}", ended.log);
    assert_refused_for_the_queue_alone(&ended.log);
    ended.code.is_none()
}

/// Asserts that a refused request was refused because it waited in the queue too long, on a busy machine; then nothing
/// of it was done. A refusal for any other reason would be an error of the database.
pub fn assert_refused_for_the_queue_alone(log: &[String]) {
    let others: Vec<_> = log
        .iter()
        .filter(|line| line.contains(&format!("\"status\":{TOO_LATE}")) || line.contains("the file is damaged"))
        .filter(|line| !line.contains("the request waited too long in the queue"))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Makes the database remember a future time, and returns the command that resets it.
pub fn set_back(desk: &Desk) -> Vec<String> {
    let conn = Connection::open(desk.database()).unwrap();
    conn.execute_batch("UPDATE site SET clock_high_water = unixepoch() + 1000000").unwrap();
    ["clock", "set-back"].map(str::to_owned).to_vec()
}

/// Adds a member, and returns the command that erases the member and writes the database anew (`VACUUM`).
pub fn erasure(desk: &Desk, number: u64) -> Vec<String> {
    let username = format!("gone-{number}");
    desk.add_member(&username, "member");
    vec!["member".to_owned(), "erase".to_owned(), username, "--yes".to_owned()]
}

/// Runs a command that a checkpoint kills, then runs it again. Returns whether it was killed.
fn killed_in(desk: &Desk, args: &[String], random: &mut Random) -> bool {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = struck(desk, &args, "SIGKILL", 1 + random.below(COMMAND_WRITES_MAX));
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success() || status.signal() == Some(libc::SIGKILL), "{args:?}: {status}");
    do_again(desk, &args);
    !status.success()
}

/// Asserts that a killed command is done, or can be done now.
pub fn do_again(desk: &Desk, args: &[&str]) {
    desk.run(&["member", "list"]).done();
    let again = desk.run(args);
    let was_done =
        ["nothing to set back", "is erased already", "there is no account"].iter().any(|said| again.err.contains(said));
    assert!(again.code == Some(0) || was_done, "{args:?}: {}{}", again.out, again.err);
}

#[cfg(debug_assertions)]
#[test]
fn a_kill_that_meets_the_checkpoint_of_an_upgrade_costs_nothing() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let kills = rounds("TUNNELDESK_CHECKPOINT_KILLS", SHORT);
    let is_campaign = std::env::var_os("TUNNELDESK_CHECKPOINT_KILLS").is_some();
    let (wanted, entries) = (kills.div_ceil(UPGRADES_A_KILL), if is_campaign { LARGE_ENTRIES } else { 300 });
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let origin = tempfile::tempdir().unwrap();
    let origin = origin.path().join("origin");
    lay(&origin);
    let before = fill(&origin, entries);
    let (mut struck_, mut tried) = (0, 0);
    while struck_ < wanted {
        let desk = Desk::empty();
        let copied = Command::new("cp").arg("-a").arg(&origin).arg(desk.data()).status().unwrap();
        assert!(copied.success());
        desk.install_later();
        let most = if is_campaign { UPGRADE_WRITES_MAX } else { COMMAND_WRITES_MAX };
        let mut command = struck(&desk, &["upgrade"], "SIGKILL", 1 + random.below(most));
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success() || status.signal() == Some(libc::SIGKILL), "{status}");
        struck_ += u64::from(!status.success());
        tried += 1;
        desk.run(&["upgrade"]).done();
        assert_eq!(content(&desk.database()), before);
        assert!(tried < 10 * wanted + 20, "the kills do not strike: {struck_} of {tried}");
    }
    println!("{struck_} kills struck in {tried} upgrades of {entries} entries");
}

/// Adds entries. Returns the number and the minutes of all entries then.
fn fill(dir: &Path, entries: u64) -> (i64, i64) {
    let database = dir.join("tunneldesk.sqlite");
    let conn = Connection::open(&database).unwrap();
    let sql = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {entries})
         INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, comment, created_at, updated_at)
         SELECT m.member_id, 'time', 'open', 1600000000 + n * 60, 5, 1, m.member_id, hex(randomblob(100)), 1700000000, 1700000000
         FROM n, (SELECT min(member_id) AS member_id FROM members) m"
    );
    conn.execute_batch(&sql).unwrap();
    drop(conn);
    content(&database)
}

/// The number of entries and their minutes, in a database that is intact.
fn content(database: &Path) -> (i64, i64) {
    let conn = Connection::open(database).unwrap();
    let verdict: String = conn.query_row("PRAGMA quick_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    conn.query_row("SELECT count(*), sum(minutes) FROM entries", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}
