//! Tests of the group commit: each caller gets the outcome of its change and of the flush that the group shares.

use super::*;
use std::time::Duration;

fn numbers() -> (tempfile::TempDir, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("numbers");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT").unwrap();
    (dir, Writer::new(conn, true, Arc::new(Readers::of(&path)), Condition::Healthy))
}

fn write<T>(writer: &Writer, change: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
    writer
        .write(0, CommitMode::Grouped, |conn| change(conn), || ())
        .and_then(|(value, group)| writer.wait(&group).map(|()| value))
}

fn insert(writer: &Writer, n: i64) -> Result<(), Failure> {
    write(writer, |conn| Ok(conn.execute("INSERT INTO numbers VALUES (?1)", [n]).map(|_| ())?))
}

fn rows(writer: &Writer) -> Vec<i64> {
    writer.exclusive(|conn| {
        let mut statement = conn.prepare("SELECT n FROM numbers ORDER BY n").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    })
}

#[test]
fn one_flush_serves_the_whole_queue_and_a_failing_change_fails_alone() {
    let (_dir, writer) = numbers();
    insert(&writer, 0).unwrap();
    let before = writer.commits.load(Ordering::Relaxed);
    let outcomes: Vec<bool> = std::thread::scope(|scope| {
        // While the first caller has the connection, nine more queue for it; number 5 conflicts with the row 0.
        let first = scope.spawn(|| {
            write(&writer, |conn| {
                while writer.waiting() < 9 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(conn.execute("INSERT INTO numbers VALUES (100)", []).map(|_| ())?)
            })
        });
        while writer.state.try_lock().is_ok() {
            std::thread::yield_now();
        }
        let others: Vec<_> = (1..=9)
            .map(|n| {
                scope.spawn({
                    let writer = &writer;
                    move || insert(writer, if n == 5 { 0 } else { n })
                })
            })
            .collect();
        assert!(first.join().unwrap().is_ok());
        others.into_iter().map(|other| other.join().unwrap().is_ok()).collect()
    });
    assert_eq!(outcomes.iter().filter(|ok| **ok).count(), 8);
    assert!(!outcomes[4]);
    assert_eq!(rows(&writer), [0, 1, 2, 3, 4, 6, 7, 8, 9, 100]);
    assert_eq!(writer.commits.load(Ordering::Relaxed) - before, 1);
}

#[test]
fn a_deferred_flush_fails_at_once_where_the_next_writer_is_refused() {
    const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
    let (_dir, writer) = numbers();
    let writer = Arc::new(writer);
    let (tell, told) = std::sync::mpsc::channel();
    let (first, telling) = (writer.clone(), tell.clone());
    std::thread::spawn(move || {
        let outcome = write(&first, |conn| {
            while first.waiting() == 0 {
                std::thread::yield_now();
            }
            // A read finds a damaged page while this caller leaves its flush to the next in the queue.
            first.monitor.mark_damaged(&"test");
            Ok(conn.execute("INSERT INTO numbers VALUES (1)", []).map(|_| ())?)
        });
        telling.send(outcome.is_err())
    });
    while writer.state.try_lock().is_ok() {
        std::thread::yield_now();
    }
    let second = writer.clone();
    std::thread::spawn(move || tell.send(insert(&second, 2).is_err()));
    for _ in 0..2 {
        assert!(told.recv_timeout(ANSWER_TIME_MAX).expect("everybody is answered"), "it was told as done");
    }
    assert_eq!(rows(&writer), [0; 0]);
}

#[test]
fn a_panic_rolls_back_its_own_work_only() {
    let (_dir, writer) = numbers();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        write(&writer, |conn| -> Result<(), Failure> {
            conn.execute("INSERT INTO numbers VALUES (1)", [])?;
            panic!("half way")
        })
    }));
    assert!(panicked.is_err());
    insert(&writer, 2).unwrap();
    assert_eq!(rows(&writer), [2]);
}

#[test]
fn a_transaction_that_sqlite_rolled_back_fails_its_group_and_the_next_one_works() {
    let (_dir, writer) = numbers();
    let lost = write(&writer, |conn| {
        conn.execute("INSERT INTO numbers VALUES (1)", [])?;
        Ok(conn.execute_batch("ROLLBACK")?)
    });
    assert!(lost.is_err());
    insert(&writer, 2).unwrap();
    assert_eq!(rows(&writer), [2]);
}

#[test]
fn a_change_of_many_rows_begins_a_group_and_fails_alone() {
    let (_dir, writer) = numbers();
    let many = |numbers: [i64; 2]| {
        let insert = |conn: &WithStatements| {
            numbers
                .into_iter()
                .try_for_each(|n| Ok(conn.execute("INSERT INTO numbers VALUES (?1)", [n]).map(|_| ())?))
        };
        let written = writer.write(0, CommitMode::StartsGroup, insert, || ());
        written.and_then(|((), group)| writer.wait(&group))
    };
    let left =
        writer.write(0, CommitMode::Deferred, |conn| Ok(conn.execute("INSERT INTO numbers VALUES (1)", [])?), || ());
    let (_, left) = left.unwrap();
    assert!(many([2, 1]).is_err(), "1 is there already");
    assert_eq!(rows(&writer), [1], "nothing of it is left, and all that others wrote before");
    writer.flush(&left).unwrap();
    let fault = catch_unwind(AssertUnwindSafe(|| {
        writer.write(0, CommitMode::StartsGroup, |_| -> Result<(), _> { panic!() }, || ())
    }));
    assert!(fault.is_err());
    many([3, 4]).unwrap();
    assert_eq!(rows(&writer), [1, 3, 4]);
}

#[test]
fn while_a_commit_waits_for_the_disk_other_writers_are_refused_and_wait_for_nothing() {
    let (_dir, writer) = numbers();
    // The commit has the connection for as long as the disk does not answer.
    let state = writer.lock_state();
    writer.note_commit(Instant::now().checked_sub(DISK_WAIT_MAX + Duration::from_millis(1)));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| insert(&writer, 1));
        let since = Instant::now();
        while !other.is_finished() && since.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_refused = other.is_finished();
        drop(state);
        assert!(is_refused && other.join().unwrap().is_err());
    });
    writer.note_commit(None);
    insert(&writer, 2).unwrap();
    assert_eq!(rows(&writer), [2]);
}
