//! Reads the pages that commits changed from the WAL, by a file descriptor of its own. SQLite takes no locks on the WAL
//! file, so such a descriptor may be closed; closing one of the database or of the WAL index would drop SQLite's locks.
//!
//! To be used only for frames that a follower keeps ([`super::capture`]): others may be overwritten while they are
//! read.

use super::data_dir;
pub(crate) use super::page_checksums::PAGE_BYTES;
use super::wal_format::{FRAME_BYTES, FRAME_HEADER_BYTES, HEADER_BYTES, Position, is_in_chain, word};
use rustix::fs::Advice;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) struct WalReader(File);

/// The last version of each page that some commits changed.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The changed pages by number (from 1): the frame (from 0), and the page's checksum by `sum`.
    pub pages: BTreeMap<u32, (u32, u64)>,
    /// The size of the database in pages after the last commit.
    pub size: u32,
}

impl WalReader {
    /// Opens the WAL of the database in a data directory.
    pub(crate) fn open(dir: &Path) -> io::Result<WalReader> {
        crate::files::open(&data_dir::wal(dir)).map(WalReader)
    }

    /// Opens a copy of a WAL.
    pub(crate) fn open_file(path: &Path) -> io::Result<WalReader> {
        crate::files::open(path).map(WalReader)
    }

    /// The pages that the frames after `from` up to `to` changed. Each frame with the last version of a page is
    /// verified. Where `from` has another salt, it is a position in an earlier WAL, and this one is read from its
    /// begin. The error is one line.
    pub(crate) fn changes(
        &self,
        from: Position,
        to: Position,
        sum: impl Fn(u32, &[u8]) -> u64,
    ) -> Result<Changes, String> {
        let unreadable = |e: io::Error| format!("cannot read the write-ahead log: {e}");
        let not_as_written = |number| format!("frame {number} of the write-ahead log is not what was written");
        let header = self.header().map_err(unreadable)?;
        if header[16..24] != to.salt || word(&header, 8) as usize != PAGE_BYTES {
            return Err("the write-ahead log is not the one that was followed".to_owned());
        }
        let begin = if from.salt == to.salt { from.frames } else { 0 };
        let mut before: [u8; 8] = header[24..32].try_into().expect("eight bytes");
        if let Some(last) = begin.checked_sub(1) {
            self.0.read_exact_at(&mut before, offset(last) + 16).map_err(unreadable)?;
        }
        // Most pages are changed many times in a second. Of a frame that another one replaces, the header alone is
        // read.
        let (mut head, mut size, mut last) = ([0; FRAME_HEADER_BYTES], 0, BTreeMap::new());
        for number in begin..to.frames {
            self.0.read_exact_at(&mut head, offset(number)).map_err(unreadable)?;
            if head[8..16] != to.salt {
                return Err(not_as_written(number));
            }
            last.insert(word(&head, 0), (number, before));
            before.copy_from_slice(&head[16..24]);
            size = word(&head, 4);
        }
        if size == 0 {
            return Err("the write-ahead log does not end with a commit where it should".to_owned());
        }
        let (mut changes, mut frame) = (Changes { size, ..Changes::default() }, vec![0; FRAME_BYTES as usize]);
        for (page, (number, before)) in last.range(..=size) {
            self.0.read_exact_at(&mut frame, offset(*number)).map_err(unreadable)?;
            if word(&frame, 0) != *page || !is_in_chain(&header, before, &frame) {
                return Err(not_as_written(*number));
            }
            changes.pages.insert(*page, (*number, sum(*page, &frame[FRAME_HEADER_BYTES..])));
        }
        // A WAL that restarts gets its header before any frame: an unchanged header proves that no frame was
        // overwritten.
        if self.header().map_err(unreadable)? != header {
            return Err("the write-ahead log was overwritten while it was read".to_owned());
        }
        Ok(changes)
    }

    /// Asks the kernel to read ahead what stands in the WAL after these frames, without waiting.
    pub(crate) fn fetch_behind(&self, frames: u32) {
        // The kernel follows one advice for no more than its read-ahead window, often 128 KiB.
        const STEP: usize = 128 * 1024;
        let end = self.0.metadata().map_or(0, |wal| wal.len());
        for from in (offset(frames)..end).step_by(STEP) {
            _ = rustix::fs::fadvise(&self.0, from, NonZeroU64::new(STEP as u64), Advice::WillNeed);
        }
    }

    fn header(&self) -> io::Result<[u8; HEADER_BYTES]> {
        let mut header = [0; HEADER_BYTES];
        self.0.read_exact_at(&mut header, 0)?;
        Ok(header)
    }

    /// Reads the page in a frame (from 0). The caller verifies its checksum.
    pub(crate) fn page(&self, frame: u32, page: &mut [u8; PAGE_BYTES]) -> io::Result<()> {
        self.0.read_exact_at(page, offset(frame) + FRAME_HEADER_BYTES as u64)
    }
}

fn offset(frame: u32) -> u64 {
    HEADER_BYTES as u64 + u64::from(frame) * FRAME_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn each_page_is_read_as_the_last_frame_has_it_and_a_log_that_begins_anew_meanwhile_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let conn = Connection::open(data_dir::database(dir.path())).unwrap();
        conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (text)").unwrap();
        for number in 0..20 {
            conn.execute("INSERT INTO t VALUES (?1)", [format!("{number:0>500}")]).unwrap();
        }
        let wal = WalReader::open(dir.path()).unwrap();
        let frames = (std::fs::metadata(data_dir::wal(dir.path())).unwrap().len() - HEADER_BYTES as u64) / FRAME_BYTES;
        let to = Position { salt: wal.header().unwrap()[16..24].try_into().unwrap(), frames: frames as u32 };
        let has = |bytes: &[u8], number: u32| String::from_utf8_lossy(bytes).contains(&format!("{number:0>500}"));
        let read = wal.changes(Position::default(), to, |_, bytes| u64::from(has(bytes, 19))).unwrap();
        assert!(
            (read.pages.len() as u64) < frames && read.pages.values().any(|(_, is_last)| *is_last == 1),
            "{read:?}"
        );
        let begin_anew = |_, _: &[u8]| {
            conn.execute_batch("PRAGMA wal_checkpoint(RESTART); DELETE FROM t").unwrap();
            0
        };
        assert!(wal.changes(Position::default(), to, begin_anew).unwrap_err().contains("overwritten"));
    }
}
