//! Whether the live file is sound, table by table and each for a bounded time: a long look would pin the log.

use super::Read;
use rusqlite::{Error, ErrorCode, Result, ffi};
use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

/// Steps of SQLite's machine between two looks at the clock.
const STEPS: i32 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Sound,
    /// The time was up.
    Unfinished,
    Damaged(String),
}

/// The tables that are the product's.
pub fn list_tables(tx: &Read) -> Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    tx.list(sql, [], |row| row.get(0))
}

/// Looks at every page of a table and its indexes, but does not compare the two.
pub fn check(tx: &Read, table: &str, millis_max: u64) -> Result<Verdict> {
    let until = Instant::now() + Duration::from_millis(millis_max);
    // SAFETY: the connection is open, and the handler goes before `until` does.
    unsafe {
        ffi::sqlite3_progress_handler(tx.conn.handle(), STEPS, Some(is_over), (&raw const until).cast_mut().cast())
    };
    let quoted = table.replace('\'', "''");
    let said = tx.conn.query_row(&format!("PRAGMA quick_check('{quoted}')"), [], |row| row.get::<_, String>(0));
    // SAFETY: likewise.
    unsafe { ffi::sqlite3_progress_handler(tx.conn.handle(), 0, None, std::ptr::null_mut()) };
    match said {
        Ok(said) if said == "ok" => Ok(Verdict::Sound),
        Ok(said) => Ok(Verdict::Damaged(said.replace('\n', ": "))),
        Err(Error::SqliteFailure(e, _)) if e.code == ErrorCode::OperationInterrupted => Ok(Verdict::Unfinished),
        Err(Error::SqliteFailure(e, _)) if e.code == ErrorCode::DatabaseCorrupt => {
            Ok(Verdict::Damaged(format!("{table}: {e}")))
        }
        Err(e) => Err(e),
    }
}

/// Whether the moment is past: then SQLite stops.
unsafe extern "C" fn is_over(until: *mut c_void) -> c_int {
    // SAFETY: `check` set it to a moment that outlives the handler.
    let until = unsafe { *until.cast::<Instant>() };
    c_int::from(Instant::now() >= until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn a_look_ends_when_its_time_is_up_and_the_connection_goes_on() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler TEXT) STRICT;
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000)
             INSERT INTO numbers SELECT n, 'x' FROM n",
        )
        .unwrap();
        let tx = Read::on(&conn);
        assert_eq!(list_tables(&tx).unwrap(), ["numbers"]);
        assert_eq!(check(&tx, "numbers", 0).unwrap(), Verdict::Unfinished);
        assert_eq!(check(&tx, "numbers", 60_000).unwrap(), Verdict::Sound);
    }
}
