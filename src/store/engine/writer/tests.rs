//! Tests of the group commit: each caller gets the outcome of its change and of the flush that the group shares.

use super::*;
use crate::http::failure::DiskFault;
use crate::moment::Moment;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

fn numbers() -> (tempfile::TempDir, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("numbers");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT").unwrap();
    (dir, Writer::new(conn, Arc::new(Readers::of(&path)), Condition::Healthy, Watched::default()))
}

fn write<T>(writer: &Writer, change: impl FnOnce(&Connection) -> Result<T, Failure>) -> Result<T, Failure> {
    written(writer, Terms::default(), |conn| change(conn))
}

fn written<T>(
    writer: &Writer,
    terms: Terms,
    change: impl FnOnce(&WithStatements) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let change = |conn: &WithStatements| change(conn).map_err(Stop::<Infallible>::Failed);
    let written = writer.write(Moment(0), terms, change, || ());
    let (value, mut pending) = written.map_err(|Stop::Failed(failure)| failure)?;
    writer.wait(&mut pending).map(|()| value)
}

fn insert(writer: &Writer, n: i64) -> Result<(), Failure> {
    write(writer, |conn| Ok(conn.execute("INSERT INTO numbers VALUES (?1)", [n]).map(|_| ())?))
}

fn insert_deferred(writer: &Writer, n: i64) -> PendingWrite {
    let terms = Terms { alone: false, defers: true };
    let insert = |conn: &WithStatements| Ok(conn.execute("INSERT INTO numbers VALUES (?1)", [n]).map(drop)?);
    writer.write::<_, Infallible>(Moment(0), terms, insert, || ()).unwrap().1
}

/// The rows that another connection sees: those that are committed.
fn committed(dir: &tempfile::TempDir) -> Vec<i64> {
    let conn = Connection::open(dir.path().join("numbers")).unwrap();
    let mut statement = conn.prepare("SELECT n FROM numbers ORDER BY n").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
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
        while writer.turns.state.try_lock().is_ok() {
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
    while writer.turns.state.try_lock().is_ok() {
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
    const ALONE: Terms = Terms { alone: true, defers: false };
    let many = |numbers: [i64; 2]| {
        written(&writer, ALONE, |conn| {
            numbers
                .into_iter()
                .try_for_each(|n| Ok(conn.execute("INSERT INTO numbers VALUES (?1)", [n]).map(|_| ())?))
        })
    };
    let mut left = insert_deferred(&writer, 1);
    assert!(many([2, 1]).is_err(), "1 is there already");
    assert_eq!(rows(&writer), [1], "nothing of it is left, and all that others wrote before");
    writer.wait(&mut left).unwrap();
    let fault = catch_unwind(AssertUnwindSafe(|| written(&writer, ALONE, |_| -> Result<(), _> { panic!() })));
    assert!(fault.is_err());
    many([3, 4]).unwrap();
    assert_eq!(rows(&writer), [1, 3, 4]);
}

#[test]
fn while_a_commit_waits_for_the_disk_other_writers_are_refused_and_wait_for_nothing() {
    let (_dir, writer) = numbers();
    // The commit has the connection for as long as the disk does not answer.
    let turn = writer.turns.turn();
    writer.under_way.note(Instant::now().checked_sub(DISK_WAIT_MAX + Duration::from_millis(1)));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| insert(&writer, 1));
        let since = Instant::now();
        while !other.is_finished() && since.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_refused = other.is_finished();
        drop(turn);
        assert!(is_refused && other.join().unwrap().is_err());
    });
    writer.under_way.note(None);
    insert(&writer, 2).unwrap();
    assert_eq!(rows(&writer), [2]);
}

#[test]
fn a_deferred_change_is_committed_once_somebody_waits_or_nobody_ever_will() {
    let (dir, writer) = numbers();
    let (mut first, second) = (insert_deferred(&writer, 1), insert_deferred(&writer, 2));
    assert_eq!(committed(&dir), [0; 0], "nobody waits yet");
    writer.wait(&mut first).unwrap();
    assert_eq!(committed(&dir), [1, 2]);
    drop((second, insert_deferred(&writer, 3)));
    assert_eq!(committed(&dir), [1, 2, 3], "whoever leaves without waiting leaves no open group");
    let left = insert_deferred(&writer, 4);
    insert(&writer, 5).unwrap();
    assert_eq!(committed(&dir), [1, 2, 3, 4, 5], "a caller that waits waits for nobody who defers");
    drop(left);
}

#[test]
fn a_change_that_defers_in_a_group_that_somebody_waits_for_holds_nobody_up() {
    let (dir, writer) = numbers();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            write(&writer, |conn| {
                while writer.waiting() == 0 {
                    std::thread::yield_now();
                }
                Ok(conn.execute("INSERT INTO numbers VALUES (1)", []).map(drop)?)
            })
        });
        while writer.turns.state.try_lock().is_ok() {
            std::thread::yield_now();
        }
        let deferred = insert_deferred(&writer, 2);
        assert_eq!(committed(&dir), [1, 2]);
        waiting.join().unwrap().unwrap();
        drop(deferred);
    });
}

#[test]
fn a_change_that_cannot_be_undone_alone_fails_its_group() {
    let (_dir, writer) = numbers();
    let mut before = insert_deferred(&writer, 1);
    let failed = write(&writer, |conn| -> Result<(), Failure> {
        // Without its savepoint the change cannot be told from those before it.
        conn.execute_batch("INSERT INTO numbers VALUES (2); RELEASE one")?;
        Err(Failure::not_found())
    });
    assert_eq!(failed.unwrap_err().code(), "not_found");
    assert!(writer.wait(&mut before).is_err(), "it was told as done");
    assert_eq!(rows(&writer), [0; 0]);
    insert(&writer, 3).unwrap();
    assert_eq!(rows(&writer), [3]);
}

#[test]
fn a_group_is_not_committed_where_the_file_takes_no_writes_any_more() {
    let (dir, writer) = numbers();
    let mut left = insert_deferred(&writer, 1);
    writer.monitor.mark_replaced(&"test");
    assert_eq!(writer.wait(&mut left).unwrap_err().code(), "replaced");
    assert_eq!(committed(&dir), [0; 0]);
}

#[test]
fn a_transaction_that_exclusive_work_left_open_is_rolled_back() {
    let (dir, writer) = numbers();
    writer.exclusive(|conn| conn.execute_batch("BEGIN; INSERT INTO numbers VALUES (1)")).unwrap();
    let fault = catch_unwind(AssertUnwindSafe(|| writer.exclusive(|_| panic!("a fault"))));
    assert!(fault.is_err());
    insert(&writer, 2).unwrap();
    assert_eq!(committed(&dir), [2]);
}

#[test]
fn a_full_disk_that_rolled_back_the_transaction_is_told_to_all_of_the_group() {
    let (_dir, writer) = numbers();
    let mut before = insert_deferred(&writer, 1);
    let refused = write(&writer, |conn| -> Result<(), Failure> {
        conn.execute_batch("ROLLBACK")?;
        writer.monitor.note_fault(Some(DiskFault::Full), &"test");
        Err(Failure::disk_full())
    });
    assert_eq!(refused.unwrap_err().code(), "disk_full");
    assert_eq!(writer.wait(&mut before).unwrap_err().code(), "disk_full");
}
