//! The emergency reserve: a file that is deleted when the disk is full. On a full disk even deletes and checkpoints
//! fail; with the space of the reserve members can still sign in, and the operator can free more.

use super::data_dir;
use rustix::fs::FallocateFlags;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Four thousand pages: enough for days of sign-ins, because SQLite reuses the space of its WAL.
const RESERVE_BYTES: u64 = 16 * 1024 * 1024;
/// With less free space the disk counts as full, before a write fails.
const FREE_BYTES_MIN: u64 = 4 * 1024 * 1024;
/// The free space beside the reserve that allows writes again: more than [`FREE_BYTES_MIN`], so that the state does not
/// flap.
const FREE_BYTES_BESIDE_RESERVE: u64 = 8 * 1024 * 1024;
const BLOCK_BYTES: u64 = 512;

pub struct Reserve {
    dir: PathBuf,
}

impl Reserve {
    /// The reserve of a data directory. Creates nothing yet.
    pub(crate) fn in_dir(dir: &Path) -> Reserve {
        Reserve { dir: dir.to_owned() }
    }

    /// Deletes the reserve, and returns the bytes that this freed.
    pub(crate) fn release(&self) -> u64 {
        let path = data_dir::reserve(&self.dir);
        let bytes = std::fs::metadata(&path).map_or(0, |file| file.blocks() * BLOCK_BYTES);
        match std::fs::remove_file(&path) {
            Ok(()) => bytes,
            Err(_) => 0,
        }
    }

    /// Deletes the reserve where the disk is full, so that a full disk does not keep the site from starting.
    pub(crate) fn release_if_disk_full(&self) {
        if !self.has_room(FREE_BYTES_MIN) {
            self.release();
        }
    }

    /// Creates the reserve where it is missing and the disk has room. Returns whether it exists now.
    pub(crate) fn ensure(&self) -> bool {
        self.is_whole() || self.has_room(RESERVE_BYTES + FREE_BYTES_BESIDE_RESERVE) && self.make().is_ok()
    }

    /// Whether the reserve exists, or could be created, with free space beside it.
    pub(crate) fn has_free_space(&self) -> bool {
        self.ensure() && self.has_room(FREE_BYTES_MIN)
    }

    /// Whether `bytes` bytes are free. A disk whose free space cannot be read does not count as full: a failed write
    /// will show that.
    fn has_room(&self, bytes: u64) -> bool {
        data_dir::free_bytes(&self.dir).is_ok_and(|free| free >= bytes)
    }

    fn is_whole(&self) -> bool {
        std::fs::metadata(data_dir::reserve(&self.dir)).is_ok_and(|file| file.blocks() * BLOCK_BYTES >= RESERVE_BYTES)
    }

    fn make(&self) -> io::Result<()> {
        let path = data_dir::reserve(&self.dir);
        let made = crate::files::open_with(File::options().write(true).create(true).truncate(true), &path)
            .and_then(|file| allocate(&file));
        made.inspect_err(|_| _ = std::fs::remove_file(&path))
    }
}

/// Allocates blocks on the disk, not only a length. Some file systems do not allocate blocks by `fallocate`, or
/// compress zeros: there incompressible bytes are written.
fn allocate(mut file: &File) -> io::Result<()> {
    let answer = rustix::fs::fallocate(file, FallocateFlags::empty(), 0, RESERVE_BYTES);
    if answer.is_ok() && file.metadata()?.blocks() * BLOCK_BYTES >= RESERVE_BYTES {
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
