//! Tests of the guarantees that the store gives its callers.

use super::*;
use crate::moment::Moment;
use http::StatusCode;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

fn numbers() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("numbers.sqlite")).unwrap();
    store.writer().exclusive(|conn| conn.execute_batch("CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT")).unwrap();
    (dir, store)
}

fn insert(store: &Store, n: i64) -> Result<usize, Failure> {
    store.write(Moment(0), |tx| Ok(tx.run("INSERT INTO numbers VALUES (?1)", [n])?))
}

fn count(store: &Store) -> i64 {
    store.read(|tx| Ok(tx.get("SELECT count(*) FROM numbers", [])?)).unwrap()
}

#[test]
fn an_old_sqlite_is_refused_in_one_line() {
    let refusal = check_version(3_051_002).unwrap_err();
    assert!(refusal.contains("3051002") && !refusal.contains('\n'));
    check_version(rusqlite::version_number()).unwrap();
}

#[test]
fn writes_are_flushed_before_they_are_acknowledged() {
    let (_dir, store) = numbers();
    let settings = store.writer().exclusive(|conn| {
        let ask = |pragma: &str| conn.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, String>(0));
        (ask("journal_mode").unwrap(), conn.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0)).unwrap())
    });
    assert_eq!(settings, ("wal".to_owned(), 2), "2 is FULL");
}

#[test]
fn the_reads_of_one_request_see_one_state() {
    let (_dir, store) = numbers();
    let other = store.for_another_thread();
    assert_eq!(count(&store), 0);
    insert(&other, 1).unwrap();
    assert_eq!(count(&store), 0, "the snapshot of the first read");
    store.release();
    assert_eq!(count(&store), 1);
}

#[test]
fn a_thread_reads_what_it_wrote() {
    let (_dir, store) = numbers();
    assert_eq!(count(&store), 0);
    insert(&store, 1).unwrap();
    assert_eq!(count(&store), 1);
}

#[test]
fn a_reader_cannot_write() {
    let (_dir, store) = numbers();
    let tried = store.read(|tx| Ok(tx.conn.execute("INSERT INTO numbers VALUES (1)", [])?));
    assert!(tried.is_err());
    store.release();
    assert_eq!(count(&store), 0);
}

#[test]
fn a_read_that_takes_too_long_is_stopped_and_the_next_one_works() {
    let (_dir, store) = numbers();
    assert_eq!(count(&store), 0);
    store.reader.borrow().as_ref().unwrap().stop_at(Instant::now());
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let stopped = store.read(|tx| Ok(tx.get::<i64>(endless, [])?)).unwrap_err();
    assert_eq!(stopped.status(), StatusCode::SERVICE_UNAVAILABLE);
    store.release();
    assert_eq!(count(&store), 0);
}

#[test]
fn a_read_without_a_free_connection_waits_no_longer_than_the_limit() {
    let (_dir, store) = numbers();
    let holders: Vec<Store> =
        std::iter::repeat_with(|| store.for_another_thread()).take(store.readers.open_max()).collect();
    holders.iter().for_each(|holder| assert_eq!(count(holder), 0));
    let since = Instant::now();
    let refused = store.read(|_| Ok(())).unwrap_err();
    assert_eq!((refused.status(), refused.retry_after_seconds()), (StatusCode::SERVICE_UNAVAILABLE, Some(1)));
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    drop(holders);
    assert_eq!(count(&store), 0);
}

/// Otherwise threads that wait for the flush would keep the read connections that the next writer in the queue needs.
#[test]
fn a_thread_that_writes_has_released_its_read_connection() {
    let (_dir, store) = numbers();
    let others: Vec<Store> =
        std::iter::repeat_with(|| store.for_another_thread()).take(store.readers.open_max()).collect();
    assert_eq!(count(&store), 0);
    let written = store.write(Moment(0), |_| {
        // Takes every connection of the pool; each is kept until the last one was taken.
        let reading = others.into_iter().map(|other| {
            std::thread::spawn(move || {
                assert_eq!(count(&other), 0);
                other
            })
        });
        Ok(reading.map(|one| one.join().expect("a connection was free")).collect::<Vec<_>>())
    });
    assert_eq!(written.unwrap().len(), store.readers.open_max());
}

