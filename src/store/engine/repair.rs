//! Finds what is damaged in the file while it is served, and rebuilds damaged indexes, which hold nothing that the rows
//! do not.

use super::connection::{open_checked, prepare_connection};
use super::page_checksums::believing_bad;
use super::reader::CACHE_KIB;
use crate::http::failure::is_of_bad_page;
use crate::store::Store;
use crate::store::queries::erasure;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use std::collections::BTreeSet;

/// Lines of a check that are read; damage beyond them is found by the next one.
const LINES_MAX: usize = 1_000;

/// The outcome of a check of every page, row and index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Sound,
    /// The indexes that differ from their rows, while everything else is sound; and the first line of the check.
    Indexes(BTreeSet<String>, String),
    /// Every page can be read, and rows refer to others that are not there.
    Inconsistent(String),
    /// The first line of the check.
    Damaged(String),
}

/// The words before the index's name in a line of SQLite's check that speaks of an index alone.
const OF_INDEX: [&str; 5] = [
    " missing from index ",
    "wrong # of entries in index ",
    "non-unique entry in index ",
    " values differ from index ",
    " of index ",
];

/// Whether a line of a check may speak of an index alone.
pub(super) fn may_be_of_index(line: &str) -> bool {
    index_of(line).is_some() || root_of(line).is_some() || is_of_unused_page(line)
}

fn index_of(line: &str) -> Option<&str> {
    OF_INDEX.iter().find_map(|words| line.split_once(words)).map(|(_, name)| name)
}

/// The first page of the table or index of which a line of a check says that a page is not what was written there.
fn root_of(line: &str) -> Option<u32> {
    let line = line.strip_suffix(&format!(": unable to get the page. error code={}", ffi::SQLITE_IOERR_DATA))?;
    line.strip_prefix("Tree ")?.split_once(" page ")?.0.parse().ok()
}

/// Where a page of an index cannot be read, those below it look as if nobody used them.
fn is_of_unused_page(line: &str) -> bool {
    line.starts_with("Page ") && line.ends_with(": never used")
}

/// Checks the live file, as long as that takes, while others read and write.
pub(crate) fn find_damage(store: &Store) -> rusqlite::Result<Finding> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = open_checked(store.path(), flags)?;
    prepare_connection(&conn, CACHE_KIB)?;
    conn.pragma_update(None, "query_only", true)?;
    match judge(&conn) {
        Err(e) if is_of_the_file(&e) => Ok(Finding::Damaged(e.to_string())),
        found => found,
    }
}

fn is_of_the_file(e: &rusqlite::Error) -> bool {
    matches!(
        e.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown | ErrorCode::SystemIoFailure)
    )
}

/// The lines of SQLite's integrity check.
fn check(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut said: Vec<String> = Vec::new();
    let mut check = conn.prepare(&format!("PRAGMA integrity_check({LINES_MAX})"))?;
    for text in check.query_map([], |row| row.get::<_, String>(0))? {
        match text {
            Ok(text) => said.push(text),
            // The pages of an index were found bad, and the rows cannot be compared with it.
            Err(e) if is_of_bad_page(&e) && !said.is_empty() => break,
            Err(e) => return Err(e),
        }
    }
    let lines = said.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with("***"));
    Ok(lines.map(str::to_owned).collect())
}

fn judge(conn: &Connection) -> rusqlite::Result<Finding> {
    let lines = check(conn)?;
    let Some(first) = lines.first().filter(|line| *line != "ok") else {
        return Ok(match conn.prepare("PRAGMA foreign_key_check")?.exists([])? {
            true => Finding::Inconsistent("a row refers to one that is not there".to_owned()),
            false => Finding::Sound,
        });
    };
    let has_bad_page = lines.iter().any(|line| root_of(line).is_some());
    let spoken = lines.iter().filter(|line| !(has_bad_page && is_of_unused_page(line)));
    let indexes: Option<BTreeSet<String>> = spoken.map(|line| known_index(conn, line)).collect();
    Ok(match indexes {
        Some(names) if lines.len() < LINES_MAX && !names.is_empty() => Finding::Indexes(names, first.clone()),
        _ => Finding::Damaged(first.clone()),
    })
}

