//! A single bit flips in the database, in the WAL or in a backup, of a stopped site or under a running server. Without
//! an alarm, no answer may be wrong, and no backup may be made and called verified.
//!
//! `TUNNELDESK_FLIPS` sets the number of bits, `TUNNELDESK_SEED` their choice.

use super::damage::written;
use super::rounds;
use crate::harness::{Caller, Client as Http, Desk, Random, Server};
use crate::kills::{Seed, Site};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SHORT: u64 = 18;
/// The number of flips that run at the same time. Each run spends most of its time waiting.
const AT_ONCE: usize = 6;
/// The time within which the alarm must be raised.
const ALARM_TIME_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const DATABASE: &str = "tunneldesk.sqlite";
const LOG: &str = "tunneldesk.sqlite-wal";
const PAGE_BYTES: u64 = 4096;

/// The file whose bit flips.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    AtRest,
    AtRestBesideItsLog,
    LogAtRest,
    Running,
    LogRunning,
    Backup,
}

const TARGETS: [Target; 6] = [
    Target::AtRest,
    Target::AtRestBesideItsLog,
    Target::LogAtRest,
    Target::Running,
    Target::LogRunning,
    Target::Backup,
];

/// Requests and their answers.
type Answers = Vec<(Caller, String, String)>;

/// A site as a clean stop leaves it and as a kill leaves it, with the correct answers of each.
struct Origin {
    _dir: tempfile::TempDir,
    stopped: PathBuf,
    killed: PathBuf,
    right: [Answers; 2],
    rows: Vec<String>,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&entry.path(), &to),
            kind if kind.is_file() => _ = std::fs::copy(entry.path(), to).unwrap(),
            _ => {}
        }
    }
}

/// A desk with a copy of the site's files.
fn laid(origin: &Path) -> Desk {
    let desk = Desk::empty();
    copy(origin, &desk.data());
    desk
}

fn ask(server: &Server, caller: &Caller, path: &str) -> Option<String> {
    let answer = server.get(caller, path);
    (answer.status == 200).then_some(answer.body)
}

/// The answers to members who read their own data.
fn answers(server: &Server, site: &Site) -> Answers {
    let paths = |id| {
        [
            format!("/api/account/logbook/time/{id}"),
            "/api/account/profile/booking-history".to_owned(),
            "/api/account/profile/user".to_owned(),
        ]
    };
    let clients = site.clients.iter().flat_map(|client| paths(client.member_id).map(|path| (client, path)));
    clients
        .map(|(client, path)| {
            let answer = ask(server, &client.session, &path).expect("nothing is wrong yet");
            (client.session.clone(), path, answer)
        })
        .collect()
}

/// The rows of the tables that requests do not write.
fn rows(database: &Path) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(database, copy.path().join(DATABASE)).unwrap();
    let conn = Connection::open(copy.path().join(DATABASE)).unwrap();
    ["members", "entries", "bookings", "history", "partner_users"]
        .into_iter()
        .flat_map(|table| {
            let mut select = conn.prepare(&format!("SELECT * FROM {table} ORDER BY 1")).unwrap();
            let columns = select.column_count();
            let row = |row: &rusqlite::Row| (0..columns).map(|n| row.get::<_, Value>(n)).collect::<Result<Vec<_>, _>>();
            select.query_map([], row).unwrap().map(|row| format!("{table} {:?}", row.unwrap())).collect::<Vec<_>>()
        })
        .collect()
}

impl Origin {
    fn new(random: &mut Random) -> (Origin, Site) {
        let dir = tempfile::tempdir().unwrap();
        let (stopped, killed) = (dir.path().join("stopped"), dir.path().join("killed"));
        let mut site = Site::open_on(Desk::with_site(), random);
        written(&mut site, 300, false);
        site.desk.run(&["backup"]).done();
        let data = site.desk.data();
        copy(&data, &stopped);
        let rows = rows(&data.join(DATABASE));
        let right = |origin: &Path| {
            let desk = laid(origin);
            let server = desk.serve();
            let right = answers(&server, &site);
            assert_eq!(alarm(&server), None);
            right
        };
        let after_stop = right(&stopped);
        written(&mut site, 60, true);
        copy(&data, &killed);
        assert!(std::fs::metadata(killed.join(LOG)).unwrap().len() > 0);
        let right = [after_stop, {
            let desk = laid(&killed);
            let server = desk.serve();
            answers(&server, &site)
        }];
        (Origin { _dir: dir, stopped, killed, right, rows }, site)
    }
}

