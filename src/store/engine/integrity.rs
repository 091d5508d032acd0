//! Integrity checks of the database. A damaged database is refused at the start, with a line that says what to do.
//!
//! A check reads every page: a second for a few hundred thousand rows. The start waits for it where damage was found
//! before, and after a crash where the database is not large. Otherwise the start reads the schema alone, and the check
//! runs while the site is served; the doctor runs one too. The hourly backups check every page and index of their
//! copies.

use super::connection::open_writer;
pub(crate) use super::quick_check::Verdict;
use super::quick_check::{BAD_PAGE, check_connection, message};
use super::reader::{READ_TIME_MAX, Readers};
use super::repair::{self, Finding};
use super::{alarm, data_dir, quick_check, scrub, wal_mark, wal_match};
use crate::clock::Clock;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::db_error::DbError;
use crate::store::{Condition, Store};
use std::path::Path;
use std::time::Duration;

/// The longest check at a start: more than the largest site takes, less than a service manager waits.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// A larger database is checked after the start, so that the desk does not wait for the check.
const CHECKED_AT_START_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The pause before each try of a check after a page could not be read.
const RECHECK_PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(500), Duration::from_secs(2)];

/// Characters of SQLite's message that are shown.
const MESSAGE_CHARS_MAX: usize = 200;