/// The index that a line of a check speaks of, if it speaks of one.
fn known_index(conn: &Connection, line: &str) -> Option<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND (name = ?1 OR rootpage = ?2)";
    conn.query_row(sql, (index_of(line), root_of(line)), |row| row.get(0)).ok()
}

/// Builds these indexes anew from their rows, writes the whole file anew, and checks it again. The error is one line.
pub(crate) fn rebuild_indexes(store: &Store, names: &BTreeSet<String>) -> Result<(), String> {
    let sql: String = names.iter().map(|name| format!("REINDEX \"{}\";", name.replace('"', "\"\""))).collect();
    store.release();
    let failed = |e: rusqlite::Error| format!("the indexes could not be built anew: {e}");
    store.writer().exclusive(|conn| {
        conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        let rebuilt = reindex(conn, &sql).map_err(failed).and_then(|wrong| wrong.map_or(Ok(()), Err));
        let ended = conn.execute_batch(if rebuilt.is_ok() { "COMMIT" } else { "ROLLBACK" });
        rebuilt.and(ended.map_err(failed))
    })?;
    // Pages of the old index that nobody uses any more are not left behind.
    erasure::rebuild(store)?;
    match find_damage(store).map_err(failed)? {
        Finding::Sound => Ok(()),
        Finding::Indexes(_, line) | Finding::Inconsistent(line) | Finding::Damaged(line) => {
            Err(format!("the file is damaged after that too: {line}"))
        }
    }
}

/// Builds indexes anew in an open transaction. `Some`: a line that says why the transaction is not to be committed. A page
/// of an index may name another page as its own that is one of rows, which is given up with the old index then.
fn reindex(conn: &Connection, sql: &str) -> rusqlite::Result<Option<String>> {
    believing_bad(|| conn.execute_batch(sql))?;
    let wrong = check(conn)?.into_iter().find(|line| line != "ok" && !is_of_unused_page(line));
    Ok(wrong.map(|line| format!("the indexes cannot be built anew alone: {line}")))
}

#[cfg(test)]
mod tests {
    use super::super::{data_dir::DataDir, migrate};
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let store = Store::open(&data_dir.database(), true).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, size INTEGER) STRICT;
                    CREATE INDEX \"by size\" ON numbers (size);
                    WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500)
                    INSERT INTO numbers SELECT n, 'word' || n, n % 7 FROM c";
        store.writer().exclusive(|conn| conn.execute_batch(rows)).unwrap();
        (dir, store)
    }

    /// The index speaks of another row's value from now on.
    pub(crate) fn spoil(conn: &Connection, index: &str, table: &str, to: &str) {
        use rusqlite::config::DbConfig;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
        let sql = format!(
            "PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = sql || ' WHERE {to}' WHERE name = '{index}';
             PRAGMA writable_schema = reset; INSERT INTO {table} SELECT n + 1000, word || 'x', size FROM {table};
             PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, ' WHERE {to}', '') WHERE name = '{index}';
             PRAGMA writable_schema = reset"
        );
        conn.execute_batch(&sql).unwrap();
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).unwrap();
    }

    #[test]
    fn an_index_that_lacks_rows_is_found_and_built_anew() {
        let (_dir, store) = store();
        assert_eq!(find_damage(&store).unwrap(), Finding::Sound);
        store.writer().exclusive(|conn| spoil(conn, "by size", "numbers", "size > 3"));
        let Finding::Indexes(names, line) = find_damage(&store).unwrap() else { panic!("it is an index alone") };
        assert_eq!((names.len(), names.contains("by size")), (1, true), "{line}");
        rebuild_indexes(&store, &names).unwrap();
        assert_eq!(find_damage(&store).unwrap(), Finding::Sound);
    }

    #[test]
    fn a_row_that_refers_to_none_is_no_damage_of_an_index() {
        let (_dir, store) = store();
        let spoil = "PRAGMA ignore_check_constraints = on; PRAGMA foreign_keys = off;
                     CREATE TABLE parts (n INTEGER PRIMARY KEY, of INTEGER REFERENCES numbers) STRICT; INSERT INTO parts VALUES (1, 9999)";
        store.writer().exclusive(|conn| conn.execute_batch(spoil)).unwrap();
        assert!(matches!(find_damage(&store).unwrap(), Finding::Inconsistent(_)));
    }
}
