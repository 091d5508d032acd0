//! Rewrites the database file, so that nothing is left in it that no row has.

use super::columns::row;
use super::{data_dir, wal_mark};
use crate::store::Store;
use rusqlite::{Connection, Result};
use std::path::Path;
use std::time::Duration;

/// How often the truncation of the WAL is tried: a reader may prevent it for as long as a read may take.
const TRUNCATE_TRIES: u32 = 100;
const TRUNCATE_PAUSE: Duration = Duration::from_millis(50);
/// How long the off-site copy and the standby may take to confirm the earlier commits, and as long again for the
/// rewritten database.
const REPLICATION_TIME_MAX: Duration = Duration::from_secs(10);
/// How long the off-site copy and the standby may take while all writers wait.
const LOCKED_REPLICATION_TIME_MAX: Duration = Duration::from_secs(2);
/// Free space that is needed beside the rewritten database in its own file and in the WAL.
const SPARE_BYTES: u64 = 16 * 1024 * 1024;

/// Rewrites the database (`VACUUM`) and truncates the WAL, so that neither keeps values that no row has any more.
/// Readers go on; writers wait, about a second for 100 MB. The off-site copy and a standby get the earlier commits
/// first, so that every second before this can be restored, and then the rewritten database. Where they do not confirm
/// it in time, or it is larger than `backup.unconfirmed_mib`, they need a new base. The error is one line, and leaves
/// the database as it was.
pub(crate) fn rewrite(store: &Store) -> std::result::Result<(), String> {
    let dir = store.path().parent().unwrap_or(Path::new("."));
    check_space(dir)?;
    store.release();
    let failed = |e: rusqlite::Error| format!("the file could not be written anew: {e}");
    let (writer, capture) = (store.writer(), &store.writer().capture);
    let _expedited = capture.expedite();
    // Most commits are sent while others write; writers wait only for the rest.
    let keeps_up = capture.wait_until_replicated(REPLICATION_TIME_MAX);
    let replicate_rest = || keeps_up && capture.wait_until_replicated(LOCKED_REPLICATION_TIME_MAX);
    let rewritten = writer.exclusive(|conn| {
        replicate_rest();
        vacuum(conn, dir)
    });
    rewritten.map_err(failed)?;
    _ = keeps_up && capture.wait_until_replicated(REPLICATION_TIME_MAX);
    for _ in 0..TRUNCATE_TRIES {
        let truncated = writer.exclusive(|conn| {
            replicate_rest();
            capture.allow_checkpoints("the file was written anew, so that nothing of an erased person is left in it");
            wal_mark::clear(store.path());
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], row::<(i64, i64, i64)>)
        });
        let (busy, ..) = truncated.map_err(failed)?;
        if busy == 0 {
            return Ok(());
        }
        std::thread::sleep(TRUNCATE_PAUSE);
    }
    Err("the log could not be cut, because somebody reads all the time".to_owned())
}

/// Runs `VACUUM`. SQLite's temporary copy is an unnamed file in the data directory: neither in memory nor on another
/// disk.
fn vacuum(conn: &Connection, dir: &Path) -> Result<()> {
    conn.pragma_update(None, "temp_store", "file")?;
    _ = conn.pragma_update(None, "temp_store_directory", &*dir.to_string_lossy());
    let rewritten = conn.execute_batch("VACUUM");
    _ = conn.pragma_update(None, "temp_store_directory", "");
    conn.pragma_update(None, "temp_store", "memory")?;
    rewritten
}

fn check_space(dir: &Path) -> std::result::Result<(), String> {
    let bytes = std::fs::metadata(data_dir::database(dir)).map_or(0, |file| file.len());
    let needed = 2 * bytes + SPARE_BYTES;
    let free = data_dir::free_bytes(dir).map_err(|e| format!("cannot look at {}: {e}", dir.display()))?;
    if free >= needed {
        return Ok(());
    }
    let (free, needed) = (free / 1_000_000, needed.div_ceil(1_000_000));
    Err(format!("no room to write the file anew in {}: {free} MB are free and {needed} MB are needed", dir.display()))
}
