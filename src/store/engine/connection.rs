//! How a file is opened: what every connection has, and what only the writer's has.

use super::wal_read::FRAME_BYTES;
use super::{checked_file, statements, wal_mark};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::cell::Cell;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

pub(crate) const WRITER_CACHE_KIB: i64 = 1024;
/// While very many rows are written at once: what a hundred thousand entries and their indexes touch.
pub(crate) const MANY_CACHE_KIB: i64 = 48 * 1024;
/// Pages in the write-ahead log from which on a commit moves them into the file.
pub(crate) const LOG_PAGES_MAX: i32 = 1000;
/// The same where the log is kept for a copy, of the second place or of a standby, and somebody always writes: writers wait for a
/// moment, so that all of it can be confirmed and moved. Seldom enough that this is no hundredth of a busy site's writes: with
/// half of it their p99 was 1.35 of what it is without a copy, with this 1.05 (and p99.9 30 ms for 13).
pub(crate) const HELD_LOG_PAGES_MIN: u32 = 24 * LOG_PAGES_MAX.cast_unsigned();
/// The file of a log that begins anew is cut to so many bytes: what a log that is held may come to, because a file that is cut
/// and grows again takes more of the processor than one that is written over (a tenth of a busy site's writes).
const LOG_BYTES_KEPT: u32 = (HELD_LOG_PAGES_MIN + HELD_LOG_PAGES_MIN / 4) * FRAME_BYTES as u32;
/// Another process cannot be writing (the directory is locked), so this is only for SQLite's own short locks.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The connection that alone writes and checkpoints.
pub(crate) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let mut conn = open_checked(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    prepare_connection(&conn, WRITER_CACHE_KIB)?;
    conn.wal_hook(Some(checkpoint))?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES_KEPT)?;
    Ok(conn)
}

/// The database of a site, each page of which is checked as it is read.
pub(crate) fn open_checked(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags_and_vfs(path, flags, checked_file::name())
}

const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI).union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A file that nobody writes to, without its write-ahead log, and as it is: what says whether it is sound is its manifest,
/// or its own structure.
pub(crate) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(address(path, "immutable=1"), READ_ONLY)
}

/// The database of a site to which nobody writes, and which has nothing in its log.
pub(crate) fn open_without_wal(path: &Path) -> rusqlite::Result<Connection> {
    open_checked(address(path, "immutable=1"), READ_ONLY)
}

/// The same with its log, whose index SQLite keeps in its own memory.
pub(crate) fn open_without_index(path: &Path) -> rusqlite::Result<Connection> {
    open_checked(address(path, "readonly_shm=1"), READ_ONLY)
}

fn address(path: &Path, option: &str) -> String {
    format!("file:{}?{option}", percent_encode(path.as_os_str().as_bytes(), PLAIN))
}

/// The characters that need no percent-encoding in the path of an SQLite URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'_').remove(b'-');

/// After a commit. SQLite's own would keep a failed flush of the file to itself; ours fails the commit, whose callers are
/// told that nobody knows, and the process ends.
fn checkpoint(wal: &mut Wal, pages: i32) -> rusqlite::Result<()> {
    if pages < LOG_PAGES_MAX {
        return Ok(());
    }
    let failed = |e: &rusqlite::Error| e.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
    match wal.checkpoint() {
        Err(e) if failed(&e) => Err(e),
        // Somebody reads, or the disk is full: what is in the log is durable, and the next commit tries again.
        _ => Ok(()),
    }
}

thread_local! {
    static LOG_PAGES: Cell<i32> = const { Cell::new(0) };
}

/// After a commit of the store's writer, in place of [`checkpoint`]: SQLite would make a plain error of whatever error the
/// checkpoint meets, and fail a commit that is on the disk.
pub(crate) fn note_wal_pages(_: &mut Wal, pages: i32) -> rusqlite::Result<()> {
    LOG_PAGES.set(pages);
    wal_mark::note(pages);
    Ok(())
}

/// Moves the pages of the write-ahead log into the file where this thread's last commit left many there. A failure
/// loses nothing: the pages stay durable in the log.
pub(crate) fn checkpoint_if_due(conn: &Connection) -> rusqlite::Result<()> {
    if LOG_PAGES.replace(0) < LOG_PAGES_MAX {
        return Ok(());
    }
    checkpoint_wal(conn)
}

/// Moves the pages of the write-ahead log into the file.
pub(crate) fn checkpoint_wal(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Sets what all connections share: the options that keep a damaged or hostile file from doing harm, the lock time-out,
/// the cache.
pub(crate) fn prepare_connection(conn: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    conn.busy_timeout(LOCK_WAIT)?;
    conn.set_prepared_statement_cache_capacity(statements::KEPT_MAX);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Plans do not depend on bound values; without this SQLite parses a statement anew whenever it is given others.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A reader that is closed last must not checkpoint behind the writer's back.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "cache_size", -cache_kib)
}
