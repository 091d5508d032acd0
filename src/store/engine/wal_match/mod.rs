//! Whether a write-ahead log belongs to the database file beside it. SQLite applies any log that is whole, also one of
//! another file.
//!
//! The database file and its log together are the site: a page that a checkpoint has not moved yet is in the log alone, and
//! after a crash the file alone may hold pages of two moments, with a page of one table where another table's should be.
//! So the file alone is believed only where it passes `quick_check`, and only against a log that takes it back in time.

use super::integrity::{self, Verdict};
use super::{connection, data_dir};
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The values of a site's file that never change, and those that only grow.
#[derive(Debug)]
struct Marks {
    site_id: String,
    /// The highest number in the history.
    history: i64,
    /// The number of the last row of the audit log, and the clock's mark (Unix seconds). `clock set-back` lowers the mark
    /// and adds a row, so the two are compared together. `None` in a file from before there was an audit log.
    progress: Option<(i64, i64)>,
}

impl Marks {
    fn read(conn: &Connection) -> rusqlite::Result<Marks> {
        let sql = "SELECT site_id, (SELECT coalesce(max(seq), 0) FROM history) FROM site";
        let (site_id, history) = conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let audited = conn.prepare("SELECT 1 FROM pragma_table_info('site') WHERE name = 'audit_seq'")?.exists([])?;
        let progress =
            match audited {
                true => Some(conn.query_row("SELECT audit_seq, clock_high_water FROM site", [], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?),
                false => None,
            };
        Ok(Marks { site_id, history, progress })
    }

    /// Whether a file with these marks can have come from one with those.
    fn follow(&self, earlier: &Marks) -> bool {
        self.site_id == earlier.site_id && self.history >= earlier.history && self.progress >= earlier.progress
    }
}

/// SQLite's write-ahead log of the file.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    data_dir::wal(path.parent().unwrap_or(path))
}

/// Whether there is nothing in the log: whoever had the file last ended cleanly.
pub(crate) fn wal_is_empty(path: &Path) -> bool {
    std::fs::metadata(log_of(path)).map_or(0, |wal| wal.len()) == 0
}

/// Whether the log is of another file, or of an older state of this one, by what the file says alone and `with_log`.
pub(crate) fn takes_back(path: &Path, with_log: &Connection) -> rusqlite::Result<bool> {
    if wal_is_empty(path) {
        return Ok(false);
    }
    let Ok(alone) = connection::open_immutable(path).and_then(|conn| Marks::read(&conn)) else { return Ok(false) };
    match Marks::read(with_log) {
        Ok(with_log) => Ok(!with_log.follow(&alone) && is_whole_alone(path)),
        // Without the row or its table: an `init` that was cut off.
        Err(e) if e == rusqlite::Error::QueryReturnedNoRows || e.sqlite_error_code() == Some(ErrorCode::Unknown) => {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

/// Whether the file without its log is sound. Reads all of it, however long that takes: the answer decides whether a log
/// is refused.
pub(crate) fn is_whole_alone(path: &Path) -> bool {
    let looked =
        connection::open_immutable(path).and_then(|conn| integrity::check_connection(conn, None, Duration::MAX));
    matches!(looked, Ok(Verdict::Sound))
}

/// One line that says what to do: nothing of the file itself is lost, so no backup need replace it.
pub(crate) fn refusal(path: &Path) -> String {
    format!(
        "{wal} does not belong to {file}, which is sound without it: it is the log of another file, or of an older one; \
         move {wal} to another directory and start again, no restore is needed",
        wal = log_of(path).display(),
        file = path.display()
    )
}

#[cfg(test)]
mod tests;