/// Checks that `tried` panics inside a write transaction, and that the store works afterwards.
#[cfg(debug_assertions)]
fn is_refused_in_a_write(tried: impl FnOnce(&Store)) {
    let (_dir, store) = numbers();
    let in_write = || {
        store.write(Moment(0), |_| {
            tried(&store);
            Ok(())
        })
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(in_write)).is_err());
    assert_eq!(count(&store), 0, "afterwards the thread reads");
    insert(&store, 1).unwrap();
}

#[test]
#[cfg(debug_assertions)]
fn slow_work_inside_a_write_panics_in_debug_builds() {
    is_refused_in_a_write(|store| assert_eq!(count(store), 0));
    is_refused_in_a_write(|store| assert!(insert(store, 1).is_ok()));
    is_refused_in_a_write(|_| super::engine::write_scope::forbid("a page"));
}

/// A read error of the disk.
fn failed_read() -> Failure {
    let code = rusqlite::ffi::SQLITE_IOERR_READ;
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None).into()
}

fn settled(store: &Store) -> Condition {
    let since = Instant::now();
    while store.writer().condition() == Condition::Suspect {
        assert!(since.elapsed() < Duration::from_secs(60), "nobody looked the file through");
        std::thread::yield_now();
    }
    store.writer().condition()
}

#[test]
fn a_read_that_failed_once_stops_writes_until_the_database_was_checked() {
    let (_dir, store) = numbers();
    assert!(store.read(|_| -> Result<(), Failure> { Err(failed_read()) }).is_err());
    assert_eq!(settled(&store), Condition::Healthy);
    insert(&store, 1).unwrap();
    assert!(store.write(Moment(0), |_| -> Result<(), Failure> { Err(failed_read()) }).is_err());
    assert_eq!(settled(&store), Condition::Healthy);
    insert(&store, 2).unwrap();
    assert_eq!(count(&store), 2);
}

#[test]
fn damage_that_a_second_check_confirms_stops_writes() {
    let (_dir, store) = numbers();
    let fill = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO numbers SELECT i FROM n";
    store.writer().exclusive(|conn| conn.execute_batch(fill)).unwrap();
    store.truncate_wal().unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(store.path()).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &[0x5a; 4096], 3 * 4096).unwrap();
    let sum = "SELECT sum(n) FROM numbers";
    let read = |store: &Store| store.read(|tx| Ok(tx.get::<i64>(sum, [])?));
    assert!(read(&store.for_another_thread()).is_err());
    assert_eq!(settled(&store), Condition::Damaged);
    assert_eq!(insert(&store, 0).unwrap_err().code(), "store_damaged");
}

#[test]
fn a_full_disk_refuses_writes_keeps_reads_and_recovers_by_itself() {
    let (_dir, store) = numbers();
    let pages =
        |limit: &str| store.writer().exclusive(|conn| conn.query_row(limit, [], |row| row.get::<_, i64>(0))).unwrap();
    let held = pages("PRAGMA page_count");
    pages(&format!("PRAGMA max_page_count = {held}"));
    let refused = (1..10_000).map(|n| insert(&store, n)).find_map(Result::err).expect("the file cannot grow");
    assert_eq!(refused.status(), StatusCode::INSUFFICIENT_STORAGE);
    let kept = count(&store);
    store.release();
    pages("PRAGMA max_page_count = 100000");
    insert(&store, 100_000).unwrap();
    assert_eq!(count(&store), kept + 1);
    assert!(!store.writer().is_stopped());
}

#[test]
fn an_idle_snapshot_hides_no_write_and_does_not_pin_the_wal() {
    let (_dir, store) = numbers();
    let other = store.for_another_thread();
    for n in 0..3 {
        assert_eq!((count(&store), count(&other)), (n, n));
        store.release();
        other.release();
        insert(&store, n).unwrap();
    }
    assert_eq!(count(&other), 3);
    other.release();
    let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy: i64 = store.writer().exclusive(|conn| conn.query_row(sql, [], |row| row.get(0))).unwrap();
    assert_eq!(busy, 0, "a snapshot was in the way");
}

#[test]
fn a_thread_that_panics_in_a_read_returns_its_connection() {
    let (_dir, store) = numbers();
    for _ in 0..100 {
        let other = store.for_another_thread();
        let faulty = std::thread::spawn(move || other.read(|_| -> Result<(), Failure> { panic!("a fault") }));
        assert!(faulty.join().is_err());
    }
    assert_eq!(count(&store), 0);
}

