//! The same work in PocketBase: reading a member's own record with a token, and writing a flight entry, with as many
//! members and entries as the product's site.
//!
//! Run it by `tests/load/run pocketbase`, which fetches PocketBase first. The released PocketBase flushes the disk only
//! at checkpoints (`synchronous = NORMAL`), so it is measured a second time with `FULL`, with which acknowledged writes
//! survive a power cut as in the product.

use crate::Plan;
use crate::generator::{CONNECTIONS, Load, Seen};
use crate::report;
use crate::server::Server;
use crate::site::{self, request, text};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

pub const PLAN: Plan = Plan { rounds: 5, time: Duration::from_secs(3), only: None };
const EXECUTABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/pocketbase/pocketbase");
const READS_MIN: f64 = 20.0;
const INSERTS_MIN: f64 = 15.0;
const PASSWORD: &str = "wet hair, dry socks";

/// The collection of flights, in which every signed-in member adds and reads their own.
const MIGRATION: &str = r#"migrate((app) => app.save(new Collection({
    name: "entries", type: "base",
    fields: [
        { name: "member", type: "relation", required: true, collectionId: "_pb_users_auth_", maxSelect: 1 },
        { name: "entry_date", type: "number" }, { name: "minutes", type: "number" },
        { name: "tunnel", type: "text" }, { name: "comment", type: "text" },
    ],
    indexes: ["CREATE INDEX entries_of_member ON entries (member, entry_date)"],
    createRule: "@request.auth.id != '' && member = @request.auth.id",
    listRule: "member = @request.auth.id", viewRule: "member = @request.auth.id",
})));
"#;
/// Sets how the only writing connection flushes.
const HOOK: &str = r#"onBootstrap((event) => {
    event.next();
    $app.nonconcurrentDB().newQuery("PRAGMA synchronous = " + $os.getenv("SYNCHRONOUS")).execute();
});
"#;

/// The compared servers, in the order of the table.
const NAMES: [&str; 3] = ["tunneldesk", "PocketBase, FULL", "PocketBase as released, NORMAL"];

/// Measures in turns, prints and saves the table. Returns it, and whether both targets were met.
pub fn measure(room: &Path) -> Result<(String, bool), String> {
    let dir = room.join("site");
    eprintln!("making a site …");
    let (requests, _) = site::prepare(&dir)?;
    eprintln!("making the same for PocketBase …");
    let directory = room.join("pocketbase");
    let (read, insert) = prepare(&directory)?;
    let (mut reads, mut inserts) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
    for round in 1..=PLAN.rounds {
        eprintln!("round {round} of {}", PLAN.rounds);
        for which in 0..NAMES.len() {
            let (server, read, insert) = match which {
                0 => (Server::product(&dir)?, &requests.profile, &requests.time),
                1 => (start(&directory, "FULL")?, &read, &insert),
                _ => (start(&directory, "NORMAL")?, &read, &insert),
            };
            for (load, seen) in [(read, &mut reads[which]), (insert, &mut inserts[which])] {
                let before = server.cpu();
                let one = load.run(server.address, PLAN.time).map_err(|e| format!("{}: {e}", NAMES[which]))?;
                seen.push(one.costing(server.cpu() - before));
            }
            eprintln!(
                "  {:32} {:>8.0} {:>8.0}",
                NAMES[which],
                reads[which].last().map_or(0.0, |seen| seen.per_second),
                inserts[which].last().map_or(0.0, |seen| seen.per_second)
            );
            match which {
                0 => server.stop()?,
                // PocketBase exits with an error when it is stopped.
                _ => drop(server),
            }
        }
    }
    Ok(as_table(&reads, &inserts))
}