/// Checks a database that no process has open, and moves the WAL that a crash left into the database file. The error is
/// one line that says what to do.
pub(crate) fn recover(path: &Path) -> Result<(), String> {
    let dir = path.parent().unwrap_or(path);
    wal_match::check_time(path)?;
    wal_mark::report_loss(path);
    // Where the database cannot be read, `check_file` reports it.
    let change = scrub::take_change(path).ok().flatten();
    if let Some(change) = &change {
        alarm::raise(dir, alarm::Kind::Changed, Clock::machine(Moment(0)).now(), change);
        _ = crate::files::write(&data_dir::damage_marker(dir), "");
    }
    check_file(path, &Readers::of(path))?;
    if let Some(cause) = change {
        tracing::error!(cause, "the file is not what this program left; the doctor says what to do");
    }
    wal_mark::clear(path);
    // A flush that failed may have left pages of the WAL in the kernel's memory alone. After this checkpoint every page
    // that is served is in the database file, and flushed.
    let emptied = open_writer(path)
        .and_then(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .or_else(|e| if DbError::of(&e) == DbError::Full { Ok(()) } else { Err(e) });
    emptied.map_err(|e| {
        format!("cannot write {}: {e}; check the disk under it, or restore a backup elsewhere", path.display())
    })
}

/// Checks a database on a read-only file system.
pub(crate) fn check_read_only(path: &Path) -> Result<(), String> {
    wal_match::check_time(path)?;
    check_file(path, &Readers::of_read_only(path)?)
}

fn check_file(path: &Path, readers: &Readers) -> Result<(), String> {
    let shown = path.display();
    let bytes = std::fs::metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?.len();
    if bytes == 0 {
        return Err(format!("{shown} is empty: put a backup in its place with `tunneldesk restore`"));
    }
    let judge = |e: rusqlite::Error| {
        if means_damage(&e) { damaged(path, &message(&e)) } else { format!("cannot read {shown}: {e}") }
    };
    let conn = readers.open().map_err(judge)?;
    if wal_match::takes_back(path, &conn).map_err(judge)? {
        return Err(wal_match::refusal(path));
    }
    let damage_marker = data_dir::damage_marker(path.parent().unwrap_or(path));
    let may_wait = quick_check::wal_is_empty(path) || bytes > CHECKED_AT_START_BYTES_MAX;
    if may_wait && !damage_marker.exists() {
        let schema = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        return schema.map_err(judge);
    }
    match check_connection(conn, None, START_TIME_MAX).map_err(judge)? {
        Verdict::Damaged(what) => return Err(damaged(path, &what)),
        Verdict::Unfinished => tracing::warn!("the file is too large to be checked before this start"),
        Verdict::Sound => _ = std::fs::remove_file(damage_marker),
    }
    Ok(())
}

/// Finds damage that explains why a site could not start on a database that no process has open: one line with what to
/// do.
pub(crate) fn find_damage(path: &Path) -> Option<String> {
    match Readers::of(path).open().and_then(|conn| check_connection(conn, None, START_TIME_MAX)) {
        Ok(Verdict::Damaged(what)) => Some(damaged(path, &what)),
        Err(e) if means_damage(&e) => Some(damaged(path, &message(&e))),
        _ => None,
    }
}

/// The advice for a database that is damaged together with its WAL. Where the database file alone is sound, the WAL is
/// wrong, and no backup need replace the file. The WAL is not blamed where this program wrote it, nor for a page that
/// fails its checksum: moving such a WAL away would lose acknowledged writes.
///
/// SQLite's message may quote content of the file: it is shortened, and control characters are replaced.
fn damaged(path: &Path, what: &str) -> String {
    let is_of_page = what == BAD_PAGE || repair::names_bad_page(what);
    let may_be_wal = !is_of_page && !quick_check::wal_is_empty(path);
    if may_be_wal && !wal_mark::is_own_and_whole(path) && quick_check::is_sound_alone(path) {
        return wal_match::refusal(path);
    }
    let what = if is_of_page { quick_check::page_in_words(what) } else { what.to_owned() };
    let what: String = what.chars().take(MESSAGE_CHARS_MAX).map(|c| if c.is_control() { '?' } else { c }).collect();
    // With its log beside it, a copy that somebody put here is not told from damage.
    let copied = match is_of_page && !quick_check::wal_is_empty(path) {
        true => format!("; if you put a copy of a site here, remove {}", data_dir::page_checksums_of(path).display()),
        false => String::new(),
    };
    format!(
        "{} is damaged ({what}); `tunneldesk restore --dry-run` says how much a backup has of it: put a backup in its place \
         with `tunneldesk restore`{copied}",
        path.display()
    )
}

fn means_damage(e: &rusqlite::Error) -> bool {
    matches!(DbError::of(e), DbError::Damaged | DbError::BadPage)
}

/// Writes the damage marker where the database was found damaged, so that the next start checks it before serving it.
pub(crate) fn remember(store: &Store) {
    if store.writer().condition() == Condition::Damaged {
        let damage_marker = data_dir::damage_marker(store.path().parent().unwrap_or(store.path()));
        _ = crate::files::write(&damage_marker, "")
            .inspect_err(|e| tracing::warn!(cause = %e, "the damage may be forgotten"));
    }
}

/// Checks a database that is being served, until `stopped`: as a whole, and where that takes longer than a read may,
/// table by table. Damage that a second check confirms marks the store as damaged. A table whose check alone takes too
/// long is left to the backups.
pub(crate) fn check_store(store: &Store, stopped: impl Fn() -> bool) -> Result<Verdict, Failure> {
    let first = check_once(store, &stopped);
    let outcome = match &first {
        Ok(Verdict::Damaged(_)) => {
            scrub::flips::correct_served(store);
            check_once(store, &stopped)
        }
        _ => first,
    };
    match &outcome {
        // Indexes are rebuilt by a write, so writes must stay possible.
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

/// Whether a complete check finds damage in indexes alone.
fn is_of_indexes(store: &Store) -> bool {
    matches!(repair::find_damage(store), Ok(Finding::Indexes(..)))
}

/// Checks the database after a bad page was read, and then marks it as healthy or damaged. A disk that fails may fail
/// only some reads, so a check that cannot read is repeated.
pub(crate) fn recheck(store: &Store) {
    scrub::flips::correct_served(store);
    let mut cause = None;
    for pause in RECHECK_PAUSES {
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

fn check_once(store: &Store, stopped: &impl Fn() -> bool) -> Result<Verdict, Failure> {
    let check = |table: Option<&str>| Ok::<_, Failure>(check_connection(store.readers.open()?, table, READ_TIME_MAX)?);
    let whole = check(None)?;
    if whole != Verdict::Unfinished {
        return Ok(whole);
    }
    let tables = store.read(|tx| Ok(tx.list::<String>(TABLES, [])?));
    store.release();
    let mut verdict = Verdict::Sound;
    for table in tables?.iter().take_while(|_| !stopped()) {
        match check(Some(table))? {
            Verdict::Sound => {}
            Verdict::Unfinished => verdict = Verdict::Unfinished,
            damaged => return Ok(damaged),
        }
    }
    Ok(if stopped() { Verdict::Unfinished } else { verdict })
}

/// The names of the database's own tables.
pub(super) const TABLES: &str =
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";

#[cfg(test)]
mod tests {
    use super::super::data_dir::DataDir;
    use super::super::migrate;
    use super::*;
    use crate::store::Condition;
    use rusqlite::Connection;
    use std::os::unix::fs::FileExt;

    const PAGE_BYTES: u64 = 4096;

    #[test]
    fn damage_is_noticed_while_the_file_is_served_and_refused_at_the_next_start() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        recover(&data_dir.database()).unwrap();
        let store = Store::open(&data_dir.database()).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT; WITH RECURSIVE c(n) AS
                    (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2000) INSERT INTO numbers SELECT n, randomblob(900) FROM c";
        store.writer().exclusive(|conn| conn.execute_batch(rows)).unwrap();
        store.truncate_wal().unwrap();
        assert_eq!(check_store(&store, || false).unwrap(), Verdict::Sound);
        assert_eq!(store.writer().condition(), Condition::Healthy);

        let pages = std::fs::metadata(data_dir.database()).unwrap().len() / PAGE_BYTES;
        // One page in the middle of the rows, as a disk loses it. Written without SQLite. The descriptor stays open
        // until SQLite has closed the file, because closing it would drop SQLite's locks.
        let file = std::fs::OpenOptions::new().write(true).open(data_dir.database()).unwrap();
        file.write_all_at(&[0x5a; PAGE_BYTES as usize], pages / 2 * PAGE_BYTES).unwrap();
        recover(&data_dir.database()).expect("after a clean stop the start does not read that page");
        assert!(matches!(check_store(&store, || false).unwrap(), Verdict::Damaged(_)));
        assert_eq!(store.writer().condition(), Condition::Damaged);
        let refused = store.write(Moment(0), |_| Ok(())).unwrap_err();
        assert_eq!(refused.code(), "store_damaged");
        remember(&store);
        drop((store, file));
        let said = recover(&data_dir.database()).unwrap_err();
        assert!(said.contains("tunneldesk restore") && !said.contains('\n'), "{said}");
    }

    #[test]
    fn after_a_crash_a_database_is_checked_before_the_start_unless_it_is_large() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let path = data_dir.database();
        let conn = open_writer(&path).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT; WITH RECURSIVE c(n) AS
                    (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) INSERT INTO numbers SELECT n, randomblob(900) FROM c;
                    PRAGMA wal_checkpoint(TRUNCATE); CREATE TABLE in_the_log (n INTEGER)";
        conn.execute_batch(rows).unwrap();
        drop(conn);
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let pages = file.metadata().unwrap().len() / PAGE_BYTES;
        file.write_all_at(&[0x5a; PAGE_BYTES as usize], pages / 2 * PAGE_BYTES).unwrap();
        assert!(recover(&path).unwrap_err().contains("is damaged"));
        file.set_len(CHECKED_AT_START_BYTES_MAX + PAGE_BYTES).unwrap();
        recover(&path).unwrap();
        assert!(quick_check::wal_is_empty(&path));
        // Where damage was found before, a large database is checked too.
        std::fs::write(data_dir::damage_marker(dir.path()), "").unwrap();
        assert!(recover(&path).unwrap_err().contains("is damaged"));
    }

    #[test]
    fn a_flipped_bit_beside_the_log_of_a_crash_is_never_blamed_on_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let path = data_dir.database();
        recover(&path).unwrap();
        let store = Store::open(&path).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT; WITH RECURSIVE c(n) AS
                    (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) INSERT INTO numbers SELECT n, randomblob(900) FROM c";
        store.writer().exclusive(|conn| conn.execute_batch(rows)).unwrap();
        store.truncate_wal().unwrap();
        let acknowledged = "CREATE TABLE acknowledged (n INTEGER) STRICT; INSERT INTO acknowledged VALUES (1)";
        store.writer().exclusive(|conn| conn.execute_batch(acknowledged)).unwrap();
        // The files as a kill leaves them.
        let killed = tempfile::tempdir().unwrap();
        for file in
            std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().path()).filter(|file| file.is_file())
        {
            std::fs::copy(&file, killed.path().join(file.file_name().unwrap())).unwrap();
        }
        drop(store);
        let killed = DataDir::lock(killed.path()).unwrap();
        let sound = std::fs::read(killed.database()).unwrap();
        assert!(!quick_check::wal_is_empty(&killed.database()));
        let pages = sound.len() / PAGE_BYTES as usize;
        for page in [pages / 3, pages / 2, pages - 2] {
            let mut flipped = sound.clone();
            // Two bits, because one is corrected.
            flipped[page * PAGE_BYTES as usize] ^= 0x11;
            std::fs::write(killed.database(), &flipped).unwrap();
            let said = recover(&killed.database()).unwrap_err();
            assert!(said.contains("tunneldesk restore") && !said.contains("does not belong"), "page {page}: {said}");
        }
    }

    #[test]
    fn a_damaged_search_index_is_damage() {
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
    fn a_check_ends_at_its_time_limit() {
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
