//! Whether a file may be served. Looked at each time before it is opened: a damaged file is better refused, in a line that
//! says what to do, than found out by a member's logbook a year later.
//!
//! The look takes as long as reading the file once, some milliseconds for a usual site and never more than
//! [`LOOK_TIME_MAX`]; the backups, made every hour, look at every page and index of their copies without such a limit.

use super::connection::open_writer;
use super::reader::Readers;
use super::{connection, place};
use rusqlite::{Connection, ErrorCode};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than the largest site takes, shorter than a service manager waits for a start.
const LOOK_TIME_MAX: Duration = Duration::from_secs(10);
/// How often the look is at the time, in SQLite's own steps.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// What only grows as a file is written, and what never changes.
#[derive(Debug)]
struct Marks {
    site_id: String,
    clock: i64,
    history: i64,
}

/// Looks at a file that nobody has open, and moves what a crash left in its write-ahead log into it. The error is one
/// line that says what to do.
pub fn settle(path: &Path) -> Result<(), String> {
    look(path, &Readers::of(path))?;
    // A flush that failed may have left pages in the log that are in memory and not on the disk. What is served from here
    // on is in the file itself, and flushed.
    let emptied = open_writer(path)
        .and_then(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .or_else(|e| if e.sqlite_error_code() == Some(ErrorCode::DiskFull) { Ok(()) } else { Err(e) });
    emptied.map_err(|e| {
        format!("cannot write {}: {e}; look after the disk under it, or restore a backup elsewhere", path.display())
    })
}

/// Looks at a file on a file system that takes no writes.
pub fn look_read_only(path: &Path) -> Result<(), String> {
    look(path, &Readers::of_read_only(path)?)
}

fn look(path: &Path, readers: &Readers) -> Result<(), String> {
    let shown = path.display();
    let damaged =
        |what: &str| format!("{shown} is damaged ({what}): put a backup in its place with `tunneldesk restore`");
    if std::fs::metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?.len() == 0 {
        return Err(format!(
            "{shown} is empty: put a backup in its place with `tunneldesk restore`, or, where `tunneldesk init` was cut off, remove it and run init again"
        ));
    }
    let judge = |e: rusqlite::Error| match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(&e.to_string()),
        _ => format!("cannot read {shown}: {e}"),
    };
    let conn = readers.open().map_err(judge)?;
    if !log_fits(path, &conn).map_err(judge)? {
        return Err(format!(
            "{} is the log of another file, or of an older one, than {shown}: put a backup in their place with `tunneldesk restore`",
            place::log(path.parent().unwrap_or(path)).display()
        ));
    }
    match quick_check(conn).map_err(judge)?.as_deref() {
        Some("ok") => Ok(()),
        Some(verdict) => Err(damaged(verdict.lines().last().unwrap_or(verdict))),
        None => {
            tracing::warn!(
                seconds = LOOK_TIME_MAX.as_secs(),
                "the file is too large to be looked at whole before a start; the next backup does"
            );
            Ok(())
        }
    }
}

/// `None`: not done in time.
fn quick_check(mut conn: Connection) -> rusqlite::Result<Option<String>> {
    let since = Instant::now();
    conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || since.elapsed() > LOOK_TIME_MAX))?;
    match conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)) {
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
        verdict => verdict.map(Some),
    }
}

/// Whether the write-ahead log is the file's own: SQLite takes any that is whole. A log that goes on from the file keeps
/// its site, and what only grows has not shrunk.
fn log_fits(path: &Path, with_log: &Connection) -> rusqlite::Result<bool> {
    let log = place::log(path.parent().unwrap_or(path));
    if std::fs::metadata(log).map_or(0, |log| log.len()) == 0 {
        return Ok(true);
    }
    // Between two moves of pages the file by itself need not be whole; then it says nothing.
    let Ok(alone) = connection::open_immutable(path).and_then(|conn| marks(&conn)) else { return Ok(true) };
    let with_log = match marks(with_log) {
        // A first start that was cut off: it has no site yet, which is told elsewhere.
        Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(true),
        marks => marks?,
    };
    Ok(alone.site_id == with_log.site_id && alone.clock <= with_log.clock && alone.history <= with_log.history)
}

fn marks(conn: &Connection) -> rusqlite::Result<Marks> {
    let sql = "SELECT site_id, clock_high_water, (SELECT coalesce(max(seq), 0) FROM history) FROM site";
    conn.query_row(sql, [], |row| Ok(Marks { site_id: row.get(0)?, clock: row.get(1)?, history: row.get(2)? }))
}
