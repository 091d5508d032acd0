//! Tests that page checksums are saved, are never older than their pages, and tell a bad page from a good one.

use super::*;

fn page(byte: u8) -> Vec<u8> {
    vec![byte; PAGE_BYTES]
}

#[test]
fn checksums_are_saved_and_a_damaged_entry_counts_as_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("numbers");
    let checksums = PageChecksums::load(&database, 0);
    for index in 0..1_000 {
        checksums.note(Part::Database, index, Some(&page(index as u8)));
    }
    checksums.cut(Part::Database, 700);
    checksums.save().unwrap();
    let path = data_dir::page_checksums_of(&database);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 700 * ENTRY_BYTES as u64);
    let checksums = PageChecksums::load(&database, 700);
    assert!(
        checksums.agrees(Part::Database, 600, &page(600_u16 as u8)) && !checksums.agrees(Part::Database, 600, &page(1))
    );
    let whole = std::fs::read(&path).unwrap();
    for bit in 0..ENTRY_BYTES * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, flipped).unwrap();
        let checksums = PageChecksums::load(&database, 700);
        assert_eq!(checksums.known(Part::Database, 0), None, "bit {bit}");
        assert!(checksums.known(Part::Database, 1).is_some());
    }
    assert_eq!(
        PageChecksums::load(&database, 9).count(Part::Database),
        9,
        "the other entries are of pages that are gone"
    );
}

#[test]
fn older_checksums_never_overwrite_newer_ones_in_the_file() {
    const ROUNDS: u32 = 3_000;
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("numbers");
    let checksums = PageChecksums::load(&database, 0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // The scrub saves checksums too, at the same time as the writer.
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    checksums.write_changed().unwrap();
                }
            });
        }
        let wrong = (1..=ROUNDS).find(|round| {
            (0..BLOCK_SUMS).for_each(|index| checksums.accept(index, *round));
            checksums.write_changed().unwrap();
            // The checksum file that a process leaves when it is killed at this moment.
            let file = PageChecksums::load(&database, BLOCK_SUMS);
            (0..BLOCK_SUMS).any(|index| file.known(Part::Database, index) != Some(*round))
        });
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
    });
}

#[test]
fn a_bad_page_is_good_once_it_is_written_again_or_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let checksums = PageChecksums::load(&dir.path().join("numbers"), 0);
    (0..9).for_each(|index| checksums.note_bad(Part::Database, index));
    checksums.note_bad(Part::Wal, 8);
    checksums.note(Part::Database, 3, Some(&page(3)));
    checksums.cut(Part::Database, 5);
    assert_eq!(
        checksums.bad(),
        [0, 1, 2, 4].map(|index| (Part::Database, index)).into_iter().chain([(Part::Wal, 8)]).collect::<Vec<_>>()
    );
}

#[test]
fn a_single_flipped_bit_is_told_from_another_page() {
    let was = page(7);
    for bit in [0, 1, 4_444, PAGE_BYTES * 8 - 1] {
        let mut flipped = was.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(sum(&flipped), sum(&was), "bit {bit}");
        assert_eq!(flipped_bit(sum(&flipped), sum(&was)), Some(bit));
    }
    assert_eq!([&page(8), &was].map(|other| flipped_bit(sum(other), sum(&was))), [None; 2]);
}
