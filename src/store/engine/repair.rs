//! Locates damage while the database is served, and rebuilds damaged indexes from their rows.

use super::page_checksums::accepting_bad;
use super::rewrite;
use crate::store::Store;
use crate::store::db_error::is_of_bad_page;
use rusqlite::{Connection, ErrorCode, ffi};
use std::collections::BTreeSet;

/// Lines that are read of one check. Damage beyond them is found by the next check.
const LINES_MAX: usize = 1_000;

/// The outcome of a check of every page, row and index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Sound,
    /// Only these indexes differ from their rows. The text is the first line of the check.
    Indexes(BTreeSet<String>, String),
    /// Every page can be read, and a foreign key has no row.
    Inconsistent(String),
    /// The first line of the check.
    Damaged(String),
}

/// The words before the index's name in a line of SQLite's check about an index alone.
const OF_INDEX: [&str; 5] = [
    " missing from index ",
    "wrong # of entries in index ",
    "non-unique entry in index ",
    " values differ from index ",
    " of index ",
];

/// Whether a line of a check may be about an index alone.
pub(super) fn may_be_of_index(line: &str) -> bool {
    index_of(line).is_some() || root_of(line).is_some() || is_of_unused_page(line)
}

fn index_of(line: &str) -> Option<&str> {
    OF_INDEX.iter().find_map(|words| line.split_once(words)).map(|(_, name)| name)
}

/// Whether a line of a check is about a page that failed its checksum.
pub(super) fn names_bad_page(line: &str) -> bool {
    root_of(line).is_some()
}

/// The root page of the table or index in a line of a check about a page that failed its checksum.
fn root_of(line: &str) -> Option<u32> {
    let line = line.strip_suffix(&format!(": unable to get the page. error code={}", ffi::SQLITE_IOERR_DATA))?;
    line.strip_prefix("Tree ")?.split_once(" page ")?.0.parse().ok()
}

/// Whether a line is about an unused page: the children of an unreadable index page look unused.
fn is_of_unused_page(line: &str) -> bool {
    line.starts_with("Page ") && line.ends_with(": never used")
}

/// Checks the live database without a time limit, while others read and write.
pub(crate) fn find_damage(store: &Store) -> rusqlite::Result<Finding> {
    match judge(&store.readers.open()?) {
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
            // Bad pages of an index were reported already, and its rows cannot be compared with it.
            Err(e) if is_of_bad_page(&e) && !said.is_empty() => break,
            Err(e) => return Err(e),
        }
    }
    let lines = said.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with("***"));
    Ok(lines.map(str::to_owned).collect())
}

pub(super) const DANGLING_REFERENCE: &str = "a row refers to one that is not there";

pub(super) fn has_dangling_reference(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare("PRAGMA foreign_key_check")?.exists([])
}

fn judge(conn: &Connection) -> rusqlite::Result<Finding> {
    let lines = check(conn)?;
    let Some(first) = lines.first().filter(|line| *line != "ok") else {
        return Ok(match has_dangling_reference(conn)? {
            true => Finding::Inconsistent(DANGLING_REFERENCE.to_owned()),
            false => Finding::Sound,
        });
    };
    let has_bad_page = lines.iter().any(|line| root_of(line).is_some());
    let relevant = lines.iter().filter(|line| !(has_bad_page && is_of_unused_page(line)));
    let indexes: Option<BTreeSet<String>> = relevant.map(|line| known_index(conn, line)).collect();
    Ok(match indexes {
        Some(names) if lines.len() < LINES_MAX && !names.is_empty() => Finding::Indexes(names, first.clone()),
        _ => Finding::Damaged(first.clone()),
    })
}

/// The index in a line of a check, if there is one.
fn known_index(conn: &Connection, line: &str) -> Option<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND (name = ?1 OR rootpage = ?2)";
    conn.query_row(sql, (index_of(line), root_of(line)), |row| row.get(0)).ok()
}

/// Rebuilds these indexes from their rows, rewrites the whole database, and checks it again. The error is one line.
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
    // Removes the unused pages of the old indexes.
    rewrite::rewrite(store)?;
    match find_damage(store).map_err(failed)? {
        Finding::Sound => Ok(()),
        Finding::Indexes(_, line) | Finding::Inconsistent(line) | Finding::Damaged(line) => {
            Err(format!("the file is damaged after that too: {line}"))
        }
    }
}

/// Rebuilds indexes in an open transaction. `Some`: a line that says why the transaction must be rolled back. A damaged
/// index page may name a page of rows as its child, which would be freed with the old index.
fn reindex(conn: &Connection, sql: &str) -> rusqlite::Result<Option<String>> {
    accepting_bad(|| conn.execute_batch(sql))?;
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
        let store = Store::open(&data_dir.database()).unwrap();
        let rows = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, size INTEGER) STRICT;
                    CREATE INDEX \"by size\" ON numbers (size);
                    WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500)
                    INSERT INTO numbers SELECT n, 'word' || n, n % 7 FROM c";
        store.writer().exclusive(|conn| conn.execute_batch(rows)).unwrap();
        (dir, store)
    }

    /// Makes the index miss the rows that are inserted here.
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
    fn an_index_that_lacks_rows_is_found_and_rebuilt() {
        let (_dir, store) = store();
        assert_eq!(find_damage(&store).unwrap(), Finding::Sound);
        store.writer().exclusive(|conn| spoil(conn, "by size", "numbers", "size > 3"));
        let Finding::Indexes(names, line) = find_damage(&store).unwrap() else { panic!("it is an index alone") };
        assert_eq!((names.len(), names.contains("by size")), (1, true), "{line}");
        rebuild_indexes(&store, &names).unwrap();
        assert_eq!(find_damage(&store).unwrap(), Finding::Sound);
    }

    #[test]
    fn a_dangling_reference_is_not_damage_of_an_index() {
        let (_dir, store) = store();
        let spoil = "PRAGMA ignore_check_constraints = on; PRAGMA foreign_keys = off;
                     CREATE TABLE parts (n INTEGER PRIMARY KEY, of INTEGER REFERENCES numbers) STRICT; INSERT INTO parts VALUES (1, 9999)";
        store.writer().exclusive(|conn| conn.execute_batch(spoil)).unwrap();
        assert!(matches!(find_damage(&store).unwrap(), Finding::Inconsistent(_)));
    }
}
