//! The manifest of a backup, `manifest.json` beside its files. A directory without one is an unfinished backup.

use super::manifest_signature::ManifestSignature;
use crate::domain::audit::Head;
use crate::domain::local_time::TimeZone;
use crate::keys::hex;
use crate::ops::outside::object::{Object, SealedFile, SiteFile, SiteId};
use crate::ops::replication::target::Target;
use crate::store::engine::copy::Rows;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;

/// Stands for the checksum while the checksum is computed.
const UNSUMMED: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The fields of a manifest without a checksum.
const FIELDS: [&str; 9] = ["version", "site_id", "schema", "made_at", "files", "encrypted", "rows", "upgrade", "audit"];
const CHUNK_BYTES: usize = 64 * 1024;
/// The last second of the year 9999.
pub(crate) const MOMENT_MAX: i64 = 253_402_300_799;
/// More rows than any table has, and more tables than any site. Sums of them stay numbers.
const ROWS_MAX: i64 = 1 << 48;
const TABLES_MAX: usize = 500;
/// More than SQLite's largest file has. Sums of a few such sizes stay numbers.
const FILE_BYTES_MAX: u64 = 1 << 50;

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
    pub files: BTreeMap<SiteFile, FileDigest>,
    /// The files of an encrypted copy.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encrypted: BTreeMap<SealedFile, FileDigest>,
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
    /// Manifests of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<ManifestSignature>,
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
    /// The size of a tick behind the base, at most. Manifests of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_bytes_max: Option<u64>,
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

/// Why a manifest is not read.
#[derive(Debug)]
pub(crate) enum ManifestError {
    /// There is none, or it is cut off: the backup was never finished, or is being made or removed.
    Unfinished(String),
    Unreadable(String),
}

impl ManifestError {
    pub(crate) fn into_text(self) -> String {
        let (ManifestError::Unfinished(text) | ManifestError::Unreadable(text)) = self;
        text
    }
}

impl Manifest {
    /// The second of the last write (Unix seconds); without a chain the second of the copy, which is no earlier.
    pub(crate) fn last_write(&self) -> i64 {
        self.chain.as_ref().map_or(self.made_at, |origin| origin.moment)
    }

    pub(crate) fn read(at: &Target) -> Result<Manifest, ManifestError> {
        Manifest::read_named(at, Some(&at.name()))
    }

    /// Reads a manifest that is signed for a backup of this name; `None`: of any name.
    pub(crate) fn read_named(at: &Target, name: Option<&str>) -> Result<Manifest, ManifestError> {
        match at.read(Object::Manifest) {
            Ok(bytes) => Manifest::parse_named(&bytes, at, name),
            Err(e) => {
                let text = format!("cannot read {}: {e}", at.shown(Object::Manifest));
                Err(match e.kind() {
                    io::ErrorKind::NotFound => ManifestError::Unfinished(text),
                    _ => ManifestError::Unreadable(text),
                })
            }
        }
    }

    /// The manifest with these bytes of the backup there.
    pub(crate) fn parse_of(bytes: &[u8], at: &Target) -> Result<Manifest, ManifestError> {
        Manifest::parse_named(bytes, at, Some(&at.name()))
    }

    fn parse_named(bytes: &[u8], at: &Target, name: Option<&str>) -> Result<Manifest, ManifestError> {
        Manifest::parse(bytes, name).map_err(|why| {
            let text = format!("{} is not a manifest: {why}", at.shown(Object::Manifest));
            if is_cut(bytes) { ManifestError::Unfinished(text) } else { ManifestError::Unreadable(text) }
        })
    }

    fn parse(bytes: &[u8], name: Option<&str>) -> Result<Manifest, String> {
        let manifest = Manifest::decode(bytes, name)?;
        manifest.check().map_or(Ok(manifest), |odd| Err(format!("its {odd} cannot be")))
    }

    /// The first number that no site writes.
    fn check(&self) -> Option<&'static str> {
        let is_moment = |moment: i64| (0..=MOMENT_MAX).contains(&moment);
        let sizes = || self.files.values().chain(self.encrypted.values()).map(|digest| digest.bytes);
        let origin = self.chain.as_ref();
        let database = self.files.get(&SiteFile::Database).map_or(0, |digest| digest.bytes);
        let is_of_file = |origin: &ChainOrigin| {
            u64::from(origin.pages) * u64::from(origin.page_bytes) == database && is_moment(origin.moment)
        };
        let wrong = [
            ("moment", !is_moment(self.made_at)),
            ("site", !self.site_id.is_empty() && SiteId::parse(&self.site_id).is_none()),
            ("sizes", sizes().any(|bytes| bytes > FILE_BYTES_MAX)),
            ("rows", self.rows.len() > TABLES_MAX || self.rows.values().any(|rows| !(0..=ROWS_MAX).contains(rows))),
            ("chain", !origin.is_none_or(is_of_file)),
            ("audit log", self.audit.as_ref().is_some_and(|end| end.seq < 0)),
        ];
        wrong.into_iter().find_map(|(what, is_wrong)| is_wrong.then_some(what))
    }

    fn decode(bytes: &[u8], name: Option<&str>) -> Result<Manifest, String> {
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
        let unsummed = text.replacen(&checksum, UNSUMMED, 1);
        if checksum != checksum_of(&unsummed) {
            return Err("it is damaged: its checksum does not match".to_owned());
        }
        manifest.verify(&unsummed, name);
        Ok(manifest)
    }

    /// The JSON text with its checksum.
    pub(crate) fn text(&self) -> String {
        let text = self.unsummed_text();
        let at = text.rfind(UNSUMMED).unwrap_or_default();
        [&text[..at], &checksum_of(&text), &text[at + UNSUMMED.len()..]].concat()
    }

    /// The JSON text with zeros in place of the checksum.
    pub(super) fn unsummed_text(&self) -> String {
        let summed = Manifest { checksum: UNSUMMED.to_owned(), ..self.clone() };
        serde_json::to_string_pretty(&summed).expect("a manifest is text and numbers") + "\n"
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
            site_id: "ab".to_owned(),
            schema: 1,
            made_at,
            zone: None,
            files: BTreeMap::new(),
            encrypted: BTreeMap::new(),
            rows: Rows::new(),
            upgrade: None,
            audit: None,
            chain: None,
            signature: None,
            checksum: String::new(),
        }
    }

    /// The files beside the manifest.
    pub(crate) fn digests(&self) -> Box<dyn Iterator<Item = (Object, &FileDigest)> + '_> {
        match self.encrypted.is_empty() {
            true => Box::new(self.files.iter().map(|(file, digest)| (Object::Site(*file), digest))),
            false => Box::new(self.encrypted.iter().map(|(file, digest)| (Object::Sealed(*file), digest))),
        }
    }

    /// The size of all files together.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.values().map(|digest| digest.bytes).sum()
    }
}