/// The name of a standing alarm in the answer of the readiness probe.
fn alarm(server: &Server) -> Option<String> {
    let told = server.get(&Caller::Anyone, "/readyz?verbose").body;
    // A copied site has no off-site backups until it has run for a while, and no flip is about those.
    let mut alarms = told.lines().filter_map(|line| line.strip_prefix("alarm "));
    alarms.find(|fact| *fact != "off_site_backup").map(str::to_owned)
}

fn alarm_in_time(server: &Server) -> Option<String> {
    let since = Instant::now();
    loop {
        match alarm(server) {
            None if since.elapsed() < ALARM_TIME_MAX && !was_put_right(server) => std::thread::park_timeout(POLL),
            told => return told,
        }
    }
}

/// Whether a standing alarm ends because the damage was mended.
fn ends_in_time(server: &Server) -> bool {
    let since = Instant::now();
    while since.elapsed() < ALARM_TIME_MAX {
        if was_put_right(server) && alarm(server).is_none() {
            return true;
        }
        std::thread::park_timeout(POLL);
    }
    false
}

/// Whether the bit was flipped back or an index was rebuilt, which ends the alarm.
fn was_put_right(server: &Server) -> bool {
    let words = ["damage was corrected", "the indexes are rebuilt and the database is intact"];
    server.log.so_far().iter().any(|line| words.iter().any(|words| line.contains(words)))
}

/// Flips a random bit of a file. Returns the offset of its byte and a description.
fn flip(path: &Path, random: &mut Random) -> (u64, String) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let at = random.below(file.metadata().unwrap().len());
    let bit = random.below(8);
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1 << bit], at).unwrap();
    (at, format!("bit {bit} of byte {at} of {}", path.file_name().unwrap().to_string_lossy()))
}

/// The newest backup of a site.
fn newest_backup(data: &Path) -> PathBuf {
    let dirs = std::fs::read_dir(data.join("backups")).unwrap().map(|entry| entry.unwrap().path());
    dirs.filter(|dir| dir.join("manifest.json").exists()).max().unwrap()
}

/// The outcome of a flipped bit.
#[derive(Debug, PartialEq)]
enum Outcome {
    Refused,
    Told,
    /// The bit was flipped back, or an index was rebuilt, and the log says so.
    PutRight,
    /// All answers were correct, and no alarm was raised.
    Harmless,
}

struct Case<'o> {
    origin: &'o Origin,
    site: &'o Site,
    random: Random,
}

