//! A copy of the live database, made page by page by SQLite's online backup from the writer's connection: writes that
//! happen meanwhile go into the copy too, no reader pins the WAL, and a writer waits for [`PAGES_AT_ONCE`] pages at
//! most.

use super::capture::{End, FollowerKind};
use super::pace::PAUSE;
use super::{data_dir, integrity, repair};
use crate::store::{Store, Writer};
use rusqlite::{Connection, ffi};
use std::collections::BTreeMap;
use std::path::Path;

/// Pages copied in one step, during which writers wait: less than a tenth of a millisecond.
const PAGES_AT_ONCE: i32 = 16;
/// The row count of each table.
pub(crate) type Rows = BTreeMap<String, i64>;

/// The point of the WAL, at the moment of a copy, from which the later changes are followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Followed {
    /// The follower's number in [`super::capture::Capture`].
    pub number: u64,
    pub begin: End,
}

/// The outcome of a copy.
#[derive(Debug)]
pub(crate) struct Copied {
    pub rows: Rows,
    pub followed: Option<Followed>,
}

/// Copies the database to `target`, which must not exist, and counts its rows at the moment of the copy. The copy is
/// not flushed, and must be checked before use. `progress` gets the pages done and the pages in all. With `following`
/// (the kind of follower, and the bytes that may stay unconfirmed) the WAL is followed from the moment of the copy on.
pub(crate) fn copy(
    store: &Store,
    target: &Path,
    following: Option<(FollowerKind, u64)>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Copied, String> {
    let failed = |e: rusqlite::Error| format!("cannot copy the file to {}: {e}", target.display());
    let counter = store.readers.open().map_err(failed)?;
    let mut copying = Copying::begin(store.writer(), target, following).map_err(failed)?;
    let file = crate::files::open(target).map_err(|e| format!("cannot read {}: {e}", target.display()))?;
    while !copying.step(&counter, progress).map_err(failed)? {
        data_dir::begin_to_flush(&file);
        std::thread::sleep(PAUSE);
    }
    let followed = copying.followed.take();
    drop(copying);
    let rows = rows(&counter).map_err(failed);
    if let (Err(_), Some(followed)) = (&rows, followed) {
        store.writer().capture.leave(followed.number);
    }
    Ok(Copied { rows: rows?, followed })
}

/// A copy under way. SQLite's backup handle uses the writer's connection, so it is used under the writer's lock alone.
struct Copying<'w> {
    writer: &'w Writer,
    handle: *mut ffi::sqlite3_backup,
    _target: Connection,
    following: Option<(FollowerKind, u64)>,
    /// Set once the copy is complete.
    followed: Option<Followed>,
}

impl<'w> Copying<'w> {
    fn begin(
        writer: &'w Writer,
        target: &Path,
        following: Option<(FollowerKind, u64)>,
    ) -> rusqlite::Result<Copying<'w>> {
        let target = Connection::open(target)?;
        // The copy is not flushed here. The small cache leaves few pages to write in the last step.
        target.execute_batch("PRAGMA synchronous = off; PRAGMA journal_mode = off; PRAGMA cache_size = 64")?;
        let handle = writer.exclusive(|source| {
            // SAFETY: both connections are open, and stay so until `drop`: the writer outlives us, the target is ours.
            unsafe { ffi::sqlite3_backup_init(target.handle(), c"main".as_ptr(), source.handle(), c"main".as_ptr()) }
        });
        if handle.is_null() {
            // SAFETY: the target is open.
            return Err(failure(unsafe { ffi::sqlite3_extended_errcode(target.handle()) }));
        }
        Ok(Copying { writer, handle, _target: target, following, followed: None })
    }

    /// Copies up to [`PAGES_AT_ONCE`] pages. Returns true when the copy is complete and `counter` has a snapshot of
    /// its moment.
    fn step(&mut self, counter: &Connection, progress: &mut dyn FnMut(u64, u64)) -> rusqlite::Result<bool> {
        let (handle, writer, following, followed) = (self.handle, self.writer, self.following, &mut self.followed);
        // SAFETY: the handle is live until `drop`, and its source connection is locked while this runs.
        let (code, left, all) = writer.exclusive(|_| unsafe {
            let code = ffi::sqlite3_backup_step(handle, PAGES_AT_ONCE);
            if code == ffi::SQLITE_DONE
                && let Err(e) = counter.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")
            {
                return (Err(e), 0, 0);
            }
            // The copy has everything that was written before its last step.
            if let (ffi::SQLITE_DONE, Some((kind, bytes_max))) = (code, following) {
                let (number, begin) = writer.capture.follow(kind, bytes_max);
                *followed = Some(Followed { number, begin });
            }
            (Ok(code), ffi::sqlite3_backup_remaining(handle), ffi::sqlite3_backup_pagecount(handle))
        });
        progress((all - left).max(0) as u64, all.max(0) as u64);
        match code? {
            ffi::SQLITE_DONE => Ok(true),
            ffi::SQLITE_OK | ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => Ok(false),
            code => Err(failure(code)),
        }
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        let handle = self.handle;
        // SAFETY: ended once, here, while the source connection is locked.
        self.writer.exclusive(|_| unsafe { ffi::sqlite3_backup_finish(handle) });
    }
}

fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

/// Checks every page, index and reference of an open file. The error says what is damaged, or cannot be checked.
///
/// Not for a connection that reads while another writes: FTS5 refreshes its cached structure for a search and not for
/// a check, which then reports the other connection's changes as damage.
pub(crate) fn check_all(conn: &Connection) -> Result<(), String> {
    let failed = |e: rusqlite::Error| e.to_string();
    let verdict: String = conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if verdict != "ok" {
        return Err(verdict.replace('\n', ": "));
    }
    if repair::has_dangling_reference(conn).map_err(failed)? {
        return Err(repair::DANGLING_REFERENCE.to_owned());
    }
    Ok(())
}

pub(crate) fn rows(conn: &Connection) -> rusqlite::Result<Rows> {
    let tables: Vec<String> =
        conn.prepare(integrity::TABLES)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let count = |table: String| {
        let rows = conn.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| row.get(0))?;
        Ok((table, rows))
    };
    tables.into_iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;
    use crate::store::copy_check::{CheckSpeed, check};
    use crate::store::engine::data_dir::DataDir;
    use crate::store::engine::migrate;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let store = Store::open(&data_dir.database()).unwrap();
        let site = "INSERT INTO tunnels (tunnel_id, name, country, created_at) VALUES (1, 'Here', 'CH', 0);
                    INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'ab', 1, x'', 0, 0);
                    CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler BLOB) STRICT";
        store.writer().exclusive(|conn| conn.execute_batch(site)).unwrap();
        (dir, store)
    }

    fn insert(store: &Store, count: i64) {
        let sql = "INSERT INTO numbers (filler) VALUES (randomblob(900))";
        store
            .write(Moment(0), |tx| (0..count).try_for_each(|_| tx.run(sql, []).map(|_| ())).map_err(Into::into))
            .unwrap();
    }

    #[test]
    fn a_copy_made_while_others_write_is_the_file_at_one_moment() {
        let (dir, store) = store();
        insert(&store, 5_000);
        let (target, done, written) = (dir.path().join("copy"), AtomicBool::new(false), AtomicUsize::new(0));
        let (rows, steps) = std::thread::scope(|scope| {
            let other = store.for_another_thread();
            let (done, written) = (&done, &written);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    insert(&other, 10);
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
            let mut steps = 0;
            let mut step = |_, _| {
                steps += 1;
                // The other thread writes between any two steps.
                let seen = written.load(Ordering::Relaxed);
                while written.load(Ordering::Relaxed) == seen {
                    std::thread::yield_now();
                }
            };
            let rows = copy(&store, &target, None, &mut step).unwrap().rows;
            done.store(true, Ordering::Relaxed);
            (rows, steps)
        });
        let sound = check(&target, CheckSpeed::Gentle).unwrap();
        assert_eq!(sound.rows, rows);
        assert_eq!(sound.site_id, "ab");
        assert!(rows["numbers"] > 5_000, "nobody wrote meanwhile: {rows:?}");
        assert_eq!(rows["numbers"] % 10, 0, "half a transaction is in the copy");
        assert!(steps > 3, "{steps} steps");
    }

    #[test]
    fn a_damaged_copy_is_not_sound() {
        let (dir, store) = store();
        insert(&store, 1_000);
        let target = dir.path().join("copy with a ? in it");
        copy(&store, &target, None, &mut |_, _| ()).unwrap();
        check(&target, CheckSpeed::Gentle).unwrap();
        let mut bytes = std::fs::read(&target).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0x5a);
        std::fs::write(&target, bytes).unwrap();
        let verdict = check(&target, CheckSpeed::Gentle).unwrap_err();
        assert!(verdict.contains("not sound") && !verdict.contains('\n'), "{verdict}");
    }
}
