//! The size and SHA-256 of a file, computed while it is read or copied.

use crate::keys::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::path::Path;

const CHUNK_BYTES: usize = 64 * 1024;

/// The size and checksum of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileDigest {
    pub bytes: u64,
    /// Hex.
    pub sha256: String,
}

impl FileDigest {
    /// The digest of a file. `progress` gets the bytes of each chunk.
    pub(crate) fn of(path: &Path, progress: &mut dyn FnMut(u64)) -> io::Result<FileDigest> {
        FileDigest::of_reader(&mut crate::files::open(path)?, &mut io::sink(), progress)
    }

    /// Copies `from` to `to`, and returns the digest of the bytes.
    pub(crate) fn of_reader(
        from: &mut dyn Read,
        to: &mut dyn Write,
        progress: &mut dyn FnMut(u64),
    ) -> io::Result<FileDigest> {
        let mut digester = FileDigest::begin();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = from.read(&mut chunk)?;
            if read == 0 {
                return Ok(digester.end());
            }
            digester.add(&chunk[..read]);
            to.write_all(&chunk[..read])?;
            progress(read as u64);
        }
    }

    pub(crate) fn begin() -> FileDigester {
        FileDigester { digest: Sha256::new(), bytes: 0 }
    }
}

/// Computes the digest of bytes that come piece by piece.
pub(crate) struct FileDigester {
    digest: Sha256,
    bytes: u64,
}

impl FileDigester {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    pub(crate) fn end(self) -> FileDigest {
        FileDigest { bytes: self.bytes, sha256: hex(&self.digest.finalize()) }
    }
}
