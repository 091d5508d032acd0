//! The format of SQLite's write-ahead log, and positions in it.

use super::page_checksums::PAGE_BYTES;

/// The size of the log's header.
pub(super) const HEADER_BYTES: usize = 32;
/// The size of the header of a frame.
pub(super) const FRAME_HEADER_BYTES: usize = 24;
/// The size of a frame: a page and its header.
pub(crate) const FRAME_BYTES: u64 = (FRAME_HEADER_BYTES + PAGE_BYTES) as u64;

/// The end of a commit in the WAL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The WAL's salt, which changes each time that the WAL restarts. Zeros: before the first commit of this
    /// process.
    pub salt: [u8; 8],
    /// Frames of the WAL up to this end.
    pub frames: u32,
}

pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Whether a frame matches its own checksum, in a WAL with this header, after a frame whose checksum is `before`.
pub(super) fn is_in_chain(header: &[u8; HEADER_BYTES], before: &[u8; 8], frame: &[u8]) -> bool {
    let big_endian = word(header, 0) & 1 == 1;
    let sums = chain((word(before, 0), word(before, 4)), &frame[..8], big_endian);
    let sums = chain(sums, &frame[FRAME_HEADER_BYTES..], big_endian);
    frame[8..16] == header[16..24] && sums == (word(frame, 16), word(frame, 20))
}

/// Continues SQLite's cumulative checksum of a WAL with these bytes.
pub(super) fn chain(before: (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let read = |part: &[u8]| {
        let part = part.try_into().expect("four bytes");
        if big_endian { u32::from_be_bytes(part) } else { u32::from_le_bytes(part) }
    };
    bytes.chunks_exact(8).fold(before, |(mut s1, mut s2), pair| {
        s1 = s1.wrapping_add(read(&pair[..4])).wrapping_add(s2);
        s2 = s2.wrapping_add(read(&pair[4..])).wrapping_add(s1);
        (s1, s2)
    })
}
