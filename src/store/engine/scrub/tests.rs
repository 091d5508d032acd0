//! Tests of the scrub: damage is reported, and changes by other programs are accepted.

use super::super::repair::{self, Finding};
use super::super::{alarm, data_dir::DataDir, integrity, migrate};
use super::*;
use crate::moment::Moment;
use crate::store::Condition;
use std::fs::File;
use std::os::unix::fs::FileExt;

pub(super) const ROWS: i64 = 500;

fn word(n: i64) -> String {
    format!("{n:->100}")
}

/// A site's database with some pages of rows, all of which are in the database file.
pub(super) fn site() -> (tempfile::TempDir, DataDir) {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    migrate::create(&data_dir).unwrap();
    let store = open(&data_dir);
    let table = "CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT NOT NULL, size INTEGER NOT NULL) STRICT;
                 CREATE INDEX by_word ON words (word)";
    store.writer().exclusive(|conn| conn.execute_batch(table)).unwrap();
    insert(&store, 0, ROWS);
    store.truncate_wal().unwrap();
    (dir, data_dir)
}

pub(super) fn open(data_dir: &DataDir) -> Store {
    Store::open(&data_dir.database()).unwrap()
}

pub(super) fn insert(store: &Store, from: i64, to: i64) {
    let sql = "INSERT INTO words VALUES (?1, ?2, 1)";
    store
        .write(Moment(0), |tx| (from..to).try_for_each(|n| tx.run(sql, (n, word(n))).map(|_| ())).map_err(Into::into))
        .unwrap();
}

/// Whether every row has the value that was written. The error: the rows could not be read.
pub(super) fn is_right(store: &Store) -> Result<bool, String> {
    let rows = store.read(|tx| Ok(tx.list::<(i64, String)>("SELECT n, word FROM words", [])?));
    store.release();
    let rows = rows.map_err(|e| e.to_string())?;
    Ok(rows.len() as i64 >= ROWS && rows.iter().all(|(n, found)| *found == word(*n)))
}

pub(super) fn pass(store: &Store) -> Step {
    Scrub::of(store).unwrap().step(usize::MAX)
}

pub(super) fn flip(file: &File, bit: u64) {
    let mut byte = [0];
    file.read_exact_at(&mut byte, bit / 8).unwrap();
    file.write_all_at(&[byte[0] ^ 1 << (bit % 8)], bit / 8).unwrap();
}

/// A file for direct writes. Keep it open for the whole test: closing it drops the locks that SQLite has on the file
/// in this process.
pub(super) fn raw(path: impl AsRef<Path>) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

pub(super) fn content(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// The offsets of `count` bits, spread over the file from its first bit on.
pub(super) fn bits(file: &File, count: u64) -> impl Iterator<Item = u64> + use<> {
    let all = file.metadata().unwrap().len() * 8;
    (0..count).map(move |nth| all / count * nth + nth % 8)
}

#[test]
fn a_damaged_page_of_the_wal_does_not_get_into_the_database() {
    let (_dir, data_dir) = site();
    let wal = raw(data_dir::wal_of(&data_dir.database()));
    let store = open(&data_dir);
    insert(&store, ROWS, ROWS + 200);
    let before = std::fs::read(data_dir.database()).unwrap();
    // Two bits, because one is corrected.
    [0, 7].iter().for_each(|bit| flip(&wal, (wal.metadata().unwrap().len() - 2_000) * 8 + bit));
    assert!(store.truncate_wal().is_err());
    assert_ne!(store.writer().condition(), Condition::Healthy);
    let after = std::fs::read(data_dir.database()).unwrap();
    let grown = after.len() - before.len();
    assert!(grown < 200 * 1_000, "{grown} bytes more");
    assert_ne!(is_right(&open(&data_dir)), Ok(false));
}

#[test]
fn changes_by_another_program_while_the_site_was_stopped_are_accepted_and_reported() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    let settled = || {
        integrity::recover(&path).unwrap();
        alarm::find(dir.path(), alarm::Kind::Changed).map(|alarm| alarm.cause)
    };
    assert_eq!(settled(), None);
    Connection::open(&path).unwrap().execute_batch("SELECT count(*) FROM words").unwrap();
    assert_eq!(settled(), None, "another program only read it");
    Connection::open(&path).unwrap().execute_batch("UPDATE words SET size = 77777 WHERE n = 9").unwrap();
    assert_eq!(settled(), None, "it is nobody's but its owner's business");
    assert_eq!(pass(&open(&data_dir)), Step::Passed);
    // A single bit, as a disk might flip: the missing WAL file shows that another program wrote it.
    let other = Connection::open(&path).unwrap();
    other.execute_batch("UPDATE words SET size = 0 WHERE n = 7").unwrap();
    drop(other);
    assert!(!data_dir::wal_of(&path).exists());
    assert!(settled().is_some_and(|cause| cause.contains("not what this program wrote")));
    let store = open(&data_dir);
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
    drop(store);
    alarm::clear(dir.path(), alarm::Kind::Changed);
    assert_eq!(settled(), None, "it is told once");
    // The database of another site is put in this one's place by hand.
    let (_other_dir, other) = site();
    let store = open(&other);
    insert(&store, ROWS, 2 * ROWS);
    store.truncate_wal().unwrap();
    drop(store);
    std::fs::copy(other.database(), &path).unwrap();
    assert!(settled().is_some());
    assert_eq!(is_right(&open(&data_dir)), Ok(true));
}

