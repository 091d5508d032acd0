//! Whether a file may be served: a damaged one is better refused, in a line that says what to do, than found out by a
//! member's logbook a year later.
//!
//! A look takes as long as reading every row once: a second for a few hundred thousand. After a crash, when damage is
//! likely, a start takes that time; after a clean end it takes [`LOOK_TIME_CLEAN`], which is enough for a small site, and
//! the rest is looked at table by table while the site is served. The backups, made every hour, look at every page and
//! index of their copies.

use super::connection::open_writer;
use super::reader::{READ_TIME_MAX, Readers};
use super::{Store, connection, place};
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longer than the largest site takes, shorter than a service manager waits for a start.
const LOOK_TIME_MAX: Duration = Duration::from_secs(10);
/// What nobody notices of a start.
const LOOK_TIME_CLEAN: Duration = Duration::from_millis(20);
/// How often the look is at the time, in SQLite's own steps.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

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
            log_of(path).display()
        ));
    }
    let crashed = !log_is_empty(path);
    match quick_check(conn, if crashed { LOOK_TIME_MAX } else { LOOK_TIME_CLEAN }).map_err(judge)?.as_deref() {
        Some(verdict) if verdict != "ok" => return Err(damaged(verdict.lines().last().unwrap_or(verdict))),
        None if crashed => tracing::warn!("the file is too large to be looked at whole before a start after a crash"),
        _ => {}
    }
    Ok(())
}

/// Looks at a file that is being served, table by table, until `stopped`. Damage makes the store's condition.
pub fn look_on(store: &Store, stopped: impl Fn() -> bool) {
    let tables = store.read(|tx| {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
        Ok(tx.list(sql, [], |row| row.get::<_, String>(0))?)
    });
    store.rest();
    for table in tables.unwrap_or_default() {
        if stopped() {
            return;
        }
        // A table that takes longer than a read may is left to the backups.
        let verdict = store.readers.open().and_then(|mut conn| {
            look_for(&mut conn, READ_TIME_MAX)?;
            conn.query_row(&format!("PRAGMA quick_check(\"{table}\")"), [], |row| row.get::<_, String>(0))
        });
        match verdict.map_err(|e| (e.sqlite_error_code(), e)) {
            Ok(verdict) if verdict != "ok" => store.writer().watched.damage(&verdict.replace('\n', ": ")),
            Err((Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase), e)) => store.writer().watched.damage(&e),
            _ => {}
        }
    }
}

/// `None`: not done in time.
fn quick_check(mut conn: Connection, patience: Duration) -> rusqlite::Result<Option<String>> {
    look_for(&mut conn, patience)?;
    match conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)) {
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
        verdict => verdict.map(Some),
    }
}

/// What runs on the connection is stopped after so long.
fn look_for(conn: &mut Connection, patience: Duration) -> rusqlite::Result<()> {
    let since = Instant::now();
    conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || since.elapsed() > patience))
}

/// Whether the last one who had the file ended cleanly.
fn log_is_empty(path: &Path) -> bool {
    std::fs::metadata(log_of(path)).map_or(0, |log| log.len()) == 0
}

fn log_of(path: &Path) -> PathBuf {
    place::log(path.parent().unwrap_or(path))
}

/// Whether the write-ahead log is the file's own: SQLite takes any that is whole. A log that goes on from the file keeps
/// its site, and what only grows has not shrunk.
fn log_fits(path: &Path, with_log: &Connection) -> rusqlite::Result<bool> {
    if log_is_empty(path) {
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

#[cfg(test)]
mod tests {
    use super::super::{Condition, migrate, place::Place};
    use super::*;
    use std::os::unix::fs::FileExt;

    const PAGE_BYTES: u64 = 4096;

    #[test]
    fn damage_is_noticed_while_the_file_is_served_and_refused_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::hold(dir.path()).unwrap();
        migrate::create(&place).unwrap();
        settle(&place.database()).unwrap();
        let store = Store::open(&place.database(), true).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT; WITH RECURSIVE c(n) AS
                    (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) INSERT INTO numbers SELECT n, randomblob(900) FROM c";
        store.writer().alone(|conn| conn.execute_batch(rows)).unwrap();
        store.empty_log().unwrap();
        look_on(&store, || false);
        assert_eq!(store.writer().condition(), Condition::Sound);

        let pages = std::fs::metadata(place.database()).unwrap().len() / PAGE_BYTES;
        // One page in the middle of the rows, as a disk loses it. Written without SQLite, and nobody's locks are dropped:
        // this process closes nothing of the file before the test is over.
        let file = std::fs::OpenOptions::new().write(true).open(place.database()).unwrap();
        file.write_all_at(&[0x5a; PAGE_BYTES as usize], pages / 2 * PAGE_BYTES).unwrap();
        look_on(&store, || true);
        assert_eq!(store.writer().condition(), Condition::Sound, "it was told to stop");
        look_on(&store, || false);
        assert_eq!(store.writer().condition(), Condition::Damaged);
        let refused = store.write(0, |_| Ok(())).unwrap_err();
        assert_eq!(refused.code(), "store_damaged");
        drop((store, file));
        let said = settle(&place.database()).unwrap_err();
        assert!(said.contains("tunneldesk restore") && !said.contains('\n'), "{said}");
    }
}
