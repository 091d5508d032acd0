//! Waiting times when a tunnel moves its whole past: import and export of a list of a million entries, and the restore
//! of a database of a gigabyte, compared with the time of the disk and the CSV parser for the same bytes.
//!
//! Run it by `tests/load/run bulk`: about four minutes, and five gigabytes.

use crate::Plan;
use crate::server;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

pub const PLAN: Plan = Plan { rounds: 1, time: Duration::ZERO, only: None };
const MEMBERS: &str = "10000";
const ENTRIES: &str = "1000000";
/// The number of entries of a database that takes a gigabyte, with its bookings and everything else.
const ENTRIES_OF_A_GIGABYTE: &str = "2400000";
const TIMES_SLOWER_MAX: f64 = 2.0;
const CHUNK_BYTES: usize = 1 << 20;

struct Row {
    what: String,
    took: Duration,
    /// The time of the parser and the disk alone for the same bytes.
    least: Duration,
}

/// Measures, prints and saves the table. Returns it, and whether every row met its target.
pub fn measure(room: &Path) -> Result<(String, bool), String> {
    let (from, to) = (room.join("from"), room.join("to"));
    eprintln!("making a site of {ENTRIES} entries …");
    server::command(&from, &["demo", "--members", MEMBERS, "--entries", ENTRIES])?;
    let partners = server::command(&from, &["partner", "list"])?;
    let client_id = partners[0]["client_id"].as_str().ok_or("the demo has no partner")?;
    server::command(&to, &["init", "--name", "To", "--country", "CH"])?;
    server::command(&to, &["partner", "add", "The same", "--client-id", client_id])?;
    let mut rows = Vec::new();
    for list in ["members", "bookings", "logbook"] {
        let file = room.join(list);
        let exported = timed(|| server::print_to(&from, &["export", list], &file))?;
        let before = bytes_of(&to);
        let path = file.to_string_lossy();
        let roles = if list == "members" { &["--roles"][..] } else { &[] };
        let imported = timed(|| server::command(&to, &[&["import", list, &path], roles].concat()))?;
        let grown = bytes_of(&to) - before;
        let began = Instant::now();
        let lines = parse(&file)?;
        let parsed = began.elapsed();
        let written = |bytes| timed(|| write(&room.join("written"), bytes));
        let bytes = file.metadata().map_or(0, |file| file.len());
        rows.push(Row::new(format!("export of {lines} {list}"), exported, parsed + written(bytes)?));
        rows.push(Row::new(format!("import of {lines} {list}"), imported, parsed + written(grown)?));
    }
    rows.push(restore(&room.join("large"), &room.join("written"))?);
    let met = rows.iter().all(Row::is_met);
    Ok((as_markdown(&rows), met))
}

fn restore(dir: &Path, beside: &Path) -> Result<Row, String> {
    eprintln!("making a site of {ENTRIES_OF_A_GIGABYTE} entries …");
    server::command(dir, &["demo", "--members", MEMBERS, "--entries", ENTRIES_OF_A_GIGABYTE])?;
    server::command(dir, &["backup", "now"])?;
    let took = timed(|| server::command(dir, &["restore"]))?;
    let bytes = bytes_of(dir);
    let least = timed(|| write(beside, bytes))?;
    Ok(Row::new(format!("restore of a file of {} MB", bytes / 1_000_000), took, least))
}

impl Row {
    fn new(what: String, took: Duration, least: Duration) -> Row {
        eprintln!("  {what:40} {:>8.2} s, at least {:.2} s", took.as_secs_f64(), least.as_secs_f64());
        Row { what, took, least }
    }

    fn times(&self) -> f64 {
        self.took.as_secs_f64() / self.least.as_secs_f64()
    }

    fn is_met(&self) -> bool {
        self.times() <= TIMES_SLOWER_MAX
    }
}

fn timed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<Duration, String> {
    let start = Instant::now();
    work().map(|_| start.elapsed())
}

/// The size of the site's database; its WAL is empty while no server runs.
fn bytes_of(dir: &Path) -> u64 {
    dir.join("tunneldesk.sqlite").metadata().map_or(0, |file| file.len())
}

/// The number of lines of a list, read by the CSV parser.
fn parse(list: &Path) -> Result<u64, String> {
    let mut lines = csv::Reader::from_reader(BufReader::new(File::open(list).map_err(|e| e.to_string())?));
    let (mut line, mut count) = (csv::ByteRecord::new(), 0);
    while lines.read_byte_record(&mut line).map_err(|e| e.to_string())? {
        count += 1;
    }
    Ok(count)
}

/// Writes this many bytes and flushes them to the disk.
fn write(path: &Path, bytes: u64) -> Result<(), String> {
    let chunk = vec![b'x'; CHUNK_BYTES];
    let written = || {
        let mut file = File::create(path)?;
        let mut left = bytes as usize;
        while left > 0 {
            let now = left.min(chunk.len());
            file.write_all(&chunk[..now])?;
            left -= now;
        }
        file.sync_all()
    };
    written().map_err(|e: std::io::Error| e.to_string())
}

fn as_markdown(rows: &[Row]) -> String {
    let mut table = format!(
        "Each takes at most {TIMES_SLOWER_MAX} times what the reader of CSV and the disk need for the same bytes.\n\n\
         | what | took | reader and disk alone | times | |\n|---|---:|---:|---:|---|\n"
    );
    for row in rows {
        let verdict = if row.is_met() { "met" } else { "**missed**" };
        let (took, least) = (row.took.as_secs_f64(), row.least.as_secs_f64());
        _ = writeln!(table, "| {} | {took:.2} s | {least:.2} s | {:.1} | {verdict} |", row.what, row.times());
    }
    table
}