#[test]
fn a_checkpoint_by_another_program_is_no_change() {
    let (dir, data_dir) = site();
    let store = open(&data_dir);
    insert(&store, ROWS, ROWS + 200);
    drop(store);
    assert!(!quick_check::wal_is_empty(&data_dir.database()));
    Connection::open(data_dir.database()).unwrap().execute_batch("SELECT count(*) FROM words").unwrap();
    assert!(!data_dir::wal_of(&data_dir.database()).exists());
    integrity::recover(&data_dir.database()).unwrap();
    let standing = |kind| alarm::find(dir.path(), kind);
    assert_eq!([standing(alarm::Kind::Changed), standing(alarm::Kind::LostLog)], [None, None]);
    let store = open(&data_dir);
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
}

#[test]
fn another_program_may_write_while_the_site_is_served() {
    let (_dir, data_dir) = site();
    let store = open(&data_dir);
    insert(&store, ROWS, ROWS + 20);
    let other = Connection::open(data_dir.database()).unwrap();
    for n in 0..30 {
        other.execute("UPDATE words SET size = size + 1 WHERE n = ?1", [n]).unwrap();
        insert(&store, ROWS + 20 + n, ROWS + 21 + n);
        assert_eq!(is_right(&store), Ok(true));
        if n == 20 {
            store.truncate_wal().unwrap();
        }
    }
    drop(other);
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
    store.truncate_wal().unwrap();
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
}

#[test]
fn a_damaged_index_page_is_rebuilt_and_a_damaged_row_page_is_damage() {
    let (_dir, data_dir) = site();
    let database = raw(data_dir.database());
    let store = open(&data_dir);
    let pages_of = |name: &str| -> Vec<u64> {
        let sql = "SELECT pageno FROM dbstat WHERE name = ?1 ORDER BY pageno";
        let pages = store.read(|tx| Ok(tx.list_with(sql, [name], |row| row.get::<_, u32>(0).map(u64::from))?)).unwrap();
        store.release();
        assert!(pages.len() > 3, "{pages:?}");
        pages
    };
    for nth in [0, 2] {
        flip(&database, (pages_of("by_word")[nth] - 1) * 4096 * 8 + 2_222 * 8 + 3);
        assert!(matches!(pass(&store), Step::Bad(_)));
        let found = repair::find_damage(&store).unwrap();
        let Finding::Indexes(names, line) = found else { panic!("it is an index alone: {found:?}") };
        assert!(names.len() == 1 && names.contains("by_word"), "{names:?} {line}");
        repair::rebuild_indexes(&store, &names).unwrap();
        assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
    }
    flip(&database, (pages_of("words")[2] - 1) * 4096 * 8 + 4_000 * 8);
    assert!(matches!(repair::find_damage(&store).unwrap(), Finding::Damaged(_)));
}

/// The files of a site, as a copy of its directory has them.
fn copy_site(from: &DataDir, to: &DataDir) {
    let files = [from.database(), data_dir::wal_of(&from.database())];
    for (file, other) in files.iter().zip([to.database(), data_dir::wal_of(&to.database())]) {
        std::fs::copy(file, other).unwrap();
    }
}

