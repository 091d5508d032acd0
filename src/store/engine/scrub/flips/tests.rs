//! Tests of the correction of flipped bits.

use super::super::tests::{ROWS, bits, content, flip, insert, is_right, open, pass, raw, site};
use super::super::{Step, data_dir, page_checksums};
use super::{PAGE_BYTES, correct_served};
use crate::store::Store;
use crate::store::engine::{alarm, integrity};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

#[test]
fn a_flipped_bit_in_a_stopped_sites_database_is_refused_or_corrected_and_never_served() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    let file = raw(&path);
    let whole = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for bit in bits(&file, 60) {
        flip(&file, bit);
        // The start reads the first page and the schema.
        if let Err(said) = integrity::recover(&path) {
            assert!(said.contains("tunneldesk restore"), "bit {bit}: {said}");
            refused += 1;
            flip(&file, bit);
            continue;
        }
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
    assert!(refused < 30, "{refused} of 60 were refused");
}

#[test]
fn a_bit_that_flips_under_a_running_server_is_corrected_and_never_served() {
    let (dir, data_dir) = site();
    let (database, wal) = (raw(data_dir.database()), raw(data_dir::wal_of(&data_dir.database())));
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
        let is_corrected = correct_served(&store);
        assert!(!is_corrected && content(&file) == spoilt, "{bits:?}");
        bits.iter().for_each(|bit| flip(&file, page * 8 + bit));
        assert_eq!(pass(&store), Step::Passed);
    }
    assert_eq!(alarm::find(dir.path(), alarm::Kind::Corrected), None);
}

#[test]
fn bits_that_flip_in_several_pages_after_a_kill_are_damage_by_the_disk() {
    let (dir, data_dir) = site();
    let path = data_dir.database();
    integrity::recover(&path).unwrap();
    let file = raw(&path);
    let whole = content(&file);
    let pages = file.metadata().unwrap().len() / PAGE_BYTES as u64;
    // In the rows, which lie behind the schema and what a start reads.
    [pages - 5, pages - 3].iter().for_each(|page| flip(&file, page * PAGE_BYTES as u64 * 8 + 9_999));
    assert!(!page_checksums::is_dated(&path), "as after a kill");
    assert!(data_dir::wal_of(&path).exists());
    integrity::recover(&path).unwrap();
    assert_eq!(alarm::find(dir.path(), alarm::Kind::Changed), None);
    let store = open(&data_dir);
    while matches!(pass(&store), Step::Bad(_)) {
        assert!(correct_served(&store));
    }
    assert!(content(&file) == whole);
}
