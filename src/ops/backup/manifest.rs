//! The manifest of a backup, `manifest.json` beside its files. A directory without one is an unfinished backup.

use crate::domain::audit::Head;
use crate::domain::local_time::TimeZone;
use crate::keys::hex;
use crate::ops::replication::target::Target;
use crate::store::engine::copy::Rows;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub(crate) const NAME: &str = "manifest.json";
/// Stands for the checksum while the checksum is computed.
const UNSUMMED: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The fields of a manifest without a checksum.
const FIELDS: [&str; 9] = ["version", "site_id", "schema", "made_at", "files", "encrypted", "rows", "upgrade", "audit"];
const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The version of the program that made the backup.
    pub version: String,
    pub site_id: String,
    pub schema: i64,
    /// The moment of the copy (Unix seconds).
    pub made_at: i64,
    /// The IANA name of the site's time zone at that moment; manifests of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    pub files: BTreeMap<String, FileDigest>,
    /// The files of an encrypted copy: the same names, with a suffix.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encrypted: BTreeMap<String, FileDigest>,
    /// The number of rows of each table.
    pub rows: Rows,
    /// In a backup from before an upgrade alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgrade: Option<Upgrade>,
    /// The end of the audit log; none in the backup of a database that had no audit log yet.
    #[serde(default)]
    pub audit: Option<AuditHead>,
    /// Where a chain of ticks continues; none without an off-site target, or where no server ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainOrigin>,
    /// SHA-256 (hex) of the manifest's text with zeros in this place. Always empty in memory; manifests of earlier versions
    /// have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub checksum: String,
}

/// The upgrade that a backup was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Upgrade {
    /// The version that opened the database last; empty: unknown.
    pub from_version: String,
    pub to_schema: i64,
}

/// Where the ticks behind a base begin ([`crate::ops::replication`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChainOrigin {
    /// The lineage that every tick behind the base bears (hex).
    pub lineage: String,
    /// The second of the last write in the base (Unix seconds).
    pub moment: i64,
    /// Where that write ended in the WAL: the salts (hex), and the frame.
    pub salt: String,
    pub frame: u32,
    pub page_bytes: u32,
    pub pages: u32,
    /// The sums of all pages (CRC-64/GO-ISO of number and bytes), XORed (hex).
    pub checksum: String,
}

/// The end of the audit log at the moment of a backup, as a witness outside of the database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AuditHead {
    pub seq: i64,
    /// Hex.
    pub hash: String,
}

impl AuditHead {
    pub(crate) fn of(head: &Head) -> AuditHead {
        AuditHead { seq: head.seq, hash: hex(&head.hash) }
    }
}

/// The size and checksum of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileDigest {
    pub bytes: u64,
    /// Hex.
    pub sha256: String,
}

impl Manifest {
    pub(crate) fn read(at: &Target) -> Result<Manifest, String> {
        let (mut bytes, path) = (Vec::new(), at.within(NAME));
        let read = at.open(NAME).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|e| format!("cannot read {path}: {e}"))?;
        Manifest::parse(&bytes).map_err(|e| format!("{path} is not a manifest: {e}"))
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Manifest, String> {
        let said = |e: &dyn std::fmt::Display| e.to_string();
        let text = std::str::from_utf8(bytes).map_err(|e| said(&e))?;
        let mut manifest: Manifest = serde_json::from_str(text).map_err(|e| said(&e))?;
        let checksum = std::mem::take(&mut manifest.checksum);
        if checksum.is_empty() {
            // A manifest without a checksum is of an earlier version, and has no unknown field.
            let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).map_err(|e| said(&e))?;
            let unknown = fields.keys().find(|name| !FIELDS.contains(&name.as_str()));
            return unknown.map_or(Ok(manifest), |name| Err(format!("{name:?} is not a known field")));
        }
        if checksum != checksum_of(&text.replacen(&checksum, UNSUMMED, 1)) {
            return Err("it is damaged: its checksum does not match".to_owned());
        }
        Ok(manifest)
    }

    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        let mut file = File::create(dir.join(NAME))?;
        file.write_all(self.text().as_bytes())?;
        file.sync_all()
    }

    /// The JSON text with its checksum.
    pub(crate) fn text(&self) -> String {
        let summed = Manifest { checksum: UNSUMMED.to_owned(), ..self.clone() };
        let text = serde_json::to_string_pretty(&summed).expect("a manifest is text and numbers") + "\n";
        text.replacen(UNSUMMED, &checksum_of(&text), 1)
    }

    /// The clock of the site, where the manifest says which that is.
    pub(crate) fn time_zone(&self) -> Option<TimeZone> {
        self.zone.as_deref().map(TimeZone::named)
    }

    /// An empty manifest of that moment.
    #[cfg(test)]
    pub(crate) fn blank(made_at: i64) -> Manifest {
        Manifest {
            version: String::new(),
            site_id: String::new(),
            schema: 1,
            made_at,
            zone: None,
            files: BTreeMap::new(),
            encrypted: BTreeMap::new(),
            rows: Rows::new(),
            upgrade: None,
            audit: None,
            chain: None,
            checksum: String::new(),
        }
    }

    /// The size of all files together.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.values().map(|digest| digest.bytes).sum()
    }
}

fn checksum_of(text: &str) -> String {
    hex(&Sha256::digest(text))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            version: "0.1.0".to_owned(),
            site_id: "ab".to_owned(),
            schema: 7,
            files: BTreeMap::from([("site.key".to_owned(), FileDigest { bytes: 65, sha256: "5a".repeat(32) })]),
            rows: Rows::from([("members".to_owned(), 3)]),
            ..Manifest::blank(1_800_000_000)
        }
    }

    #[test]
    fn no_bit_of_a_manifest_changes_unnoticed() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Manifest { zone: Some("Europe/Zurich".to_owned()), ..manifest() };
        manifest.write(dir.path()).unwrap();
        assert_eq!(Manifest::read(&Target::Directory(dir.path().to_owned())).unwrap(), manifest);
        let bytes = std::fs::read(dir.path().join(NAME)).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let read = Manifest::parse(&flipped);
            assert!(read.is_err(), "bit {bit}: {}", String::from_utf8_lossy(&flipped));
        }
    }

    #[test]
    fn a_manifest_of_an_earlier_version_is_read_without_a_checksum() {
        let old = serde_json::to_vec_pretty(&manifest()).unwrap();
        assert_eq!(Manifest::parse(&old).unwrap(), manifest());
        let odd = String::from_utf8(old).unwrap().replacen("\"schema\"", "\"schemb\": 1, \"schema\"", 1);
        assert!(Manifest::parse(odd.as_bytes()).is_err());
    }
}