#[test]
fn a_copy_that_replaces_the_site_is_reported_and_served_and_with_its_wal_it_is_refused_with_what_to_do() {
    for has_log in [true, false] {
        let (copies, copy) = site();
        let (dir, data_dir) = site();
        let store = open(&data_dir);
        insert(&store, ROWS, ROWS + 100);
        if !has_log {
            store.truncate_wal().unwrap();
        }
        copy_site(&data_dir, &copy);
        // Changes nearly every page of rows.
        store.write(Moment(0), |tx| Ok(tx.run("UPDATE words SET size = n", []).map(drop)?)).unwrap();
        store.truncate_wal().unwrap();
        insert(&store, ROWS + 100, ROWS + 200);
        drop(store);
        assert_eq!(quick_check::wal_is_empty(&copy.database()), !has_log);
        copy_site(&copy, &data_dir);
        let recovered = integrity::recover(&data_dir.database());
        if has_log {
            let sums = data_dir::page_checksums_of(&data_dir.database());
            let said = recovered.unwrap_err();
            assert!(said.contains(&format!("remove {}", sums.display())) && !said.contains('\n'), "{said}");
            std::fs::remove_file(sums).unwrap();
            integrity::recover(&data_dir.database()).unwrap();
        } else {
            recovered.unwrap();
            let told = alarm::find(dir.path(), alarm::Kind::Changed).expect("it is told");
            assert!(told.cause.contains("not what this program wrote"), "{}", told.cause);
        }
        let store = open(&data_dir);
        assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
        let rows = store.read(|tx| Ok(tx.list::<i64>("SELECT size FROM words", [])?)).unwrap();
        assert_eq!(rows, [1; ROWS as usize + 100], "the rows of the copy, log {has_log}");
        store.release();
        drop(store);
        alarm::clear(dir.path(), alarm::Kind::Changed);
        integrity::recover(&data_dir.database()).unwrap();
        assert_eq!(alarm::find(dir.path(), alarm::Kind::Changed), None, "it is told once");
        drop(copies);
    }
}

#[test]
fn a_copy_with_the_modification_time_of_the_checksums_is_still_noticed() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    integrity::recover(&path).unwrap();
    assert!(page_checksums::is_dated(&path), "whoever closed it last dated it");
    Connection::open(&path).unwrap().execute_batch("UPDATE words SET size = 3 WHERE n = 9").unwrap();
    assert!(!page_checksums::is_dated(&path), "another program wrote to it");
    integrity::recover(&path).unwrap();
    assert!(page_checksums::is_dated(&path));
    assert_eq!(alarm::find(dir.path(), alarm::Kind::Changed), None);
}

#[test]
fn an_index_that_names_a_page_of_rows_as_its_own_loses_no_row() {
    let (_dir, data_dir) = site();
    let database = raw(data_dir.database());
    let store = open(&data_dir);
    let roots = store
        .read(|tx| {
            let page = |name: &str, kind: &str| {
                let sql = "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = ?2 ORDER BY pageno DESC";
                tx.list_with(sql, [name, kind], |row| row.get::<_, u32>(0)).map(|pages| pages[0])
            };
            Ok((page("by_word", "internal")?, page("words", "leaf")?))
        })
        .unwrap();
    store.release();
    let (index, rows) = roots;
    // The right-most child in the head of an inner page.
    database.write_all_at(&rows.to_be_bytes(), u64::from(index - 1) * PAGE_BYTES as u64 + 8).unwrap();
    assert!(matches!(pass(&store), Step::Bad(_)));
    if let Finding::Indexes(names, _) = repair::find_damage(&store).unwrap() {
        let said = repair::rebuild_indexes(&store, &names).unwrap_err();
        assert!(said.contains("be built anew"), "nothing of it may be committed: {said}");
    }
    assert!(matches!(repair::find_damage(&store).unwrap(), Finding::Indexes(..) | Finding::Damaged(_)));
    assert_eq!(is_right(&store), Ok(true));
}

#[test]
fn while_an_index_is_rebuilt_other_threads_reject_its_bad_pages() {
    let (_dir, data_dir) = site();
    let database = raw(data_dir.database());
    let store = open(&data_dir);
    flip(&database, database.metadata().unwrap().len() * 8 - 4_444);
    assert!(matches!(pass(&store), Step::Bad(_)));
    page_checksums::accepting_bad(|| {
        assert_eq!(pass(&store), Step::Passed, "this thread does");
        let another = open(&data_dir);
        let told = std::thread::spawn(move || matches!(pass(&another), Step::Bad(_))).join().unwrap();
        assert!(told, "and no other");
    });
    assert!(matches!(pass(&store), Step::Bad(_)));
    assert!(std::panic::catch_unwind(|| page_checksums::accepting_bad(|| -> () { panic!("half way") })).is_err());
    assert!(matches!(pass(&store), Step::Bad(_)), "a panic ends it");
}