impl Case<'_> {
    fn run(&mut self, target: Target) -> Result<Outcome, String> {
        match target {
            Target::AtRest => self.at_rest(&self.origin.stopped, 0, DATABASE, true),
            Target::AtRestBesideItsLog => self.at_rest(&self.origin.killed, 1, DATABASE, false),
            Target::LogAtRest => self.at_rest(&self.origin.killed, 1, LOG, false),
            Target::Running => self.running(),
            Target::LogRunning => self.log_running(),
            Target::Backup => self.backup(),
        }
    }

    fn at_rest(&mut self, origin: &Path, right: usize, name: &str, must_tell: bool) -> Result<Outcome, String> {
        let desk = laid(origin);
        let (_, what) = flip(&desk.data().join(name), &mut self.random);
        let server = match Server::try_start(desk.command(&["serve"])) {
            Ok(server) => server,
            Err(ended) => {
                let said = ended.log.join("\n");
                let is_clear = said.contains("tunneldesk restore") || said.contains("no restore is needed");
                return if is_clear { Ok(Outcome::Refused) } else { Err(format!("{what}: refused with {said}")) };
            }
        };
        self.judge(&desk, &server, &self.origin.right[right], &what, must_tell)
    }

    fn running(&mut self) -> Result<Outcome, String> {
        let desk = laid(&self.origin.stopped);
        let server = desk.serve();
        let (_, what) = flip(&desk.data().join(DATABASE), &mut self.random);
        self.judge(&desk, &server, &self.origin.right[0], &format!("{what}, running"), true)
    }

    fn log_running(&mut self) -> Result<Outcome, String> {
        let desk = laid(&self.origin.stopped);
        let server = desk.serve();
        for client in &self.site.clients[..4] {
            let entry = json!({"entry_date": 1_700_000_000, "time": 7, "comment": "in the log"});
            server.post(&client.session, "/api/account/logbook/time/", &entry).ok();
        }
        let right = answers(&server, self.site);
        let (at, what) = flip(&desk.data().join(LOG), &mut self.random);
        // A running server does not read the head of a frame. The next start does: it checks the whole WAL.
        let is_of_page = at >= 32 && (at - 32) % (24 + PAGE_BYTES) >= 24;
        self.judge(&desk, &server, &right, &format!("{what}, running"), is_of_page)
    }

    fn backup(&mut self) -> Result<Outcome, String> {
        let desk = laid(&self.origin.stopped);
        let backup = newest_backup(&desk.data());
        let name =
            ["tunneldesk.sqlite", "tunneldesk.sqlite", "site.key", "manifest.json"][self.random.below(4) as usize];
        let what = format!("{} of a backup", flip(&backup.join(name), &mut self.random).1);
        let server = desk.serve();
        match alarm_in_time(&server) {
            Some(fact) if fact == "backup" => {}
            told => return Err(format!("{what}: the alarm is {told:?}")),
        }
        stands_everywhere(&desk, &server, "backup", &what)?;
        let restored = {
            drop(server);
            desk.run(&["restore", &backup.file_name().unwrap().to_string_lossy()])
        };
        if restored.code == Some(0) {
            return Err(format!("{what}: it was restored"));
        }
        Ok(Outcome::Told)
    }

    fn judge(
        &mut self,
        desk: &Desk,
        server: &Server,
        right: &Answers,
        what: &str,
        must_tell: bool,
    ) -> Result<Outcome, String> {
        let backs_up = must_tell && std::ptr::eq(right, &raw const self.origin.right[0]) && self.random.below(3) == 0;
        let backed_up = backs_up && desk.run(&["backup"]).code == Some(0);
        let wrong =
            right.iter().find(|(caller, path, answer)| ask(server, caller, path).is_some_and(|found| found != *answer));
        let wrong_backup = backed_up && rows(&newest_backup(&desk.data()).join(DATABASE)) != self.origin.rows;
        if wrong.is_none() && !wrong_backup && !must_tell {
            return Ok(alarm(server).map_or(Outcome::Harmless, |_| Outcome::Told));
        }
        if wrong_backup {
            return Err(format!("{what}: a verified backup is wrong"));
        }
        let told = alarm_in_time(server);
        if told.is_none() && wrong.is_none() && was_put_right(server) {
            return Ok(Outcome::PutRight);
        }
        let Some(fact) = told else {
            let wrong = wrong.map(|(_, path, answer)| format!("{path}, which is {answer}"));
            return Err(format!("{what}: silent; wrong: {wrong:?}"));
        };
        match stands_everywhere(desk, server, &fact, what) {
            // The alarm ended between two requests. The probe and the log learn of the end last.
            Err(_) if wrong.is_none() && ends_in_time(server) => Ok(Outcome::PutRight),
            stands => stands.map(|()| Outcome::Told),
        }
    }
}

fn stands_everywhere(desk: &Desk, server: &Server, fact: &str, what: &str) -> Result<(), String> {
    let figures = Http::new(server.metrics_address).get(&Caller::Anyone, "/metrics").body;
    if !figures.contains(&format!("tunneldesk_health{{fact=\"{fact}\"}} 2\n")) {
        return Err(format!("{what}: the figures do not know of the alarm {fact}"));
    }
    match desk.run(&["doctor"]) {
        ran if ran.code == Some(2) => Ok(()),
        ran => Err(format!("{what}: the doctor ends with {:?}: {}{}", ran.code, ran.out, ran.err)),
    }
}

#[test]
fn no_bit_flips_in_silence() {
    let wanted = rounds("TUNNELDESK_FLIPS", SHORT);
    let seed = Seed(Random::seed());
    let (origin, site) = Origin::new(&mut Random::new(seed.0));
    let next = AtomicU64::new(0);
    let work = || {
        let mut outcomes = Vec::new();
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth >= wanted {
                return outcomes;
            }
            let target = TARGETS[nth as usize % TARGETS.len()];
            let random = Random::new(seed.0.wrapping_add(nth));
            let outcome = Case { origin: &origin, site: &site, random }.run(target);
            outcomes.push((target, outcome.map_err(|e| format!("flip {nth}: {e}"))));
        }
    };
    let outcomes: Vec<(Target, Result<Outcome, String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    for target in TARGETS {
        let count = |wanted: Outcome| {
            outcomes.iter().filter(|(at, outcome)| *at == target && outcome.as_ref() == Ok(&wanted)).count()
        };
        let (refused, told, put_right) = (count(Outcome::Refused), count(Outcome::Told), count(Outcome::PutRight));
        let harmless = count(Outcome::Harmless);
        println!(
            "{target:?}: {refused} refused at the start, {told} told of, {put_right} put right, {harmless} without effect"
        );
    }
    let silent: Vec<&String> = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err()).collect();
    assert!(silent.is_empty(), "{} of {wanted}: {silent:#?}", silent.len());
}
