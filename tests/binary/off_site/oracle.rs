//! Clients that write and remember which writes were acknowledged, and when.

use crate::harness::{Caller, Client, PASSWORD, Server};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Settings that allow each member as many writes as many members make in a day.
pub const LIMITS: &str = "[limits]\nchanges_per_day_per_member = 1000000\n";

/// An acknowledged write.
#[derive(Debug, Clone)]
struct Write {
    name: String,
    acknowledged: Instant,
    /// The seconds of the request and of its acknowledgement.
    from: i64,
    to: i64,
}

pub struct Oracle {
    clients: usize,
    sessions: Vec<Caller>,
    writes: Vec<Write>,
    names: u64,
}

pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// A moment in the format of `restore --at`.
pub fn shown(moment: i64) -> String {
    let sql = "SELECT strftime('%Y-%m-%d %H:%M:%SZ', ?1, 'unixepoch')";
    rusqlite::Connection::open_in_memory().unwrap().query_row(sql, [moment], |row| row.get(0)).unwrap()
}

/// The names of the writes in the database of a site.
pub fn restored(data: &Path) -> BTreeSet<String> {
    let file = rusqlite::Connection::open(data.join("tunneldesk.sqlite")).unwrap();
    let verdict: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let mut names = file.prepare("SELECT comment FROM entries").unwrap();
    names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn write(client: &mut Client, session: &Caller, name: &str) -> Option<Write> {
    let from = now();
    let entry = json!({ "entry_date": 1_700_000_000, "time": "5", "tunnel": "1", "comment": name, "status": "" });
    let answer = client.call(session, "POST", "/api/account/logbook/time/", None, &entry).ok()?;
    assert_eq!(answer.status, 201, "{}", answer.body);
    Some(Write { name: name.to_owned(), acknowledged: Instant::now(), from, to: now() })
}

impl Oracle {
    pub fn new(clients: usize) -> Oracle {
        Oracle { clients, sessions: Vec::new(), writes: Vec::new(), names: 0 }
    }

    pub fn sign_in(&mut self, server: &Server) {
        self.sessions = (0..self.clients).map(|n| server.sign_in(&format!("flyer-{n}"), PASSWORD)).collect();
    }

    /// Whether a client made a write of this name, acknowledged or not.
    pub fn made(&self, name: &str) -> bool {
        self.writes.iter().any(|write| write.name == name)
    }

    pub fn session(&self, client: usize) -> &Caller {
        &self.sessions[client]
    }

    /// Makes one write and returns how long it took.
    pub fn write_once(&mut self, server: &Server) -> Duration {
        self.names += 1;
        let since = Instant::now();
        let name = format!("single {}", self.names);
        self.writes.push(write(&mut server.client(), &self.sessions[0], &name).expect("the server runs"));
        since.elapsed()
    }

    /// All clients write until `end` is called after `time`. Returns the moment of that call.
    pub fn write_until(&mut self, server: &Server, time: Duration, end: impl FnOnce()) -> Instant {
        let ended = AtomicBool::new(false);
        self.names += 1;
        let (round, sessions) = (self.names, &self.sessions);
        let (writes, ended_at) = std::thread::scope(|scope| {
            let ended = &ended;
            let writing: Vec<_> = sessions
                .iter()
                .enumerate()
                .map(|(client, session)| {
                    let mut connection = server.client();
                    scope.spawn(move || {
                        let mut writes = Vec::new();
                        while !ended.load(Ordering::Relaxed) {
                            let name = format!("{round} {client} {}", writes.len());
                            let Some(one) = write(&mut connection, session, &name) else { break };
                            writes.push(one);
                        }
                        writes
                    })
                })
                .collect();
            std::thread::sleep(time);
            let ended_at = Instant::now();
            end();
            ended.store(true, Ordering::Relaxed);
            let writes: Vec<Write> = writing.into_iter().flat_map(|one| one.join().unwrap()).collect();
            (writes, ended_at)
        });
        assert!(writes.len() > 10, "hardly anything was written");
        self.writes.extend(writes);
        ended_at
    }

    /// The time before `end` at which the oldest missing write was acknowledged; zero if none is missing.
    pub fn lost(&self, there: &BTreeSet<String>, end: Instant) -> Duration {
        let missing = self.writes.iter().filter(|write| !there.contains(&write.name));
        missing.map(|write| end.saturating_duration_since(write.acknowledged)).max().unwrap_or_default()
    }

    /// The second of the oldest write that was requested after a second.
    pub fn oldest_after(&self, second: i64) -> Option<i64> {
        self.writes.iter().filter(|write| write.from > second).map(|write| write.to).min()
    }

    /// Removes lost writes from the expected ones.
    pub fn forget_lost(&mut self, there: &BTreeSet<String>) {
        self.writes.retain(|write| there.contains(&write.name));
    }

    /// Removes the writes of a client who is erased.
    pub fn forget_of(&mut self, client: usize) {
        self.writes.retain(|write| {
            write.name.split(' ').nth(1) != Some(&client.to_string()) || write.name.starts_with("single")
        });
    }

    /// The writes that were acknowledged by the end of a second and are missing, and those that were requested after it
    /// and are there.
    pub fn differences(&self, there: &BTreeSet<String>, at: i64) -> (Vec<&str>, Vec<&str>) {
        let names = |is: &dyn Fn(&Write) -> bool| self.writes.iter().filter(|w| is(w)).map(|w| &*w.name).collect();
        let missing = names(&|write| write.to <= at && !there.contains(&write.name));
        (missing, names(&|write| write.from > at && there.contains(&write.name)))
    }
}
