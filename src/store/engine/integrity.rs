//! Whether a file is sound: a damaged one is better refused, in a line that says what to do, than found out by a member's
//! logbook a year later.
//!
//! To look through a file takes as long as reading every row once: a second for a few hundred thousand. Where damage was
//! found before, and after a crash where the file is not large, a start takes that time. Otherwise it reads no more than
//! the schema, and the file is looked through while the site is served, first of all, as it is when the doctor is asked.
//! The backups, made every hour, look at every page and index of their copies.

use super::connection::open_writer;
use super::reader::{READ_TIME_MAX, Readers};
use super::repair::{self, Finding};
use super::{alarm, data_dir, scrub, wal_mark, wal_match};
use crate::clock::Clock;
use crate::http::failure::{Failure, is_of_bad_page};
use crate::store::{Condition, Store};
use rusqlite::{Connection, ErrorCode};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than the largest site takes, shorter than a service manager waits for a start.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// A larger file is looked through after the start, not before: nobody waits at the desk for it.
const LOOKED_THROUGH_BEFORE_A_START_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How often a look is at the time, in SQLite's own steps.
const STEPS_BETWEEN_LOOKS: i32 = 1_000;

/// Before each look after a page could not be read.
const LOOK_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(2)];

const WORDS_MAX: usize = 200;
/// SQLite has no words of its own for a page that is not what its sum says.
const BAD_PAGE: &str = "a page is not what was written there";

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sound,
    /// The time was up.
    Unfinished,
    Damaged(String),
}

