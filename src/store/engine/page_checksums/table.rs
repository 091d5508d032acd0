//! The page checksums of one file, in memory and as bytes of the checksum file.

use std::collections::BTreeSet;

/// An entry of the checksum file: a checksum and its complement.
pub(super) const ENTRY_BYTES: usize = 8;
/// Checksums of one write.
pub(super) const BLOCK_SUMS: usize = 512;
pub(super) const UNKNOWN: u32 = 0;

#[derive(Default)]
pub(super) struct ChecksumTable {
    pub(super) checksums: Vec<u32>,
    /// Blocks that are not in the file yet.
    pub(super) changed: BTreeSet<usize>,
    /// Whether the file may have more entries than there are pages.
    pub(super) is_cut: bool,
}

impl ChecksumTable {
    pub(super) fn set(&mut self, index: usize, sum: u32) {
        if index >= self.checksums.len() {
            self.checksums.resize(index + 1, UNKNOWN);
        }
        if self.checksums[index] != sum {
            self.checksums[index] = sum;
            self.changed.insert(index / BLOCK_SUMS);
        }
    }

    pub(super) fn change_all(&mut self) {
        self.changed = (0..self.checksums.len().div_ceil(BLOCK_SUMS)).collect();
        self.is_cut = true;
    }

    /// The bytes of each changed block, and the number of entries that the file is to be truncated to.
    pub(super) fn take_changed(&mut self) -> (Vec<(usize, Vec<u8>)>, Option<usize>) {
        let entry = |sum: &u32| match *sum {
            UNKNOWN => [0; ENTRY_BYTES],
            sum => (u64::from(sum) << 32 | u64::from(!sum)).to_be_bytes(),
        };
        let block = |block: usize| {
            let checksums = self.checksums.iter().skip(block * BLOCK_SUMS).take(BLOCK_SUMS);
            (block, checksums.flat_map(entry).collect())
        };
        let blocks = std::mem::take(&mut self.changed).into_iter().map(block).collect();
        (blocks, std::mem::take(&mut self.is_cut).then_some(self.checksums.len()))
    }
}
