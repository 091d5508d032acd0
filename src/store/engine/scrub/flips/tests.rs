//! Tests of the correction of flipped bits.

use super::super::tests::{ROWS, bits, content, flip, insert, is_right, open, pass, raw, site};
use super::super::{Step, page_checksums, wal_mark, wal_match};
use super::{PAGE_BYTES, correct_closed, correct_served};
use crate::store::Store;
use crate::store::engine::{alarm, data_dir::DataDir, integrity};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

#[test]
fn a_flipped_bit_in_a_stopped_sites_database_is_corrected_and_never_served() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    let file = raw(&path);
    let whole = std::fs::read(&path).unwrap();
    for bit in bits(&file, 60) {
        flip(&file, bit);
        integrity::recover(&path).unwrap_or_else(|refused| panic!("bit {bit}: {refused}"));
        let store = open(&data_dir);
        let wrong = (pass(&store), is_right(&store)) == (Step::Passed, Ok(false));
        correct_served(&store);
        assert!(!wrong && std::fs::read(&path).unwrap() == whole, "bit {bit}: served {wrong}");
        assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)), "bit {bit}");
        assert_eq!(alarm::find(dir.path(), alarm::Kind::Changed), None, "bit {bit}");
        // Another thread that read the page may have corrected it.
        let since = Instant::now();
        while !alarm::clear(dir.path(), alarm::Kind::Corrected) {
            assert!(since.elapsed() < Duration::from_secs(60), "bit {bit} is not told of");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_bit_that_flips_under_a_running_server_is_corrected_and_never_served() {
    let (dir, data_dir) = site();
    let (database, wal) = (raw(data_dir.database()), raw(wal_match::wal_of(&data_dir.database())));
    let store = open(&data_dir);
    insert(&store, ROWS, ROWS + 200);
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
    for file in [&database, &wal] {
        let mut told = 0;
        let whole = content(file);
        for bit in bits(file, 40) {
            flip(file, bit);
            let found = pass(&store);
            let fresh = Store::open(&data_dir.database());
            assert!(!fresh.is_ok_and(|fresh| is_right(&fresh) == Ok(false)), "bit {bit}");
            correct_served(&store);
            match content(file) == whole {
                true => told += 1,
                false => assert!(found == Step::Passed, "bit {bit} was found and not corrected"),
            }
            file.write_all_at(&whole, 0).unwrap();
        }
        // The frame headers of the WAL are read only by the next start, which reads them all.
        assert!(told >= 38, "{told} of 40");
        assert!(alarm::find(dir.path(), alarm::Kind::Corrected).is_some());
    }
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
}

#[test]
fn two_bits_of_a_page_or_other_damage_are_not_taken_for_one_bit() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    let file = raw(&path);
    let store = open(&data_dir);
    let page = file.metadata().unwrap().len() / 2 / PAGE_BYTES as u64 * PAGE_BYTES as u64;
    for bits in [[70, 71], [9_000, 20_000], [1, 32_767], [800, 808]] {
        bits.iter().for_each(|bit| flip(&file, page * 8 + bit));
        let spoilt = content(&file);
        assert!(matches!(pass(&store), Step::Bad(_)), "{bits:?}");
        let is_corrected = correct_served(&store) || correct_closed(&path).unwrap();
        assert!(!is_corrected && content(&file) == spoilt, "{bits:?}");
        bits.iter().for_each(|bit| flip(&file, page * 8 + bit));
        assert_eq!(pass(&store), Step::Passed);
    }
    assert_eq!(alarm::find(dir.path(), alarm::Kind::Corrected), None);
}

/// The files of a served site as a kill leaves them.
fn killed(data_dir: &DataDir) -> (tempfile::TempDir, DataDir) {
    let dir = tempfile::tempdir().unwrap();
    let files = std::fs::read_dir(data_dir.dir()).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| file.is_file() && !file.ends_with("tunneldesk.sqlite-shm")) {
        std::fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
    }
    let data_dir = DataDir::lock(dir.path()).unwrap();
    (dir, data_dir)
}

#[test]
fn a_bit_that_flipped_beside_the_log_of_a_kill_is_corrected_and_pages_of_the_log_are_none_of_it() {
    let (_site, data_dir) = site();
    let store = open(&data_dir);
    store.write(0, |tx| Ok(tx.run("UPDATE words SET size = 2 WHERE n < 9", []).map(drop)?)).unwrap();
    let (dir, data_dir) = killed(&data_dir);
    let (path, wal) = (data_dir.database(), wal_match::wal_of(&data_dir.database()));
    let (file, log) = (raw(&path), std::fs::read(&wal).unwrap());
    let in_wal = wal_mark::pages_in_wal(&path);
    let page = (0..).find(|page| !in_wal.contains(page) && *page > 9).unwrap();
    let whole = content(&file);
    flip(&file, (page * PAGE_BYTES * 8 + 30_000) as u64);
    let spoilt = content(&file);
    // Without the log the checksums may be older than the pages.
    std::fs::write(&wal, []).unwrap();
    assert!(!correct_closed(&path).unwrap() && content(&file) == spoilt);
    std::fs::write(&wal, &log).unwrap();
    let older = *in_wal.last().unwrap();
    flip(&file, (older * PAGE_BYTES * 8 + 30_000) as u64);
    assert!(correct_closed(&path).unwrap());
    flip(&file, (older * PAGE_BYTES * 8 + 30_000) as u64);
    assert!(content(&file) == whole, "a page of the log is as it was");
    flip(&file, (page * PAGE_BYTES * 8 + 30_000) as u64);
    integrity::recover(&path).unwrap();
    assert!(alarm::find(dir.path(), alarm::Kind::Corrected).is_some());
    let store = open(&data_dir);
    assert_eq!((pass(&store), is_right(&store)), (Step::Passed, Ok(true)));
}

#[test]
fn bits_that_flip_in_several_pages_after_a_kill_are_damage_by_the_disk() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    integrity::recover(&path).unwrap();
    let file = raw(&path);
    let whole = content(&file);
    let pages = file.metadata().unwrap().len() / PAGE_BYTES as u64;
    [pages / 3, pages / 2].iter().for_each(|page| flip(&file, page * PAGE_BYTES as u64 * 8 + 9_999));
    assert!(!page_checksums::is_dated(&path), "as after a kill");
    assert!(wal_match::wal_of(&path).exists());
    integrity::recover(&path).unwrap();
    assert_eq!(alarm::find(dir.path(), alarm::Kind::Changed), None);
    let store = open(&data_dir);
    while matches!(pass(&store), Step::Bad(_)) {
        assert!(correct_served(&store));
    }
    assert!(content(&file) == whole);
}
