//! The signature of a manifest: by which machine, under which name, and how many members were erased by then.

use super::manifest::Manifest;
use crate::keys::{hex, unhex};
use crate::ops::signature::{Kind, PublicKey, SIGNATURE_BYTES, Signer};
use crate::store::queries::erasure::Tombstone;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// In a manifest. Its text is signed with zeros in place of the checksum and of the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ManifestSignature {
    /// The name of the backup: under another name it is no backup.
    pub name: String,
    pub key: PublicKey,
    /// The site's earlier keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<PublicKey>,
    /// The members who had been erased; in off-site copies alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<ErasedMark>,
    /// Hex.
    value: String,
    #[serde(skip)]
    is_valid: bool,
}

/// How many members were erased at a moment, and who: a list of tombstones that lacks one shows by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ErasedMark {
    pub count: usize,
    /// SHA-256 of their numbers (hex).
    digest: String,
}

impl ErasedMark {
    pub(crate) fn of(all: &[Tombstone]) -> ErasedMark {
        let all: BTreeSet<[i64; 2]> = all.iter().map(|one| [one.member_id, one.join_date]).collect();
        let mut digest = Sha256::new();
        all.iter().flatten().for_each(|part| digest.update(part.to_be_bytes()));
        ErasedMark { count: all.len(), digest: hex(&digest.finalize()) }
    }

    /// Whether a later list can have all tombstones of this one.
    pub(crate) fn is_in(&self, later: &[Tombstone]) -> bool {
        let later = ErasedMark::of(later);
        later.count > self.count || later == *self
    }
}

impl Manifest {
    /// The manifest, signed as that of the backup of this name.
    pub(crate) fn signed(&self, name: &str, signer: &Signer, erased: Option<ErasedMark>) -> Manifest {
        let (name, key, earlier) = (name.to_owned(), signer.public(), signer.earlier().to_vec());
        let signature = ManifestSignature { name, key, earlier, erased, value: unsigned(), is_valid: true };
        let mut signed = Manifest { signature: Some(signature), ..self.clone() };
        let value = hex(&signer.sign(Kind::Manifest, &[signed.unsummed_text().as_bytes()]));
        if let Some(signature) = &mut signed.signature {
            signature.value = value;
        }
        signed
    }

    /// Notes whether the signature is that of this text, which has zeros in place of its checksum, and of a backup of this name;
    /// `None`: of any.
    pub(super) fn verify(&mut self, unsummed: &str, name: Option<&str>) {
        let Some(signature) = &mut self.signature else { return };
        let text = unsummed.replacen(&signature.value, &unsigned(), 1);
        signature.is_valid = name.is_none_or(|name| name == signature.name)
            && unhex(&signature.value)
                .is_some_and(|value| signature.key.verifies(Kind::Manifest, &[text.as_bytes()], &value));
    }

    fn valid_signature(&self) -> Option<&ManifestSignature> {
        self.signature.as_ref().filter(|signature| signature.is_valid)
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
}

/// Stands for the value while the text is signed.
fn unsigned() -> String {
    "0".repeat(2 * SIGNATURE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::replication::target::Target;
    use std::path::PathBuf;

    fn read(text: &str, name: &str) -> Manifest {
        Manifest::parse_of(text.as_bytes(), &Target::directory(PathBuf::from("place").join(name))).unwrap()
    }

    /// The text with another checksum, as somebody without the key can write it.
    fn summed(text: &str) -> String {
        let manifest: Manifest = serde_json::from_str(text).unwrap();
        Manifest { checksum: String::new(), ..manifest }.text()
    }

    #[test]
    fn a_signed_manifest_is_of_one_key_one_name_and_one_text() {
        let (ours, theirs) = (Signer::new(), Signer::new());
        let signed = Manifest::blank(1_800_000_000).signed("day", &ours.after(&[theirs.public()]), None);
        let key = signed.signature.as_ref().unwrap().key;
        let text = signed.text();
        assert_eq!(read(&text, "day"), signed);
        assert_eq!((signed.signed_by(), signed.keys()), (Some(&key), vec![key, theirs.public()]));
        assert_eq!(read(&text, "other").signed_by(), None, "an older backup under a new name");
        for (from, to) in [
            ("1800000000", "1800000001"),
            ("\"schema\": 1", "\"schema\": 2"),
            (&key.to_string(), &theirs.public().to_string()),
            (&theirs.public().to_string(), &Signer::new().public().to_string()),
        ] {
            let forged = summed(&text.replacen(from, to, 1));
            assert_ne!(forged, text);
            let forged = read(&forged, "day");
            assert!(forged.signed_by().is_none() && forged.keys().is_empty() && forged.erased().is_none(), "{from}");
        }
        assert_eq!(read(&Manifest::blank(7).text(), "day").signed_by(), None);
    }

    #[test]
    fn a_list_that_lacks_an_erased_member_or_has_another_in_the_place_shows() {
        let [one, two, three] = [(9, 100), (7, 200), (8, 300)].map(|(member_id, erased_at)| Tombstone {
            member_id,
            join_date: 1,
            erased_at,
        });
        let mark = ErasedMark::of(&[two, one]);
        assert!(mark.is_in(&[one, two]) && mark.is_in(&[three, two, one]));
        assert!(!mark.is_in(&[one]) && !mark.is_in(&[one, three]) && !mark.is_in(&[one, one]) && !mark.is_in(&[]));
        assert!(ErasedMark::of(&[]).is_in(&[]));
    }
}
