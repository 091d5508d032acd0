//! Whether a WAL belongs to the database file beside it. SQLite applies any WAL that is complete, even one of another
//! file.
//!
//! The state of the site is the database file and its WAL together: before a checkpoint a page is in the WAL alone, and
//! after a crash the file alone may mix pages of two moments. So the file alone is trusted only where it passes
//! `quick_check`, and only against a WAL that would set it back in time.

use super::data_dir::wal_of;
use super::quick_check::{is_sound_alone, wal_is_empty};
use super::{connection, scrub, wal_mark};
use rusqlite::{Connection, ErrorCode};
use std::path::Path;

/// The values of a site's database that never change, and those that only grow.
#[derive(Debug)]
struct Progress {
    site_id: String,
    /// The highest number in the history.
    history: i64,
    /// The number of the last row of the audit log, and the latest moment of the clock (Unix seconds). `clock set-back`
    /// lowers the moment and adds a row, so the two are compared together.
    audit: (i64, i64),
}

impl Progress {
    fn read(conn: &Connection) -> rusqlite::Result<Progress> {
        let sql = "SELECT site_id, (SELECT coalesce(max(seq), 0) FROM history), audit_seq, clock_high_water FROM site";
        conn.query_row(sql, [], |row| {
            Ok(Progress { site_id: row.get(0)?, history: row.get(1)?, audit: (row.get(2)?, row.get(3)?) })
        })
    }

    /// Whether this can be a later state of `earlier`.
    fn can_follow(&self, earlier: &Progress) -> bool {
        self.site_id == earlier.site_id && self.history >= earlier.history && self.audit >= earlier.audit
    }
}

/// Whether the WAL is of another database, or of an older state of this one, by a comparison of the file alone with
/// `with_wal`. The WAL mark may have come with the WAL from a copy of the directory, so a file that is as this program
/// closed it counts for more than the mark.
pub(crate) fn takes_back(path: &Path, with_wal: &Connection) -> rusqlite::Result<bool> {
    if wal_is_empty(path) {
        return Ok(false);
    }
    let Ok(alone) = connection::open_immutable(path).and_then(|conn| Progress::read(&conn)) else { return Ok(false) };
    let is_own = wal_mark::is_own_and_whole(path);
    match Progress::read(with_wal) {
        Ok(progress) if progress.can_follow(&alone) => Ok(false),
        // Every page is read here, so only where the WAL would set the file back.
        Ok(_) => Ok((!is_own || scrub::is_as_closed(path, with_wal)) && is_sound_alone(path)),
        Err(_) if is_own => Ok(false),
        // The row or its table is missing: an interrupted `init`.
        Err(e) if e == rusqlite::Error::QueryReturnedNoRows || e.sqlite_error_code() == Some(ErrorCode::Unknown) => {
            Ok(false)
        }
        Err(e) => Err(e),
    }
}

/// Refuses the WAL of an earlier time that was put over the one of a killed process, where the database file is as this
/// program wrote it, and sound alone. SQLite would write the WAL's older pages over newer ones. Otherwise the file may have
/// been replaced together with its WAL: the start then goes on, and raises the alarm of lost writes. The error is one line.
pub(crate) fn check_time(path: &Path) -> Result<(), String> {
    let is_own = || scrub::is_as_written(path).unwrap_or(false);
    if !wal_mark::is_of_another_time(path) || !is_own() || !is_sound_alone(path) {
        return Ok(());
    }
    Err(format!(
        "{wal} is not the log that was written last beside {file}, but an earlier one, or one of another file: put the right \
         one back in its place; if there is none, move {wal} to another directory and start again: the file is sound without \
         it, the last writes are missing, and `tunneldesk doctor` then says what to do about them",
        wal = wal_of(path).display(),
        file = path.display()
    ))
}

/// The error for a WAL that does not belong to the database, in one line. The file is sound, so no backup need replace
/// it.
pub(crate) fn refusal(path: &Path) -> String {
    format!(
        "{wal} does not belong to {file}, which is sound without it: it is the log of another file, or of an older one; \
         move {wal} to another directory and start again, no restore is needed",
        wal = wal_of(path).display(),
        file = path.display()
    )
}

#[cfg(test)]
mod tests;
