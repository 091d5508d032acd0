//! The manifest of a backup, `manifest.json` beside its files. A directory without one is an unfinished backup.

use super::manifest_signature::{ErasedMark, ManifestSignature};
use crate::domain::audit::Head;
use crate::domain::local_time::TimeZone;
use crate::keys::hex;
use crate::moment::Moment;
use crate::ops::digest::FileDigest;
use crate::ops::outside::object::{Object, SealedFile, SiteFile, SiteId};
use crate::ops::signature::{PublicKey, Signer};
use crate::store::engine::copy::Rows;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Stands for the checksum while the checksum is computed.
const UNSUMMED: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The fields of a manifest without a checksum.
const FIELDS: [&str; 9] = ["version", "site_id", "schema", "made_at", "files", "encrypted", "rows", "upgrade", "audit"];
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
    pub made_at: Moment,
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
    pub moment: Moment,
    /// Where that write ended in the WAL: the salts (hex), and the frame.
    pub salt: String,
    pub frame: u32,
    pub page_bytes: u32,
    pub pages: u32,
    /// The sums of all pages, XORed (hex).
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
    pub(crate) fn last_write(&self) -> Moment {
        self.chain.as_ref().map_or(self.made_at, |origin| origin.moment)
    }

    /// The manifest with these bytes, signed for a backup of this name; `None`: of any name. `from`: where it lies, for people.
    pub(crate) fn parse_named(bytes: &[u8], from: &str, name: Option<&str>) -> Result<Manifest, ManifestError> {
        Manifest::parse(bytes, name).map_err(|why| {
            let text = format!("{from} is not a manifest: {why}");
            if is_cut(bytes) { ManifestError::Unfinished(text) } else { ManifestError::Unreadable(text) }
        })
    }

    fn parse(bytes: &[u8], name: Option<&str>) -> Result<Manifest, String> {
        let manifest = Manifest::decode(bytes, name)?;
        manifest.check().map_or(Ok(manifest), |odd| Err(format!("its {odd} cannot be")))
    }

    /// The first number that no site writes.
    fn check(&self) -> Option<&'static str> {
        let is_moment = |moment: Moment| (0..=MOMENT_MAX).contains(&moment.0);
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
        if let Some(signature) = &mut manifest.signature {
            signature.verify(&unsummed, name);
        }
        Ok(manifest)
    }

    /// The JSON text with its checksum.
    pub(crate) fn text(&self) -> String {
        let text = self.unsummed_text();
        let at = text.rfind(UNSUMMED).unwrap_or_default();
        [&text[..at], &checksum_of(&text), &text[at + UNSUMMED.len()..]].concat()
    }

    /// The JSON text with zeros in place of the checksum.
    fn unsummed_text(&self) -> String {
        let summed = Manifest { checksum: UNSUMMED.to_owned(), ..self.clone() };
        serde_json::to_string_pretty(&summed).expect("a manifest is text and numbers") + "\n"
    }

    /// The manifest, signed as that of the backup of this name.
    pub(crate) fn signed(&self, name: &str, signer: &Signer, erased: Option<ErasedMark>) -> Manifest {
        let mut signature = ManifestSignature::begin(name, signer, erased);
        let unsigned = Manifest { signature: Some(signature.clone()), ..self.clone() };
        signature.sign(&unsigned.unsummed_text(), signer);
        Manifest { signature: Some(signature), ..unsigned }
    }

    fn valid_signature(&self) -> Option<&ManifestSignature> {
        self.signature.as_ref().filter(|signature| signature.is_valid())
    }

    /// The key that signed the manifest.
    pub(crate) fn signed_by(&self) -> Option<&PublicKey> {
        self.valid_signature().map(|signature| &signature.key)
    }

    /// The key that signed the manifest, and the earlier ones of its site.
    pub(crate) fn keys(&self) -> Vec<PublicKey> {
        let keys = |signature: &ManifestSignature| [&[signature.key], &signature.earlier[..]].concat();
        self.valid_signature().map(keys).unwrap_or_default()
    }

    /// The members who had been erased.
    pub(crate) fn erased(&self) -> Option<&ErasedMark> {
        self.valid_signature()?.erased.as_ref()
    }

    /// Why the manifest is not believed, as the end of a sentence.
    pub(crate) fn describe_distrust(&self) -> String {
        match (&self.signature, self.signed_by()) {
            (None, _) => {
                "is not signed: it is of an earlier version, or somebody else put it there; `tunneldesk restore \
                          --unsigned` takes it all the same"
                    .to_owned()
            }
            (Some(_), None) => "has a signature that is not of it: it was changed, or has another name".to_owned(),
            (Some(_), Some(key)) => {
                format!("is signed by another machine: `tunneldesk restore --site {}` takes it", key.fingerprint())
            }
        }
    }

    /// The clock of the site, where the manifest says which that is.
    pub(crate) fn time_zone(&self) -> Option<TimeZone> {
        self.zone.as_deref().map(TimeZone::named)
    }

    /// An empty manifest of that moment.
    #[cfg(test)]
    pub(crate) fn blank(made_at: Moment) -> Manifest {
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

#[cfg(test)]
mod tests;