/// A PocketBase directory with the product's number of members and entries, and the requests of its signed-in members.
fn prepare(directory: &Path) -> Result<(Load, Load), String> {
    let write = |path: &str, content: &str| {
        let path = directory.join(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a directory"))
            .and_then(|()| std::fs::write(path, content))
    };
    write("pb_migrations/1_entries.js", MIGRATION)
        .and_then(|()| write("pb_hooks/flush.pb.js", HOOK))
        .map_err(|e| e.to_string())?;
    let server = start(directory, "NORMAL")?;
    let members = (0..CONNECTIONS).map(|number| sign_up(server.address, number)).collect::<Result<Vec<_>, _>>()?;
    drop(server);
    fill(&directory.join("data/data.db")).map_err(|e| format!("cannot fill PocketBase's file: {e}"))?;
    let read = members.iter().map(|(id, token)| {
        request("GET", &format!("/api/collections/users/records/{id}"), &format!("authorization: {token}\r\n"), None)
    });
    let insert = members.iter().map(|(id, token)| {
        let flight = json!({ "member": id, "entry_date": site::FLOWN_AT, "minutes": 30, "tunnel": "1", "comment": "Thirty minutes, measured" });
        request("POST", "/api/collections/entries/records", &format!("authorization: {token}\r\n"), Some(&flight.to_string()))
    });
    Ok((Load { requests: read.collect(), statuses: &[200] }, Load { requests: insert.collect(), statuses: &[200] }))
}

/// Signs a member up and in. Returns the member's id and token.
fn sign_up(address: SocketAddr, number: usize) -> Result<(String, String), String> {
    let email = format!("member{number}@example.com");
    let person = json!({ "email": email, "password": PASSWORD, "passwordConfirm": PASSWORD, "name": format!("Member {number}") });
    let made = post(address, "/api/collections/users/records", &person)?;
    let signed_in = post(
        address,
        "/api/collections/users/auth-with-password",
        &json!({ "identity": email, "password": PASSWORD }),
    )?;
    Ok((text(&made, "id")?.to_owned(), text(&signed_in, "token")?.to_owned()))
}

/// Inserts the other members and the entries directly into the database of a stopped PocketBase.
fn fill(file: &Path) -> rusqlite::Result<()> {
    let others: i64 = site::MEMBERS.parse().unwrap_or(0) - CONNECTIONS as i64;
    let entries: i64 = site::ENTRIES.parse().unwrap_or(0);
    let conn = Connection::open(file)?;
    conn.execute_batch(&format!(
        "BEGIN;
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {others})
         INSERT INTO users (id, email, name, password, tokenKey, created, updated, emailVisibility, verified)
         SELECT printf('other%010d', n), 'other' || n || '@example.com', 'Other ' || n, password, hex(randomblob(25)), created, updated, 0, 1
         FROM n, (SELECT * FROM users LIMIT 1);
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {entries})
         INSERT INTO entries (id, member, entry_date, minutes, tunnel, comment)
         SELECT printf('entry%010d', n), printf('other%010d', 1 + n % {others}), {} - n, 10, '1', '' FROM n;
         COMMIT",
        site::FLOWN_AT
    ))
}

fn start(directory: &Path, synchronous: &str) -> Result<Server, String> {
    // PocketBase does not report the port that it was given when it is asked to take any.
    let free =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).map_err(|e| e.to_string())?;
    let mut command = Command::new(EXECUTABLE);
    command.current_dir(directory).env("SYNCHRONOUS", synchronous);
    command.args([
        "serve",
        "--dir",
        "data",
        "--hooksDir",
        "pb_hooks",
        "--migrationsDir",
        "pb_migrations",
        "--hooksWatch=false",
    ]);
    Server::start(command.args(["--http", &free.to_string()]), "/api/health")
}

fn post(address: SocketAddr, path: &str, body: &Value) -> Result<Value, String> {
    site::post(address, path, &[], &body.to_string())
}

fn as_table(reads: &[Vec<Seen>; 3], inserts: &[Vec<Seen>; 3]) -> (String, bool) {
    let mut table = String::from(
        "10,000 members, 100,000 entries, 64 connections; `FULL` keeps at a power cut what was acknowledged, as tunneldesk does.\n\n\
         | | own record read /s | p99 | CPU each | entry written /s | p99 | CPU each |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for (which, name) in NAMES.iter().enumerate() {
        _ = write!(table, "| {name} |");
        for seen in [&reads[which], &inserts[which]] {
            let p99 = median(seen, |seen| seen.p99.as_secs_f64() * 1e3);
            let cpu = report::micros(median(seen, |seen| seen.cpu.as_secs_f64() * 1e6));
            _ = write!(table, " {} | {p99:.1} ms | {cpu} |", report::whole(median(seen, |seen| seen.per_second)));
        }
        table.push('\n');
    }
    table.push_str("\n| bar | target | reached | |\n|---|---:|---:|---|\n");
    let mut all_met = true;
    for (name, min, seen) in [("reads", READS_MIN, reads), ("entries", INSERTS_MIN, inserts)] {
        let ratios: Vec<f64> =
            seen[0].iter().zip(&seen[1]).map(|(ours, theirs)| ours.per_second / theirs.per_second).collect();
        let reached = crate::bars::median(ratios.into_iter());
        let met = reached >= min;
        all_met &= met;
        let verdict = if met { "met" } else { "**missed**" };
        _ = writeln!(table, "| {name} / {name} of PocketBase, FULL | ≥ {min:.0} | {reached:.1} | {verdict} |");
    }
    (table, all_met)
}

fn median(seen: &[Seen], of: impl Fn(&Seen) -> f64) -> f64 {
    crate::bars::median(seen.iter().map(of))
}
