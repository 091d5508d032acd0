//! Corrects single flipped bits in the WAL that a killed process left. SQLite ends a WAL before the first frame that does not
//! match its checksum: without the correction one bit costs every write after it.

use super::super::scrub::flips::report;
use super::{FRAME_HEADER_BYTES, HEADER_BYTES, Mark, WalBytes, is_in_chain, pages_sum, read, wal_match, word};
use crate::store::engine::page_checksums::{place_of, sum};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Flipped bits that are corrected. More of them are another fault.
const FLIPS_MAX: usize = 8;
/// Bits of a frame of which one is chosen by the frame after it.
const BITS_MAX: usize = 4;

/// Flips the bits back that keep the WAL from reaching its mark. Changes nothing where they do not explain all that is missing,
/// or where a page is not the one that was written.
/// Only for a database that no process has open.
pub(in crate::store::engine) fn correct(database: &Path) {
    let path = wal_match::wal_of(database);
    let Ok(Some(mark)) = read(database) else { return };
    let Ok(mut wal) = crate::files::read(&path) else { return };
    let places = find(&mut wal, &mark).unwrap_or_default();
    let Some(first) = places.first() else { return };
    // SQLite's checksums alone would let a wrong page pass.
    if WalBytes::of(&wal).map(|wal| wal.pages_sum(mark.frames)) != pages_sum(database) {
        return;
    }
    let write = || -> io::Result<()> {
        let file = crate::files::open_with(File::options().write(true), &path)?;
        places.iter().try_for_each(|at| file.write_all_at(&wal[*at..=*at], *at as u64))?;
        file.sync_all()
    };
    match write() {
        Ok(()) => report(database, &format!("byte {first} of the write-ahead log"), places.len()),
        Err(cause) => tracing::error!(%cause, "flipped bits of the write-ahead log cannot be flipped back"),
    }
}

/// Corrects the bytes of the WAL, and returns the offsets of those that were wrong. `None`: flipped bits do not explain that it
/// ends before the mark, or it is another WAL.
fn find(wal: &mut [u8], mark: &Mark) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    while places.len() <= FLIPS_MAX {
        let is_own = |wal: &[u8]| WalBytes::of(wal).is_some_and(|wal| wal.salt == mark.salt);
        if !is_own(wal) {
            places.push(flip_back(wal, 0..HEADER_BYTES, is_own, |_| true)?);
            continue;
        }
        let read = WalBytes::of(wal)?;
        let (valid, frame_bytes) = (read.frames().0 as usize, FRAME_HEADER_BYTES + read.page_bytes);
        let frame = |number: usize| HEADER_BYTES + number * frame_bytes..HEADER_BYTES + (number + 1) * frame_bytes;
        let last = mark.frames.checked_sub(1)? as usize;
        let ends_at_mark = |wal: &[u8]| {
            wal.get(frame(last))
                .is_some_and(|frame| word(frame, 0) == mark.page && sum(&frame[FRAME_HEADER_BYTES..]) == mark.sum)
        };
        if valid > last {
            return ends_at_mark(wal).then_some(places);
        }
        let before = if valid == 0 { HEADER_BYTES - 8 } else { frame(valid - 1).start + 16 };
        let header: [u8; HEADER_BYTES] = wal[..HEADER_BYTES].try_into().expect("the header's bytes");
        let before: [u8; 8] = wal[before..before + 8].try_into().expect("eight bytes");
        let is_valid = |frame: &[u8]| is_in_chain(&header, &before, frame) && word(frame, 0) > 0;
        // The frame after it, or the mark, tells a bit of the page from one of the checksum.
        let goes_on = |wal: &[u8]| match valid == last {
            true => ends_at_mark(wal),
            false => WalBytes::of(wal).is_some_and(|wal| wal.frames().0 as usize > valid + 1),
        };
        places.push(flip_back(wal, frame(valid), is_valid, goes_on)?);
    }
    None
}

/// Flips the only bit of a range with which the range `is_valid`, and returns the offset of its byte. Of several such bits it is
/// the only one with which the WAL `goes_on`: SQLite's checksum does not tell the upper bits of some words from each other.
fn flip_back(
    wal: &mut [u8],
    range: Range<usize>,
    is_valid: impl Fn(&[u8]) -> bool,
    goes_on: impl Fn(&[u8]) -> bool,
) -> Option<usize> {
    let flip = |wal: &mut [u8], bit: usize| {
        let (at, mask) = place_of(bit);
        wal[at] ^= mask;
    };
    wal.get(range.clone())?;
    let mut is_valid_with = |bit: &usize, is_valid: &dyn Fn(&[u8]) -> bool| {
        flip(wal, *bit);
        let valid = is_valid(wal);
        flip(wal, *bit);
        valid
    };
    let mut bits: Vec<usize> = (range.start * 8..range.end * 8)
        .filter(|bit| is_valid_with(bit, &|wal| is_valid(&wal[range.clone()])))
        .collect();
    if (2..=BITS_MAX).contains(&bits.len()) {
        bits.retain(|bit| is_valid_with(bit, &goes_on));
    }
    let [bit] = *bits else { return None };
    flip(wal, bit);
    Some(place_of(bit).0)
}