/// Whether these bytes are the beginning of a manifest: whoever wrote it was interrupted.
fn is_cut(bytes: &[u8]) -> bool {
    let parsed = serde_json::from_slice::<IgnoredAny>(bytes);
    parsed.is_err_and(|e| e.is_eof()) && !bytes.ends_with(b"\n}\n")
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
            files: BTreeMap::from([(SiteFile::Key, FileDigest { bytes: 65, sha256: "5a".repeat(32) })]),
            rows: Rows::from([("members".to_owned(), 3)]),
            ..Manifest::blank(1_800_000_000)
        }
    }

    #[test]
    fn no_bit_of_a_manifest_changes_unnoticed_and_the_beginning_of_one_is_an_unfinished_backup() {
        let manifest = Manifest { zone: Some("Europe/Zurich".to_owned()), ..manifest() };
        let bytes = manifest.text().into_bytes();
        assert_eq!(Manifest::parse(&bytes, None).unwrap(), manifest);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let read = Manifest::parse(&flipped, None);
            assert!(read.is_err(), "bit {bit}: {}", String::from_utf8_lossy(&flipped));
            assert!(!is_cut(&flipped), "bit {bit}: a damaged backup would be removed");
        }
        assert!((0..bytes.len() - 2).all(|length| is_cut(&bytes[..length])));
    }

    #[test]
    fn a_manifest_names_files_of_a_site_alone_and_no_number_that_cannot_be() {
        let text = serde_json::to_string(&manifest()).unwrap();
        for name in ["../../x", "/etc/x", "other", "", "site.key.age"] {
            let forged = text.replacen("site.key", name, 1);
            assert!(Manifest::parse(forged.as_bytes(), None).is_err(), "{name}");
        }
        for file in [SiteFile::Key, SiteFile::Database] {
            let names = [serde_json::to_string(&file), serde_json::to_string(&file.sealed())].map(Result::unwrap);
            assert_eq!(names, [Object::Site(file), Object::Sealed(file.sealed())].map(|name| format!("\"{name}\"")));
        }
        let origin = ChainOrigin {
            lineage: "ab".to_owned(),
            moment: 1_800_000_000,
            salt: String::new(),
            frame: 0,
            page_bytes: 4096,
            pages: 2,
            checksum: String::new(),
            tick_bytes_max: None,
        };
        let digest = |bytes| FileDigest { bytes, sha256: String::new() };
        let with = |bytes, change: fn(&mut Manifest)| {
            let mut forged = Manifest { chain: Some(origin.clone()), ..manifest() };
            forged.files.insert(SiteFile::Database, digest(bytes));
            change(&mut forged);
            Manifest::parse(forged.text().as_bytes(), None).map(drop)
        };
        assert_eq!(with(8192, |_| ()), Ok(()));
        assert!(with(4096, |_| ()).is_err() && with(1 << 60, |_| ()).is_err());
        let forgeries: [fn(&mut Manifest); 6] = [
            |forged| forged.made_at = i64::MIN,
            |forged| forged.made_at = MOMENT_MAX + 1,
            |forged| forged.site_id = "../ab".to_owned(),
            |forged| _ = forged.rows.insert("members".to_owned(), i64::MAX),
            |forged| forged.chain.as_mut().unwrap().moment = i64::MAX,
            |forged| forged.audit = Some(AuditHead { seq: -1, hash: String::new() }),
        ];
        for (nth, forgery) in forgeries.into_iter().enumerate() {
            assert!(with(8192, forgery).is_err(), "forgery {nth}");
        }
    }

    #[test]
    fn a_manifest_of_an_earlier_version_is_read_without_a_checksum() {
        let old = serde_json::to_vec_pretty(&manifest()).unwrap();
        assert_eq!(Manifest::parse(&old, None).unwrap(), manifest());
        let odd = String::from_utf8(old).unwrap().replacen("\"schema\"", "\"schemb\": 1, \"schema\"", 1);
        assert!(Manifest::parse(odd.as_bytes(), None).is_err());
    }
}
