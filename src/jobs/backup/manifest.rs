//! What a backup says of itself, in `manifest.json` beside its files. A backup without one was never finished.

use crate::domain::audit::Head;
use crate::keys::hex;
use crate::store::copy::Rows;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub const NAME: &str = "manifest.json";
const CHUNK_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of the program that made it.
    pub version: String,
    pub site_id: String,
    pub schema: i64,
    /// The moment of the copy, in Unix seconds.
    pub made_at: i64,
    pub files: BTreeMap<String, Print>,
    /// What lies there instead where the copy is encrypted: the same names, with a suffix.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encrypted: BTreeMap<String, Print>,
    /// Rows of each table at that moment.
    pub rows: Rows,
    /// Of the file as it was before an upgrade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// The end of the audit log at that moment; none in the backup of a file that had no log yet.
    #[serde(default)]
    pub audit: Option<Anchor>,
}

/// Why a backup was made that no hour asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Upgrade {
    /// The version that opened the file last; empty: nobody knows.
    pub from_version: String,
    pub to_schema: i64,
}

/// The end of the audit log, as a witness outside of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    pub seq: i64,
    /// In hex.
    pub hash: String,
}

impl Anchor {
    pub fn of(head: &Head) -> Anchor {
        Anchor { seq: head.seq, hash: hex(&head.hash) }
    }
}

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Print {
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
}

impl Manifest {
    pub fn read(dir: &Path) -> Result<Manifest, String> {
        let path = dir.join(NAME);
        let bytes = std::fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        serde_json::from_slice(&bytes).map_err(|e| format!("{} is not a manifest: {e}", path.display()))
    }

    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let mut file = File::create(dir.join(NAME))?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        file.sync_all()
    }

    /// Of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|print| print.bytes).sum()
    }
}

impl Print {
    /// Reads a file whole. `progress` is told each chunk's bytes.
    pub fn of(path: &Path, progress: &mut dyn FnMut(u64)) -> io::Result<Print> {
        Print::of_copy(path, &mut io::sink(), progress)
    }

    /// The same while the bytes go somewhere.
    pub fn of_copy(path: &Path, to: &mut dyn Write, progress: &mut dyn FnMut(u64)) -> io::Result<Print> {
        Print::of_reader(&mut File::open(path)?, to, progress)
    }

    /// The same of whatever is read.
    pub fn of_reader(from: &mut dyn Read, to: &mut dyn Write, progress: &mut dyn FnMut(u64)) -> io::Result<Print> {
        let mut printing = Print::begin();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = from.read(&mut chunk)?;
            if read == 0 {
                return Ok(printing.end());
            }
            printing.add(&chunk[..read]);
            to.write_all(&chunk[..read])?;
            progress(read as u64);
        }
    }

    pub fn begin() -> Printing {
        Printing { digest: Sha256::new(), bytes: 0 }
    }
}

/// The print of what went by so far.
pub struct Printing {
    digest: Sha256,
    bytes: u64,
}

impl Printing {
    pub fn add(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    pub fn end(self) -> Print {
        Print { bytes: self.bytes, sha256: hex(&self.digest.finalize()) }
    }
}