/// Looks at a file that nobody has open, and moves what a crash left in its write-ahead log into it. The error is one
/// line that says what to do.
pub(crate) fn recover(path: &Path) -> Result<(), String> {
    let dir = path.parent().unwrap_or(path);
    if let Some(loss) = wal_mark::find_loss(path) {
        tracing::error!(cause = loss, "what was acknowledged may be missing; the doctor says what to do");
        alarm::raise(dir, alarm::Kind::LostLog, Clock::machine(0).now(), &loss);
    }
    // A file that cannot be read here is reported by the check below.
    let look_at_changed = |change: &str| {
        alarm::raise(dir, alarm::Kind::Changed, Clock::machine(0).now(), change);
        _ = std::fs::write(data_dir::damage_marker(dir), "");
        check_file(path, &Readers::of(path))?;
        // A refusal is one line.
        tracing::error!(cause = change, "the file is not what this program left; the doctor says what to do");
        Ok(())
    };
    match scrub::take_change(path) {
        Ok(Some(change)) => look_at_changed(&change)?,
        _ => check_file(path, &Readers::of(path)).or_else(|refusal| match scrub::take_change_beside_log(path) {
            Ok(Some(change)) => look_at_changed(&change),
            _ => Err(refusal),
        })?,
    }
    wal_mark::begin_to_empty(path);
    // A flush that failed may have left pages in the log that are in memory and not on the disk. From here on every
    // page that is served lies in the file itself, and is flushed.
    let emptied = open_writer(path)
        .and_then(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .or_else(|e| if e.sqlite_error_code() == Some(ErrorCode::DiskFull) { Ok(()) } else { Err(e) });
    emptied.map_err(|e| {
        format!("cannot write {}: {e}; look after the disk under it, or restore a backup elsewhere", path.display())
    })
}

/// Looks at a file on a file system that takes no writes.
pub(crate) fn check_read_only(path: &Path) -> Result<(), String> {
    check_file(path, &Readers::of_read_only(path)?)
}

fn check_file(path: &Path, readers: &Readers) -> Result<(), String> {
    let shown = path.display();
    let bytes = std::fs::metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?.len();
    if bytes == 0 {
        return Err(format!("{shown} is empty: put a backup in its place with `tunneldesk restore`"));
    }
    let judge = |e: rusqlite::Error| {
        if means_damage(&e) { damaged(path, &words(&e)) } else { format!("cannot read {shown}: {e}") }
    };
    let conn = readers.open().map_err(judge)?;
    if wal_match::takes_back(path, &conn).map_err(judge)? {
        return Err(wal_match::refusal(path));
    }
    let suspicion = data_dir::damage_marker(path.parent().unwrap_or(path));
    let may_wait = wal_match::wal_is_empty(path) || bytes > LOOKED_THROUGH_BEFORE_A_START_BYTES_MAX;
    if may_wait && !suspicion.exists() {
        let schema = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        return schema.map_err(judge);
    }
    match check_connection(conn, None, START_TIME_MAX).map_err(judge)? {
        Verdict::Damaged(what) => return Err(damaged(path, &what)),
        Verdict::Unfinished => tracing::warn!("the file is too large to be looked through before this start"),
        Verdict::Sound => _ = std::fs::remove_file(suspicion),
    }
    Ok(())
}

/// Whether it is for damage that something could not be started on a file which nobody has open: one line with what to do.
pub(crate) fn find_damage(path: &Path) -> Option<String> {
    match Readers::of(path).open().and_then(|conn| check_connection(conn, None, START_TIME_MAX)) {
        Ok(Verdict::Damaged(what)) => Some(damaged(path, &what)),
        Err(e) if means_damage(&e) => Some(damaged(path, &words(&e))),
        _ => None,
    }
}

/// The advice for a file that is damaged as SQLite reads it, that is, together with its log. Where the file alone is
/// sound, the log is what is wrong, and no backup need replace the file.
///
/// SQLite's words may quote what lies in the file: of that no more than a line, and nothing a terminal would obey.
fn damaged(path: &Path, what: &str) -> String {
    if what != BAD_PAGE && !wal_match::wal_is_empty(path) && wal_match::is_whole_alone(path) {
        return wal_match::refusal(path);
    }
    let what: String = what.chars().take(WORDS_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("{} is damaged ({what}): put a backup in its place with `tunneldesk restore`", path.display())
}

fn means_damage(e: &rusqlite::Error) -> bool {
    matches!(e.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) || is_of_bad_page(e)
}

fn words(e: &rusqlite::Error) -> String {
    if is_of_bad_page(e) { BAD_PAGE.to_owned() } else { e.to_string() }
}

/// Notes on disk that the file was found damaged, so that the next start checks it before it is served.
pub(crate) fn remember(store: &Store) {
    if store.writer().condition() == Condition::Damaged {
        let suspicion = data_dir::damage_marker(store.path().parent().unwrap_or(store.path()));
        _ = std::fs::write(suspicion, "").inspect_err(|e| tracing::warn!(cause = %e, "the damage may be forgotten"));
    }
}

/// Looks through a file that is being served, until `stopped`: as a whole, and where that takes longer than a read may,
/// table by table. Damage that a second look finds too makes the store's condition. A table that takes too long by itself is
/// left to the backups.
pub(crate) fn check_store(store: &Store, stopped: impl Fn() -> bool) -> Result<Verdict, Failure> {
    let first = look_once(store, &stopped);
    let outcome = match &first {
        Ok(Verdict::Damaged(_)) => look_once(store, &stopped),
        _ => first,
    };
    match &outcome {
        // Indexes alone can be built anew, for which the file must take writes.
        Ok(Verdict::Damaged(what)) if repair::may_be_of_index(what) && is_of_indexes(store) => {
            tracing::error!(cause = what, "an index of the file is damaged");
            store.writer().monitor.clear_suspicion();
        }
        Ok(Verdict::Damaged(what)) => store.writer().monitor.mark_damaged(what),
        Ok(_) => {}
        Err(failure) => store.note_failure(failure),
    }
    outcome
}

/// Whether a whole check finds nothing but indexes damaged.
fn is_of_indexes(store: &Store) -> bool {
    matches!(repair::find_damage(store), Ok(Finding::Indexes(..)))
}

/// Settles whether the file is damaged after a page of it could not be read as it must be: where it is sound, writes go on.
/// A disk that fails a read fails some of them, so the look is tried more than once.
pub(crate) fn recheck(store: &Store) {
    let mut cause = None;
    for pause in LOOK_PAUSES {
        std::thread::sleep(pause);
        match check_store(store, || false) {
            Ok(Verdict::Damaged(_)) => return,
            Ok(Verdict::Sound | Verdict::Unfinished) => {
                return match scrub::find_bad(store) {
                    Some(what) => store.writer().monitor.mark_damaged(&what),
                    None => store.writer().monitor.clear_suspicion(),
                };
            }
            Err(failure) => cause = Some(failure),
        }
    }
    cause.iter().for_each(|cause| store.writer().monitor.mark_damaged(cause));
}

fn look_once(store: &Store, stopped: &impl Fn() -> bool) -> Result<Verdict, Failure> {
    let check_file =
        |table: Option<&str>| Ok::<_, Failure>(check_connection(store.readers.open()?, table, READ_TIME_MAX)?);
    check_file(None).and_then(|whole| match whole {
        Verdict::Unfinished => {
            let tables = store.read(|tx| Ok(tx.list(TABLES, [], |row| row.get::<_, String>(0))?));
            store.release();
            let mut verdict = Verdict::Sound;
            for table in tables?.iter().take_while(|_| !stopped()) {
                match check_file(Some(table))? {
                    Verdict::Sound => {}
                    Verdict::Unfinished => verdict = Verdict::Unfinished,
                    damaged => return Ok(damaged),
                }
            }
            Ok(if stopped() { Verdict::Unfinished } else { verdict })
        }
        found => Ok(found),
    })
}

const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";

/// Every page of a table and its indexes, or of the whole file, but does not compare rows with indexes.
pub(crate) fn check_connection(
    mut conn: Connection,
    table: Option<&str>,
    patience: Duration,
) -> rusqlite::Result<Verdict> {
    let since = Instant::now();
    conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || since.elapsed() > patience))?;
    let of = table.map_or_else(|| "1".to_owned(), |table| format!("'{}'", table.replace('\'', "''")));
    match conn.query_row(&format!("PRAGMA quick_check({of})"), [], |row| row.get::<_, String>(0)) {
        Ok(said) if said == "ok" => Ok(Verdict::Sound),
        Ok(said) => Ok(Verdict::Damaged(said.lines().last().unwrap_or(&said).to_owned())),
        Err(e) => match e.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Ok(Verdict::Unfinished),
            // The statement is right, so an error in it is one of what it reads: the index of the search has such.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) => {
                Ok(Verdict::Damaged(e.to_string()))
            }
            _ if is_of_bad_page(&e) => Ok(Verdict::Damaged(words(&e))),
            _ => Err(e),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::data_dir::DataDir;
    use super::super::migrate;
    use super::*;
    use crate::store::Condition;
    use std::os::unix::fs::FileExt;

    const PAGE_BYTES: u64 = 4096;

    #[test]
    fn damage_is_noticed_while_the_file_is_served_and_refused_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        recover(&data_dir.database()).unwrap();
        let store = Store::open(&data_dir.database(), true).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT; WITH RECURSIVE c(n) AS
                    (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) INSERT INTO numbers SELECT n, randomblob(900) FROM c";
        store.writer().exclusive(|conn| conn.execute_batch(rows)).unwrap();
        store.truncate_wal().unwrap();
        assert_eq!(check_store(&store, || false).unwrap(), Verdict::Sound);
        assert_eq!(store.writer().condition(), Condition::Healthy);

        let pages = std::fs::metadata(data_dir.database()).unwrap().len() / PAGE_BYTES;
        // One page in the middle of the rows, as a disk loses it. Written without SQLite, and nobody's locks are dropped:
        // this process closes nothing of the file before the test is over.
        let file = std::fs::OpenOptions::new().write(true).open(data_dir.database()).unwrap();
        file.write_all_at(&[0x5a; PAGE_BYTES as usize], pages / 2 * PAGE_BYTES).unwrap();
        recover(&data_dir.database()).expect("after a clean end a start does not look there");
        assert!(matches!(check_store(&store, || false).unwrap(), Verdict::Damaged(_)));
        assert_eq!(store.writer().condition(), Condition::Damaged);
        let refused = store.write(0, |_| Ok(())).unwrap_err();
        assert_eq!(refused.code(), "store_damaged");
        remember(&store);
        drop((store, file));
        let said = recover(&data_dir.database()).unwrap_err();
        assert!(said.contains("tunneldesk restore") && !said.contains('\n'), "{said}");
    }

    #[test]
    fn after_a_crash_a_file_is_looked_through_before_the_start_unless_it_is_large() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let path = data_dir.database();
        let conn = open_writer(&path).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT; WITH RECURSIVE c(n) AS
                    (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000) INSERT INTO numbers SELECT n, randomblob(900) FROM c;
                    PRAGMA wal_checkpoint(TRUNCATE); CREATE TABLE in_the_log (n INTEGER)";
        conn.execute_batch(rows).unwrap();
        drop(conn);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let pages = file.metadata().unwrap().len() / PAGE_BYTES;
        file.write_all_at(&[0x5a; PAGE_BYTES as usize], pages / 2 * PAGE_BYTES).unwrap();
        assert!(recover(&path).unwrap_err().contains("is damaged"));
        file.set_len(LOOKED_THROUGH_BEFORE_A_START_BYTES_MAX + PAGE_BYTES).unwrap();
        recover(&path).unwrap();
        assert!(wal_match::wal_is_empty(&path));
        // Where damage was found before, a large file is looked through too.
        std::fs::write(data_dir::damage_marker(dir.path()), "").unwrap();
        assert!(recover(&path).unwrap_err().contains("is damaged"));
    }

    #[test]
    fn a_damaged_index_of_the_search_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let conn = open_writer(&data_dir.database()).unwrap();
        assert_eq!(check_connection(conn, None, START_TIME_MAX).unwrap(), Verdict::Sound);
        let conn = open_writer(&data_dir.database()).unwrap();
        conn.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
        conn.execute_batch(
            "UPDATE members_search_config SET v = 0 WHERE k = 'version'; PRAGMA wal_checkpoint(TRUNCATE)",
        )
        .unwrap();
        drop(conn);
        let said = find_damage(&data_dir.database()).unwrap();
        assert!(said.contains("fts5") && said.contains("tunneldesk restore"), "{said}");
        let said = damaged(&data_dir.database(), &format!("near \"\u{1b}[2J\n{}", "x".repeat(9_999)));
        assert!(
            said.len() < 400 && said.ends_with("`tunneldesk restore`") && !said.contains(char::is_control),
            "{said}"
        );
    }

    #[test]
    fn a_look_ends_when_its_time_is_up_and_others_find_the_rest() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows = "CREATE TABLE \"it's\" (n INTEGER PRIMARY KEY, filler TEXT) STRICT;
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000)
             INSERT INTO \"it's\" SELECT n, 'x' FROM n";
        let open = || Connection::open(file.path()).unwrap();
        open().execute_batch(rows).unwrap();
        for table in [None, Some("it's")] {
            assert_eq!(check_connection(open(), table, Duration::ZERO).unwrap(), Verdict::Unfinished, "{table:?}");
            assert_eq!(check_connection(open(), table, Duration::from_secs(60)).unwrap(), Verdict::Sound, "{table:?}");
        }
    }
}
