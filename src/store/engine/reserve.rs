//! A file that only takes room, given up when the disk is full: a full disk would also block deletes and SQLite's own
//! tidying, so without it nobody could sign in and nothing could be freed.

use super::data_dir;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Some four thousand pages: sign-ins for days, since SQLite uses its log's room again and again.
const RESERVE_BYTES: u64 = 16 * 1024 * 1024;
/// With less than this free the disk counts as full, before a write fails for it.
const FREE_BYTES_MIN: u64 = 4 * 1024 * 1024;
/// So much must be free beside the ballast before writes go on: not on and off with every row.
const FREE_BYTES_BESIDE_RESERVE: u64 = 8 * 1024 * 1024;
const BLOCK_BYTES: u64 = 512;

pub struct Reserve {
    dir: PathBuf,
}

impl Reserve {
    /// Of a data directory; nothing is made yet.
    pub(crate) fn in_dir(dir: &Path) -> Reserve {
        Reserve { dir: dir.to_owned() }
    }

    /// Gives the room back, and says how much that was.
    pub(crate) fn release(&self) -> u64 {
        let path = data_dir::reserve(&self.dir);
        let bytes = std::fs::metadata(&path).map_or(0, |file| file.blocks() * BLOCK_BYTES);
        match std::fs::remove_file(&path) {
            Ok(()) => bytes,
            Err(_) => 0,
        }
    }

    /// Before the file is opened: a disk without room must not keep the site from starting.
    pub(crate) fn release_if_disk_full(&self) {
        if !self.has_room(FREE_BYTES_MIN) {
            self.release();
        }
    }

    /// Whether it is there whole; where it is not and there is room, it is made.
    pub(crate) fn ensure(&self) -> bool {
        self.is_whole() || self.has_room(RESERVE_BYTES + FREE_BYTES_BESIDE_RESERVE) && self.make().is_ok()
    }

    /// Whether it is there, or could be, and some room beside it.
    pub(crate) fn has_free_space(&self) -> bool {
        self.ensure() && self.has_room(FREE_BYTES_MIN)
    }

    /// A disk that cannot be asked is not taken for full: a write that fails will tell.
    fn has_room(&self, bytes: u64) -> bool {
        data_dir::free_bytes(&self.dir).is_ok_and(|free| free >= bytes)
    }

    fn is_whole(&self) -> bool {
        std::fs::metadata(data_dir::reserve(&self.dir)).is_ok_and(|file| file.blocks() * BLOCK_BYTES >= RESERVE_BYTES)
    }

    fn make(&self) -> io::Result<()> {
        let path = data_dir::reserve(&self.dir);
        let made = File::create(&path).and_then(|file| allocate(&file));
        made.inspect_err(|_| _ = std::fs::remove_file(&path))
    }
}

/// Blocks of the disk, not only a length. Where the file system would only promise them (or compress zeros away), they
/// are written, with bytes that nothing compresses.
fn allocate(mut file: &File) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as `file` lives.
    let answer = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, RESERVE_BYTES as i64) };
    if answer == 0 && file.metadata()?.blocks() * BLOCK_BYTES >= RESERVE_BYTES {
        return Ok(());
    }
    const PIECE_BYTES: usize = 64 * 1024;
    let mut piece = vec![0; PIECE_BYTES];
    for _ in 0..RESERVE_BYTES / PIECE_BYTES as u64 {
        piece.chunks_exact_mut(32).for_each(|part| part.copy_from_slice(&crate::keys::random::<32>()));
        file.write_all(&piece)?;
    }
    file.sync_all()
}
