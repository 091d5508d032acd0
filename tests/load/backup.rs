//! The cost of a backup for readers, and a check that the backup is the site at one moment.

use crate::CALM;
use crate::clerk::Clerk;
use crate::generator::{Callers, Seen};
use crate::server::{self, Server};
use crate::site::Requests;
use rusqlite::Connection;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Members who enter flight time all the time: 200 writes a second.
const WRITING: Callers = Callers { connections: 4, every: Some(Duration::from_millis(20)), open: false };

/// Tables whose rows change: the times at which sessions were seen, the clock of the site, and sums that later rows
/// raise.
const UNSTEADY: [&str; 5] = ["sessions", "site", "flown_hours", "booked_hours", "event_days"];

/// The interval of checks for a finished backup.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

pub struct Backed {
    server: Server,
    dir: PathBuf,
    clerk: Clerk,
}

impl Backed {
    /// A server on a copy of the site, with the site's clerk at the desk.
    pub fn start(site: &Path, clerk: &Clerk) -> Result<Backed, String> {
        let dir = server::copy(site, "backed")?;
        let server = Server::product(&dir)?;
        let clerk = clerk.at(server.address);
        Ok(Backed { server, dir, clerk })
    }

    /// Measures reads beside writes, first without backups and then with one backup after another.
    pub fn measure(&self, requests: &Requests, time: Duration) -> Result<(Seen, Seen), String> {
        let read = || requests.profile.run_among(CALM, (&requests.time, WRITING), self.server.address, time);
        let quiet = read()?;
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let backups = scope.spawn(|| {
                let (mut clerk, mut made, mut newest) = (self.clerk.clone(), 0, self.newest());
                while !over.load(Ordering::Relaxed) {
                    // The backup is requested at the desk, because starting a program for each would use the
                    // processors. A complete backup is recorded a moment later, and no other begins before that.
                    let begun = clerk.post("/desk/site/backup", &[])?.location.contains("begun");
                    while begun && self.newest() == newest && !over.load(Ordering::Relaxed) {
                        std::thread::sleep(LOOK_INTERVAL);
                    }
                    std::thread::sleep(LOOK_INTERVAL);
                    made += usize::from(self.newest() != newest);
                    newest = self.newest();
                }
                Ok::<_, String>(made)
            });
            let seen = read();
            over.store(true, Ordering::Relaxed);
            let made = backups.join().expect("nothing panics there")?;
            eprintln!("  {made} backups were made meanwhile");
            if made == 0 {
                return Err("no backup was made, so nothing was measured".to_owned());
            }
            Ok((quiet, seen?))
        })
    }

    /// The name of the latest complete backup.
    fn newest(&self) -> Option<OsString> {
        let made =
            std::fs::read_dir(self.dir.join("backups")).into_iter().flatten().flatten().map(|one| one.file_name());
        // Names of backups begin with their time. Unfinished backups and the reports of drills are in the same
        // directory.
        made.filter(|name| name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)).max()
    }

    /// Restores the newest backup into a directory of its own, and compares it with the present site, where later rows
    /// have higher numbers. Returns the number of its rows, or the difference.
    pub fn finish(self, room: &Path) -> Result<Result<i64, String>, String> {
        let listed = server::command(&self.dir, &["backup", "list"])?;
        self.server.stop()?;
        let newest = &listed["backups"][0];
        let from = newest["dir"].as_str().ok_or("there is no backup")?;
        let restored = room.join("restored");
        server::command(&restored, &["restore", from])?;
        Ok(compare(&restored, &self.dir, &newest["rows"]))
    }
}

fn compare(restored: &Path, site: &Path, counted: &Value) -> Result<i64, String> {
    let open = || -> rusqlite::Result<Connection> {
        let conn = Connection::open(restored.join("tunneldesk.sqlite"))?;
        conn.execute("ATTACH ?1 AS site", [site.join("tunneldesk.sqlite").to_string_lossy()])?;
        Ok(conn)
    };
    let conn = open().map_err(|e| e.to_string())?;
    let ask = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|e| format!("{sql}: {e}"));
    let mut rows = 0;
    for (table, count) in counted.as_object().ok_or("the manifest counts nothing")? {
        let there = ask(&format!("SELECT count(*) FROM main.\"{table}\""))?;
        // The restore adds an audit row of its own.
        let since = i64::from(table == "audit");
        if Some(there - since) != count.as_i64() {
            return Err(format!("{table} has {there} rows, and the manifest says {count}"));
        }
        rows += there;
        let numbered =
            ask(&format!("SELECT wr = 0 FROM pragma_table_list WHERE schema = 'main' AND name = '{table}'"))?;
        let (one, other) = halves(table, numbered == 1);
        for (from, without) in [(&one, &other), (&other, &one)] {
            let differ = ask(&format!("SELECT count(*) FROM ({from} EXCEPT {without})"))?;
            if differ > 0 {
                return Err(format!("{differ} rows of {table} are not as in the site"));
            }
        }
    }
    // Sums that transactions maintain: they fit only if the backup is of one moment.
    let torn = "SELECT count(*) FROM main.members m WHERE flight_minutes <> (SELECT coalesce(sum(minutes), 0)
                FROM main.entries e WHERE e.member_id = m.member_id AND e.kind = 'time' AND e.status = 'open')";
    match ask(torn)? {
        0 => Ok(rows),
        torn => Err(format!("{torn} members have other sums than their entries")),
    }
}

/// The queries for the rows of a table that must be equal in the backup and in the site. They leave out later rows and
/// sums.
fn halves(table: &str, numbered: bool) -> (String, String) {
    match table {
        "audit" => (
            "SELECT * FROM main.audit WHERE action <> 'site.restored'".to_owned(),
            "SELECT * FROM site.audit WHERE seq < (SELECT max(seq) FROM main.audit)".to_owned(),
        ),
        "members" => {
            let columns = "member_id, username, email, real_name, phone, password_hash, paid_until, join_date";
            (format!("SELECT {columns} FROM main.members"), format!("SELECT {columns} FROM site.members"))
        }
        table if UNSTEADY.contains(&table) => {
            (format!("SELECT count(*) FROM main.{table}"), format!("SELECT count(*) FROM main.{table}"))
        }
        table if numbered => (
            format!("SELECT * FROM main.\"{table}\""),
            format!("SELECT * FROM site.\"{table}\" WHERE rowid <= (SELECT max(rowid) FROM main.\"{table}\")"),
        ),
        // Later rows cannot be distinguished here: the backup's rows must be in the site, and their count was compared.
        table => {
            let (copied, now) = (format!("SELECT * FROM main.\"{table}\""), format!("SELECT * FROM site.\"{table}\""));
            (copied.clone(), format!("{now} INTERSECT {copied}"))
        }
    }
}