#[test]
fn a_read_after_an_acknowledged_write_sees_the_write() {
    const WRITES: i64 = 300;
    const TIME_MAX: Duration = Duration::from_secs(60);
    let (_dir, store) = numbers();
    let acknowledged = AtomicI64::new(0);
    let begun = Instant::now();
    let reads = |store: Store| {
        let mut known = 0;
        while known < WRITES {
            assert!(begun.elapsed() < TIME_MAX, "the writes ended early");
            known = acknowledged.load(Ordering::SeqCst);
            assert!(count(&store) >= known);
            store.release();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (another, reads) = (store.for_another_thread(), &reads);
            scope.spawn(move || reads(another));
        }
        for n in 1..=WRITES {
            insert(&store, n).unwrap();
            acknowledged.store(n, Ordering::SeqCst);
        }
    });
}

#[test]
fn a_denial_takes_back_what_was_written_before_it_and_leaves_the_writer_in_order() {
    let (_dir, store) = numbers();
    let change = |is_denied| {
        store.try_write(Moment(0), |tx| {
            tx.run("INSERT INTO numbers VALUES (?1)", [1])?;
            if is_denied { Err(Stop::Denied("full")) } else { Ok(()) }
        })
    };
    assert!(matches!(change(true), Err(Stop::Denied("full"))));
    assert_eq!((count(&store), store.writes()), (0, 0));
    assert!(matches!(change(false), Ok(())));
    assert!(matches!(change(true), Err(Stop::Failed(failure)) if failure.is(Failure::broken)), "1 is there already");
    assert_eq!((count(&store), store.writes()), (1, 1));
}

/// A handle whose writes return before they are on the disk.
fn deferring(store: &Store) -> Store {
    let mut deferring = store.for_another_thread();
    deferring.defer_waits();
    deferring
}

fn insert_deferred(store: &Store, n: i64) -> PendingWrite {
    insert(store, n).unwrap();
    store.take_pending().expect("it was not waited for")
}

#[test]
fn writes_that_defer_their_flush_share_it_and_are_invisible_before() {
    let (_dir, store) = numbers();
    let (deferring, commits) = (deferring(&store), || store.writer().commits.load(Ordering::Relaxed));
    let before = commits();
    let mut left: Vec<PendingWrite> = (1..=3).map(|n| insert_deferred(&deferring, n)).collect();
    assert_eq!((count(&store), commits() - before), (0, 0));
    store.release();
    left.iter_mut().for_each(|pending| deferring.wait(pending).unwrap());
    assert_eq!((count(&store), commits() - before), (3, 1));
    assert!(insert(&deferring, 3).is_err());
    assert!(deferring.take_pending().is_none(), "it failed, and has nothing to wait for");
}

#[test]
fn a_read_or_write_after_a_deferred_write_waits_for_its_flush() {
    let (_dir, store) = numbers();
    let deferring = deferring(&store);
    insert(&deferring, 1).unwrap();
    let seen = count(&deferring);
    let mut pending = insert_deferred(&deferring, 2);
    assert_eq!((seen, count(&store)), (1, 1));
    deferring.wait(&mut pending).unwrap();
    store.release();
    assert_eq!(count(&store), 2);
}

#[test]
fn a_deferred_flush_that_fails_is_reported_to_all_who_deferred_it() {
    let (_dir, store) = numbers();
    let deferring = deferring(&store);
    let (mut first, mut second) = (insert_deferred(&deferring, 1), insert_deferred(&deferring, 2));
    store.mark_damaged(&"test");
    let refused = insert(&store, 3);
    assert!(refused.is_err() && deferring.wait(&mut first).is_err() && deferring.wait(&mut second).is_err());
    assert_eq!(count(&store), 0);
}

#[test]
fn an_operation_whose_deferred_write_failed_gets_no_further() {
    let (_dir, store) = numbers();
    let deferring = deferring(&store);
    insert(&deferring, 1).unwrap();
    store.mark_damaged(&"test");
    assert!(insert(&store, 2).is_err());
    let read = |store: &Store| store.read(|tx| Ok(tx.get::<i64>("SELECT count(*) FROM numbers", [])?));
    assert!(read(&deferring).is_err() && read(&deferring).is_err() && insert(&deferring, 3).is_err());
    assert_eq!(read(&store).unwrap(), 0, "others read on");
}
