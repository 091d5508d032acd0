//! Opens connections, and runs checkpoints.

use super::wal_format::FRAME_BYTES;
use super::{checked_file, statements, wal_mark};
use crate::domain::email;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::cell::Cell;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

pub(crate) const WRITER_CACHE_KIB: i64 = 1024;
/// The writer's cache during [`crate::store::Store::write_many`]: all pages that a hundred thousand entries and their
/// indexes touch.
pub(crate) const MANY_CACHE_KIB: i64 = 48 * 1024;
/// A commit runs a checkpoint when the WAL has at least this many pages.
pub(crate) const WAL_PAGES_MAX: i32 = 1000;
/// Writers wait for a checkpoint when the WAL has at least this many pages, where the WAL is kept for an off-site copy
/// or a standby and there is no pause between writes. The value is large, so that fewer than one write in a hundred
/// waits: with half of it the p99 of a busy site's writes was 1.35 times that without a copy, with this value 1.05
/// times (and p99.9 30 ms instead of 13).
pub(crate) const KEPT_WAL_PAGES_MIN: u32 = 24 * WAL_PAGES_MAX.cast_unsigned();
/// The size to which SQLite truncates a WAL that restarts. A WAL that is kept for a copy may reach it, and
/// overwriting a file takes less CPU time than truncating it and letting it grow (a tenth of a busy site's writes).
const WAL_FILE_BYTES_MAX: u32 = (KEPT_WAL_PAGES_MIN + KEPT_WAL_PAGES_MIN / 4) * FRAME_BYTES as u32;
/// The busy timeout. No other process writes (the directory is locked), so it covers SQLite's own short locks alone.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Opens the one connection that writes and runs checkpoints.
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
    conn.pragma_update(None, "journal_size_limit", WAL_FILE_BYTES_MAX)?;
    Ok(conn)
}

/// Opens a site's database through the layer that verifies page checksums.
pub(crate) fn open_checked(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags_and_vfs(path, flags, checked_file::name())
}

const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI).union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Opens a file that no process writes, without its WAL and without page checksums: a manifest or an integrity check
/// says whether the file is sound.
pub(crate) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    // SQLite itself would wait for the other end of a pipe.
    if crate::files::obstacle(path).is_some() {
        return Err(rusqlite::Error::InvalidPath(path.to_owned()));
    }
    Connection::open_with_flags(uri(path, "immutable=1"), READ_ONLY)
}

/// Opens a site's database on a read-only file system, where the WAL is empty.
pub(crate) fn open_without_wal(path: &Path) -> rusqlite::Result<Connection> {
    open_checked(uri(path, "immutable=1"), READ_ONLY)
}

/// Opens a site's database on a read-only file system with its WAL, whose index SQLite keeps in memory.
pub(crate) fn open_without_index(path: &Path) -> rusqlite::Result<Connection> {
    open_checked(uri(path, "readonly_shm=1"), READ_ONLY)
}

fn uri(path: &Path, option: &str) -> String {
    format!("file:{}?{option}", percent_encode(path.as_os_str().as_bytes(), PLAIN))
}

/// Alphanumeric characters and these need no percent-encoding in an SQLite URI.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'_').remove(b'-');

/// The automatic checkpoint after a commit. SQLite's own ignores a failed flush of the database; this one fails the
/// commit, after which the process ends.
fn checkpoint(wal: &mut Wal, pages: i32) -> rusqlite::Result<()> {
    if pages < WAL_PAGES_MAX {
        return Ok(());
    }
    let failed = |e: &rusqlite::Error| e.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
    match wal.checkpoint() {
        Err(e) if failed(&e) => Err(e),
        // A reader is in the way, or the disk is full: the pages are durable in the WAL, and the next commit tries
        // again.
        _ => Ok(()),
    }
}

thread_local! {
    /// Pages in the WAL after the last commit on this thread.
    static WAL_PAGES: Cell<i32> = const { Cell::new(0) };
}

/// The commit hook of the store's writer, in place of [`checkpoint`]: an error of a checkpoint inside the hook would
/// fail a commit that is on the disk, and hide its cause.
pub(crate) fn note_wal_pages(_: &mut Wal, pages: i32) -> rusqlite::Result<()> {
    WAL_PAGES.set(pages);
    wal_mark::note(pages);
    Ok(())
}

/// Runs a checkpoint where this thread's last commit left many pages in the WAL. A failure loses nothing: the pages
/// stay durable in the WAL.
pub(crate) fn checkpoint_if_due(conn: &Connection) -> rusqlite::Result<()> {
    if WAL_PAGES.replace(0) < WAL_PAGES_MAX {
        return Ok(());
    }
    checkpoint_wal(conn)
}

/// Runs a checkpoint: moves the pages of the WAL into the database file.
pub(crate) fn checkpoint_wal(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Sets the options of every connection: the protections against a damaged or hostile file, the busy timeout, the
/// caches. Adds the SQL function `canonical_address`: see [`email::canonical`].
pub(crate) fn prepare_connection(conn: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    conn.busy_timeout(LOCK_WAIT)?;
    conn.set_prepared_statement_cache_capacity(statements::CACHED_MAX);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Plans must not depend on bound values: otherwise SQLite prepares a statement again for other values.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // A read connection that is closed last must not run a checkpoint.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let pure = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    let canonical = |values: &Context| Ok(values.get::<Option<String>>(0)?.map(|address| email::canonical(&address)));
    conn.create_scalar_function("canonical_address", 1, pure, canonical)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.pragma_update(None, "cache_size", -cache_kib)
}
